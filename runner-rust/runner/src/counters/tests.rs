use serde_json::{Value, json};

use super::count;

/// No records.
const NONE: &[Value] = &[];

fn request(change: &Value) -> Value {
    let mut record = json!({
        "requested_output_length": 3, "output_length": 3, "reused_input_tokens": 0,
        "decode_worker_idx": 0, "readmission_count": 0, "terminal_status": "completed",
        "routing_history": [{"pool": "agg", "outcome": "immediate"}]
    });
    for (key, value) in change.as_object().expect("an object") {
        record[key] = value.clone();
    }
    record
}

#[test]
fn requests_are_counted_by_what_happened_to_them() {
    let requests = [
        request(&json!({"decode_worker_idx": 1, "reused_input_tokens": 8})),
        request(&json!({"output_length": 2, "readmission_count": 2})),
        request(&json!({"output_length": 0, "terminal_status": null, "decode_worker_idx": null})),
    ];
    let counters = count(
        &json!({"completed_requests": 2, "duration_ms": 14.0}),
        &requests,
        json!({}),
    )
    .expect("counters");
    assert_eq!(counters["requested_output_tokens"], json!(9));
    assert_eq!(counters["requests_with_short_output"], json!(2));
    assert_eq!(counters["all_requests_full_output"], json!(false));
    assert_eq!(
        counters["terminal_counts"],
        json!({"completed": 2, "unfinished": 1})
    );
    assert_eq!(counters["requests_with_reuse"], json!(1));
    assert_eq!(counters["decode_workers"], json!([0, 1]));
    assert_eq!(counters["prefill_workers"], json!([]));
    assert_eq!(counters["routing_counts"], json!({"agg_immediate": 3}));
    assert_eq!(counters["readmissions"], json!(2));
    assert_eq!(counters["virtual_duration_ms"], json!(14.0));
}

#[test]
fn a_figure_that_is_not_there_is_null() {
    let counters = count(&json!({}), NONE, json!({})).expect("counters");
    for key in [
        "completed_requests",
        "vllm_preemptions",
        "sglang_retractions",
        "pressure_records",
        "all_pressure_records_readmitted",
        "lifecycle_operations",
        "kv_ingest_events",
    ] {
        assert_eq!(counters[key], Value::Null, "{key}");
    }
}

#[test]
fn a_request_without_a_record_has_no_full_output() {
    let full = |authored: u64| {
        let summary = json!({"num_requests": authored});
        count(&summary, &[request(&json!({}))], json!({})).expect("counters")["all_requests_full_output"]
            .clone()
    };
    assert_eq!(full(1), json!(true));
    assert_eq!(full(2), json!(false));
}

#[test]
fn a_handoff_is_complete_with_all_six_stamps() {
    let stamps = json!({"prefill_admit_ms": 0.0, "source_held_ms": 3.0, "destination_reserved_ms": 3.0,
                        "destination_activated_ms": 4.0, "decode_admit_ms": 4.0, "source_released_ms": 4.0,
                        "prefill_worker_idx": 5});
    let mut partial = stamps.clone();
    partial["source_released_ms"] = Value::Null;
    let counters = count(
        &json!({}),
        &[request(&stamps), request(&partial)],
        json!({}),
    )
    .expect("counters");
    assert_eq!(counters["handoffs_complete"], json!(1));
    assert_eq!(counters["prefill_workers"], json!([5]));
}

#[test]
fn pressure_is_counted_per_request_and_checked_for_readmission() {
    let record = |uuid: &str, at: Value| json!({"request_uuid": uuid, "readmitted_at_ms": at});
    let evidence = |last: Value| {
        json!({"pressure": {"records": [record("a", json!(1.0)), record("b", json!(2.0)), record("a", last)],
                            "vllm_preemptions_total": 3, "sglang_retractions_total": 0},
               "lifecycle_operations": [], "kv_ingest": {"batches": 0, "events": 0}})
    };
    let counters = count(&json!({}), NONE, evidence(json!(9.0))).expect("counters");
    assert_eq!(counters["max_pressure_records_per_request"], json!(2));
    assert_eq!(counters["vllm_preemptions"], json!(3));
    assert_eq!(counters["all_pressure_records_readmitted"], json!(true));
    assert_eq!(counters["kv_ingest_batches"], json!(0));
    let counters = count(&json!({}), NONE, evidence(Value::Null)).expect("counters");
    assert_eq!(counters["all_pressure_records_readmitted"], json!(false));
}
