//! What holds for every replay, whatever the engine and the load.

mod common;

use aisimulate_core::replay::{ReplayError, ReplayReport, ReplayTerminalStatus};
use common::{Request, aggregated, disaggregated, rank, replay};
use proptest::prelude::*;
use serde_json::{Value, json};

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let prompt = (0_u32..3, 1_usize..20, 0_usize..6);
    let request = (0_u8..30, prompt, 0_usize..8);
    prop::collection::vec(request, 1..10).prop_map(|requests| {
        let mut built: Vec<Request> = requests
            .into_iter()
            .enumerate()
            .map(|(index, (arrival, (stem, shared, tail), output))| {
                let mut tokens: Vec<u32> = (0..shared as u32).map(|n| stem * 7 + n % 5).collect();
                tokens.extend(vec![1000 + index as u32; tail]);
                (f64::from(arrival), tokens, output)
            })
            .collect();
        built.sort_by(|a, b| a.0.total_cmp(&b.0));
        built
    })
}

fn engines() -> impl Strategy<Value = (Value, Value)> {
    let backend = prop::sample::select(vec!["vllm", "sglang", "trtllm"]);
    (backend, 8_usize..40, 1_u32..3, any::<bool>()).prop_map(|(backend, blocks, dp, split)| {
        let rank = rank(backend, blocks, 4, (3.0, 2.0));
        if split {
            let role = json!({"dp_size": dp, "rank": rank});
            let engine = json!({"rank": {"backend": backend}, "prefill": role, "decode": role});
            (disaggregated(1.0), engine)
        } else {
            (aggregated(2), json!({"dp_size": dp, "rank": rank}))
        }
    })
}

fn check(report: &ReplayReport, count: usize) -> Result<(), TestCaseError> {
    prop_assert_eq!(report.per_request.len(), count, "every request ends");
    for record in &report.per_request {
        let end = record.terminal_time_ms.unwrap();
        match record.terminal_status.unwrap() {
            ReplayTerminalStatus::Completed => {
                prop_assert!(record.output_length <= record.requested_output_length);
            }
            _ => prop_assert_eq!(record.output_length, 0),
        }
        let mut times = vec![record.arrival_time_ms];
        times.extend(record.first_admit_ms);
        times.extend(record.first_token_ms);
        times.extend(record.last_token_ms);
        times.push(end);
        prop_assert!(times.is_sorted(), "time goes back: {times:?}");
        let admissions: Vec<_> = record.admission_history.iter().map(|a| a.at_ms).collect();
        prop_assert!(admissions.is_sorted());
        let handoff = [
            record.source_held_ms,
            record.destination_activated_ms,
            record.decode_admit_ms,
        ];
        let handoff: Vec<_> = handoff.into_iter().flatten().collect();
        prop_assert!(handoff.is_sorted());
    }
    let emitted: usize = report.per_request.iter().map(|r| r.output_length).sum();
    prop_assert_eq!(report.request_counts.total_output_tokens, emitted);
    let pressure = report.runtime_evidence.pressure.as_ref().unwrap();
    for (ordinal, record) in pressure.records.iter().enumerate() {
        prop_assert_eq!(record.pressure_ordinal, ordinal);
        prop_assert!(record.readmitted_at_ms.is_some_and(|at| at >= record.at_ms));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn replays_end_and_keep_their_books((topology, engine) in engines(), requests in requests()) {
        match replay(topology.clone(), engine.clone(), &requests) {
            Ok(report) => {
                check(&report, requests.len())?;
                let again = replay(topology, engine, &requests).unwrap();
                prop_assert_eq!(&report.per_request, &again.per_request);
                prop_assert_eq!(&report.runtime_evidence, &again.runtime_evidence);
            }
            Err(ReplayError::Invariant(text)) => prop_assert!(text.contains("effect-free"), "{text}"),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    /// Where nothing can run short, every token that was asked for is emitted, exactly once.
    #[test]
    fn no_token_is_lost_or_doubled(requests in requests(), split in any::<bool>()) {
        for backend in ["vllm", "sglang", "trtllm"] {
            let rank = rank(backend, 4096, 4, (3.0, 2.0));
            let topology = if split { disaggregated(1.0) } else { aggregated(2) };
            let report = replay(topology, json!({"rank": rank}), &requests).unwrap();
            for (record, (_, tokens, output)) in report.per_request.iter().zip(&requests) {
                prop_assert_eq!(record.input_length, tokens.len());
                prop_assert_eq!(record.output_length, *output);
                prop_assert_eq!(record.readmission_count, 0);
            }
        }
    }
}
