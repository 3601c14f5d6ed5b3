//! Folding: moving data from the SLC blocks to the dense ones.

use std::ops::Range;

use super::{Ring, SlcMap};
use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind};
use crate::space::Frontier;
use crate::{FirmwareError, IdleTime, NOTHING, Pace, Ppn};

impl<M: Memory> SlcMap<M> {
    /// Folds as much of the oldest full block of `plane` as a write needs to find a place. If
    /// paced, the last block's worth of free places is used up while the oldest block is folded:
    ///
    /// ```text
    ///   free before the write       n-1  n-2  ...  2  1      n places a block
    ///   of the oldest block left    n-2  n-3  ...  1  0, erased
    /// ```
    #[cold]
    #[inline(never)]
    pub(super) fn fold_for_a_write(
        &mut self,
        plane: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        // Pages read in idle time are read again.
        self.set_ring(plane, Ring::Held, 0);
        let free = self.places() - self.ring(plane, Ring::Used);
        let first = self.ring(plane, Ring::Fold);
        let end = (self.by_pages.quotient(first) + 1) * self.pages;
        let is_whole = self.dense.policies.pace == Pace::WholeBlock || free == 0;
        let count = if is_whole {
            end - first
        } else {
            (end - first).div_ceil(free)
        };
        self.fold_places(plane, first..first + count, request, out)?;
        if first + count == end {
            let erase = self.erase_folded(plane, end - 1, request);
            out.push(erase);
        } else {
            self.set_ring(plane, Ring::Fold, first + count);
        }
        Ok(())
    }

    /// Copies the newest data among `places` to the dense blocks.
    fn fold_places(
        &mut self,
        plane: u32,
        places: Range<u32>,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        for place in places {
            let Some(logical) = self.newest_at(plane, place) else {
                continue;
            };
            if self.dense.space.pages_left(plane, Frontier::Host) == 0 {
                let before = out.operations().len();
                self.dense.make_room(plane, request, out)?;
                self.renumber(before, request, out);
            }
            let at = (plane, place);
            let read = out.push(self.slc_operation(
                OperationKind::Read,
                Cause::Fold,
                at,
                logical,
                request,
            ));
            let program = self
                .dense_program(plane, logical, request)
                .ok_or(FirmwareError::NoSpace { plane })?;
            out.push(Operation {
                after: read,
                ..program
            });
            if self.dense.policies.pace.is_spread() {
                let before = out.operations().len();
                self.dense.collect_a_little(plane, request, out)?;
                self.renumber(before, request, out);
            }
        }
        Ok(())
    }

    /// The program that folds a page, on a dense block with space.
    fn dense_program(&mut self, plane: u32, logical: u32, request: u32) -> Option<Operation> {
        let Ppn(new) = self.dense.space.next_page(plane, Frontier::Host)?;
        self.dense.occupy(new, logical);
        self.place_of.set(logical as usize, 0);
        Some(Operation {
            kind: OperationKind::Program,
            cause: Cause::Fold,
            plane,
            ppn: Ppn(new + self.dense_offset(plane)),
            lpn: logical,
            after: NOTHING,
            request,
        })
    }

    /// Erases the block whose last place is `last`: it is empty.
    fn erase_folded(&mut self, plane: u32, last: u32, request: u32) -> Operation {
        let block = self.by_pages.quotient(last);
        let next = if last + 1 == self.places() {
            0
        } else {
            last + 1
        };
        self.set_ring(plane, Ring::Fold, next);
        let used = self.ring(plane, Ring::Used);
        self.set_ring(plane, Ring::Used, used - self.pages);
        let counter = (plane * self.blocks + block) as usize;
        let erases = self.erases.get(counter);
        self.erases.set(counter, erases.saturating_add(1));
        let at = (plane, block * self.pages);
        self.slc_operation(OperationKind::Erase, Cause::Fold, at, NOTHING, request)
    }

    /// Appends what can be done in the offered idle time.
    pub(super) fn work_in_background(&mut self, offer: &IdleTime<'_>, out: &mut OperationBuffer) {
        let planes = self.layout.planes;
        let turn_word = planes as usize * super::RING_WORDS;
        for _ in 0..offer.budget {
            let turn = self.rings.get(turn_word) % planes;
            let working = (turn..planes)
                .chain(0..turn)
                .filter(|&plane| (offer.is_free)(plane))
                .find_map(|plane| Some((plane, self.background_step(plane, out)?)));
            let Some((plane, operation)) = working else {
                return;
            };
            self.rings.set(turn_word, (plane + 1) % planes);
            out.push(operation);
        }
    }

    /// The next operation of a plane, if it has work to do.
    fn background_step(&mut self, plane: u32, out: &mut OperationBuffer) -> Option<Operation> {
        let reserve = self.layout.reserve_blocks;
        let space = &self.dense.space;
        if space.pages_left(plane, Frontier::Host) == 0 && space.free_blocks(plane) <= reserve {
            return self.dense_step(plane, out);
        }
        let held = self.ring(plane, Ring::Held);
        if held > 0 {
            self.set_ring(plane, Ring::Held, 0);
            if let Some(logical) = self.newest_at(plane, held - 1) {
                return self.dense_program(plane, logical, 0);
            }
        }
        // Only full blocks.
        let first = self.ring(plane, Ring::Fold);
        let in_block = first - self.by_pages.quotient(first) * self.pages;
        if self.ring(plane, Ring::Used) < self.pages {
            return self.dense_step(plane, out);
        }
        let end = first - in_block + self.pages;
        let next = (first..end).find(|&place| self.newest_at(plane, place).is_some());
        let Some(place) = next else {
            return Some(self.erase_folded(plane, end - 1, 0));
        };
        self.set_ring(plane, Ring::Fold, place);
        self.set_ring(plane, Ring::Held, place + 1);
        let logical = self.newest_at(plane, place)?;
        let at = (plane, place);
        Some(self.slc_operation(OperationKind::Read, Cause::Fold, at, logical, 0))
    }

    /// The next idle-time operation of the underlying page map.
    fn dense_step(&mut self, plane: u32, out: &mut OperationBuffer) -> Option<Operation> {
        let target = self.dense.policies.background_blocks?;
        let mut operation = self.dense.background_step(plane, target, out)?;
        operation.ppn = Ppn(operation.ppn.0 + self.dense_offset(plane));
        Some(operation)
    }
}
