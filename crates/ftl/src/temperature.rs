//! Hot data apart from cold data, by what has happened to it (dynamic data clustering, Chiang et al.
//! 1999).
//!
//! ```text
//!              <── moved by collection ──
//!   class   0 ────────── 1 ────────── 2 ────────── 3
//!              ── overwritten by the host ──>
//! ```
//!
//! Every class of a plane has a block of its own that is being filled. New data begin in class 1.
//! Data that the host overwrites go to the next hotter class than that of the block where they
//! were, and data that collection has to move go to the next colder one. So data that are
//! overwritten more often than they are moved become hot, and blocks of hot data lose all their
//! pages soon. Nothing is remembered of a page: its class is that of its block.
//!
//! Without classes only collection fills its block. One victim needs one free block at most, and
//! leaves one behind. With classes the host fills the same blocks as collection does. If it took
//! the pages of a block that collection has opened for the rest of its victim, the victim would need
//! another block, and there might be none. So these pages are promised: before the host takes one
//! of them, the victim is emptied.

use crate::memory::{Cells, Memory};
use crate::space::{Frontier, Space};
use crate::wear::CLASS;

/// The numbers of classes that are possible. With two there would be no more than without them:
/// what collection moves always has its own block.
pub(crate) const CLASSES: std::ops::RangeInclusive<u32> = 3..=4;

/// The frontiers of the classes, from cold to hot.
const FRONTIERS: [Frontier; 4] = [
    Frontier::Collection,
    Frontier::Host,
    Frontier::Hot,
    Frontier::Hottest,
];

impl<M: Memory> Space<M> {
    /// The frontiers of data, from cold to hot: one for each class, or one for what collection moves
    /// and one for the host.
    pub(crate) fn frontiers(&self) -> &'static [Frontier] {
        &FRONTIERS[..self.classes.unwrap_or(2) as usize]
    }

    /// `block` is opened for a frontier.
    pub(crate) fn set_class_of(&mut self, block: u32, frontier: Frontier) {
        let class = FRONTIERS.into_iter().position(|one| one == frontier);
        let class = class.unwrap_or(0) as u32;
        let word = self.erase_count(block) | (class << CLASS.trailing_zeros());
        self.erases.set(block as usize, word);
    }

    /// The class of the data in `block`.
    fn class_of(&self, block: u32) -> u32 {
        self.erases.get(block as usize) >> CLASS.trailing_zeros()
    }

    /// Where the host overwrites data of `block`, with so many classes.
    pub(crate) fn hotter_than(&self, block: u32, classes: u32) -> Frontier {
        let class = (self.class_of(block) + 1).min(classes - 1);
        FRONTIERS[class as usize]
    }

    /// Where collection moves data of `block`.
    #[inline]
    pub(crate) fn colder_than(&self, block: u32) -> Frontier {
        match self.classes {
            None => Frontier::Collection,
            Some(_) => FRONTIERS[self.class_of(block).saturating_sub(1) as usize],
        }
    }
    /// Whether the victim of `plane` needs all that is left of the open block of `frontier`, because
    /// no block is free.
    #[inline]
    pub(crate) fn is_promised(&self, plane: u32, frontier: Frontier) -> bool {
        self.classes.is_some()
            && self.free_blocks(plane) == 0
            && self.victim(plane).is_some_and(|victim| {
                let needed = self.valid.count(victim.block);
                self.colder_than(victim.block) == frontier
                    && self.pages_left(plane, frontier) <= needed
            })
    }
}
