//! A page map whose host says which data belongs together: the flexible data placement of NVMe.
//!
//! ```text
//!   block          0     1     2     3  ..
//!   plane 0      | u0  | u1  | u2  | u3       a reclaim unit: the same block of every plane of its
//!   plane 1      | u0  | u1  | u2  | u3       group, written page by page across them, erased as
//!   ..                                         one
//!
//!   handle 0 ──> its open unit ──> filled ┐
//!   handle 1 ──> its open unit ──> filled ┼──> the one with the fewest valid pages ──> collection
//!   ..                                    ┘
//!   collection ──> the unit that all share, or that of the data's own handle ([`Isolation`])
//! ```
//!
//! A page of a unit is valid if the map entry of the logical page written there still points to it,
//! so there is no bitmap. When a page moves to another plane, its program waits for its read
//! ([`Operation::after`]).
//!
//! Data without a handle, or with an unknown one, goes to handle 0. Data without a group goes to
//! groups in turn, by page number. If its group is full, data goes to the one with the most room.

mod collection;
mod counts;
mod policies;
mod state;
mod units;

use drivelab_request::PlacementId;

pub use counts::PlacedCounts;
pub use policies::{Isolation, MOST_HANDLES, ReclaimPolicies};

use units::{GroupField, UnitField, Units};

use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind, TRIMMED};
use crate::{
    Action, Firmware, FirmwareError, FlashLayout, LayoutError, Lpn, NOTHING, PageRun, Ppn, Room,
};

/// Page mapping into reclaim units over the memory `M`.
pub struct ReclaimMap<M: Memory> {
    layout: FlashLayout,
    policies: ReclaimPolicies,
    map: M::Wide,
    owner: M::Wide,
    units: Units<M>,
    most_valid: u32,
    /// Where the next data should go; not part of a state.
    placement: PlacementId,
    /// Counts since it was made; not part of a state either.
    counts: PlacedCounts,
}

impl<M: Memory> Clone for ReclaimMap<M> {
    fn clone(&self) -> Self {
        Self {
            layout: self.layout,
            policies: self.policies,
            map: self.map.clone(),
            owner: self.owner.clone(),
            units: self.units.clone(),
            most_valid: self.most_valid,
            placement: self.placement,
            counts: self.counts.clone(),
        }
    }
}

impl<M: Memory> ReclaimMap<M> {
    /// A new drive: every unit erased, no page mapped.
    ///
    /// # Errors
    /// [`LayoutError`] if the policies cannot work on the layout.
    pub fn erased(layout: FlashLayout, policies: ReclaimPolicies) -> Result<Self, LayoutError> {
        policies.validate(&layout)?;
        Ok(Self {
            layout,
            policies,
            map: M::Wide::filled(layout.logical_pages as usize, NOTHING),
            owner: M::Wide::filled(layout.physical_pages() as usize, NOTHING),
            units: Units::erased(&layout, &policies),
            most_valid: policies.most_valid(&layout),
            placement: PlacementId::default(),
            counts: PlacedCounts::of(policies.handles),
        })
    }

    /// Bytes of the tables for `layout`. Undoing adds a thousandth.
    #[must_use]
    pub fn table_bytes(layout: &FlashLayout, policies: &ReclaimPolicies) -> u64 {
        let maps = (u64::from(layout.logical_pages) + layout.physical_pages()) * 4;
        maps + Units::<M>::table_bytes(layout, policies)
    }

    /// Where the newest data of `page` lies; `None` if it was never written or is trimmed.
    #[must_use]
    pub fn physical(&self, page: Lpn) -> Option<Ppn> {
        let ppn = self.map.get(page.0 as usize);
        (ppn < TRIMMED).then_some(Ppn(ppn))
    }

    /// Erased units of a group that are not being filled.
    #[must_use]
    pub fn free_units(&self, group: u32) -> u32 {
        self.units.group(group, GroupField::Free)
    }

    /// The handle and the group for the next write to `logical`.
    fn resolve(&mut self, logical: u32, old: u32) -> (u32, u32) {
        let PlacementId { handle, group } = self.placement;
        let handle = handle.map_or(0, u32::from);
        let (handles, groups) = (self.policies.handles, self.policies.groups);
        let known = group.map(u32::from).filter(|&group| group < groups);
        let is_known = handle < handles && known.is_some() == group.is_some();
        self.counts.invalid_pages += u64::from(!is_known);
        let handle = if handle < handles { handle } else { 0 };
        let wanted = known.unwrap_or(logical % groups);
        let is_there = old < TRIMMED && self.units.group_of(old) == wanted;
        let valid = |group: &u32| self.units.group(*group, GroupField::Valid);
        if is_there || valid(&wanted) < self.most_valid {
            return (handle, wanted);
        }
        self.counts.displaced_pages += 1;
        // Among groups with equal room: the page's own, which gets no fuller, or else the first.
        let group = (0..groups).min_by_key(valid).unwrap_or(wanted);
        match (old < TRIMMED).then(|| self.units.group_of(old)) {
            Some(own) if valid(&own) == valid(&group) => (handle, own),
            _ => (handle, group),
        }
    }

    /// The next page of a unit that is being filled, for data that moves from a plane or comes from
    /// the host. Opens a unit if necessary. `None` if no unit is free.
    fn next_page(&mut self, group: u32, lane: u32, from: Option<u32>) -> Option<Ppn> {
        let unit = match self.units.open_unit(group, lane) {
            Some(unit) => unit,
            None => {
                let unit = self.units.open(group, lane)?;
                self.counts.unit_switches += u64::from(lane < self.policies.handles);
                unit
            }
        };
        Some(Ppn(match from {
            None => self.units.take_page(unit, group, lane),
            Some(plane) => self.units.take_page_near(unit, (group, lane), plane),
        }))
    }

    /// Makes `page` the place of `logical`, whose data was at `old`.
    fn occupy(&mut self, page: Ppn, logical: u32, old: u32) {
        self.leave(old);
        self.owner.set(page.0 as usize, logical);
        self.map.set(logical as usize, page.0);
        self.units.count_valid(page.0, 1);
    }

    /// The data at `old`, if that is a page, is gone.
    fn leave(&mut self, old: u32) {
        if old < TRIMMED {
            self.units.count_valid(old, -1);
        }
    }

    fn write_page(
        &mut self,
        logical: u32,
        partial: bool,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let (handle, group) = self.resolve(logical, self.map.get(logical as usize));
        if self.units.open_unit(group, handle).is_none() {
            self.make_room(group, request, out)?;
        }
        out.counts.lookups += 1;
        // Collection may just have moved it.
        let old = self.map.get(logical as usize);
        let mut program = Operation {
            kind: OperationKind::Program,
            cause: Cause::Host,
            plane: 0,
            ppn: Ppn(NOTHING),
            lpn: logical,
            after: NOTHING,
            request,
        };
        if partial && old < TRIMMED {
            program.after = out.push(Operation {
                kind: OperationKind::Read,
                plane: self.units.plane_of(old),
                ppn: Ppn(old),
                ..program
            });
        }
        program.ppn = self
            .next_page(group, handle, None)
            .ok_or_else(|| self.no_space(group))?;
        program.plane = self.units.plane_of(program.ppn.0);
        self.occupy(program.ppn, logical, old);
        self.counts.host_pages[handle as usize] += 1;
        self.counts.media_pages[handle as usize] += 1;
        out.push(program);
        if self.policies.pace.is_spread() {
            self.collect_a_little(group, request, out)?;
        }
        Ok(())
    }

    fn read_page(&mut self, logical: u32, request: u32, out: &mut OperationBuffer) {
        out.counts.lookups += 1;
        let ppn = self.map.get(logical as usize);
        out.counts.unmapped_reads += u64::from(ppn == NOTHING);
        out.counts.trimmed_reads += u64::from(ppn == TRIMMED);
        if ppn < TRIMMED {
            out.push(Operation {
                request,
                ..self.read_of(logical, ppn)
            });
        }
    }

    fn read_of(&self, logical: u32, ppn: u32) -> Operation {
        Operation {
            kind: OperationKind::Read,
            cause: Cause::Host,
            plane: self.units.plane_of(ppn),
            ppn: Ppn(ppn),
            lpn: logical,
            after: NOTHING,
            request: 0,
        }
    }

    fn trim(&mut self, run: &PageRun, out: &mut OperationBuffer) {
        for page in run.whole_pages() {
            let old = self.map.get(page as usize);
            out.counts.lookups += 1;
            out.counts.trims += u64::from(old < TRIMMED);
            self.leave(old);
            self.map.set(page as usize, TRIMMED);
        }
    }

    fn no_space(&self, group: u32) -> FirmwareError {
        // Its first plane has the number of the group.
        FirmwareError::NoSpace { plane: group }
    }
}

impl<M: Memory> Firmware for ReclaimMap<M> {
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
                        self.read_page(page, request, operations);
                    }
                }
                Action::Write => {
                    for page in pages {
                        self.write_page(page, run.is_partial(page), request, operations)?;
                    }
                }
                Action::Trim => self.trim(run, operations),
            }
        }
        Ok(())
    }

    fn heeds_completions(&self) -> bool {
        false
    }

    fn uses_after(&self) -> bool {
        true
    }

    fn takes_placements(&self) -> bool {
        true
    }

    fn place(&mut self, placement: PlacementId) {
        self.placement = placement;
    }

    fn placed_counts(&self) -> Option<&PlacedCounts> {
        Some(&self.counts)
    }

    fn room(&self) -> Option<Room> {
        Some(self.units.room(&self.layout, self.stop_units()))
    }

    fn erase_count(&self, block: u32) -> Option<u32> {
        Some(
            self.units
                .unit(self.units.of_block(block), UnitField::Erases),
        )
    }

    fn prefetch_map(&self, page: Lpn) {
        self.map.prefetch(page.0 as usize);
    }
}
