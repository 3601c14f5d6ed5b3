//! The way from the write buffer to the flash, and what waits for its end.
//!
//! Some slots are kept free, so that a write finds one: when fewer are, those used longest
//! ago are flushed. A flush of the host, or a write that is to be forced, is a barrier: it
//! is done when all that came before is on the flash.

use drivelab_ftl::{Action, Firmware, Lpn, PageRun};

use super::read::{DIE_DEPTH, Fetch};
use super::{Server, Step, overflowed};
use crate::buffer::{ReadState, Waiter, WriteState};
use crate::collection_steps;
use crate::error::RunError;
use crate::flash::{FlashCommand, Purpose};
use crate::nvme::Status;
use crate::records::Counter;

/// A command that waits until everything before it is on the flash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    context: u16,
    then: u64,
}

impl Server<'_> {
    /// The command is done when everything that was written before is on the flash.
    pub(super) fn wait_for_flush(&mut self, context: u16) {
        let then = self.write.now();
        if self.write.is_clean_until(then) {
            self.done(context, Status::SUCCESS);
        } else {
            self.barriers.push_back(Barrier { context, then });
        }
    }

    /// Flushes until enough slots are free or will be, and what barriers wait for.
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

    /// Gets the rest of a page that was written in part.
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
        let plane = self.shared.plane_of(logical);
        let die = &self.shared.dies[plane as usize];
        if die.waiting() >= DIE_DEPTH {
            return Ok(Step::Waits);
        }
        let lock = &self.shared.locks[plane as usize];
        let guard = lock.take(plane as usize, self.counters);
        if !self.map.has_room_for_host(plane) {
            drop(guard);
            // The host waits for collection, which is told to hurry.
            collection_steps::owe(self.shared, plane, collection_steps::URGENT);
            return Ok(Step::Waits);
        }
        self.counters.add(Counter::MapLookups, 1);
        self.operations.clear();
        let page = Lpn(logical);
        match self.map.write_one(page) {
            Some(operation) => {
                self.operations.push(operation);
            }
            None => {
                let run = PageRun::whole(Action::Write, page, 1);
                self.map.submit(&[run], &mut self.operations)?;
            }
        }
        let mut is_queued = true;
        for operation in self.operations.operations() {
            let command = FlashCommand::of(operation, Purpose::Flush, self.index, slot);
            is_queued &= die.put(command, self.counters);
        }
        drop(guard);
        if !is_queued {
            return Err(overflowed(plane));
        }
        self.write.flushing(slot);
        // What was read before to fill the page up is old now.
        self.read.invalidate(logical);
        collection_steps::owe(self.shared, plane, collection_steps::PER_WRITE);
        Ok(Step::Taken)
    }

    /// The flash has programmed a slot.
    pub(super) fn slot_is_flushed(&mut self, slot: u16) {
        self.write.release(slot);
        self.end_barriers();
    }

    /// Ends the commands that wait for no slot any more: whatever releases a slot that holds
    /// data of the host, the flash or a trim, calls this.
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
