//! How long moving a prompt from one pool to the other takes.

use crate::replay::{EngineConfig, KvTransferTimingMode};

/// The transfer of prompts. Size, bandwidth and mode are the prefill role's; the decode role's
/// count for nothing.
#[derive(Debug, Clone, Copy)]
pub struct TransferModel {
    bytes_per_token: Option<usize>,
    bandwidth_gb_s: Option<f64>,
    mode: KvTransferTimingMode,
    latency_ms: f64,
}

impl TransferModel {
    /// The transfer of prompts computed by `prefill`; `latency_ms` where it names no bandwidth.
    pub fn new(prefill: &EngineConfig, latency_ms: f64) -> Self {
        Self {
            bytes_per_token: prefill.kv_transfer_bytes_per_token,
            bandwidth_gb_s: prefill.kv_transfer_bandwidth.filter(|rate| *rate > 0.0),
            mode: prefill.kv_transfer_timing_mode,
            latency_ms,
        }
    }

    /// Delay (ms) of moving a prompt of which the destination lacks `missing` tokens. It is not
    /// rounded to nanoseconds as passes are.
    pub(super) fn delay_ms(&self, prompt: usize, missing: usize) -> f64 {
        let (Some(bytes), Some(rate)) = (self.bytes_per_token, self.bandwidth_gb_s) else {
            return self.latency_ms;
        };
        let tokens = match self.mode {
            KvTransferTimingMode::FullPrompt => prompt,
            KvTransferTimingMode::DestinationMissing => missing,
        };
        (tokens * bytes) as f64 / (rate * 1e9) * 1000.0
    }
}
