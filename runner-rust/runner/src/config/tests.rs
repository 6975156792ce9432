use serde_json::{Value, json};

use super::{Mode, locate_trace, parse};

fn minimal() -> Value {
    json!({
        "row_name": "row", "trace_file": "t.jsonl", "trace_sha256": "a".repeat(64), "trace_rows": 2,
        "trace_block_size": 4, "trace_full_sha256": "a".repeat(64), "trace_full_rows": 2,
        "spec": {"topology": {"kind": "aggregated", "workers": {"initial_workers": 2}}, "requests": []}
    })
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut value = minimal();
    change(&mut value);
    parse(value.to_string().as_bytes())
        .expect_err("the configuration should be refused")
        .one_line()
}

#[test]
fn defaults_are_those_of_one_qualifying_replay() {
    let config = parse(minimal().to_string().as_bytes()).expect("a valid configuration");
    assert_eq!(config.mode, Mode::Qualify);
    assert!(config.capture_canonical && !config.write_full_report);
    assert_eq!((config.iterations, config.trace_slice_start), (1, 0));
    assert_eq!(config.sha256.len(), 64);
}

#[test]
fn a_revision_in_the_configuration_is_refused_by_name() {
    let text = refusal(|value| value["source_revision"] = json!("0".repeat(40)));
    assert!(text.starts_with("source_revision:"), "{text}");
}

#[test]
fn each_bound_is_refused_at_its_key() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 14] = [
        ("row_name", |value| value["row_name"] = json!(" ")),
        ("trace_file", |value| value["trace_file"] = json!("")),
        ("trace_sha256", |value| {
            value["trace_sha256"] = json!("A".repeat(64));
        }),
        ("trace_full_sha256", |value| {
            value["trace_full_sha256"] = json!("ab");
        }),
        ("trace_rows", |value| value["trace_rows"] = json!(0)),
        ("trace_slice_start", |value| {
            value["trace_slice_start"] = json!(1);
        }),
        ("trace_slice_start", |value| {
            value["trace_full_rows"] = json!(1);
        }),
        ("trace_block_size", |value| {
            value["trace_block_size"] = json!(0);
        }),
        ("arrival_speedup_ratio", |value| {
            value["arrival_speedup_ratio"] = json!(0);
        }),
        ("iterations", |value| value["iterations"] = json!(2)),
        ("trace_upstream_path", |value| {
            value["trace_upstream_path"] = json!(" ");
        }),
        ("spec.adapters.placement", |value| {
            value["spec"]["adapters"] = json!({"placement": {"provider": "kv_router"}});
        }),
        ("spec.adapters.scaling", |value| {
            value["spec"]["adapters"] = json!({"scaling": {"provider": "planner"}});
        }),
        ("spec.requests", |value| {
            value["spec"]["requests"] =
                json!([{"id": "a", "arrival_time_ms": 0.0, "input_tokens": 1, "output_tokens": 1}]);
        }),
    ];
    for (key, change) in cases {
        let text = refusal(change);
        assert!(text.starts_with(&format!("{key}:")), "{key}: {text}");
    }
}

#[test]
fn unknown_keys_and_modes_are_refused() {
    assert!(refusal(|value| value["speed"] = json!(1)).contains("unknown field `speed`"));
    assert!(refusal(|value| value["mode"] = json!("fast")).contains("unknown variant `fast`"));
}

#[test]
fn the_core_checks_the_spec() {
    let text = refusal(|value| value["spec"]["max_in_flight"] = json!(0));
    assert!(text.contains("max_in_flight must be positive"), "{text}");
}

#[test]
fn a_trace_is_beside_the_configuration_or_absolute() {
    let config = std::path::Path::new("/rows/one/configuration.json");
    let beside = locate_trace(config, "trace.jsonl").expect("a bare name");
    assert_eq!(beside, std::path::Path::new("/rows/one/trace.jsonl"));
    assert!(locate_trace(config, "/data/trace.jsonl").is_ok());
    for name in ["../trace.jsonl", "sub/trace.jsonl", "..", "./trace.jsonl"] {
        assert!(
            locate_trace(config, name).is_err(),
            "{name} should be refused"
        );
    }
}
