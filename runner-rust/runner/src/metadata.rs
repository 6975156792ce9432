//! What the canonical record says was replayed. The revision and the trace's place are not in it:
//! both arms must be able to give the same bytes.

use aisimulate_core::replay::{ReplayEngineConfig, ReplayTopology};
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::errors::{Failure, Outcome};

/// Version of the metadata's layout, as AI Simulate's own qualification runner names it.
pub const CAMPAIGN: &str = "aisimulate.engine-replay-parity.v1";

/// The engine description as the core understands it, written out with every default.
pub fn normalized_engine(engine: &Value) -> Outcome<Value> {
    let parsed: ReplayEngineConfig = if engine.is_null() {
        ReplayEngineConfig::default()
    } else {
        serde_json::from_value(engine.clone())
            .map_err(|error| Failure::core("spec.engine", error))?
    };
    to_value("spec.engine", &parsed)
}

/// Block size of the pool that computes prompts, in tokens.
///
/// It only sets the granularity of precomputed prefix hashes, never a time.
pub fn engine_block_size(engine: &Value, topology: &ReplayTopology) -> Outcome<usize> {
    let prefill = match topology {
        ReplayTopology::Disaggregated { .. } => engine.pointer("/prefill/rank/block_size"),
        ReplayTopology::Aggregated { .. } => None,
    };
    prefill
        .or_else(|| engine.pointer("/rank/block_size"))
        .and_then(Value::as_u64)
        .and_then(|size| usize::try_from(size).ok())
        .ok_or_else(|| {
            Failure::new(
                "spec.engine: the core reports no block size for the pool that computes prompts",
            )
        })
}

/// The record's `metadata` object: the configuration's own members, then what identifies the row.
pub fn build(config: &Config, engine: Value) -> Outcome<Value> {
    let mut members: Map<String, Value> = config.metadata.clone();
    let own = json!({
        "campaign": CAMPAIGN,
        "row_name": config.row_name,
        "composition": {"placement": "round_robin", "scaling": "none"},
        "workload": {
            "format": "mooncake",
            "sha256": config.trace_sha256,
            "rows": config.trace_rows,
            "block_size": config.trace_block_size,
            "arrival_speedup_ratio": config.arrival_speedup_ratio,
            "upstream": {
                "repository": config.trace_upstream_repository,
                "commit": config.trace_upstream_commit,
                "path": config.trace_upstream_path,
                "full_sha256": config.trace_full_sha256,
                "full_rows": config.trace_full_rows,
            },
            "slice": {"start_zero_based": config.trace_slice_start, "rows": config.trace_rows},
        },
        "topology": to_value("spec.topology", &config.spec.topology)?,
    });
    if let Value::Object(own) = own {
        members.extend(own);
    }
    members.insert("engine".to_owned(), engine);
    Ok(Value::Object(members))
}

/// Serialize a part of the core's data.
pub fn to_value(what: &str, part: &impl serde::Serialize) -> Outcome<Value> {
    serde_json::to_value(part).map_err(|error| Failure::core(what, error))
}

#[cfg(test)]
mod tests {
    use aisimulate_core::replay::ReplayTopology;
    use serde_json::{Value, json};

    use super::{engine_block_size, normalized_engine};

    fn disaggregated() -> ReplayTopology {
        let pool = json!({"initial_workers": 1});
        serde_json::from_value(json!({"kind": "disaggregated", "prefill": pool, "decode": pool}))
            .expect("a topology")
    }

    #[test]
    fn defaults_of_the_core_are_written_out() {
        let engine = normalized_engine(&json!({"rank": {"backend": "trtllm"}})).expect("an engine");
        assert_eq!(engine["dp_size"], json!(1));
        assert_eq!(engine["rank"]["max_num_seqs"], json!(256));
        assert_eq!(
            normalized_engine(&Value::Null).expect("the default")["rank"]["backend"],
            json!("vllm")
        );
    }

    #[test]
    fn a_field_that_the_core_does_not_know_is_refused() {
        let failure =
            normalized_engine(&json!({"rank": {"blocks": 3}})).expect_err("an unknown field");
        assert!(
            failure
                .one_line()
                .contains("spec.engine: unknown field `blocks`")
        );
    }

    #[test]
    fn the_prefill_role_sets_the_block_size() {
        let engine = json!({"rank": {"block_size": 64}, "prefill": {"rank": {"block_size": 16}}});
        assert_eq!(
            engine_block_size(&engine, &disaggregated()).expect("a size"),
            16
        );
        assert_eq!(
            engine_block_size(&engine, &ReplayTopology::aggregated(1)).expect("a size"),
            64
        );
        let top = json!({"rank": {"block_size": 64}});
        assert_eq!(
            engine_block_size(&top, &disaggregated()).expect("a size"),
            64
        );
        assert!(engine_block_size(&json!({}), &disaggregated()).is_err());
    }
}
