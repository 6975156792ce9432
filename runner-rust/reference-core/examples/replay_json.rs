//! Replays JSON payloads of the form that the published runtime's `run_replay_json` takes, one per
//! line of standard input, and prints one line of JSON for each: `{"report": …}` or `{"error": …}`,
//! with the loop's wall time. The fidelity harness talks to it.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use aisimulate_core::replay::loadgen::{Trace, WorkloadDriver};
use aisimulate_core::replay::{
    ReplayCaptureOptions, ReplayDeterminism, ReplayEngineFactory, ReplayRuntimeInput, ReplaySpec,
    Replayer,
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Payload {
    spec: ReplaySpec,
    traffic: Option<Traffic>,
    #[serde(default)]
    determinism: ReplayDeterminism,
    /// Keep pressure evidence; the published runtime never shows it.
    #[serde(default)]
    evidence: bool,
}

#[derive(Deserialize)]
struct Traffic {
    trace_path: String,
    trace_block_size: usize,
    #[serde(default = "one")]
    arrival_speedup_ratio: f64,
    replay_concurrency: Option<usize>,
}

fn one() -> f64 {
    1.0
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = replay(&line?).unwrap_or_else(|error| json!({"error": error.to_string()}));
        serde_json::to_writer(&mut out, &answer)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

fn replay(line: &str) -> Result<Value, Box<dyn Error>> {
    let payload: Payload = serde_json::from_str(line)?;
    let options = ReplayCaptureOptions {
        capture_per_request: payload.spec.record_per_request,
        capture_lifecycle_evidence: payload.evidence,
        capture_canonical_evidence: payload.evidence,
        determinism: payload.determinism,
    };
    let mut replayer =
        Replayer::new(payload.spec, ReplayEngineFactory::new())?.with_capture_options(options);
    if let Some(traffic) = payload.traffic {
        let trace = Trace::from_mooncake(&traffic.trace_path, traffic.trace_block_size)?
            .normalize_session_starts()?
            .speed_up_timing(traffic.arrival_speedup_ratio)?;
        let driver = match traffic.replay_concurrency {
            Some(slots) => WorkloadDriver::new_concurrency(trace, 1, slots)?,
            None => WorkloadDriver::new_trace(trace, 1)?,
        };
        replayer = replayer.with_runtime_input(ReplayRuntimeInput::Workload(driver));
    }
    let started = Instant::now();
    let (elapsed, finished) = replayer.prepare()?.execute()?;
    let mut report = finished.into_report();
    report.throughput.wall_time_ms = started.elapsed().as_secs_f64() * 1000.0;
    let mut summary = serde_json::to_value(&report)?;
    summary["per_request"] = serde_json::to_value(&report.per_request)?;
    let mut answer = json!({
        "report": summary,
        "replay_execution_ms": elapsed.as_secs_f64() * 1000.0,
    });
    if payload.evidence {
        answer["evidence"] = serde_json::to_value(&report.runtime_evidence)?;
    }
    Ok(answer)
}
