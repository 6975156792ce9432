//! What is particular to vLLM: preemption.
//!
//! vLLM admits a request as soon as its present tokens fit. When a running request then needs a
//! block and none can be had, another one is put out: its blocks go, its generated tokens stay, and
//! it waits at the front of the queue to be computed again. With `lifo` the latest admitted goes
//! first, which may be the very request that needs the block.

use super::BatchedRank;
use super::pass::Progress;
use super::sequence::Turn;
use crate::engine::rank::Pressure;
use crate::replay::{PreemptionMode, PressureKind, PressureState};

/// Position of the preemption victim among `running` requests.
pub(super) fn victim(running: usize, mode: PreemptionMode) -> usize {
    match mode {
        PreemptionMode::Lifo => running - 1,
        PreemptionMode::Fifo => 0,
    }
}

impl BatchedRank {
    /// Put the running request at `index` out, because `required` blocks could not be had.
    pub(super) fn preempt(&mut self, index: usize, required: usize, progress: &mut Progress) {
        let before = self.pressure_state();
        let available_blocks = self.pool.capacity() - self.pool.active();
        let mut sequence = self.running.remove(index);
        let request_blocks = sequence.blocks.len();
        progress.budget += sequence.turn.tokens;
        progress.preempted = true;
        sequence.turn = Turn::default();
        sequence.computed = 0;
        sequence.published = 0;
        self.pool.release_all(&mut sequence.blocks);
        let request = sequence.request;
        self.waiting.push_front(sequence);
        self.destinations.capacity_rose();
        progress.start.pressure.push(Pressure {
            request,
            kind: PressureKind::VllmPreemption,
            offset_ms: 0.0,
            before,
            after: self.pressure_state(),
            request_blocks,
            available_blocks,
            required_blocks: required,
        });
    }

    fn pressure_state(&self) -> PressureState {
        PressureState {
            running_requests: self.running.len(),
            waiting_requests: Some(self.waiting.len()),
            active_blocks: self.pool.active(),
        }
    }
}
