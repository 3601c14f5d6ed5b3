//! The state of a compressing map: kept, restored, written and read back.

use super::{CompressedMap, Extent, HELD, MOST_SLOTS, Origin, ZERO};
use crate::Restorable;
use crate::memory::{Cells, Memory};
use crate::operation::TRIMMED;
use crate::snapshot::{Reader, StateError, check, write_changes};
use crate::wear::drawn_erases;

impl<M: Memory> CompressedMap<M> {
    /// The tables written in addition to the map. The reverse map is derived from it.
    fn tables(&self) -> [&M::Wide; 6] {
        let space = &self.space;
        [
            &self.waiting,
            &space.planes,
            &space.free,
            &space.closed_at,
            &space.erases,
            &space.registers,
        ]
    }

    fn every_table(&mut self) -> [&mut M::Wide; 6] {
        let space = &mut self.space;
        [
            &mut self.waiting,
            &mut space.planes,
            &mut space.free,
            &mut space.closed_at,
            &mut space.erases,
            &mut space.registers,
        ]
    }

    /// Checks that `entry` is possible for `logical` in the map.
    fn check_entry(&self, logical: u32, entry: u32) -> Result<Option<Extent>, StateError> {
        let Some(extent) = Extent::of(entry) else {
            return Ok(None);
        };
        let slots = self.space.layout.physical_pages();
        let is_aligned = extent.size <= self.whole && extent.slot % (1 << extent.size) == 0;
        check(
            is_aligned && u64::from(extent.slot) < slots,
            "a page lies where no flash is",
        )?;
        let per_plane = self.layout.blocks_per_plane * self.space.pages_per_block();
        check(
            extent.slot / per_plane == self.plane_of(logical),
            "a page lies on another plane than its own",
        )?;
        Ok(Some(extent))
    }

    fn move_pages(&mut self, pages: &[(usize, u32)]) -> Result<(), StateError> {
        for &(logical, entry) in pages {
            if let Some(extent) = Extent::of(self.map.get(logical)) {
                for slot in extent.slots() {
                    self.space.valid.invalidate(slot);
                }
            }
            self.map.set(logical, entry);
        }
        for &(logical, entry) in pages {
            let Some(extent) = self.check_entry(logical as u32, entry)? else {
                continue;
            };
            for slot in extent.slots() {
                check(
                    !self.space.valid.holds(slot),
                    "two pages lie in the same place",
                )?;
                self.space.valid.validate(slot);
            }
            self.owner.set(extent.slot as usize, logical as u32);
        }
        Ok(())
    }

    /// Checks that the waiting pages are those of the map, each once.
    fn check_waiting(&self) -> Result<(), StateError> {
        let mut waiting = Vec::new();
        for plane in 0..self.layout.planes {
            for origin in Origin::ALL {
                for size in 0..self.whole {
                    let place = self.waiting_place(plane, origin, size);
                    let count = self.waiting.get(place);
                    check(
                        count < 1 << (self.whole - size),
                        "too many pages wait together",
                    )?;
                    for at in 1..=count as usize {
                        let logical = self.waiting.get(place + at);
                        let is_page = logical < self.layout.logical_pages;
                        check(
                            is_page && self.plane_of(logical) == plane,
                            "a page waits that is not of its plane",
                        )?;
                        waiting.push(logical);
                    }
                }
            }
        }
        waiting.sort_unstable();
        let held = (0..self.layout.logical_pages).filter(|&l| self.map.get(l as usize) == HELD);
        check(
            held.eq(waiting.iter().copied()),
            "what waits is not what the map says",
        )
    }
}

impl<M: Memory> Restorable for CompressedMap<M> {
    fn checkpoint(&mut self) {
        self.map.checkpoint();
        self.owner.checkpoint();
        self.waiting.checkpoint();
        self.space.checkpoint();
    }

    fn rollback(&mut self, then: &Self) {
        self.map.rollback(&then.map);
        self.owner.rollback(&then.owner);
        self.waiting.rollback(&then.waiting);
        self.space.rollback(&then.space);
    }

    fn changes_since(&self, base: &Self) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_changes(&mut bytes, &self.map, &base.map);
        for (now, then) in self.tables().into_iter().zip(base.tables()) {
            write_changes(&mut bytes, now, then);
        }
        bytes
    }

    fn apply_changes(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut reader = Reader::of(bytes);
        let pages = reader.table(self.map.size())?;
        // Until open blocks are known, only written pages count.
        for plane in 0..self.layout.planes {
            self.space.count_ahead(plane, false);
        }
        self.move_pages(&pages)?;
        for table in self.every_table() {
            for (place, value) in reader.table(table.size())? {
                table.set(place, value);
            }
        }
        reader.check_end()?;
        for plane in 0..self.layout.planes {
            self.space.check_plane(plane)?;
        }
        self.check_waiting()
    }

    fn set_worn(&mut self, mean: u32, spread: u32) {
        self.space
            .set_erase_counts(|block| drawn_erases(block, mean, spread));
    }
}

// An entry's size and slot never look like one of the special values.
const _: () =
    assert!(4 << super::SLOT_BITS | (MOST_SLOTS - 1) < HELD && HELD < ZERO && ZERO < TRIMMED);
