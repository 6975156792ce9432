//! The canonical record: one JSON line whose bytes are equal exactly when two replays agree.
//!
//! Keys are sorted at every level; only a closed list of wall-clock figures is left out. Request
//! records are put into that form one by one while the line is written: as JSON values all at once
//! they would take many times the memory of the replay itself.

use serde::ser::{Error as _, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::error::{ReplayError, ReplayResult};
use super::evidence::{KvIngestEvidence, PressureEvidence};
use super::options::ReplayCaptureOptions;
use super::record::PerRequestRecord;
use super::report::ReplayReport;

/// Version of the record's layout.
pub const CANONICAL_SCHEMA_VERSION: &str = "dynamo.offline-replay.v1";

/// Pointers of everything that a canonical record leaves out. The list is closed.
pub const CANONICAL_RESULT_EXCLUSIONS: [&str; 4] = [
    "/summary/wall_time_ms",
    "/summary/processed_tokens_per_s",
    "/summary/processed_output_tokens_per_s",
    "/planner/html_report_path",
];

/// Which evidence a record was built with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CanonicalReplayCoverage {
    /// Per-request records were kept.
    pub capture_per_request: bool,
    /// Lifecycle evidence was kept.
    pub capture_planner_details: bool,
    /// Pressure and cache evidence was kept.
    pub capture_canonical_evidence: bool,
    /// Number of per-request records.
    pub per_request_records: usize,
    /// Pressure evidence, when kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<PressureEvidence>,
    /// Cache evidence, when kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv_ingest: Option<KvIngestEvidence>,
}

impl CanonicalReplayCoverage {
    /// What `report`, made under `options`, covers.
    pub fn from_report(report: &ReplayReport, options: ReplayCaptureOptions) -> Self {
        Self {
            capture_per_request: options.effective_per_request() || !report.per_request.is_empty(),
            capture_planner_details: options.capture_lifecycle_evidence,
            capture_canonical_evidence: options.capture_canonical_evidence,
            per_request_records: report.per_request.len(),
            pressure: report.runtime_evidence.pressure.clone(),
            kv_ingest: report.runtime_evidence.kv_ingest.clone(),
        }
    }
}

/// A replay's result in canonical form.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CanonicalReplayRecord<'a> {
    /// What was recorded.
    pub coverage: Value,
    /// What was replayed, in the caller's words, with the layout version.
    pub metadata: Value,
    /// Records sorted by UUID text.
    #[serde(serialize_with = "one_by_one")]
    pub per_request: Vec<&'a PerRequestRecord>,
    /// A planner's result; null without one.
    pub planner: Value,
    /// The report without its wall-clock figures.
    pub summary: Value,
}

impl<'a> CanonicalReplayRecord<'a> {
    /// Put a report into canonical form.
    ///
    /// # Errors
    /// [`ReplayError::Canonical`] when `metadata` is not an object, or a part holds a number that
    /// is not finite (JSON has no such numbers).
    pub fn build(
        report: &'a ReplayReport,
        metadata: Value,
        coverage: &CanonicalReplayCoverage,
        mut planner: Value,
    ) -> ReplayResult<Self> {
        report.check_finite()?;
        let Value::Object(mut metadata) = metadata else {
            return Err(ReplayError::Canonical(
                "metadata must be a JSON object".to_owned(),
            ));
        };
        metadata.insert("schema_version".to_owned(), json!(CANONICAL_SCHEMA_VERSION));
        metadata.insert(
            "result_exclusions".to_owned(),
            json!(CANONICAL_RESULT_EXCLUSIONS),
        );
        if let Value::Object(planner) = &mut planner {
            if let Some(own) = planner.get("metadata") {
                metadata.insert("planner".to_owned(), own.clone());
            }
            planner.remove("html_report_path");
        }
        Ok(Self {
            coverage: canonicalize_json(to_value(coverage)?),
            metadata: canonicalize_json(Value::Object(metadata)),
            per_request: sorted_records(report),
            planner: canonicalize_json(planner),
            summary: canonicalize_json(summary(report)?),
        })
    }

    /// The record as one line of compact JSON with its newline.
    ///
    /// # Errors
    /// [`ReplayError::Canonical`] when it cannot be written.
    pub fn into_json_line(self) -> ReplayResult<Vec<u8>> {
        let mut line = serde_json::to_vec(&self).map_err(unwritable)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// The order of identities is that of their texts: all have one length, and digits sort alike.
fn sorted_records(report: &ReplayReport) -> Vec<&PerRequestRecord> {
    let mut records: Vec<_> = report.per_request.iter().collect();
    records.sort_unstable_by_key(|record| record.uuid);
    records
}

fn one_by_one<S: Serializer>(
    records: &[&PerRequestRecord],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(records.len()))?;
    for record in records {
        let value = serde_json::to_value(record).map_err(S::Error::custom)?;
        list.serialize_element(&canonicalize_json(value))?;
    }
    list.end()
}

fn summary(report: &ReplayReport) -> ReplayResult<Value> {
    let mut summary = to_value(report)?;
    if let Value::Object(members) = &mut summary {
        for pointer in CANONICAL_RESULT_EXCLUSIONS {
            if let Some(key) = pointer.strip_prefix("/summary/") {
                members.remove(key);
            }
        }
    }
    Ok(summary)
}

fn to_value(part: &impl Serialize) -> ReplayResult<Value> {
    serde_json::to_value(part).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> ReplayError {
    ReplayError::Canonical(error.to_string())
}

/// Re-key every object in byte order, at every level; arrays keep their order.
pub fn canonicalize_json(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut pairs: Vec<_> = members.into_iter().collect();
            pairs.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
            Value::Object(
                pairs
                    .into_iter()
                    .map(|(key, value)| (key, canonicalize_json(value)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonicalize_json).collect()),
        scalar => scalar,
    }
}
