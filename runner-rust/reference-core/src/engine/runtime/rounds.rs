//! The loop that both topologies share: rounds until nothing changes, then on to the next time.

use super::LoopEnd;
use crate::engine::pool::Stuck;
use crate::replay::{ReplayError, ReplayResult};

/// Pools and their requests, as far as the loop has to know them.
pub(super) trait Rounds {
    /// Do everything that can happen now, once; false when nothing did.
    fn round(&mut self) -> Result<bool, Stuck>;

    /// Time (ms) of the next arrival or event, when there is one.
    fn next_ms(&self) -> Option<f64>;

    /// Jump to that time.
    fn advance(&mut self, to_ms: f64);

    /// Requests that have arrived and not ended.
    fn in_flight(&self) -> usize;

    /// The error for `stuck` requests in flight that no event will ever move.
    fn stalled(stuck: usize) -> ReplayError;
}

/// Play `topology` to its end, or up to `limit_ms`.
///
/// # Errors
/// [`ReplayError::Invariant`] when requests are in flight and nothing can ever happen.
pub(super) fn play<T: Rounds>(topology: &mut T, limit_ms: Option<f64>) -> ReplayResult<LoopEnd> {
    loop {
        while topology
            .round()
            .map_err(|Stuck(held)| super::effect_free(held))?
        {}
        let Some(next_ms) = topology.next_ms() else {
            return match topology.in_flight() {
                0 => Ok(LoopEnd::Drained),
                stuck => Err(T::stalled(stuck)),
            };
        };
        if limit_ms.is_some_and(|limit| next_ms > limit) {
            return Ok(LoopEnd::CutOff);
        }
        topology.advance(next_ms);
    }
}

/// The earlier of two times, where there are any.
pub(super) fn earlier(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    [one, other].into_iter().flatten().min_by(f64::total_cmp)
}
