//! Building small replays.

use aisimulate_core::replay::{
    ReplayCaptureOptions, ReplayDeterminism, ReplayEngineFactory, ReplayReport, ReplayResult,
    ReplaySpec, Replayer,
};
use serde_json::{Value, json};

/// One request: arrival (ms), prompt tokens, output tokens.
pub type Request = (f64, Vec<u32>, usize);

/// A rank with fixed timing.
pub fn rank(backend: &str, blocks: usize, block_size: usize, timing: (f64, f64)) -> Value {
    json!({
        "backend": backend, "num_gpu_blocks": blocks, "block_size": block_size,
        "max_num_seqs": 4, "max_num_batched_tokens": 64,
        "timing_model": {"type": "fixed", "prefill_ms": timing.0, "decode_ms": timing.1},
    })
}

/// An aggregated topology.
pub fn aggregated(workers: usize) -> Value {
    json!({"kind": "aggregated", "workers": {"initial_workers": workers}})
}

/// One prefill and one decode worker.
pub fn disaggregated(latency_ms: f64) -> Value {
    json!({
        "kind": "disaggregated", "handoff_latency_ms": latency_ms,
        "prefill": {"initial_workers": 1}, "decode": {"initial_workers": 1},
    })
}

/// Replay with every capture option on.
pub fn replay(topology: Value, engine: Value, requests: &[Request]) -> ReplayResult<ReplayReport> {
    let requests: Vec<Value> = requests
        .iter()
        .enumerate()
        .map(|(index, (arrival, tokens, output))| {
            json!({
                "id": format!("r{index:02}"), "arrival_time_ms": arrival,
                "input_tokens": tokens.len(), "input_token_ids": tokens, "output_tokens": output,
            })
        })
        .collect();
    let spec: ReplaySpec = serde_json::from_value(
        json!({"topology": topology, "engine": engine, "requests": requests}),
    )
    .expect("the specification is well formed");
    let options = ReplayCaptureOptions {
        capture_per_request: true,
        capture_lifecycle_evidence: true,
        capture_canonical_evidence: true,
        determinism: ReplayDeterminism::CanonicalV1,
    };
    Replayer::new(spec, ReplayEngineFactory::new())?
        .with_capture_options(options)
        .run()
}
