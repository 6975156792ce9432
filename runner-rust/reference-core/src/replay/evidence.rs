//! Evidence of what the runtime went through: scheduler pressure, cache events, worker lifecycle.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::record::ReplayRequestPool;

/// What a replay kept beside its report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OfflineRuntimeEvidence {
    /// Worker readiness and scaling; empty for fixed pools.
    pub lifecycle_operations: Vec<LifecycleOperation>,
    /// Preemptions and retractions; present with canonical evidence.
    pub pressure: Option<PressureEvidence>,
    /// Digest of cache events; present with canonical evidence.
    pub kv_ingest: Option<KvIngestEvidence>,
}

/// A change in a pool of workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LifecycleOperation {
    /// Ordinal over the replay.
    pub operation_ordinal: usize,
    /// When (ms).
    pub at_ms: f64,
    /// Which pool.
    pub pool: ReplayRequestPool,
    /// What happened.
    pub operation: String,
}

/// All scheduler pressure of a replay.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PressureEvidence {
    /// One record per request put out, in order.
    pub records: Vec<PressureRecord>,
    /// How many of them are vLLM preemptions.
    pub vllm_preemptions_total: usize,
    /// How many of them are SGLang retractions.
    pub sglang_retractions_total: usize,
}

/// The way a request was put out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PressureKind {
    /// vLLM preempted it.
    VllmPreemption,
    /// SGLang retracted it.
    SglangRetraction,
}

/// A rank's load beside a pressure event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PressureState {
    /// Requests in the running batch.
    pub running_requests: usize,
    /// Requests waiting.
    pub waiting_requests: Option<usize>,
    /// Blocks held by somebody.
    pub active_blocks: usize,
}

/// One request put out of a running batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PressureRecord {
    /// Ordinal over the replay.
    pub pressure_ordinal: usize,
    /// Pass start (vLLM) or decode-step start (SGLang), in ms.
    pub at_ms: f64,
    /// Which pool.
    pub pool: ReplayRequestPool,
    /// Which worker.
    pub worker_id: usize,
    /// Which rank of it.
    pub dp_rank: u32,
    /// Preemption or retraction.
    pub kind: PressureKind,
    /// Whom.
    pub request_uuid: Uuid,
    /// The rank before.
    pub state_before: PressureState,
    /// The rank after.
    pub state_after: PressureState,
    /// Blocks that the request held.
    pub request_active_blocks_before: usize,
    /// Blocks free or evictable before.
    pub logical_available_blocks_before: usize,
    /// Blocks that were needed.
    pub required_blocks_before: usize,
    /// When the request was admitted again (ms).
    pub readmitted_at_ms: Option<f64>,
}

/// Digest and counts of the cache events delivered to a router. Round robin has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KvIngestEvidence {
    /// Name of the digest's encoding.
    pub encoding: String,
    /// BLAKE3 of the encoded events, in hexadecimal.
    pub blake3_256: String,
    /// Batches delivered.
    pub batches: usize,
    /// Events delivered.
    pub events: usize,
    /// Blocks named by them.
    pub blocks: usize,
    /// Events by kind.
    pub kind_counts: BTreeMap<String, usize>,
    /// Events by pool.
    pub pool_counts: BTreeMap<String, usize>,
    /// Events by storage tier.
    pub tier_counts: BTreeMap<String, usize>,
    /// First and last delivery at each boundary.
    pub boundaries: BTreeMap<String, KvIngestBoundary>,
}

/// When deliveries at one boundary began and ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KvIngestBoundary {
    /// First delivery (ms).
    pub first_at_ms: f64,
    /// Last delivery (ms).
    pub last_at_ms: f64,
}

impl KvIngestEvidence {
    /// Evidence of a replay that delivered nothing: the digest covers the preamble only, which is
    /// the encoding's name with its length, and its version.
    pub fn empty() -> Self {
        const NAME: &[u8] = b"dynamo.offline-kv-ingest";
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(NAME.len() as u64).to_be_bytes());
        hasher.update(NAME);
        hasher.update(&1_u32.to_be_bytes());
        Self {
            encoding: "dynamo.offline-kv-ingest.v1".to_owned(),
            blake3_256: hasher.finalize().to_hex().to_string(),
            batches: 0,
            events: 0,
            blocks: 0,
            kind_counts: BTreeMap::new(),
            pool_counts: BTreeMap::new(),
            tier_counts: BTreeMap::new(),
            boundaries: BTreeMap::new(),
        }
    }
}
