//! One rank's scheduler and cache.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::engines::{SglangConfig, TrtllmConfig};
use super::words::{Backend, KvTransferTimingMode, PreemptionMode, TimingModelConfig, WorkerType};

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
