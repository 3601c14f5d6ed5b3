//! Which pages hold the newest data of some logical page, and how many of each block
//! do.
//!
//! ```text
//!   bits    1 a page, whole words a block     1 1 0 1 | 1 1 1 1 | 0 0 0 0
//!   counts  of a block; and whether it is       3        4        0
//!           closed: filled, and nobody's victim closed   open     free
//! ```
//!
//! A block is opened with every bit set, so filling it touches neither bits nor counts.
//! Pages that are still to be written count as valid. Nobody asks about them except
//! [`Space`](crate::space::Space), which knows their number.

use std::ops::Range;

use crate::FlashLayout;
use crate::divisor::Divisor;
use crate::memory::{Cells, Memory};

/// Set in a block's count while the block is not closed, so that it never looks like a good
/// victim.
const NOT_CLOSED: u16 = 1 << 15;

/// Bits and counts of the valid pages.
pub(crate) struct Valid<M: Memory> {
    bits: M::Bits,
    counts: M::Narrow,
    pages_per_block: u32,
    words_per_block: u32,
    /// Bits of a block's words that belong to no page.
    padding: u32,
    by_pages: Divisor,
}

impl<M: Memory> Clone for Valid<M> {
    fn clone(&self) -> Self {
        Self {
            bits: self.bits.clone(),
            counts: self.counts.clone(),
            ..*self
        }
    }
}

impl<M: Memory> Valid<M> {
    /// No page is valid, no block closed.
    pub fn none(layout: &FlashLayout) -> Self {
        let pages_per_block = layout.pages_per_block;
        let words_per_block = pages_per_block.div_ceil(64);
        let blocks = layout.blocks() as usize;
        Self {
            bits: M::Bits::filled(blocks * words_per_block as usize, 0),
            counts: M::Narrow::filled(blocks, NOT_CLOSED),
            pages_per_block,
            words_per_block,
            padding: words_per_block * 64 - pages_per_block,
            by_pages: Divisor::new(pages_per_block),
        }
    }

    /// The bits and the counts.
    pub fn tables(&self) -> (&M::Bits, &M::Narrow) {
        (&self.bits, &self.counts)
    }

    /// Takes the bits and the counts of another.
    pub fn set_tables(&mut self, bits: M::Bits, counts: M::Narrow) {
        self.bits = bits;
        self.counts = counts;
    }

    /// The same without tables.
    pub fn without_tables(layout: &FlashLayout) -> Self {
        let nothing = FlashLayout {
            planes: 0,
            ..*layout
        };
        Self::none(&nothing)
    }

    /// Bytes of the tables for `layout`.
    pub fn table_bytes(layout: &FlashLayout) -> u64 {
        let words = u64::from(layout.pages_per_block.div_ceil(64));
        u64::from(layout.blocks()) * (words * 8 + 2)
    }

    /// Block, word and bit of a physical page.
    #[inline(always)]
    fn place(&self, page: u32) -> (usize, usize, u64) {
        let block = self.by_pages.quotient(page);
        let bit = u64::from(page) + u64::from(block) * u64::from(self.padding);
        (block as usize, (bit / 64) as usize, 1 << (bit % 64))
    }

    /// Prefetches for `page`, which becomes invalid soon.
    #[inline(always)]
    pub fn prefetch(&self, page: u32) {
        let (block, word, _) = self.place(page);
        self.bits.prefetch(word);
        self.counts.prefetch(block);
    }

    /// The data of the valid page `page` is no longer the newest.
    #[inline(always)]
    pub fn invalidate(&mut self, page: u32) {
        let (block, word, bit) = self.place(page);
        self.bits.set(word, self.bits.get(word) & !bit);
        self.counts.set(block, self.counts.get(block) - 1);
    }

    /// `page` was not valid and becomes valid.
    pub fn validate(&mut self, page: u32) {
        let (block, word, bit) = self.place(page);
        self.bits.set(word, self.bits.get(word) | bit);
        self.counts.set(block, self.counts.get(block) + 1);
    }

    /// Whether `page` is valid or still to be written.
    pub fn holds(&self, page: u32) -> bool {
        let (_, word, bit) = self.place(page);
        self.bits.get(word) & bit != 0
    }

    /// The valid ones among the 64 pages of `block` from page 64 `word` on.
    #[inline(always)]
    pub fn word(&self, block: u32, word: u32) -> u64 {
        self.bits.get(self.word_of(block, word))
    }

    /// The pages `moved` of a word of `block` become invalid.
    #[inline(always)]
    pub fn invalidate_all(&mut self, block: u32, word: u32, moved: u64) {
        let (place, block) = (self.word_of(block, word), block as usize);
        self.bits.set(place, self.bits.get(place) & !moved);
        let count = self.counts.get(block) - moved.count_ones() as u16;
        self.counts.set(block, count);
    }

    #[inline(always)]
    fn word_of(&self, block: u32, word: u32) -> usize {
        block as usize * self.words_per_block as usize + word as usize
    }

    /// Valid pages of `block`, including those still to be written.
    #[inline]
    pub fn count(&self, block: u32) -> u32 {
        u32::from(self.counts.get(block as usize) & !NOT_CLOSED)
    }

    /// Valid pages of a closed block that nobody collects; `None` for any other.
    pub fn of_closed(&self, block: u32) -> Option<u32> {
        let count = self.counts.get(block as usize);
        (count & NOT_CLOSED == 0).then_some(count.into())
    }

    /// The first closed block of `blocks` with the fewest valid pages, and their number. `None` if
    /// none is closed.
    pub fn fewest(&self, blocks: Range<u32>) -> Option<(u32, u32)> {
        let range = blocks.start as usize..blocks.end as usize;
        let (block, count) = self.counts.smallest(range)?;
        (count & NOT_CLOSED == 0).then_some((block as u32, count.into()))
    }

    /// The erased block `block` is about to be filled.
    pub fn open(&mut self, block: u32) {
        self.set_range(block, 0..self.pages_per_block, true);
    }

    /// Every page of `block` is written, so the block may be collected.
    pub fn close(&mut self, block: u32) {
        let count = self.counts.get(block as usize);
        self.counts.set(block as usize, count & !NOT_CLOSED);
    }

    /// `block` is collected or free, so it cannot be chosen.
    pub fn withdraw(&mut self, block: u32) {
        let count = self.counts.get(block as usize);
        self.counts.set(block as usize, count | NOT_CLOSED);
    }

    /// Sets whether the pages `range` of the open block `block`, which are still to be written,
    /// count as valid.
    pub fn set_range(&mut self, block: u32, range: Range<u32>, are_valid: bool) {
        let Range { start, end: upto } = range;
        if start >= upto {
            return;
        }
        for word in start / 64..upto.div_ceil(64) {
            let (first, end) = (start.max(word * 64) % 64, (upto - word * 64).min(64));
            let ahead = (u64::MAX >> (64 - (end - first))) << first;
            let place = self.word_of(block, word);
            let others = self.bits.get(place) & !ahead;
            self.bits
                .set(place, others | if are_valid { ahead } else { 0 });
        }
        let (count, ahead) = (self.counts.get(block as usize), (upto - start) as u16);
        let count = if are_valid {
            count + ahead
        } else {
            count - ahead
        };
        self.counts.set(block as usize, count | NOT_CLOSED);
    }

    pub fn checkpoint(&mut self) {
        self.bits.checkpoint();
        self.counts.checkpoint();
    }

    pub fn rollback(&mut self, then: &Self) {
        self.bits.rollback(&then.bits);
        self.counts.rollback(&then.counts);
    }
}
