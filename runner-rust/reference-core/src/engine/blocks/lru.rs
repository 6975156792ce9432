//! A list threaded through the block table, oldest release first.

use super::{Block, BlockIndex};

/// A block's neighbours in the list.
#[derive(Debug, Default)]
pub(super) struct Links {
    previous: Option<BlockIndex>,
    next: Option<BlockIndex>,
}

/// The list's ends.
#[derive(Debug, Default)]
pub(super) struct LruList {
    front: Option<BlockIndex>,
    back: Option<BlockIndex>,
    len: usize,
}

impl LruList {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn push_back(&mut self, blocks: &mut [Block], index: BlockIndex) {
        blocks[index as usize].links = Links {
            previous: self.back,
            next: None,
        };
        match self.back {
            Some(back) => blocks[back as usize].links.next = Some(index),
            None => self.front = Some(index),
        }
        self.back = Some(index);
        self.len += 1;
    }

    pub fn remove(&mut self, blocks: &mut [Block], index: BlockIndex) {
        let links = std::mem::take(&mut blocks[index as usize].links);
        match links.previous {
            Some(previous) => blocks[previous as usize].links.next = links.next,
            None => self.front = links.next,
        }
        match links.next {
            Some(next) => blocks[next as usize].links.previous = links.previous,
            None => self.back = links.previous,
        }
        self.len -= 1;
    }

    pub fn pop_front(&mut self, blocks: &mut [Block]) -> Option<BlockIndex> {
        let front = self.front?;
        self.remove(blocks, front);
        Some(front)
    }
}
