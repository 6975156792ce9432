//! The page pool of an SGLang rank: a count of free pages, and the radix tree over the cached ones.

use super::radix::{Access, NodeIndex, ROOT, RadixTree};
use crate::engine::identity::BlockId;

/// Pages of one rank.
#[derive(Debug)]
pub(super) struct PagePool {
    capacity: usize,
    free: usize,
    pub tree: RadixTree,
}

/// Pages that one request has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holding {
    /// End of the locked path.
    pub node: NodeIndex,
    /// Leading pages on that path.
    pub cached: usize,
    /// Pages in all; those after `cached` are the request's own.
    pub pages: usize,
}

impl Holding {
    pub const NONE: Self = Self {
        node: ROOT,
        cached: 0,
        pages: 0,
    };
}

impl PagePool {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            free: capacity,
            tree: RadixTree::default(),
        }
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Pages without content.
    pub fn free(&self) -> usize {
        self.free
    }

    /// Pages without content or users.
    pub fn available(&self) -> usize {
        self.free + self.tree.evictable()
    }

    /// Pages that somebody uses.
    pub fn active(&self) -> usize {
        self.capacity - self.available()
    }

    /// Evict cached pages until `count` are free, or none are left to evict.
    pub fn make_room(&mut self, count: usize) {
        if count > self.free {
            self.free += self.tree.evict(count - self.free);
        }
    }

    /// Take `count` free pages, evicting for them; false, with nothing taken, when there are too few.
    pub fn take(&mut self, count: usize) -> bool {
        self.make_room(count);
        if count > self.free {
            return false;
        }
        self.free -= count;
        true
    }

    /// Lock the longest cached prefix of `ids` for a request that has nothing yet.
    pub fn hold(&mut self, ids: &[BlockId]) -> Holding {
        let found = self.tree.find(ids);
        self.tree.lock(found.node);
        Holding {
            node: found.node,
            cached: found.pages,
            pages: found.pages,
        }
    }

    /// Make the request's pages `ids` findable: those it shares already, then its own. Own pages
    /// that turn out to be cached are given back and the cached ones used instead.
    pub fn publish(&mut self, holding: &mut Holding, ids: &[BlockId], access: Access) {
        let inserted = self
            .tree
            .insert(holding.node, &ids[holding.cached..], access);
        self.free += inserted.duplicates;
        self.tree.lock(inserted.node);
        self.tree.unlock(holding.node);
        holding.node = inserted.node;
        holding.cached = ids.len();
    }

    /// Give back own pages and unlock the cached ones, which stay findable.
    pub fn let_go(&mut self, holding: &mut Holding) {
        self.free += holding.pages - holding.cached;
        self.tree.unlock(holding.node);
        *holding = Holding::NONE;
    }
}
