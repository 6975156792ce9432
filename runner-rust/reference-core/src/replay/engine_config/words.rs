//! The closed vocabularies of an engine description.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::replay::spec::WorkerStage;

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
