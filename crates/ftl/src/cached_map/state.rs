//! The state of demand-cached mapping: kept, restored, written and read back.

use super::CachedMap;
use crate::Restorable;
use crate::memory::{Cells, Memory};
use crate::snapshot::{Reader, StateError, check, write_changes, write_number};

/// Tables that are written in addition to the page map's.
const WRITTEN: usize = 4;

impl<M: Memory> CachedMap<M> {
    fn tables(&self) -> [&M::Wide; WRITTEN] {
        let [slots, lists] = self.cache.tables();
        [slots, lists, &self.dirty, &self.moved]
    }

    /// The same, and the table derived from them.
    fn every_table(&mut self) -> [&mut M::Wide; WRITTEN + 1] {
        let [slots, lists, slot_of] = self.cache.every_table();
        [slots, lists, &mut self.dirty, &mut self.moved, slot_of]
    }

    /// Refuses bits of entries and translation pages that do not exist.
    fn check_bits(&self) -> Result<(), StateError> {
        for (word, bits) in (0..self.dirty.size()).map(|word| (word, self.dirty.get(word))) {
            let map_page = word / self.dirty_words as usize;
            let entry = word % self.dirty_words as usize * 32;
            let last = entry + 31 - bits.leading_zeros() as usize % 32;
            let is_there = last < self.entries as usize
                && map_page * self.entries as usize + last < self.layout.logical_pages as usize;
            check(
                bits == 0 || is_there,
                "an entry is dirty that does not exist",
            )?;
        }
        for (word, bits) in (0..self.moved.size()).map(|word| (word, self.moved.get(word))) {
            let first = word % self.moved_words as usize * 32;
            let last = first + 31 - bits.leading_zeros() as usize % 32;
            let is_there = last < self.map_pages() as usize;
            check(
                bits == 0 || is_there,
                "a translation page has moved that does not exist",
            )?;
        }
        Ok(())
    }
}

impl<M: Memory> Restorable for CachedMap<M> {
    fn checkpoint(&mut self) {
        self.pages.checkpoint();
        for table in self.every_table() {
            table.checkpoint();
        }
    }

    fn rollback(&mut self, then: &Self) {
        self.pages.rollback(&then.pages);
        let tables = then.tables().into_iter().chain([then.cache.derived()]);
        for (table, then) in self.every_table().into_iter().zip(tables) {
            table.rollback(then);
        }
    }

    fn changes_since(&self, base: &Self) -> Vec<u8> {
        let pages = self.pages.changes_since(&base.pages);
        let mut bytes = Vec::new();
        write_number(&mut bytes, pages.len());
        bytes.extend(pages);
        for (now, then) in self.tables().into_iter().zip(base.tables()) {
            write_changes(&mut bytes, now, then);
        }
        bytes
    }

    fn apply_changes(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut reader = Reader::of(bytes);
        let pages = reader.bytes()?;
        self.pages.apply_changes(pages)?;
        for table in self.every_table().into_iter().take(WRITTEN) {
            for (place, value) in reader.table(table.size())? {
                table.set(place, value);
            }
        }
        reader.check_end()?;
        self.cache.check_lists()?;
        self.check_bits()
    }

    fn set_worn(&mut self, mean: u32, spread: u32) {
        self.pages.set_worn(mean, spread);
    }

    fn without_derived(mut self, bytes: u64) -> Self {
        self.pages = self.pages.without_derived(bytes);
        self
    }

    fn complete(&self) -> Self {
        self.clone_with(self.pages.complete())
    }
}
