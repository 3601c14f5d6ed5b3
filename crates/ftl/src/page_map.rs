//! The page-mapped firmware: every logical page may lie anywhere in its plane.
//!
//! ```text
//!   map[logical page]   -> physical page          4 bytes a logical page
//!   owner[physical page] -> logical page          4 bytes a physical page
//!   valid bitmap                                  1 bit a physical page
//! ```
//!
//! With pages striped statically over the planes, sequential data is spread evenly in whatever
//! order it was written. `placement.rs` describes the alternatives. Collection stays within a
//! plane. Requests below a page read the old page first (read-modify-write). A trimmed page is
//! marked in the map, reads as zeroes without the flash, and leaves its old place to
//! collection.

use crate::divisor::Divisor;
use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind, TRIMMED};
use crate::placement::{Dynamic, Modulo, Place, Placement, Striped};
use crate::space::{Frontier, Space};
use crate::{
    Action, EraseCounts, Firmware, FirmwareError, FlashLayout, IdleTime, LayoutError, Lpn, NOTHING,
    Pace, PageRun, Policies, Ppn, Room,
};

/// Distance in pages at which the reverse map is prefetched while a block is filled: the next cache
/// line of 4-byte cells.
const AHEAD: usize = 16;

/// Page mapping over the memory `M`.
pub struct PageMap<M: Memory> {
    pub(crate) layout: FlashLayout,
    pub(crate) policies: Policies,
    pub(crate) placement: Placement,
    pub(crate) map: M::Wide,
    pub(crate) owner: M::Wide,
    pub(crate) space: Space<M>,
    pub(crate) by_planes: Divisor,
    pub(crate) by_plane_pages: Divisor,
    pub(crate) by_pages: Divisor,
}

impl<M: Memory> Clone for PageMap<M> {
    fn clone(&self) -> Self {
        self.clone_but(self.owner.clone())
    }
}

impl<M: Memory> PageMap<M> {
    /// A copy with another reverse map.
    pub(crate) fn clone_but(&self, owner: M::Wide) -> Self {
        Self {
            layout: self.layout,
            policies: self.policies,
            placement: self.placement.clone(),
            map: self.map.clone(),
            owner,
            space: self.space.clone(),
            by_planes: self.by_planes,
            by_plane_pages: self.by_plane_pages,
            by_pages: self.by_pages,
        }
    }
}

impl<M: Memory> PageMap<M> {
    /// A new drive: every block erased, no page mapped.
    ///
    /// # Errors
    /// [`LayoutError`] if the policies cannot work on the layout.
    pub fn erased(layout: FlashLayout, policies: impl Into<Policies>) -> Result<Self, LayoutError> {
        let policies = policies.into();
        policies.validate(&layout)?;
        Ok(Self {
            map: M::Wide::filled(layout.logical_pages as usize, NOTHING),
            owner: M::Wide::filled(layout.physical_pages() as usize, NOTHING),
            space: Space::erased(layout, &policies),
            ..Self::without_tables(layout, policies)
        })
    }

    /// A map whose tables come from elsewhere.
    pub(crate) fn without_tables(layout: FlashLayout, policies: Policies) -> Self {
        Self {
            layout,
            policies,
            placement: policies.placement(&layout),
            map: M::Wide::filled(0, NOTHING),
            owner: M::Wide::filled(0, NOTHING),
            space: Space::without_tables(layout, &policies),
            by_planes: Divisor::new(layout.planes),
            by_plane_pages: Divisor::new(layout.blocks_per_plane * layout.pages_per_block),
            by_pages: Divisor::new(layout.pages_per_block),
        }
    }

    /// Bytes of the reverse map for `layout`.
    #[must_use]
    pub fn reverse_map_bytes(layout: &FlashLayout) -> u64 {
        layout.physical_pages() * 4
    }

    /// Bytes of the tables for `layout`, including the reverse map. Undoing adds a
    /// thousandth.
    #[must_use]
    pub fn table_bytes(layout: &FlashLayout) -> u64 {
        let maps = (u64::from(layout.logical_pages) + layout.physical_pages()) * 4;
        maps + Space::<M>::table_bytes(layout)
    }

    /// Where the newest data of `page` lies; `None` if it was never written or is
    /// trimmed.
    #[must_use]
    pub fn physical(&self, page: Lpn) -> Option<Ppn> {
        let ppn = self.map.get(page.0 as usize);
        (ppn < TRIMMED).then_some(Ppn(ppn))
    }

    /// Valid pages of a block.
    #[must_use]
    pub fn valid_pages(&self, block: u32) -> u32 {
        self.space.valid.count(block) - self.space.ahead(block).len() as u32
    }

    /// Erased blocks of `plane` that are not being filled.
    #[must_use]
    pub fn free_blocks(&self, plane: u32) -> u32 {
        self.space.free_blocks(plane)
    }

    /// How often blocks were erased.
    #[must_use]
    pub fn erase_counts(&self) -> EraseCounts {
        self.space.erase_counts()
    }

    /// How often one block was erased.
    #[must_use]
    pub fn erase_count(&self, block: u32) -> u32 {
        self.space.erase_count(block)
    }

    /// Whether `block` is permanently out of use.
    #[must_use]
    pub fn is_bad(&self, block: u32) -> bool {
        self.space.is_bad(block)
    }

    /// Whether `page` holds the newest data of some logical page, by the bitmap.
    #[must_use]
    pub fn is_valid(&self, page: Ppn) -> bool {
        let block = self.by_pages.quotient(page.0);
        let is_ahead = self
            .space
            .ahead(block)
            .contains(&self.by_pages.remainder(page.0));
        self.space.valid.holds(page.0) && !is_ahead
    }

    pub(crate) fn rollback_maps(&mut self, then: &Self) {
        let owner = &mut self.owner;
        // If the owner of a valid page was replaced, the page was free in between, because the old
        // owner had moved. Nobody asks for the owner of an invalid page.
        self.map.rollback_telling(&then.map, |logical, place| {
            if place < TRIMMED {
                owner.set(place as usize, logical as u32);
            }
        });
    }

    /// The logical page that was written to a valid page.
    pub(crate) fn owner_of(&self, page: Ppn) -> u32 {
        self.owner.get(page.0 as usize)
    }

    /// Makes `page`, which a frontier has handed out, the place of `logical`.
    #[inline(always)]
    pub(crate) fn occupy(&mut self, page: u32, logical: u32) {
        self.owner.set(page as usize, logical);
        self.map.set(logical as usize, page);
    }

    /// The data at `old`, if that is a page, is gone.
    #[inline]
    pub(crate) fn left(&mut self, old: u32) {
        if old < TRIMMED {
            let plane = self.by_plane_pages.quotient(old);
            self.space.count_valid(plane, -1);
        }
    }

    #[inline]
    fn write_page<P: Place<M>>(
        &mut self,
        logical: u32,
        partial: bool,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let plane = P::for_write(self, logical);
        let frontier = match self.policies.temperature_classes {
            None => Frontier::Host,
            Some(classes) => self.frontier_of(logical, classes),
        };
        if self.space.pages_left(plane, frontier) == 0 || self.space.is_promised(plane, frontier) {
            self.make_room(plane, request, out)?;
        }
        let old = self.map.get(logical as usize);
        out.counts.lookups += 1;
        let mut program = Operation {
            kind: OperationKind::Program,
            cause: Cause::Host,
            plane,
            ppn: Ppn(NOTHING),
            lpn: logical,
            after: NOTHING,
            request,
        };
        if partial && old < TRIMMED {
            let read = Operation {
                kind: OperationKind::Read,
                plane: P::of(self, logical, old),
                ppn: Ppn(old),
                ..program
            };
            program.after = out.push(read);
        }
        program.ppn = self
            .space
            .next_page(plane, frontier)
            .ok_or_else(|| self.space.no_space(plane))?;
        if old < TRIMMED {
            self.space.valid.invalidate(old);
        }
        self.owner.prefetch(program.ppn.0 as usize + AHEAD);
        self.occupy(program.ppn.0, logical);
        P::moved(self, old, plane);
        out.push(program);
        if self.policies.pace.is_spread() {
            self.collect_a_little(plane, request, out)?;
        }
        Ok(())
    }

    /// Where data is written that is separated by its temperature.
    #[inline(never)]
    fn frontier_of(&self, logical: u32, classes: u32) -> Frontier {
        let old = self.map.get(logical as usize);
        if old >= TRIMMED {
            return Frontier::Host;
        }
        self.space.hotter_than(self.by_pages.quotient(old), classes)
    }

    fn trim(&mut self, run: &PageRun, out: &mut OperationBuffer) {
        for page in run.whole_pages() {
            let old = self.map.get(page as usize);
            out.counts.lookups += 1;
            if old < TRIMMED {
                self.space.valid.invalidate(old);
                if self.placement.is_dynamic() {
                    self.left(old);
                }
                out.counts.trims += 1;
            }
            self.map.set(page as usize, TRIMMED);
        }
    }

    #[inline]
    fn read_page<P: Place<M>>(&mut self, logical: u32, request: u32, out: &mut OperationBuffer) {
        let ppn = self.map.get(logical as usize);
        out.counts.lookups += 1;
        if ppn >= TRIMMED {
            out.counts.unmapped_reads += u64::from(ppn == NOTHING);
            out.counts.trimmed_reads += u64::from(ppn == TRIMMED);
            return;
        }
        out.push(Operation {
            kind: OperationKind::Read,
            cause: Cause::Host,
            plane: P::of(self, logical, ppn),
            ppn: Ppn(ppn),
            lpn: logical,
            after: NOTHING,
            request,
        });
    }
}

impl<M: Memory> PageMap<M> {
    #[inline]
    fn serve<P: Place<M>>(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        for (index, run) in batch.iter().enumerate() {
            let request = index as u32;
            let end = u64::from(run.first.0) + u64::from(run.pages);
            if end > u64::from(self.layout.logical_pages) {
                return Err(FirmwareError::BeyondEnd {
                    last: end - 1,
                    logical_pages: self.layout.logical_pages,
                });
            }
            let pages = 0..run.pages;
            match run.action {
                Action::Read => {
                    for page in pages {
                        let before = operations.operations().len();
                        self.read_page::<P>(run.first.0 + page, request, operations);
                        P::served(self, &operations.operations()[before..]);
                    }
                }
                Action::Write => {
                    for page in pages {
                        let partial = (page == 0 && run.first_partial)
                            || (page + 1 == run.pages && run.last_partial);
                        let before = operations.operations().len();
                        self.write_page::<P>(run.first.0 + page, partial, request, operations)?;
                        P::served(self, &operations.operations()[before..]);
                    }
                }
                Action::Trim => self.trim(run, operations),
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn serve_elsewhere(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        if self.placement.is_dynamic() {
            self.serve::<Dynamic>(batch, operations)
        } else {
            self.serve::<Striped>(batch, operations)
        }
    }
}

impl<M: Memory> Firmware for PageMap<M> {
    fn layout(&self) -> &FlashLayout {
        &self.layout
    }

    #[inline]
    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        if self.placement.is_plain() {
            self.serve::<Modulo>(batch, operations)
        } else {
            self.serve_elsewhere(batch, operations)
        }
    }

    #[inline]
    fn heeds_completions(&self) -> bool {
        self.placement.counts_load()
    }

    #[inline]
    fn completed(&mut self, operation: &Operation) {
        self.placement.completed(operation.plane);
    }

    #[inline(always)]
    fn read_one(&mut self, page: Lpn) -> Option<Operation> {
        if page.0 >= self.layout.logical_pages {
            return None;
        }
        let ppn = self.physical(page)?;
        let plane = self.by_plane_pages.quotient(ppn.0);
        self.placement.emitted(plane);
        Some(Operation {
            kind: OperationKind::Read,
            cause: Cause::Host,
            plane,
            ppn,
            lpn: page.0,
            after: NOTHING,
            request: 0,
        })
    }

    #[inline(always)]
    fn write_one(&mut self, page: Lpn) -> Option<Operation> {
        let is_plain = self.placement.is_plain()
            && self.policies.pace == Pace::WholeBlock
            && self.policies.temperature_classes.is_none();
        if !is_plain || page.0 >= self.layout.logical_pages {
            return None;
        }
        let plane = self.by_planes.remainder(page.0);
        if self.space.pages_left(plane, Frontier::Host) == 0 {
            return None;
        }
        let ppn = self.space.next_page(plane, Frontier::Host)?;
        let old = self.map.get(page.0 as usize);
        if old < TRIMMED {
            self.space.valid.invalidate(old);
        }
        self.owner.prefetch(ppn.0 as usize + AHEAD);
        self.occupy(ppn.0, page.0);
        Some(Operation {
            kind: OperationKind::Program,
            cause: Cause::Host,
            plane,
            ppn,
            lpn: page.0,
            after: NOTHING,
            request: 0,
        })
    }

    fn background(
        &mut self,
        offer: &IdleTime<'_>,
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        self.work_in_background(offer, operations);
        Ok(())
    }

    fn refresh(
        &mut self,
        block: u32,
        operations: &mut OperationBuffer,
    ) -> Result<bool, FirmwareError> {
        self.refresh_block(block, operations)
    }

    fn data_pages(&self, block: u32) -> Option<u32> {
        Some(self.valid_pages(block))
    }

    fn bad_blocks(&self) -> Option<u32> {
        self.space.bad_blocks()
    }

    fn room(&self) -> Option<Room> {
        Some(self.space.room())
    }

    fn erase_count(&self, block: u32) -> Option<u32> {
        Some(self.space.erase_count(block))
    }

    #[inline]
    fn prefetch_map(&self, page: Lpn) {
        self.map.prefetch(page.0 as usize);
    }

    #[inline]
    fn prefetch_overwrite(&self, page: Lpn) {
        let old = self.map.get(page.0 as usize);
        if old < TRIMMED {
            self.space.valid.prefetch(old);
        }
    }
}
