//! A trace: sessions of turns, and what can be done to it before it is replayed.

use super::super::error::{ReplayError, ReplayResult};

/// Sessions in authored order.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Tokens that one block id stands for.
    pub block_size: usize,
    /// Sessions.
    pub sessions: Vec<SessionTrace>,
}

/// Turns that follow one another.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionTrace {
    /// Name.
    pub session_id: String,
    /// Arrival of the first turn (ms).
    pub first_arrival_timestamp_ms: Option<f64>,
    /// Turns in order.
    pub turns: Vec<TurnTrace>,
}

/// One request of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnTrace {
    /// Prompt tokens.
    pub input_length: usize,
    /// Tokens to generate.
    pub max_output_tokens: usize,
    /// The tokens to generate, when the trace has them.
    pub output_token_ids: Option<Vec<u32>>,
    /// Key for replayed outputs; unused here.
    pub replay_key: Option<String>,
    /// Dense ids of the prompt's blocks.
    pub hash_ids: Vec<u32>,
    /// Pause after the previous turn's end (ms).
    pub delay_after_previous_ms: f64,
    /// Priority; round robin ignores it.
    pub priority: Option<i32>,
    /// Strict priority; round robin ignores it.
    pub strict_priority: Option<i32>,
    /// Policy class; round robin ignores it.
    pub policy_class: Option<String>,
}

impl Trace {
    /// Shift arrivals so that the first one is at 0.
    ///
    /// # Errors
    /// [`ReplayError::Trace`] when an arrival is not finite.
    pub fn normalize_session_starts(mut self) -> ReplayResult<Self> {
        let starts = || {
            self.sessions
                .iter()
                .filter_map(|s| s.first_arrival_timestamp_ms)
        };
        if let Some(bad) = starts().find(|start| !start.is_finite()) {
            return Err(ReplayError::Trace(format!(
                "session arrival must be finite, got {bad}"
            )));
        }
        let origin = starts().fold(f64::INFINITY, f64::min);
        if origin.is_finite() {
            for session in &mut self.sessions {
                if let Some(start) = &mut session.first_arrival_timestamp_ms {
                    *start -= origin;
                }
            }
        }
        Ok(self)
    }

    /// Divide arrivals and pauses by `ratio`.
    ///
    /// # Errors
    /// [`ReplayError::Trace`] when `ratio` is not finite and positive.
    pub fn speed_up_timing(mut self, ratio: f64) -> ReplayResult<Self> {
        if !ratio.is_finite() || ratio <= 0.0 {
            return Err(ReplayError::Trace(format!(
                "ratio must be a finite positive number, got {ratio}"
            )));
        }
        for session in &mut self.sessions {
            if let Some(start) = &mut session.first_arrival_timestamp_ms {
                *start /= ratio;
            }
            for turn in &mut session.turns {
                turn.delay_after_previous_ms /= ratio;
            }
        }
        Ok(self)
    }
}
