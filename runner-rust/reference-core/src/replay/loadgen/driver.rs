//! The driver that releases a workload's requests: first turns at their arrival, later turns a
//! pause after the previous one ended; or, in concurrency mode, whenever a slot is free.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;

use super::super::error::{ReplayError, ReplayResult};
use super::prompt::Prompt;
use super::request::DirectRequest;
use super::trace::{SessionTrace, Trace, TurnTrace};

/// Releases requests as virtual time goes on.
#[derive(Debug, Clone)]
pub struct WorkloadDriver {
    block_size: usize,
    sessions: Vec<SessionTrace>,
    /// Ordinal of each session's first turn over all turns in authored order.
    first_ordinals: Vec<u64>,
    /// Identity of ordinal 0 is this number; random identities when none.
    first_id: Option<u128>,
    ready: BinaryHeap<Reverse<Ready>>,
    /// Sessions not begun, in concurrency mode.
    backlog: VecDeque<usize>,
    /// Slots, in concurrency mode.
    max_in_flight: Option<usize>,
    /// Turn of each released request that has not ended.
    live: HashMap<Uuid, (usize, usize)>,
}

/// A turn waiting for its time: by time, then authored order.
#[derive(Debug, Clone, Copy)]
struct Ready {
    at_ms: f64,
    session: usize,
    turn: usize,
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ready {}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at_ms
            .total_cmp(&other.at_ms)
            .then(self.session.cmp(&other.session))
            .then(self.turn.cmp(&other.turn))
    }
}

impl WorkloadDriver {
    /// A driver that keeps the trace's arrival times. `engine_block_size` only has to be positive.
    ///
    /// # Errors
    /// [`ReplayError::Trace`] when a size is zero or a first turn has no arrival time.
    pub fn new_trace(trace: Trace, engine_block_size: usize) -> ReplayResult<Self> {
        let mut driver = Self::new(trace, engine_block_size)?;
        for (session, trace) in driver.sessions.iter().enumerate() {
            let at_ms = trace.first_arrival_timestamp_ms.ok_or_else(|| {
                ReplayError::Trace(format!("session {} has no arrival time", trace.session_id))
            })?;
            driver.ready.push(Reverse(Ready {
                at_ms,
                session,
                turn: 0,
            }));
        }
        Ok(driver)
    }

    /// A driver that ignores arrival times and keeps `max_in_flight` requests in flight.
    ///
    /// # Errors
    /// [`ReplayError::Trace`] when a size is zero.
    pub fn new_concurrency(
        trace: Trace,
        engine_block_size: usize,
        max_in_flight: usize,
    ) -> ReplayResult<Self> {
        if max_in_flight == 0 {
            return Err(ReplayError::Trace(
                "max_in_flight must be positive".to_owned(),
            ));
        }
        let mut driver = Self::new(trace, engine_block_size)?;
        driver.backlog = (0..driver.sessions.len()).collect();
        driver.max_in_flight = Some(max_in_flight);
        driver.fill_slots(0.0);
        Ok(driver)
    }

    fn new(trace: Trace, engine_block_size: usize) -> ReplayResult<Self> {
        if engine_block_size == 0 {
            return Err(ReplayError::Trace(
                "engine block size must be positive".to_owned(),
            ));
        }
        let mut ordinal = 0;
        let first_ordinals = trace
            .sessions
            .iter()
            .map(|session| {
                let first = ordinal;
                ordinal += session.turns.len() as u64;
                first
            })
            .collect();
        Ok(Self {
            block_size: trace.block_size,
            sessions: trace.sessions,
            first_ordinals,
            first_id: None,
            ready: BinaryHeap::new(),
            backlog: VecDeque::new(),
            max_in_flight: None,
            live: HashMap::new(),
        })
    }

    /// Number the requests in authored order, starting with `first_id`.
    pub fn with_deterministic_request_ids(mut self, first_id: u128) -> Self {
        self.first_id = Some(first_id);
        self
    }

    /// When the next known request is due (ms); none while all depend on requests in flight.
    pub fn next_ready_ms(&self) -> Option<f64> {
        self.ready.peek().map(|Reverse(ready)| ready.at_ms)
    }

    /// The next request due at or before `now_ms`.
    pub fn pop_ready(&mut self, now_ms: f64) -> Option<DirectRequest> {
        if self.next_ready_ms()? > now_ms {
            return None;
        }
        let Reverse(Ready {
            at_ms,
            session,
            turn,
        }) = self.ready.pop()?;
        let uuid = self.identity(session, turn);
        self.live.insert(uuid, (session, turn));
        let trace = &mut self.sessions[session];
        let body = take_turn(&mut trace.turns[turn]);
        Some(DirectRequest {
            uuid,
            request_id: None,
            session_id: Some(trace.session_id.clone()),
            turn_index: Some(turn),
            arrival_time_ms: at_ms,
            prompt: Prompt::Blocks {
                ids: body.hash_ids.into(),
                block_size: self.block_size,
                length: body.input_length,
            },
            max_output_tokens: body.max_output_tokens,
            output_token_ids: body.output_token_ids.map(Arc::from),
            dp_rank: None,
            prefill_dp_rank: None,
            metadata: Value::Null,
        })
    }

    fn identity(&self, session: usize, turn: usize) -> Uuid {
        match self.first_id {
            Some(first) => {
                Uuid::from_u128(first + u128::from(self.first_ordinals[session]) + turn as u128)
            }
            None => Uuid::new_v4(),
        }
    }

    /// A request ended, however it ended: its session may go on.
    pub fn on_terminal(&mut self, uuid: Uuid, now_ms: f64) {
        let Some((session, turn)) = self.live.remove(&uuid) else {
            return;
        };
        let turns = &self.sessions[session].turns;
        if let Some(next) = turns.get(turn + 1) {
            self.ready.push(Reverse(Ready {
                at_ms: now_ms + next.delay_after_previous_ms,
                session,
                turn: turn + 1,
            }));
        } else {
            self.fill_slots(now_ms);
        }
    }

    /// Begin sessions of the backlog while slots are free.
    fn fill_slots(&mut self, now_ms: f64) {
        let Some(slots) = self.max_in_flight else {
            return;
        };
        while self.live.len() + self.ready.len() < slots
            && let Some(session) = self.backlog.pop_front()
        {
            self.ready.push(Reverse(Ready {
                at_ms: now_ms,
                session,
                turn: 0,
            }));
        }
    }

    /// Whether every request has been released and has ended.
    pub fn is_drained(&self) -> bool {
        self.ready.is_empty() && self.live.is_empty() && self.backlog.is_empty()
    }
}

/// Move a turn's body out; it is released once and its numbers are not needed again.
fn take_turn(turn: &mut TurnTrace) -> TurnTrace {
    let kept_delay = turn.delay_after_previous_ms;
    std::mem::replace(
        turn,
        TurnTrace {
            input_length: 0,
            max_output_tokens: 0,
            output_token_ids: None,
            replay_key: None,
            hash_ids: Vec::new(),
            delay_after_previous_ms: kept_delay,
            priority: None,
            strict_priority: None,
            policy_class: None,
        },
    )
}
