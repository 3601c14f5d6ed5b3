//! How block mapping brings the pages of a block back together.

use std::ops::Range;

use super::write::SEQUENTIAL;
use super::{BlockMap, BlockScheme, Log, Page};
use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind, TRIMMED};
use crate::{FirmwareError, NOTHING, Ppn};

impl<M: Memory> BlockMap<M> {
    /// A free block becomes log block `log`, for the logical block `owner` or for all blocks.
    pub(super) fn open_log(
        &mut self,
        plane: u32,
        log: u32,
        owner: u32,
    ) -> Result<(), FirmwareError> {
        let block = self.take_free(plane)?;
        self.set_log(plane, log, Log::Block, block);
        self.set_log(plane, log, Log::Owner, owner);
        self.set_log(plane, log, Log::Disordered, 0);
        Ok(())
    }

    /// Log block `log` stops being one.
    fn close_log(&mut self, plane: u32, log: u32) {
        let owner = self.log(plane, log, Log::Owner);
        if owner != NOTHING {
            self.log_of.set(owner as usize, 0);
        }
        self.set_log(plane, log, Log::Block, NOTHING);
        self.set_log(plane, log, Log::Owner, NOTHING);
    }

    /// The remainder modulo the planes of the pages of `plane`.
    fn turn_of(&self, plane: u32) -> u32 {
        let mut turns = 0..self.layout.planes;
        match self.placement.striped(plane) == plane {
            true => plane,
            false => turns
                .find(|&turn| self.placement.striped(turn) == plane)
                .unwrap_or(plane),
        }
    }

    /// Copies the newest data of the pages `offsets` of the logical block `logical` to their
    /// offsets in `block`. Returns how many there are.
    pub(super) fn copy(
        &mut self,
        logical: u32,
        offsets: Range<u32>,
        block: u32,
        turn: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> u32 {
        let pages = self.layout.pages_per_block;
        let plane = self.placement.striped(turn);
        let first = logical * pages;
        let in_plane = (logical - plane * self.logical_blocks) * pages;
        let places = (first + offsets.start) as usize..(first + offsets.end) as usize;
        let (mut copied, mut next) = (0, NOTHING);
        out.reserve(2 * offsets.len());
        let mut offset = offsets.start;
        self.map.rewrite(places, |place| {
            let page = offset;
            offset += 1;
            if *place >= TRIMMED {
                return;
            }
            let mut operation = Operation {
                kind: OperationKind::Read,
                cause: Cause::Collection,
                plane,
                ppn: Ppn(*place),
                lpn: (in_plane + page) * self.layout.planes + turn,
                after: NOTHING,
                request,
            };
            operation.after = out.push(operation);
            operation.kind = OperationKind::Program;
            operation.ppn = Ppn(block * pages + page);
            out.push(operation);
            *place = operation.ppn.0;
            next = page + 1;
            copied += 1;
        });
        if copied > 0 {
            self.next.set(block as usize, next);
        }
        out.counts.moves += u64::from(copied);
        copied
    }

    /// Log block `log` becomes the data block of its owner, unchanged.
    pub(super) fn adopt(&mut self, plane: u32, log: u32, request: u32, out: &mut OperationBuffer) {
        let was_copied = self.log(plane, log, Log::Disordered) > 0;
        out.counts.full_merges += u64::from(was_copied);
        out.counts.switch_merges += u64::from(!was_copied);
        self.take_over(plane, log, request, out);
    }

    fn take_over(&mut self, plane: u32, log: u32, request: u32, out: &mut OperationBuffer) {
        let owner = self.log(plane, log, Log::Owner) as usize;
        let block = self.log(plane, log, Log::Block);
        let old = self.data.get(owner);
        self.data.set(owner, block);
        self.close_log(plane, log);
        out.counts.collections += 1;
        self.erase(plane, old, request, out);
    }

    /// Merges a log block that belongs to one data block with that block.
    pub(super) fn merge(
        &mut self,
        plane: u32,
        log: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let owner = self.log(plane, log, Log::Owner);
        let block = self.log(plane, log, Log::Block);
        let is_in_order = self.log(plane, log, Log::Disordered) == 0;
        let turn = self.turn_of(plane);
        if is_in_order || self.policies.scheme == BlockScheme::Block {
            let rest = self.next.get(block as usize)..self.layout.pages_per_block;
            let copied = self.copy(owner, rest, block, turn, request, out);
            let counts = &mut out.counts;
            match (is_in_order, copied) {
                (true, 0) => counts.switch_merges += 1,
                (true, _) => counts.partial_merges += 1,
                (false, _) => counts.full_merges += 1,
            }
            self.take_over(plane, log, request, out);
            return Ok(());
        }
        self.close_log(plane, log);
        self.merge_fully(plane, owner, turn, request, out)?;
        self.erase(plane, block, request, out);
        Ok(())
    }

    /// Copies all pages of a logical block to a free one, which becomes its data block.
    fn merge_fully(
        &mut self,
        plane: u32,
        logical: u32,
        turn: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let block = self.take_free(plane)?;
        let all = 0..self.layout.pages_per_block;
        self.copy(logical, all, block, turn, request, out);
        out.counts.full_merges += 1;
        out.counts.collections += 1;
        let old = self.data.get(logical as usize);
        self.data.set(logical as usize, block);
        self.erase(plane, old, request, out);
        Ok(())
    }

    /// Empties the shared log block `log`: a full merge of every block whose newest data it
    /// holds.
    pub(super) fn reclaim(
        &mut self,
        page: Page,
        log: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let (plane, pages) = (page.plane, self.layout.pages_per_block);
        let block = self.log(plane, log, Log::Block);
        let first = (plane * self.logs + log) * pages;
        for offset in 0..pages {
            let place = self.logged.get((first + offset) as usize);
            // After reading back from a file it is unknown for whom old pages were written.
            if place == NOTHING || self.map.get(place as usize) != block * pages + offset {
                continue;
            }
            let logical = self.by_pages.quotient(place);
            self.merge_fully(plane, logical, page.turn, request, out)?;
            if self.log(plane, SEQUENTIAL, Log::Owner) == logical {
                // Its pages have just been copied too.
                let sequential = self.log(plane, SEQUENTIAL, Log::Block);
                self.close_log(plane, SEQUENTIAL);
                self.erase(plane, sequential, request, out);
            }
        }
        self.close_log(plane, log);
        self.erase(plane, block, request, out);
        Ok(())
    }
}
