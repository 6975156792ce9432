//! The record of one request: when it was routed, admitted, handed off and served.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// Pool through which a request passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayRequestPool {
    /// The pool of an aggregated topology.
    Agg,
    /// Prefill pool.
    Prefill,
    /// Decode pool.
    Decode,
}

/// How a request was placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayRoutingOutcome {
    /// Sent to a worker at once; round robin always is.
    Immediate,
    /// Held back by the router first.
    Queued,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayTerminalStatus {
    /// All tokens emitted.
    Completed,
    /// Refused by a scheduler because it can never fit.
    Rejected,
    /// Withdrawn.
    Canceled,
    /// Its destination can never hold it.
    Failed,
}

/// One placement decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoutingRecord {
    /// Pool of the decision.
    pub pool: ReplayRequestPool,
    /// Whether the request waited in the router.
    pub outcome: ReplayRoutingOutcome,
    /// When it entered the router's queue (ms).
    pub queue_entered_at_ms: Option<f64>,
    /// Time in that queue (ms).
    pub queue_wait_ms: f64,
    /// When it left the queue (ms).
    pub released_at_ms: Option<f64>,
    /// Worker chosen.
    pub logical_worker_id: usize,
    /// Scheduler chosen: worker * dp + rank.
    pub scheduler_id: usize,
    /// Attention-DP rank chosen.
    pub dp_rank: u32,
    /// Cache overlap the router counted on (tokens).
    pub reported_overlap_tokens: usize,
    /// Overlap of the chosen worker (blocks), where a router knows it.
    pub selected_overlap_blocks: Option<usize>,
    /// Best overlap on offer (blocks), where a router knows it.
    pub best_available_overlap_blocks: Option<usize>,
    /// Difference of the two (blocks).
    pub overlap_regret_blocks: Option<usize>,
    /// Router replica, where there are several.
    pub placement_replica_id: Option<usize>,
}

/// One admission into a running batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdmissionRecord {
    /// Ordinal over all pools.
    pub admission_ordinal: usize,
    /// Ordinal within the pool; above 0 the request had been put out before.
    pub pool_admission_ordinal: usize,
    /// Pool that admitted.
    pub pool: ReplayRequestPool,
    /// Start of the admitting pass (ms).
    pub at_ms: f64,
    /// Prompt tokens found in the cache.
    pub reused_input_tokens: usize,
    /// `pool_admission_ordinal > 0`.
    pub is_readmission: bool,
}

/// Everything recorded about one request. Times are virtual milliseconds; unset ones did not happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerRequestRecord {
    /// Name of an inline request; none for trace workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Session of the trace row.
    pub session_id: Option<String>,
    /// Turn within the session.
    pub turn_index: Option<usize>,
    /// Identity within the replay.
    pub uuid: Uuid,
    /// Arrival.
    pub arrival_time_ms: f64,
    /// Dispatch in concurrency mode.
    pub dispatched_at_ms: Option<f64>,
    /// First admission in any pool.
    pub first_admit_ms: Option<f64>,
    /// End, however it ended.
    pub terminal_time_ms: Option<f64>,
    /// First token.
    pub first_token_ms: Option<f64>,
    /// Last token.
    pub last_token_ms: Option<f64>,
    /// First token after arrival.
    pub ttft_ms: Option<f64>,
    /// Second token after the first.
    pub ttst_ms: Option<f64>,
    /// Last token after arrival.
    pub e2e_latency_ms: Option<f64>,
    /// Mean gap between this request's tokens.
    pub itl_ms: Option<f64>,
    /// Prompt tokens.
    pub input_length: usize,
    /// Output tokens asked for.
    pub requested_output_length: usize,
    /// Output tokens emitted.
    pub output_length: usize,
    /// Prompt tokens found in a cache: the most over the prefill pool's admissions where there are
    /// any, else over all.
    pub reused_input_tokens: usize,
    /// Prompt tokens found at the first admission.
    pub first_admission_reused_input_tokens: usize,
    /// Scheduler (worker * dp + rank) that computed the prompt in a prefill pool.
    pub prefill_worker_idx: Option<usize>,
    /// Scheduler that generated the tokens.
    pub decode_worker_idx: Option<usize>,
    /// Admission in the prefill pool.
    pub prefill_admit_ms: Option<f64>,
    /// Prompt computed and held for the handoff.
    pub source_held_ms: Option<f64>,
    /// Destination blocks reserved.
    pub destination_reserved_ms: Option<f64>,
    /// Transfer done, request handed to the decode scheduler.
    pub destination_activated_ms: Option<f64>,
    /// First admission in the decode pool.
    pub decode_admit_ms: Option<f64>,
    /// Prefill blocks let go.
    pub source_released_ms: Option<f64>,
    /// Tokens found in the decode pool's cache: the most over its admissions.
    pub decode_reused_input_tokens: Option<usize>,
    /// Overlap counted on by prefill routing (tokens).
    pub prefill_route_overlap_tokens: Option<usize>,
    /// Overlap counted on by decode routing (tokens).
    pub decode_route_overlap_tokens: Option<usize>,
    /// Placement decisions in order.
    pub routing_history: Vec<RoutingRecord>,
    /// Admissions in order.
    pub admission_history: Vec<AdmissionRecord>,
    /// Length of `admission_history`.
    pub admission_count: usize,
    /// Admissions beyond the first of each pool.
    pub readmission_count: usize,
    /// Ordinals of this request's pressure records.
    pub pressure_record_ordinals: Vec<usize>,
    /// How it ended; none when the replay was cut off before.
    pub terminal_status: Option<ReplayTerminalStatus>,
    /// Free data of an inline request.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}
