//! One pool whose workers prefill and decode.

use std::collections::HashMap;

use uuid::Uuid;

use super::rounds::{self, Rounds};
use super::{LoopEnd, PoolUse, RequestSource, submission};
use crate::engine::clock::Clock;
use crate::engine::placement::RoundRobin;
use crate::engine::pool::{PassObserver, Passes, Pool, Stuck};
use crate::engine::rank::{RankEvent, RequestIndex};
use crate::engine::worker::{GroupEnd, GroupStart};
use crate::replay::{
    ReplayError, ReplayRequestPool, ReplayResult, ReplayTerminalStatus, TraceCollector, WorkerStage,
};

/// The runtime of an aggregated topology.
#[derive(Debug)]
pub struct AggregatedRuntime {
    pool: Pool,
    placement: RoundRobin,
    clock: Clock,
    passes: Passes,
    max_sim_time_ms: Option<f64>,
    flow: Flow,
}

/// Requests on their way through the pool.
#[derive(Debug)]
struct Flow {
    source: RequestSource,
    /// Requests that have arrived and not ended.
    in_flight: HashMap<RequestIndex, Uuid>,
    collector: TraceCollector,
}

impl AggregatedRuntime {
    /// A runtime over `pool`, fed by `source`.
    pub fn new(
        pool: Pool,
        source: RequestSource,
        collector: TraceCollector,
        max_sim_time_ms: Option<f64>,
    ) -> Self {
        let placement = RoundRobin::worker_first(pool.workers.len(), pool.ranks);
        Self {
            pool,
            placement,
            clock: Clock::default(),
            passes: Passes::default(),
            max_sim_time_ms,
            flow: Flow {
                source,
                in_flight: HashMap::new(),
                collector,
            },
        }
    }

    /// Run to the end.
    ///
    /// # Errors
    /// [`ReplayError::Invariant`] when requests are in flight and nothing can ever happen.
    pub fn run(&mut self) -> ReplayResult<LoopEnd> {
        let limit_ms = self.max_sim_time_ms;
        rounds::play(self, limit_ms)
    }

    fn arrivals(&mut self) -> bool {
        let now_ms = self.clock.now_ms();
        let mut changed = false;
        while let Some(request) = self.flow.source.pop(now_ms) {
            changed = true;
            let index = self.flow.collector.on_arrival(&request);
            let place = self
                .placement
                .place(request.dp_rank.map(|rank| rank as usize));
            self.flow
                .collector
                .on_route(index, ReplayRequestPool::Agg, place);
            self.pool.workers[place.worker]
                .rank(place.rank)
                .submit(submission(index, &request, usize::MAX));
            self.flow.in_flight.insert(index, request.uuid);
        }
        changed
    }

    /// The observations and the worker time, once the loop has ended.
    pub fn into_parts(self) -> (TraceCollector, PoolUse) {
        let usage = PoolUse::from(&self.pool);
        (self.flow.collector, usage)
    }
}

impl Rounds for AggregatedRuntime {
    fn round(&mut self) -> Result<bool, Stuck> {
        let mut changed = false;
        while let Some((_, worker)) = self.clock.pop_pass_end() {
            let now_ms = self.clock.now_ms();
            self.pool.finish(worker, now_ms, &mut self.flow);
            changed = true;
        }
        // Before the passes: a request that arrives just now can join the next one.
        changed |= self.arrivals();
        changed |= self
            .pool
            .drive(&mut self.clock, &mut self.passes, &mut self.flow)?;
        Ok(changed)
    }

    fn next_ms(&self) -> Option<f64> {
        rounds::earlier(self.clock.next_ms(), self.flow.source.next_ms())
    }

    fn advance(&mut self, to_ms: f64) {
        let seconds = self.clock.advance(to_ms);
        self.pool.add_time(seconds);
        self.passes.time_moved();
    }

    fn in_flight(&self) -> usize {
        self.flow.in_flight.len()
    }

    fn stalled(stuck: usize) -> ReplayError {
        super::effect_free(stuck)
    }
}

impl Flow {
    fn end(&mut self, index: RequestIndex, status: ReplayTerminalStatus, now_ms: f64) {
        self.collector.on_terminal(index, status, now_ms);
        if let Some(uuid) = self.in_flight.remove(&index) {
            self.source.on_terminal(uuid, now_ms);
        }
    }
}

impl PassObserver for Flow {
    fn on_start(&mut self, _: WorkerStage, worker: usize, start: &GroupStart, now_ms: f64) {
        self.collector
            .on_pass_start(ReplayRequestPool::Agg, worker, start, now_ms);
    }

    fn on_end(&mut self, _: WorkerStage, _: usize, end: &GroupEnd, now_ms: f64) {
        self.collector.on_prefill(end.prefill_tokens);
        for event in &end.events {
            match *event {
                RankEvent::Token(index) => self.collector.on_token(index, now_ms),
                RankEvent::Completed(index) => {
                    self.end(index, ReplayTerminalStatus::Completed, now_ms);
                }
                RankEvent::Rejected(index) => {
                    self.end(index, ReplayTerminalStatus::Rejected, now_ms);
                }
                RankEvent::SourceHeld(_)
                | RankEvent::DestinationReserved { .. }
                | RankEvent::DestinationFailed(_) => {}
            }
        }
    }
}
