//! The qualification counters, read from what the report serializes to.
//!
//! Working on the JSON keys instead of the core's types keeps one runner source compiling against
//! revisions whose records have gained fields; a figure that a revision does not give is `null`.

mod requests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::requests::Tally;
use crate::errors::{Failure, Outcome};

/// Runtime evidence; each part is absent where a revision does not collect it.
#[derive(Debug, Default, Deserialize)]
struct Evidence {
    #[serde(default)]
    lifecycle_operations: Option<Vec<Value>>,
    #[serde(default)]
    pressure: Option<Pressure>,
    #[serde(default)]
    kv_ingest: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Pressure {
    records: Vec<PressureRecord>,
    vllm_preemptions_total: u64,
    sglang_retractions_total: u64,
}

#[derive(Debug, Deserialize)]
struct PressureRecord {
    request_uuid: String,
    #[serde(default)]
    readmitted_at_ms: Option<f64>,
}

/// Count what happened. `summary` and `evidence` are those parts of the report as JSON;
/// `per_request` are its records, which are looked at one by one.
pub fn count<R: Serialize>(
    summary: &Value,
    per_request: &[R],
    evidence: Value,
) -> Outcome<Map<String, Value>> {
    let mut requests = Tally::default();
    for record in per_request {
        requests.add(record)?;
    }
    let evidence: Evidence = serde_json::from_value(evidence)
        .map_err(|error| Failure::core("runtime evidence", error))?;
    let mut counters = of_summary(summary);
    let authored = summary.get("num_requests").and_then(Value::as_u64);
    counters.append(&mut requests.into_counters(authored));
    counters.append(&mut of_evidence(&evidence));
    Ok(counters)
}

fn of_summary(summary: &Value) -> Map<String, Value> {
    [
        ("completed_requests", "completed_requests"),
        ("num_requests", "num_requests"),
        ("total_input_tokens", "total_input_tokens"),
        ("total_output_tokens", "total_output_tokens"),
        ("prefix_cache_reused_ratio", "prefix_cache_reused_ratio"),
        (
            "first_admission_prefix_cache_reused_ratio",
            "first_admission_prefix_cache_reused_ratio",
        ),
        ("virtual_duration_ms", "duration_ms"),
        ("reported_wall_time_ms", "wall_time_ms"),
    ]
    .into_iter()
    .map(|(counter, key)| {
        (
            counter.to_owned(),
            summary.get(key).cloned().unwrap_or(Value::Null),
        )
    })
    .collect()
}

fn of_evidence(evidence: &Evidence) -> Map<String, Value> {
    let mut counters = match &evidence.pressure {
        Some(pressure) => of_pressure(pressure),
        None => object(json!({
            "max_pressure_records_per_request": null,
            "vllm_preemptions": null,
            "sglang_retractions": null,
            "all_pressure_records_readmitted": null,
            "pressure_records": null,
        })),
    };
    let ingest = |key: &str| {
        evidence
            .kv_ingest
            .as_ref()
            .and_then(|ingest| ingest.get(key))
            .cloned()
            .unwrap_or(Value::Null)
    };
    counters.extend(object(json!({
        "lifecycle_operations": evidence.lifecycle_operations.as_ref().map(Vec::len),
        "kv_ingest_batches": ingest("batches"),
        "kv_ingest_events": ingest("events"),
    })));
    counters
}

fn of_pressure(pressure: &Pressure) -> Map<String, Value> {
    let mut per_request: BTreeMap<&str, u64> = BTreeMap::new();
    for record in &pressure.records {
        *per_request.entry(&record.request_uuid).or_default() += 1;
    }
    object(json!({
        "max_pressure_records_per_request": per_request.values().max().copied().unwrap_or(0),
        "vllm_preemptions": pressure.vllm_preemptions_total,
        "sglang_retractions": pressure.sglang_retractions_total,
        "all_pressure_records_readmitted": pressure.records.iter().all(|record| record.readmitted_at_ms.is_some()),
        "pressure_records": pressure.records.len(),
    }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests;
