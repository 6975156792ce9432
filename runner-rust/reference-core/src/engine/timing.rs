//! How long passes take: the built-in models, and the rounding every duration goes through.

use std::sync::Arc;
use std::time::Duration;

use crate::replay::{EngineConfig, ReplayError, ReplayResult, TimingModel, TimingModelConfig};

/// The built-in polynomial: prefill grows with the new tokens of the batch, decode with the share
/// of the cache that is in use.
#[derive(Debug, Clone, Copy)]
pub struct Polynomial;

impl TimingModel for Polynomial {
    fn prefill_ms(&self, batch: usize, mean_isl: usize, mean_prefix: usize) -> f64 {
        let tokens = batch * mean_isl.saturating_sub(mean_prefix);
        if tokens == 0 {
            return 0.0;
        }
        let t = tokens as f64;
        4.209989e-07 * (t * t) + 1.518344e-02 * t + 1.650142e+01
    }

    fn decode_ms(&self, batch: usize, active: usize, _context: usize, capacity: usize) -> f64 {
        if batch == 0 {
            return 0.0;
        }
        let share = (active as f64 / capacity as f64).min(1.0);
        (-25.74 * (share * share) + 54.01 * share + 5.74).max(1.0)
    }
}

/// Constant step lengths.
#[derive(Debug, Clone, Copy)]
pub struct Fixed {
    prefill_ms: f64,
    decode_ms: f64,
}

impl TimingModel for Fixed {
    fn prefill_ms(&self, batch: usize, mean_isl: usize, mean_prefix: usize) -> f64 {
        if batch == 0 || mean_isl <= mean_prefix {
            return 0.0;
        }
        self.prefill_ms
    }

    fn decode_ms(&self, batch: usize, _active: usize, _context: usize, _capacity: usize) -> f64 {
        if batch == 0 { 0.0 } else { self.decode_ms }
    }
}

/// Prompt statistics of one prefill batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrefillBatch {
    /// Requests with prompt tokens in the pass.
    pub requests: usize,
    /// Sum of their prompt tokens computed by the pass's end.
    pub isl_tokens: usize,
    /// Sum of their prompt tokens computed before the pass.
    pub prefix_tokens: usize,
}

/// One rank's clock: model, ratios, and what its role leaves out.
#[derive(Clone)]
pub struct RankTiming {
    model: Arc<dyn TimingModel>,
    prefill_ratio: f64,
    decode_ratio: f64,
    capacity_tokens: usize,
}

impl std::fmt::Debug for RankTiming {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RankTiming")
            .field("prefill_ratio", &self.prefill_ratio)
            .field("decode_ratio", &self.decode_ratio)
            .field("capacity_tokens", &self.capacity_tokens)
            .finish_non_exhaustive()
    }
}

impl RankTiming {
    /// Timing of a rank as `config` describes it, or by `model` when one is given.
    ///
    /// # Errors
    /// [`ReplayError::Engine`] for an external model that nobody supplied.
    pub fn new(config: &EngineConfig, model: Option<Arc<dyn TimingModel>>) -> ReplayResult<Self> {
        let model = match (model, &config.timing_model) {
            (Some(model), _) => model,
            (None, TimingModelConfig::Polynomial) => Arc::new(Polynomial),
            (
                None,
                TimingModelConfig::Fixed {
                    prefill_ms,
                    decode_ms,
                },
            ) => Arc::new(Fixed {
                prefill_ms: *prefill_ms,
                decode_ms: *decode_ms,
            }),
            (None, TimingModelConfig::External { provider, .. }) => {
                return Err(ReplayError::Engine(format!(
                    "timing provider {provider:?} was not supplied"
                )));
            }
        };
        Ok(Self {
            model,
            prefill_ratio: config.speedup_ratio,
            decode_ratio: config.speedup_ratio * config.decode_speedup_ratio,
            capacity_tokens: config.num_gpu_blocks * config.block_size,
        })
    }

    /// Length (ms) of a prefill over `batch`.
    pub fn prefill_ms(&self, batch: PrefillBatch) -> f64 {
        if batch.requests == 0 {
            return 0.0;
        }
        let raw = self.model.prefill_ms(
            batch.requests,
            batch.isl_tokens / batch.requests,
            batch.prefix_tokens / batch.requests,
        );
        quantize(raw, self.prefill_ratio)
    }

    /// Length (ms) of a decode step over `requests` holding `active_tokens`.
    pub fn decode_ms(&self, requests: usize, active_tokens: usize) -> f64 {
        if requests == 0 {
            return 0.0;
        }
        let raw = self.model.decode_ms(
            requests,
            active_tokens,
            active_tokens / requests,
            self.capacity_tokens,
        );
        quantize(raw, self.decode_ratio)
    }
}

/// Round a model's figure to whole nanoseconds (ties to even), divide by the speed-up ratio (0
/// means none) and round again. Engines hold durations as integers of nanoseconds and hand them on
/// as milliseconds, which is why the figure is rounded once more on the way out.
fn quantize(raw_ms: f64, ratio: f64) -> f64 {
    let mut duration = Duration::from_secs_f64(raw_ms / 1000.0);
    if ratio > 0.0 && !duration.is_zero() {
        duration = Duration::from_secs_f64(duration.as_secs_f64() / ratio);
    }
    let ms = duration.as_secs_f64() * 1000.0;
    Duration::from_secs_f64(ms / 1000.0).as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(speedup: f64, decode_speedup: f64) -> RankTiming {
        let config = EngineConfig {
            num_gpu_blocks: 6144,
            speedup_ratio: speedup,
            decode_speedup_ratio: decode_speedup,
            ..EngineConfig::default()
        };
        RankTiming::new(&config, None).unwrap()
    }

    fn one(tokens: usize) -> PrefillBatch {
        PrefillBatch {
            requests: 1,
            isl_tokens: tokens,
            prefix_tokens: 0,
        }
    }

    #[test]
    fn prefill_check_values() {
        let timing = timing(1.0, 1.0);
        for (tokens, ms) in [
            (1, 16.516604),
            (64, 17.474885),
            (512, 24.385704),
            (4096, 85.75598),
            (7782, 160.15444300000001),
            (8192, 169.136918),
        ] {
            assert_eq!(timing.prefill_ms(one(tokens)), ms, "{tokens}");
        }
    }

    #[test]
    fn decode_check_values() {
        let timing = timing(1.0, 1.0);
        for (active, ms) in [
            (100, 5.753734),
            (4000, 6.286754999999999),
            (196_608, 26.31),
            (393_216, 34.01),
            (500_000, 34.01),
        ] {
            assert_eq!(timing.decode_ms(1, active), ms, "{active}");
        }
    }

    #[test]
    fn nothing_to_do_takes_no_time() {
        let timing = timing(1.0, 1.0);
        assert_eq!(timing.prefill_ms(PrefillBatch::default()), 0.0);
        assert_eq!(timing.decode_ms(0, 0), 0.0);
        let cached = PrefillBatch {
            requests: 2,
            isl_tokens: 8,
            prefix_tokens: 8,
        };
        assert_eq!(timing.prefill_ms(cached), 0.0);
    }

    #[test]
    fn ratios_divide_and_zero_means_none() {
        assert_eq!(
            timing(0.0, 1.0).prefill_ms(one(1)),
            timing(1.0, 1.0).prefill_ms(one(1))
        );
        let fast = timing(3.0, 1.7).decode_ms(1, 100);
        assert!((fast - 5.753734 / 5.1).abs() < 1e-6);
    }
}
