//! Virtual time and the order of events.
//!
//! Time is a double of milliseconds and only events move it. Events at one time are handled by
//! kind (pass ends before transfer ends), pass ends by stage, worker and pass, and everything else
//! in the order in which it was scheduled.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::rank::RequestIndex;
use crate::replay::WorkerStage;

/// Something that happens at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A worker's pass ends.
    PassEnd {
        /// Pool of the worker.
        stage: WorkerStage,
        /// Worker within the pool.
        worker: usize,
        /// Pass number over the replay.
        pass: u64,
    },
    /// A prompt has been moved to its destination.
    TransferEnd {
        /// Whose prompt.
        request: RequestIndex,
    },
}

impl Event {
    /// Order among events at one time. Transfers go by request.
    fn rank(self) -> (u8, Option<WorkerStage>, usize, u64) {
        match self {
            Self::PassEnd {
                stage,
                worker,
                pass,
            } => (0, Some(stage), worker, pass),
            Self::TransferEnd { request } => (1, None, 0, u64::from(request)),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Scheduled {
    at_ms: f64,
    event: Event,
    sequence: u64,
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at_ms
            .total_cmp(&other.at_ms)
            .then_with(|| self.event.rank().cmp(&other.event.rank()))
            .then(self.sequence.cmp(&other.sequence))
    }
}

/// The clock and what is scheduled on it.
#[derive(Debug, Default)]
pub struct Clock {
    now_ms: f64,
    scheduled: BinaryHeap<Reverse<Scheduled>>,
    sequence: u64,
}

impl Clock {
    /// Present time (ms).
    pub fn now_ms(&self) -> f64 {
        self.now_ms
    }

    /// Let `event` happen at `at_ms`, which must not be past.
    pub fn schedule(&mut self, at_ms: f64, event: Event) {
        debug_assert!(at_ms >= self.now_ms);
        self.sequence += 1;
        self.scheduled.push(Reverse(Scheduled {
            at_ms,
            event,
            sequence: self.sequence,
        }));
    }

    /// Time of the next event.
    pub fn next_ms(&self) -> Option<f64> {
        self.scheduled.peek().map(|Reverse(next)| next.at_ms)
    }

    /// The next pass end, if it is due.
    pub fn pop_pass_end(&mut self) -> Option<(WorkerStage, usize)> {
        match self.due()? {
            Event::PassEnd { stage, worker, .. } => {
                self.scheduled.pop();
                Some((stage, worker))
            }
            Event::TransferEnd { .. } => None,
        }
    }

    /// The next transfer end, if it is due and no pass end is.
    pub fn pop_transfer_end(&mut self) -> Option<RequestIndex> {
        match self.due()? {
            Event::TransferEnd { request, .. } => {
                self.scheduled.pop();
                Some(request)
            }
            Event::PassEnd { .. } => None,
        }
    }

    fn due(&self) -> Option<Event> {
        let Reverse(next) = self.scheduled.peek()?;
        (next.at_ms <= self.now_ms).then_some(next.event)
    }

    /// Jump to `at_ms`; returns the seconds that passed.
    pub fn advance(&mut self, at_ms: f64) -> f64 {
        debug_assert!(at_ms >= self.now_ms, "time never goes back");
        let elapsed_ms = at_ms - self.now_ms;
        self.now_ms = at_ms;
        elapsed_ms / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(stage: WorkerStage, worker: usize, pass: u64) -> Event {
        Event::PassEnd {
            stage,
            worker,
            pass,
        }
    }

    #[test]
    fn one_time_is_worked_off_by_kind_then_stage_then_worker() {
        let mut clock = Clock::default();
        clock.schedule(5.0, Event::TransferEnd { request: 9 });
        clock.schedule(5.0, pass(WorkerStage::Decode, 0, 1));
        clock.schedule(5.0, pass(WorkerStage::Prefill, 1, 2));
        clock.schedule(5.0, pass(WorkerStage::Prefill, 0, 3));
        assert_eq!(clock.pop_pass_end(), None, "nothing is due before its time");
        clock.advance(5.0);
        assert_eq!(clock.pop_transfer_end(), None);
        let order: Vec<_> = std::iter::from_fn(|| clock.pop_pass_end()).collect();
        assert_eq!(
            order,
            [
                (WorkerStage::Prefill, 0),
                (WorkerStage::Prefill, 1),
                (WorkerStage::Decode, 0)
            ]
        );
        assert_eq!(clock.pop_transfer_end(), Some(9));
    }
}
