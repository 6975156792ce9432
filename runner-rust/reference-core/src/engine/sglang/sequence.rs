//! A request inside an SGLang rank.

use super::pages::Holding;
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
    /// Tokens with a slot in the cache.
    pub owned: usize,
    /// Pages with those slots.
    pub holding: Holding,
}

impl Sequence {
    pub fn new(submission: Submission, page_size: usize) -> Self {
        Self {
            request: submission.request,
            input: submission.prompt.len(),
            max_output: submission.max_output,
            chain: submission.into_chain(page_size),
            output: 0,
            owned: 0,
            holding: Holding::NONE,
        }
    }

    /// Prompt and generated tokens.
    pub fn len(&self) -> usize {
        self.input + self.output
    }

    /// Tokens still to generate.
    pub fn remaining(&self) -> usize {
        self.max_output.saturating_sub(self.output)
    }
}
