//! The path from the write buffer to the flash, and what waits for its end.
//!
//! Some slots are kept free so that a write finds one. When there are fewer, the least recently
//! used slots are flushed. A host flush or a forced write is a barrier: it is done when everything
//! that came before is on the flash.

use super::Server;
use super::read::Fetch;
use crate::buffer::{ReadState, Waiter, WriteState};
use crate::error::RunError;
use crate::mapping::{Mapping, Step};
use crate::nvme::Status;
use crate::records::Counter;

/// A command that waits until everything before it is on the flash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    context: u16,
    then: u64,
}

impl<M: Mapping> Server<'_, M> {
    /// The command is done when everything written before is on the flash.
    pub(super) fn wait_for_flush(&mut self, context: u16) {
        let then = self.write.now();
        if self.write.is_clean_until(then) {
            self.done(context, Status::SUCCESS);
        } else {
            self.barriers.push_back(Barrier { context, then });
        }
    }

    /// Flushes until enough slots are free or will be, and until barriers are satisfied.
    pub(super) fn flush(&mut self) -> Result<bool, RunError> {
        let slots = self.write.slots.len();
        let keep_free = (slots / 8).max(1);
        let mut did = false;
        while self.write.dirty() > slots - keep_free {
            let Some(slot) = self.write.next_dirty(None) else {
                break;
            };
            if self.flush_slot(slot)? == Step::Waits {
                return Ok(did);
            }
            did = true;
        }
        if let Some(last) = self.barriers.back() {
            let then = last.then;
            while let Some(slot) = self.write.next_dirty(Some(then)) {
                if self.flush_slot(slot)? == Step::Waits {
                    return Ok(did);
                }
                did = true;
            }
        }
        Ok(did)
    }

    /// Takes a dirty slot one step towards the flash.
    pub(super) fn flush_slot(&mut self, slot: u16) -> Result<Step, RunError> {
        if self.write.mask(slot) == u32::MAX {
            self.program_slot(slot)
        } else {
            self.fill_slot(slot)
        }
    }

    /// Gets the rest of a partly written page.
    fn fill_slot(&mut self, slot: u16) -> Result<Step, RunError> {
        let logical = self.write.slots.page(slot);
        let read = match self.read.slots.find(logical) {
            Some(read) if self.read.state(read) == ReadState::Filled => {
                let copied = self.write.fill(slot, Some(self.read.data(read)));
                self.counters.add(Counter::CopiedBytes, copied as u64);
                return Ok(Step::Taken);
            }
            Some(read) => read,
            None => match self.fetch(logical)? {
                Fetch::Slot(read) => {
                    self.counters.add(Counter::FillReads, 1);
                    read
                }
                Fetch::Nowhere => {
                    let copied = self.write.fill(slot, None);
                    self.counters.add(Counter::CopiedBytes, copied as u64);
                    return Ok(Step::Taken);
                }
                Fetch::Waits => return Ok(Step::Waits),
            },
        };
        self.read.wait(read, Waiter::Write(slot));
        self.write.set_state(slot, WriteState::Filling);
        Ok(Step::Taken)
    }

    fn program_slot(&mut self, slot: u16) -> Result<Step, RunError> {
        let logical = self.write.slots.page(slot);
        let desk = self.desk();
        if !self.map.is_ready(desk, logical) || self.map.write(desk, logical, slot)? == Step::Waits
        {
            return Ok(Step::Waits);
        }
        self.write.flushing(slot);
        // The copy read before to complete the page is old now.
        self.read.invalidate(logical);
        Ok(Step::Taken)
    }

    /// The flash has programmed a slot.
    pub(super) fn slot_is_flushed(&mut self, slot: u16) {
        self.write.release(slot);
        self.end_barriers();
    }

    /// Ends the commands that need wait for no slot any more. Call it after releasing any slot with
    /// data of the host, because of the flash or a trim.
    pub(super) fn end_barriers(&mut self) {
        while let Some(&barrier) = self.barriers.front() {
            if !self.write.is_clean_until(barrier.then) {
                break;
            }
            self.barriers.pop_front();
            self.done(barrier.context, Status::SUCCESS);
        }
    }
}
