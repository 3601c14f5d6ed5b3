//! The controller's memory and the data in it.
//!
//! ```text
//!   writes ─> waiting for space ─> the write buffer ─> gathered ─> the flash ─> programmed
//!   reads  ─> the write buffer, the read cache, or coming from the flash ─> memory ─> host
//! ```
//!
//! A page occupies the write buffer from the reservation of its space until its program completes.
//! Pages go to the flash at once, in order of arrival, unless they are gathered first
//! ([`gathered`]). This module knows slots and pages only by their numbers.

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

/// The settings of a buffer.
#[derive(Clone, Copy, Debug)]
struct BufferSettings {
    /// Its size; 0 switches it off.
    pages: u32,
    /// Writes complete only when they are programmed.
    writes_through: bool,
    /// Capacitors let it write its pages to the flash after a power loss.
    survives_power_loss: bool,
    /// Flushes and forced writes do not wait for programs.
    flush_at_once: bool,
    /// Writes up to this size are taken whole.
    atomic_bytes: u64,
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
            flush_at_once: buffer.flush_at_once,
            atomic_bytes: config.host.atomic_write_bytes,
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
    /// Pages handed to the flash.
    in_flash: u32,
    /// Slots of writes that wait for space.
    blocked: Ring<u32>,
    /// Waiting flushes.
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

    /// The write in `slot` needs space. Returns whether it is the first in line.
    pub fn wait(&mut self, slot: u32) -> bool {
        self.blocked.push(slot);
        self.blocked.len() == 1
    }

    /// The first write in line for space.
    #[inline]
    pub fn first_blocked(&self) -> Option<u32> {
        self.blocked.front().copied()
    }

    /// The first write in line got its space. Returns the next in line.
    #[inline]
    pub fn admit(&mut self) -> Option<u32> {
        self.blocked.pop();
        self.first_blocked()
    }

    /// Whether every write completes only when it is programmed, whatever its command says.
    pub fn writes_through(&self) -> bool {
        self.settings.writes_through
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.capacity > 0
    }

    /// Reserves space for a write of `size_bytes` that still needs `pages`. It gets all of them; or
    /// the free ones, if those are at least a quarter of the buffer and the write is not atomic; or
    /// none.
    #[inline]
    pub fn reserve(&mut self, pages: u32, size_bytes: u32) -> u32 {
        let granted = pages.min(self.capacity - self.used);
        if granted < pages
            && (granted < self.capacity.div_ceil(4)
                || u64::from(size_bytes) <= self.settings.atomic_bytes)
        {
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

    /// Logical page `page` was trimmed: its waiting data is invalid.
    pub fn trim(&mut self, page: u32) {
        self.waiting.trim(page);
    }

    /// The same for every page of a range.
    pub fn trim_all(&mut self, pages: std::ops::Range<u32>) {
        if self.used > 0 {
            self.waiting.trim_all(pages);
        }
    }

    /// Pages that have arrived go to the flash; for each of them a command waits.
    #[inline]
    pub fn hand_over(&mut self, pages: u32) {
        self.in_flash += pages;
    }

    /// The same for pages that flushes wait for. Returns the stretch between flushes that they
    /// belong to.
    #[inline]
    pub fn hand_over_behind_flush(&mut self, pages: u32) -> u32 {
        self.in_flash += pages;
        self.barriers.hand_over(pages);
        self.barriers.open()
    }

    /// Such a page, of a stretch modulo `modulus`, was programmed: its space is free again.
    #[inline]
    pub fn flushed(&mut self, page: u32, stretch: u32, modulus: u32) {
        self.remove(page);
        self.barriers.programmed(stretch, modulus);
    }

    /// A flush arrives. Returns whether it can complete at once.
    pub fn flush(&mut self, slot: u32) -> bool {
        self.barriers.flush(slot)
    }

    /// Takes the first flush that has nothing left to wait for.
    #[inline]
    pub fn next_flushed(&mut self) -> Option<u32> {
        self.barriers.next_done()
    }

    /// Data of `page` has arrived and gathers with others. Returns whether it replaces waiting
    /// data.
    pub fn gather(&mut self, page: u32, is_whole: bool, data: Data) -> bool {
        let replaces = self.gathered.put(page, is_whole, data);
        if replaces {
            // The space reserved for it is free again.
            self.used -= 1;
        } else {
            self.insert(page);
        }
        replaces
    }

    /// Gathered data of `page` became invalid. If there was any, returns whether it was whole.
    pub fn ungather(&mut self, page: u32) -> Option<bool> {
        let was_whole = self.gathered.remove(page)?;
        self.used -= 1;
        self.waiting.subtract(page);
        Some(was_whole)
    }

    /// Takes the oldest gathered page, if more than `left` wait.
    pub fn next_gathered(&mut self, left: u32) -> Option<(u32, bool, Data)> {
        (self.gathered.len() > left)
            .then(|| self.gathered.oldest())
            .flatten()
    }

    /// Whether any page is gathered.
    pub fn has_gathered(&self) -> bool {
        self.gathered.len() > 0
    }

    /// If so many pages wait that some must go: how many should be left.
    pub fn must_push(&self) -> Option<u32> {
        let Marks { start, stop } = self.settings.marks;
        (self.gathered.len() >= start).then_some(stop)
    }

    /// How many gathered pages should be left when a write finds no space.
    pub fn may_push(&self) -> Option<u32> {
        let stop = self.settings.marks.stop;
        (self.gathered.len() > stop).then_some(stop)
    }

    /// The program of logical page `page` completed: its space is free again.
    #[inline]
    pub fn remove(&mut self, page: u32) {
        self.in_flash -= 1;
        self.used -= 1;
        self.waiting.subtract(page);
    }

    /// Prefetches for logical page `page`, which will soon be added or removed.
    #[inline(always)]
    pub fn prefetch(&self, page: u32) {
        self.waiting.prefetch(page);
    }

    /// Whether pages gather before they go to the flash.
    #[inline]
    pub fn gathers(&self) -> bool {
        self.settings.marks.start > 0
    }

    /// Whether pages go to the flash at once and writes complete before that.
    #[inline(always)]
    pub fn passes_on(&self) -> bool {
        self.settings.marks.start == 0 && !self.settings.writes_through
    }

    /// Whether every page that has space is gathered, so that nothing becomes free without a push.
    pub fn is_stuck(&self) -> bool {
        self.in_flash == 0 && self.used == self.gathered.len() && self.used > 0
    }

    /// Whether the newest data of logical page `page` is still in the buffer.
    #[inline]
    pub fn holds(&self, page: u32) -> bool {
        self.used > 0 && self.waiting.has(page)
    }

    /// Whether a power loss would destroy that data.
    pub fn would_lose(&self, page: u32) -> bool {
        !self.settings.survives_power_loss && self.holds(page)
    }

    /// Whether its contents are as safe as the flash, so that flushes and forced writes need not
    /// wait for programs.
    #[inline]
    pub const fn keeps_all(&self) -> bool {
        self.settings.flush_at_once
    }

    /// Pages in use, and pages in all.
    pub const fn fill(&self) -> (u32, u32) {
        (self.used, self.capacity)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}
