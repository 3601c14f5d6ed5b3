//! The write buffer: host writes stay here until their slot is needed.
//!
//! ```text
//!   free ──> dirty ─────────────────> flushing ──> free
//!              └──> filling ──> dirty ──┘
//! ```
//!
//! A partly written page is completed from the flash before it is flushed. A slot that is being
//! flushed still answers reads; new host writes to its page take another slot.

use crate::buffer::{Slots, runs};
use crate::geometry::PAGE_BYTES;

/// The state of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// It holds data that the flash does not have.
    Dirty,
    /// The rest of its page is being read.
    Filling,
    /// It is being programmed.
    Flushing,
}

/// The slots and their content.
#[derive(Debug)]
pub struct WriteBuffer {
    /// Which slot holds which page.
    pub slots: Slots,
    states: Vec<WriteState>,
    /// For every slot, the sectors that it holds.
    masks: Vec<u32>,
    /// For every slot, when its oldest data came, as a number of writes.
    since: Vec<u64>,
    data: Vec<u8>,
    writes: u64,
    dirty: usize,
}

impl WriteBuffer {
    /// `slots` free slots.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self {
            slots: Slots::new(slots),
            states: vec![WriteState::Dirty; slots],
            masks: vec![0; slots],
            since: vec![0; slots],
            data: vec![0; slots * PAGE_BYTES],
            writes: 0,
            dirty: 0,
        }
    }

    /// The state of a slot that is not free.
    #[inline]
    #[must_use]
    pub fn state(&self, slot: u16) -> WriteState {
        self.states[usize::from(slot)]
    }

    /// Sets the state of a slot.
    pub fn set_state(&mut self, slot: u16, state: WriteState) {
        self.states[usize::from(slot)] = state;
    }

    /// The sectors that a slot holds.
    #[inline]
    #[must_use]
    pub fn mask(&self, slot: u16) -> u32 {
        self.masks[usize::from(slot)]
    }

    /// The bytes of a slot.
    #[inline]
    #[must_use]
    pub fn data(&self, slot: u16) -> &[u8] {
        &self.data[usize::from(slot) * PAGE_BYTES..][..PAGE_BYTES]
    }

    /// The same for writing.
    #[inline]
    pub fn data_mut(&mut self, slot: u16) -> &mut [u8] {
        &mut self.data[usize::from(slot) * PAGE_BYTES..][..PAGE_BYTES]
    }

    /// A slot for coming data of `page`, and whether it already held the page. `None` if none is
    /// free.
    pub fn slot_for(&mut self, page: u32) -> Option<(u16, bool)> {
        if let Some(slot) = self.slots.find(page) {
            if self.state(slot) != WriteState::Flushing {
                self.slots.touch(slot);
                return Some((slot, true));
            }
            if self.slots.free() == 0 {
                return None;
            }
            self.slots.hide(slot);
        }
        let slot = self.slots.take(page)?;
        let place = usize::from(slot);
        self.states[place] = WriteState::Dirty;
        self.masks[place] = 0;
        self.since[place] = self.writes;
        self.dirty += 1;
        Some((slot, false))
    }

    /// The sectors `mask` have been written to a slot.
    #[inline]
    pub fn wrote(&mut self, slot: u16, mask: u32) {
        self.masks[usize::from(slot)] |= mask;
        self.writes += 1;
    }

    /// Slots with data that the flash does not have and that is not being flushed.
    #[must_use]
    pub fn dirty(&self) -> usize {
        self.dirty
    }

    /// A slot is being flushed.
    pub fn flushing(&mut self, slot: u16) {
        self.set_state(slot, WriteState::Flushing);
        self.dirty -= 1;
    }

    /// The data of a slot was given up, or is on the flash.
    pub fn release(&mut self, slot: u16) {
        if self.state(slot) != WriteState::Flushing {
            self.dirty -= 1;
        }
        self.slots.release(slot);
    }

    /// The number of the next write.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.writes
    }

    /// Whether everything written before `then` is on the flash.
    #[must_use]
    pub fn is_clean_until(&self, then: u64) -> bool {
        self.slots
            .held()
            .all(|slot| self.since[usize::from(slot)] >= then)
    }

    /// The slot to flush next. If `then` is given, only slots from before it.
    #[must_use]
    pub fn next_dirty(&self, then: Option<u64>) -> Option<u16> {
        self.slots.oldest(|slot| {
            self.state(slot) == WriteState::Dirty
                && then.is_none_or(|then| self.since[usize::from(slot)] < then)
        })
    }

    /// Adds the sectors of `page` that the host has not written to the slot. Returns the bytes.
    pub fn fill(&mut self, slot: u16, page: Option<&[u8]>) -> usize {
        let missing = !self.mask(slot);
        let mut copied = 0;
        for run in runs(missing) {
            copied += run.len();
            let into = &mut self.data_mut(slot)[run.clone()];
            match page.and_then(|page| page.get(run)) {
                Some(page) => into.copy_from_slice(page),
                None => into.fill(0),
            }
        }
        self.masks[usize::from(slot)] = u32::MAX;
        copied
    }
}
