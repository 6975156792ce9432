//! Where engine ranks get their timing from.

use std::fmt;
use std::sync::Arc;

/// Predicts how long one pass takes, before speed-up ratios and rounding.
///
/// All means are integer divisions of sums over the batch.
pub trait TimingModel: Send + Sync {
    /// Length (ms) of a prefill over `batch` requests whose prompts reach `mean_isl` tokens after
    /// the pass, `mean_prefix` of them computed before it.
    fn prefill_ms(&self, batch: usize, mean_isl: usize, mean_prefix: usize) -> f64;

    /// Length (ms) of one decode step over `batch` requests holding `active_tokens` of the rank's
    /// `capacity_tokens`.
    fn decode_ms(
        &self,
        batch: usize,
        active_tokens: usize,
        mean_context: usize,
        capacity_tokens: usize,
    ) -> f64;
}

/// Makes the engine ranks of a replay; the default uses each role's configured timing model.
#[derive(Clone, Default)]
pub struct ReplayEngineFactory {
    pub(crate) prefill_timing: Option<Arc<dyn TimingModel>>,
    pub(crate) decode_timing: Option<Arc<dyn TimingModel>>,
}

impl ReplayEngineFactory {
    /// Ranks timed as their description says.
    pub const fn new() -> Self {
        Self {
            prefill_timing: None,
            decode_timing: None,
        }
    }

    /// Use one timing model for every role.
    pub fn with_timing_model(self, model: Arc<dyn TimingModel>) -> Self {
        self.with_optional_role_timing_models(Some(model.clone()), Some(model))
    }

    /// Use a timing model per role; an aggregated pool takes the decode one, else the prefill one.
    pub fn with_optional_role_timing_models(
        mut self,
        prefill: Option<Arc<dyn TimingModel>>,
        decode: Option<Arc<dyn TimingModel>>,
    ) -> Self {
        self.prefill_timing = prefill;
        self.decode_timing = decode;
        self
    }
}

impl fmt::Debug for ReplayEngineFactory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ReplayEngineFactory")
            .field("prefill_timing", &self.prefill_timing.is_some())
            .field("decode_timing", &self.decode_timing.is_some())
            .finish()
    }
}
