//! The engine description: one rank's scheduler limits, and how many ranks make a worker.
//!
//! Field names, defaults and their order are those of the newest published build, because a
//! description is serialized back into the canonical record.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{ReplayError, ReplayResult};
use super::spec::WorkerStage;

/// A worker: its ranks, and optionally different descriptions for the two disaggregated roles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReplayEngineConfig {
    /// Which cached block goes first when room is needed.
    pub kv_eviction_policy: KvEvictionPolicy,
    /// Attention-DP ranks per worker.
    pub dp_size: u32,
    /// GPUs per rank.
    pub tensor_parallel_size: u32,
    /// Prefill context parallelism; multiplies the GPUs of a worker.
    pub prefill_context_parallel_size: u32,
    /// Whether `num_gpu_blocks` was given or derived; only reported back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_gpu_blocks_is_explicit: Option<bool>,
    /// One rank's scheduler.
    pub rank: EngineConfig,
    /// Description of prefill workers; the top level when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefill: Option<ReplayRoleConfig>,
    /// Description of decode workers; the top level when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decode: Option<ReplayRoleConfig>,
}

impl Default for ReplayEngineConfig {
    fn default() -> Self {
        Self {
            kv_eviction_policy: KvEvictionPolicy::Lru,
            dp_size: 1,
            tensor_parallel_size: 1,
            prefill_context_parallel_size: 1,
            num_gpu_blocks_is_explicit: None,
            rank: EngineConfig::default(),
            prefill: None,
            decode: None,
        }
    }
}

/// The description of one role's workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReplayRoleConfig {
    /// Attention-DP ranks per worker.
    pub dp_size: u32,
    /// GPUs per rank.
    pub tensor_parallel_size: u32,
    /// Prefill context parallelism; multiplies the GPUs of a worker.
    pub prefill_context_parallel_size: u32,
    /// Whether `num_gpu_blocks` was given or derived; only reported back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_gpu_blocks_is_explicit: Option<bool>,
    /// One rank's scheduler.
    pub rank: EngineConfig,
}

impl Default for ReplayRoleConfig {
    fn default() -> Self {
        Self {
            dp_size: 1,
            tensor_parallel_size: 1,
            prefill_context_parallel_size: 1,
            num_gpu_blocks_is_explicit: None,
            rank: EngineConfig::default(),
        }
    }
}

/// Eviction policy of the key-value cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KvEvictionPolicy {
    /// Least recently released first.
    #[default]
    Lru,
    /// Furthest next use first (an oracle); not modelled here.
    Belady,
}

impl KvEvictionPolicy {
    /// The name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lru => "lru",
            Self::Belady => "belady",
        }
    }
}

/// Which engine's scheduler a rank runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// vLLM.
    #[default]
    Vllm,
    /// SGLang.
    Sglang,
    /// TensorRT-LLM.
    Trtllm,
}

/// Role of a rank inside its pool; always overwritten by the pool's stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerType {
    /// Prefill and decode.
    #[default]
    Aggregated,
    /// Prompts only.
    Prefill,
    /// Token generation only.
    Decode,
}

impl From<WorkerStage> for WorkerType {
    fn from(stage: WorkerStage) -> Self {
        match stage {
            WorkerStage::Aggregated => Self::Aggregated,
            WorkerStage::Prefill => Self::Prefill,
            WorkerStage::Decode => Self::Decode,
        }
    }
}

/// Which running request vLLM puts out when blocks run short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreemptionMode {
    /// The latest admitted.
    #[default]
    Lifo,
    /// The earliest admitted.
    Fifo,
}

/// What a key-value transfer moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KvTransferTimingMode {
    /// The whole prompt.
    #[default]
    FullPrompt,
    /// Only what the destination does not hold.
    DestinationMissing,
}

/// How long a pass takes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TimingModelConfig {
    /// Built-in polynomial of new tokens (prefill) and cache occupancy (decode).
    #[default]
    Polynomial,
    /// Constants.
    Fixed {
        /// Length (ms) of a prefill step that computes anything.
        prefill_ms: f64,
        /// Length (ms) of a decode step.
        decode_ms: f64,
    },
    /// A model registered by the embedding program.
    External {
        /// Provider name.
        provider: String,
        /// Provider-specific settings.
        #[serde(default)]
        config: Value,
    },
}

/// Order in which SGLang looks at waiting requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchedulePolicy {
    /// Arrival order.
    #[default]
    Fifo,
    /// Longest cached prefix first; not modelled here.
    Lpm,
}

/// SGLang's own controls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SglangConfig {
    /// Waiting order.
    pub schedule_policy: SchedulePolicy,
    /// Prompt tokens per prefill batch.
    pub max_prefill_tokens: usize,
    /// Prompt tokens per prefill batch before prompts are cut into chunks.
    pub chunked_prefill_size: usize,
    /// Upper bound on the output that admission sets aside for a request (tokens).
    pub clip_max_new_tokens: usize,
    /// Scales the share of clipped output that running requests are expected to use.
    pub schedule_conservativeness: f64,
    /// Multimodal cache; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vlm_cache_bytes: Option<Value>,
    /// Host loop model; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_loop: Option<Value>,
}

impl Default for SglangConfig {
    fn default() -> Self {
        Self {
            schedule_policy: SchedulePolicy::Fifo,
            max_prefill_tokens: 16_384,
            chunked_prefill_size: 8_192,
            clip_max_new_tokens: 4_096,
            schedule_conservativeness: 1.0,
            vlm_cache_bytes: None,
            host_loop: None,
        }
    }
}

/// TRT-LLM's capacity scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrtllmCapacityPolicy {
    /// Admit a request only when it can run to completion.
    #[default]
    GuaranteedNoEvict,
}

/// TRT-LLM's own controls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrtllmConfig {
    /// When a waiting request may start.
    pub capacity_scheduler_policy: TrtllmCapacityPolicy,
}

/// One rank's scheduler and cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    remote = "Self",
    default = "EngineConfig::without_block_size",
    deny_unknown_fields
)]
pub struct EngineConfig {
    /// Scheduler family.
    pub backend: Backend,
    /// Cache capacity in blocks.
    pub num_gpu_blocks: usize,
    /// Block (page) size in tokens; 64 (vLLM), 1 (SGLang) or 32 (TRT-LLM) when absent.
    pub block_size: usize,
    /// Longest sequence accepted (tokens).
    pub max_model_len: Option<usize>,
    /// Running requests at most.
    pub max_num_seqs: usize,
    /// Tokens computed per pass at most (vLLM, TRT-LLM).
    pub max_num_batched_tokens: usize,
    /// Passes between prefills; only 1 is modelled.
    pub prefill_schedule_interval: usize,
    /// Decode passes between prefills (SGLang); only 0 is modelled.
    pub prefill_decode_interval: usize,
    /// Whether prompts share cached blocks.
    pub enable_prefix_caching: bool,
    /// Whether a prompt may be computed over several passes.
    pub enable_chunked_prefill: bool,
    /// Divides every duration; 0 leaves them alone.
    pub speedup_ratio: f64,
    /// Divides decode durations further.
    pub decode_speedup_ratio: f64,
    /// Speculative tokens per step; not modelled here.
    pub aic_nextn: Option<u32>,
    /// Acceptance rates of speculative tokens; not modelled here.
    pub aic_nextn_accept_rates: Option<String>,
    /// Seed of speculative acceptance.
    pub aic_mtp_seed: u64,
    /// Role; overwritten by the pool's stage.
    pub worker_type: WorkerType,
    /// vLLM's preemption victim.
    pub preemption_mode: PreemptionMode,
    /// Whether cache events are produced; overwritten by the composition.
    pub emit_kv_events: bool,
    /// Whether cache events carry tokens.
    pub emit_kv_token_ids: bool,
    /// Bytes moved per token in a handoff.
    #[serde(alias = "kv_bytes_per_token")]
    pub kv_transfer_bytes_per_token: Option<usize>,
    /// Bytes a token takes in the cache; only reported back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv_cache_bytes_per_token: Option<usize>,
    /// Heterogeneous cache groups; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv_cache_groups: Option<Value>,
    /// Cache capacity in bytes; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv_cache_capacity_bytes: Option<u64>,
    /// Host offload tier; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_host_offload: Option<Value>,
    /// Per-request state cache; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_cache: Option<Value>,
    /// Granularity of prefix matches; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_match_unit: Option<usize>,
    /// Storage offload tier; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g3_offload: Option<Value>,
    /// Cache retention hints; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kvcr: Option<Value>,
    /// Handoff bandwidth in decimal GB/s.
    pub kv_transfer_bandwidth: Option<f64>,
    /// What a handoff moves.
    pub kv_transfer_timing_mode: KvTransferTimingMode,
    /// How long passes take.
    pub timing_model: TimingModelConfig,
    /// SGLang's controls.
    pub sglang: SglangConfig,
    /// TRT-LLM's controls.
    pub trtllm: TrtllmConfig,
    /// Front-end model; not modelled here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frontend: Option<Value>,
    /// Vision requests; not modelled here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vision: bool,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            backend: Backend::Vllm,
            num_gpu_blocks: 16_384,
            block_size: 64,
            max_model_len: None,
            max_num_seqs: 256,
            max_num_batched_tokens: 8_192,
            prefill_schedule_interval: 1,
            prefill_decode_interval: 0,
            enable_prefix_caching: true,
            enable_chunked_prefill: true,
            speedup_ratio: 1.0,
            decode_speedup_ratio: 1.0,
            aic_nextn: None,
            aic_nextn_accept_rates: None,
            aic_mtp_seed: 42,
            worker_type: WorkerType::Aggregated,
            preemption_mode: PreemptionMode::Lifo,
            emit_kv_events: false,
            emit_kv_token_ids: false,
            kv_transfer_bytes_per_token: None,
            kv_cache_bytes_per_token: None,
            kv_cache_groups: None,
            kv_cache_capacity_bytes: None,
            native_host_offload: None,
            state_cache: None,
            prefix_match_unit: None,
            g3_offload: None,
            kvcr: None,
            kv_transfer_bandwidth: None,
            kv_transfer_timing_mode: KvTransferTimingMode::FullPrompt,
            timing_model: TimingModelConfig::Polynomial,
            sglang: SglangConfig::default(),
            trtllm: TrtllmConfig::default(),
            frontend: None,
            vision: false,
        }
    }
}

/// Stands for "not given" while a description is being read.
const BLOCK_SIZE_ABSENT: usize = usize::MAX;

impl EngineConfig {
    fn without_block_size() -> Self {
        Self {
            block_size: BLOCK_SIZE_ABSENT,
            ..Self::default()
        }
    }
}

impl<'de> Deserialize<'de> for EngineConfig {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The derived (remote) reader cannot know the backend while it reads the block size.
        let mut config = Self::deserialize(deserializer)?;
        if config.block_size == BLOCK_SIZE_ABSENT {
            config.block_size = match config.backend {
                Backend::Vllm => 64,
                Backend::Sglang => 1,
                Backend::Trtllm => 32,
            };
        }
        Ok(config)
    }
}

impl Serialize for EngineConfig {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl ReplayEngineConfig {
    /// Read a spec's `engine` value; null means the default.
    ///
    /// # Errors
    /// [`ReplayError::InvalidSpec`] with the reader's message.
    pub fn from_value(value: &Value) -> ReplayResult<Self> {
        if value.is_null() {
            return Ok(Self::default());
        }
        Self::deserialize(value)
            .map_err(|error| ReplayError::spec(format!("native engine descriptor: {error}")))
    }

    /// The description that workers of `stage` run, with the stage written into it.
    pub fn role(&self, stage: WorkerStage) -> ReplayRoleConfig {
        let own = match stage {
            WorkerStage::Aggregated => None,
            WorkerStage::Prefill => self.prefill.as_ref(),
            WorkerStage::Decode => self.decode.as_ref(),
        };
        let mut role = own.cloned().unwrap_or_else(|| ReplayRoleConfig {
            dp_size: self.dp_size,
            tensor_parallel_size: self.tensor_parallel_size,
            prefill_context_parallel_size: self.prefill_context_parallel_size,
            num_gpu_blocks_is_explicit: self.num_gpu_blocks_is_explicit,
            rank: self.rank.clone(),
        });
        role.rank.worker_type = stage.into();
        role.rank.emit_kv_events = false;
        role
    }
}

impl ReplayRoleConfig {
    /// GPUs of one worker of this role.
    pub fn gpus_per_worker(&self) -> u64 {
        u64::from(self.dp_size)
            * u64::from(self.tensor_parallel_size)
            * u64::from(self.prefill_context_parallel_size)
    }

    /// Check the bounds of this role's description.
    ///
    /// # Errors
    /// [`ReplayError::InvalidSpec`] for worker shapes, [`ReplayError::Engine`] for the rank.
    pub fn validate(&self) -> ReplayResult<()> {
        for (name, value) in [
            ("dp_size", self.dp_size),
            ("tensor_parallel_size", self.tensor_parallel_size),
            (
                "prefill_context_parallel_size",
                self.prefill_context_parallel_size,
            ),
        ] {
            if value == 0 {
                return Err(ReplayError::spec(format!("native {name} must be positive")));
            }
        }
        self.rank.validate()
    }
}

impl EngineConfig {
    /// Check every bound of a rank, and refuse what this core does not model.
    ///
    /// # Errors
    /// [`ReplayError::Engine`] naming the first broken bound.
    pub fn validate(&self) -> ReplayResult<()> {
        self.validate_sizes()?;
        self.validate_backend()?;
        self.validate_durations()?;
        self.refuse_unmodelled()
    }

    fn validate_sizes(&self) -> ReplayResult<()> {
        for (name, value) in [
            ("block_size", self.block_size),
            ("num_gpu_blocks", self.num_gpu_blocks),
            ("max_num_seqs", self.max_num_seqs),
            ("max_num_batched_tokens", self.max_num_batched_tokens),
            ("prefill_schedule_interval", self.prefill_schedule_interval),
            ("max_model_len", self.max_model_len.unwrap_or(1)),
            (
                "kv_transfer_bytes_per_token",
                self.kv_transfer_bytes_per_token.unwrap_or(1),
            ),
            (
                "kv_cache_bytes_per_token",
                self.kv_cache_bytes_per_token.unwrap_or(1),
            ),
            ("sglang.max_prefill_tokens", self.sglang.max_prefill_tokens),
            (
                "sglang.chunked_prefill_size",
                self.sglang.chunked_prefill_size,
            ),
            (
                "sglang.clip_max_new_tokens",
                self.sglang.clip_max_new_tokens,
            ),
        ] {
            if value == 0 {
                return Err(ReplayError::engine(format!("{name} must be positive")));
            }
        }
        Ok(())
    }

    fn validate_backend(&self) -> ReplayResult<()> {
        match self.backend {
            Backend::Vllm | Backend::Trtllm if self.block_size < 2 => Err(ReplayError::engine(
                "vLLM/TRT-LLM block_size must be at least two",
            )),
            Backend::Sglang if !self.enable_chunked_prefill => Err(ReplayError::engine(
                "enable_chunked_prefill=false is not supported for backend=sglang",
            )),
            Backend::Sglang
                if !self
                    .sglang
                    .chunked_prefill_size
                    .is_multiple_of(self.block_size) =>
            {
                Err(ReplayError::engine(
                    "sglang.chunked_prefill_size must be divisible by block_size",
                ))
            }
            _ if self.emit_kv_token_ids && !self.emit_kv_events => Err(ReplayError::engine(
                "emit_kv_token_ids requires emit_kv_events",
            )),
            _ => Ok(()),
        }
    }

    fn validate_durations(&self) -> ReplayResult<()> {
        let mut bounded = vec![
            ("speedup_ratio", self.speedup_ratio),
            ("decode_speedup_ratio", self.decode_speedup_ratio),
            (
                "kv_transfer_bandwidth",
                self.kv_transfer_bandwidth.unwrap_or(0.0),
            ),
            (
                "sglang.schedule_conservativeness",
                self.sglang.schedule_conservativeness,
            ),
        ];
        if let TimingModelConfig::Fixed {
            prefill_ms,
            decode_ms,
        } = self.timing_model
        {
            bounded.push(("timing_model.prefill_ms", prefill_ms));
            bounded.push(("timing_model.decode_ms", decode_ms));
        }
        for (name, value) in bounded {
            if !value.is_finite() || value < 0.0 {
                return Err(ReplayError::engine(format!(
                    "{name} must be finite and non-negative"
                )));
            }
        }
        Ok(())
    }

    fn refuse_unmodelled(&self) -> ReplayResult<()> {
        let asked = [
            ("aic_nextn", self.aic_nextn.is_some()),
            (
                "aic_nextn_accept_rates",
                self.aic_nextn_accept_rates.is_some(),
            ),
            (
                "prefill_schedule_interval",
                self.prefill_schedule_interval != 1,
            ),
            ("prefill_decode_interval", self.prefill_decode_interval != 0),
            ("kv_cache_groups", self.kv_cache_groups.is_some()),
            (
                "kv_cache_capacity_bytes",
                self.kv_cache_capacity_bytes.is_some(),
            ),
            ("native_host_offload", self.native_host_offload.is_some()),
            ("state_cache", self.state_cache.is_some()),
            ("prefix_match_unit", self.prefix_match_unit.is_some()),
            ("g3_offload", self.g3_offload.is_some()),
            ("kvcr", self.kvcr.is_some()),
            ("frontend", self.frontend.is_some()),
            ("vision", self.vision),
            (
                "sglang.vlm_cache_bytes",
                self.sglang.vlm_cache_bytes.is_some(),
            ),
            ("sglang.host_loop", self.sglang.host_loop.is_some()),
            (
                "sglang.schedule_policy = lpm",
                self.sglang.schedule_policy == SchedulePolicy::Lpm,
            ),
        ];
        match asked.iter().find(|(_, present)| *present) {
            Some((name, _)) => Err(ReplayError::engine(format!(
                "{name} is not modelled by the reference core"
            ))),
            None => Ok(()),
        }
    }
}
