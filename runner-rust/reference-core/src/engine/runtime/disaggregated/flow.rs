//! The requests of both pools: where each one's handoff stands, and which step follows an event.

use std::collections::{HashMap, VecDeque};

use super::actions::{Action, Deferred};
use super::transfer::TransferModel;
use crate::engine::clock::{Clock, Event};
use crate::engine::placement::Place;
use crate::engine::pool::PassObserver;
use crate::engine::rank::{RankEvent, RequestIndex};
use crate::engine::runtime::RequestSource;
use crate::engine::worker::{GroupEnd, GroupStart};
use crate::replay::loadgen::DirectRequest;
use crate::replay::{
    HandoffStamp, ReplayRequestPool, ReplayTerminalStatus, TraceCollector, WorkerStage,
};

/// A request on its way through both pools.
#[derive(Debug)]
pub(super) struct Handoff {
    pub request: DirectRequest,
    pub source: Option<Place>,
    pub destination: Option<Place>,
    /// Prompt tokens that the destination lacks, once it is reserved.
    missing_tokens: usize,
    ended: bool,
    failed: bool,
    released: bool,
}

impl Handoff {
    fn of(request: DirectRequest) -> Self {
        Self {
            request,
            source: None,
            destination: None,
            missing_tokens: 0,
            ended: false,
            failed: false,
            released: false,
        }
    }
}

/// Requests and actions, as far as pass ends touch them.
#[derive(Debug)]
pub(super) struct Flow {
    /// SGLang: a destination is reserved before the prompt is computed.
    destination_first: bool,
    pub source: RequestSource,
    pub handoffs: HashMap<RequestIndex, Handoff>,
    /// Requests that have not ended.
    pub live: usize,
    pub collector: TraceCollector,
    pub actions: VecDeque<Action>,
    /// Actions that wait for a pass's end in each pool.
    pub deferred_prefill: Deferred,
    pub deferred_decode: Deferred,
    transfer: TransferModel,
    /// Transfers begun and not yet on the clock: request and delay (ms).
    begun: Vec<(RequestIndex, f64)>,
}

impl Flow {
    /// Nothing has arrived yet; `deferred` are the queues of the prefill and the decode pool.
    pub fn new(
        destination_first: bool,
        source: RequestSource,
        collector: TraceCollector,
        transfer: TransferModel,
        deferred: [Deferred; 2],
    ) -> Self {
        let [deferred_prefill, deferred_decode] = deferred;
        Self {
            destination_first,
            source,
            handoffs: HashMap::new(),
            live: 0,
            collector,
            actions: VecDeque::new(),
            deferred_prefill,
            deferred_decode,
            transfer,
            begun: Vec::new(),
        }
    }

    /// Take in every request that is due; false when none is.
    pub fn arrivals(&mut self, now_ms: f64) -> bool {
        let mut changed = false;
        while let Some(request) = self.source.pop(now_ms) {
            changed = true;
            let index = self.collector.on_arrival(&request);
            self.actions.push_back(if self.destination_first {
                Action::Reserve(index)
            } else {
                Action::SubmitPrefill(index)
            });
            self.live += 1;
            self.handoffs.insert(index, Handoff::of(request));
        }
        changed
    }

    /// Where a request was placed in the pool of `stage`, once it was.
    pub fn place(&self, index: RequestIndex, stage: WorkerStage) -> Option<Place> {
        let handoff = self.handoffs.get(&index)?;
        match stage {
            WorkerStage::Prefill => handoff.source,
            _ => handoff.destination,
        }
    }

    /// The destination is reserved and the prompt computed: begin to move it. A transfer without
    /// delay is over at once.
    pub fn begin_transfer(&mut self, index: RequestIndex) {
        let Some(handoff) = self.handoffs.get(&index) else {
            return;
        };
        let prompt = handoff.request.prompt.len();
        let delay_ms = self.transfer.delay_ms(prompt, handoff.missing_tokens);
        if delay_ms > 0.0 {
            self.begun.push((index, delay_ms));
        } else {
            self.transferred(index);
        }
    }

    /// A prompt has been moved.
    pub fn transferred(&mut self, index: RequestIndex) {
        self.actions.push_back(Action::Activate(index));
    }

    /// Put the transfers that were begun on the clock.
    pub fn schedule_transfers(&mut self, clock: &mut Clock) {
        for (request, delay_ms) in self.begun.drain(..) {
            clock.schedule(clock.now_ms() + delay_ms, Event::TransferEnd { request });
        }
    }

    /// A request ended; what it still holds in either pool is given back by further actions.
    fn end(&mut self, index: RequestIndex, status: ReplayTerminalStatus, now_ms: f64) {
        self.collector.on_terminal(index, status, now_ms);
        let Some(handoff) = self.handoffs.get_mut(&index) else {
            return;
        };
        handoff.ended = true;
        handoff.failed = status == ReplayTerminalStatus::Failed;
        self.live -= 1;
        self.source.on_terminal(handoff.request.uuid, now_ms);
        // A source that still holds its prompt is released first.
        if status == ReplayTerminalStatus::Rejected && handoff.destination.is_some() {
            self.actions.push_back(Action::Cancel(index));
        } else if handoff.source.is_none() || status == ReplayTerminalStatus::Rejected {
            handoff.released = true;
        } else if status == ReplayTerminalStatus::Failed {
            self.actions.push_back(Action::Release(index));
        }
        self.forget_if_over(index);
    }

    /// The prefill rank's blocks are free again.
    pub fn released(&mut self, index: RequestIndex, now_ms: f64) {
        let Some(handoff) = self.handoffs.get_mut(&index) else {
            return;
        };
        handoff.released = true;
        // Only a handoff that came to its end is stamped.
        if !handoff.failed {
            self.collector
                .on_handoff(index, HandoffStamp::SourceReleased, now_ms);
        }
        self.forget_if_over(index);
    }

    fn forget_if_over(&mut self, index: RequestIndex) {
        if self
            .handoffs
            .get(&index)
            .is_some_and(|handoff| handoff.ended && handoff.released)
        {
            self.handoffs.remove(&index);
        }
    }

    /// Record what a rank did, and queue the step that follows from it.
    pub fn on_event(&mut self, event: RankEvent, now_ms: f64) {
        match event {
            RankEvent::Token(index) => self.collector.on_token(index, now_ms),
            RankEvent::Completed(index) => {
                self.end(index, ReplayTerminalStatus::Completed, now_ms);
            }
            RankEvent::Rejected(index) => {
                self.end(index, ReplayTerminalStatus::Rejected, now_ms);
            }
            RankEvent::DestinationFailed(index) => {
                self.end(index, ReplayTerminalStatus::Failed, now_ms);
            }
            RankEvent::SourceHeld(index) => {
                self.collector
                    .on_handoff(index, HandoffStamp::SourceHeld, now_ms);
                if self.destination_first {
                    self.actions.push_back(Action::Transfer(index));
                } else {
                    self.actions.push_back(Action::Reserve(index));
                }
            }
            RankEvent::DestinationReserved {
                request,
                missing_tokens,
            } => {
                self.collector
                    .on_handoff(request, HandoffStamp::DestinationReserved, now_ms);
                if let Some(handoff) = self.handoffs.get_mut(&request) {
                    handoff.missing_tokens = missing_tokens;
                }
                if self.destination_first {
                    self.actions.push_back(Action::SubmitPrefill(request));
                } else {
                    self.actions.push_back(Action::Transfer(request));
                }
            }
        }
    }
}

impl PassObserver for Flow {
    fn on_start(&mut self, stage: WorkerStage, worker: usize, start: &GroupStart, now_ms: f64) {
        let pool = match stage {
            WorkerStage::Prefill => ReplayRequestPool::Prefill,
            _ => ReplayRequestPool::Decode,
        };
        self.collector.on_pass_start(pool, worker, start, now_ms);
    }

    fn on_end(&mut self, stage: WorkerStage, worker: usize, end: &GroupEnd, now_ms: f64) {
        self.collector.on_prefill(end.prefill_tokens);
        let deferred = match stage {
            WorkerStage::Prefill => &mut self.deferred_prefill,
            _ => &mut self.deferred_decode,
        };
        deferred.requeue(worker, &mut self.actions);
        for event in &end.events {
            self.on_event(*event, now_ms);
        }
    }
}
