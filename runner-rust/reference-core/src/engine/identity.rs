//! Identity of cache blocks.
//!
//! Two blocks may share memory when they hold the same tokens *after the same prefix*. A block's
//! identity therefore mixes its tokens into the identity of the block before it. Identities are
//! 64-bit hashes, as in the engines themselves; blocks holding generated tokens are made unique to
//! their request.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::replay::loadgen::Prompt;

/// Identity of a full block in its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(u64);

/// A map keyed by identities, which are evenly spread already.
pub type BlockIdMap<V> = HashMap<BlockId, V, BuildHasherDefault<Passthrough>>;

/// Hands a 64-bit identity through as its own hash.
#[derive(Debug, Default, Clone)]
pub struct Passthrough(u64);

impl Hasher for Passthrough {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

const ROOT: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX_A: u64 = 0xa076_1d64_78bd_642f;
const MIX_B: u64 = 0xe703_7ed1_a0b4_28db;
const GENERATED: u64 = 0x8ebc_6af0_9c88_c6e3;

/// Multiply and fold: every bit of both inputs reaches every bit of the result.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ MIX_A) * u128::from(b ^ MIX_B);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The tokens of one request, known and to come, and the identities of its full blocks as far as
/// they were asked for.
#[derive(Debug, Clone)]
pub struct TokenChain {
    prompt: Prompt,
    planned_output: Option<Arc<[u32]>>,
    unique: u64,
    block_size: usize,
    ids: Vec<BlockId>,
}

impl TokenChain {
    /// Chain of a request numbered `unique` within the replay.
    pub fn new(
        prompt: Prompt,
        planned_output: Option<Arc<[u32]>>,
        unique: u64,
        block_size: usize,
    ) -> Self {
        Self {
            prompt,
            planned_output,
            unique,
            block_size,
            ids: Vec::new(),
        }
    }

    /// Tokens of the prompt.
    pub fn prompt_len(&self) -> usize {
        self.prompt.len()
    }

    /// Identities of the first `count` full blocks.
    pub fn ids(&mut self, count: usize) -> &[BlockId] {
        while self.ids.len() < count {
            let parent = self.ids.last().map_or(ROOT, |id| id.0);
            let id = self.hash_block(parent, self.ids.len());
            self.ids.push(BlockId(id));
        }
        &self.ids[..count]
    }

    /// Forget identities; they are computed again when asked for.
    pub fn forget_ids(&mut self) {
        self.ids = Vec::new();
    }

    fn hash_block(&self, parent: u64, index: usize) -> u64 {
        let end = (index + 1) * self.block_size;
        let mut position = index * self.block_size;
        let mut hash = parent;
        let mut open: Option<(u32, usize)> = None;
        while position < end {
            let Some((token, count)) = self.run_at(position) else {
                // A token that only this request generates: no other block can be equal.
                return mix(mix(hash, GENERATED ^ self.unique), index as u64);
            };
            let count = count.min(end - position);
            position += count;
            open = match open {
                Some((last, so_far)) if last == token => Some((last, so_far + count)),
                Some((last, so_far)) => {
                    hash = mix(mix(hash, u64::from(last)), so_far as u64);
                    Some((token, count))
                }
                None => Some((token, count)),
            };
        }
        if let Some((last, so_far)) = open {
            hash = mix(mix(hash, u64::from(last)), so_far as u64);
        }
        hash
    }

    fn run_at(&self, position: usize) -> Option<(u32, usize)> {
        if let Some(run) = self.prompt.run_at(position) {
            return Some((run.token, run.count));
        }
        let generated = position - self.prompt.len();
        let planned = self.planned_output.as_ref()?;
        planned.get(generated).map(|token| (*token, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(ids: &[u32], block_size: usize, length: usize) -> Prompt {
        Prompt::Blocks {
            ids: ids.into(),
            block_size,
            length,
        }
    }

    fn ids(prompt: Prompt, unique: u64, block_size: usize, count: usize) -> Vec<BlockId> {
        TokenChain::new(prompt, None, unique, block_size)
            .ids(count)
            .to_vec()
    }

    #[test]
    fn equal_content_is_told_apart_by_its_prefix() {
        let chain = ids(blocks(&[7, 7], 8, 16), 0, 4, 4);
        for (index, id) in chain.iter().enumerate() {
            assert!(!chain[..index].contains(id));
        }
    }

    #[test]
    fn block_form_and_token_form_agree() {
        let tokens: Vec<u32> = [[3; 5], [3; 5], [4; 5]].concat();
        for size in [2, 3, 4, 5, 7] {
            let count = 15 / size;
            assert_eq!(
                ids(blocks(&[3, 3, 4], 5, 15), 0, size, count),
                ids(Prompt::Tokens(tokens.clone().into()), 1, size, count),
            );
        }
    }

    #[test]
    fn generated_tokens_are_unique_to_their_request() {
        let prompt = || blocks(&[1, 2], 4, 6);
        let (a, b) = (ids(prompt(), 0, 4, 3), ids(prompt(), 1, 4, 3));
        assert_eq!(a[0], b[0]);
        assert_ne!(a[1], b[1]);
        assert_ne!(a[2], b[2]);
        assert_eq!(a, ids(prompt(), 0, 4, 3));
    }
}
