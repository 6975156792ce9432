//! One pass of the token-budget scheduler.
//!
//! Running requests come first, in admission order: a decoding one takes one token of the budget, a
//! prompt in chunks what is left. One that needs a block when none can be had puts others out, and
//! then nobody is admitted ([`admission`](super::admission)) in the same pass. Blocks are findable
//! as soon as the pass is scheduled, so that a later request of the same pass shares them; tokens
//! become visible at the pass's end ([`outcome`](super::outcome)).

use super::sequence::{Sequence, Turn};
use super::{BatchedRank, vllm};
use crate::engine::blocks::BlockPool;
use crate::engine::rank::PassStart;

/// What is left to hand out in a pass.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub budget: usize,
    /// Somebody was preempted: nobody waiting is admitted in this pass.
    pub preempted: bool,
    pub start: PassStart,
}

impl BatchedRank {
    /// Hand out the budget and predict the pass's length.
    pub(super) fn schedule(&mut self) -> PassStart {
        let mut progress = Progress {
            budget: self.limits.max_tokens,
            ..Progress::default()
        };
        for sequence in &mut self.running {
            sequence.turn = Turn::default();
        }
        self.schedule_running(&mut progress);
        self.admit_waiting(&mut progress);
        self.predict(&mut progress.start);
        progress.start
    }

    fn schedule_running(&mut self, progress: &mut Progress) {
        let mut index = 0;
        while index < self.running.len() && progress.budget > 0 {
            let sequence = &self.running[index];
            let missing = sequence.len() - sequence.computed;
            if !self.limits.chunked_prefill
                && sequence.input.saturating_sub(sequence.computed) > progress.budget
            {
                break;
            }
            let tokens = missing.min(progress.budget);
            if let Some(position) = self.grow_running(index, tokens, progress) {
                self.compute(position, tokens, progress);
                // The engine walks by index: when an earlier request was put out (`fifo`), those
                // after move up, and the next one is passed over until the next pass.
                index += 1;
            }
        }
    }

    /// Give the running request at `index` blocks for `tokens` more, preempting others while there
    /// are none. Returns where the request is then; none when it was itself put out.
    fn grow_running(
        &mut self,
        index: usize,
        tokens: usize,
        progress: &mut Progress,
    ) -> Option<usize> {
        let mut position = index;
        loop {
            let sequence = &mut self.running[position];
            let cover = (sequence.computed + tokens).div_ceil(self.limits.block_size);
            let fresh = cover.saturating_sub(sequence.blocks.len());
            if self.pool.acquire(&[], fresh, &mut sequence.blocks) {
                return Some(position);
            }
            let victim = vllm::victim(self.running.len(), self.limits.preemption);
            self.preempt(victim, fresh, progress);
            if victim == position {
                return None;
            }
            if victim < position {
                position -= 1;
            }
        }
    }

    /// Count `tokens` as computed and make the blocks they fill findable at once.
    pub(super) fn compute(&mut self, index: usize, tokens: usize, progress: &mut Progress) {
        progress.budget -= tokens;
        progress.start.scheduled |= tokens > 0;
        let sequence = &mut self.running[index];
        sequence.advance(tokens);
        if self.limits.prefix_caching {
            publish_full(sequence, &mut self.pool, self.limits.block_size);
        }
    }
}

/// Make every block that the computed tokens fill findable.
pub(super) fn publish_full(sequence: &mut Sequence, pool: &mut BlockPool, block_size: usize) {
    let full = sequence.computed / block_size;
    if full <= sequence.published {
        return;
    }
    let ids = sequence.chain.ids(full);
    let fresh = sequence.published..full;
    for (block, id) in sequence.blocks[fresh.clone()].iter().zip(&ids[fresh]) {
        pool.publish(*block, *id);
    }
    sequence.published = full;
}
