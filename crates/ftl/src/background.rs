//! Collection in idle time, one flash operation at a time.
//!
//! ```text
//!   no victim ── too few free blocks ──> victim ──> read ──> program ──> read ──> ... ──> erase
//! ```
//!
//! Planes take turns. Anything may happen between two operations. A page that was read and is
//! overwritten before it is programmed stays where it is, and collection in the foreground takes
//! over the victim as it is. Each operation depends only on the state, so idle time in one piece or
//! in ten gives the same result.

use crate::memory::Memory;
use crate::page_map::PageMap;
use crate::space::{Field, Victim};
use crate::{IdleTime, NOTHING, Operation, OperationBuffer, OperationKind, Ppn};

impl<M: Memory> PageMap<M> {
    /// Appends what can be done in the offered idle time.
    pub(crate) fn work_in_background(&mut self, offer: &IdleTime<'_>, out: &mut OperationBuffer) {
        let Some(target) = self.policies.background_blocks else {
            return;
        };
        for _ in 0..offer.budget {
            let planes = self.layout.planes;
            let turn = self.space.background_turn() % planes;
            let working = (turn..planes)
                .chain(0..turn)
                .filter(|&plane| (offer.is_free)(plane))
                .find_map(|plane| Some((plane, self.background_step(plane, target, out)?)));
            let Some((plane, operation)) = working else {
                return;
            };
            self.space.set_background_turn((plane + 1) % planes);
            if self.placement.is_dynamic() {
                self.placement.emitted(plane);
            }
            out.push(operation);
        }
    }

    /// The next operation of a plane, if it has work to do.
    pub(crate) fn background_step(
        &mut self,
        plane: u32,
        target: u32,
        out: &mut OperationBuffer,
    ) -> Option<Operation> {
        let victim = match self.space.victim(plane) {
            Some(victim) => victim,
            None if self.space.free_blocks(plane) >= target => return None,
            None => self.space.choose_victim(plane)?,
        };
        let pages = self.layout.pages_per_block;
        let first = victim.block * pages;
        let operation = Operation {
            kind: OperationKind::Read,
            cause: victim.cause,
            plane,
            ppn: Ppn(first),
            lpn: NOTHING,
            after: NOTHING,
            request: 0,
        };
        let held = self.space.field(plane, Field::Held);
        if held > 0 {
            self.space.set_field(plane, Field::Held, 0);
            if self.space.valid.holds(first + held - 1) {
                return self.program_held(&victim, held - 1, operation, out);
            }
        }
        if let Some(page) = (victim.page..pages).find(|&page| self.space.valid.holds(first + page))
        {
            self.space.advance_victim(plane, page);
            self.space.set_field(plane, Field::Held, page + 1);
            return Some(Operation {
                ppn: Ppn(first + page),
                lpn: self.owner_of(Ppn(first + page)),
                ..operation
            });
        }
        Some(self.space.end_victim(&victim, operation, &mut out.counts))
    }

    fn program_held(
        &mut self,
        victim: &Victim,
        page: u32,
        operation: Operation,
        out: &mut OperationBuffer,
    ) -> Option<Operation> {
        let plane = operation.plane;
        let old = victim.block * self.layout.pages_per_block + page;
        let frontier = self.space.colder_than(victim.block);
        let new = self.space.next_page(plane, frontier)?;
        let logical = self.owner_of(Ppn(old));
        self.space.valid.invalidate(old);
        self.occupy(new.0, logical);
        self.space.advance_victim(plane, page + 1);
        *out.counts.moves_for(victim.cause) += 1;
        Some(Operation {
            kind: OperationKind::Program,
            ppn: new,
            lpn: logical,
            ..operation
        })
    }
}
