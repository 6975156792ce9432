//! Controls that only one engine's scheduler has.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
