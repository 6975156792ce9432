//! A prefill pool that hands prompts over to a decode pool.
//!
//! Each handoff is a chain of actions worked off from one queue: submit the prompt, reserve its
//! destination, move it, activate the request, release the source. vLLM and TRT-LLM compute first
//! and reserve then; SGLang reserves first. A worker takes activations and releases only between
//! passes; what comes in between waits for the pass's end.
//!
//! [`actions`] performs the steps, [`flow`] keeps the requests and decides which step follows an
//! event, [`transfer`] says how long moving a prompt takes.

mod actions;
mod flow;
mod transfer;

pub use transfer::TransferModel;

use self::actions::Deferred;
use self::flow::Flow;
use super::rounds::{self, Rounds};
use super::{LoopEnd, PoolUse, RequestSource};
use crate::engine::clock::Clock;
use crate::engine::placement::RoundRobin;
use crate::engine::pool::{Passes, Pool, Stuck};
use crate::replay::{Backend, ReplayError, ReplayResult, TraceCollector, WorkerStage};

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
            flow: Flow::new(
                backend == Backend::Sglang,
                source,
                collector,
                transfer,
                [Deferred::new(&prefill), Deferred::new(&decode)],
            ),
            prefill,
            decode,
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

    /// The observations, and prefill and decode worker time, once the loop has ended.
    pub fn into_parts(self) -> (TraceCollector, PoolUse, PoolUse) {
        let (prefill, decode) = (PoolUse::from(&self.prefill), PoolUse::from(&self.decode));
        (self.flow.collector, prefill, decode)
    }
}

impl Rounds for DisaggregatedRuntime {
    fn round(&mut self) -> Result<bool, Stuck> {
        let mut changed = self.finish_passes();
        while let Some(index) = self.clock.pop_transfer_end() {
            self.flow.transferred(index);
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
        // Last: a request that arrives just now does not join a pass that can start without it.
        Ok(changed | self.flow.arrivals(self.clock.now_ms()))
    }

    fn next_ms(&self) -> Option<f64> {
        rounds::earlier(self.clock.next_ms(), self.flow.source.next_ms())
    }

    fn advance(&mut self, to_ms: f64) {
        let seconds = self.clock.advance(to_ms);
        self.prefill.add_time(seconds);
        self.decode.add_time(seconds);
        self.passes.time_moved();
    }

    fn in_flight(&self) -> usize {
        self.flow.live
    }

    fn stalled(stuck: usize) -> ReplayError {
        ReplayError::Invariant(format!(
            "offline disagg replay encountered an effect-free zero-duration pass with {stuck} \
             in-flight requests remaining"
        ))
    }
}
