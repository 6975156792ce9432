//! What a replay records, and how its request identities are made.

use serde::{Deserialize, Serialize};

/// How request identities (UUIDs) are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayDeterminism {
    /// Random UUIDs: two runs differ in them, and in the last digits of means summed in UUID order.
    #[default]
    Random,
    /// UUID = authored ordinal + 1, so that two runs give the same bytes.
    #[serde(rename = "canonical_v1")]
    CanonicalV1,
}

/// What a replay keeps beside its summary. Everything is off by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplayCaptureOptions {
    /// Keep one record per request.
    pub capture_per_request: bool,
    /// Keep lifecycle operations (worker readiness, scaling) as evidence.
    pub capture_lifecycle_evidence: bool,
    /// Keep pressure records and the cache-event digest; implies per-request records.
    pub capture_canonical_evidence: bool,
    /// How request identities are drawn.
    pub determinism: ReplayDeterminism,
}

impl ReplayCaptureOptions {
    /// Whether per-request records are kept.
    pub fn effective_per_request(&self) -> bool {
        self.capture_per_request || self.capture_canonical_evidence
    }
}
