//! Decode: one token for everything running, and retraction when the pages do not suffice.

use super::SglangRank;
use super::radix::Access;
use super::ratio::RETRACT_TOKENS;
use super::sequence::Sequence;
use crate::engine::rank::{PassStart, Pressure, RankEvent};
use crate::replay::{PressureKind, PressureState, WorkerType};

impl SglangRank {
    /// Run a decode step.
    pub(super) fn run_decode(&mut self, start: &mut PassStart) {
        self.drop_finished();
        if self.retract(start) {
            let generated = self.running.iter().map(|s| s.output).sum();
            let max_output = self.running.iter().map(|s| s.max_output).sum();
            self.ratio.raise(generated, self.running.len(), max_output);
        } else {
            self.ratio.decay();
        }
        let needed = self.pages_needed();
        self.pool.make_room(needed);
        if self.running.is_empty() || needed > self.pool.free() {
            return;
        }
        start.scheduled = true;
        if self.limits.role != WorkerType::Prefill {
            let context = self.running.iter().map(|s| s.len()).sum();
            start.decode_ms = self.timing.decode_ms(self.running.len(), context);
        }
        for mut sequence in std::mem::take(&mut self.running) {
            self.append_token(&mut sequence);
            if sequence.remaining() == 0 {
                self.finish(sequence);
            } else {
                self.running.push(sequence);
            }
        }
    }

    /// Requests that have nothing to generate leave without a token.
    fn drop_finished(&mut self) {
        let mut index = 0;
        while index < self.running.len() {
            if self.running[index].remaining() == 0 {
                let sequence = self.running.remove(index);
                self.finish(sequence);
            } else {
                index += 1;
            }
        }
    }

    /// Pages that `sequence` lacks for one more token.
    pub(super) fn pages_for_next(&self, sequence: &Sequence) -> usize {
        (sequence.len() + 1)
            .div_ceil(self.limits.page_size)
            .saturating_sub(sequence.holding.pages)
    }

    fn pages_needed(&self) -> usize {
        self.running.iter().map(|s| self.pages_for_next(s)).sum()
    }

    /// Put requests out until the others can go on; true when any was.
    ///
    /// The batch is first ordered by progress: most tokens generated first, among equals the
    /// shortest prompt. Victims are taken from its end, and the survivors keep that order.
    fn retract(&mut self, start: &mut PassStart) -> bool {
        if self.pool.available() >= self.pages_needed() || self.running.len() <= 1 {
            return false;
        }
        self.running
            .sort_by_key(|s| (std::cmp::Reverse(s.output), s.input));
        loop {
            let needed = self.pages_needed();
            if self.pool.available() >= needed || self.running.len() <= 1 {
                return true;
            }
            self.retract_last(needed, start);
        }
    }

    fn retract_last(&mut self, required_blocks: usize, start: &mut PassStart) {
        let before = self.pressure_state();
        let available_blocks = self.pool.available();
        let Some(mut sequence) = self.running.pop() else {
            return;
        };
        let (request, request_blocks) = (sequence.request, sequence.holding.pages);
        self.pool.let_go(&mut sequence.holding);
        sequence.owned = 0;
        self.waiting.push_back(sequence);
        self.destinations.capacity_rose();
        let room = RETRACT_TOKENS * self.running.len();
        self.pool.make_room(room.div_ceil(self.limits.page_size));
        start.pressure.push(Pressure {
            request,
            kind: PressureKind::SglangRetraction,
            offset_ms: start.prefill_ms,
            before,
            after: self.pressure_state(),
            request_blocks,
            available_blocks,
            required_blocks,
        });
    }

    /// Generate one token into the next slot.
    pub(super) fn append_token(&mut self, sequence: &mut Sequence) {
        let pages = self.pages_for_next(sequence);
        let taken = self.pool.take(pages);
        debug_assert!(taken, "room was made before");
        sequence.holding.pages += pages;
        sequence.output += 1;
        sequence.owned = sequence.len();
        if self.limits.role != WorkerType::Prefill {
            self.outcome.push(RankEvent::Token(sequence.request));
        }
        if sequence.remaining() > 0 {
            self.publish_full(sequence, Access::Keep);
        }
    }

    /// A request is done: its full pages stay findable, the rest is given back.
    pub(super) fn finish(&mut self, mut sequence: Box<Sequence>) {
        if self.limits.prefix_caching {
            let full = sequence.owned.min(sequence.len()) / self.limits.page_size;
            let full = full.max(sequence.holding.cached);
            let ids = sequence.chain.ids(full);
            self.pool
                .publish(&mut sequence.holding, ids, Access::Refresh);
        }
        if self.limits.role == WorkerType::Prefill {
            self.outcome.push(RankEvent::SourceHeld(sequence.request));
            sequence.chain.forget_ids();
            self.held.insert(sequence.request, sequence);
            return;
        }
        self.outcome.push(RankEvent::Completed(sequence.request));
        self.pool.let_go(&mut sequence.holding);
        self.destinations.capacity_rose();
    }

    fn pressure_state(&self) -> PressureState {
        PressureState {
            running_requests: self.running.len(),
            waiting_requests: Some(self.waiting.len()),
            active_blocks: self.pool.active(),
        }
    }
}
