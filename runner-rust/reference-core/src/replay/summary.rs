//! The figures of a report, from what a collector observed.
//!
//! Sums run in the order of (request name, UUID), which is the authored order under deterministic
//! identities; their last bits depend on it. Records are listed by (request name, arrival, UUID).

use super::collector::{Observed, TraceCollector};
use super::record::{AdmissionRecord, PerRequestRecord, ReplayRequestPool, ReplayTerminalStatus};
use super::report::{
    GoodputStats, ItlStats, LatencyStats, ReplayReport, RequestCounts, ThroughputStats,
};
use super::spec::SlaThresholds;
use super::statistics::TraceDistributionStats;

impl Observed {
    fn ttft_ms(&self) -> Option<f64> {
        self.first_token_ms.map(|first| first - self.arrival_ms)
    }

    fn ttst_ms(&self) -> Option<f64> {
        Some(self.second_token_ms? - self.first_token_ms?)
    }

    fn e2e_ms(&self) -> Option<f64> {
        self.last_token_ms.map(|last| last - self.arrival_ms)
    }

    fn is_completed(&self) -> bool {
        matches!(self.terminal, Some((ReplayTerminalStatus::Completed, _)))
    }

    fn first_reused(&self) -> usize {
        self.admissions.first().map_or(0, |a| a.reused_input_tokens)
    }

    /// Reuse as the cache ratio counts it: the most over all admissions.
    fn reused(&self) -> usize {
        most_reused(self.admissions.iter()).unwrap_or(0)
    }

    fn most_reused_in(&self, pool: ReplayRequestPool) -> Option<usize> {
        most_reused(self.admissions.iter().filter(|a| a.pool == pool))
    }

    fn keeps(&self, sla: &SlaThresholds) -> bool {
        let within = |value: Option<f64>, bound: Option<f64>| {
            bound.is_none_or(|bound| value.is_some_and(|value| value <= bound))
        };
        // One token has no gap that could be too long; none is no answer in time.
        let gap = self.mean_gap_ms.or(self.first_token_ms.map(|_| 0.0));
        let whole = self.terminal.map(|(_, end)| end - self.arrival_ms);
        self.is_completed()
            && within(self.ttft_ms(), sla.ttft_ms)
            && within(gap, sla.itl_ms)
            && within(whole, sla.e2e_ms)
    }
}

fn most_reused<'a>(admissions: impl Iterator<Item = &'a AdmissionRecord>) -> Option<usize> {
    admissions.map(|a| a.reused_input_tokens).max()
}

/// Observed requests in the order in which figures are summed.
fn summed(collector: &TraceCollector) -> Vec<&Observed> {
    let mut requests: Vec<_> = collector.requests.iter().collect();
    requests.sort_by(|a, b| (&a.request_id, a.uuid).cmp(&(&b.request_id, b.uuid)));
    requests
}

/// Observed requests in the order in which records are listed.
fn listed(collector: &TraceCollector) -> Vec<&Observed> {
    let mut requests = summed(collector);
    requests.sort_by(|a, b| {
        let by_name = a.request_id.cmp(&b.request_id);
        by_name.then(a.arrival_ms.total_cmp(&b.arrival_ms))
    });
    requests
}

/// The report without records and evidence.
pub(super) fn build(collector: &TraceCollector, sla: Option<SlaThresholds>) -> ReplayReport {
    let requests = summed(collector);
    let counts = counts(&requests);
    let throughput = throughput(collector, &requests, &counts);
    let reuse = |of: fn(&Observed) -> usize| {
        let reused: usize = completed(&requests).map(of).sum();
        if counts.total_input_tokens == 0 {
            0.0
        } else {
            reused as f64 / counts.total_input_tokens as f64
        }
    };
    ReplayReport {
        request_counts: counts,
        throughput,
        prefix_cache_reused_ratio: reuse(Observed::reused),
        first_admission_prefix_cache_reused_ratio: reuse(Observed::first_reused),
        committed_prefill_tokens: collector.prefill_tokens,
        latency: latency(collector, &requests),
        goodput: sla.map(|sla| goodput(&requests, &sla, throughput.duration_ms)),
        kv_eviction_policy: collector.pools.eviction,
        timing_by_role: collector
            .pools
            .timing
            .iter()
            .map(|(role, timing)| ((*role).to_owned(), timing.clone()))
            .collect(),
        ..ReplayReport::default()
    }
}

fn completed<'a>(requests: &'a [&'a Observed]) -> impl Iterator<Item = &'a Observed> {
    requests.iter().copied().filter(|r| r.is_completed())
}

fn counts(requests: &[&Observed]) -> RequestCounts {
    RequestCounts {
        num_requests: requests.len(),
        completed_requests: completed(requests).count(),
        total_input_tokens: completed(requests).map(|r| r.input_length).sum(),
        total_output_tokens: completed(requests).map(|r| r.output).sum(),
    }
}

/// `count` per second of `duration_ms`; 0 when nothing took any time.
fn rate(count: usize, duration_ms: f64) -> f64 {
    if duration_ms > 0.0 {
        count as f64 / (duration_ms / 1000.0)
    } else {
        0.0
    }
}

fn throughput(
    collector: &TraceCollector,
    requests: &[&Observed],
    counts: &RequestCounts,
) -> ThroughputStats {
    let duration_ms = requests
        .iter()
        .filter_map(|r| match r.terminal {
            Some((ReplayTerminalStatus::Completed, at_ms)) => Some(at_ms),
            _ => None,
        })
        .fold(0.0, f64::max);
    let prefill = collector.pools.prefill.unwrap_or_default();
    let decode = collector.pools.decode;
    let gpu_seconds = prefill.worker_seconds * prefill.gpus_per_worker as f64
        + decode.worker_seconds * decode.gpus_per_worker as f64;
    ThroughputStats {
        duration_ms,
        wall_time_ms: 0.0,
        request_throughput_rps: rate(counts.completed_requests, duration_ms),
        input_throughput_tok_s: rate(counts.total_input_tokens, duration_ms),
        output_throughput_tok_s: rate(counts.total_output_tokens, duration_ms),
        total_throughput_tok_s: rate(
            counts.total_input_tokens + counts.total_output_tokens,
            duration_ms,
        ),
        prefill_worker_seconds: prefill.worker_seconds,
        decode_worker_seconds: decode.worker_seconds,
        prefill_gpus_per_worker: prefill.gpus_per_worker,
        decode_gpus_per_worker: decode.gpus_per_worker,
        gpu_hours: gpu_seconds / 3600.0,
    }
}

fn latency(collector: &TraceCollector, requests: &[&Observed]) -> LatencyStats {
    let samples = |of: fn(&Observed) -> Option<f64>| -> Vec<f64> {
        requests.iter().filter_map(|r| of(r)).collect()
    };
    let ttft = samples(Observed::ttft_ms);
    let tpot = samples(|r| r.mean_gap_ms);
    let e2e = samples(Observed::e2e_ms);
    LatencyStats {
        num_ttft_samples: ttft.len(),
        num_tpot_samples: tpot.len(),
        num_e2e_latency_samples: e2e.len(),
        ttft: TraceDistributionStats::exact(&ttft),
        ttst: TraceDistributionStats::exact(&samples(Observed::ttst_ms)),
        tpot: TraceDistributionStats::exact(&tpot),
        itl: ItlStats {
            distribution: collector.gaps.finish(),
            max_ms: collector.gaps.max(),
        },
        e2e: TraceDistributionStats::exact(&e2e),
        output_token_throughput_per_user: collector.user_rates.finish(),
    }
}

fn goodput(requests: &[&Observed], sla: &SlaThresholds, duration_ms: f64) -> GoodputStats {
    let kept = || requests.iter().filter(|r| r.keeps(sla));
    GoodputStats {
        completed_requests: kept().count(),
        request_throughput_rps: rate(kept().count(), duration_ms),
        output_throughput_tok_s: rate(kept().map(|r| r.output).sum(), duration_ms),
    }
}

/// The records of requests that ended, in reporting order.
pub(super) fn records(collector: &TraceCollector) -> Vec<PerRequestRecord> {
    listed(collector)
        .into_iter()
        .filter(|observed| observed.terminal.is_some())
        .map(record)
        .collect()
}

fn record(observed: &Observed) -> PerRequestRecord {
    let scheduler = |pools: &[ReplayRequestPool]| {
        let routed = observed.routing.iter().find(|r| pools.contains(&r.pool));
        routed.map(|r| r.scheduler_id)
    };
    let admitted = |pool: ReplayRequestPool| observed.admissions.iter().find(|a| a.pool == pool);
    let routed = |pool| scheduler(&[pool]).map(|_| 0);
    let decode_admission = admitted(ReplayRequestPool::Decode);
    let is_handoff = observed
        .routing
        .iter()
        .any(|r| r.pool != ReplayRequestPool::Agg);
    let failed = matches!(observed.terminal, Some((ReplayTerminalStatus::Failed, _)));
    PerRequestRecord {
        request_id: observed.request_id.clone(),
        session_id: observed.session_id.clone(),
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
        prefill_worker_idx: scheduler(&[ReplayRequestPool::Prefill]),
        decode_worker_idx: scheduler(&[ReplayRequestPool::Agg, ReplayRequestPool::Decode])
            .filter(|_| !failed),
        prefill_admit_ms: admitted(ReplayRequestPool::Prefill).map(|a| a.at_ms),
        source_held_ms: observed.source_held_ms,
        destination_reserved_ms: observed.destination_reserved_ms,
        destination_activated_ms: observed.destination_activated_ms,
        decode_admit_ms: decode_admission.map(|a| a.at_ms),
        source_released_ms: observed.source_released_ms,
        decode_reused_input_tokens: observed.most_reused_in(ReplayRequestPool::Decode),
        prefill_route_overlap_tokens: routed(ReplayRequestPool::Prefill).filter(|_| is_handoff),
        decode_route_overlap_tokens: routed(ReplayRequestPool::Decode).filter(|_| is_handoff),
        routing_history: observed.routing.clone(),
        admission_history: observed.admissions.clone(),
        admission_count: observed.admissions.len(),
        readmission_count: observed
            .admissions
            .iter()
            .filter(|a| a.is_readmission)
            .count(),
        pressure_record_ordinals: observed.pressure.clone(),
        terminal_status: observed.terminal.map(|(status, _)| status),
        metadata: observed.metadata.clone(),
    }
}
