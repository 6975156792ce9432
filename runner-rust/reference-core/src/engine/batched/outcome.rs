//! How long a pass takes, and what becomes visible at its end.

use super::BatchedRank;
use crate::engine::rank::{PassStart, RankEvent};
use crate::engine::timing::PrefillBatch;
use crate::replay::WorkerType;

impl BatchedRank {
    /// Prefill and decode time of what was scheduled.
    pub(super) fn predict(&mut self, start: &mut PassStart) {
        let mut prefill = PrefillBatch::default();
        let (mut decoding, mut context) = (0, 0);
        for sequence in &self.running {
            let turn = sequence.turn;
            if turn.prompt_tokens > 0 {
                // Generated tokens that are computed again together with prompt tokens count.
                start.prefill_tokens += turn.tokens;
                prefill.requests += 1;
                prefill.isl_tokens += turn.prefix_tokens + turn.prompt_tokens;
                prefill.prefix_tokens += turn.prefix_tokens;
            }
            // The token that ends a prompt is sampled by the prefill step itself.
            let sampled_by_prefill = turn.prompt_tokens > 0
                && sequence.output == 0
                && self.limits.role == WorkerType::Aggregated;
            if sequence.is_caught_up() && !sequence.is_done() && !sampled_by_prefill {
                decoding += 1;
                context += sequence.len();
            }
        }
        if self.limits.role != WorkerType::Decode {
            start.prefill_ms = self.timing.prefill_ms(prefill);
        }
        if self.limits.role != WorkerType::Prefill {
            start.decode_ms = self.timing.decode_ms(decoding, context);
        }
    }

    /// End the pass. Caught-up requests that want no (more) token leave first; every other one that
    /// is caught up gets one token, and leaves if it was the last.
    pub(super) fn emit(&mut self, events: &mut Vec<RankEvent>) {
        let mut index = 0;
        while index < self.running.len() {
            let sequence = &self.running[index];
            if sequence.is_caught_up() && sequence.is_done() {
                self.retire(index, events);
            } else {
                index += 1;
            }
        }
        let mut index = 0;
        while index < self.running.len() {
            let sequence = &mut self.running[index];
            if sequence.is_caught_up() {
                sequence.output += 1;
                if self.limits.role != WorkerType::Prefill {
                    events.push(RankEvent::Token(sequence.request));
                }
                if sequence.is_done() {
                    self.retire(index, events);
                    continue;
                }
            }
            index += 1;
        }
        for request in self.rejected.drain(..) {
            events.push(RankEvent::Rejected(request));
        }
    }

    fn retire(&mut self, index: usize, events: &mut Vec<RankEvent>) {
        let mut sequence = self.running.remove(index);
        if self.limits.role == WorkerType::Prefill {
            events.push(RankEvent::SourceHeld(sequence.request));
            sequence.chain.forget_ids();
            self.held.insert(sequence.request, sequence);
            return;
        }
        events.push(RankEvent::Completed(sequence.request));
        self.pool.release_all(&mut sequence.blocks);
        self.destinations.capacity_rose();
    }
}
