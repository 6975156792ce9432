//! Admission: which waiting requests join the running batch in a pass, and with which blocks.
//!
//! The first waiting request decides: when it has to wait, so have the others. vLLM admits it when
//! its present tokens fit beside what is in use, TRT-LLM when its last token will. A prompt that
//! came by handoff brings its blocks along and needs only a slot.

use super::pass::Progress;
use super::sequence::Turn;
use super::{BatchedRank, trtllm, vllm};
use crate::engine::blocks::BlockIndex;
use crate::engine::rank::Admission;
use crate::replay::Backend;

impl BatchedRank {
    /// Admit waiting requests in order. While a handoff waits for blocks here, only requests whose
    /// prompt has arrived may start: preempted ones would take the blocks.
    pub(super) fn admit_waiting(&mut self, progress: &mut Progress) {
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
        blocks > self.pool.capacity() || self.limits.context.is_filled_by(head.input)
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
}
