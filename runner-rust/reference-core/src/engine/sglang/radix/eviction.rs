//! Which pages may go, and in which order.
//!
//! A leaf without locks is a candidate. Candidates are ordered by when they were last accessed; a
//! leaf that loses its last page makes its parent a candidate with the parent's own access.

use super::{Node, NodeIndex, ROOT, RadixTree};
use crate::engine::identity::BlockId;

impl RadixTree {
    /// Pages that could be evicted.
    pub fn evictable(&self) -> usize {
        self.evictable
    }

    fn is_candidate(&self, index: NodeIndex) -> bool {
        let node = self.node(index);
        index != ROOT && node.locks == 0 && node.children.is_empty()
    }

    /// Change a node through `change`, keeping the eviction order in step.
    pub(super) fn update(&mut self, index: NodeIndex, change: impl FnOnce(&mut Node)) {
        if self.is_candidate(index) {
            self.candidates.remove(&(self.node(index).accessed, index));
        }
        change(self.node_mut(index));
        if self.is_candidate(index) {
            self.candidates.insert((self.node(index).accessed, index));
        }
    }

    /// Mark a node as just accessed.
    pub(super) fn touch(&mut self, index: NodeIndex) {
        self.clock += 1;
        let now = self.clock;
        self.update(index, |node| node.accessed = now);
    }

    /// Mark a node and its ancestors as just accessed, root first.
    pub fn touch_path(&mut self, index: NodeIndex) {
        let mut path = Vec::new();
        let mut cursor = index;
        while cursor != ROOT {
            path.push(cursor);
            cursor = self.node(cursor).parent;
        }
        for node in path.into_iter().rev() {
            self.touch(node);
        }
    }

    /// Lock the path from `node` to the root.
    pub fn lock(&mut self, node: NodeIndex) {
        let mut cursor = node;
        while cursor != ROOT {
            if self.node(cursor).locks == 0 {
                self.evictable -= self.node(cursor).pages.len();
            }
            self.update(cursor, |node| node.locks += 1);
            cursor = self.node(cursor).parent;
        }
    }

    /// Undo one [`RadixTree::lock`].
    pub fn unlock(&mut self, node: NodeIndex) {
        let mut cursor = node;
        while cursor != ROOT {
            self.update(cursor, |node| node.locks -= 1);
            if self.node(cursor).locks == 0 {
                self.evictable += self.node(cursor).pages.len();
            }
            cursor = self.node(cursor).parent;
        }
    }

    /// Evict up to `count` pages; returns how many went.
    pub fn evict(&mut self, count: usize) -> usize {
        let mut evicted = 0;
        while evicted < count
            && let Some(&(_, leaf)) = self.candidates.first()
        {
            let pages = &mut self.nodes[leaf as usize].pages;
            let cut = pages.len().min(count - evicted);
            let first = pages[0];
            pages.truncate(pages.len() - cut);
            evicted += cut;
            if self.node(leaf).pages.is_empty() {
                self.drop_leaf(leaf, first);
            }
        }
        self.evictable -= evicted;
        evicted
    }

    fn drop_leaf(&mut self, leaf: NodeIndex, first: BlockId) {
        self.candidates.remove(&(self.node(leaf).accessed, leaf));
        let parent = self.node(leaf).parent;
        self.update(parent, |node| {
            node.children.remove(&first);
        });
        self.nodes[leaf as usize] = Node::default();
        self.vacant.push(leaf);
    }
}
