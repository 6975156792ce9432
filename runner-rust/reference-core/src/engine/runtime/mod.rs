//! Playing a workload through pools of workers.
//!
//! At each time the runtime repeats its round (ended passes, arrivals, new passes, …) until a whole
//! round changes nothing, and then jumps to the next arrival or event.

mod aggregated;
mod disaggregated;
mod rounds;
mod source;

pub use aggregated::AggregatedRuntime;
pub use disaggregated::{DisaggregatedRuntime, TransferModel};
pub use source::RequestSource;

use super::pool::Pool;
use super::rank::{RequestIndex, Submission};
use crate::replay::ReplayError;
use crate::replay::loadgen::DirectRequest;

/// How a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopEnd {
    /// Nothing is left to do.
    Drained,
    /// The virtual time limit was reached.
    CutOff,
}

/// A request as a rank takes it, its output limited to `max_output`.
pub(crate) fn submission(
    index: RequestIndex,
    request: &DirectRequest,
    max_output: usize,
) -> Submission {
    Submission {
        request: index,
        prompt: request.prompt.clone(),
        max_output: request.max_output_tokens.min(max_output),
        planned_output: request.output_token_ids.clone(),
    }
}

/// `stuck` requests are in flight and nothing can move them.
pub(crate) fn effect_free(stuck: usize) -> ReplayError {
    ReplayError::Invariant(format!(
        "offline replay detected an effect-free zero-duration pass with {stuck} in-flight \
         requests remaining"
    ))
}

/// Worker time of a pool, for the report.
#[derive(Debug, Clone, Copy, Default)]
pub struct PoolUse {
    /// Seconds that its workers were up.
    pub worker_seconds: f64,
    /// GPUs per worker.
    pub gpus_per_worker: u64,
}

impl From<&Pool> for PoolUse {
    fn from(pool: &Pool) -> Self {
        Self {
            worker_seconds: pool.worker_seconds,
            gpus_per_worker: pool.gpus_per_worker,
        }
    }
}
