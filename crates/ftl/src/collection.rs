//! How a page map wins space back: when it collects, and how a victim is emptied. `victim/` chooses
//! the block; `background.rs` uses idle time.

use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind};
use crate::page_map::PageMap;
use crate::space::{Field, Victim};
use crate::{FirmwareError, NOTHING, Pace, Ppn};

impl<M: Memory> PageMap<M> {
    /// Called before the host's next block is opened: collects until the reserve is complete again
    /// (paced: until one block is left for collection itself).
    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(
        &mut self,
        plane: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        loop {
            self.space.check_spare(plane)?;
            let wants = match self.policies.pace {
                Pace::WholeBlock => self.space.wants_collection(plane),
                Pace::Paced | Pace::Adaptive => self.space.free_blocks(plane) <= 1,
            };
            if !wants {
                return Ok(());
            }
            let victim = match self.space.victim(plane) {
                Some(victim) => victim,
                None => self
                    .space
                    .choose_victim(plane)
                    .ok_or_else(|| self.space.no_space(plane))?,
            };
            self.collect(plane, victim, u32::MAX, request, out)?;
        }
    }

    /// Paced collection: the moves that one host write owes.
    #[inline]
    pub(crate) fn collect_a_little(
        &mut self,
        plane: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let Some(victim) = self.space.wanted_victim(plane) else {
            // If no space can be won now, `make_room` decides when it must be.
            return Ok(());
        };
        let moves = self.space.moves_due(plane);
        self.collect(plane, victim, moves, request, out)
    }

    /// Moves up to `most` valid pages of `victim`, and erases it when it holds none any
    /// more.
    #[inline(never)]
    fn collect(
        &mut self,
        plane: u32,
        victim: Victim,
        most: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let first = victim.block * self.layout.pages_per_block;
        let mut operation = Operation {
            kind: OperationKind::Read,
            cause: victim.cause,
            plane,
            ppn: Ppn(first),
            lpn: NOTHING,
            after: NOTHING,
            request,
        };
        if self.policies.background_blocks.is_some() {
            // Pages read in idle time are read again.
            self.space.set_field(plane, Field::Held, 0);
        }
        let mut moved = 0;
        let mut from = victim.page;
        if from == 0 {
            self.prefetch_owners(victim.block, 0);
            self.prefetch_owners(victim.block, 1);
            self.prefetch_moves(first, self.space.valid.word(victim.block, 0));
        }
        while moved < most && from < self.layout.pages_per_block {
            // One word of the bitmap at a time. Data for its moves is prefetched one word ahead,
            // and data needed for that another word ahead.
            let word = from / 64;
            if from.is_multiple_of(64) {
                self.prefetch_owners(victim.block, word + 2);
            }
            let from_here = u64::MAX << (from % 64);
            let here = self.space.valid.word(victim.block, word) & from_here;
            let ahead = match (word + 1) * 64 {
                end if end < self.layout.pages_per_block => {
                    self.space.valid.word(victim.block, word + 1) & from_here
                }
                _ => 0,
            };
            let due = here.count_ones().min(most - moved);
            let page = first + word * 64;
            let later = self.move_valid(page, (here, ahead), due, &mut operation, out)?;
            self.space
                .valid
                .invalidate_all(victim.block, word, here & !later);
            moved += due;
            from = if later == 0 {
                (word + 1) * 64
            } else {
                word * 64 + later.trailing_zeros()
            };
        }
        *out.counts.moves_for(victim.cause) += u64::from(moved);
        self.space.advance_victim(plane, from);
        if self.space.valid.count(victim.block) == 0 {
            let last = self.space.end_victim(&victim, operation, &mut out.counts);
            out.push(last);
        }
        Ok(())
    }

    /// Moves the valid pages of `block` elsewhere in its plane and erases it, because its data has
    /// become hard to read. Returns whether that was possible: not while the block is being
    /// filled, nor while its plane has no block to spare. A collection of the plane that is in
    /// progress ends first.
    pub(crate) fn refresh_block(
        &mut self,
        block: u32,
        out: &mut OperationBuffer,
    ) -> Result<bool, FirmwareError> {
        let plane = self
            .by_plane_pages
            .quotient(block * self.layout.pages_per_block);
        let victim = self.space.victim(plane);
        let is_victim = victim.is_some_and(|victim| victim.block == block);
        if !is_victim && self.space.valid.of_closed(block).is_none() {
            return Ok(false);
        }
        if let Some(victim) = victim {
            self.collect(plane, victim, u32::MAX, 0, out)?;
        }
        if is_victim || self.space.free_blocks(plane) < 2 {
            return Ok(is_victim);
        }
        let victim = self.space.take_victim(plane, block, Cause::Refresh);
        out.counts.refreshes += 1;
        self.collect(plane, victim, u32::MAX, 0, out)?;
        Ok(true)
    }

    /// Moves the first `due` of the pages `bits` from `page` on to the plane's frontier of
    /// collection. The operations are modelled on `operation`, which becomes the last of them.
    /// Returns the remaining bits. The old places stay valid in the bitmap.
    #[inline(always)]
    fn move_valid(
        &mut self,
        page: u32,
        (mut bits, mut ahead): (u64, u64),
        mut due: u32,
        operation: &mut Operation,
        out: &mut OperationBuffer,
    ) -> Result<u64, FirmwareError> {
        let plane = operation.plane;
        let block = self.by_pages.quotient(page);
        let frontier = self.space.colder_than(block);
        out.reserve(2 * due as usize);
        while due > 0 {
            let (first, pages) = self
                .space
                .next_pages(plane, frontier, due)
                .ok_or_else(|| self.space.no_space(plane))?;
            for new in first..first + pages {
                let old = page + bits.trailing_zeros();
                bits &= bits - 1;
                if ahead != 0 {
                    let owner = self
                        .owner
                        .get((page + 64 + ahead.trailing_zeros()) as usize);
                    self.map.prefetch(owner as usize);
                    ahead &= ahead - 1;
                }
                self.owner.prefetch(new as usize + 16);
                let logical = self.owner.get(old as usize);
                self.occupy(new, logical);
                let read = out.push(Operation {
                    kind: OperationKind::Read,
                    ppn: Ppn(old),
                    lpn: logical,
                    after: NOTHING,
                    ..*operation
                });
                operation.after = out.push(Operation {
                    kind: OperationKind::Program,
                    ppn: Ppn(new),
                    lpn: logical,
                    after: read,
                    ..*operation
                });
            }
            due -= pages;
        }
        if bits == 0 {
            self.prefetch_moves(page + 64, ahead);
        }
        Ok(bits)
    }

    /// Prefetches the map entries of the pages `bits` from `page` on, which change soon.
    #[inline]
    fn prefetch_moves(&self, page: u32, mut bits: u64) {
        while bits != 0 {
            let owner = self.owner.get((page + bits.trailing_zeros()) as usize);
            self.map.prefetch(owner as usize);
            bits &= bits - 1;
        }
    }

    /// Prefetches the owners of the pages in a word of `block`, which are needed soon.
    #[inline]
    fn prefetch_owners(&self, block: u32, word: u32) {
        let first = word * 64;
        let end = (first + 64).min(self.layout.pages_per_block);
        for page in (first..end).step_by(16) {
            self.owner
                .prefetch((block * self.layout.pages_per_block + page) as usize);
        }
    }
}
