use super::*;
use crate::engine::identity::TokenChain;
use crate::replay::loadgen::Prompt;
use proptest::prelude::*;

/// Pages in the tree, counted edge by edge.
fn total(tree: &RadixTree) -> usize {
    tree.nodes.iter().map(|node| node.pages.len()).sum()
}

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
                    let before = total(&tree);
                    let gone = tree.evict(tokens.len());
                    prop_assert_eq!(total(&tree) + gone, before);
                }
            }
            let pinned: usize = tree.nodes.iter().filter(|n| n.locks > 0).map(|n| n.pages.len()).sum();
            prop_assert_eq!(tree.evictable() + pinned, total(&tree));
            for (path, _) in &locked {
                prop_assert_eq!(tree.find(path).pages, path.len());
            }
        }
    }
}
