//! The qualification counters, read from what the report serializes to.
//!
//! Working on the JSON keys instead of the core's types keeps one runner source compiling against
//! revisions whose records have gained fields; a figure that a revision does not give is `null`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::errors::{Failure, Outcome};

/// What the counters need of a per-request record.
#[derive(Debug, Deserialize)]
struct Request {
    requested_output_length: u64,
    output_length: u64,
    reused_input_tokens: u64,
    #[serde(default)]
    prefill_worker_idx: Option<u64>,
    #[serde(default)]
    decode_worker_idx: Option<u64>,
    #[serde(default)]
    prefill_admit_ms: Option<f64>,
    #[serde(default)]
    source_held_ms: Option<f64>,
    #[serde(default)]
    destination_reserved_ms: Option<f64>,
    #[serde(default)]
    destination_activated_ms: Option<f64>,
    #[serde(default)]
    decode_admit_ms: Option<f64>,
    #[serde(default)]
    source_released_ms: Option<f64>,
    #[serde(default)]
    routing_history: Vec<Routing>,
    readmission_count: u64,
    #[serde(default)]
    terminal_status: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Routing {
    pool: String,
    outcome: String,
}

impl Request {
    /// Whether all six stamps of a prefill-to-decode handoff are there.
    fn handoff_complete(&self) -> bool {
        [
            self.prefill_admit_ms,
            self.source_held_ms,
            self.destination_reserved_ms,
            self.destination_activated_ms,
            self.decode_admit_ms,
            self.source_released_ms,
        ]
        .iter()
        .all(Option::is_some)
    }
}

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

/// Count what happened. `summary`, `per_request` and `evidence` are the report's three parts as JSON.
pub fn count(summary: &Value, per_request: Value, evidence: Value) -> Outcome<Map<String, Value>> {
    let requests: Vec<Request> = serde_json::from_value(per_request)
        .map_err(|error| Failure::core("per-request records", error))?;
    let evidence: Evidence = serde_json::from_value(evidence)
        .map_err(|error| Failure::core("runtime evidence", error))?;
    let mut counters = of_summary(summary);
    let authored = summary.get("num_requests").and_then(Value::as_u64);
    counters.append(&mut of_requests(&requests, authored));
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

/// `authored` is the number of requests in the report; one that a time limit cut off has no record.
fn of_requests(requests: &[Request], authored: Option<u64>) -> Map<String, Value> {
    let short = requests
        .iter()
        .filter(|request| request.output_length < request.requested_output_length)
        .count();
    let mut terminal: BTreeMap<&str, u64> = BTreeMap::new();
    let mut routing: BTreeMap<String, u64> = BTreeMap::new();
    for request in requests {
        // A record without a status belongs to a request that a time limit cut off.
        *terminal
            .entry(request.terminal_status.as_deref().unwrap_or("unfinished"))
            .or_default() += 1;
        for step in &request.routing_history {
            *routing
                .entry(format!("{}_{}", step.pool, step.outcome))
                .or_default() += 1;
        }
    }
    object(json!({
        "requested_output_tokens": requests.iter().map(|request| request.requested_output_length).sum::<u64>(),
        "requests_with_short_output": short,
        "all_requests_full_output": short == 0 && authored.is_none_or(|number| number == requests.len() as u64),
        "terminal_counts": terminal,
        "requests_with_reuse": requests.iter().filter(|request| request.reused_input_tokens > 0).count(),
        "prefill_workers": workers(requests, |request| request.prefill_worker_idx),
        "decode_workers": workers(requests, |request| request.decode_worker_idx),
        "routing_counts": routing,
        "handoffs_complete": requests.iter().filter(|request| request.handoff_complete()).count(),
        "readmissions": requests.iter().map(|request| request.readmission_count).sum::<u64>(),
    }))
}

fn workers(requests: &[Request], of: impl Fn(&Request) -> Option<u64>) -> BTreeSet<u64> {
    requests.iter().filter_map(of).collect()
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
