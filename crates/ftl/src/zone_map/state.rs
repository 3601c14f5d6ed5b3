//! The state of a map of zones: kept, restored, written and read back.

use super::rules::Total;
use super::{ZoneField, ZoneMap, ZoneState};
use crate::memory::{Cells, Memory};
use crate::snapshot::{Checked, Reader, StateError, check, write_changes};
use crate::wear::drawn_erases;
use crate::{NOTHING, Restorable};

impl<M: Memory> ZoneMap<M> {
    fn tables(&self) -> [&M::Wide; 4] {
        [&self.zone_words, &self.owners, &self.erases, &self.totals]
    }

    fn every_table(&mut self) -> [&mut M::Wide; 4] {
        [
            &mut self.zone_words,
            &mut self.owners,
            &mut self.erases,
            &mut self.totals,
        ]
    }

    fn check_zone(&self, zone: u32) -> Checked {
        let word = |field| self.zone(zone, field);
        let (pointer, written, slot) = (
            word(ZoneField::Pointer),
            word(ZoneField::Written),
            word(ZoneField::Slot),
        );
        check(
            (word(ZoneField::State) as usize) < ZoneState::ALL.len(),
            "a zone is in no state that there is",
        )?;
        // Between two runs nothing is in progress.
        let capacity = self.policies.capacity_pages;
        let fits = match self.state(zone) {
            ZoneState::Empty => pointer == 0,
            ZoneState::Full => pointer <= capacity,
            ZoneState::Implicit | ZoneState::Explicit | ZoneState::Closed => pointer < capacity,
        };
        check(
            fits && written == pointer,
            "a zone is written otherwise than its state says",
        )?;
        let has_slot =
            self.zones.slots_of(zone).contains(&slot) && self.owners.get(slot as usize) == zone;
        check(
            if written == 0 {
                slot == NOTHING
            } else {
                has_slot
            },
            "a zone lies where it cannot",
        )
    }

    fn check_totals(&self) -> Checked {
        let states = || (0..self.zones.zones).map(|zone| self.state(zone));
        let count = |is: fn(&ZoneState) -> bool| states().filter(is).count();
        let open = count(|state| matches!(state, ZoneState::Implicit | ZoneState::Explicit));
        let closed = count(|state| *state == ZoneState::Closed);
        check(
            open == self.total(Total::Open) as usize
                && open + closed == self.total(Total::Active) as usize
                && open <= self.policies.most_open as usize
                && open + closed <= self.policies.most_active as usize,
            "another number of zones is open or active",
        )?;
        let slots = 0..self.owners.size();
        let taken = slots.filter(|&slot| self.owners.get(slot) != NOTHING);
        let zones = 0..self.zones.zones;
        let lie = zones.filter(|&zone| self.zone(zone, ZoneField::Slot) != NOTHING);
        check(
            taken.count() == lie.count(),
            "blocks belong to a zone that lies elsewhere",
        )
    }
}

impl<M: Memory> Restorable for ZoneMap<M> {
    fn checkpoint(&mut self) {
        for table in self.every_table() {
            table.checkpoint();
        }
    }

    fn rollback(&mut self, then: &Self) {
        for (table, then) in self.every_table().into_iter().zip(then.tables()) {
            table.rollback(then);
        }
    }

    fn changes_since(&self, base: &Self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (now, then) in self.tables().into_iter().zip(base.tables()) {
            write_changes(&mut bytes, now, then);
        }
        bytes
    }

    fn apply_changes(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut reader = Reader::of(bytes);
        for table in self.every_table() {
            for (place, value) in reader.table(table.size())? {
                table.set(place, value);
            }
        }
        reader.check_end()?;
        (0..self.zones.zones).try_for_each(|zone| self.check_zone(zone))?;
        self.check_totals()
    }

    fn set_worn(&mut self, mean: u32, spread: u32) {
        for block in 0..self.layout.blocks() {
            (self.erases).set(block as usize, drawn_erases(block, mean, spread));
        }
    }
}
