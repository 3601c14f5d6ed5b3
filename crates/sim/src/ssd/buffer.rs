//! The write buffer: pages that the host has handed over and that the flash
//! has not programmed yet.
//!
//! A page occupies the buffer from the moment its space is reserved until its
//! program completes. Pages go to the flash at once, in the order of arrival, unless
//! they are gathered first ([`super::gathered`]).

use drivelab_ftl::prefetch;

use super::gathered::{Gathered, Marks};
use crate::preset::{BufferPolicy, SsdConfig};

/// Mark of copies that are trimmed.
const TRIMMED: u32 = 1 << 31;

/// Tables of fewer entries save nothing.
const LEAST_ENTRIES: u64 = 16;

/// What a buffer is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferSettings {
    /// Its size; 0 switches it off.
    pub pages: u32,
    /// A write is complete only when it is programmed.
    pub writes_through: bool,
    pub marks: Marks,
}

impl BufferSettings {
    pub fn new(config: &SsdConfig) -> Self {
        let buffer = &config.buffer;
        let page_bytes = u64::from(config.geometry.page_size_bytes);
        let pages = |bytes: u64| (bytes / page_bytes) as u32;
        Self {
            pages: pages(buffer.write_buffer_bytes),
            writes_through: buffer.policy == BufferPolicy::WriteThrough,
            marks: Marks {
                start: pages(buffer.flush_start_bytes),
                stop: pages(buffer.flush_stop_bytes),
            },
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct WriteBuffer {
    pub settings: BufferSettings,
    capacity: u32,
    used: u32,
    waiting: Copies,
    pub gathered: Gathered,
    /// Pages that have been handed to the flash.
    in_flash: u32,
}

impl WriteBuffer {
    /// An empty buffer.
    pub fn new(settings: BufferSettings) -> Self {
        let capacity = settings.pages;
        Self {
            settings,
            capacity,
            used: 0,
            waiting: Copies::new(capacity),
            gathered: Gathered::default(),
            in_flash: 0,
        }
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// Reserves space for a write that still needs `pages`. It gets all, or as
    /// many as are free if that is at least a quarter of the buffer, or none.
    #[inline]
    pub fn reserve(&mut self, pages: u32) -> u32 {
        let granted = pages.min(self.capacity - self.used);
        if granted < pages.min(self.capacity.div_ceil(4)) {
            return 0;
        }
        self.used += granted;
        granted
    }

    /// The data of logical page `page` has arrived.
    #[inline]
    pub fn insert(&mut self, page: u32) {
        self.waiting.add(page);
    }

    /// Logical page `page` is trimmed: what waits of it is worth nothing.
    pub fn trim(&mut self, page: u32) {
        self.waiting.trim(page);
    }

    /// So many pages that have arrived go to the flash.
    #[inline]
    pub fn hand_over(&mut self, pages: u32) {
        self.in_flash += pages;
    }

    /// The program of logical page `page` is complete: its space is free again.
    #[inline]
    pub fn remove(&mut self, page: u32) {
        self.in_flash -= 1;
        self.used -= 1;
        self.waiting.subtract(page);
    }

    /// Logical page `page`, which was gathered, goes without a program.
    pub fn drop_gathered(&mut self, page: u32) {
        self.used -= 1;
        self.waiting.subtract(page);
    }

    /// Data that arrived found its page gathered: the space reserved for it is free.
    pub fn release_one(&mut self) {
        self.used -= 1;
    }

    /// Hints that logical page `page` arrives or leaves soon.
    #[inline(always)]
    pub fn prefetch(&self, page: u32) {
        prefetch(&self.waiting.entries, self.waiting.home(page));
    }

    /// Pages wait for others before they go to the flash.
    #[inline]
    pub fn gathers(&self) -> bool {
        self.settings.marks.start > 0
    }

    /// Whatever has space waits for others: without a push nothing would ever be freed.
    pub fn is_stuck(&self) -> bool {
        self.in_flash == 0 && self.used == self.gathered.len() && self.used > 0
    }

    /// Whether the newest data of logical page `page` is still here.
    #[inline]
    pub fn holds(&self, page: u32) -> bool {
        self.used > 0 && self.waiting.has(page)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}

/// How many copies of each logical page wait for their program.
///
/// Open addressing with linear probing; at most half full. Removing moves the
/// entries behind into the gap (Knuth, volume 3, algorithm 6.4 R), so that the
/// table never needs cleaning.
#[derive(Clone, Debug)]
struct Copies {
    /// Page and copies, with a mark if they are trimmed; none where there are 0. A
    /// power of two of them.
    entries: Vec<(u32, u32)>,
    shift: u32,
}

impl Copies {
    fn new(capacity: u32) -> Self {
        let entries = (2 * u64::from(capacity)).next_power_of_two();
        let entries = if capacity == 0 {
            1
        } else {
            entries.max(LEAST_ENTRIES)
        };
        Self {
            entries: vec![(0, 0); entries as usize],
            shift: (u64::BITS - entries.trailing_zeros()).min(u64::BITS - 1),
        }
    }

    /// Where `page` is looked for first.
    #[inline]
    fn home(&self, page: u32) -> usize {
        // Fibonacci hashing (Knuth, volume 3, section 6.4).
        (u64::from(page).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize & self.mask()
    }

    #[inline]
    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    /// Where `page` is, or the gap where it would be.
    #[inline]
    fn find(&self, page: u32) -> usize {
        let mut place = self.home(page);
        loop {
            let (held, copies) = self.entries[place];
            if copies == 0 || held == page {
                return place;
            }
            place = (place + 1) & self.mask();
        }
    }

    #[inline]
    fn has(&self, page: u32) -> bool {
        (1..TRIMMED).contains(&self.entries[self.find(page)].1)
    }

    #[inline]
    fn add(&mut self, page: u32) {
        let place = self.find(page);
        let copies = (self.entries[place].1 & !TRIMMED) + 1;
        self.entries[place] = (page, copies);
    }

    fn trim(&mut self, page: u32) {
        let place = self.find(page);
        let copies = &mut self.entries[place].1;
        if *copies > 0 {
            *copies |= TRIMMED;
        }
    }

    #[inline]
    fn subtract(&mut self, page: u32) {
        let mut gap = self.find(page);
        let copies = self.entries[gap].1;
        if copies & !TRIMMED != 1 {
            self.entries[gap].1 = copies.saturating_sub(1);
            return;
        }
        let mask = self.mask();
        let mut place = gap;
        loop {
            place = (place + 1) & mask;
            let (held, copies) = self.entries[place];
            if copies == 0 {
                break;
            }
            // It may move to the gap unless that lies before its home.
            let from_home = place.wrapping_sub(self.home(held)) & mask;
            if from_home >= place.wrapping_sub(gap) & mask {
                self.entries[gap] = (held, copies);
                gap = place;
            }
        }
        self.entries[gap] = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::Copies;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn copies_are_counted_as_in_a_list(
            capacity in 1..40_u32,
            steps in prop::collection::vec((0..5_u32, 0..60_u32), 0..400),
        ) {
            let mut copies = Copies::new(capacity);
            let mut list: Vec<u32> = Vec::new();
            let mut trimmed = Vec::new();
            for (step, page) in steps {
                let page = page.wrapping_mul(0x1357_9BDF);
                if step == 0 {
                    copies.trim(page);
                    trimmed.push(page);
                } else if step < 3 && list.len() < capacity as usize {
                    trimmed.retain(|&given_up| given_up != page);
                    copies.add(page);
                    list.push(page);
                } else if let Some(place) = list.iter().position(|&held| held == page) {
                    copies.subtract(page);
                    list.swap_remove(place);
                }
                for page in (0..60_u32).map(|page| page.wrapping_mul(0x1357_9BDF)) {
                    let is_valid = list.contains(&page) && !trimmed.contains(&page);
                    prop_assert_eq!(copies.has(page), is_valid);
                }
            }
        }
    }
}
