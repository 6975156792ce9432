//! The replayer: puts specification, traffic and engine together and runs them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::collector::TraceCollector;
use super::engine_config::ReplayEngineConfig;
use super::error::{ReplayError, ReplayResult};
use super::factory::ReplayEngineFactory;
use super::loadgen::{DirectRequest, WorkloadDriver};
use super::options::ReplayCaptureOptions;
use super::report::ReplayReport;
use super::spec::ReplaySpec;

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
        Ok(PreparedReplay { replayer: self })
    }
}

/// A replay of which only the loop is left to run.
#[derive(Debug)]
pub struct PreparedReplay {
    replayer: Replayer,
}

impl PreparedReplay {
    /// Run the loop; the duration covers the loop and nothing else.
    ///
    /// # Errors
    /// [`ReplayError::Invariant`] when the replay can never end.
    pub fn execute(self) -> ReplayResult<(Duration, FinishedReplay)> {
        let _ = self.replayer;
        Err(ReplayError::engine(
            "no scheduler is built into this core yet",
        ))
    }
}

/// A replay that ended, before its figures are aggregated.
#[derive(Debug)]
pub struct FinishedReplay {
    collector: TraceCollector,
}

impl FinishedReplay {
    /// Aggregate the report. Its `wall_time_ms` is 0 unless [`Replayer::run`] made it.
    pub fn into_report(self) -> ReplayReport {
        self.collector.finish()
    }
}
