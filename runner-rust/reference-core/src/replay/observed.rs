//! What is known about one request, and the figures that follow from it.

use uuid::Uuid;

use super::record::{AdmissionRecord, ReplayRequestPool, ReplayTerminalStatus};
use super::spec::SlaThresholds;
use crate::engine::placement::Place;

/// What is known about one request.
#[derive(Debug, Clone, Default)]
pub(super) struct Observed {
    pub uuid: Uuid,
    pub request_id: Option<String>,
    pub session_id: Option<String>,
    pub turn_index: Option<usize>,
    pub metadata: serde_json::Value,
    pub arrival_ms: f64,
    pub input_length: usize,
    pub requested_output: usize,
    pub routing: Vec<Routed>,
    pub admissions: Vec<AdmissionRecord>,
    pub pressure: Vec<usize>,
    pub source_held_ms: Option<f64>,
    pub destination_reserved_ms: Option<f64>,
    pub destination_activated_ms: Option<f64>,
    pub source_released_ms: Option<f64>,
    /// Token times of a running request.
    pub tokens: Vec<f64>,
    pub output: usize,
    pub first_token_ms: Option<f64>,
    pub second_token_ms: Option<f64>,
    pub last_token_ms: Option<f64>,
    pub mean_gap_ms: Option<f64>,
    pub terminal: Option<(ReplayTerminalStatus, f64)>,
}

/// A placement decision. Round robin places at once and knows nothing of caches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Routed {
    pub pool: ReplayRequestPool,
    pub place: Place,
}

impl Observed {
    pub fn ttft_ms(&self) -> Option<f64> {
        self.first_token_ms.map(|first| first - self.arrival_ms)
    }

    pub fn ttst_ms(&self) -> Option<f64> {
        Some(self.second_token_ms? - self.first_token_ms?)
    }

    pub fn e2e_ms(&self) -> Option<f64> {
        self.last_token_ms.map(|last| last - self.arrival_ms)
    }

    pub fn is_completed(&self) -> bool {
        matches!(self.terminal, Some((ReplayTerminalStatus::Completed, _)))
    }

    pub fn first_reused(&self) -> usize {
        self.admissions.first().map_or(0, |a| a.reused_input_tokens)
    }

    /// Reuse as the cache ratio counts it: the most over all admissions.
    pub fn reused(&self) -> usize {
        most_reused(self.admissions.iter()).unwrap_or(0)
    }

    pub fn most_reused_in(&self, pool: ReplayRequestPool) -> Option<usize> {
        most_reused(self.admissions.iter().filter(|a| a.pool == pool))
    }

    /// Scheduler to which the request was sent first in one of `pools`.
    pub fn scheduler_in(&self, pools: &[ReplayRequestPool]) -> Option<usize> {
        let routed = self.routing.iter().find(|r| pools.contains(&r.pool));
        routed.map(|r| r.place.scheduler)
    }

    /// First admission in `pool` (ms).
    pub fn admitted_in(&self, pool: ReplayRequestPool) -> Option<f64> {
        let admission = self.admissions.iter().find(|a| a.pool == pool);
        admission.map(|a| a.at_ms)
    }

    /// Cache overlap that routing in `pool` counted on, where the request was there: none.
    pub fn route_overlap(&self, pool: ReplayRequestPool) -> Option<usize> {
        self.scheduler_in(&[pool]).map(|_| 0)
    }

    /// Whether the request was completed within the latency bounds.
    pub fn keeps(&self, sla: &SlaThresholds) -> bool {
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
