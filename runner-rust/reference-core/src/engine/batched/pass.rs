//! One pass of the token-budget scheduler.

use super::sequence::{Sequence, Turn};
use super::{BatchedRank, trtllm, vllm};
use crate::engine::blocks::BlockIndex;
use crate::engine::rank::{Admission, PassStart, RankEvent};
use crate::engine::timing::PrefillBatch;
use crate::replay::{Backend, WorkerType};

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
    fn compute(&mut self, index: usize, tokens: usize, progress: &mut Progress) {
        progress.budget -= tokens;
        progress.start.scheduled |= tokens > 0;
        let sequence = &mut self.running[index];
        sequence.advance(tokens);
        if self.limits.prefix_caching {
            publish_full(sequence, &mut self.pool, self.limits.block_size);
        }
    }

    /// Admit waiting requests in order. While a handoff waits for blocks here, only requests whose
    /// prompt has arrived may start: preempted ones would take the blocks.
    fn admit_waiting(&mut self, progress: &mut Progress) {
        while !progress.preempted && self.running.len() < self.limits.max_seqs {
            let next = if self.destinations.any_pending() {
                self.waiting.iter().position(|sequence| sequence.arrived)
            } else {
                (!self.waiting.is_empty()).then_some(0)
            };
            let admitted = match next {
                Some(position) if self.waiting[position].arrived => {
                    self.admit_arrived(position, progress)
                }
                Some(_) => self.admit_head(progress),
                None => false,
            };
            // A request that needs no tokens may start on an exhausted budget, but only one.
            let idle = self
                .running
                .last()
                .is_some_and(|last| last.turn.tokens == 0);
            if !admitted || (progress.budget == 0 && idle) {
                break;
            }
        }
    }

    /// A prompt that came by handoff needs no blocks and no computation to start.
    fn admit_arrived(&mut self, position: usize, progress: &mut Progress) -> bool {
        let Some(mut sequence) = self.waiting.remove(position) else {
            return false;
        };
        sequence.arrived = false;
        sequence.admitted_before = true;
        progress.start.scheduled = true;
        progress.start.admissions.push(Admission {
            request: sequence.request,
            reused_tokens: 0,
        });
        self.running.push(sequence);
        true
    }

    /// Admit or reject the first waiting request; false when it has to wait and so have the others.
    fn admit_head(&mut self, progress: &mut Progress) -> bool {
        if self.head_is_impossible() {
            if let Some(sequence) = self.waiting.pop_front() {
                self.rejected.push(sequence.request);
            }
            return true;
        }
        let Some(hits) = self.fitting_prefix_of_head() else {
            return false;
        };
        let cached = hits.len() * self.limits.block_size;
        let Some(head) = self.waiting.front() else {
            return false;
        };
        let missing = head.len() - cached;
        if !self.limits.chunked_prefill && head.input.saturating_sub(cached) > progress.budget {
            return false;
        }
        let tokens = missing.min(progress.budget);
        if tokens == 0 && missing > 0 {
            return false;
        }
        let fresh = (cached + tokens).div_ceil(self.limits.block_size) - hits.len();
        self.place_head(&hits, fresh, progress) && {
            self.start_head(cached, hits.len(), tokens, progress);
            true
        }
    }

    /// Give the head its blocks, preempting while they cannot be had.
    fn place_head(&mut self, hits: &[BlockIndex], fresh: usize, progress: &mut Progress) -> bool {
        loop {
            let Some(head) = self.waiting.front_mut() else {
                return false;
            };
            if self.pool.acquire(hits, fresh, &mut head.blocks) {
                return true;
            }
            if self.running.is_empty() || self.limits.backend == Backend::Trtllm {
                return false;
            }
            let head = self.waiting.pop_front();
            let victim = vllm::victim(self.running.len(), self.limits.preemption);
            self.preempt(victim, fresh, progress);
            if let Some(head) = head {
                self.waiting.push_front(head);
            }
        }
    }

    fn start_head(&mut self, cached: usize, hits: usize, tokens: usize, progress: &mut Progress) {
        let Some(mut sequence) = self.waiting.pop_front() else {
            return;
        };
        sequence.computed = cached;
        sequence.published = hits;
        sequence.turn = Turn::default();
        sequence.admitted_before = true;
        progress.start.scheduled = true;
        progress.start.admissions.push(Admission {
            request: sequence.request,
            reused_tokens: cached,
        });
        self.running.push(sequence);
        self.compute(self.running.len() - 1, tokens, progress);
    }

    fn head_is_impossible(&self) -> bool {
        let Some(head) = self.waiting.front() else {
            return false;
        };
        if head.admitted_before {
            return false;
        }
        let blocks = match self.limits.backend {
            Backend::Trtllm => trtllm::blocks_to_completion(head, self.limits.block_size),
            _ => head.len().div_ceil(self.limits.block_size),
        };
        blocks > self.pool.capacity() || self.limits.exceeds_model(head.input)
    }

    /// The cached prefix of the first waiting request, if with it the request fits: the blocks it
    /// wants, less those of the prefix that others use anyway, must not exceed the room there is.
    fn fitting_prefix_of_head(&mut self) -> Option<Vec<BlockIndex>> {
        let size = self.limits.block_size;
        let is_trtllm = self.limits.backend == Backend::Trtllm;
        let room = if is_trtllm {
            self.guaranteed_headroom()
        } else {
            self.pool.capacity() - self.pool.active()
        };
        let head = self.waiting.front_mut()?;
        let wanted = if is_trtllm {
            trtllm::blocks_to_completion(head, size)
        } else {
            head.len().div_ceil(size)
        };
        // vLLM computes at least the last token, from which it samples, unless nothing is sampled.
        let usable = if is_trtllm || head.max_output == 0 {
            head.len()
        } else {
            head.len().saturating_sub(1)
        };
        let findable = if self.limits.prefix_caching {
            usable / size
        } else {
            0
        };
        let needed = wanted.saturating_sub(room);
        if needed > findable {
            return None;
        }
        let ids = head.chain.ids(findable);
        // A request that waits for long is looked at in every pass; one look-up mostly decides.
        if needed > 0 && self.pool.find(ids[needed - 1]).is_none() {
            return None;
        }
        let hits = self.pool.find_prefix(ids);
        let shared = hits.iter().filter(|hit| self.pool.is_used(**hit)).count();
        (shared >= needed).then_some(hits)
    }

    /// Prefill and decode time of what was scheduled.
    fn predict(&mut self, start: &mut PassStart) {
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

/// Make every block that the computed tokens fill findable.
pub(super) fn publish_full(
    sequence: &mut Sequence,
    pool: &mut crate::engine::blocks::BlockPool,
    block_size: usize,
) {
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
