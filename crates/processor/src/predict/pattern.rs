//! A table of two-bit counters, indexed by address and recent history together.

use super::{Directions, moved};

/// One table for all branches.
#[derive(Clone, Debug)]
pub struct PatternTable {
    counters: Vec<u8>,
    history: u64,
    history_mask: u64,
}

impl PatternTable {
    /// A table of `entries` counters; the last `history_bits` directions take part in the index.
    #[must_use]
    pub fn new(entries: usize, history_bits: u32) -> Self {
        Self {
            counters: vec![1; entries],
            history: 0,
            history_mask: (1 << history_bits) - 1,
        }
    }
}

impl Directions for PatternTable {
    #[inline]
    fn meet(&mut self, address: u64, taken: bool) -> bool {
        let mixed = (address >> 2) ^ ((self.history & self.history_mask) << 4);
        // The table's size need not be a power of two.
        let hashed = (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32;
        let index = ((hashed * self.counters.len() as u64) >> 32) as usize;
        let counter = &mut self.counters[index];
        let right = (*counter >= 2) == taken;
        *counter = moved(*counter, taken);
        self.history = self.history << 1 | u64::from(taken);
        right
    }
}
