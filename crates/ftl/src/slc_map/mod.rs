//! A page map behind a pseudo-SLC region: a few blocks of each plane are used with one bit a cell.
//! They are fast, have fewer pages, and take host writes first.
//!
//! ```text
//!   host ─> | SLC blocks of the plane, a ring | ─ fold ─> dense blocks (page map)
//!             oldest full block                  in idle time, or when the ring is full
//! ```
//!
//! Folding copies the remaining newest data of the oldest full block to the dense blocks and erases
//! it. A page that is rewritten before that costs nothing there. In idle time full blocks are
//! folded one operation at a time, until only the one being filled is left. A host that fills the
//! ring pays for folding. With [`Pace::WholeBlock`] its write waits for a whole block when the ring
//! is full. With [`Pace::Paced`] each write folds a little as soon as less than a block's worth is
//! free, so latencies stay even.
//!
//! The SLC blocks are the first of each plane. While the newest data of a page lies there, the page
//! map treats the page as given up.

mod fold;
mod policies;
mod state;

use crate::divisor::Divisor;
use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind, TRIMMED};
use crate::page_map::PageMap;
use crate::{
    Action, Firmware, FirmwareError, FlashLayout, IdleTime, LayoutError, Lpn, NOTHING, Pace,
    PageRun, Ppn, Room,
};

pub use policies::SlcPolicies;

/// Words of a plane's ring.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Ring {
    /// The place that is written next.
    Next,
    /// Pages written in blocks that have not been erased since.
    Used,
    /// The place in the ring that is folded next.
    Fold,
    /// One more than the place that idle time has read but not yet programmed; 0 for none.
    Held,
}

const RING_WORDS: usize = 4;

/// A page map behind a pseudo-SLC region, over the memory `M`.
pub struct SlcMap<M: Memory> {
    layout: FlashLayout,
    /// The dense blocks, numbered without the others.
    dense: PageMap<M>,
    /// The number of SLC blocks of a plane, and of pages in one.
    blocks: u32,
    pages: u32,
    /// From this number of used places of a plane on, writes fold.
    folds_from: u32,
    by_pages: Divisor,
    /// One more than the place of every logical page in its plane's ring; 0 if it has none.
    place_of: M::Wide,
    /// The logical page written at each place; by plane.
    logged: M::Wide,
    /// [`Ring`] of every plane, then the plane that works next in idle time.
    rings: M::Wide,
    /// Erases of the SLC blocks.
    erases: M::Wide,
}

impl<M: Memory> Clone for SlcMap<M> {
    fn clone(&self) -> Self {
        self.clone_with(self.dense.clone())
    }
}

impl<M: Memory> SlcMap<M> {
    fn clone_with(&self, dense: PageMap<M>) -> Self {
        Self {
            layout: self.layout,
            dense,
            blocks: self.blocks,
            pages: self.pages,
            folds_from: self.folds_from,
            by_pages: self.by_pages,
            place_of: self.place_of.clone(),
            logged: self.logged.clone(),
            rings: self.rings.clone(),
            erases: self.erases.clone(),
        }
    }

    /// A new drive: every block erased, no page mapped.
    ///
    /// # Errors
    /// [`LayoutError`] if the policies cannot work on the layout.
    pub fn erased(layout: FlashLayout, policies: SlcPolicies) -> Result<Self, LayoutError> {
        policies.validate(&layout)?;
        let rings = layout.planes as usize * RING_WORDS;
        let blocks = layout.planes as usize * policies.slc_blocks as usize;
        Ok(Self {
            layout,
            dense: PageMap::erased(policies.dense(&layout), policies.beneath(&layout))?,
            blocks: policies.slc_blocks,
            pages: policies.slc_pages,
            folds_from: match policies.pages.pace {
                // One page less than a block is free when the first place is folded.
                Pace::Paced | Pace::Adaptive => (policies.slc_blocks - 1) * policies.slc_pages + 1,
                Pace::WholeBlock => policies.slc_blocks * policies.slc_pages,
            },
            by_pages: Divisor::new(policies.slc_pages),
            place_of: M::Wide::filled(layout.logical_pages as usize, 0),
            logged: M::Wide::filled(blocks * policies.slc_pages as usize, NOTHING),
            rings: M::Wide::filled(rings + 1, 0),
            erases: M::Wide::filled(blocks, 0),
        })
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn table_bytes(layout: &FlashLayout, policies: &SlcPolicies) -> u64 {
        let places = u64::from(policies.slc_blocks) * u64::from(policies.slc_pages + 1);
        let own = u64::from(layout.logical_pages) + u64::from(layout.planes) * (places + 4);
        PageMap::<M>::table_bytes(&policies.dense(layout)) + 4 * own
    }

    /// Where the newest data of `page` lies; `None` if it was never written or is trimmed.
    #[must_use]
    pub fn physical(&self, page: Lpn) -> Option<Ppn> {
        match self.place_of.get(page.0 as usize).checked_sub(1) {
            Some(place) => Some(Ppn(self.slc_page(self.plane_of(page.0), place))),
            None => {
                let Ppn(ppn) = self.dense.physical(page)?;
                Some(Ppn(ppn + self.dense_offset(self.plane_of(page.0))))
            }
        }
    }

    fn plane_of(&self, logical: u32) -> u32 {
        let turn = self.dense.by_planes.remainder(logical);
        self.dense.placement.striped(turn)
    }

    /// The number of places in a plane's ring.
    fn places(&self) -> u32 {
        self.blocks * self.pages
    }

    /// The flash page of a place in a plane's ring.
    fn slc_page(&self, plane: u32, place: u32) -> u32 {
        let block = self.by_pages.quotient(place);
        let page = place - block * self.pages;
        (plane * self.layout.blocks_per_plane + block) * self.layout.pages_per_block + page
    }

    /// The pages on the flash before the dense blocks of `plane`.
    fn dense_offset(&self, plane: u32) -> u32 {
        (plane + 1) * self.blocks * self.layout.pages_per_block
    }

    fn ring(&self, plane: u32, word: Ring) -> u32 {
        self.rings.get(plane as usize * RING_WORDS + word as usize)
    }

    fn set_ring(&mut self, plane: u32, word: Ring, value: u32) {
        self.rings
            .set(plane as usize * RING_WORDS + word as usize, value);
    }

    fn log_index(&self, plane: u32, place: u32) -> usize {
        (plane * self.places() + place) as usize
    }

    /// The logical page whose newest data lies at a place of a ring, if any.
    fn newest_at(&self, plane: u32, place: u32) -> Option<u32> {
        let logical = self.logged.get(self.log_index(plane, place));
        let is_newest = logical != NOTHING && self.place_of.get(logical as usize) == place + 1;
        is_newest.then_some(logical)
    }

    /// Renumbers what the page map has emitted from `from` on as the flash is numbered.
    fn renumber(&self, from: usize, request: u32, out: &mut OperationBuffer) {
        for operation in out.operations_mut(from) {
            let offset = self.dense_offset(operation.plane);
            operation.ppn = Ppn(operation.ppn.0 + offset);
            operation.request = request;
        }
    }

    /// An operation on an SLC page.
    fn slc_operation(
        &self,
        kind: OperationKind,
        cause: Cause,
        (plane, place): (u32, u32),
        lpn: u32,
        request: u32,
    ) -> Operation {
        Operation {
            kind,
            cause,
            plane,
            ppn: Ppn(self.slc_page(plane, place)),
            lpn,
            after: NOTHING,
            request,
        }
    }

    fn read(
        &mut self,
        logical: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        if let Some(place) = self.place_of.get(logical as usize).checked_sub(1) {
            out.counts.lookups += 1;
            let at = (self.plane_of(logical), place);
            out.push(self.slc_operation(OperationKind::Read, Cause::Host, at, logical, request));
            return Ok(());
        }
        let before = out.operations().len();
        self.dense
            .submit(&[PageRun::whole(Action::Read, Lpn(logical), 1)], out)?;
        self.renumber(before, request, out);
        Ok(())
    }

    fn write(
        &mut self,
        logical: u32,
        is_partial: bool,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let plane = self.plane_of(logical);
        if self.ring(plane, Ring::Used) >= self.folds_from {
            self.fold_for_a_write(plane, request, out)?;
        }
        let mut after = NOTHING;
        if is_partial {
            let before = out.operations().len();
            let counts = out.counts;
            self.read(logical, request, out)?;
            // Having nothing to read is not an error of a write.
            out.counts = counts;
            if out.operations().len() > before {
                after = before as u32;
            }
        }
        out.counts.lookups += 1;
        let place = self.ring(plane, Ring::Next);
        let next = if place + 1 == self.places() {
            0
        } else {
            place + 1
        };
        self.set_ring(plane, Ring::Next, next);
        let used = self.ring(plane, Ring::Used);
        self.set_ring(plane, Ring::Used, used + 1);
        self.logged.set(self.log_index(plane, place), logical);
        self.place_of.set(logical as usize, place + 1);
        self.forget_dense(logical);
        let mut program = self.slc_operation(
            OperationKind::Program,
            Cause::Host,
            (plane, place),
            logical,
            request,
        );
        program.after = after;
        out.push(program);
        Ok(())
    }

    /// Removes `logical` from the page map.
    fn forget_dense(&mut self, logical: u32) {
        let old = self.dense.map.get(logical as usize);
        if old < TRIMMED {
            self.dense.space.valid.invalidate(old);
        }
        if old != TRIMMED {
            self.dense.map.set(logical as usize, TRIMMED);
        }
    }

    fn trim(&mut self, run: &PageRun, out: &mut OperationBuffer) -> Result<(), FirmwareError> {
        for logical in run.whole_pages() {
            if self.place_of.get(logical as usize) > 0 {
                self.place_of.set(logical as usize, 0);
                out.counts.trims += 1;
            }
        }
        self.dense.submit(&[*run], out)
    }
}

impl<M: Memory> Firmware for SlcMap<M> {
    fn layout(&self) -> &FlashLayout {
        &self.layout
    }

    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        for (index, run) in batch.iter().enumerate() {
            run.check_end(self.layout.logical_pages)?;
            let request = index as u32;
            let pages = run.first.0..run.first.0 + run.pages;
            match run.action {
                Action::Read => {
                    for page in pages {
                        self.read(page, request, operations)?;
                    }
                }
                Action::Write => {
                    for page in pages {
                        self.write(page, run.is_partial(page), request, operations)?;
                    }
                }
                Action::Trim => self.trim(run, operations)?,
            }
        }
        Ok(())
    }

    #[inline]
    fn heeds_completions(&self) -> bool {
        false
    }

    fn background(
        &mut self,
        offer: &IdleTime<'_>,
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        self.work_in_background(offer, operations);
        Ok(())
    }

    fn room(&self) -> Option<Room> {
        Some(self.dense.space.room())
    }

    fn erase_count(&self, block: u32) -> Option<u32> {
        let plane = block / self.layout.blocks_per_plane;
        let place = block % self.layout.blocks_per_plane;
        match place.checked_sub(self.blocks) {
            None => Some(self.erases.get((plane * self.blocks + place) as usize)),
            Some(dense) => {
                let per_plane = self.layout.blocks_per_plane - self.blocks;
                Firmware::erase_count(&self.dense, plane * per_plane + dense)
            }
        }
    }

    #[inline]
    fn prefetch_map(&self, page: Lpn) {
        self.place_of.prefetch(page.0 as usize);
        self.dense.prefetch_map(page);
    }

    #[inline]
    fn prefetch_overwrite(&self, page: Lpn) {
        self.dense.prefetch_overwrite(page);
    }
}
