//! How reclaim units are won back: greedily, by group.

use super::ReclaimMap;
use super::units::{GroupField, UnitField};
use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind};
use crate::{FirmwareError, NOTHING, Pace, Ppn};

impl<M: Memory> ReclaimMap<M> {
    /// Free units of a group at which its collection stops.
    pub(super) fn stop_units(&self) -> u32 {
        self.policies.stop_units(self.layout.reserve_blocks)
    }

    /// Whether collection should continue. It starts when the free units of a group fall to the
    /// reserve, and stops at its limit.
    fn wants_collection(&mut self, group: u32) -> bool {
        let free = self.free_units(group);
        let collecting = self.units.group(group, GroupField::Collecting) != 0;
        let wants = free <= self.layout.reserve_blocks || (collecting && free < self.stop_units());
        self.units
            .set_group(group, GroupField::Collecting, wants.into());
        wants
    }

    /// The unit being collected, or another from which something can be won.
    fn victim(&mut self, group: u32) -> Option<u32> {
        if let Some(victim) = self.units.victim(group) {
            return Some(victim);
        }
        let victim = self.units.choose_victim(group)?;
        let is_empty = self.units.unit(victim, UnitField::Valid) == 0;
        self.counts.empty_units += u64::from(is_empty);
        self.counts.moved_units += u64::from(!is_empty);
        Some(victim)
    }

    /// Called before the host's next unit is opened: collects until the reserve is complete. If
    /// paced, until one unit is left for collection itself.
    #[cold]
    pub(super) fn make_room(
        &mut self,
        group: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        loop {
            let wants = match self.policies.pace {
                Pace::WholeBlock => self.wants_collection(group),
                Pace::Paced | Pace::Adaptive => self.free_units(group) <= 1,
            };
            if !wants {
                return Ok(());
            }
            let victim = self.victim(group).ok_or_else(|| self.no_space(group))?;
            self.collect(group, victim, u32::MAX, request, out)?;
        }
    }

    /// Paced collection: the moves that one host write owes.
    pub(super) fn collect_a_little(
        &mut self,
        group: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        if self.units.victim(group).is_none() && !self.wants_collection(group) {
            return Ok(());
        }
        let Some(victim) = self.victim(group) else {
            // `make_room` decides when something must be won.
            return Ok(());
        };
        let word = |field| self.units.group(group, field);
        let credit = word(GroupField::Credit) + word(GroupField::CreditPerWrite);
        let price = word(GroupField::CreditPerMove).max(1);
        self.units
            .set_group(group, GroupField::Credit, credit % price);
        self.collect(group, victim, credit / price, request, out)
    }

    /// Moves up to `most` valid pages of `victim`, and erases it when it holds none any more.
    fn collect(
        &mut self,
        group: u32,
        victim: u32,
        most: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let handle = self.units.unit(victim, UnitField::Handle);
        let lane = self.units.lane_of_moves(handle);
        let mut place = self.units.group(group, GroupField::VictimPage);
        let mut moved = 0;
        while moved < most && self.units.unit(victim, UnitField::Valid) > 0 {
            let old = self.units.page_at(victim, place);
            place += 1;
            let logical = self.owner.get(old as usize);
            if logical == NOTHING || self.map.get(logical as usize) != old {
                continue;
            }
            self.move_page(Ppn(old), logical, (group, lane), request, out)?;
            moved += 1;
        }
        self.units.set_group(group, GroupField::VictimPage, place);
        out.counts.moves += u64::from(moved);
        if let Some(pages) = self.counts.media_pages.get_mut(handle as usize) {
            *pages += u64::from(moved);
        }
        if self.units.unit(victim, UnitField::Valid) == 0 {
            self.erase(group, victim, request, out);
        }
        Ok(())
    }

    fn move_page(
        &mut self,
        old: Ppn,
        logical: u32,
        (group, lane): (u32, u32),
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let new = self
            .next_page(group, lane, Some(self.units.plane_of(old.0)))
            .ok_or_else(|| self.no_space(group))?;
        self.occupy(new, logical, old.0);
        let read = Operation {
            kind: OperationKind::Read,
            cause: Cause::Collection,
            plane: self.units.plane_of(old.0),
            ppn: old,
            lpn: logical,
            after: NOTHING,
            request,
        };
        let after = out.push(read);
        out.push(Operation {
            kind: OperationKind::Program,
            plane: self.units.plane_of(new.0),
            ppn: new,
            after,
            ..read
        });
        Ok(())
    }

    fn erase(&mut self, group: u32, victim: u32, request: u32, out: &mut OperationBuffer) {
        for (plane, page) in self.units.blocks(victim) {
            out.push(Operation {
                kind: OperationKind::Erase,
                cause: Cause::Collection,
                plane,
                ppn: Ppn(page),
                lpn: NOTHING,
                after: NOTHING,
                request,
            });
            out.counts.collections += 1;
        }
        self.units.give_back(group, victim);
    }
}
