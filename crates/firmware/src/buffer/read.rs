//! The read buffer: pages from the flash wait here for whoever asked, and stay until their slot is
//! needed.

use crate::buffer::Slots;
use crate::geometry::PAGE_BYTES;
use crate::segment::Segment;

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadState {
    /// Its page is being read.
    Filling,
    /// It holds its page.
    Filled,
}

/// Who waits for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// The host.
    Host(Segment),
    /// A slot of the write buffer that was written in part.
    Write(u16),
}

/// The slots and their content.
#[derive(Debug)]
pub struct ReadBuffer {
    /// Which slot holds which page.
    pub slots: Slots,
    states: Vec<ReadState>,
    waiters: Vec<Vec<Waiter>>,
    data: Vec<u8>,
}

impl ReadBuffer {
    /// `slots` free slots.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self {
            slots: Slots::new(slots),
            states: vec![ReadState::Filled; slots],
            waiters: (0..slots).map(|_| Vec::with_capacity(4)).collect(),
            data: vec![0; slots * PAGE_BYTES],
        }
    }

    /// The state of a slot that is not free.
    #[inline]
    #[must_use]
    pub fn state(&self, slot: u16) -> ReadState {
        self.states[usize::from(slot)]
    }

    /// The bytes of a slot.
    #[inline]
    #[must_use]
    pub fn data(&self, slot: u16) -> &[u8] {
        &self.data[usize::from(slot) * PAGE_BYTES..][..PAGE_BYTES]
    }

    /// A slot for `page`, which no slot holds: a free one, or that of the least recently used page.
    /// `None` if every page is still being read.
    pub fn slot_for(&mut self, page: u32) -> Option<u16> {
        if self.slots.free() == 0 {
            let oldest = self
                .slots
                .oldest(|slot| self.states[usize::from(slot)] == ReadState::Filled)?;
            self.slots.release(oldest);
        }
        let slot = self.slots.take(page)?;
        self.states[usize::from(slot)] = ReadState::Filling;
        Some(slot)
    }

    /// `waiter` waits for the page of a slot.
    pub fn wait(&mut self, slot: u16, waiter: Waiter) {
        self.waiters[usize::from(slot)].push(waiter);
    }

    /// The page of a slot has arrived. Returns who waits for it. [`ReadBuffer::give_back`] takes
    /// the list back.
    pub fn filled(&mut self, slot: u16) -> Vec<Waiter> {
        self.states[usize::from(slot)] = ReadState::Filled;
        std::mem::take(&mut self.waiters[usize::from(slot)])
    }

    /// The list of a slot is empty again. A slot that is not found any more becomes free.
    pub fn give_back(&mut self, slot: u16, mut waiters: Vec<Waiter>) {
        waiters.clear();
        self.waiters[usize::from(slot)] = waiters;
        if !self.slots.is_found(slot) {
            self.slots.release(slot);
        }
    }

    /// The flash's data of `page` is no longer the newest.
    pub fn invalidate(&mut self, page: u32) {
        let Some(slot) = self.slots.find(page) else {
            return;
        };
        match self.state(slot) {
            ReadState::Filled => self.slots.release(slot),
            // Whoever waits for it asked before this; afterwards the slot is free.
            ReadState::Filling => self.slots.hide(slot),
        }
    }
}
