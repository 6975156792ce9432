use super::*;
use crate::engine::identity::TokenChain;
use crate::replay::loadgen::Prompt;
use proptest::prelude::*;

fn ids(count: usize) -> Vec<BlockId> {
    let prompt = Prompt::Counting {
        first: 0,
        length: count * 4,
    };
    TokenChain::new(prompt, None, 0, 4).ids(count).to_vec()
}

#[test]
fn unused_copies_are_evicted_oldest_first() {
    let (mut pool, ids) = (BlockPool::new(2), ids(2));
    let mut held = Vec::new();
    assert!(pool.acquire(&[], 2, &mut held));
    pool.publish(held[0], ids[0]);
    pool.publish(held[1], ids[1]);
    pool.release_all(&mut held);
    assert_eq!(pool.active(), 0);
    let mut next = Vec::new();
    assert!(pool.acquire(&[], 1, &mut next));
    assert!(pool.find(ids[0]).is_some(), "the prefix outlives the tail");
    assert!(pool.find(ids[1]).is_none());
}

#[test]
fn a_hit_may_not_be_evicted_for_its_own_request() {
    let (mut pool, ids) = (BlockPool::new(2), ids(1));
    let mut held = Vec::new();
    assert!(pool.acquire(&[], 1, &mut held));
    pool.publish(held[0], ids[0]);
    pool.release_all(&mut held);
    let hit = pool.find(ids[0]).unwrap();
    let mut next = Vec::new();
    assert!(!pool.acquire(&[hit], 2, &mut next));
    assert!(next.is_empty());
    assert!(pool.acquire(&[hit], 1, &mut next));
    assert_eq!(next[0], hit);
}

#[test]
fn the_oldest_copy_is_found_until_it_goes() {
    let (mut pool, ids) = (BlockPool::new(3), ids(1));
    let mut held = Vec::new();
    assert!(pool.acquire(&[], 3, &mut held));
    for block in &held {
        pool.publish(*block, ids[0]);
    }
    assert_eq!(pool.find(ids[0]), Some(held[0]));
    let (first, second) = (held[0], held[1]);
    pool.release(first);
    assert!(pool.acquire(&[], 1, &mut Vec::new()));
    assert_eq!(pool.find(ids[0]), Some(second));
}

proptest! {
    /// Whatever users do, every block is free, used or idle, and idle copies stay findable.
    #[test]
    fn blocks_are_conserved(capacity in 1_usize..12, steps in prop::collection::vec((0_usize..4, 0_usize..6), 1..80)) {
        let (mut pool, ids) = (BlockPool::new(capacity), ids(6));
        let mut users: Vec<Vec<BlockIndex>> = vec![Vec::new(); 4];
        for (user, amount) in steps {
            let held = &mut users[user];
            if held.is_empty() {
                let mut hits = pool.find_prefix(&ids[..amount]);
                hits.dedup();
                let start = hits.len();
                if pool.acquire(&hits, amount - start, held) {
                    for position in start..amount {
                        pool.publish(held[position], ids[position]);
                    }
                }
            } else {
                pool.release_all(held);
            }
            let used: std::collections::HashSet<_> = users.iter().flatten().collect();
            prop_assert_eq!(pool.active(), used.len());
            prop_assert_eq!(pool.free() + pool.active() + pool.idle.len(), capacity);
            for (id, copies) in &pool.copies {
                prop_assert_eq!(pool.blocks[copies.oldest as usize].id, Some(*id));
                prop_assert_eq!(pool.blocks[copies.youngest as usize].id, Some(*id));
                prop_assert_eq!(pool.blocks[copies.youngest as usize].next_copy, None);
            }
        }
    }
}
