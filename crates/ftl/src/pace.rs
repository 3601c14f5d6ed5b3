//! How many pages collection moves for each page that the host writes.
//!
//! At the steady pace a victim is emptied while as much is written as it wins. The adaptive pace
//! follows from the space that is left:
//!
//! ```text
//!   level   pages that a plane can still take: free, left in open blocks, and what the victim
//!           will win, in proportion to how far it is emptied
//!
//!   blocks  open ──── quarter ───── middle ──────────── open + reserve
//!   factor       9/8           1                        0
//! ```
//!
//! With a mean of v valid pages in the last victims, space is won as fast as it is written if
//! v / (pages - v) pages are moved for each page written. That number is multiplied by a factor,
//! which falls from 9/8 below the middle to 0 where all of the reserve is free. So the level
//! settles near the middle. Expensive victims lower it, cheap ones raise it, and the moves keep an
//! even rate, where [`Pace::Paced`](crate::Pace) follows each victim. Below the middle
//! the level rises slowly: it falls while moves are expensive, which is no time to move more.
//! Below the quarter each victim is emptied while as much is written as it wins, as in the steady
//! pace, so the level falls no further. In the last block before a write would have to wait, the
//! victim is emptied before that.
//!
//! pblk, which maps open-channel drives in the host (Bjørling et al. 2017), gives collection a share
//! of the writes that rises as the free blocks become fewer. It does not count the valid pages.

use crate::memory::Memory;
use crate::space::{Field, Frontier, Space};

/// What is owed is counted in these parts of a move.
const PARTS: u64 = 1 << 16;

/// Means and factors are counted in these parts.
const FINE: u64 = 256;

/// The largest factor: 9/8.
const MOST: u64 = FINE * 9 / 8;

/// A victim changes the mean by this part of its difference.
const VICTIMS: i64 = 8;

/// A victim counts as winning at least this part of its pages. More moves than that, 15 for each
/// write, are owed only when the level is low.
const LEAST_WON: u64 = 16;

impl<M: Memory> Space<M> {
    /// Counts the valid pages of a new victim of collection towards their mean.
    pub(crate) fn note_victim(&mut self, plane: u32, valid: u32) {
        let mean = i64::from(self.field(plane, Field::ValidMean));
        let found = i64::from(valid) * FINE as i64;
        let mean = match mean {
            0 => found,
            _ => mean + (found - mean) / VICTIMS,
        };
        self.set_field(plane, Field::ValidMean, mean as u32);
    }

    /// Whether what a plane owes, and the mean of its victims, are numbers that can come about.
    pub(crate) fn is_pace_possible(&self, plane: u32) -> bool {
        let (pages, credit) = (
            self.layout.pages_per_block,
            self.field(plane, Field::Credit),
        );
        let mean = u64::from(self.field(plane, Field::ValidMean));
        if self.adapts {
            u64::from(credit) < PARTS && mean <= FINE * u64::from(pages)
        } else {
            credit <= pages && mean == 0
        }
    }

    /// One host write went to `plane`, which has a victim. Returns how many moves are due now.
    #[inline]
    pub(crate) fn moves_due(&mut self, plane: u32) -> u32 {
        if self.adapts {
            return self.adapted_moves(plane);
        }
        let credit = self.field(plane, Field::Credit) + self.field(plane, Field::CreditPerWrite);
        let price = self.field(plane, Field::CreditPerMove).max(1);
        self.set_field(plane, Field::Credit, credit % price);
        credit / price
    }

    /// The same at the adaptive pace.
    #[cold]
    #[inline(never)]
    fn adapted_moves(&mut self, plane: u32) -> u32 {
        let pages = u64::from(self.layout.pages_per_block);
        let valid = u64::from(self.field(plane, Field::CreditPerWrite)).max(1);
        let left = u64::from(self.valid.count(self.field(plane, Field::Victim)));
        let free = u64::from(self.free_blocks(plane)) * pages;
        let of_host = u64::from(self.pages_left(plane, Frontier::Host));
        let in_open: u64 = self
            .frontiers()
            .iter()
            .map(|&frontier| u64::from(self.pages_left(plane, frontier)))
            .sum();
        let will_win = valid.saturating_sub(left) * pages / valid;
        let level = free + in_open + will_win;

        let reserve = u64::from(self.layout.reserve_blocks) * pages;
        let open = self.frontiers().len() as u64 * pages;
        let (lowest, highest) = (open, open + reserve);
        let upper_half = (reserve / 2).max(1);
        let factor = (highest.saturating_sub(level) * FINE / upper_half).min(MOST);
        let mean = u64::from(self.field(plane, Field::ValidMean));
        let won = (FINE * pages)
            .saturating_sub(mean)
            .max(FINE * pages / LEAST_WON);
        let mut due = mean * factor * (PARTS / FINE) / won.max(1);
        if level < lowest + reserve / 4 {
            due = due.max(valid * PARTS / pages.saturating_sub(valid).max(1));
        }
        // The last free block is for collection.
        let until_waiting = free.saturating_sub(pages) + of_host;
        if until_waiting < pages {
            due = due.max(left * PARTS / (until_waiting + 1));
        }
        let owed = due.min(pages * PARTS) + u64::from(self.field(plane, Field::Credit));
        self.set_field(plane, Field::Credit, (owed % PARTS) as u32);
        (owed / PARTS) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exclusive, FlashLayout, Pace, Policies};

    /// Blocks of 16 pages, a reserve of 4: the level is at most 96, 64 in the middle, and 48 at the
    /// quarter.
    const LAYOUT: FlashLayout = FlashLayout {
        planes: 1,
        blocks_per_plane: 32,
        pages_per_block: 16,
        logical_pages: 64,
        reserve_blocks: 4,
    };

    /// A plane with this many free blocks and pages left for the host, none for collection; victims
    /// had 12 valid pages, and the present one, block 5, has `valid`.
    fn space(free: u32, of_host: u32, valid: u32) -> Space<Exclusive> {
        let policies = Policies::from(Pace::Adaptive);
        let mut space = Space::<Exclusive>::erased(LAYOUT, &policies);
        space.valid.open(5);
        space.valid.set_range(5, valid..16, false);
        space.take_victim(0, 5, crate::Cause::Collection);
        space.set_field(0, Field::ValidMean, 12 * 256);
        space.set_field(0, Field::FreeCount, free);
        space.set_field(0, Field::HostLeft, of_host);
        space
    }

    /// Moves due in all for `writes` writes.
    fn due(mut space: Space<Exclusive>, writes: u32) -> u32 {
        (0..writes).map(|_| space.moves_due(0)).sum()
    }

    #[test]
    fn moves_follow_the_level() {
        // 12 valid pages win 4: 3 moves a write keep the level.
        assert_eq!(due(space(4, 0, 12), 8), 8 * 3);
        // A quarter of the reserve above the middle, half as many; with all of it free, none.
        assert_eq!(due(space(5, 0, 12), 8), 8 * 3 / 2);
        assert_eq!(due(space(6, 0, 12), 8), 0);
        // An eighth more below the middle, however far, until the quarter.
        assert_eq!(due(space(3, 12, 12), 8), 8 * 3 * 9 / 8);
        assert_eq!(due(space(3, 0, 12), 8), 8 * 3 * 9 / 8);
    }

    #[test]
    fn below_the_quarter_a_victim_is_paid_for_at_once() {
        // 15 valid pages win 1.
        assert_eq!(due(space(3, 0, 15), 8), 8 * 3 * 9 / 8);
        assert_eq!(due(space(2, 15, 15), 8), 8 * 15);
        // A cheaper one is not emptied more slowly than the mean asks for.
        assert_eq!(due(space(2, 15, 4), 8), 8 * 3 * 9 / 8);
    }

    #[test]
    fn what_is_moved_counts_as_won_in_proportion() {
        // 6 of 12 moved: half a block of 16 is won.
        let mut half = space(3, 8, 12);
        half.valid.set_range(5, 6..12, false);
        assert_eq!(due(half, 8), 8 * 3);
    }

    #[test]
    fn in_the_last_block_a_victim_is_empty_before_a_write_waits() {
        // One free block is for collection. 3 pages are left for writes: 12 moves in 3 + 1.
        assert_eq!(due(space(1, 3, 12), 1), 27 / 8);
        let mut urgent = space(1, 3, 12);
        urgent.set_field(0, Field::ValidMean, 1);
        urgent.set_field(0, Field::CreditPerWrite, 1);
        assert_eq!(urgent.moves_due(0), 3);
    }

    #[test]
    fn the_mean_of_victims_forgets_an_eighth_with_each() {
        let mut space = space(4, 0, 12);
        space.note_victim(0, 4);
        assert_eq!(space.field(0, Field::ValidMean), 11 * 256);
        space.set_field(0, Field::ValidMean, 0);
        space.note_victim(0, 4);
        assert_eq!(space.field(0, Field::ValidMean), 4 * 256);
        assert!(space.is_pace_possible(0));
        space.set_field(0, Field::Credit, 1 << 16);
        assert!(!space.is_pace_possible(0));
    }
}
