//! A request as a scheduler gets it.

use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;

use super::prompt::Prompt;

/// One request, released at its arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectRequest {
    /// Identity within the replay.
    pub uuid: Uuid,
    /// Name of an inline request.
    pub request_id: Option<String>,
    /// Session it belongs to.
    pub session_id: Option<String>,
    /// Turn within the session.
    pub turn_index: Option<usize>,
    /// Arrival (virtual ms).
    pub arrival_time_ms: f64,
    /// Prompt.
    pub prompt: Prompt,
    /// Tokens to generate.
    pub max_output_tokens: usize,
    /// The tokens to generate; unique to the request when absent.
    pub output_token_ids: Option<Arc<[u32]>>,
    /// Preferred rank of the (decode) worker.
    pub dp_rank: Option<u32>,
    /// Preferred rank of the prefill worker.
    pub prefill_dp_rank: Option<u32>,
    /// Free data, reported back.
    pub metadata: Value,
}
