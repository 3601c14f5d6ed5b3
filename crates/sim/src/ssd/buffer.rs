//! The write buffer: pages that the host has handed over and that the flash
//! has not programmed yet.
//!
//! A page occupies the buffer from the moment its space is reserved until its
//! program completes. Pages go to the flash at once, in the order of arrival;
//! overwriting a page that still waits is not merged with it.

use rustc_hash::FxHashMap;

#[derive(Clone, Debug)]
pub(super) struct WriteBuffer {
    capacity: u32,
    used: u32,
    /// How many copies of a logical page wait for their program. Only looked
    /// up, never walked: its order cannot matter.
    waiting: FxHashMap<u32, u32>,
}

impl WriteBuffer {
    /// A buffer of `capacity` pages; 0 switches it off.
    pub fn new(capacity: u32) -> Self {
        let mut waiting = FxHashMap::default();
        waiting.reserve(2 * capacity.min(1 << 12) as usize);
        Self {
            capacity,
            used: 0,
            waiting,
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
        *self.waiting.entry(page).or_insert(0) += 1;
    }

    /// The program of logical page `page` is complete: its space is free again.
    #[inline]
    pub fn remove(&mut self, page: u32) {
        self.used -= 1;
        if let Some(copies) = self.waiting.get_mut(&page) {
            *copies -= 1;
            if *copies == 0 {
                self.waiting.remove(&page);
            }
        }
    }

    /// Whether the newest data of logical page `page` is still here.
    #[inline]
    pub fn holds(&self, page: u32) -> bool {
        !self.waiting.is_empty() && self.waiting.contains_key(&page)
    }

    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}
