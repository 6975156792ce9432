//! The report of a replay: its figures. [`flat`] writes them as one object.

mod flat;

use std::collections::BTreeMap;

use crate::replay::engine_config::{KvEvictionPolicy, TimingModelConfig};
use crate::replay::evidence::OfflineRuntimeEvidence;
use crate::replay::record::PerRequestRecord;
use crate::replay::statistics::TraceDistributionStats;

/// Counts over requests and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestCounts {
    /// Requests that arrived, however they ended.
    pub num_requests: usize,
    /// Requests that emitted all their tokens.
    pub completed_requests: usize,
    /// Prompt tokens of completed requests.
    pub total_input_tokens: usize,
    /// Output tokens of completed requests.
    pub total_output_tokens: usize,
}

/// Rates over the virtual duration, and the workers' time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ThroughputStats {
    /// Latest end of a completed request (virtual ms).
    pub duration_ms: f64,
    /// Wall-clock time of the replay (ms); never part of a comparison.
    pub wall_time_ms: f64,
    /// Completed requests per virtual second.
    pub request_throughput_rps: f64,
    /// Prompt tokens per virtual second.
    pub input_throughput_tok_s: f64,
    /// Output tokens per virtual second.
    pub output_throughput_tok_s: f64,
    /// Both per virtual second.
    pub total_throughput_tok_s: f64,
    /// Seconds that prefill workers were up.
    pub prefill_worker_seconds: f64,
    /// Seconds that decode (or aggregated) workers were up.
    pub decode_worker_seconds: f64,
    /// GPUs of a prefill worker; 0 without a prefill pool.
    pub prefill_gpus_per_worker: u64,
    /// GPUs of a decode (or aggregated) worker.
    pub decode_gpus_per_worker: u64,
    /// GPU hours of all pools.
    pub gpu_hours: f64,
}

/// Gaps between tokens, over all requests.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ItlStats {
    /// Their distribution.
    pub distribution: TraceDistributionStats,
    /// The largest gap (ms).
    pub max_ms: f64,
}

/// Latency distributions (ms, the last one in tokens per second).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LatencyStats {
    /// Requests with a first token.
    pub num_ttft_samples: usize,
    /// Requests with at least two tokens.
    pub num_tpot_samples: usize,
    /// Requests with a last token.
    pub num_e2e_latency_samples: usize,
    /// Arrival to first token.
    pub ttft: TraceDistributionStats,
    /// First to second token.
    pub ttst: TraceDistributionStats,
    /// Mean gap per request.
    pub tpot: TraceDistributionStats,
    /// Every gap.
    pub itl: ItlStats,
    /// Arrival to last token.
    pub e2e: TraceDistributionStats,
    /// 1000 / gap, over every gap.
    pub output_token_throughput_per_user: TraceDistributionStats,
}

/// Completed requests that kept the latency bounds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GoodputStats {
    /// How many.
    pub completed_requests: usize,
    /// Per virtual second.
    pub request_throughput_rps: f64,
    /// Their output tokens per virtual second.
    pub output_throughput_tok_s: f64,
}

/// Everything a replay reports. Serialized as one flat object, without the per-request records and
/// the runtime evidence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplayReport {
    /// Counts.
    pub request_counts: RequestCounts,
    /// Rates and worker time.
    pub throughput: ThroughputStats,
    /// Reused over all prompt tokens, of completed requests.
    pub prefix_cache_reused_ratio: f64,
    /// The same with each request's first admission only.
    pub first_admission_prefix_cache_reused_ratio: f64,
    /// Prompt tokens computed by prefill passes.
    pub committed_prefill_tokens: usize,
    /// Latencies.
    pub latency: LatencyStats,
    /// Goodput, when bounds were given.
    pub goodput: Option<GoodputStats>,
    /// Eviction policy of the caches.
    pub kv_eviction_policy: KvEvictionPolicy,
    /// Timing model of each role, by role name.
    pub timing_by_role: BTreeMap<String, TimingModelConfig>,
    /// Records, when kept.
    pub per_request: Vec<PerRequestRecord>,
    /// Evidence, when kept.
    pub runtime_evidence: OfflineRuntimeEvidence,
}
