//! The figures of a report, from what a collector observed.
//!
//! Sums run in the order of (request name, UUID), which is the authored order under deterministic
//! identities; their last bits depend on it.

use super::collector::TraceCollector;
use super::observed::Observed;
use super::record::ReplayTerminalStatus;
use super::report::{
    GoodputStats, ItlStats, LatencyStats, ReplayReport, RequestCounts, ThroughputStats,
};
use super::spec::SlaThresholds;
use super::statistics::TraceDistributionStats;

/// Observed requests in the order in which figures are summed.
fn summed(collector: &TraceCollector) -> Vec<&Observed> {
    let mut requests: Vec<_> = collector.requests.iter().collect();
    requests.sort_by(|a, b| (&a.request_id, a.uuid).cmp(&(&b.request_id, b.uuid)));
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
