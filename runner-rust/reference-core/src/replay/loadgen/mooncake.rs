//! The Mooncake trace format: one JSON object per line.
//!
//! Block ids of the file are replaced by dense ids in order of first appearance. Equal ids mean
//! equal content at equal depth; only that equality matters to a replay.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use super::super::error::{ReplayError, ReplayResult};
use super::trace::{SessionTrace, Trace, TurnTrace};

/// One line of a Mooncake trace. Unknown keys are ignored.
#[derive(Debug, Deserialize)]
struct Row {
    session_id: Option<String>,
    #[serde(alias = "input_tokens")]
    input_length: Option<usize>,
    #[serde(alias = "output_tokens")]
    output_length: Option<usize>,
    output_token_ids: Option<Vec<u32>>,
    hash_ids: Option<Vec<u64>>,
    #[serde(alias = "created_time")]
    timestamp: Option<f64>,
    #[serde(alias = "delay_ms")]
    delay: Option<f64>,
    priority: Option<i32>,
    strict_priority: Option<i32>,
    policy_class: Option<String>,
}

impl Trace {
    /// Read a Mooncake trace whose ids stand for `block_size` tokens each.
    ///
    /// # Errors
    /// [`ReplayError::Trace`] when the file cannot be read, a line is not a row (the line is
    /// named), or there are no rows.
    pub fn from_mooncake(path: impl AsRef<Path>, block_size: usize) -> ReplayResult<Self> {
        let path = path.as_ref();
        let shown = path.display();
        let file = File::open(path).map_err(|error| {
            ReplayError::Trace(format!("failed to open trace file {shown}: {error}"))
        })?;
        Self::from_mooncake_reader(BufReader::new(file), block_size, &shown.to_string())
    }

    /// Read a Mooncake trace from any reader; `name` stands for it in messages.
    ///
    /// # Errors
    /// As [`Trace::from_mooncake`].
    pub fn from_mooncake_reader(
        mut reader: impl BufRead,
        block_size: usize,
        name: &str,
    ) -> ReplayResult<Self> {
        if block_size == 0 {
            return Err(ReplayError::Trace(
                "trace_block_size must be greater than 0".to_owned(),
            ));
        }
        let mut builder = Builder::new(block_size);
        let mut line = String::new();
        let mut number = 0;
        loop {
            line.clear();
            number += 1;
            let read = reader.read_line(&mut line).map_err(|error| {
                ReplayError::Trace(format!("failed to read line {number} from {name}: {error}"))
            })?;
            if read == 0 {
                break;
            }
            let text = line.trim_end_matches(['\n', '\r']);
            if text.trim().is_empty() {
                continue;
            }
            let row: Row = serde_json::from_str(text).map_err(|error| {
                ReplayError::Trace(format!(
                    "failed to parse line {number} from {name} as JSON: {error}"
                ))
            })?;
            builder.push(number, row)?;
        }
        if builder.sessions.is_empty() {
            return Err(ReplayError::Trace(format!(
                "trace file {name} did not contain any requests"
            )));
        }
        Ok(Self {
            block_size,
            sessions: builder.sessions,
        })
    }
}

struct Builder {
    block_size: usize,
    dense_ids: HashMap<u64, u32>,
    sessions: Vec<SessionTrace>,
    by_name: HashMap<String, usize>,
}

impl Builder {
    fn new(block_size: usize) -> Self {
        Self {
            block_size,
            dense_ids: HashMap::new(),
            sessions: Vec::new(),
            by_name: HashMap::new(),
        }
    }

    fn push(&mut self, number: usize, row: Row) -> ReplayResult<()> {
        let timestamp = row.timestamp;
        let named = row.session_id.clone();
        let turn = self.turn(number, row)?;
        let name = named.unwrap_or_else(|| format!("request_{number}"));
        if let Some(&index) = self.by_name.get(&name) {
            self.sessions[index].turns.push(turn);
            return Ok(());
        }
        self.by_name.insert(name.clone(), self.sessions.len());
        self.sessions.push(SessionTrace {
            session_id: name,
            first_arrival_timestamp_ms: Some(timestamp.unwrap_or(0.0)),
            turns: vec![turn],
        });
        Ok(())
    }

    fn turn(&mut self, number: usize, row: Row) -> ReplayResult<TurnTrace> {
        let missing =
            |what: &str| ReplayError::Trace(format!("trace line {number} is missing {what}"));
        let hash_ids = row.hash_ids.ok_or_else(|| missing("hash_ids"))?;
        let capacity = hash_ids.len().saturating_mul(self.block_size);
        let input_length = row.input_length.unwrap_or(capacity);
        if input_length > capacity {
            return Err(ReplayError::Trace(format!(
                "trace line {number} input_length {input_length} exceeds hash_ids capacity {capacity}"
            )));
        }
        let planned = row.output_token_ids.as_ref().map(Vec::len);
        let max_output_tokens = planned
            .or(row.output_length)
            .ok_or_else(|| missing("output_length"))?;
        Ok(TurnTrace {
            input_length,
            max_output_tokens,
            output_token_ids: row.output_token_ids,
            replay_key: None,
            hash_ids: self.densify(&hash_ids, number)?,
            delay_after_previous_ms: row.delay.unwrap_or(0.0),
            priority: row.priority,
            strict_priority: row.strict_priority,
            policy_class: row.policy_class,
        })
    }

    fn densify(&mut self, ids: &[u64], number: usize) -> ReplayResult<Vec<u32>> {
        ids.iter()
            .map(|id| {
                let next = self.dense_ids.len();
                if let Some(&dense) = self.dense_ids.get(id) {
                    return Ok(dense);
                }
                let dense = u32::try_from(next).map_err(|_| {
                    ReplayError::Trace(format!("trace line {number} exceeds 2^32 distinct blocks"))
                })?;
                self.dense_ids.insert(*id, dense);
                Ok(dense)
            })
            .collect()
    }
}
