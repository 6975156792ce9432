//! The steps of a handoff, each of which may cause the next.
//!
//! Prompts and reservations are taken at any time. Activations, cancellations and releases change
//! what a pass under way counts on, so they are put off until it ends.

use std::collections::VecDeque;

use super::DisaggregatedRuntime;
use crate::engine::placement::Place;
use crate::engine::pool::Pool;
use crate::engine::rank::{RankEvent, RequestIndex};
use crate::engine::runtime::submission;
use crate::replay::{HandoffStamp, ReplayRequestPool, WorkerStage};

/// A step of a handoff.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// Hand the prompt to a prefill rank.
    SubmitPrefill(RequestIndex),
    /// Ask a decode rank for the prompt's blocks.
    Reserve(RequestIndex),
    /// Begin to move the prompt.
    Transfer(RequestIndex),
    /// The prompt has arrived: let the decode rank run the request.
    Activate(RequestIndex),
    /// The prompt will never come: give the reserved blocks back.
    Cancel(RequestIndex),
    /// The prompt has been moved: let the prefill rank's blocks go.
    Release(RequestIndex),
}

impl Action {
    fn request(self) -> RequestIndex {
        let (Self::SubmitPrefill(request)
        | Self::Reserve(request)
        | Self::Transfer(request)
        | Self::Activate(request)
        | Self::Cancel(request)
        | Self::Release(request)) = self;
        request
    }

    /// The pool in which the step happens.
    fn stage(self) -> WorkerStage {
        match self {
            Self::SubmitPrefill(_) | Self::Transfer(_) | Self::Release(_) => WorkerStage::Prefill,
            Self::Reserve(_) | Self::Activate(_) | Self::Cancel(_) => WorkerStage::Decode,
        }
    }
}

/// Actions put off by the schedulers of one pool.
#[derive(Debug)]
pub(super) struct Deferred {
    ranks: usize,
    queues: Vec<VecDeque<Action>>,
}

impl Deferred {
    pub fn new(pool: &Pool) -> Self {
        Self {
            ranks: pool.ranks,
            queues: vec![VecDeque::new(); pool.workers.len() * pool.ranks],
        }
    }

    fn put_off(&mut self, action: Action, scheduler: usize) {
        self.queues[scheduler].push_back(action);
    }

    /// Move a worker's actions to `actions`, rank by rank.
    pub fn requeue(&mut self, worker: usize, actions: &mut VecDeque<Action>) {
        let first = worker * self.ranks;
        for queue in &mut self.queues[first..first + self.ranks] {
            actions.append(queue);
        }
    }
}

impl DisaggregatedRuntime {
    pub(super) fn perform(&mut self, action: Action) {
        match action {
            Action::SubmitPrefill(request) => self.submit_prefill(request),
            Action::Reserve(request) => self.reserve(request),
            Action::Transfer(request) => self.flow.begin_transfer(request),
            Action::Activate(_) | Action::Cancel(_) | Action::Release(_) => {
                self.perform_between_passes(action);
            }
        }
        self.flow.schedule_transfers(&mut self.clock);
    }

    fn submit_prefill(&mut self, index: RequestIndex) {
        let Some(handoff) = self.flow.handoffs.get_mut(&index) else {
            return;
        };
        let request = &handoff.request;
        let preferred = request.prefill_dp_rank.or(request.dp_rank);
        let preferred = preferred.map(|rank| rank as usize);
        let place = self.prefill_placement.place(preferred);
        handoff.source = Some(place);
        // The prefill pool computes the prompt; of the output it needs one token at most.
        let submission = submission(index, &handoff.request, 1);
        self.flow
            .collector
            .on_route(index, ReplayRequestPool::Prefill, place);
        self.prefill.workers[place.worker]
            .rank(place.rank)
            .submit(submission);
    }

    fn reserve(&mut self, index: RequestIndex) {
        let Some(handoff) = self.flow.handoffs.get_mut(&index) else {
            return;
        };
        let preferred = handoff.request.dp_rank.map(|rank| rank as usize);
        let place = self.decode_placement.place(preferred);
        handoff.destination = Some(place);
        let submission = submission(index, &handoff.request, usize::MAX);
        self.flow
            .collector
            .on_route(index, ReplayRequestPool::Decode, place);
        let worker = &mut self.decode.workers[place.worker];
        let mut events = Vec::new();
        let rank = worker.rank(place.rank);
        rank.request_destination(submission, &mut events);
        if !worker.is_busy() {
            worker.rank(place.rank).try_reserve(&mut events);
        }
        self.take_events(&events);
    }

    /// Perform `action` now when its worker is between passes, else put it off.
    fn perform_between_passes(&mut self, action: Action) {
        let (index, stage) = (action.request(), action.stage());
        let Some(place) = self.flow.place(index, stage) else {
            return;
        };
        let (pool, deferred) = match stage {
            WorkerStage::Prefill => (&self.prefill, &mut self.flow.deferred_prefill),
            _ => (&self.decode, &mut self.flow.deferred_decode),
        };
        if pool.workers[place.worker].is_busy() {
            deferred.put_off(action, place.scheduler);
            return;
        }
        match action {
            Action::Activate(_) => self.activate(index, place),
            Action::Cancel(_) => self.cancel(index, place),
            _ => self.release(index, place),
        }
    }

    fn activate(&mut self, index: RequestIndex, place: Place) {
        self.decode.workers[place.worker]
            .rank(place.rank)
            .activate(index);
        let now_ms = self.clock.now_ms();
        self.flow
            .collector
            .on_handoff(index, HandoffStamp::DestinationActivated, now_ms);
        self.flow.actions.push_back(Action::Release(index));
        self.try_reserve(place);
    }

    /// The prefill pool refused a prompt whose destination was reserved already.
    fn cancel(&mut self, index: RequestIndex, place: Place) {
        self.decode.workers[place.worker]
            .rank(place.rank)
            .cancel_destination(index);
        self.flow.handoffs.remove(&index);
        self.try_reserve(place);
    }

    fn release(&mut self, index: RequestIndex, place: Place) {
        self.prefill.workers[place.worker]
            .rank(place.rank)
            .release_source(index);
        self.flow.released(index, self.clock.now_ms());
    }

    /// Let the decode rank at `place` try its first pending reservation.
    fn try_reserve(&mut self, place: Place) {
        let mut events = Vec::new();
        self.decode.workers[place.worker]
            .rank(place.rank)
            .try_reserve(&mut events);
        self.take_events(&events);
    }

    fn take_events(&mut self, events: &[RankEvent]) {
        for event in events {
            self.flow.on_event(*event, self.clock.now_ms());
        }
    }
}
