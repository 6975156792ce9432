//! Prefill: admitting waiting prompts, computing them in chunks, and their first tokens.

use super::SglangRank;
use super::radix::Access;
use super::sequence::Sequence;
use crate::engine::rank::{PassStart, RankEvent};
use crate::engine::timing::PrefillBatch;
use crate::replay::WorkerType;

/// What a prefill batch may still take.
#[derive(Debug)]
struct Budget {
    /// Pages in tokens, less the output expected of running requests.
    total: f64,
    input: usize,
    chunk: usize,
    requests: usize,
}

/// One prompt's share of a batch.
#[derive(Debug)]
struct Slice {
    start: usize,
    tokens: usize,
    charge: usize,
    reserve: usize,
}

impl SglangRank {
    /// Run a prefill pass if a batch can be formed.
    pub(super) fn run_prefill(&mut self, start: &mut PassStart) -> bool {
        if self.destinations.blocks_admission() {
            return false;
        }
        let mut batch = PrefillBatch::default();
        let mut chosen = self.form_batch(&mut batch, start);
        if chosen.is_empty() {
            return false;
        }
        start.scheduled = true;
        start.prefill_tokens = batch.isl_tokens - batch.prefix_tokens;
        if self.limits.role != WorkerType::Decode {
            start.prefill_ms = self.timing.prefill_ms(batch);
        }
        let mut complete = Vec::new();
        let mut partial = Vec::new();
        for mut sequence in chosen.drain(..) {
            self.publish_full(&mut sequence, Access::Refresh);
            if sequence.owned < sequence.len() {
                partial.push(sequence);
            } else {
                complete.push(sequence);
            }
        }
        while let Some(sequence) = partial.pop() {
            self.waiting.push_front(sequence);
        }
        self.first_tokens(complete);
        self.ratio.hold();
        true
    }

    fn form_batch(
        &mut self,
        batch: &mut PrefillBatch,
        start: &mut PassStart,
    ) -> Vec<Box<Sequence>> {
        let mut budget = self.budget();
        let mut chosen: Vec<Box<Sequence>> = Vec::new();
        while budget.requests > 0
            && let Some(mut head) = self.waiting.pop_front()
        {
            let fresh = head.owned == 0;
            let Some(slice) = self.slice(&mut head, &budget) else {
                self.waiting.push_front(head);
                break;
            };
            if !self.place(&mut head, &slice) {
                self.waiting.push_front(head);
                break;
            }
            if fresh {
                start.admit(head.request, slice.start);
            }
            batch.requests += 1;
            batch.isl_tokens += slice.start + slice.tokens;
            batch.prefix_tokens += slice.start;
            budget.total -= (slice.charge + slice.reserve) as f64;
            budget.input -= slice.charge;
            budget.chunk -= slice.charge;
            budget.requests -= 1;
            chosen.push(head);
            if budget.chunk == 0 {
                break;
            }
        }
        chosen
    }

    fn budget(&self) -> Budget {
        let expected: f64 = self
            .running
            .iter()
            .map(|s| s.remaining().min(self.limits.clip_tokens) as f64 * self.ratio.value())
            .sum();
        Budget {
            total: (self.pool.available() * self.limits.page_size) as f64 - expected,
            input: self.limits.max_prefill_tokens,
            chunk: self.limits.chunk_tokens,
            requests: self.limits.max_seqs.saturating_sub(self.running.len()),
        }
    }

    /// How much of `head` fits the budget; none when it has to wait.
    fn slice(&mut self, head: &mut Sequence, budget: &Budget) -> Option<Slice> {
        let page = self.limits.page_size;
        let start = head.owned.max(self.cached_pages(head) * page);
        let missing = head.len() - start;
        let tokens = if missing.next_multiple_of(page) <= budget.chunk {
            missing
        } else {
            match budget.chunk / page * page {
                0 => return None,
                chunk => chunk.min(missing),
            }
        };
        let charge = tokens.next_multiple_of(page);
        let reserve = if tokens < missing {
            0
        } else {
            head.remaining().min(self.limits.clip_tokens)
        };
        let fits = ((charge + reserve) as f64) < budget.total
            && charge <= budget.input
            && charge <= budget.chunk;
        fits.then_some(Slice {
            start,
            tokens,
            charge,
            reserve,
        })
    }

    /// Cached pages at the start of a prompt that owns nothing. At least one token is always left to
    /// compute, because the first output is sampled from it.
    fn cached_pages(&self, head: &mut Sequence) -> usize {
        if head.owned > 0 || !self.limits.prefix_caching {
            return 0;
        }
        let usable = if head.max_output == 0 {
            head.len()
        } else {
            head.len().saturating_sub(1)
        };
        self.pool
            .tree
            .peek(head.chain.ids(usable / self.limits.page_size))
    }

    /// Give `head` the pages of its slice.
    fn place(&mut self, head: &mut Sequence, slice: &Slice) -> bool {
        let fresh = head.owned == 0;
        if fresh {
            let cached = head.chain.ids(slice.start / self.limits.page_size);
            head.holding = self.pool.hold(cached);
        }
        let end = slice.start + slice.tokens;
        let missing = end
            .div_ceil(self.limits.page_size)
            .saturating_sub(head.holding.pages);
        if !self.pool.take(missing) {
            if fresh {
                self.pool.let_go(&mut head.holding);
            }
            return false;
        }
        head.holding.pages += missing;
        head.owned = end;
        true
    }

    /// Make every full page of computed tokens findable.
    pub(super) fn publish_full(&mut self, sequence: &mut Sequence, access: Access) {
        let full = sequence.owned.min(sequence.len()) / self.limits.page_size;
        if self.limits.prefix_caching && full > sequence.holding.cached {
            self.pool
                .publish(&mut sequence.holding, sequence.chain.ids(full), access);
        }
    }

    /// Sample the first token of every completed prompt: the prefill step does it at no extra cost,
    /// as long as the token's slot can be had. Requests that want no token leave first, then those
    /// that end with it and need no slot.
    fn first_tokens(&mut self, mut complete: Vec<Box<Sequence>>) {
        for sequence in complete.extract_if(.., |s| s.remaining() == 0) {
            self.finish(sequence);
        }
        for mut sequence in complete.extract_if(.., |s| s.remaining() == 1) {
            sequence.output += 1;
            if self.limits.role != WorkerType::Prefill {
                self.outcome.push(RankEvent::Token(sequence.request));
            }
            self.finish(sequence);
        }
        let needed: usize = complete.iter().map(|s| self.pages_for_next(s)).sum();
        self.pool.make_room(needed);
        let affordable = needed <= self.pool.free();
        for mut sequence in complete {
            if affordable {
                self.append_token(&mut sequence);
            }
            self.running.push(sequence);
        }
    }
}
