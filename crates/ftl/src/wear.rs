//! How often blocks were erased, and wear levelling.
//!
//! Dynamic levelling opens the free block with the fewest erases first. Static
//! levelling empties a block that lags too far behind the most erased one of its
//! plane, although its data is valid: data that nobody overwrites keeps its block
//! from being used. At most one such block is emptied between two ordinary
//! collections.

use crate::memory::{Cells, Memory};
use crate::space::{Field, Space};

/// Erases of the blocks of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EraseCounts {
    /// Of the block erased least often.
    pub least: u32,
    /// Of the block erased most often.
    pub most: u32,
    /// Of all blocks.
    pub mean: f64,
    /// Of all blocks, around their mean.
    pub standard_deviation: f64,
}

impl EraseCounts {
    /// Least, most, mean and standard deviation of `counts`.
    pub fn of(counts: impl Iterator<Item = u32> + Clone) -> Self {
        let (mut least, mut most, mut sum, mut blocks) = (u32::MAX, 0, 0_u64, 0_u64);
        for count in counts.clone() {
            least = least.min(count);
            most = most.max(count);
            sum += u64::from(count);
            blocks += 1;
        }
        if blocks == 0 {
            return Self::default();
        }
        let mean = sum as f64 / blocks as f64;
        let squares: f64 = counts.map(|count| (f64::from(count) - mean).powi(2)).sum();
        Self {
            least,
            most,
            mean,
            standard_deviation: (squares / blocks as f64).sqrt(),
        }
    }
}

/// Erases of `block` on a worn drive: between `mean - spread` and `mean + spread` (not below 0),
/// all numbers equally likely.
pub(crate) fn drawn_erases(block: u32, mean: u32, spread: u32) -> u32 {
    // A different number for every block: the upper half of a product with an odd constant, mixed
    // (Knuth's multiplicative hashing, twice).
    let mixed = (u64::from(block) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let drawn = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32;
    let most = 2 * u64::from(spread) + 1;
    let above = ((drawn * most) >> 32) as u32;
    (mean + above).saturating_sub(spread)
}

/// Bits of a block's word that are not its erases: the class of its data (`temperature.rs`).
pub(crate) const CLASS: u32 = 3 << 30;

impl<M: Memory> Space<M> {
    /// How often `block` was erased.
    pub fn erase_count(&self, block: u32) -> u32 {
        self.erases.get(block as usize) & !CLASS
    }

    /// Erases of all blocks.
    pub fn erase_counts(&self) -> EraseCounts {
        let blocks = 0..self.erases_len();
        EraseCounts::of(blocks.map(|block| self.erase_count(block)))
    }

    /// Sets how often each block was erased.
    pub fn set_erase_counts(&mut self, mut count: impl FnMut(u32) -> u32) {
        for block in 0..self.erases_len() {
            self.erases.set(block as usize, count(block).min(!CLASS));
        }
    }

    /// `block` was erased once more, up to the largest number that can be counted.
    pub(crate) fn count_erase(&mut self, block: u32) {
        let count = (self.erase_count(block) + 1).min(!CLASS);
        self.erases.set(block as usize, count);
    }

    /// The closed block of `plane` with the fewest erases, if it is more than `spread` behind the
    /// block with the most.
    pub(crate) fn lagging(&self, plane: u32, spread: u32) -> Option<u32> {
        let most = self.blocks_of(plane).map(|block| self.erase_count(block));
        let most = most.max()?;
        let closed = self.blocks_of(plane);
        let closed = closed.filter(|&block| self.valid.of_closed(block).is_some());
        let lagging = closed.min_by_key(|&block| self.erase_count(block))?;
        (most - self.erase_count(lagging) > spread).then_some(lagging)
    }

    /// Exchanges the head of a plane's free list with the block erased least often; on a tie the
    /// first in the list.
    pub(crate) fn least_worn_to_head(&mut self, plane: u32) {
        let blocks = self.layout.blocks_per_plane;
        let (head, count) = (
            self.field(plane, Field::FreeHead),
            self.field(plane, Field::FreeCount),
        );
        let place = |position: u32| (plane * blocks + (head + position) % blocks) as usize;
        let erases = |position: &u32| self.erase_count(self.free.get(place(*position)));
        let Some(least) = (0..count).min_by_key(erases) else {
            return;
        };
        let (first, other) = (self.free.get(place(0)), self.free.get(place(least)));
        self.free.set(place(0), other);
        self.free.set(place(least), first);
    }
}
