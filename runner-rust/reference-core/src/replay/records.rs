//! The per-request records of a report.

use super::observed::{Observed, Routed};
use super::record::{
    PerRequestRecord, ReplayRequestPool, ReplayRoutingOutcome, ReplayTerminalStatus, RoutingRecord,
};

/// The records of requests that ended, by (request name, arrival, UUID).
pub(super) fn records(mut requests: Vec<Observed>) -> Vec<PerRequestRecord> {
    requests.retain(|observed| observed.terminal.is_some());
    requests.sort_by(|a, b| {
        let by_name = a.request_id.cmp(&b.request_id);
        by_name
            .then(a.arrival_ms.total_cmp(&b.arrival_ms))
            .then(a.uuid.cmp(&b.uuid))
    });
    requests.into_iter().map(record).collect()
}

/// What was observed, as a record. Fields that take the observation's own lists stand last.
fn record(observed: Observed) -> PerRequestRecord {
    let failed = matches!(observed.terminal, Some((ReplayTerminalStatus::Failed, _)));
    let generating = [ReplayRequestPool::Agg, ReplayRequestPool::Decode];
    let readmissions = observed.admissions.iter().filter(|a| a.is_readmission);
    PerRequestRecord {
        turn_index: observed.turn_index,
        uuid: observed.uuid,
        arrival_time_ms: observed.arrival_ms,
        dispatched_at_ms: None,
        first_admit_ms: observed.admissions.first().map(|a| a.at_ms),
        terminal_time_ms: observed.terminal.map(|(_, at_ms)| at_ms),
        first_token_ms: observed.first_token_ms,
        last_token_ms: observed.last_token_ms,
        ttft_ms: observed.ttft_ms(),
        ttst_ms: observed.ttst_ms(),
        e2e_latency_ms: observed.e2e_ms(),
        itl_ms: observed.mean_gap_ms,
        input_length: observed.input_length,
        requested_output_length: observed.requested_output,
        output_length: observed.output,
        reused_input_tokens: observed
            .most_reused_in(ReplayRequestPool::Prefill)
            .unwrap_or_else(|| observed.reused()),
        first_admission_reused_input_tokens: observed.first_reused(),
        prefill_worker_idx: observed.scheduler_in(&[ReplayRequestPool::Prefill]),
        decode_worker_idx: observed.scheduler_in(&generating).filter(|_| !failed),
        prefill_admit_ms: observed.admitted_in(ReplayRequestPool::Prefill),
        source_held_ms: observed.source_held_ms,
        destination_reserved_ms: observed.destination_reserved_ms,
        destination_activated_ms: observed.destination_activated_ms,
        decode_admit_ms: observed.admitted_in(ReplayRequestPool::Decode),
        source_released_ms: observed.source_released_ms,
        decode_reused_input_tokens: observed.most_reused_in(ReplayRequestPool::Decode),
        prefill_route_overlap_tokens: observed.route_overlap(ReplayRequestPool::Prefill),
        decode_route_overlap_tokens: observed.route_overlap(ReplayRequestPool::Decode),
        admission_count: observed.admissions.len(),
        readmission_count: readmissions.count(),
        terminal_status: observed.terminal.map(|(status, _)| status),
        request_id: observed.request_id,
        session_id: observed.session_id,
        routing_history: observed.routing.into_iter().map(routing).collect(),
        admission_history: observed.admissions,
        pressure_record_ordinals: observed.pressure,
        metadata: observed.metadata,
    }
}

/// Round robin places at once, and counts on no cache.
fn routing(Routed { pool, place }: Routed) -> RoutingRecord {
    RoutingRecord {
        pool,
        outcome: ReplayRoutingOutcome::Immediate,
        queue_entered_at_ms: None,
        queue_wait_ms: 0.0,
        released_at_ms: None,
        logical_worker_id: place.worker,
        scheduler_id: place.scheduler,
        dp_rank: place.rank as u32,
        reported_overlap_tokens: 0,
        selected_overlap_blocks: None,
        best_available_overlap_blocks: None,
        overlap_regret_blocks: None,
        placement_replica_id: None,
    }
}
