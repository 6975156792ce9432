//! Any bytes are a trace or a refusal, and what is a trace can be transformed.

#![no_main]

use aisimulate_core::replay::loadgen::{Trace, WorkloadDriver};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(trace) = Trace::from_mooncake_reader(data, 512, "fuzz") else {
        return;
    };
    for session in &trace.sessions {
        for turn in &session.turns {
            assert!(turn.input_length <= turn.hash_ids.len() * trace.block_size);
        }
    }
    let Ok(trace) = trace
        .normalize_session_starts()
        .and_then(|trace| trace.speed_up_timing(2.0))
    else {
        return;
    };
    let mut driver = WorkloadDriver::new_trace(trace, 64)
        .expect("a parsed trace has arrivals")
        .with_deterministic_request_ids(1);
    while let Some(at_ms) = driver.next_ready_ms() {
        let request = driver.pop_ready(at_ms).expect("the request is due");
        driver.on_terminal(request.uuid, at_ms);
    }
    assert!(driver.is_drained());
});
