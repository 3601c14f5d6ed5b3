//! The state of a reclaim map: kept, restored, written and read back.
//!
//! Written are map, units, groups and lanes, and how far these are filled. The reverse map follows from the map.

use super::ReclaimMap;
use super::policies::Isolation;
use super::units::{GroupField, UnitField, UnitState};
use crate::Restorable;
use crate::memory::{Cells, Memory};
use crate::operation::TRIMMED;
use crate::snapshot::{Checked, Reader, StateError, check, write_changes};
use crate::wear::drawn_erases;

impl<M: Memory> ReclaimMap<M> {
    /// Checks that every page has a valid place of its own, and counts those of each unit.
    fn check_pages(&mut self) -> Result<Vec<u32>, StateError> {
        let units = self.layout.blocks_per_plane as usize * self.groups() as usize;
        let mut valid = vec![0; units];
        let mut opened = vec![None; units];
        for (group, lane) in self.every_lane() {
            let unit = self.units.open_unit(group, lane);
            if let Some(lane_of) = unit.and_then(|unit| opened.get_mut(unit as usize)) {
                *lane_of = Some(lane);
            }
        }
        for logical in 0..self.layout.logical_pages {
            let page = self.map.get(logical as usize);
            if page >= TRIMMED {
                continue;
            }
            check(
                u64::from(page) < self.layout.physical_pages(),
                "a page lies where no flash is",
            )?;
            let unit = self.units.of_page(page);
            let filled = self.units.filled_beside(unit, opened[unit as usize], page);
            check(
                page % self.layout.pages_per_block < filled,
                "a page lies where nothing was written",
            )?;
            valid[unit as usize] += 1;
            self.owner.set(page as usize, logical);
        }
        for logical in 0..self.layout.logical_pages {
            let page = self.map.get(logical as usize);
            check(
                page >= TRIMMED || self.owner.get(page as usize) == logical,
                "two pages lie in the same place",
            )?;
        }
        Ok(valid)
    }

    fn every_lane(&self) -> impl Iterator<Item = (u32, u32)> + use<M> {
        let lanes = self.policies.lanes();
        (0..self.groups()).flat_map(move |group| (0..lanes).map(move |lane| (group, lane)))
    }

    const fn groups(&self) -> u32 {
        self.units.group_count()
    }

    /// Checks that no block is filled beyond its end.
    fn check_filled(&self) -> Checked {
        let filled = &self.units.filled;
        let mut of_blocks = (0..filled.size()).map(|place| filled.get(place));
        check(
            of_blocks.all(|pages| pages <= self.layout.pages_per_block),
            "a block is filled beyond its end",
        )
    }

    fn check_unit(&self, unit: u32, valid: u32) -> Checked {
        let word = |field| self.units.unit(unit, field);
        let (next, pages) = (word(UnitField::Next), self.units.unit_pages);
        let is = |state| self.units.is(unit, state);
        let is_filled_so = match next {
            0 => is(UnitState::Free) || is(UnitState::Open),
            next if next < pages => is(UnitState::Open),
            _ => next == pages && (is(UnitState::Closed) || is(UnitState::Victim)),
        };
        check(
            is_filled_so,
            "a reclaim unit is filled otherwise than it is",
        )?;
        // If moved data stays separate by handle, no unit holds data of several handles.
        let most = match self.policies.isolation {
            Isolation::Initial => self.policies.handles,
            Isolation::Persistent => self.policies.handles - 1,
        };
        check(
            word(UnitField::Handle) <= most,
            "a reclaim unit is of a handle that there is not",
        )?;
        check(
            valid == word(UnitField::Valid),
            "a reclaim unit holds another number of pages",
        )
    }

    fn check_group(&self, group: u32, valid: &[u32]) -> Checked {
        let units = &self.units;
        let (mut free, mut open, mut held) = (0, 0, 0);
        for unit in units.of_group(group) {
            self.check_unit(unit, valid[unit as usize])?;
            free += u32::from(units.is(unit, UnitState::Free));
            open += u32::from(units.is(unit, UnitState::Open));
            held += valid[unit as usize];
            check(
                units.is(unit, UnitState::Victim) == (units.victim(group) == Some(unit)),
                "a group collects another reclaim unit",
            )?;
        }
        let mut opened = Vec::new();
        for lane in 0..self.policies.lanes() {
            let Some(unit) = units.open_unit(group, lane) else {
                continue;
            };
            let handle = units.handle_of_lane(lane);
            check(
                units.of_group(group).contains(&unit)
                    && units.is(unit, UnitState::Open)
                    && units.unit(unit, UnitField::Handle) == handle
                    && !opened.contains(&unit),
                "a reclaim unit is open that cannot be",
            )?;
            if lane >= self.policies.handles {
                check(
                    units.filled_of_moves(group, lane) == units.unit(unit, UnitField::Next),
                    "a reclaim unit is filled otherwise than it is",
                )?;
            }
            opened.push(unit);
        }
        let word = |field| units.group(group, field);
        let victim = units.victim(group);
        check(
            victim.is_none_or(|victim| units.of_group(group).contains(&victim)),
            "a group collects another reclaim unit",
        )?;
        let are_small = [
            GroupField::VictimPage,
            GroupField::Credit,
            GroupField::CreditPerWrite,
            GroupField::CreditPerMove,
        ];
        check(
            opened.len() as u32 == open
                && free == word(GroupField::Free)
                && held == word(GroupField::Valid)
                && word(GroupField::Collecting) <= 1
                && are_small
                    .into_iter()
                    .all(|field| word(field) <= units.unit_pages),
            "a count of a group is out of range",
        )?;
        let Some(victim) = victim else {
            return Ok(());
        };
        let behind = (0..word(GroupField::VictimPage)).any(|place| {
            let page = units.page_at(victim, place);
            let owner = self.owner.get(page as usize);
            owner < self.layout.logical_pages && self.map.get(owner as usize) == page
        });
        check(!behind, "a victim holds data that was moved")
    }
}

impl<M: Memory> Restorable for ReclaimMap<M> {
    fn checkpoint(&mut self) {
        self.map.checkpoint();
        self.owner.checkpoint();
        self.units.checkpoint();
    }

    fn rollback(&mut self, then: &Self) {
        self.map.rollback(&then.map);
        self.owner.rollback(&then.owner);
        self.units.rollback(&then.units);
    }

    fn changes_since(&self, base: &Self) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_changes(&mut bytes, &self.map, &base.map);
        write_changes(&mut bytes, &self.units.units, &base.units.units);
        write_changes(&mut bytes, &self.units.groups, &base.units.groups);
        write_changes(&mut bytes, &self.units.lanes, &base.units.lanes);
        write_changes(&mut bytes, &self.units.filled, &base.units.filled);
        bytes
    }

    fn apply_changes(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut reader = Reader::of(bytes);
        let units = &mut self.units;
        for table in [
            &mut self.map,
            &mut units.units,
            &mut units.groups,
            &mut units.lanes,
            &mut units.filled,
        ] {
            for (place, value) in reader.table(table.size())? {
                table.set(place, value);
            }
        }
        reader.check_end()?;
        self.check_filled()?;
        let valid = self.check_pages()?;
        (0..self.groups()).try_for_each(|group| self.check_group(group, &valid))
    }

    fn set_worn(&mut self, mean: u32, spread: u32) {
        // The blocks of a unit are erased together.
        for unit in 0..self.layout.blocks_per_plane * self.groups() {
            (self.units).set_unit(unit, UnitField::Erases, drawn_erases(unit, mean, spread));
        }
    }
}
