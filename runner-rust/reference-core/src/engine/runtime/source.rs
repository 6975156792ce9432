//! Where a runtime's requests come from.

use std::collections::VecDeque;

use uuid::Uuid;

use crate::replay::ReplayRuntimeInput;
use crate::replay::loadgen::{DirectRequest, WorkloadDriver};

/// Requests to come.
#[derive(Debug)]
pub enum RequestSource {
    /// At their arrival times.
    Timed(VecDeque<DirectRequest>),
    /// As soon as fewer than `slots` are in flight.
    Slots {
        /// Requests not released.
        queue: VecDeque<DirectRequest>,
        /// Requests in flight at most.
        slots: usize,
        /// Requests in flight.
        live: usize,
        /// When a slot was last freed (ms).
        free_since_ms: f64,
    },
    /// As a driver says.
    Driver(WorkloadDriver),
}

impl RequestSource {
    /// A source over `input`; `max_in_flight` applies to plain requests only.
    pub fn new(input: ReplayRuntimeInput, max_in_flight: Option<usize>) -> Self {
        match (input, max_in_flight) {
            (ReplayRuntimeInput::Workload(driver), _) => Self::Driver(driver),
            (ReplayRuntimeInput::Requests(queue), None) => Self::Timed(queue),
            (ReplayRuntimeInput::Requests(queue), Some(slots)) => Self::Slots {
                queue,
                slots,
                live: 0,
                free_since_ms: 0.0,
            },
        }
    }

    /// When the next request is due (ms), as far as that is known.
    pub fn next_ms(&self) -> Option<f64> {
        match self {
            Self::Timed(queue) => queue.front().map(|request| request.arrival_time_ms),
            Self::Slots {
                queue,
                slots,
                live,
                free_since_ms,
            } => (live < slots && !queue.is_empty()).then_some(*free_since_ms),
            Self::Driver(driver) => driver.next_ready_ms(),
        }
    }

    /// The next request that is due.
    pub fn pop(&mut self, now_ms: f64) -> Option<DirectRequest> {
        if self.next_ms()? > now_ms {
            return None;
        }
        match self {
            Self::Timed(queue) => queue.pop_front(),
            Self::Slots { queue, live, .. } => {
                let mut request = queue.pop_front()?;
                request.arrival_time_ms = now_ms;
                *live += 1;
                Some(request)
            }
            Self::Driver(driver) => driver.pop_ready(now_ms),
        }
    }

    /// A request ended.
    pub fn on_terminal(&mut self, uuid: Uuid, now_ms: f64) {
        match self {
            Self::Timed(_) => {}
            Self::Slots {
                live,
                free_since_ms,
                ..
            } => {
                *live -= 1;
                *free_since_ms = now_ms;
            }
            Self::Driver(driver) => driver.on_terminal(uuid, now_ms),
        }
    }
}
