//! How space is won back: the live parts of a victim are packed again.
//!
//! A flash page is read once for everything live in it. Moved pages wait for others of their size,
//! like the host's pages but separate from them. The victim is erased although some of its data may
//! still wait in the controller.

use super::{CompressedMap, Extent, Filled, Origin};
use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind};
use crate::space::Victim;
use crate::{FirmwareError, NOTHING, Pace, Ppn};

impl<M: Memory> CompressedMap<M> {
    /// Called before the host's next block is opened: collects until the reserve is complete
    /// (paced: until one block is left for collection itself).
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(
        &mut self,
        plane: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        while match self.policies.pages.pace {
            Pace::WholeBlock => self.space.wants_collection(plane),
            Pace::Paced | Pace::Adaptive => self.space.free_blocks(plane) <= 1,
        } {
            let victim = match self.space.victim(plane) {
                Some(victim) => victim,
                None => self
                    .space
                    .choose_victim(plane)
                    .ok_or(FirmwareError::NoSpace { plane })?,
            };
            self.collect(plane, victim, u32::MAX, request, out)?;
        }
        Ok(())
    }

    /// Paced collection: the moves that one host program owes.
    pub(super) fn collect_a_little(
        &mut self,
        plane: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let Some(victim) = self.space.wanted_victim(plane) else {
            // If no space can be won now, `make_room` decides when it must be.
            return Ok(());
        };
        // The debt is counted in slots, and one program wrote a page of slots.
        let slots = (0..1 << self.whole).map(|_| self.space.moves_due(plane));
        let slots = slots.sum();
        self.collect(plane, victim, slots, request, out)
    }

    /// Moves at least `most` live slots of `victim`, in whole flash pages, and erases it when it
    /// holds none any more.
    fn collect(
        &mut self,
        plane: u32,
        victim: Victim,
        most: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let block_slots = self.space.pages_per_block();
        let first = victim.block * block_slots;
        let operation = Operation {
            kind: OperationKind::Read,
            cause: victim.cause,
            plane,
            ppn: self.page_of(first),
            lpn: NOTHING,
            after: NOTHING,
            request,
        };
        let (mut moved, mut from) = (0, victim.page);
        while moved < most && from < block_slots {
            moved += self.move_page(first + from, operation, out)?;
            from += 1 << self.whole;
        }
        self.space.advance_victim(plane, from);
        if self.space.valid.count(victim.block) == 0 {
            out.push(Operation {
                kind: OperationKind::Erase,
                ..operation
            });
            out.counts.collections += u64::from(victim.cause == Cause::Collection);
            self.space.finish_victim(plane);
            self.space.give_back(plane, victim.block);
        }
        Ok(())
    }

    /// Moves what is live in the flash page whose first slot is `first`. The operations are
    /// modelled on `operation`. Returns the number of slots.
    fn move_page(
        &mut self,
        first: u32,
        mut operation: Operation,
        out: &mut OperationBuffer,
    ) -> Result<u32, FirmwareError> {
        let (mut slot, mut moved) = (first, 0);
        operation.ppn = Ppn(first >> self.whole);
        while slot < first + (1 << self.whole) {
            if !self.space.valid.holds(slot) {
                slot += 1;
                continue;
            }
            let logical = self.owner.get(slot as usize);
            let entry = self.map.get(logical as usize);
            let size = Extent::of(entry).map_or(0, |extent| extent.size);
            if operation.after == NOTHING {
                operation.after = out.push(Operation {
                    lpn: logical,
                    ..operation
                });
            }
            self.forget(logical, entry);
            *out.counts.moves_for(operation.cause) += 1;
            let filled = Filled {
                plane: operation.plane,
                origin: Origin::Collection,
                size,
                logical,
                operation,
            };
            if size == self.whole || self.wait(filled.plane, filled.origin, size, logical) {
                self.program(filled, out)?;
            }
            slot += 1 << size;
            moved += 1 << size;
        }
        Ok(moved)
    }
}
