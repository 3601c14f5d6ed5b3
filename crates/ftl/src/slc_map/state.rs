//! The state of a drive with a pseudo-SLC region: kept, restored, written and read back.

use super::{RING_WORDS, Ring, SlcMap};
use crate::memory::{Cells, Memory};
use crate::operation::{OperationBuffer, TRIMMED};
use crate::snapshot::{Reader, StateError, check, write_changes, write_number};
use crate::wear::drawn_erases;
use crate::{IdleTime, Restorable};

impl<M: Memory> SlcMap<M> {
    fn tables(&self) -> [&M::Wide; 4] {
        [&self.place_of, &self.logged, &self.rings, &self.erases]
    }

    fn every_table(&mut self) -> [&mut M::Wide; 4] {
        [
            &mut self.place_of,
            &mut self.logged,
            &mut self.rings,
            &mut self.erases,
        ]
    }

    /// Checks the rings, and that every page in one has no other place.
    fn check_rings(&self) -> Result<(), StateError> {
        let places = self.places();
        for plane in 0..self.layout.planes {
            let ring = |word| self.ring(plane, word);
            let (next, used, fold) = (ring(Ring::Next), ring(Ring::Used), ring(Ring::Fold));
            let first = fold / self.pages * self.pages;
            let is_ring = next < places && fold < places && used <= places;
            check(
                is_ring && fold - first <= used && (first + used) % places == next,
                "a ring of SLC blocks does not fit",
            )?;
            let held = ring(Ring::Held);
            let is_held = held == 0 || held == fold + 1;
            check(is_held, "a page is held that is not folded")?;
        }
        let planes = self.layout.planes as usize;
        let turn = self.rings.get(planes * RING_WORDS) as usize;
        check(turn < planes, "the plane whose turn it is does not exist")?;
        for logical in 0..self.layout.logical_pages {
            let Some(place) = self.place_of.get(logical as usize).checked_sub(1) else {
                continue;
            };
            check(place < places, "a page lies where no SLC block is")?;
            let plane = self.plane_of(logical);
            let first = self.ring(plane, Ring::Fold);
            let age = (place + places - first) % places;
            let left = self.ring(plane, Ring::Used) - first % self.pages;
            let is_there = self.newest_at(plane, place) == Some(logical)
                && self.dense.map.get(logical as usize) == TRIMMED;
            check(age < left && is_there, "a page lies in two places")?;
        }
        Ok(())
    }
}

impl<M: Memory> Restorable for SlcMap<M> {
    fn checkpoint(&mut self) {
        self.dense.checkpoint();
        for table in self.every_table() {
            table.checkpoint();
        }
    }

    fn rollback(&mut self, then: &Self) {
        self.dense.rollback(&then.dense);
        for (table, then) in self.every_table().into_iter().zip(then.tables()) {
            table.rollback(then);
        }
    }

    fn changes_since(&self, base: &Self) -> Vec<u8> {
        let dense = self.dense.changes_since(&base.dense);
        let mut bytes = Vec::new();
        write_number(&mut bytes, dense.len());
        bytes.extend(dense);
        for (now, then) in self.tables().into_iter().zip(base.tables()) {
            write_changes(&mut bytes, now, then);
        }
        bytes
    }

    fn apply_changes(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut reader = Reader::of(bytes);
        let dense = reader.bytes()?;
        self.dense.apply_changes(dense)?;
        for table in self.every_table() {
            for (place, value) in reader.table(table.size())? {
                table.set(place, value);
            }
        }
        reader.check_end()?;
        for place in 0..self.logged.size() {
            let logical = self.logged.get(place);
            let is_page = logical < self.layout.logical_pages || logical == crate::NOTHING;
            check(is_page, "an SLC page holds no logical page")?;
        }
        self.check_rings()
    }

    fn set_worn(&mut self, mean: u32, spread: u32) {
        self.dense.set_worn(mean, spread);
        for block in 0..self.erases.size() {
            // Separate numbers, as if they lay behind all others.
            let number = self.layout.blocks() + block as u32;
            self.erases.set(block, drawn_erases(number, mean, spread));
        }
    }

    fn rest(&mut self) {
        let mut out = OperationBuffer::default();
        loop {
            out.clear();
            self.work_in_background(&IdleTime::on_all_planes(1024), &mut out);
            if out.operations().is_empty() {
                return;
            }
        }
    }

    fn without_derived(mut self, bytes: u64) -> Self {
        self.dense = self.dense.without_derived(bytes);
        self
    }

    fn complete(&self) -> Self {
        self.clone_with(self.dense.complete())
    }
}
