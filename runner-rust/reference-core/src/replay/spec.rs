//! The replay specification: topology, engine, adapters, limits and inline requests.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{ReplayError, ReplayResult};

/// Everything that defines one replay, except the trace and the capture options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplaySpec {
    /// Layout version of this structure; only 1 exists.
    #[serde(default = "version_one")]
    pub version: u32,
    /// Pools of workers.
    pub topology: ReplayTopology,
    /// Engine description, a [`ReplayEngineConfig`](super::ReplayEngineConfig); null means its default.
    #[serde(default)]
    pub engine: Value,
    /// Placement and scaling providers.
    #[serde(default)]
    pub adapters: ReplayAdapters,
    /// Virtual time (ms) at which the replay is cut off.
    #[serde(default)]
    pub max_sim_time_ms: Option<f64>,
    /// With inline requests: at most this many in flight, arrival times ignored.
    #[serde(default)]
    pub max_in_flight: Option<usize>,
    /// Whether per-request records may be kept.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub record_per_request: bool,
    /// Latency bounds for goodput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sla: Option<SlaThresholds>,
    /// Requests given in place; empty when a trace drives the replay.
    pub requests: Vec<ReplayRequest>,
}

fn version_one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

/// How workers are pooled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReplayTopology {
    /// Every worker prefills and decodes.
    Aggregated {
        /// The one pool.
        workers: WorkerPoolSpec,
    },
    /// Prefill workers hand finished prompts to decode workers.
    Disaggregated {
        /// Pool that computes prompts.
        prefill: WorkerPoolSpec,
        /// Pool that generates tokens.
        decode: WorkerPoolSpec,
        /// Handoff delay (ms) where no transfer bandwidth is configured.
        #[serde(default)]
        handoff_latency_ms: f64,
    },
}

impl ReplayTopology {
    /// An aggregated pool of `workers` workers without startup delay.
    pub fn aggregated(workers: usize) -> Self {
        Self::Aggregated {
            workers: WorkerPoolSpec {
                initial_workers: workers,
                startup_delay_ms: 0.0,
            },
        }
    }

    /// Whether prefill and decode are separate pools.
    pub fn is_disaggregated(&self) -> bool {
        matches!(self, Self::Disaggregated { .. })
    }
}

/// One pool of identical workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerPoolSpec {
    /// Number of workers, at least one.
    pub initial_workers: usize,
    /// Delay (ms) before a scaled-up worker is ready; the initial ones are ready at once.
    #[serde(default)]
    pub startup_delay_ms: f64,
}

/// The role a pool plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerStage {
    /// Prefill and decode.
    Aggregated,
    /// Prompts only.
    Prefill,
    /// Token generation only.
    Decode,
}

/// The providers a replay is composed of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplayAdapters {
    /// Chooses a worker for each request; only `round_robin`.
    pub placement: ProviderSpec,
    /// Changes pool sizes; only `none`.
    pub scaling: ProviderSpec,
}

impl Default for ReplayAdapters {
    fn default() -> Self {
        Self {
            placement: ProviderSpec::named("round_robin"),
            scaling: ProviderSpec::named("none"),
        }
    }
}

/// A provider by name, with its own configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProviderSpec {
    /// Registered name.
    pub provider: String,
    /// Provider-specific settings.
    #[serde(default)]
    pub config: Value,
}

impl ProviderSpec {
    /// A provider without configuration.
    pub fn named(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            config: Value::Null,
        }
    }
}

/// Latency bounds that a request must keep to count as goodput.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlaThresholds {
    /// Time to first token (ms).
    pub ttft_ms: Option<f64>,
    /// Mean gap between tokens (ms).
    pub itl_ms: Option<f64>,
    /// Arrival to last token (ms); excludes the other two.
    pub e2e_ms: Option<f64>,
}

/// One request given in the specification itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayRequest {
    /// Unique, non-empty name.
    pub id: String,
    /// Arrival (ms of virtual time).
    pub arrival_time_ms: f64,
    /// Prompt length in tokens.
    pub input_tokens: usize,
    /// The prompt itself; synthesized without shared prefixes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_token_ids: Option<Vec<u32>>,
    /// Tokens to generate.
    pub output_tokens: usize,
    /// The tokens to generate, when they matter; their number then wins over `output_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_token_ids: Option<Vec<u32>>,
    /// Preferred attention-DP rank of the (decode) worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dp_rank: Option<u32>,
    /// Preferred attention-DP rank of the prefill worker; `dp_rank` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefill_dp_rank: Option<u32>,
    /// Session that the request belongs to, reported back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Turn within the session, reported back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_index: Option<usize>,
    /// Free data, reported back.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

impl ReplaySpec {
    /// Check every bound that does not need the engine description.
    ///
    /// # Errors
    /// [`ReplayError::InvalidSpec`] naming the first broken bound.
    pub fn validate(&self) -> ReplayResult<()> {
        if self.version != 1 {
            return Err(ReplayError::spec(format!(
                "unsupported version {}; expected 1",
                self.version
            )));
        }
        self.validate_topology()?;
        if self.max_in_flight == Some(0) {
            return Err(ReplayError::spec("max_in_flight must be positive"));
        }
        if let Some(limit) = self.max_sim_time_ms {
            non_negative("max_sim_time_ms", limit)?;
        }
        if let Some(sla) = &self.sla {
            sla.validate()?;
        }
        self.validate_requests()
    }

    fn validate_topology(&self) -> ReplayResult<()> {
        match &self.topology {
            ReplayTopology::Aggregated { workers } => workers.validate("aggregated"),
            ReplayTopology::Disaggregated {
                prefill,
                decode,
                handoff_latency_ms,
            } => {
                prefill.validate("prefill")?;
                decode.validate("decode")?;
                non_negative("handoff_latency_ms", *handoff_latency_ms)
            }
        }
    }

    fn validate_requests(&self) -> ReplayResult<()> {
        let mut seen = HashSet::with_capacity(self.requests.len());
        for request in &self.requests {
            request.validate(&self.topology)?;
            if !seen.insert(request.id.as_str()) {
                return Err(ReplayError::spec(format!(
                    "duplicate request id {:?}",
                    request.id
                )));
            }
        }
        Ok(())
    }
}

impl WorkerPoolSpec {
    fn validate(&self, pool: &str) -> ReplayResult<()> {
        if self.initial_workers == 0 {
            return Err(ReplayError::spec(format!(
                "{pool} pool must start with at least one worker"
            )));
        }
        non_negative("startup_delay_ms", self.startup_delay_ms)
    }
}

impl SlaThresholds {
    fn validate(&self) -> ReplayResult<()> {
        for (name, bound) in [
            ("sla.ttft_ms", self.ttft_ms),
            ("sla.itl_ms", self.itl_ms),
            ("sla.e2e_ms", self.e2e_ms),
        ] {
            if bound.is_some_and(|ms| !ms.is_finite() || ms <= 0.0) {
                return Err(ReplayError::spec(format!(
                    "{name} must be finite and positive, got {}",
                    bound.unwrap_or_default()
                )));
            }
        }
        if self.e2e_ms.is_some() && (self.ttft_ms.is_some() || self.itl_ms.is_some()) {
            return Err(ReplayError::spec(
                "sla.e2e_ms is mutually exclusive with sla.ttft_ms/itl_ms",
            ));
        }
        Ok(())
    }
}

impl ReplayRequest {
    fn validate(&self, topology: &ReplayTopology) -> ReplayResult<()> {
        if self.id.is_empty() {
            return Err(ReplayError::spec("request id must not be empty"));
        }
        non_negative("request arrival_time_ms", self.arrival_time_ms)?;
        if let Some(ids) = &self.input_token_ids
            && ids.len() != self.input_tokens
        {
            return Err(ReplayError::spec(format!(
                "request {:?} declares {} input tokens but materializes {} token IDs",
                self.id,
                self.input_tokens,
                ids.len()
            )));
        }
        if self.prefill_dp_rank.is_some() && !topology.is_disaggregated() {
            return Err(ReplayError::spec(format!(
                "aggregated request {:?} cannot specify prefill_dp_rank",
                self.id
            )));
        }
        Ok(())
    }
}

fn non_negative(name: &str, value: f64) -> ReplayResult<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ReplayError::spec(format!(
        "{name} must be finite and non-negative, got {value}"
    )))
}
