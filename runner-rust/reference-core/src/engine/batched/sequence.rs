//! A request inside a token-budget rank.

use crate::engine::blocks::BlockIndex;
use crate::engine::identity::TokenChain;
use crate::engine::rank::{RequestIndex, Submission};

/// One request's state in a rank.
#[derive(Debug)]
pub(super) struct Sequence {
    pub request: RequestIndex,
    pub chain: TokenChain,
    /// Prompt tokens.
    pub input: usize,
    /// Tokens to generate at most.
    pub max_output: usize,
    /// Tokens generated.
    pub output: usize,
    /// Tokens whose keys and values are in the cache.
    pub computed: usize,
    /// Blocks that hold them, in order.
    pub blocks: Vec<BlockIndex>,
    /// Leading blocks that are findable.
    pub published: usize,
    /// Was admitted before, so it is never rejected.
    pub admitted_before: bool,
    /// Its prompt came by handoff and it has not run yet.
    pub arrived: bool,
    /// Order of its destination's request, for handed-off prompts.
    pub reservation_order: Option<u64>,
    /// What the pass under way computes for it.
    pub turn: Turn,
}

/// A sequence's share in one pass.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turn {
    /// Tokens computed.
    pub tokens: usize,
    /// Prompt tokens among them.
    pub prompt_tokens: usize,
    /// Prompt tokens that were computed before.
    pub prefix_tokens: usize,
}

impl Sequence {
    pub fn new(submission: Submission, block_size: usize) -> Self {
        Self {
            request: submission.request,
            input: submission.prompt.len(),
            max_output: submission.max_output,
            chain: submission.into_chain(block_size),
            output: 0,
            computed: 0,
            blocks: Vec::new(),
            published: 0,
            admitted_before: false,
            arrived: false,
            reservation_order: None,
            turn: Turn::default(),
        }
    }

    /// Prompt and generated tokens.
    pub fn len(&self) -> usize {
        self.input + self.output
    }

    /// Whether every known token is computed, so that the next one can be sampled.
    pub fn is_caught_up(&self) -> bool {
        self.computed == self.len()
    }

    /// Whether all output has been generated.
    pub fn is_done(&self) -> bool {
        self.output >= self.max_output
    }

    /// Count `tokens` more as computed, from the pass's point of view.
    pub fn advance(&mut self, tokens: usize) {
        let (start, end) = (self.computed, self.computed + tokens);
        self.turn = Turn {
            tokens,
            prompt_tokens: end.min(self.input) - start.min(self.input),
            prefix_tokens: start.min(self.input),
        };
        self.computed = end;
    }
}
