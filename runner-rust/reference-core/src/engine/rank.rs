//! What the runtime asks of a scheduler rank, and what a rank answers.

use std::sync::Arc;

use super::identity::TokenChain;
use crate::replay::loadgen::Prompt;
use crate::replay::{PressureKind, PressureState};

/// A request's number within the replay.
pub type RequestIndex = u32;

/// A request on its way into a rank.
#[derive(Debug, Clone)]
pub struct Submission {
    /// Who.
    pub request: RequestIndex,
    /// Its prompt.
    pub prompt: Prompt,
    /// Tokens to generate at most.
    pub max_output: usize,
    /// The tokens it will generate, when they are known.
    pub planned_output: Option<Arc<[u32]>>,
}

impl Submission {
    /// Its tokens, in blocks of `block_size`.
    pub fn into_chain(self, block_size: usize) -> TokenChain {
        let unique = u64::from(self.request);
        TokenChain::new(self.prompt, self.planned_output, unique, block_size)
    }
}

/// A request entered the running batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// Who.
    pub request: RequestIndex,
    /// Tokens found in the cache.
    pub reused_tokens: usize,
}

/// A request was put out of the running batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Pressure {
    /// Who.
    pub request: RequestIndex,
    /// How.
    pub kind: PressureKind,
    /// Start of the step in which it happened, after the pass start (ms).
    pub offset_ms: f64,
    /// The rank before.
    pub before: PressureState,
    /// The rank after.
    pub after: PressureState,
    /// Blocks the request held.
    pub request_blocks: usize,
    /// Blocks free or evictable before.
    pub available_blocks: usize,
    /// Blocks needed.
    pub required_blocks: usize,
}

/// What a pass does at its start. Everything else becomes visible at its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PassStart {
    /// Length of the prefill part (ms).
    pub prefill_ms: f64,
    /// Length of the decode part (ms).
    pub decode_ms: f64,
    /// Requests admitted.
    pub admissions: Vec<Admission>,
    /// Requests put out.
    pub pressure: Vec<Pressure>,
    /// Prompt tokens computed.
    pub prefill_tokens: usize,
    /// Whether any token was computed or placed.
    pub scheduled: bool,
}

/// What becomes visible at a pass's end, or as the effect of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankEvent {
    /// One output token.
    Token(RequestIndex),
    /// All tokens emitted, or none were asked for.
    Completed(RequestIndex),
    /// The request can never run here.
    Rejected(RequestIndex),
    /// Prompt computed; its blocks are kept for the handoff.
    SourceHeld(RequestIndex),
    /// Blocks for a handed-off prompt are set aside.
    DestinationReserved {
        /// Who.
        request: RequestIndex,
        /// Prompt tokens that have to be moved because no cached copy exists here.
        missing_tokens: usize,
    },
    /// The destination can never hold the prompt.
    DestinationFailed(RequestIndex),
}

/// One scheduler with its cache: an attention-DP rank of a worker.
pub trait Rank: std::fmt::Debug {
    /// Queue a request.
    fn submit(&mut self, submission: Submission);

    /// Whether a pass could do anything.
    fn is_ready(&self) -> bool;

    /// Start a pass: schedule, and say how long it takes.
    fn start_pass(&mut self) -> PassStart;

    /// End the pass: hand out tokens, let completed requests go.
    fn finish_pass(&mut self, events: &mut Vec<RankEvent>);

    /// Whether an effect-free pass is worth repeating at once, because it moved the rank's state.
    fn is_settling(&self) -> bool {
        false
    }

    /// Whether an effect-free pass shows that this rank can never go on by itself.
    fn is_stuck(&self) -> bool {
        false
    }

    /// Queue a request for blocks to receive a prompt (decode ranks); one that can never have them
    /// fails at once.
    fn request_destination(&mut self, submission: Submission, events: &mut Vec<RankEvent>);

    /// Try to serve the first queued destination.
    fn try_reserve(&mut self, events: &mut Vec<RankEvent>);

    /// The prompt has arrived: the request may run (decode ranks).
    fn activate(&mut self, request: RequestIndex);

    /// The prompt will never come: its blocks may go (decode ranks).
    fn cancel_destination(&mut self, request: RequestIndex);

    /// The prompt has been moved: its blocks may go (prefill ranks).
    fn release_source(&mut self, request: RequestIndex);

    /// Requests queued, running or in handoff, for messages.
    fn load(&self) -> usize;
}
