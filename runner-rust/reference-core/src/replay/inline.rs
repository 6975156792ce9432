//! Requests given in the specification itself.

use std::collections::VecDeque;
use std::sync::Arc;

use uuid::Uuid;

use super::error::{ReplayError, ReplayResult};
use super::loadgen::{DirectRequest, Prompt};
use super::spec::{ReplayRequest, WorkerStage};

/// Distance between the first tokens of synthesized prompts.
const PROMPT_STRIDE: u32 = 1_000_003;

/// The requests in arrival order (authored order among equals). Identities are authored ordinals
/// plus one when `canonical`, random otherwise.
pub(super) fn lower(requests: &[ReplayRequest], canonical: bool) -> VecDeque<DirectRequest> {
    let mut lowered: Vec<_> = requests
        .iter()
        .enumerate()
        .map(|(index, request)| lower_one(index, request, canonical))
        .collect();
    lowered.sort_by(|a, b| a.arrival_time_ms.total_cmp(&b.arrival_time_ms));
    lowered.into()
}

fn lower_one(index: usize, request: &ReplayRequest, canonical: bool) -> DirectRequest {
    let prompt = match &request.input_token_ids {
        Some(tokens) => Prompt::Tokens(Arc::from(tokens.as_slice())),
        None => Prompt::Counting {
            first: (index as u32).wrapping_mul(PROMPT_STRIDE),
            length: request.input_tokens,
        },
    };
    let planned: Option<Arc<[u32]>> = request.output_token_ids.as_deref().map(Arc::from);
    DirectRequest {
        uuid: if canonical {
            Uuid::from_u128(index as u128 + 1)
        } else {
            Uuid::new_v4()
        },
        request_id: Some(request.id.clone()),
        session_id: request.session_id.clone(),
        turn_index: request.turn_index,
        arrival_time_ms: request.arrival_time_ms,
        prompt,
        max_output_tokens: planned
            .as_ref()
            .map_or(request.output_tokens, |tokens| tokens.len()),
        output_token_ids: planned,
        dp_rank: request.dp_rank,
        prefill_dp_rank: request.prefill_dp_rank,
        metadata: request.metadata.clone(),
    }
}

/// Check the ranks that requests prefer against the workers of `stage`.
pub(super) fn check_ranks(
    requests: &[ReplayRequest],
    stage: WorkerStage,
    dp_size: u32,
) -> ReplayResult<()> {
    for request in requests {
        let (pool, preferred) = match stage {
            WorkerStage::Aggregated => ("aggregated", request.dp_rank),
            WorkerStage::Prefill => ("prefill", request.prefill_dp_rank.or(request.dp_rank)),
            WorkerStage::Decode => ("decode", request.dp_rank),
        };
        if let Some(rank) = preferred
            && rank >= dp_size
        {
            return Err(ReplayError::spec(format!(
                "request {:?} {pool} placement: preferred attention-DP rank {rank} is out of range \
                 for dp_size {dp_size}",
                request.id
            )));
        }
    }
    Ok(())
}
