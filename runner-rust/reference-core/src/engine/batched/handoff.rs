//! The receiving side of a handoff: blocks are set aside for a prompt computed elsewhere, and the
//! request joins the queue once the prompt has arrived.
//!
//! Reservations are served strictly in order. An attempt looks at the first one only, and is not
//! repeated until the rank's capacity has changed.

use std::collections::VecDeque;

use super::pass::publish_full;
use super::sequence::Sequence;
use super::{BatchedRank, trtllm};
use crate::engine::rank::{RankEvent, RequestIndex};
use crate::replay::Backend;

/// Handoffs on their way into a rank.
#[derive(Debug, Default)]
pub(super) struct Destinations {
    pending: VecDeque<Box<Sequence>>,
    reserved: Vec<Box<Sequence>>,
    next_order: u64,
    /// Counts the events after which a reservation that failed may succeed.
    generation: u64,
    /// Generation at which the first pending reservation was last tried.
    tried: Option<u64>,
}

impl Destinations {
    pub fn enqueue(&mut self, mut sequence: Box<Sequence>) {
        sequence.reservation_order = Some(self.next_order);
        self.next_order += 1;
        self.pending.push_back(sequence);
    }

    pub fn any_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub fn capacity_rose(&mut self) {
        self.generation += 1;
    }

    pub fn len(&self) -> usize {
        self.pending.len() + self.reserved.len()
    }

    pub fn take_reserved(&mut self, request: RequestIndex) -> Option<Box<Sequence>> {
        let position = self.reserved.iter().position(|s| s.request == request)?;
        Some(self.reserved.remove(position))
    }

    fn may_try(&self) -> bool {
        self.any_pending() && self.tried != Some(self.generation)
    }
}

impl BatchedRank {
    /// Try to serve the first pending reservation.
    pub(super) fn attempt_reservation(&mut self, events: &mut Vec<RankEvent>) {
        if !self.destinations.may_try() {
            return;
        }
        let Some(missing_blocks) = self.place_destination() else {
            self.destinations.tried = Some(self.destinations.generation);
            return;
        };
        if let Some(sequence) = self.destinations.pending.pop_front() {
            events.push(RankEvent::DestinationReserved {
                request: sequence.request,
                missing_tokens: missing_blocks * self.limits.block_size,
            });
            self.destinations.reserved.push(sequence);
        }
        self.destinations.tried = None;
    }

    /// Whether a handed-off prompt exceeds the whole rank.
    pub(super) fn can_never_hold(&self, sequence: &Sequence) -> bool {
        let size = self.limits.block_size;
        let blocks = match self.limits.backend {
            Backend::Trtllm => trtllm::blocks_to_completion(sequence, size),
            _ => sequence.input.div_ceil(size),
        };
        blocks > self.pool.capacity() || self.limits.context.is_filled_by(sequence.input)
    }

    /// Take the blocks of the first pending prompt: what the cache holds already, and fresh ones.
    /// Returns the number of fresh ones.
    fn place_destination(&mut self) -> Option<usize> {
        if self.running.len() >= self.limits.max_seqs {
            return None;
        }
        let headroom = self.guaranteed_headroom();
        let head = self.destinations.pending.front_mut()?;
        let (input, size) = (head.input, self.limits.block_size);
        let hits = match self.limits.backend {
            Backend::Trtllm => {
                if trtllm::blocks_to_completion(head, size) > headroom {
                    return None;
                }
                Vec::new()
            }
            _ if self.limits.prefix_caching => self.pool.find_prefix(head.chain.ids(input / size)),
            _ => Vec::new(),
        };
        let fresh = input.div_ceil(size) - hits.len();
        if !self.pool.acquire(&hits, fresh, &mut head.blocks) {
            return None;
        }
        head.published = hits.len();
        Some(fresh)
    }

    /// The prompt has arrived: its full blocks are findable and the request queues by the order in
    /// which reservations were asked for.
    pub(super) fn activate_destination(&mut self, request: RequestIndex) {
        let Some(mut sequence) = self.destinations.take_reserved(request) else {
            return;
        };
        sequence.computed = sequence.input;
        sequence.arrived = true;
        if self.limits.prefix_caching {
            publish_full(&mut sequence, &mut self.pool, self.limits.block_size);
        }
        let later = self
            .waiting
            .iter()
            .position(|other| other.reservation_order > sequence.reservation_order)
            .unwrap_or(self.waiting.len());
        self.waiting.insert(later, sequence);
    }

    /// TRT-LLM: blocks that reserved and arrived requests will still take.
    pub(super) fn handoff_headroom(&self) -> usize {
        let arrived = self.waiting.iter().filter(|sequence| sequence.arrived);
        self.destinations
            .reserved
            .iter()
            .chain(arrived)
            .map(|sequence| self.remaining_blocks(sequence))
            .sum()
    }
}
