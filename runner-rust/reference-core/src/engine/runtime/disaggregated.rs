//! A prefill pool that hands prompts over to a decode pool.
//!
//! Each handoff is a chain of actions worked off from one queue: submit the prompt, reserve its
//! destination, move it, activate the request, release the source. vLLM and TRT-LLM compute first
//! and reserve then; SGLang reserves first. A worker takes activations and releases only between
//! passes; what comes in between waits for the pass's end.

use std::collections::{HashMap, VecDeque};

use super::{LoopEnd, PoolUse, RequestSource, submission};
use crate::engine::clock::{Clock, Event};
use crate::engine::placement::{Place, RoundRobin};
use crate::engine::pool::{PassObserver, Passes, Pool, Stuck};
use crate::engine::rank::{RankEvent, RequestIndex};
use crate::engine::worker::{GroupEnd, GroupStart};
use crate::replay::loadgen::DirectRequest;
use crate::replay::{
    Backend, EngineConfig, HandoffStamp, KvTransferTimingMode, ReplayError, ReplayRequestPool,
    ReplayResult, ReplayTerminalStatus, TraceCollector, WorkerStage,
};

/// How long moving a prompt takes. Everything is taken from the prefill role.
#[derive(Debug, Clone, Copy)]
pub struct TransferModel {
    bytes_per_token: Option<usize>,
    bandwidth_gb_s: Option<f64>,
    mode: KvTransferTimingMode,
    latency_ms: f64,
}

impl TransferModel {
    /// The transfer of prompts computed by `prefill`; `latency_ms` where it names no bandwidth.
    pub fn new(prefill: &EngineConfig, latency_ms: f64) -> Self {
        Self {
            bytes_per_token: prefill.kv_transfer_bytes_per_token,
            bandwidth_gb_s: prefill.kv_transfer_bandwidth.filter(|rate| *rate > 0.0),
            mode: prefill.kv_transfer_timing_mode,
            latency_ms,
        }
    }

    /// Delay (ms) of moving a prompt of which the destination lacks `missing` tokens.
    fn delay_ms(&self, prompt: usize, missing: usize) -> f64 {
        let (Some(bytes), Some(rate)) = (self.bytes_per_token, self.bandwidth_gb_s) else {
            return self.latency_ms;
        };
        let tokens = match self.mode {
            KvTransferTimingMode::FullPrompt => prompt,
            KvTransferTimingMode::DestinationMissing => missing,
        };
        (tokens * bytes) as f64 / (rate * 1e9) * 1000.0
    }
}

/// A step of a handoff.
#[derive(Debug, Clone, Copy)]
enum Action {
    SubmitPrefill(RequestIndex),
    Reserve(RequestIndex),
    Transfer(RequestIndex),
    Activate(RequestIndex),
    Cancel(RequestIndex),
    Release(RequestIndex),
}

/// A request on its way through both pools.
#[derive(Debug)]
struct Handoff {
    request: DirectRequest,
    source: Option<Place>,
    destination: Option<Place>,
    /// Prompt tokens that the destination lacks, once it is reserved.
    missing_tokens: usize,
    ended: bool,
    failed: bool,
    released: bool,
}

/// The runtime of a disaggregated topology.
#[derive(Debug)]
pub struct DisaggregatedRuntime {
    prefill: Pool,
    decode: Pool,
    prefill_placement: RoundRobin,
    decode_placement: RoundRobin,
    clock: Clock,
    passes: Passes,
    max_sim_time_ms: Option<f64>,
    flow: Flow,
}

/// Requests and actions, as far as pass ends touch them.
#[derive(Debug)]
struct Flow {
    destination_first: bool,
    source: RequestSource,
    handoffs: HashMap<RequestIndex, Handoff>,
    /// Requests that have not ended.
    live: usize,
    collector: TraceCollector,
    actions: VecDeque<Action>,
    /// Actions that wait for a pass's end, by scheduler.
    deferred_releases: Deferred,
    deferred_activations: Deferred,
    transfer: TransferModel,
    /// Transfers begun and not yet on the clock: request and delay (ms).
    begun: Vec<(RequestIndex, f64)>,
}

/// Actions deferred by the schedulers of one pool.
#[derive(Debug)]
struct Deferred {
    ranks: usize,
    queues: Vec<VecDeque<Action>>,
}

impl Deferred {
    fn new(pool: &Pool) -> Self {
        Self {
            ranks: pool.ranks,
            queues: vec![VecDeque::new(); pool.workers.len() * pool.ranks],
        }
    }

    /// Move a worker's actions to `actions`, rank by rank.
    fn requeue(&mut self, worker: usize, actions: &mut VecDeque<Action>) {
        let first = worker * self.ranks;
        for queue in &mut self.queues[first..first + self.ranks] {
            actions.append(queue);
        }
    }
}

impl DisaggregatedRuntime {
    /// A runtime over two pools of `backend`, fed by `source`.
    pub fn new(
        pools: (Pool, Pool),
        backend: Backend,
        transfer: TransferModel,
        source: RequestSource,
        collector: TraceCollector,
        max_sim_time_ms: Option<f64>,
    ) -> Self {
        let (prefill, decode) = pools;
        Self {
            prefill_placement: RoundRobin::flat(prefill.workers.len(), prefill.ranks),
            decode_placement: RoundRobin::flat(decode.workers.len(), decode.ranks),
            clock: Clock::default(),
            passes: Passes::default(),
            max_sim_time_ms,
            flow: Flow {
                destination_first: backend == Backend::Sglang,
                source,
                handoffs: HashMap::new(),
                live: 0,
                collector,
                actions: VecDeque::new(),
                deferred_releases: Deferred::new(&prefill),
                deferred_activations: Deferred::new(&decode),
                transfer,
                begun: Vec::new(),
            },
            prefill,
            decode,
        }
    }

    /// Run to the end.
    ///
    /// # Errors
    /// [`ReplayError::Invariant`] when requests are in flight and nothing can ever happen.
    pub fn run(&mut self) -> ReplayResult<LoopEnd> {
        loop {
            while self
                .round()
                .map_err(|Stuck(held)| super::effect_free(held))?
            {}
            let next = [self.clock.next_ms(), self.flow.source.next_ms()]
                .into_iter()
                .flatten()
                .min_by(f64::total_cmp);
            let Some(next_ms) = next else {
                return match self.flow.live {
                    0 => Ok(LoopEnd::Drained),
                    stuck => Err(effect_free(stuck)),
                };
            };
            if self.max_sim_time_ms.is_some_and(|limit| next_ms > limit) {
                return Ok(LoopEnd::CutOff);
            }
            let seconds = self.clock.advance(next_ms);
            self.prefill.add_time(seconds);
            self.decode.add_time(seconds);
            self.passes.time_moved();
        }
    }

    /// Everything that can happen now, once; false when nothing did.
    fn round(&mut self) -> Result<bool, Stuck> {
        let mut changed = self.finish_passes();
        while let Some(index) = self.clock.pop_transfer_end() {
            self.flow.actions.push_back(Action::Activate(index));
            changed = true;
        }
        while let Some(action) = self.flow.actions.pop_front() {
            self.perform(action);
            changed = true;
        }
        for pool in [&mut self.prefill, &mut self.decode] {
            changed |= pool.drive(&mut self.clock, &mut self.passes, &mut self.flow)?;
            self.flow.schedule_transfers(&mut self.clock);
        }
        Ok(changed | self.flow.arrivals(self.clock.now_ms()))
    }

    fn finish_passes(&mut self) -> bool {
        let mut changed = false;
        while let Some((stage, worker)) = self.clock.pop_pass_end() {
            let pool = match stage {
                WorkerStage::Prefill => &mut self.prefill,
                _ => &mut self.decode,
            };
            pool.finish(worker, self.clock.now_ms(), &mut self.flow);
            self.flow.schedule_transfers(&mut self.clock);
            changed = true;
        }
        changed
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::SubmitPrefill(index) => self.submit_prefill(index),
            Action::Reserve(index) => self.reserve(index),
            Action::Transfer(index) => self.flow.begin_transfer(index),
            Action::Activate(index) => self.activate(index),
            Action::Cancel(index) => self.cancel(index),
            Action::Release(index) => self.release(index),
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

    fn activate(&mut self, index: RequestIndex) {
        let Some(place) = self.flow.place(index, WorkerStage::Decode) else {
            return;
        };
        let worker = &mut self.decode.workers[place.worker];
        if worker.is_busy() {
            let queue = &mut self.flow.deferred_activations.queues[place.scheduler];
            queue.push_back(Action::Activate(index));
            return;
        }
        worker.rank(place.rank).activate(index);
        let now_ms = self.clock.now_ms();
        self.flow
            .collector
            .on_handoff(index, HandoffStamp::DestinationActivated, now_ms);
        self.flow.actions.push_back(Action::Release(index));
        self.try_reserve(place);
    }

    /// The prefill pool refused a prompt whose destination was reserved already.
    fn cancel(&mut self, index: RequestIndex) {
        let Some(place) = self.flow.place(index, WorkerStage::Decode) else {
            return;
        };
        let worker = &mut self.decode.workers[place.worker];
        if worker.is_busy() {
            let queue = &mut self.flow.deferred_activations.queues[place.scheduler];
            queue.push_back(Action::Cancel(index));
            return;
        }
        worker.rank(place.rank).cancel_destination(index);
        self.flow.handoffs.remove(&index);
        self.try_reserve(place);
    }

    fn release(&mut self, index: RequestIndex) {
        let Some(place) = self.flow.place(index, WorkerStage::Prefill) else {
            return;
        };
        let worker = &mut self.prefill.workers[place.worker];
        if worker.is_busy() {
            let queue = &mut self.flow.deferred_releases.queues[place.scheduler];
            queue.push_back(Action::Release(index));
            return;
        }
        worker.rank(place.rank).release_source(index);
        let now_ms = self.clock.now_ms();
        self.flow.released(index, now_ms);
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

    /// The observations, and prefill and decode worker time, once the loop has ended.
    pub fn into_parts(self) -> (TraceCollector, PoolUse, PoolUse) {
        let (prefill, decode) = (PoolUse::from(&self.prefill), PoolUse::from(&self.decode));
        (self.flow.collector, prefill, decode)
    }
}

impl Flow {
    fn arrivals(&mut self, now_ms: f64) -> bool {
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
            self.handoffs.insert(
                index,
                Handoff {
                    request,
                    source: None,
                    destination: None,
                    missing_tokens: 0,
                    ended: false,
                    failed: false,
                    released: false,
                },
            );
        }
        changed
    }

    fn place(&self, index: RequestIndex, stage: WorkerStage) -> Option<Place> {
        let handoff = self.handoffs.get(&index)?;
        match stage {
            WorkerStage::Prefill => handoff.source,
            _ => handoff.destination,
        }
    }

    /// The destination is reserved and the prompt computed: begin to move it.
    fn begin_transfer(&mut self, index: RequestIndex) {
        let Some(handoff) = self.handoffs.get(&index) else {
            return;
        };
        let prompt = handoff.request.prompt.len();
        let delay_ms = self.transfer.delay_ms(prompt, handoff.missing_tokens);
        if delay_ms > 0.0 {
            self.begun.push((index, delay_ms));
        } else {
            self.actions.push_back(Action::Activate(index));
        }
    }

    fn schedule_transfers(&mut self, clock: &mut Clock) {
        for (request, delay_ms) in self.begun.drain(..) {
            clock.schedule(clock.now_ms() + delay_ms, Event::TransferEnd { request });
        }
    }

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

    fn released(&mut self, index: RequestIndex, now_ms: f64) {
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

    fn on_event(&mut self, event: RankEvent, now_ms: f64) {
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

/// `stuck` requests are in flight and nothing can move them.
fn effect_free(stuck: usize) -> ReplayError {
    ReplayError::Invariant(format!(
        "offline disagg replay encountered an effect-free zero-duration pass with {stuck} in-flight \
         requests remaining"
    ))
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
            WorkerStage::Prefill => &mut self.deferred_releases,
            _ => &mut self.deferred_activations,
        };
        deferred.requeue(worker, &mut self.actions);
        for event in &end.events {
            self.on_event(*event, now_ms);
        }
    }
}
