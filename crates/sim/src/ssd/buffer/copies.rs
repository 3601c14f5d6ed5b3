//! Which logical pages have copies in the write buffer.
//!
//! ```text
//!   line    | page | page |  --  | page |  --  | ... 16 places     one cache line
//!   spilled | page | ...         of lines that are full: hardly ever any
//! ```
//!
//! A page is in the line that its number hashes to, once for each copy. A lookup compares all
//! places of a line at once. On random pages every branch would be mispredicted half the time, and
//! chains or probes need several branches.

use drivelab_ftl::prefetch;

/// Places in a line.
const PLACES: usize = 16;

/// On average at most one in this many places is taken.
const SHARE: u64 = 4;

/// A place without a page. No drive has this many pages.
const VACANT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u32; PLACES]);

impl Line {
    /// The places that hold `page`, one bit each.
    #[inline(always)]
    fn places_of(&self, page: u32) -> u32 {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: every x86-64 processor has SSE2.
            unsafe { self.places_of_sse2(page) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.places_one_by_one(page)
    }

    #[cfg(any(test, not(target_arch = "x86_64")))]
    fn places_one_by_one(&self, page: u32) -> u32 {
        let places = self.0.iter().enumerate();
        places.fold(0, |found, (place, &held)| {
            found | u32::from(held == page) << place
        })
    }

    /// Compares four places with one instruction. The compiler does not find this form by itself.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "sse2")]
    #[inline]
    fn places_of_sse2(&self, page: u32) -> u32 {
        use std::arch::x86_64::{
            _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set_epi32,
            _mm_set1_epi32,
        };
        let wanted = _mm_set1_epi32(page as i32);
        let quarter = |first: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|place| self.0[first + place] as i32);
            _mm_cmpeq_epi32(_mm_set_epi32(d, c, b, a), wanted)
        };
        let lower = _mm_packs_epi32(quarter(0), quarter(4));
        let upper = _mm_packs_epi32(quarter(8), quarter(12));
        _mm_movemask_epi8(_mm_packs_epi16(lower, upper)) as u32
    }
}

/// How many copies of each logical page wait for their program.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    /// A power of two of lines.
    lines: Vec<Line>,
    shift: u32,
    spilled: Vec<u32>,
    /// Trimmed copies: they take space until their program, but hold no data.
    trimmed: Vec<u32>,
}

impl Copies {
    /// Room for at most `capacity` pages.
    pub fn new(capacity: u32) -> Self {
        let lines = (SHARE * u64::from(capacity) / PLACES as u64).next_power_of_two();
        Self {
            lines: vec![Line([VACANT; PLACES]); lines as usize],
            shift: u64::BITS - lines.trailing_zeros(),
            spilled: Vec::new(),
            trimmed: Vec::new(),
        }
    }

    /// The line of `page`.
    #[inline(always)]
    fn line_of(&self, page: u32) -> usize {
        // Fibonacci hashing (Knuth, volume 3, section 6.4).
        let mixed = u64::from(page).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed.unbounded_shr(self.shift) as usize & (self.lines.len() - 1)
    }

    /// Prefetches for `page`, which will soon be added or removed.
    #[inline(always)]
    pub fn prefetch(&self, page: u32) {
        prefetch(&self.lines, self.line_of(page));
    }

    /// Whether the buffer has the data of `page`.
    #[inline(always)]
    pub fn has(&self, page: u32) -> bool {
        self.lines[self.line_of(page)].places_of(page) != 0 || self.has_spilled(page)
    }

    #[inline(always)]
    fn has_spilled(&self, page: u32) -> bool {
        !self.spilled.is_empty() && self.spilled.contains(&page)
    }

    /// Adds a copy of `page`.
    #[inline(always)]
    pub fn add(&mut self, page: u32) {
        let line = self.line_of(page);
        let line = &mut self.lines[line];
        let vacant = line.places_of(VACANT);
        if vacant == 0 {
            return self.spill(page);
        }
        line.0[vacant.trailing_zeros() as usize % PLACES] = page;
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self, page: u32) {
        self.spilled.push(page);
    }

    /// Invalidates all copies of `page`.
    pub fn trim(&mut self, page: u32) {
        while self.take(page) {
            self.trimmed.push(page);
        }
    }

    /// The same for all pages of a range.
    pub fn trim_all(&mut self, pages: std::ops::Range<u32>) {
        let lines = self.lines.iter().flat_map(|line| line.0);
        let held = lines.chain(self.spilled.iter().copied());
        let found: Vec<u32> = held.filter(|page| pages.contains(page)).collect();
        for page in found {
            self.trim(page);
        }
    }

    /// Removes a copy of `page`.
    #[inline(always)]
    pub fn subtract(&mut self, page: u32) {
        if !self.trimmed.is_empty() && take_from(&mut self.trimmed, page) {
            return;
        }
        self.take(page);
    }

    /// Takes a copy of `page` out, if there is one.
    #[inline(always)]
    fn take(&mut self, page: u32) -> bool {
        let line = self.line_of(page);
        let line = &mut self.lines[line];
        let places = line.places_of(page);
        if places == 0 {
            return take_from(&mut self.spilled, page);
        }
        line.0[places.trailing_zeros() as usize % PLACES] = VACANT;
        true
    }
}

/// Removes one `page` from `pages`, if it is there.
#[cold]
#[inline(never)]
fn take_from(pages: &mut Vec<u32>, page: u32) -> bool {
    let place = pages.iter().position(|&held| held == page);
    place.map(|place| pages.swap_remove(place)).is_some()
}

#[cfg(test)]
mod tests {
    use super::{Copies, Line, PLACES};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_found_one_by_one(pages in prop::array::uniform16(0..4_u32)) {
            let line = Line(pages);
            for page in 0..5 {
                let expected = (0..PLACES).filter(|&place| pages[place] == page);
                let bits = expected.fold(0, |bits, place| bits | 1_u32 << place);
                prop_assert_eq!(line.places_of(page), bits);
                prop_assert_eq!(line.places_one_by_one(page), bits);
            }
        }

        #[test]
        fn copies_are_counted_as_in_a_list(
            capacity in 1..80_u32,
            steps in prop::collection::vec((0..5_u32, 0..60_u32), 0..400),
        ) {
            let mut copies = Copies::new(capacity);
            // Twice the capacity, so that lines spill.
            let most = 2 * capacity as usize;
            let mut list: Vec<u32> = Vec::new();
            let mut trimmed: Vec<u32> = Vec::new();
            let page_of = |number: u32| number.wrapping_mul(0x1357_9BDF);
            for (step, number) in steps {
                let page = page_of(number);
                if step == 0 {
                    copies.trim(page);
                    trimmed.extend(list.iter().filter(|&&held| held == page));
                    list.retain(|&held| held != page);
                } else if step < 3 && list.len() + trimmed.len() < most {
                    copies.add(page);
                    list.push(page);
                } else if let Some(place) = trimmed.iter().position(|&held| held == page) {
                    copies.subtract(page);
                    trimmed.swap_remove(place);
                } else if let Some(place) = list.iter().position(|&held| held == page) {
                    copies.subtract(page);
                    list.swap_remove(place);
                }
                for page in (0..60_u32).map(page_of) {
                    prop_assert_eq!(copies.has(page), list.contains(&page));
                }
            }
        }
    }
}
