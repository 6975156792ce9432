//! The receiving side of a handoff. SGLang reserves the destination *before* the prompt is
//! computed elsewhere; a request whose prompt has arrived is promoted into the running batch at the
//! start of a pass.

use std::collections::VecDeque;

use super::SglangRank;
use super::radix::Access;
use super::sequence::Sequence;
use crate::engine::rank::{PassStart, RankEvent, RequestIndex};

/// Handoffs on their way into a rank.
#[derive(Debug, Default)]
pub(super) struct Destinations {
    pending: VecDeque<Box<Sequence>>,
    reserved: Vec<Box<Sequence>>,
    activated: VecDeque<Box<Sequence>>,
    /// Counts the events after which a reservation that failed may succeed.
    generation: u64,
    /// Generation at which the first pending reservation was last tried.
    tried: Option<u64>,
}

impl Destinations {
    pub fn enqueue(&mut self, sequence: Box<Sequence>) {
        self.pending.push_back(sequence);
    }

    pub fn activate(&mut self, request: RequestIndex) {
        let sequence = self.take_reserved(request);
        self.activated.extend(sequence);
    }

    pub fn take_reserved(&mut self, request: RequestIndex) -> Option<Box<Sequence>> {
        let position = self.reserved.iter().position(|s| s.request == request)?;
        Some(self.reserved.remove(position))
    }

    pub fn any_activated(&self) -> bool {
        !self.activated.is_empty()
    }

    /// Whether retracted requests have to wait: destinations and arrived prompts go first.
    pub fn blocks_admission(&self) -> bool {
        !self.pending.is_empty() || !self.activated.is_empty()
    }

    pub fn capacity_rose(&mut self) {
        self.generation += 1;
    }

    pub fn len(&self) -> usize {
        self.pending.len() + self.reserved.len() + self.activated.len()
    }
}

impl SglangRank {
    /// Try to serve the first pending reservation.
    pub(super) fn attempt_reservation(&mut self, events: &mut Vec<RankEvent>) {
        let destinations = &self.destinations;
        if destinations.pending.is_empty() || destinations.tried == Some(destinations.generation) {
            return;
        }
        let Some(mut head) = self.destinations.pending.pop_front() else {
            return;
        };
        let pages = head.input.div_ceil(self.limits.page_size);
        let full = head.input / self.limits.page_size;
        let cached = if self.limits.prefix_caching {
            head.chain.ids(full)
        } else {
            &[]
        };
        head.holding = self.pool.hold(cached);
        let missing = pages - head.holding.pages;
        if self.pool.available() < missing || !self.pool.take(missing) {
            self.pool.let_go(&mut head.holding);
            self.destinations.pending.push_front(head);
            self.destinations.tried = Some(self.destinations.generation);
            return;
        }
        head.holding.pages = pages;
        events.push(RankEvent::DestinationReserved {
            request: head.request,
            missing_tokens: missing * self.limits.page_size,
        });
        self.destinations.reserved.push(head);
        self.destinations.tried = None;
    }

    /// Move arrived prompts into the running batch while there are slots.
    pub(super) fn promote_arrived(&mut self, start: &mut PassStart) {
        while self.running.len() < self.limits.max_seqs
            && let Some(mut sequence) = self.destinations.activated.pop_front()
        {
            sequence.owned = sequence.input;
            self.publish_full(&mut sequence, Access::Refresh);
            // A pending prompt may share the pages that have just become findable.
            self.destinations.capacity_rose();
            start.scheduled = true;
            start.admit(sequence.request, 0);
            self.running.push(sequence);
        }
    }
}
