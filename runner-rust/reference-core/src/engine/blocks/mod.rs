//! The block pool of vLLM and TRT-LLM: every physical block of a rank, and who may have it.
//!
//! A block is *free*, *private* (owned by one request, its content not shareable yet), or a
//! *cached copy* of an identity, with a count of the requests that use it. Cached copies that
//! nobody uses stay findable in one list, oldest release first; allocation takes free blocks and
//! then the front of that list. Several requests may have computed the same content before any of
//! them could share it, so an identity can have several copies; lookups find the oldest.

mod lru;

use std::collections::hash_map::Entry;

use super::identity::{BlockId, BlockIdMap};
use lru::{Links, LruList};

/// Index of a physical block.
pub type BlockIndex = u32;

#[derive(Debug, Default)]
struct Block {
    /// Identity, once the content is complete and findable.
    id: Option<BlockId>,
    users: u32,
    /// Next younger copy of the same identity.
    next_copy: Option<BlockIndex>,
    links: Links,
}

/// Ends of the list of an identity's copies.
#[derive(Debug, Clone, Copy)]
struct Copies {
    oldest: BlockIndex,
    youngest: BlockIndex,
}

/// All blocks of one rank.
#[derive(Debug)]
pub struct BlockPool {
    capacity: usize,
    /// Blocks touched so far; the rest of the capacity has never been used.
    blocks: Vec<Block>,
    recycled: Vec<BlockIndex>,
    /// Copies of each findable identity.
    copies: BlockIdMap<Copies>,
    idle: LruList,
}

impl BlockPool {
    /// A pool of `capacity` free blocks.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            blocks: Vec::new(),
            recycled: Vec::new(),
            copies: BlockIdMap::default(),
            idle: LruList::default(),
        }
    }

    /// Blocks in all.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Blocks without content.
    pub fn free(&self) -> usize {
        self.capacity - self.blocks.len() + self.recycled.len()
    }

    /// Blocks that somebody uses.
    pub fn active(&self) -> usize {
        self.capacity - self.free() - self.idle.len()
    }

    /// Oldest copy of an identity.
    pub fn find(&self, id: BlockId) -> Option<BlockIndex> {
        self.copies.get(&id).map(|copies| copies.oldest)
    }

    /// Copies of the longest run of leading identities that are all findable.
    pub fn find_prefix(&self, ids: &[BlockId]) -> Vec<BlockIndex> {
        ids.iter().map_while(|id| self.find(*id)).collect()
    }

    /// Whether some request uses this block.
    pub fn is_used(&self, block: BlockIndex) -> bool {
        self.blocks[block as usize].users > 0
    }

    /// Take `hits` (distinct cached copies) and `fresh` empty blocks for one user, in that order at
    /// the end of `into`, evicting unused copies as needed. False, with nothing changed, when they
    /// cannot all be had.
    pub fn acquire(
        &mut self,
        hits: &[BlockIndex],
        fresh: usize,
        into: &mut Vec<BlockIndex>,
    ) -> bool {
        let evictions = fresh.saturating_sub(self.free());
        let idle_hits = hits.iter().filter(|hit| !self.is_used(**hit)).count();
        if evictions > self.idle.len() - idle_hits {
            return false;
        }
        for &hit in hits {
            if self.blocks[hit as usize].users == 0 {
                self.idle.remove(&mut self.blocks, hit);
            }
            self.blocks[hit as usize].users += 1;
            into.push(hit);
        }
        for _ in 0..evictions {
            self.evict_oldest();
        }
        for _ in 0..fresh {
            into.push(self.take_free());
        }
        true
    }

    fn take_free(&mut self) -> BlockIndex {
        let index = self.recycled.pop().unwrap_or_else(|| {
            self.blocks.push(Block::default());
            (self.blocks.len() - 1) as BlockIndex
        });
        self.blocks[index as usize].users = 1;
        index
    }

    fn evict_oldest(&mut self) {
        let Some(victim) = self.idle.pop_front(&mut self.blocks) else {
            return;
        };
        self.forget(victim);
        self.recycled.push(victim);
    }

    /// Make a private block findable under `id`; older copies keep precedence.
    pub fn publish(&mut self, block: BlockIndex, id: BlockId) {
        debug_assert!(self.blocks[block as usize].id.is_none());
        self.blocks[block as usize].id = Some(id);
        match self.copies.entry(id) {
            Entry::Vacant(entry) => {
                entry.insert(Copies {
                    oldest: block,
                    youngest: block,
                });
            }
            Entry::Occupied(mut entry) => {
                let youngest = std::mem::replace(&mut entry.get_mut().youngest, block);
                self.blocks[youngest as usize].next_copy = Some(block);
            }
        }
    }

    fn forget(&mut self, block: BlockIndex) {
        let Some(id) = self.blocks[block as usize].id.take() else {
            return;
        };
        let next = self.blocks[block as usize].next_copy.take();
        let Entry::Occupied(mut entry) = self.copies.entry(id) else {
            return;
        };
        let mut before = entry.get().oldest;
        if before == block {
            match next {
                Some(next) => entry.get_mut().oldest = next,
                None => {
                    entry.remove();
                }
            }
            return;
        }
        while let Some(after) = self.blocks[before as usize].next_copy
            && after != block
        {
            before = after;
        }
        self.blocks[before as usize].next_copy = next;
        if next.is_none() {
            entry.get_mut().youngest = before;
        }
    }

    /// One user lets a block go: a private block becomes free, a cached copy nobody else uses goes
    /// to the young end of the eviction list.
    pub fn release(&mut self, block: BlockIndex) {
        let state = &mut self.blocks[block as usize];
        debug_assert!(state.users > 0);
        state.users -= 1;
        if state.users > 0 {
            return;
        }
        if state.id.is_some() {
            self.idle.push_back(&mut self.blocks, block);
        } else {
            self.recycled.push(block);
        }
    }

    /// Let all of a request's blocks go, last first, so that its prefix outlives its tail.
    pub fn release_all(&mut self, blocks: &mut Vec<BlockIndex>) {
        while let Some(block) = blocks.pop() {
            self.release(block);
        }
    }
}

#[cfg(test)]
mod tests;
