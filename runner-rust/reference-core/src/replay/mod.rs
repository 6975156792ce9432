//! The public replay surface: what to replay ([`ReplaySpec`]), on what engine
//! ([`ReplayEngineConfig`]), under which traffic ([`loadgen`]), and what came out
//! ([`ReplayReport`], [`CanonicalReplayRecord`]).

mod canonical;
mod collector;
mod engine_config;
mod entry;
mod error;
mod evidence;
mod factory;
mod inline;
pub mod loadgen;
mod observed;
mod options;
mod record;
mod records;
mod replayer;
mod report;
mod sketch;
mod spec;
mod statistics;
mod summary;

pub use canonical::{
    CANONICAL_RESULT_EXCLUSIONS, CANONICAL_SCHEMA_VERSION, CanonicalReplayCoverage,
    CanonicalReplayRecord, canonicalize_json,
};
pub use collector::{HandoffStamp, TraceCollector};
pub use engine_config::{
    Backend, EngineConfig, KvEvictionPolicy, KvTransferTimingMode, PreemptionMode,
    ReplayEngineConfig, ReplayRoleConfig, SchedulePolicy, SglangConfig, TimingModelConfig,
    TrtllmCapacityPolicy, TrtllmConfig, WorkerType,
};
pub use entry::{
    run_engine_replay, run_engine_replay_with_optional_role_timing, run_engine_replay_with_timing,
};
pub use error::{ReplayError, ReplayResult};
pub use evidence::{
    KvIngestBoundary, KvIngestEvidence, LifecycleOperation, OfflineRuntimeEvidence,
    PressureEvidence, PressureKind, PressureRecord, PressureState,
};
pub use factory::{ReplayEngineFactory, TimingModel};
pub use loadgen::DirectRequest;
pub use options::{ReplayCaptureOptions, ReplayDeterminism};
pub use record::{
    AdmissionRecord, PerRequestRecord, ReplayRequestPool, ReplayRoutingOutcome,
    ReplayTerminalStatus, RoutingRecord,
};
pub use replayer::{FinishedReplay, PreparedReplay, ReplayRuntimeInput, Replayer};
pub use report::{
    GoodputStats, ItlStats, LatencyStats, ReplayReport, RequestCounts, ThroughputStats,
};
pub use spec::{
    ProviderSpec, ReplayAdapters, ReplayRequest, ReplaySpec, ReplayTopology, SlaThresholds,
    WorkerPoolSpec, WorkerStage,
};
pub use statistics::TraceDistributionStats;
