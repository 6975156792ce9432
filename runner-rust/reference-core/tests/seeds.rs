//! Fixed-timing seeds and worked micro-examples, with the values of the newest published build.

mod common;

use aisimulate_core::replay::{PerRequestRecord, ReplayRequestPool, ReplayTerminalStatus};
use common::{aggregated, disaggregated, rank, replay};
use serde_json::json;

/// A prompt that shares nothing: `length` times a token of its own.
fn own(token: u32, length: usize) -> Vec<u32> {
    vec![token; length]
}

/// First token and end of a request (ms).
fn first_and_end(record: &PerRequestRecord) -> (Option<f64>, Option<f64>) {
    (record.first_token_ms, record.terminal_time_ms)
}

#[test]
fn one_request_gets_its_first_token_from_the_prefill() {
    let engine = json!({"rank": rank("vllm", 16, 4, (10.0, 2.0))});
    let report = replay(aggregated(1), engine, &[(0.0, own(1, 4), 2)]).unwrap();
    assert_eq!(
        first_and_end(&report.per_request[0]),
        (Some(10.0), Some(12.0))
    );
    assert_eq!(report.throughput.duration_ms, 12.0);
}

#[test]
fn requests_go_round_the_workers() {
    let engine = json!({"rank": rank("vllm", 16, 4, (1.0, 1.0))});
    let requests: Vec<_> = (0..4).map(|n| (0.0, own(n, 4), 1)).collect();
    let report = replay(aggregated(2), engine, &requests).unwrap();
    let workers: Vec<_> = report
        .per_request
        .iter()
        .map(|record| record.decode_worker_idx.unwrap())
        .collect();
    assert_eq!(workers, [0, 1, 0, 1]);
    assert_eq!(report.throughput.duration_ms, 1.0);
}

/// Prefill admission, held, reserved, activated, decode admission, released, first token, end.
fn handoff(backend: &str, block_size: usize, prefill_ms: f64, decode_ms: f64) -> [f64; 8] {
    let role = |step| json!({"rank": rank(backend, 64, block_size, (prefill_ms, step))});
    let engine = json!({
        "rank": {"backend": backend}, "prefill": role(1.0), "decode": role(decode_ms),
    });
    let report = replay(disaggregated(1.0), engine, &[(0.0, own(1, 4), 2)]).unwrap();
    let record = &report.per_request[0];
    assert_eq!(record.decode_route_overlap_tokens, Some(0));
    [
        record.prefill_admit_ms,
        record.source_held_ms,
        record.destination_reserved_ms,
        record.destination_activated_ms,
        record.decode_admit_ms,
        record.source_released_ms,
        record.first_token_ms,
        record.terminal_time_ms,
    ]
    .map(Option::unwrap)
}

#[test]
fn vllm_and_trtllm_compute_before_they_reserve() {
    let expected = [0.0, 3.0, 3.0, 4.0, 4.0, 4.0, 6.0, 8.0];
    assert_eq!(handoff("vllm", 4, 3.0, 2.0), expected);
    assert_eq!(handoff("trtllm", 32, 3.0, 2.0), expected);
}

#[test]
fn sglang_reserves_before_it_computes() {
    let expected = [0.0, 4.0, 0.0, 5.0, 5.0, 5.0, 7.0, 9.0];
    assert_eq!(handoff("sglang", 1, 4.0, 2.0), expected);
}

#[test]
fn vllm_preempts_the_latest_and_reuses_what_stays_cached() {
    let engine = json!({"rank": rank("vllm", 4, 4, (10.0, 2.0))});
    let requests = [(0.0, own(1, 7), 4), (0.0, own(2, 7), 4)];
    let report = replay(aggregated(1), engine, &requests).unwrap();
    let [a, b] = &report.per_request[..] else {
        panic!("two records expected");
    };
    assert_eq!(first_and_end(a), (Some(10.0), Some(16.0)));
    assert_eq!(first_and_end(b), (Some(10.0), Some(30.0)));
    assert_eq!((a.admission_count, b.admission_count), (1, 2));
    assert_eq!(b.admission_history[1].reused_input_tokens, 4);
    let pressure = report.runtime_evidence.pressure.unwrap();
    assert_eq!(pressure.vllm_preemptions_total, 1);
    assert_eq!(pressure.records[0].request_uuid, b.uuid);
    assert_eq!(pressure.records[0].readmitted_at_ms, Some(16.0));
    assert_eq!(b.pressure_record_ordinals, [0]);
}

#[test]
fn one_vllm_pass_reuses_blocks_that_it_fills_itself() {
    let engine = json!({"rank": rank("vllm", 16, 4, (10.0, 2.0))});
    let requests = [
        (0.0, own(5, 9), 2),
        (0.0, own(5, 9), 2),
        (0.0, own(5, 8), 2),
    ];
    let report = replay(aggregated(1), engine, &requests).unwrap();
    let reused: Vec<_> = report
        .per_request
        .iter()
        .map(|record| record.reused_input_tokens)
        .collect();
    assert_eq!(reused, [0, 8, 4]);
}

#[test]
fn vllm_cuts_prompts_at_the_token_budget() {
    let mut limits = rank("vllm", 16, 4, (10.0, 2.0));
    limits["max_num_batched_tokens"] = json!(8);
    let requests = [(0.0, own(1, 18), 2), (0.0, own(2, 4), 2)];
    let report = replay(aggregated(1), json!({"rank": limits}), &requests).unwrap();
    for record in &report.per_request {
        assert_eq!(first_and_end(record), (Some(30.0), Some(32.0)));
    }
    assert_eq!(report.per_request[1].first_admit_ms, Some(20.0));
}

#[test]
fn trtllm_shortens_what_cannot_fit_and_never_evicts() {
    let engine = json!({"rank": rank("trtllm", 3, 4, (10.0, 2.0))});
    let requests = [
        (0.0, own(1, 10), 5),
        (0.0, own(2, 12), 3),
        (0.0, own(3, 4), 2),
    ];
    let report = replay(aggregated(1), engine, &requests).unwrap();
    let [a, b, c] = &report.per_request[..] else {
        panic!("three records expected");
    };
    assert_eq!((a.output_length, a.requested_output_length), (2, 5));
    assert_eq!(b.terminal_status, Some(ReplayTerminalStatus::Rejected));
    assert_eq!(c.first_admit_ms, Some(12.0));
    assert!(report.per_request.iter().all(|r| r.readmission_count == 0));
}

#[test]
fn sglang_retracts_the_longer_prompt_among_equals() {
    let mut limits = rank("sglang", 5, 4, (10.0, 2.0));
    limits["sglang"] = json!({"clip_max_new_tokens": 2});
    let requests = [(0.0, own(1, 7), 6), (0.0, own(2, 5), 6)];
    let report = replay(aggregated(1), json!({"rank": limits}), &requests).unwrap();
    let [a, b] = &report.per_request[..] else {
        panic!("two records expected");
    };
    assert_eq!((a.readmission_count, b.readmission_count), (1, 0));
    assert_eq!(b.terminal_time_ms, Some(30.0));
    assert_eq!(a.terminal_time_ms, Some(44.0));
    assert_eq!(a.admission_history[1].pool, ReplayRequestPool::Agg);
}

#[test]
fn ranks_of_a_worker_end_their_passes_together() {
    let engine = json!({"dp_size": 2, "rank": rank("vllm", 16, 4, (10.0, 2.0))});
    let requests = [
        (0.0, own(1, 4), 3),
        (1.0, own(2, 4), 1),
        (11.0, own(3, 4), 1),
    ];
    let report = replay(aggregated(1), engine, &requests).unwrap();
    let admitted: Vec<_> = report
        .per_request
        .iter()
        .map(|record| record.first_admit_ms.unwrap())
        .collect();
    // The second arrives for an idle rank and waits for the first one's prefill; the pass of both
    // then takes as long as the slower rank, and the third waits for that.
    assert_eq!(admitted, [0.0, 10.0, 20.0]);
    assert_eq!(report.per_request[0].terminal_time_ms, Some(32.0));
}

#[test]
fn an_impossible_sglang_prompt_ends_the_replay_with_an_error() {
    let engine = json!({"rank": rank("sglang", 1, 4, (10.0, 2.0))});
    let error = replay(aggregated(1), engine, &[(0.0, own(1, 40), 2)]).unwrap_err();
    assert!(error.to_string().contains("effect-free zero-duration pass"));
}

#[test]
fn a_prompt_of_exactly_its_capacity_is_rejected_when_looked_at() {
    let engine = json!({"rank": rank("vllm", 2, 4, (10.0, 2.0))});
    let requests = [(0.0, own(1, 4), 1), (0.0, own(2, 9), 1)];
    let report = replay(aggregated(1), engine, &requests).unwrap();
    let rejected = &report.per_request[1];
    assert_eq!(
        rejected.terminal_status,
        Some(ReplayTerminalStatus::Rejected)
    );
    assert_eq!(first_and_end(rejected), (None, Some(10.0)));
    assert_eq!(report.request_counts.completed_requests, 1);
}
