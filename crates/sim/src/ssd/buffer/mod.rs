//! The buffer room: the controller's memory, and what of the drive's data is in it.
//!
//! ```text
//!   writes ─> waiting for space ─> the write buffer ─> gathered ─> the flash ─> programmed
//!   reads  ─> the write buffer, the read cache, or coming from the flash ─> memory ─> host
//! ```
//!
//! A page occupies the write buffer from the moment its space is reserved until its
//! program completes. Pages go to the flash at once, in the order of arrival, unless
//! they are gathered first ([`gathered`]). The room knows slots and pages by their numbers alone.

mod copies;
mod flush;
mod gathered;
pub mod memory;
pub mod read_cache;

use crate::preset::{BufferPolicy, SsdConfig};
use crate::ssd::ring::Ring;
use copies::Copies;
use flush::Barriers;
use gathered::{Data, Gathered, Marks};

/// What a buffer is like.
#[derive(Clone, Copy, Debug)]
struct BufferSettings {
    /// Its size; 0 switches it off.
    pages: u32,
    /// A write is complete only when it is programmed.
    writes_through: bool,
    /// Capacitors carry its pages to the flash when the power is gone.
    survives_power_loss: bool,
    marks: Marks,
}

impl BufferSettings {
    fn new(config: &SsdConfig) -> Self {
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
pub struct WriteBuffer {
    settings: BufferSettings,
    capacity: u32,
    used: u32,
    waiting: Copies,
    gathered: Gathered,
    /// Pages that have been handed to the flash.
    in_flash: u32,
    /// Writes waiting for space, by their slots.
    blocked: Ring<u32>,
    /// Flushes that wait.
    barriers: Barriers,
}

impl WriteBuffer {
    /// An empty buffer.
    pub fn new(config: &SsdConfig) -> Self {
        Self::empty(BufferSettings::new(config))
    }

    pub fn reset(&mut self) {
        *self = Self::empty(self.settings);
    }

    fn empty(settings: BufferSettings) -> Self {
        let capacity = settings.pages;
        Self {
            settings,
            capacity,
            used: 0,
            waiting: Copies::new(capacity),
            gathered: Gathered::default(),
            in_flash: 0,
            blocked: Ring::default(),
            barriers: Barriers::new(),
        }
    }

    /// The write in `slot` needs space; answers whether it is the first that waits.
    pub fn wait(&mut self, slot: u32) -> bool {
        self.blocked.push(slot);
        self.blocked.len() == 1
    }

    /// The write that waits for space before all others.
    #[inline]
    pub fn first_blocked(&self) -> Option<u32> {
        self.blocked.front().copied()
    }

    /// It has its space; answers who waits next.
    #[inline]
    pub fn admit(&mut self) -> Option<u32> {
        self.blocked.pop();
        self.first_blocked()
    }

    /// A write is complete only when it is programmed, whatever its command says.
    pub fn writes_through(&self) -> bool {
        self.settings.writes_through
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

    /// The same of every page of a range.
    pub fn trim_all(&mut self, pages: std::ops::Range<u32>) {
        if self.used > 0 {
            self.waiting.trim_all(pages);
        }
    }

    /// So many pages that have arrived go to the flash, each for a command that waits for it.
    #[inline]
    pub fn hand_over(&mut self, pages: u32) {
        self.in_flash += pages;
    }

    /// The same of pages that a flush waits for; answers in which stretch between flushes.
    #[inline]
    pub fn hand_over_behind_flush(&mut self, pages: u32) -> u32 {
        self.in_flash += pages;
        self.barriers.hand_over(pages);
        self.barriers.open()
    }

    /// Such a page, of a stretch modulo `modulus`, is programmed: its space is free again.
    #[inline]
    pub fn flushed(&mut self, page: u32, stretch: u32, modulus: u32) {
        self.remove(page);
        self.barriers.programmed(stretch, modulus);
    }

    /// A flush: whether it has nothing to wait for.
    pub fn flush(&mut self, slot: u32) -> bool {
        self.barriers.flush(slot)
    }

    /// Takes the first flush that has nothing to wait for any more.
    #[inline]
    pub fn next_flushed(&mut self) -> Option<u32> {
        self.barriers.next_done()
    }

    /// Data of `page` has arrived and waits for others; answers whether it replaces what waited.
    pub fn gather(&mut self, page: u32, is_whole: bool, data: Data) -> bool {
        let replaces = self.gathered.put(page, is_whole, data);
        if replaces {
            // The space reserved for it is free.
            self.used -= 1;
        } else {
            self.insert(page);
        }
        replaces
    }

    /// Gathered data of `page` is worth nothing; answers, if there was any, whether it was whole.
    pub fn ungather(&mut self, page: u32) -> Option<bool> {
        let was_whole = self.gathered.remove(page)?;
        self.used -= 1;
        self.waiting.subtract(page);
        Some(was_whole)
    }

    /// Takes the gathered page that waits longest, if more than `left` wait.
    pub fn next_gathered(&mut self, left: u32) -> Option<(u32, bool, Data)> {
        (self.gathered.len() > left)
            .then(|| self.gathered.oldest())
            .flatten()
    }

    /// Whether any page is gathered.
    pub fn has_gathered(&self) -> bool {
        self.gathered.len() > 0
    }

    /// How many gathered pages are to be left, if so many wait that some must go.
    pub fn must_push(&self) -> Option<u32> {
        let Marks { start, stop } = self.settings.marks;
        (self.gathered.len() >= start).then_some(stop)
    }

    /// Until how many are left gathered pages go when a write finds no space.
    pub fn may_push(&self) -> Option<u32> {
        let stop = self.settings.marks.stop;
        (self.gathered.len() > stop).then_some(stop)
    }

    /// The program of logical page `page` is complete: its space is free again.
    #[inline]
    pub fn remove(&mut self, page: u32) {
        self.in_flash -= 1;
        self.used -= 1;
        self.waiting.subtract(page);
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
