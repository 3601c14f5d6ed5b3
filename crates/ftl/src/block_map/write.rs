//! Where block mapping puts a page that the host writes.

use super::{BlockMap, BlockScheme, Field, Log, Page, host_operation};
use crate::memory::{Cells, Memory};
use crate::operation::{OperationBuffer, OperationKind, TRIMMED};
use crate::{FirmwareError, NOTHING};

/// The log block for sequential writes, if logs are shared.
pub(super) const SEQUENTIAL: u32 = 0;

impl<M: Memory> BlockMap<M> {
    /// The host writes a page, in part or completely.
    #[inline]
    pub(super) fn write(
        &mut self,
        logical: u32,
        partial: bool,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let page = self.page(logical);
        out.counts.lookups += 1;
        let ppn = match self.in_place(page)? {
            Some(ppn) => ppn,
            None => match self.policies.scheme {
                BlockScheme::Block => self.replace(page, request, out)?,
                BlockScheme::Bast => self.log_own(page, request, out)?,
                BlockScheme::Fast => self.log_shared(page, request, out)?,
            },
        };
        // Its present place: a merge may just have moved it.
        let old = self.map.get(self.place_of(page));
        let mut program = host_operation(OperationKind::Program, page.plane, ppn, logical, request);
        if partial && old < TRIMMED {
            program.after = out.push(host_operation(
                OperationKind::Read,
                page.plane,
                old,
                logical,
                request,
            ));
        }
        out.push(program);
        self.map.set(self.place_of(page), ppn);
        self.finish_filled(page, ppn, request, out);
        Ok(())
    }

    /// Takes the page's place in its data block, if that can still be programmed.
    #[inline]
    fn in_place(&mut self, page: Page) -> Result<Option<u32>, FirmwareError> {
        let mut block = self.data.get(page.block as usize);
        if block == NOTHING {
            block = self.take_free(page.plane)?;
            self.data.set(page.block as usize, block);
        }
        let passed = page.offset < self.next.get(block as usize);
        let replaced = self.policies.scheme == BlockScheme::Block
            && self.log(page.plane, 0, Log::Owner) == page.block;
        if passed || replaced {
            return Ok(None);
        }
        Ok(Some(self.take_page(block, page.offset)))
    }

    /// The page at `offset` of `block`, which is programmed next.
    #[inline]
    fn take_page(&mut self, block: u32, offset: u32) -> u32 {
        self.next.set(block as usize, offset + 1);
        block * self.layout.pages_per_block + offset
    }

    /// A page of the replacement block of its plane.
    fn replace(
        &mut self,
        page: Page,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<u32, FirmwareError> {
        let plane = page.plane;
        let block = self.log(plane, 0, Log::Block);
        let goes_on = self.log(plane, 0, Log::Owner) == page.block
            && page.offset >= self.next.get(block as usize);
        if !goes_on {
            if block != NOTHING {
                self.merge(plane, 0, request, out)?;
            }
            self.open_log(plane, 0, page.block)?;
        }
        let block = self.log(plane, 0, Log::Block);
        let from = self.next.get(block as usize);
        let copied = self.copy(
            page.block,
            from..page.offset,
            block,
            page.turn,
            request,
            out,
        );
        if copied > 0 {
            self.set_log(plane, 0, Log::Disordered, 1);
        }
        Ok(self.take_page(block, page.offset))
    }

    /// A page of the log block of the page's own data block.
    fn log_own(
        &mut self,
        page: Page,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<u32, FirmwareError> {
        let (plane, pages) = (page.plane, self.layout.pages_per_block);
        if let Some(log) = self.log_of.get(page.block as usize).checked_sub(1) {
            let block = self.log(plane, log, Log::Block);
            if self.next.get(block as usize) < pages {
                return Ok(self.append(page, log));
            }
            self.merge(plane, log, request, out)?;
            // The new data block may end before this page.
            if let Some(ppn) = self.in_place(page)? {
                return Ok(ppn);
            }
        }
        let age = |log: &u32| {
            let clock = self.field(plane, Field::Clock);
            match self.log(plane, *log, Log::Block) {
                NOTHING => u32::MAX,
                _ => clock.wrapping_sub(self.log(plane, *log, Log::Written)),
            }
        };
        // An empty log, or the one written least recently; on a tie the first.
        let oldest = (0..self.logs).rev().max_by_key(age).unwrap_or(0);
        if self.log(plane, oldest, Log::Block) != NOTHING {
            self.merge(plane, oldest, request, out)?;
        }
        self.open_log(plane, oldest, page.block)?;
        self.log_of.set(page.block as usize, oldest + 1);
        Ok(self.append(page, oldest))
    }

    /// A page of the sequential log block, or of the shared ones.
    fn log_shared(
        &mut self,
        page: Page,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<u32, FirmwareError> {
        let (plane, pages) = (page.plane, self.layout.pages_per_block);
        let block = self.log(plane, SEQUENTIAL, Log::Block);
        if page.offset == 0 {
            if block != NOTHING {
                self.merge(plane, SEQUENTIAL, request, out)?;
            }
            self.open_log(plane, SEQUENTIAL, page.block)?;
            return Ok(self.append(page, SEQUENTIAL));
        }
        if self.log(plane, SEQUENTIAL, Log::Owner) == page.block
            && self.next.get(block as usize) == page.offset
        {
            return Ok(self.append(page, SEQUENTIAL));
        }
        let mut log = self.field(plane, Field::Filling);
        let block = self.log(plane, log, Log::Block);
        if block != NOTHING && self.next.get(block as usize) == pages {
            log = if log + 1 == self.logs { 1 } else { log + 1 };
            self.set_field(plane, Field::Filling, log);
            if self.log(plane, log, Log::Block) != NOTHING {
                self.reclaim(page, log, request, out)?;
            }
        }
        if self.log(plane, log, Log::Block) == NOTHING {
            self.open_log(plane, log, NOTHING)?;
        }
        let ppn = self.append(page, log);
        let first = (plane * self.logs + log) * pages;
        let place = (first + self.by_pages.remainder(ppn)) as usize;
        self.logged.set(place, self.place_of(page) as u32);
        Ok(ppn)
    }

    /// The next page of a log block is for `page`.
    fn append(&mut self, page: Page, log: u32) -> u32 {
        let block = self.log(page.plane, log, Log::Block);
        let next = self.next.get(block as usize);
        if next != page.offset {
            self.set_log(page.plane, log, Log::Disordered, 1);
        }
        let clock = self.field(page.plane, Field::Clock).wrapping_add(1);
        self.set_field(page.plane, Field::Clock, clock);
        self.set_log(page.plane, log, Log::Written, clock);
        self.take_page(block, next)
    }

    /// A log with all pages of its block at their offsets becomes the data block at once.
    #[inline]
    fn finish_filled(&mut self, page: Page, ppn: u32, request: u32, out: &mut OperationBuffer) {
        let block = self.by_pages.quotient(ppn);
        if self.next.get(block as usize) < self.layout.pages_per_block
            || self.data.get(page.block as usize) == block
        {
            return;
        }
        let log = match self.policies.scheme {
            BlockScheme::Block | BlockScheme::Fast => 0,
            BlockScheme::Bast => self.log_of.get(page.block as usize).saturating_sub(1),
        };
        let is_log = self.log(page.plane, log, Log::Block) == block;
        let is_whole = self.policies.scheme == BlockScheme::Block
            || self.log(page.plane, log, Log::Disordered) == 0;
        if is_log && is_whole {
            self.adopt(page.plane, log, request, out);
        }
    }
}
