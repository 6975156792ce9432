//! A report as one flat JSON object, without the per-request records and the runtime evidence.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{LatencyStats, ReplayReport};
use crate::replay::engine_config::TimingModelConfig;
use crate::replay::error::{ReplayError, ReplayResult};
use crate::replay::statistics::TraceDistributionStats;

impl ReplayReport {
    /// Refuse a report holding a number that JSON cannot hold.
    pub(crate) fn check_finite(&self) -> ReplayResult<()> {
        // serde_json writes a non-finite float as null, so the check is on the figures themselves.
        let latency = &self.latency;
        let throughput = &self.throughput;
        let mut figures: Vec<(String, f64)> = vec![
            ("duration_ms".into(), throughput.duration_ms),
            ("gpu_hours".into(), throughput.gpu_hours),
            (
                "request_throughput_rps".into(),
                throughput.request_throughput_rps,
            ),
            (
                "total_throughput_tok_s".into(),
                throughput.total_throughput_tok_s,
            ),
        ];
        for (suffix, stats) in latency.named() {
            for (prefix, value) in stats.named() {
                figures.push((format!("{prefix}_{suffix}"), value));
            }
        }
        match figures.iter().find(|(_, value)| !value.is_finite()) {
            Some((name, _)) => Err(ReplayError::Canonical(format!(
                "non-finite number at /summary/{name}"
            ))),
            None => Ok(()),
        }
    }

    fn members(&self) -> Map<String, Value> {
        let mut out = Map::new();
        self.count_members(&mut out);
        self.throughput_members(&mut out);
        self.latency_members(&mut out);
        self.constant_members(&mut out);
        if let Some(goodput) = &self.goodput {
            put(
                &mut out,
                "goodput_completed_requests",
                goodput.completed_requests,
            );
            put(
                &mut out,
                "goodput_request_throughput_rps",
                goodput.request_throughput_rps,
            );
            put(
                &mut out,
                "goodput_output_throughput_tok_s",
                goodput.output_throughput_tok_s,
            );
        }
        out
    }

    fn count_members(&self, out: &mut Map<String, Value>) {
        let counts = &self.request_counts;
        put(out, "num_requests", counts.num_requests);
        put(out, "completed_requests", counts.completed_requests);
        put(out, "total_input_tokens", counts.total_input_tokens);
        put(out, "total_output_tokens", counts.total_output_tokens);
        put(out, "processed_tokens", self.processed_tokens());
        put(
            out,
            "committed_prefill_tokens",
            self.committed_prefill_tokens,
        );
        put(
            out,
            "prefix_cache_reused_ratio",
            self.prefix_cache_reused_ratio,
        );
        put(
            out,
            "first_admission_prefix_cache_reused_ratio",
            self.first_admission_prefix_cache_reused_ratio,
        );
    }

    fn processed_tokens(&self) -> usize {
        self.request_counts.total_input_tokens + self.request_counts.total_output_tokens
    }

    fn throughput_members(&self, out: &mut Map<String, Value>) {
        let rates = &self.throughput;
        let per_wall_second = |tokens: usize| {
            if rates.wall_time_ms > 0.0 {
                tokens as f64 / (rates.wall_time_ms / 1000.0)
            } else {
                0.0
            }
        };
        for (key, value) in [
            ("duration_ms", rates.duration_ms),
            ("wall_time_ms", rates.wall_time_ms),
            ("request_throughput_rps", rates.request_throughput_rps),
            ("input_throughput_tok_s", rates.input_throughput_tok_s),
            ("output_throughput_tok_s", rates.output_throughput_tok_s),
            ("total_throughput_tok_s", rates.total_throughput_tok_s),
            ("prefill_worker_seconds", rates.prefill_worker_seconds),
            ("decode_worker_seconds", rates.decode_worker_seconds),
            ("gpu_hours", rates.gpu_hours),
            (
                "processed_tokens_per_s",
                per_wall_second(self.processed_tokens()),
            ),
            (
                "processed_output_tokens_per_s",
                per_wall_second(self.request_counts.total_output_tokens),
            ),
        ] {
            put(out, key, value);
        }
        put(
            out,
            "prefill_gpus_per_worker",
            rates.prefill_gpus_per_worker,
        );
        put(out, "decode_gpus_per_worker", rates.decode_gpus_per_worker);
    }

    fn latency_members(&self, out: &mut Map<String, Value>) {
        let latency = &self.latency;
        for (suffix, stats) in latency.named() {
            for (prefix, value) in stats.named() {
                put(out, &format!("{prefix}_{suffix}"), value);
            }
        }
        put(out, "max_itl_ms", latency.itl.max_ms);
        put(out, "num_ttft_samples", latency.num_ttft_samples);
        put(out, "num_tpot_samples", latency.num_tpot_samples);
        put(
            out,
            "num_e2e_latency_samples",
            latency.num_e2e_latency_samples,
        );
    }

    fn constant_members(&self, out: &mut Map<String, Value>) {
        put(out, "kv_eviction_policy", self.kv_eviction_policy.as_str());
        put(out, "power_w", Value::Null);
        put(out, "power_coverage", Value::Null);
        put(out, "power_diagnostics", no_power());
        let roles: Map<String, Value> = self
            .timing_by_role
            .iter()
            .map(|(role, timing)| (role.clone(), provenance(timing)))
            .collect();
        put(out, "prediction_provenance", roles);
    }
}

impl LatencyStats {
    fn named(&self) -> [(&'static str, &TraceDistributionStats); 6] {
        [
            ("ttft_ms", &self.ttft),
            ("ttst_ms", &self.ttst),
            ("tpot_ms", &self.tpot),
            ("itl_ms", &self.itl.distribution),
            ("e2e_latency_ms", &self.e2e),
            (
                "output_token_throughput_per_user",
                &self.output_token_throughput_per_user,
            ),
        ]
    }
}

fn put(out: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    out.insert(key.to_owned(), value.into());
}

/// The power section of a replay whose timing models know no power: always this.
fn no_power() -> Value {
    json!({
        "coverage_gate": 0.9,
        "energy_unit": "W-ms",
        "latency_unit": "ms",
        "phases": [],
        "power_coverage": null,
        "power_w": null,
        "power_w_unit": "W",
        "publication_status": "unsupported",
        "schema_version": "1.0",
        "scope": "active_forward_pass_per_gpu",
        "unavailable_reason": "one or more replay roles have no timing provider",
    })
}

fn provenance(timing: &TimingModelConfig) -> Value {
    let (estimator, source) = match timing {
        TimingModelConfig::Polynomial => ("polynomial", "built_in"),
        TimingModelConfig::Fixed { .. } => ("fixed", "configured"),
        TimingModelConfig::External { provider, .. } => (provider.as_str(), "external"),
    };
    let words = source.replace('_', "-");
    json!({
        "data_version": null,
        "data_version_unavailable_reason": format!("{words} timing does not use performance data"),
        "estimator": estimator,
        "timing_source": source,
    })
}

impl Serialize for ReplayReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members().serialize(serializer)
    }
}
