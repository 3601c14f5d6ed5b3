//! The write buffer: pages that the host has handed over and that the flash
//! has not programmed yet.
//!
//! A page occupies the buffer from the moment its space is reserved until its
//! program completes. Pages go to the flash at once, in the order of arrival, unless
//! they are gathered first ([`crate::ssd::buffer::gathered`]).

pub mod copies;
pub mod flush;
pub mod gathered;
pub mod memory;
pub mod read_cache;

use crate::preset::{BufferPolicy, SsdConfig};
use crate::ssd::buffer::copies::Copies;
use crate::ssd::buffer::gathered::{Gathered, Marks};

/// What a buffer is like.
#[derive(Clone, Copy, Debug)]
pub(in crate::ssd) struct BufferSettings {
    /// Its size; 0 switches it off.
    pub pages: u32,
    /// A write is complete only when it is programmed.
    pub writes_through: bool,
    /// Capacitors carry its pages to the flash when the power is gone.
    pub survives_power_loss: bool,
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
            survives_power_loss: buffer.survives_power_loss,
            marks: Marks {
                start: pages(buffer.flush_start_bytes),
                stop: pages(buffer.flush_stop_bytes),
            },
        }
    }
}

#[derive(Clone, Debug)]
pub(in crate::ssd) struct WriteBuffer {
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
        self.waiting.prefetch(page);
    }

    /// Pages wait for others before they go to the flash.
    #[inline]
    pub fn gathers(&self) -> bool {
        self.settings.marks.start > 0
    }

    /// Pages go on to the flash at once, and writes are complete before.
    #[inline(always)]
    pub fn passes_on(&self) -> bool {
        self.settings.marks.start == 0 && !self.settings.writes_through
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

    /// Whether that data is gone when the power is.
    pub fn would_lose(&self, page: u32) -> bool {
        !self.settings.survives_power_loss && self.holds(page)
    }

    /// Pages that are taken, of how many.
    pub const fn fill(&self) -> (u32, u32) {
        (self.used, self.capacity)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}
