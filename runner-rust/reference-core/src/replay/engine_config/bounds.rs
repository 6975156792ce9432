//! Bounds of an engine description, and the features that this core does not model.
//!
//! Messages name the first broken bound, in the order in which the published build looks.

use super::engines::SchedulePolicy;
use super::rank::EngineConfig;
use super::words::{Backend, TimingModelConfig};
use super::workers::ReplayRoleConfig;
use crate::replay::error::{ReplayError, ReplayResult};

impl ReplayRoleConfig {
    /// Check the bounds of this role's description.
    ///
    /// # Errors
    /// [`ReplayError::InvalidSpec`] for worker shapes, [`ReplayError::Engine`] for the rank.
    pub fn validate(&self) -> ReplayResult<()> {
        for (name, value) in [
            ("dp_size", self.dp_size),
            ("tensor_parallel_size", self.tensor_parallel_size),
            (
                "prefill_context_parallel_size",
                self.prefill_context_parallel_size,
            ),
        ] {
            if value == 0 {
                return Err(ReplayError::spec(format!("native {name} must be positive")));
            }
        }
        self.rank.validate()
    }
}

impl EngineConfig {
    /// Check every bound of a rank, and refuse what this core does not model.
    ///
    /// # Errors
    /// [`ReplayError::Engine`] naming the first broken bound.
    pub fn validate(&self) -> ReplayResult<()> {
        self.validate_sizes()?;
        self.validate_backend()?;
        self.validate_durations()?;
        self.refuse_unmodelled()
    }

    fn validate_sizes(&self) -> ReplayResult<()> {
        for (name, value) in [
            ("block_size", self.block_size),
            ("num_gpu_blocks", self.num_gpu_blocks),
            ("max_num_seqs", self.max_num_seqs),
            ("max_num_batched_tokens", self.max_num_batched_tokens),
            ("prefill_schedule_interval", self.prefill_schedule_interval),
            ("max_model_len", self.max_model_len.unwrap_or(1)),
            (
                "kv_transfer_bytes_per_token",
                self.kv_transfer_bytes_per_token.unwrap_or(1),
            ),
            (
                "kv_cache_bytes_per_token",
                self.kv_cache_bytes_per_token.unwrap_or(1),
            ),
            ("sglang.max_prefill_tokens", self.sglang.max_prefill_tokens),
            (
                "sglang.chunked_prefill_size",
                self.sglang.chunked_prefill_size,
            ),
            (
                "sglang.clip_max_new_tokens",
                self.sglang.clip_max_new_tokens,
            ),
        ] {
            if value == 0 {
                return Err(ReplayError::engine(format!("{name} must be positive")));
            }
        }
        Ok(())
    }

    fn validate_backend(&self) -> ReplayResult<()> {
        match self.backend {
            Backend::Vllm | Backend::Trtllm if self.block_size < 2 => Err(ReplayError::engine(
                "vLLM/TRT-LLM block_size must be at least two",
            )),
            Backend::Sglang if !self.enable_chunked_prefill => Err(ReplayError::engine(
                "enable_chunked_prefill=false is not supported for backend=sglang",
            )),
            Backend::Sglang
                if !self
                    .sglang
                    .chunked_prefill_size
                    .is_multiple_of(self.block_size) =>
            {
                Err(ReplayError::engine(
                    "sglang.chunked_prefill_size must be divisible by block_size",
                ))
            }
            _ if self.emit_kv_token_ids && !self.emit_kv_events => Err(ReplayError::engine(
                "emit_kv_token_ids requires emit_kv_events",
            )),
            _ => Ok(()),
        }
    }

    fn validate_durations(&self) -> ReplayResult<()> {
        let mut bounded = vec![
            ("speedup_ratio", self.speedup_ratio),
            ("decode_speedup_ratio", self.decode_speedup_ratio),
            (
                "kv_transfer_bandwidth",
                self.kv_transfer_bandwidth.unwrap_or(0.0),
            ),
            (
                "sglang.schedule_conservativeness",
                self.sglang.schedule_conservativeness,
            ),
        ];
        if let TimingModelConfig::Fixed {
            prefill_ms,
            decode_ms,
        } = self.timing_model
        {
            bounded.push(("timing_model.prefill_ms", prefill_ms));
            bounded.push(("timing_model.decode_ms", decode_ms));
        }
        for (name, value) in bounded {
            if !value.is_finite() || value < 0.0 {
                return Err(ReplayError::engine(format!(
                    "{name} must be finite and non-negative"
                )));
            }
        }
        Ok(())
    }

    fn refuse_unmodelled(&self) -> ReplayResult<()> {
        let asked = [
            ("aic_nextn", self.aic_nextn.is_some()),
            (
                "aic_nextn_accept_rates",
                self.aic_nextn_accept_rates.is_some(),
            ),
            (
                "prefill_schedule_interval",
                self.prefill_schedule_interval != 1,
            ),
            ("prefill_decode_interval", self.prefill_decode_interval != 0),
            ("kv_cache_groups", self.kv_cache_groups.is_some()),
            (
                "kv_cache_capacity_bytes",
                self.kv_cache_capacity_bytes.is_some(),
            ),
            ("native_host_offload", self.native_host_offload.is_some()),
            ("state_cache", self.state_cache.is_some()),
            ("prefix_match_unit", self.prefix_match_unit.is_some()),
            ("g3_offload", self.g3_offload.is_some()),
            ("kvcr", self.kvcr.is_some()),
            ("frontend", self.frontend.is_some()),
            ("vision", self.vision),
            (
                "sglang.vlm_cache_bytes",
                self.sglang.vlm_cache_bytes.is_some(),
            ),
            ("sglang.host_loop", self.sglang.host_loop.is_some()),
            (
                "sglang.schedule_policy = lpm",
                self.sglang.schedule_policy == SchedulePolicy::Lpm,
            ),
        ];
        match asked.iter().find(|(_, present)| *present) {
            Some((name, _)) => Err(ReplayError::engine(format!(
                "{name} is not modelled by the reference core"
            ))),
            None => Ok(()),
        }
    }
}
