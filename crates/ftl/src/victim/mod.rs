//! Which block of a plane collection empties next: one rule a file.
//!
//! A rule is asked once a block, on a plane where some closed block holds an
//! invalid page. It may choose a block without any (FIFO and random do): its
//! pages are moved, nothing is won, and the rule is asked again.

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
            /// How collection chooses the block that it empties.
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
    /// The block with the most to win for its age.
    CostBenefit = "cost_benefit" => cost_benefit::choose;
    /// The best of a few blocks drawn at random.
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
    /// The first of those with the fewest valid pages, and how many.
    pub fewest: (u32, u32),
    /// How many blocks a rule that draws them compares.
    pub choices: u32,
}

impl<M: Memory> ClosedBlocks<'_, M> {
    /// Every closed block and its valid pages, in order of number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let blocks = self.space.blocks_of(self.plane);
        blocks.filter_map(|block| Some((block, self.space.valid.of_closed(block)?)))
    }

    /// How many blocks of the plane have been closed since `block` was.
    pub fn age(&self, block: u32) -> u32 {
        self.space.age(self.plane, block)
    }

    /// A closed block, each as likely as any other, and its valid pages.
    pub fn draw(&mut self) -> (u32, u32) {
        // Few blocks are not closed; the bound is for planes that are nearly empty.
        for _ in 0..64 {
            let block = self.space.draw_block(self.plane);
            if let Some(valid) = self.space.valid.of_closed(block) {
                return (block, valid);
            }
        }
        self.fewest
    }
}
