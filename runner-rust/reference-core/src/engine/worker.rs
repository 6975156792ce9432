//! A worker: one rank, or several attention-DP ranks that step together.
//!
//! The ranks of a worker share one barrier. A pass starts on every rank that has work, ends when
//! the slowest of them ends, and nothing any rank did is visible before that. Work that arrives for
//! an idle rank waits for the barrier too.

use super::rank::{PassStart, Rank, RankEvent};

/// A worker of a pool.
#[derive(Debug)]
pub struct Worker {
    ranks: Vec<Box<dyn Rank>>,
    /// Ranks taking part in the pass under way.
    stepping: Vec<bool>,
    busy: bool,
    /// Prompt tokens that the pass under way computes.
    prefill_tokens: usize,
}

/// A started pass of a worker.
#[derive(Debug)]
pub struct GroupStart {
    /// When it ends (ms).
    pub end_ms: f64,
    /// What each stepping rank did at its start.
    pub ranks: Vec<(usize, PassStart)>,
}

/// A worker's ended pass.
#[derive(Debug, Default)]
pub struct GroupEnd {
    /// What became visible, rank by rank.
    pub events: Vec<RankEvent>,
    /// Prompt tokens that the pass computed.
    pub prefill_tokens: usize,
}

impl GroupStart {
    /// Whether any rank did anything.
    pub fn has_effect(&self) -> bool {
        self.ranks.iter().any(|(_, start)| {
            start.scheduled || !start.admissions.is_empty() || !start.pressure.is_empty()
        })
    }
}

impl Worker {
    /// A worker of these ranks.
    pub fn new(ranks: Vec<Box<dyn Rank>>) -> Self {
        let stepping = vec![false; ranks.len()];
        Self {
            ranks,
            stepping,
            busy: false,
            prefill_tokens: 0,
        }
    }

    /// Whether a pass is under way.
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// Whether a pass could start now.
    pub fn is_ready(&self) -> bool {
        !self.busy && self.ranks.iter().any(|rank| rank.is_ready())
    }

    /// Whether repeating an effect-free pass may help.
    pub fn is_settling(&self) -> bool {
        self.ranks.iter().any(|rank| rank.is_settling())
    }

    /// Whether an effect-free pass means that this worker can never go on by itself.
    pub fn is_stuck(&self) -> bool {
        self.ranks.iter().any(|rank| rank.is_stuck())
    }

    /// Requests that its ranks hold.
    pub fn load(&self) -> usize {
        self.ranks.iter().map(|rank| rank.load()).sum()
    }

    /// One rank.
    pub fn rank(&mut self, index: usize) -> &mut dyn Rank {
        self.ranks[index].as_mut()
    }

    /// Start a pass on every ready rank.
    pub fn start_pass(&mut self, now_ms: f64) -> GroupStart {
        self.busy = true;
        let mut start = GroupStart {
            end_ms: now_ms,
            ranks: Vec::new(),
        };
        for (index, rank) in self.ranks.iter_mut().enumerate() {
            self.stepping[index] = rank.is_ready();
            if self.stepping[index] {
                let pass = rank.start_pass();
                let end_ms = now_ms + pass.prefill_ms + pass.decode_ms;
                start.end_ms = start.end_ms.max(end_ms);
                self.prefill_tokens += pass.prefill_tokens;
                start.ranks.push((index, pass));
            }
        }
        start
    }

    /// End the pass under way. Every rank, stepping or not, then tries its first pending
    /// reservation.
    pub fn finish_pass(&mut self) -> GroupEnd {
        self.busy = false;
        let mut end = GroupEnd {
            events: Vec::new(),
            prefill_tokens: std::mem::take(&mut self.prefill_tokens),
        };
        for (index, rank) in self.ranks.iter_mut().enumerate() {
            if std::mem::take(&mut self.stepping[index]) {
                rank.finish_pass(&mut end.events);
            }
            rank.try_reserve(&mut end.events);
        }
        end
    }
}
