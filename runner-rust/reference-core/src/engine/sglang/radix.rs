//! The radix tree over cached pages.
//!
//! An edge is a run of pages, a path from the root is a prefix. Paths in use are locked from their
//! end to the root; everything unlocked may be evicted, least recently accessed leaf first and from
//! its tail.

use std::collections::BTreeSet;

use crate::engine::identity::{BlockId, BlockIdMap};

/// A node of the tree.
pub type NodeIndex = u32;

/// The empty prefix.
pub const ROOT: NodeIndex = 0;

#[derive(Debug, Default)]
struct Node {
    pages: Vec<BlockId>,
    parent: NodeIndex,
    children: BlockIdMap<NodeIndex>,
    locks: usize,
    accessed: u64,
}

/// Longest cached prefix of a list of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Node at which the prefix ends.
    pub node: NodeIndex,
    /// Its length in pages.
    pub pages: usize,
}

/// What inserting a list of pages did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inserted {
    /// Node at which the list now ends.
    pub node: NodeIndex,
    /// Pages of it that were cached already.
    pub duplicates: usize,
}

/// Whether an insertion counts as an access of the path that it starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It does: a prompt was computed, or a request ended.
    Refresh,
    /// It does not: a running request filled another page.
    Keep,
}

/// The tree.
#[derive(Debug)]
pub struct RadixTree {
    nodes: Vec<Node>,
    vacant: Vec<NodeIndex>,
    clock: u64,
    /// Pages on unlocked edges.
    evictable: usize,
    /// Unlocked leaves by access.
    candidates: BTreeSet<(u64, NodeIndex)>,
}

impl Default for RadixTree {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            vacant: Vec::new(),
            clock: 0,
            evictable: 0,
            candidates: BTreeSet::new(),
        }
    }
}

impl RadixTree {
    /// Pages that could be evicted.
    pub fn evictable(&self) -> usize {
        self.evictable
    }

    fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index as usize]
    }

    fn node_mut(&mut self, index: NodeIndex) -> &mut Node {
        &mut self.nodes[index as usize]
    }

    fn is_candidate(&self, index: NodeIndex) -> bool {
        let node = self.node(index);
        index != ROOT && node.locks == 0 && node.children.is_empty()
    }

    /// Change a node through `change`, keeping the eviction order in step.
    fn update(&mut self, index: NodeIndex, change: impl FnOnce(&mut Node)) {
        if self.is_candidate(index) {
            self.candidates.remove(&(self.node(index).accessed, index));
        }
        change(self.node_mut(index));
        if self.is_candidate(index) {
            self.candidates.insert((self.node(index).accessed, index));
        }
    }

    /// Mark a node as just accessed.
    fn touch(&mut self, index: NodeIndex) {
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

    /// Longest cached prefix of `pages`; splits an edge that matches in part.
    pub fn find(&mut self, pages: &[BlockId]) -> Match {
        self.walk(ROOT, pages)
    }

    /// Length in pages of the longest cached prefix of `pages`, leaving the tree as it is.
    pub fn peek(&self, pages: &[BlockId]) -> usize {
        let (mut node, mut matched) = (ROOT, 0);
        while let Some(first) = pages.get(matched)
            && let Some(&child) = self.node(node).children.get(first)
        {
            let edge = &self.node(child).pages;
            let rest = &pages[matched..];
            let common = edge.iter().zip(rest).take_while(|(a, b)| a == b).count();
            matched += common;
            if common < edge.len() {
                break;
            }
            node = child;
        }
        matched
    }

    fn walk(&mut self, from: NodeIndex, pages: &[BlockId]) -> Match {
        let (mut node, mut matched) = (from, 0);
        while let Some(first) = pages.get(matched)
            && let Some(&child) = self.node(node).children.get(first)
        {
            let edge = &self.node(child).pages;
            let length = edge.len();
            let common = edge
                .iter()
                .zip(&pages[matched..])
                .take_while(|(a, b)| a == b)
                .count();
            self.touch(child);
            matched += common;
            if common < length {
                node = self.split(child, common);
                break;
            }
            node = child;
        }
        Match {
            node,
            pages: matched,
        }
    }

    /// Cut an edge after `at` pages. The upper part is a new node with the same locks and access;
    /// the lower part keeps the node's index, so that requests holding it still do.
    fn split(&mut self, lower: NodeIndex, at: usize) -> NodeIndex {
        let parent = self.node(lower).parent;
        let (accessed, locks) = (self.node(lower).accessed, self.node(lower).locks);
        let tail = self.node_mut(lower).pages.split_off(at);
        let head = std::mem::replace(&mut self.node_mut(lower).pages, tail);
        let (first, below) = (head[0], self.node(lower).pages[0]);
        let upper = self.allocate(Node {
            pages: head,
            parent,
            children: [(below, lower)].into_iter().collect(),
            locks,
            accessed,
        });
        self.node_mut(parent).children.insert(first, upper);
        self.node_mut(lower).parent = upper;
        upper
    }

    fn allocate(&mut self, node: Node) -> NodeIndex {
        if let Some(index) = self.vacant.pop() {
            self.nodes[index as usize] = node;
            return index;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as NodeIndex
    }

    /// Add `pages` below `start`. Pages that are cached there already count as duplicates; the rest
    /// extends the leaf reached when nobody else depends on its end, or becomes a new leaf.
    pub fn insert(&mut self, start: NodeIndex, pages: &[BlockId], access: Access) -> Inserted {
        if access == Access::Refresh {
            self.touch_path(start);
        }
        let Match {
            node,
            pages: duplicates,
        } = self.walk(start, pages);
        let rest = &pages[duplicates..];
        if rest.is_empty() {
            return Inserted { node, duplicates };
        }
        let end = self.node(node);
        let sole_user = end.locks == 0 || (node == start && end.locks == 1);
        let node = if node != ROOT && end.children.is_empty() && sole_user {
            self.extend(node, rest, access);
            node
        } else {
            self.add_leaf(node, rest)
        };
        Inserted { node, duplicates }
    }

    fn extend(&mut self, node: NodeIndex, pages: &[BlockId], access: Access) {
        if self.node(node).locks == 0 {
            self.evictable += pages.len();
        }
        self.node_mut(node).pages.extend_from_slice(pages);
        if access == Access::Refresh {
            self.touch(node);
        }
    }

    fn add_leaf(&mut self, parent: NodeIndex, pages: &[BlockId]) -> NodeIndex {
        let leaf = self.allocate(Node {
            pages: pages.to_vec(),
            parent,
            ..Node::default()
        });
        self.evictable += pages.len();
        self.update(parent, |node| {
            node.children.insert(pages[0], leaf);
        });
        self.touch(leaf);
        leaf
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

    /// Pages in the tree, counted edge by edge.
    #[cfg(test)]
    fn total(&self) -> usize {
        self.nodes.iter().map(|node| node.pages.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::identity::TokenChain;
    use crate::replay::loadgen::Prompt;
    use proptest::prelude::*;

    fn pages(tokens: &[u32]) -> Vec<BlockId> {
        TokenChain::new(Prompt::Tokens(tokens.into()), None, 0, 1)
            .ids(tokens.len())
            .to_vec()
    }

    #[test]
    fn a_partial_match_splits_the_edge_and_keeps_its_locks() {
        let mut tree = RadixTree::default();
        let stored = tree.insert(ROOT, &pages(&[1, 2, 3, 4]), Access::Refresh);
        tree.lock(stored.node);
        let found = tree.find(&pages(&[1, 2, 9]));
        assert_eq!(found.pages, 2);
        assert_eq!(tree.evictable(), 0);
        tree.unlock(stored.node);
        assert_eq!(tree.evictable(), 4);
    }

    #[test]
    fn eviction_takes_the_least_recent_leaf_from_its_tail() {
        let mut tree = RadixTree::default();
        tree.insert(ROOT, &pages(&[1, 2, 3]), Access::Refresh);
        tree.insert(ROOT, &pages(&[7, 8]), Access::Refresh);
        tree.find(&pages(&[1, 2, 3]));
        assert_eq!(tree.evict(1), 1);
        assert_eq!(tree.find(&pages(&[7, 8])).pages, 1);
        assert_eq!(tree.find(&pages(&[1, 2, 3])).pages, 3);
    }

    #[test]
    fn a_leaf_grows_in_place_for_its_only_user() {
        let mut tree = RadixTree::default();
        let all = pages(&[1, 2, 3]);
        let first = tree.insert(ROOT, &all[..1], Access::Refresh);
        tree.lock(first.node);
        let second = tree.insert(first.node, &all[1..2], Access::Refresh);
        assert_eq!(second.node, first.node);
        tree.lock(first.node);
        let third = tree.insert(first.node, &all[2..], Access::Keep);
        assert_ne!(third.node, first.node);
    }

    proptest! {
        /// Whatever is inserted, locked and evicted, pages are counted once, and locked paths stay.
        #[test]
        fn pages_are_conserved(steps in prop::collection::vec((0_u8..4, prop::collection::vec(0_u32..3, 1..6)), 1..60)) {
            let mut tree = RadixTree::default();
            let mut locked: Vec<(Vec<BlockId>, NodeIndex)> = Vec::new();
            for (action, tokens) in steps {
                let path = pages(&tokens);
                match action {
                    0 | 1 => {
                        let end = tree.insert(ROOT, &path, Access::Refresh);
                        if action == 1 {
                            tree.lock(end.node);
                            locked.push((path, end.node));
                        }
                    }
                    2 => {
                        if let Some((_, node)) = locked.pop() {
                            tree.unlock(node);
                        }
                    }
                    _ => {
                        let before = tree.total();
                        let gone = tree.evict(tokens.len());
                        prop_assert_eq!(tree.total() + gone, before);
                    }
                }
                let pinned: usize = tree.nodes.iter().filter(|n| n.locks > 0).map(|n| n.pages.len()).sum();
                prop_assert_eq!(tree.evictable() + pinned, tree.total());
                for (path, _) in &locked {
                    prop_assert_eq!(tree.find(path).pages, path.len());
                }
            }
        }
    }
}
