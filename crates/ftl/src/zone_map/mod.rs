//! A map of zones, which the host writes in order and resets: the zoned namespaces of NVMe.
//!
//! ```text
//!   logical    | zone 0      | zone 1      | zone 2      | ..   only in order, from the first page
//!              |#####>   ----|         ----|#########----|      to the capacity; behind it nothing
//!                  │                           │
//!   flash      slot 4                       slot 1              whole blocks of the zone's planes
//! ```
//!
//! A zone with data has a slot: blocks that hold nothing else. The place of a page follows from its
//! zone's slot and its place in the zone. So there is no map of pages, and nothing is ever moved. A
//! reset erases the written part of the slot and gives it back. The next zone takes the free slot
//! with the fewest erases.
//!
//! A command is judged when it comes ([`rules`]), and its pages are written when their data
//! arrives. A command that was not judged before is judged then.

mod counts;
mod policies;
mod rules;
mod state;

use drivelab_request::ZoneAction;

pub use counts::{ZoneCounts, ZoneRefusal};
pub use policies::{ZonePolicies, ZoneShape};
pub use rules::Judged;

use policies::ZoneLayout;
use rules::TOTALS;

use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind};
use crate::{
    Action, Firmware, FirmwareError, FlashLayout, LayoutError, Lpn, NOTHING, PageRun, Ppn, Room,
};

/// Words of a zone.
#[derive(Clone, Copy)]
enum ZoneField {
    /// A [`ZoneState`].
    State,
    /// Pages appended to it so far: its write pointer.
    Pointer,
    /// Pages that were written.
    Written,
    /// Its slot, or nothing.
    Slot,
    /// The serial number of its last opening.
    OpenedAt,
}

const ZONE_WORDS: usize = 5;

/// The state of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ZoneState {
    /// Not written since it was reset.
    Empty = 0,
    /// Open, by a write.
    Implicit = 1,
    /// Open, by a command.
    Explicit = 2,
    /// Partly written and not open.
    Closed = 3,
    /// Not writable until it is reset.
    Full = 4,
}

impl ZoneState {
    const ALL: [Self; 5] = [
        Self::Empty,
        Self::Implicit,
        Self::Explicit,
        Self::Closed,
        Self::Full,
    ];
}

/// A map of zones over the memory `M`.
pub struct ZoneMap<M: Memory> {
    layout: FlashLayout,
    policies: ZonePolicies,
    zones: ZoneLayout,
    zone_words: M::Wide,
    /// By slot, its zone, or nothing.
    owners: M::Wide,
    /// Erases by block.
    erases: M::Wide,
    /// Totals by [`rules::Total`].
    totals: M::Wide,
    /// Counts since it was made; not part of a state.
    counts: ZoneCounts,
}

impl<M: Memory> Clone for ZoneMap<M> {
    fn clone(&self) -> Self {
        Self {
            zone_words: self.zone_words.clone(),
            owners: self.owners.clone(),
            erases: self.erases.clone(),
            totals: self.totals.clone(),
            ..*self
        }
    }
}

impl<M: Memory> ZoneMap<M> {
    /// A new drive: every zone empty.
    ///
    /// # Errors
    /// [`LayoutError`] if the policies cannot work on the layout.
    pub fn erased(layout: FlashLayout, policies: ZonePolicies) -> Result<Self, LayoutError> {
        policies.validate(&layout)?;
        let zones = ZoneLayout::new(&layout, &policies);
        let mut zone_words = M::Wide::filled(zones.zones as usize * ZONE_WORDS, 0);
        for zone in 0..zones.zones as usize {
            zone_words.set(zone * ZONE_WORDS + ZoneField::Slot as usize, NOTHING);
        }
        Ok(Self {
            layout,
            policies,
            zones,
            zone_words,
            owners: M::Wide::filled(zones.slots() as usize, NOTHING),
            erases: M::Wide::filled(layout.blocks() as usize, 0),
            totals: M::Wide::filled(TOTALS, 0),
            counts: ZoneCounts::default(),
        })
    }

    /// Bytes of the tables for `layout`. Undoing adds a thousandth.
    #[must_use]
    pub fn table_bytes(layout: &FlashLayout, policies: &ZonePolicies) -> u64 {
        let zones = ZoneLayout::new(layout, policies);
        let words = u64::from(zones.zones) * ZONE_WORDS as u64 + u64::from(zones.slots());
        (words + u64::from(layout.blocks()) + TOTALS as u64) * 4
    }

    fn zone(&self, zone: u32, field: ZoneField) -> u32 {
        self.zone_words
            .get(zone as usize * ZONE_WORDS + field as usize)
    }

    fn set_zone(&mut self, zone: u32, field: ZoneField, value: u32) {
        (self.zone_words).set(zone as usize * ZONE_WORDS + field as usize, value);
    }

    /// The state of a zone.
    #[must_use]
    pub fn state(&self, zone: u32) -> ZoneState {
        let word = self.zone(zone, ZoneField::State) as usize;
        ZoneState::ALL.get(word).copied().unwrap_or(ZoneState::Full)
    }

    /// The write pointer of a zone, including pages in progress.
    #[must_use]
    pub fn pointer(&self, zone: u32) -> u32 {
        self.zone(zone, ZoneField::Pointer)
    }

    /// Where the data of a page lies; `None` if it was not written since its zone was reset.
    #[must_use]
    pub fn physical(&self, page: Lpn) -> Option<Ppn> {
        self.lies_at(page.0).map(|(_, ppn)| Ppn(ppn))
    }

    #[inline]
    fn lies_at(&self, page: u32) -> Option<(u32, u32)> {
        let (zone, place) = self.zones.place_of(page);
        let is_written = zone < self.zones.zones && place < self.zone(zone, ZoneField::Written);
        is_written.then(|| self.zones.page_at(self.zone(zone, ZoneField::Slot), place))
    }

    /// Writes the next page of a zone, which was judged.
    #[inline]
    fn program(&mut self, (zone, place): (u32, u32), page: u32, request: u32) -> Operation {
        if place == 0 {
            self.take_slot(zone);
        }
        self.set_zone(zone, ZoneField::Written, place + 1);
        let (plane, ppn) = self.zones.page_at(self.zone(zone, ZoneField::Slot), place);
        Operation {
            kind: OperationKind::Program,
            cause: Cause::Host,
            plane,
            ppn: Ppn(ppn),
            lpn: page,
            after: NOTHING,
            request,
        }
    }

    /// Gives a zone the free slot of its group with the fewest erases.
    fn take_slot(&mut self, zone: u32) {
        let is_free = |slot: &u32| self.owners.get(*slot as usize) == NOTHING;
        let erases = |slot: &u32| self.erases.get(self.zones.first_block(*slot) as usize);
        let slots = self.zones.slots_of(zone).filter(is_free);
        // There are as many slots as zones of the group, and each zone has at most one.
        if let Some(slot) = slots.min_by_key(erases) {
            self.owners.set(slot as usize, zone);
            self.set_zone(zone, ZoneField::Slot, slot);
        }
    }

    fn write(
        &mut self,
        run: &PageRun,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let (zone, place) = self.zones.place_of(run.first.0);
        let end = u64::from(place) + u64::from(run.pages);
        if end > u64::from(self.pointer(zone)) {
            self.judged(run, ZoneAction::None)
                .map_err(|refusal| FirmwareError::Zone { zone, refusal })?;
        }
        if self.zone(zone, ZoneField::Written) != place {
            // It was judged, but an earlier judged write has not come.
            let refusal = ZoneRefusal::NotAtPointer;
            return Err(FirmwareError::Zone { zone, refusal });
        }
        out.counts.lookups += u64::from(run.pages);
        for page in 0..run.pages {
            let program = self.program((zone, place + page), run.first.0 + page, request);
            out.push(program);
        }
        Ok(())
    }

    fn read(&self, page: u32, request: u32, out: &mut OperationBuffer) {
        out.counts.lookups += 1;
        match self.lies_at(page) {
            None => out.counts.unmapped_reads += 1,
            Some(place) => {
                out.push(Operation {
                    request,
                    ..read_of(page, place)
                });
            }
        }
    }

    /// Gives up the zones that a run covers completely.
    fn reset(&mut self, run: &PageRun, request: u32, out: &mut OperationBuffer) {
        let whole = run.whole_pages();
        let zone_pages = self.policies.zone_pages;
        for zone in whole.start.div_ceil(zone_pages)..whole.end / zone_pages {
            if self.state(zone) != ZoneState::Empty {
                let all = PageRun::whole(Action::Trim, Lpn(zone * zone_pages), zone_pages);
                // A reset is always allowed.
                let _ = self.judged(&all, ZoneAction::Reset);
            }
            let written = self.zone(zone, ZoneField::Written);
            let slot = self.zone(zone, ZoneField::Slot);
            if slot == NOTHING {
                continue;
            }
            out.counts.lookups += 1;
            out.counts.trims += u64::from(written);
            for (plane, first) in self.zones.blocks_of(slot, written) {
                let block = self.zones.block_of(first) as usize;
                let erases = self.erases.get(block).saturating_add(1);
                self.erases.set(block, erases);
                out.push(Operation {
                    kind: OperationKind::Erase,
                    cause: Cause::Host,
                    plane,
                    ppn: Ppn(first),
                    lpn: NOTHING,
                    after: NOTHING,
                    request,
                });
            }
            self.owners.set(slot as usize, NOTHING);
            self.set_zone(zone, ZoneField::Slot, NOTHING);
            self.set_zone(zone, ZoneField::Written, 0);
        }
    }
}

fn read_of(page: u32, (plane, ppn): (u32, u32)) -> Operation {
    Operation {
        kind: OperationKind::Read,
        cause: Cause::Host,
        plane,
        ppn: Ppn(ppn),
        lpn: page,
        after: NOTHING,
        request: 0,
    }
}

impl<M: Memory> Firmware for ZoneMap<M> {
    fn layout(&self) -> &FlashLayout {
        &self.layout
    }

    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        for (request, run) in (0..).zip(batch) {
            run.check_end(self.layout.logical_pages)?;
            match run.action {
                Action::Read => {
                    for page in run.first.0..run.first.0 + run.pages {
                        self.read(page, request, operations);
                    }
                }
                Action::Write => self.write(run, request, operations)?,
                Action::Trim => self.reset(run, request, operations),
            }
        }
        Ok(())
    }

    #[inline]
    fn read_one(&mut self, page: Lpn) -> Option<Operation> {
        Some(read_of(page.0, self.lies_at(page.0)?))
    }

    #[inline]
    fn write_one(&mut self, page: Lpn) -> Option<Operation> {
        let (zone, place) = self.zones.place_of(page.0);
        let is_next = zone < self.zones.zones
            && place == self.zone(zone, ZoneField::Written)
            && place < self.zone(zone, ZoneField::Pointer);
        is_next.then(|| self.program((zone, place), page.0, 0))
    }

    fn heeds_completions(&self) -> bool {
        false
    }

    fn zones(&self) -> Option<ZoneShape> {
        Some(ZoneShape {
            zones: self.zones.zones,
            zone_pages: self.policies.zone_pages,
            capacity_pages: self.policies.capacity_pages,
        })
    }

    fn judge(&mut self, run: &PageRun, asked: ZoneAction) -> Result<Judged, ZoneRefusal> {
        self.judged(run, asked)
    }

    fn zone_pointer(&self, zone: u32) -> u32 {
        self.pointer(zone)
    }

    fn zone_counts(&self) -> Option<&ZoneCounts> {
        Some(&self.counts)
    }

    fn watch_zones(&mut self) {
        (self.counts.open_most, self.counts.active_most) = (0, 0);
        self.note_most();
    }

    fn room(&self) -> Option<Room> {
        let layout = &self.layout;
        let slot_blocks = u64::from(self.zones.blocks) * u64::from(self.policies.planes);
        let slots = 0..self.owners.size();
        let free = slots
            .filter(|&slot| self.owners.get(slot) == NOTHING)
            .count() as u64;
        Some(Room {
            blocks: layout.blocks().into(),
            free_blocks: free * slot_blocks,
            planes: layout.planes.into(),
            ..Room::default()
        })
    }

    fn erase_count(&self, block: u32) -> Option<u32> {
        Some(self.erases.get(block as usize))
    }
}
