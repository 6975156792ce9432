//! What is particular to TRT-LLM: *guaranteed no evict*.
//!
//! A request starts only when the blocks for its whole prompt and output are certain, next to what
//! every running request may still take. Nothing is ever preempted; instead an output that the
//! cache could not hold is cut short when the request is submitted.

use super::BatchedRank;
use super::sequence::Sequence;

/// Output limited to what the whole cache can hold beside the prompt.
pub(super) fn clamp_output(sequence: &Sequence, capacity_tokens: usize) -> usize {
    if sequence.input < capacity_tokens {
        sequence.max_output.min(capacity_tokens - sequence.input)
    } else {
        sequence.max_output
    }
}

/// Blocks that a request holds at its very end.
pub(super) fn blocks_to_completion(sequence: &Sequence, block_size: usize) -> usize {
    (sequence.input + sequence.max_output).div_ceil(block_size)
}

impl BatchedRank {
    /// Blocks that nobody uses and nobody running, reserved or activated can still claim.
    pub(super) fn guaranteed_headroom(&self) -> usize {
        let unused = self.pool.capacity() - self.pool.active();
        let claimed: usize = self.running.iter().map(|s| self.remaining_blocks(s)).sum();
        unused
            .saturating_sub(claimed)
            .saturating_sub(self.handoff_headroom())
    }

    /// Blocks that a request may still take.
    pub(super) fn remaining_blocks(&self, sequence: &Sequence) -> usize {
        blocks_to_completion(sequence, self.limits.block_size).saturating_sub(sequence.blocks.len())
    }
}
