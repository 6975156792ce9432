//! The replayer: puts specification, traffic and engine together and runs them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::collector::TraceCollector;
use super::engine_config::ReplayEngineConfig;
use super::error::{ReplayError, ReplayResult};
use super::factory::ReplayEngineFactory;
use super::inline;
use super::loadgen::{DirectRequest, WorkloadDriver};
use super::options::{ReplayCaptureOptions, ReplayDeterminism};
use super::report::ReplayReport;
use super::spec::{ReplaySpec, ReplayTopology, WorkerPoolSpec, WorkerStage};
use crate::engine::pool::Pool;
use crate::engine::runtime::{
    AggregatedRuntime, DisaggregatedRuntime, RequestSource, TransferModel,
};

/// Where requests come from.
#[derive(Debug, Clone)]
pub enum ReplayRuntimeInput {
    /// Requests in arrival order.
    Requests(VecDeque<DirectRequest>),
    /// A driver that releases them.
    Workload(WorkloadDriver),
}

/// A replay to be run.
#[derive(Debug)]
pub struct Replayer {
    spec: ReplaySpec,
    engine: ReplayEngineConfig,
    factory: ReplayEngineFactory,
    input: Option<ReplayRuntimeInput>,
    options: ReplayCaptureOptions,
}

impl Replayer {
    /// A replay of `spec` with round-robin placement and no scaling.
    ///
    /// # Errors
    /// [`ReplayError::InvalidSpec`] and [`ReplayError::Engine`] for what cannot be replayed.
    pub fn new(spec: ReplaySpec, factory: ReplayEngineFactory) -> ReplayResult<Self> {
        spec.validate()?;
        let engine = ReplayEngineConfig::from_value(&spec.engine)?;
        for (adapter, wanted, given) in [
            (
                "requires round_robin placement",
                "round_robin",
                &spec.adapters.placement,
            ),
            ("does not provide scaling", "none", &spec.adapters.scaling),
        ] {
            if given.provider != wanted {
                return Err(ReplayError::spec(format!(
                    "engine composition {adapter}, got {:?}",
                    given.provider
                )));
            }
        }
        Ok(Self {
            spec,
            engine,
            factory,
            input: None,
            options: ReplayCaptureOptions::default(),
        })
    }

    /// Replay this traffic instead of the specification's inline requests.
    pub fn with_runtime_input(mut self, input: ReplayRuntimeInput) -> Self {
        self.input = Some(input);
        self
    }

    /// Set what is recorded.
    pub fn with_capture_options(mut self, options: ReplayCaptureOptions) -> Self {
        self.options = options;
        self
    }

    /// Run to the end: prepare, execute, report.
    ///
    /// # Errors
    /// Any [`ReplayError`].
    pub fn run(self) -> ReplayResult<ReplayReport> {
        let started = Instant::now();
        let (_, finished) = self.prepare()?.execute()?;
        let mut report = finished.into_report();
        report.throughput.wall_time_ms = started.elapsed().as_secs_f64() * 1000.0;
        Ok(report)
    }

    /// Build workers and workload, so that only the loop is left to run. An extension of this core:
    /// it is the boundary at which replay-loop time is measured.
    ///
    /// # Errors
    /// [`ReplayError`] for what cannot be replayed.
    pub fn prepare(self) -> ReplayResult<PreparedReplay> {
        let canonical = self.options.determinism == ReplayDeterminism::CanonicalV1;
        let input = match self.input {
            Some(ReplayRuntimeInput::Workload(driver)) if canonical => {
                ReplayRuntimeInput::Workload(driver.with_deterministic_request_ids(1))
            }
            Some(input) => input,
            None => ReplayRuntimeInput::Requests(inline::lower(&self.spec.requests, canonical)),
        };
        let source = RequestSource::new(input, self.spec.max_in_flight);
        let collector = TraceCollector::new(self.options, self.spec.sla);
        let limit = self.spec.max_sim_time_ms;
        let pool = |stage, workers: &WorkerPoolSpec| {
            let role = self.engine.role(stage);
            let pool = Pool::new(stage, workers.initial_workers, &role, &self.factory)?;
            inline::check_ranks(&self.spec.requests, stage, role.dp_size)?;
            ReplayResult::Ok((pool, role))
        };
        let runtime = match &self.spec.topology {
            ReplayTopology::Aggregated { workers } => {
                let (pool, _) = pool(WorkerStage::Aggregated, workers)?;
                Runtime::Aggregated(Box::new(AggregatedRuntime::new(
                    pool, source, collector, limit,
                )))
            }
            ReplayTopology::Disaggregated {
                prefill,
                decode,
                handoff_latency_ms,
            } => {
                let (prefill, source_role) = pool(WorkerStage::Prefill, prefill)?;
                let (decode, destination_role) = pool(WorkerStage::Decode, decode)?;
                let backend = source_role.rank.backend;
                if backend != destination_role.rank.backend {
                    return Err(ReplayError::Invariant(
                        "offline disaggregated replay requires matching backend engine types"
                            .to_owned(),
                    ));
                }
                let transfer = TransferModel::new(&source_role.rank, *handoff_latency_ms);
                Runtime::Disaggregated(Box::new(DisaggregatedRuntime::new(
                    (prefill, decode),
                    backend,
                    transfer,
                    source,
                    collector,
                    limit,
                )))
            }
        };
        Ok(PreparedReplay {
            runtime,
            engine: self.engine,
        })
    }
}

#[derive(Debug)]
enum Runtime {
    Aggregated(Box<AggregatedRuntime>),
    Disaggregated(Box<DisaggregatedRuntime>),
}

/// A replay of which only the loop is left to run.
#[derive(Debug)]
pub struct PreparedReplay {
    runtime: Runtime,
    engine: ReplayEngineConfig,
}

impl PreparedReplay {
    /// Run the loop; the duration covers the loop and nothing else.
    ///
    /// # Errors
    /// [`ReplayError::Invariant`] when the replay can never end.
    pub fn execute(mut self) -> ReplayResult<(Duration, FinishedReplay)> {
        let started = Instant::now();
        match &mut self.runtime {
            Runtime::Aggregated(runtime) => runtime.run()?,
            Runtime::Disaggregated(runtime) => runtime.run()?,
        };
        let elapsed = started.elapsed();
        Ok((elapsed, FinishedReplay { replay: self }))
    }
}

/// A replay that ended, before its figures are aggregated.
#[derive(Debug)]
pub struct FinishedReplay {
    replay: PreparedReplay,
}

impl FinishedReplay {
    /// Aggregate the report. Its `wall_time_ms` is 0 unless [`Replayer::run`] made it.
    pub fn into_report(self) -> ReplayReport {
        let engine = self.replay.engine;
        let timing = |stage| engine.role(stage).rank.timing_model;
        let (mut collector, prefill, decode, timing) = match self.replay.runtime {
            Runtime::Aggregated(runtime) => {
                let (collector, pool) = runtime.into_parts();
                let timing = vec![("aggregated", timing(WorkerStage::Aggregated))];
                (collector, None, pool, timing)
            }
            Runtime::Disaggregated(runtime) => {
                let (collector, prefill, decode) = runtime.into_parts();
                let timing = vec![
                    ("prefill", timing(WorkerStage::Prefill)),
                    ("decode", timing(WorkerStage::Decode)),
                ];
                (collector, Some(prefill), decode, timing)
            }
        };
        collector.note_pools(prefill, decode, engine.kv_eviction_policy, timing);
        collector.finish()
    }
}
