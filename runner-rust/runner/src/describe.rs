//! `--describe`: what this binary is and what its core can do, found out rather than claimed.

use aisimulate_core::replay::{
    CANONICAL_RESULT_EXCLUSIONS, ReplayEngineFactory, ReplaySpec, Replayer,
};
use serde_json::{Value, json};

use crate::errors::{Failure, Outcome};
use crate::replay::REVISION;
use crate::timing;

/// Version of the process contract that this program keeps.
const CONTRACT: u32 = 1;

const ENGINES: [&str; 3] = ["vllm", "sglang", "trtllm"];

/// The description object.
pub fn describe() -> Outcome<Value> {
    Ok(json!({
        "contract": CONTRACT,
        "revision": REVISION,
        "artifact": {
            "kind": "binary",
            "name": env!("CARGO_PKG_NAME"),
            "version": env!("CARGO_PKG_VERSION"),
            "runner_features": if timing::EXPOSED { vec!["prepared-loop"] } else { vec![] },
        },
        "determinism": ["canonical_v1"],
        "exclusions": CANONICAL_RESULT_EXCLUSIONS,
        "matrix": matrix()?,
        "exposes_replay_execution_ms": timing::EXPOSED,
    }))
}

/// The engine/topology pairs that the core accepts: each is tried with one small request.
fn matrix() -> Outcome<Vec<String>> {
    let mut accepted = Vec::new();
    for engine in ENGINES {
        for (suffix, prefill_dp, decode_dp) in [("", None, 1), ("-adp2", None, 2)] {
            if accepts(engine, prefill_dp, decode_dp)? {
                accepted.push(format!("{engine}-aggregated{suffix}"));
            }
        }
        for (suffix, prefill_dp, decode_dp) in [("", Some(1), 1), ("-adp2-4", Some(2), 4)] {
            if accepts(engine, prefill_dp, decode_dp)? {
                accepted.push(format!("{engine}-disaggregated{suffix}"));
            }
        }
    }
    Ok(accepted)
}

/// Replay one request on two workers per pool; a refusal by the core means "not accepted".
fn accepts(engine: &str, prefill_dp: Option<u32>, decode_dp: u32) -> Outcome<bool> {
    let spec: ReplaySpec = serde_json::from_value(probe(engine, prefill_dp, decode_dp))
        .map_err(|error| Failure::core("probe", error))?;
    Ok(Replayer::new(spec, ReplayEngineFactory::new())
        .and_then(Replayer::run)
        .is_ok())
}

fn probe(engine: &str, prefill_dp: Option<u32>, decode_dp: u32) -> Value {
    // Far more room than one request of eight tokens needs, so that no scheduler can get stuck.
    let rank = json!({
        "backend": engine, "num_gpu_blocks": 64, "block_size": 4, "max_num_seqs": 4,
        "max_num_batched_tokens": 64, "timing_model": {"type": "fixed", "prefill_ms": 1.0, "decode_ms": 1.0},
    });
    let pool = json!({"initial_workers": 2, "startup_delay_ms": 0.0});
    let request =
        json!([{"id": "probe", "arrival_time_ms": 0.0, "input_tokens": 4, "output_tokens": 2}]);
    match prefill_dp {
        None => json!({
            "topology": {"kind": "aggregated", "workers": pool},
            "engine": {"dp_size": decode_dp, "rank": rank},
            "requests": request,
        }),
        Some(prefill_dp) => json!({
            "topology": {"kind": "disaggregated", "prefill": pool, "decode": pool, "handoff_latency_ms": 0.0},
            "engine": {
                "rank": {"backend": engine},
                "prefill": {"dp_size": prefill_dp, "rank": rank},
                "decode": {"dp_size": decode_dp, "rank": rank},
            },
            "requests": request,
        }),
    }
}
