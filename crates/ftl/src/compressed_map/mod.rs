//! A page map that compresses: several logical pages share a flash page, and pages of zeroes
//! take no space.
//!
//! ```text
//!   page ─ all zeroes ──> the map says so
//!        ├ saves nothing ────────────────────────> a flash page of its own
//!        └ 1, 2, 4 .. slots ─> | slots waiting | ─ full ─> a flash page
//!                                one such page in the controller for each plane and size
//!
//!   flash page of 4 slots   | a a b b |     two pages that shrank to one half
//!   map[logical page]       first slot, and how many
//!   owner[slot]             logical page
//! ```
//!
//! Sizes are rounded up to a power of two of slots, and a flash page holds pages of one size.
//! So no page is programmed with a gap, and moved pages never take more space than before.
//! Waiting pages are in memory that survives a power loss, so a flush ignores them. Blocks,
//! their valid parts and victims are those of [`Space`], which counts slots here and pages
//! elsewhere.

mod collection;
mod policies;
mod state;

use drivelab_request::Content;

use crate::divisor::Divisor;
use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind, TRIMMED};
use crate::placement::Placement;
use crate::space::{Frontier, Space};
use crate::{
    Action, Firmware, FirmwareError, FlashLayout, LayoutError, Lpn, NOTHING, PageRun, Ppn, Room,
};

pub use policies::CompressedPolicies;

/// Map entry: all zeroes, stored nowhere.
const ZERO: u32 = NOTHING - 2;
/// Map entry: waits in the controller.
const HELD: u32 = NOTHING - 3;

/// Bits of a map entry for the first slot. Above them is the size, as a power of two.
const SLOT_BITS: u32 = 28;
/// The most slots of a drive that entries can address.
const MOST_SLOTS: u32 = 1 << SLOT_BITS;

/// Whose pages wait together: the host's, or those moved by collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Host,
    Collection,
}

impl Origin {
    const ALL: [Self; 2] = [Self::Host, Self::Collection];

    const fn frontier(self) -> Frontier {
        match self {
            Self::Host => Frontier::Host,
            Self::Collection => Frontier::Collection,
        }
    }
}

/// Where a page's data lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// The first of its slots, counted over the whole flash.
    slot: u32,
    /// The exponent: it has 2^`size` slots.
    size: u32,
}

impl Extent {
    fn of(entry: u32) -> Option<Self> {
        (entry < HELD).then_some(Self {
            slot: entry % MOST_SLOTS,
            size: entry >> SLOT_BITS,
        })
    }

    fn entry(self) -> u32 {
        self.size << SLOT_BITS | self.slot
    }

    fn slots(self) -> std::ops::Range<u32> {
        self.slot..self.slot + (1 << self.size)
    }
}

/// A page to be programmed, alone or with those that waited for it.
#[derive(Clone, Copy)]
struct Filled {
    plane: u32,
    origin: Origin,
    size: u32,
    logical: u32,
    /// The operation on which its program is modelled.
    operation: Operation,
}

/// A compressing page map over the memory `M`.
pub struct CompressedMap<M: Memory> {
    layout: FlashLayout,
    policies: CompressedPolicies,
    placement: Placement,
    map: M::Wide,
    owner: M::Wide,
    /// For every plane, origin and size below a page: how many pages wait, and which.
    waiting: M::Wide,
    space: Space<M>,
    by_planes: Divisor,
    /// Slots of a page, as a power of two; also the size of an uncompressed page.
    whole: u32,
}

impl<M: Memory> Clone for CompressedMap<M> {
    fn clone(&self) -> Self {
        Self {
            placement: self.placement.clone(),
            map: self.map.clone(),
            owner: self.owner.clone(),
            waiting: self.waiting.clone(),
            space: self.space.clone(),
            ..*self
        }
    }
}

impl<M: Memory> CompressedMap<M> {
    /// A new drive: every block erased, no page mapped.
    ///
    /// # Errors
    /// [`LayoutError`] if the policies cannot work on the layout.
    pub fn erased(layout: FlashLayout, policies: CompressedPolicies) -> Result<Self, LayoutError> {
        policies.validate(&layout)?;
        let slots = policies.slots(&layout);
        Ok(Self {
            layout,
            policies,
            placement: policies.pages.placement(&layout),
            map: M::Wide::filled(layout.logical_pages as usize, NOTHING),
            owner: M::Wide::filled(slots.physical_pages() as usize, NOTHING),
            waiting: M::Wide::filled(Self::waiting_words(&layout, &policies), 0),
            space: Space::erased(slots, &policies.pages),
            by_planes: Divisor::new(layout.planes),
            whole: policies.slots_per_page.trailing_zeros(),
        })
    }

    fn waiting_words(layout: &FlashLayout, policies: &CompressedPolicies) -> usize {
        let sizes = policies.slots_per_page.trailing_zeros() as usize;
        let words = policies.slots_per_page as usize + 1;
        layout.planes as usize * Origin::ALL.len() * sizes * words
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn table_bytes(layout: &FlashLayout, policies: &CompressedPolicies) -> u64 {
        let slots = policies.slots(layout);
        let words = u64::from(layout.logical_pages)
            + slots.physical_pages()
            + Self::waiting_words(layout, policies) as u64;
        words * 4 + Space::<M>::table_bytes(&slots)
    }

    /// Where the newest data of `page` lies: the flash page, its first slot there and their number.
    /// `None` if the page was never written, is trimmed, is all zeroes, or waits.
    #[must_use]
    pub fn physical(&self, page: Lpn) -> Option<(Ppn, u32, u32)> {
        let extent = Extent::of(self.map.get(page.0 as usize))?;
        let first = extent.slot % (1 << self.whole);
        Some((self.page_of(extent.slot), first, 1 << extent.size))
    }

    fn page_of(&self, slot: u32) -> Ppn {
        Ppn(slot >> self.whole)
    }

    fn plane_of(&self, logical: u32) -> u32 {
        let turn = self.by_planes.remainder(logical);
        self.placement.striped(turn)
    }

    /// The size of a page, as a power of two of slots; `None` if it takes no space.
    fn size_of(&self, logical: u32, content: Content) -> Option<u32> {
        let data = content.of_page(logical, self.policies.page_bytes);
        if data.is_zero && self.policies.deduplicates_zeros {
            return None;
        }
        let slot_bytes = self.policies.page_bytes >> self.whole;
        let slots = data.compressed_bytes.div_ceil(slot_bytes).max(1);
        Some(slots.next_power_of_two().trailing_zeros().min(self.whole))
    }

    /// Where `waiting` holds the number of pages that wait together; the pages follow.
    fn waiting_place(&self, plane: u32, origin: Origin, size: u32) -> usize {
        let line = (plane as usize * 2 + origin as usize) * self.whole as usize + size as usize;
        line * ((1 << self.whole) + 1)
    }

    /// `logical` waits for others of its size. Returns whether they fill a page now.
    fn wait(&mut self, plane: u32, origin: Origin, size: u32, logical: u32) -> bool {
        let place = self.waiting_place(plane, origin, size);
        let count = self.waiting.get(place) + 1;
        self.waiting.set(place, count);
        self.waiting.set(place + count as usize, logical);
        self.map.set(logical as usize, HELD);
        count == 1 << (self.whole - size)
    }

    /// `logical` was waiting and stops.
    fn stop_waiting(&mut self, logical: u32) {
        let plane = self.plane_of(logical);
        for origin in Origin::ALL {
            for size in 0..self.whole {
                let place = self.waiting_place(plane, origin, size);
                let last = place + self.waiting.get(place) as usize;
                let found = (place + 1..=last).find(|&at| self.waiting.get(at) == logical);
                if let Some(found) = found {
                    let moved = self.waiting.get(last);
                    self.waiting.set(found, moved);
                    self.waiting.set(place, (last - place - 1) as u32);
                    return;
                }
            }
        }
    }

    /// Invalidates what the map says about `logical`.
    fn forget(&mut self, logical: u32, entry: u32) {
        if let Some(extent) = Extent::of(entry) {
            for slot in extent.slots() {
                self.space.valid.invalidate(slot);
            }
        } else if entry == HELD {
            self.stop_waiting(logical);
        }
    }

    /// Makes `extent` the place of `logical`.
    fn occupy(&mut self, extent: Extent, logical: u32) {
        self.owner.set(extent.slot as usize, logical);
        self.map.set(logical as usize, extent.entry());
    }

    /// Programs the next page of a frontier.
    fn program(&mut self, filled: Filled, out: &mut OperationBuffer) -> Result<(), FirmwareError> {
        let (plane, size) = (filled.plane, filled.size);
        let (first, _) = self
            .space
            .next_pages(plane, filled.origin.frontier(), 1 << self.whole)
            .ok_or(FirmwareError::NoSpace { plane })?;
        if size == self.whole {
            self.occupy(Extent { slot: first, size }, filled.logical);
        } else {
            let place = self.waiting_place(plane, filled.origin, size);
            for page in 0..1_u32 << (self.whole - size) {
                let logical = self.waiting.get(place + 1 + page as usize);
                let slot = first + (page << size);
                self.occupy(Extent { slot, size }, logical);
            }
            self.waiting.set(place, 0);
        }
        out.push(Operation {
            kind: OperationKind::Program,
            ppn: self.page_of(first),
            lpn: filled.logical,
            ..filled.operation
        });
        Ok(())
    }

    fn write(
        &mut self,
        logical: u32,
        (is_partial, content): (bool, Content),
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let plane = self.plane_of(logical);
        let entry = self.map.get(logical as usize);
        out.counts.lookups += 1;
        let mut operation = Operation {
            kind: OperationKind::Read,
            cause: Cause::Host,
            plane,
            ppn: Ppn(NOTHING),
            lpn: logical,
            after: NOTHING,
            request,
        };
        if let Some(extent) = Extent::of(entry).filter(|_| is_partial) {
            operation.ppn = self.page_of(extent.slot);
            operation.after = out.push(operation);
        }
        self.forget(logical, entry);
        let Some(size) = self.size_of(logical, content) else {
            self.map.set(logical as usize, ZERO);
            out.counts.zero_pages += 1;
            return Ok(());
        };
        if size < self.whole {
            if !self.wait(plane, Origin::Host, size, logical) {
                out.counts.packed_pages += 1;
                return Ok(());
            }
        } else {
            // It has no place until it is programmed, so making room for it cannot find it.
            self.map.set(logical as usize, TRIMMED);
        }
        if self.space.pages_left(plane, Frontier::Host) == 0 {
            self.make_room(plane, request, out)?;
        }
        let filled = Filled {
            plane,
            origin: Origin::Host,
            size,
            logical,
            operation,
        };
        self.program(filled, out)?;
        if self.policies.pages.pace.is_spread() {
            self.collect_a_little(plane, request, out)?;
        }
        Ok(())
    }

    /// Reads `logical`, unless the request, whose operations begin at `from`, already reads its
    /// flash page.
    fn read(&mut self, logical: u32, request: u32, from: usize, out: &mut OperationBuffer) {
        let entry = self.map.get(logical as usize);
        out.counts.lookups += 1;
        out.counts.unmapped_reads += u64::from(entry == NOTHING);
        out.counts.trimmed_reads += u64::from(entry == TRIMMED);
        let Some(extent) = Extent::of(entry) else {
            return;
        };
        let ppn = self.page_of(extent.slot);
        // Pages packed together are consecutive in striping order.
        let recent = &out.operations()[from..];
        let recent = recent.iter().rev().take(self.layout.planes as usize);
        if extent.size < self.whole && recent.into_iter().any(|read| read.ppn == ppn) {
            return;
        }
        out.push(Operation {
            kind: OperationKind::Read,
            cause: Cause::Host,
            plane: self.plane_of(logical),
            ppn,
            lpn: logical,
            after: NOTHING,
            request,
        });
    }

    fn trim(&mut self, run: &PageRun, out: &mut OperationBuffer) {
        for logical in run.whole_pages() {
            let entry = self.map.get(logical as usize);
            out.counts.lookups += 1;
            out.counts.trims += u64::from(entry < TRIMMED);
            self.forget(logical, entry);
            self.map.set(logical as usize, TRIMMED);
        }
    }
}

impl<M: Memory> Firmware for CompressedMap<M> {
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
            let from = operations.operations().len();
            match run.action {
                Action::Read => {
                    for page in pages {
                        self.read(page, request, from, operations);
                    }
                }
                Action::Write => {
                    for page in pages {
                        let data = (run.is_partial(page), run.content);
                        self.write(page, data, request, operations)?;
                    }
                }
                Action::Trim => self.trim(run, operations),
            }
        }
        Ok(())
    }

    fn packs_pages(&self) -> bool {
        true
    }

    #[inline]
    fn heeds_completions(&self) -> bool {
        false
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
        if let Some(extent) = Extent::of(self.map.get(page.0 as usize)) {
            self.space.valid.prefetch(extent.slot);
        }
    }
}
