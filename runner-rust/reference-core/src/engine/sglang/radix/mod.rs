//! The radix tree over cached pages.
//!
//! An edge is a run of pages, a path from the root is a prefix. Looking a prompt up or inserting it
//! walks down from the root and counts every edge on the way as accessed; an edge that matches in
//! part is split. A request's pages extend the leaf that only it uses, else they become a new one.
//! Paths in use are locked from their end to the root; everything unlocked may be evicted, least
//! recently accessed leaf first and from its tail ([`eviction`]).

mod eviction;

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
    fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index as usize]
    }

    fn node_mut(&mut self, index: NodeIndex) -> &mut Node {
        &mut self.nodes[index as usize]
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
            let common = common_prefix(edge, &pages[matched..]);
            matched += common;
            if common < edge.len() {
                break;
            }
            node = child;
        }
        matched
    }

    /// Longest prefix of `pages` below `from`, all its edges counted as accessed.
    fn walk(&mut self, from: NodeIndex, pages: &[BlockId]) -> Match {
        let (mut node, mut matched) = (from, 0);
        while let Some(first) = pages.get(matched)
            && let Some(&child) = self.node(node).children.get(first)
        {
            let edge = &self.node(child).pages;
            let length = edge.len();
            let common = common_prefix(edge, &pages[matched..]);
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
}

/// Leading pages that an edge and a list have in common.
fn common_prefix(edge: &[BlockId], pages: &[BlockId]) -> usize {
    edge.iter().zip(pages).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests;
