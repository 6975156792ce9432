//! Prompts without their tokens: what a prompt consists of, as runs of equal tokens.
//!
//! A trace row names blocks, not tokens: each id stands for a block filled with that id. A prompt
//! of 100,000 tokens is then two hundred numbers, and nothing here ever writes the tokens out.

use std::sync::Arc;

/// `count` times the token `token`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenRun {
    /// The token.
    pub token: u32,
    /// How often in a row.
    pub count: usize,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// Each id repeated `block_size` times, cut to `length` tokens.
    Blocks {
        /// Dense block ids.
        ids: Arc<[u32]>,
        /// Tokens per id.
        block_size: usize,
        /// Tokens of the prompt.
        length: usize,
    },
    /// The tokens themselves.
    Tokens(Arc<[u32]>),
    /// `first`, `first + 1`, … (wrapping): a prompt that shares no prefix with another start.
    Counting {
        /// First token.
        first: u32,
        /// Tokens of the prompt.
        length: usize,
    },
}

impl Prompt {
    /// Length in tokens.
    pub fn len(&self) -> usize {
        match self {
            Self::Blocks { length, .. } | Self::Counting { length, .. } => *length,
            Self::Tokens(tokens) => tokens.len(),
        }
    }

    /// Whether the prompt has no tokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The run that covers token `position`, from `position` on (neighbouring equal blocks are not
    /// joined). None at the end.
    pub fn run_at(&self, position: usize) -> Option<TokenRun> {
        if position >= self.len() {
            return None;
        }
        Some(match self {
            Self::Blocks {
                ids,
                block_size,
                length,
            } => {
                let block = position / block_size;
                let end = ((block + 1) * block_size).min(*length);
                TokenRun {
                    token: ids[block],
                    count: end - position,
                }
            }
            Self::Tokens(tokens) => TokenRun {
                token: tokens[position],
                count: 1,
            },
            Self::Counting { first, .. } => TokenRun {
                token: first.wrapping_add(position as u32),
                count: 1,
            },
        })
    }
}
