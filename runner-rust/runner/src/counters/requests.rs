//! The counters over requests, added up record by record.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::object;
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

/// Sums over the records seen.
#[derive(Debug, Default)]
pub(super) struct Tally {
    records: u64,
    requested_output_tokens: u64,
    short_outputs: u64,
    with_reuse: u64,
    handoffs_complete: u64,
    readmissions: u64,
    terminal: BTreeMap<String, u64>,
    routing: BTreeMap<String, u64>,
    prefill_workers: BTreeSet<u64>,
    decode_workers: BTreeSet<u64>,
}

impl Tally {
    /// Count one record of the core's.
    pub fn add(&mut self, record: &impl Serialize) -> Outcome<()> {
        let request: Request = serde_json::to_value(record)
            .and_then(serde_json::from_value)
            .map_err(|error| Failure::core("per-request records", error))?;
        self.records += 1;
        self.requested_output_tokens += request.requested_output_length;
        self.short_outputs += u64::from(request.output_length < request.requested_output_length);
        self.with_reuse += u64::from(request.reused_input_tokens > 0);
        self.handoffs_complete += u64::from(request.handoff_complete());
        self.readmissions += request.readmission_count;
        self.prefill_workers.extend(request.prefill_worker_idx);
        self.decode_workers.extend(request.decode_worker_idx);
        for step in &request.routing_history {
            let kind = format!("{}_{}", step.pool, step.outcome);
            *self.routing.entry(kind).or_default() += 1;
        }
        // A record without a status belongs to a request that a time limit cut off.
        let status = request.terminal_status;
        let status = status.unwrap_or_else(|| "unfinished".to_owned());
        *self.terminal.entry(status).or_default() += 1;
        Ok(())
    }

    /// `authored` is the number of requests in the report; one that a time limit cut off has no
    /// record.
    pub fn into_counters(self, authored: Option<u64>) -> Map<String, Value> {
        let every_record = authored.is_none_or(|number| number == self.records);
        object(json!({
            "requested_output_tokens": self.requested_output_tokens,
            "requests_with_short_output": self.short_outputs,
            "all_requests_full_output": self.short_outputs == 0 && every_record,
            "terminal_counts": self.terminal,
            "requests_with_reuse": self.with_reuse,
            "prefill_workers": self.prefill_workers,
            "decode_workers": self.decode_workers,
            "routing_counts": self.routing,
            "handoffs_complete": self.handoffs_complete,
            "readmissions": self.readmissions,
        }))
    }
}
