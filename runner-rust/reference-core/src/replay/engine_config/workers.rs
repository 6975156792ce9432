//! The shape of a worker, and the two roles of a disaggregated topology.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rank::EngineConfig;
use super::words::KvEvictionPolicy;
use crate::replay::error::{ReplayError, ReplayResult};
use crate::replay::spec::WorkerStage;

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
}
