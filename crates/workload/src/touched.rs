//! Which sectors of a drive were touched, to count the distinct bytes that requests address.
//!
//! ```text
//!   parts:  [ bits of 2^15 sectors (16 MiB) | none | bits | ... ]     made when first touched
//! ```
//!
//! The count is exact for any requests. Memory is one bit for each sector of the touched parts:
//! 152.6 GiB take 38 MiB.

use drivelab_request::SECTOR_BYTES;

/// Sectors in a part: 2^15.
const PART_SHIFT: u32 = 15;
const WORDS: usize = 1 << (PART_SHIFT - 6);

/// The distinct sectors so far.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    parts: Vec<Option<Box<[u64; WORDS]>>>,
    sectors: u64,
    end: u64,
}

impl Touched {
    /// No sectors.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Touches `length` sectors from `first` on.
    pub fn touch(&mut self, first: u64, length: u32) {
        let end = first.saturating_add(length.into());
        self.end = self.end.max(end);
        let mut at = first;
        while at < end {
            let bit = at & 63;
            let count = (64 - bit).min(end - at);
            let mask = (u64::MAX >> (64 - count)) << bit;
            let part = (at >> PART_SHIFT) as usize;
            if part >= self.parts.len() {
                self.parts.resize_with(part + 1, || None);
            }
            let words = self.parts[part].get_or_insert_with(|| Box::new([0; WORDS]));
            let word = &mut words[(at >> 6) as usize % WORDS];
            self.sectors += u64::from((mask & !*word).count_ones());
            *word |= mask;
            at += count;
        }
    }

    /// The number of distinct bytes touched.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sectors * u64::from(SECTOR_BYTES)
    }

    /// From the first byte of the drive to the end of the last sector touched.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        self.end * u64::from(SECTOR_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_overlaps_counts_once() {
        let mut touched = Touched::new();
        for (first, length) in [(10, 5), (12, 8), (10, 5), (40_000, 1), (32_760, 16)] {
            touched.touch(first, length);
        }
        assert_eq!(touched.bytes(), (10 + 1 + 16) * 512);
        assert_eq!(touched.end_bytes(), 40_001 * 512);
    }

    proptest! {
        #[test]
        fn it_counts_as_a_set_does(asked in prop::collection::vec((0_u64..100_000, 0_u32..300), 0..60)) {
            let mut touched = Touched::new();
            let mut all = BTreeSet::new();
            for (first, length) in asked {
                touched.touch(first, length);
                all.extend(first..first + u64::from(length));
            }
            prop_assert_eq!(touched.bytes(), all.len() as u64 * 512);
        }
    }
}
