//! One qualifying replay: the trace through the core, the report into canonical bytes and counters.

use std::time::Instant;

use aisimulate_core::replay::loadgen::{Trace, WorkloadDriver};
use aisimulate_core::replay::{
    CanonicalReplayCoverage, CanonicalReplayRecord, ReplayCaptureOptions, ReplayDeterminism,
    ReplayEngineFactory, ReplayReport, ReplayRuntimeInput, Replayer,
};
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::digest::{sha256_hex, sha256_of_file};
use crate::errors::{Failure, Outcome};
use crate::output::Finished;
use crate::{counters, metadata, trace_check};

/// The revision built into this binary.
pub const REVISION: &str = match option_env!("AISIMULATE_SOURCE_REVISION") {
    Some(revision) => revision,
    None => "unpinned",
};

/// What a qualifying replay leaves behind.
#[derive(Debug)]
pub struct Qualified {
    canonical: Option<Vec<u8>>,
    report: Option<Vec<u8>>,
    counters: Value,
}

impl Qualified {
    /// The files in the order in which they get their names, and the counters for the expectations.
    pub fn into_files(self) -> (Vec<Finished>, Option<Value>) {
        let mut files: Vec<Finished> = Vec::new();
        files.extend(self.canonical.map(|bytes| ("canonical.jsonl", bytes)));
        files.extend(self.report.map(|bytes| ("report.json", bytes)));
        files.push((
            "qualification.jsonl",
            format!("{}\n", self.counters).into_bytes(),
        ));
        (files, Some(self.counters))
    }
}

/// Replay `config` with every kind of evidence; `started` is when the process began.
pub fn qualify(config: &Config, started: Instant) -> Outcome<Qualified> {
    let engine = metadata::normalized_engine(&config.spec.engine)?;
    check_trace(config, "before the replay")?;
    let options = all_evidence();
    let report = prepare(config, &engine, options)?
        .run()
        .map_err(|error| Failure::core("replay", error))?;
    check_trace(config, "after the replay")?;

    let canonical = config
        .capture_canonical
        .then(|| canonical_line(config, engine, &report, options))
        .transpose()?;
    let full = config
        .write_full_report
        .then(|| pretty(&report))
        .transpose()?;
    let counted = counters::count(
        &metadata::to_value("report", &report)?,
        &report.per_request,
        metadata::to_value("runtime evidence", &report.runtime_evidence)?,
    )?;
    Ok(Qualified {
        counters: identified(config, counted, canonical.as_deref(), started)?,
        canonical,
        report: full,
    })
}

/// A replayer that is ready to run the configuration's trace.
pub fn prepare(
    config: &Config,
    engine: &Value,
    options: ReplayCaptureOptions,
) -> Outcome<Replayer> {
    let shown = config.trace_path.display();
    let trace_failed =
        |error: &dyn std::fmt::Display| Failure::core(&format!("trace {shown}"), error);
    let trace = Trace::from_mooncake(&config.trace_path, config.trace_block_size)
        .map_err(|error| trace_failed(&error))?
        .normalize_session_starts()
        .map_err(|error| trace_failed(&error))?
        .speed_up_timing(config.arrival_speedup_ratio)
        .map_err(|error| trace_failed(&error))?;
    let block_size = metadata::engine_block_size(engine, &config.spec.topology)?;
    let workload = match config.spec.max_in_flight {
        None => WorkloadDriver::new_trace(trace, block_size),
        Some(limit) => WorkloadDriver::new_concurrency(trace, block_size, limit),
    }
    .map_err(|error| trace_failed(&error))?;
    let replayer = Replayer::new(config.spec.clone(), ReplayEngineFactory::new())
        .map_err(|error| Failure::core("replay", error))?;
    Ok(replayer
        .with_runtime_input(ReplayRuntimeInput::Workload(workload))
        .with_capture_options(options))
}

/// The trace is what the configuration declares; `moment` goes into the message.
pub fn check_trace(config: &Config, moment: &str) -> Outcome<()> {
    trace_check::check(
        &config.trace_path,
        &config.trace_sha256,
        config.trace_rows,
        moment,
    )
}

// A later core may know more options; those keep their defaults.
#[allow(clippy::needless_update)]
fn all_evidence() -> ReplayCaptureOptions {
    ReplayCaptureOptions {
        capture_per_request: true,
        capture_lifecycle_evidence: true,
        capture_canonical_evidence: true,
        determinism: ReplayDeterminism::CanonicalV1,
        ..ReplayCaptureOptions::default()
    }
}

/// The canonical record; an engine-only replay has no planner, and says so with `null`.
fn canonical_line(
    config: &Config,
    engine: Value,
    report: &ReplayReport,
    options: ReplayCaptureOptions,
) -> Outcome<Vec<u8>> {
    let coverage = CanonicalReplayCoverage::from_report(report, options);
    CanonicalReplayRecord::build(
        report,
        metadata::build(config, engine)?,
        &coverage,
        Value::Null,
    )
    .and_then(CanonicalReplayRecord::into_json_line)
    .map_err(|error| Failure::core("canonical record", error))
}

/// The whole report as one indented object, its keys sorted at every level.
#[derive(Serialize)]
struct WholeReport<'a, R: Serialize> {
    #[serde(serialize_with = "one_by_one")]
    per_request: &'a [R],
    runtime_evidence: Value,
    summary: Value,
}

/// Write each record as the JSON value that sorts its keys, which is dropped before the next.
fn one_by_one<R: Serialize, S: Serializer>(
    records: &[R],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(records.len()))?;
    for record in records {
        let value = serde_json::to_value(record).map_err(S::Error::custom)?;
        list.serialize_element(&value)?;
    }
    list.end()
}

fn pretty(report: &ReplayReport) -> Outcome<Vec<u8>> {
    let whole = WholeReport {
        per_request: &report.per_request,
        runtime_evidence: metadata::to_value("runtime evidence", &report.runtime_evidence)?,
        summary: metadata::to_value("report", report)?,
    };
    let mut text =
        serde_json::to_vec_pretty(&whole).map_err(|error| Failure::core("report", error))?;
    text.push(b'\n');
    Ok(text)
}

/// The counters with what identifies the replay and the process.
fn identified(
    config: &Config,
    mut counters: Map<String, Value>,
    canonical: Option<&[u8]>,
    started: Instant,
) -> Outcome<Value> {
    let binary = std::env::current_exe()
        .and_then(|path| sha256_of_file(&path))
        .map_err(|error| Failure::new(format!("this binary's own file: {error}")))?;
    for (key, value) in [
        ("row_name", json!(config.row_name)),
        ("source_revision", json!(REVISION)),
        ("config_sha256", json!(config.sha256)),
        ("runner_binary_sha256", json!(binary)),
        ("canonical_sha256", json!(canonical.map(sha256_hex))),
        (
            "measured_process_ms",
            json!(started.elapsed().as_secs_f64() * 1000.0),
        ),
    ] {
        counters.insert(key.to_owned(), value);
    }
    Ok(Value::Object(counters))
}
