//! Which block of a plane collection empties next, with one file for each rule.
//!
//! A rule is called once a block, on a plane where some closed block has an invalid page. It may
//! choose a block without any (FIFO and random do). Then its pages are moved, nothing is won, and
//! the rule is called again.

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;

use crate::memory::Memory;
use crate::space::Space;

/// Chooses a closed block.
pub(crate) type VictimRule<M> = fn(&mut ClosedBlocks<'_, M>) -> Option<u32>;

macro_rules! rules {
    ($($(#[$about:meta])* $name:ident = $word:literal => $rule:path;)+) => {
        named! {
            /// How collection chooses the block to empty.
            VictimPolicy { $($(#[$about])* $name = $word,)+ }
        }

        impl VictimPolicy {
            pub(crate) fn rule<M: Memory>(self) -> VictimRule<M> {
                match self { $(Self::$name => $rule,)+ }
            }
        }
    };
}

rules! {
    /// The block with the fewest valid pages.
    Greedy = "greedy" => greedy::choose;
    /// The block with the largest gain for its age.
    CostBenefit = "cost_benefit" => cost_benefit::choose;
    /// The best of a few random blocks.
    DChoices = "d_choices" => d_choices::choose;
    /// The block that was filled first.
    Fifo = "fifo" => fifo::choose;
    /// Any block.
    Random = "random" => random::choose;
}

/// The closed blocks of a plane, as a rule sees them.
pub(crate) struct ClosedBlocks<'a, M: Memory> {
    pub space: &'a mut Space<M>,
    pub plane: u32,
    /// The first block with the fewest valid pages, and their number.
    pub fewest: (u32, u32),
    /// How many random blocks a rule compares.
    pub choices: u32,
}

impl<M: Memory> ClosedBlocks<'_, M> {
    /// Every closed block with its valid pages, in numerical order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let blocks = self.space.blocks_of(self.plane);
        blocks.filter_map(|block| Some((block, self.space.valid.of_closed(block)?)))
    }

    /// How many blocks of the plane have been closed since `block` was.
    pub fn age(&self, block: u32) -> u32 {
        self.space.age(self.plane, block)
    }

    /// A random closed block, all equally likely, and its valid pages.
    pub fn draw(&mut self) -> (u32, u32) {
        // Few blocks are not closed; the bound is for nearly empty planes.
        for _ in 0..64 {
            let block = self.space.draw_block(self.plane);
            if let Some(valid) = self.space.valid.of_closed(block) {
                return (block, valid);
            }
        }
        self.fewest
    }
}
