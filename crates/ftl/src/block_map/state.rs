//! The state of block mapping: kept, restored, written and read back.
//!
//! Only tables that cannot be derived are written: map, data blocks, log blocks, next pages,
//! erases, free blocks, planes. Which log belongs to which block, and for whom a shared log's pages
//! were written, follows from them.

use super::{BlockMap, BlockScheme, Field, LOG_WORDS, Log};
use crate::memory::{Cells, Memory};
use crate::operation::TRIMMED;
use crate::snapshot::{Checked, Reader, StateError, check, write_changes};
use crate::wear::drawn_erases;
use crate::{NOTHING, Restorable};

/// Tables that are written.
const WRITTEN: usize = 7;

impl<M: Memory> Restorable for BlockMap<M> {
    fn checkpoint(&mut self) {
        for table in self.every_table() {
            table.checkpoint();
        }
    }

    fn rollback(&mut self, then: &Self) {
        let tables = then.tables();
        let derived = [&then.log_of, &then.logged];
        for (table, then) in self
            .every_table()
            .into_iter()
            .zip(tables.into_iter().chain(derived))
        {
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
        for table in self.every_table().into_iter().take(WRITTEN) {
            for (place, value) in reader.table(table.size())? {
                table.set(place, value);
            }
        }
        reader.check_end()?;
        for block in 0..self.log_of.size() {
            self.log_of.set(block, 0);
        }
        for place in 0..self.logged.size() {
            self.logged.set(place, NOTHING);
        }
        for plane in 0..self.layout.planes {
            let logs = self.check_blocks(plane)?;
            self.check_pages(plane, &logs)?;
        }
        Ok(())
    }

    fn set_worn(&mut self, mean: u32, spread: u32) {
        for block in 0..self.layout.blocks() {
            self.erases
                .set(block as usize, drawn_erases(block, mean, spread));
        }
    }
}

impl<M: Memory> BlockMap<M> {
    /// The tables that are written, in order.
    fn tables(&self) -> [&M::Wide; WRITTEN] {
        [
            &self.map,
            &self.data,
            &self.log_words,
            &self.next,
            &self.erases,
            &self.free,
            &self.planes,
        ]
    }

    /// The same, and the tables derived from them.
    fn every_table(&mut self) -> [&mut M::Wide; WRITTEN + 2] {
        [
            &mut self.map,
            &mut self.data,
            &mut self.log_words,
            &mut self.next,
            &mut self.erases,
            &mut self.free,
            &mut self.planes,
            &mut self.log_of,
            &mut self.logged,
        ]
    }

    /// Checks that every block of `plane` has one role. Returns which log each block is.
    fn check_blocks(&mut self, plane: u32) -> Result<Vec<Option<u32>>, StateError> {
        let blocks = self.layout.blocks_per_plane;
        let first = plane * blocks;
        let mut is_left = vec![true; blocks as usize];
        let mut take = |block: u32| {
            let place = block.checked_sub(first).unwrap_or(u32::MAX) as usize;
            let is_there = is_left.get(place) == Some(&true);
            check(
                is_there,
                "a block is of another plane, or two things at once",
            )?;
            is_left[place] = false;
            Ok::<_, StateError>(place)
        };
        let (head, count) = (
            self.field(plane, Field::FreeHead),
            self.field(plane, Field::FreeCount),
        );
        check(head < blocks && count <= blocks, "a free list is too long")?;
        for place in (head..head + count).map(|place| first + place % blocks) {
            let block = self.free.get(place as usize);
            take(block)?;
            check(
                self.next.get(block as usize) == 0,
                "a free block holds data",
            )?;
        }
        let logical = plane * self.logical_blocks..(plane + 1) * self.logical_blocks;
        for block in logical.clone().map(|block| self.data.get(block as usize)) {
            if block != NOTHING {
                take(block)?;
            }
        }
        let mut logs = vec![None; blocks as usize];
        for log in 0..self.logs {
            let (block, owner) = (
                self.log(plane, log, Log::Block),
                self.log(plane, log, Log::Owner),
            );
            if block == NOTHING {
                check(owner == NOTHING, "no log block has an owner")?;
                continue;
            }
            logs[take(block)?] = Some(log);
            let is_shared = self.policies.scheme == BlockScheme::Fast && log > 0;
            let has_data = || self.data.get(owner as usize) != NOTHING;
            check(
                is_shared == (owner == NOTHING)
                    && (is_shared || (logical.contains(&owner) && has_data())),
                "a log block has another owner",
            )?;
            if !is_shared {
                let is_first = self.log_of.get(owner as usize) == 0;
                check(is_first, "two log blocks have one owner")?;
                if self.policies.scheme == BlockScheme::Bast {
                    self.log_of.set(owner as usize, log + 1);
                }
            }
        }
        check(!is_left.contains(&true), "a block is nothing")?;
        let pages = self.layout.pages_per_block;
        let are_in_blocks = (first..first + blocks).all(|b| self.next.get(b as usize) <= pages);
        let filling = self.field(plane, Field::Filling);
        check(
            are_in_blocks && filling >= 1 && filling < self.logs.max(2),
            "a count of a plane is out of range",
        )?;
        Ok(logs)
    }

    /// Checks that every page of `plane` lies where its block's data may lie.
    fn check_pages(&mut self, plane: u32, logs: &[Option<u32>]) -> Checked {
        let pages = self.layout.pages_per_block;
        let first = plane * self.layout.blocks_per_plane;
        let mut is_taken = vec![false; logs.len() * pages as usize];
        let logical = plane * self.logical_blocks..(plane + 1) * self.logical_blocks;
        for place in logical.start * pages..logical.end * pages {
            let ppn = self.map.get(place as usize);
            if ppn >= TRIMMED {
                continue;
            }
            let (block, page) = (ppn / pages, ppn % pages);
            let (owner, offset) = (place / pages, place % pages);
            let index = block.checked_sub(first).unwrap_or(u32::MAX) as usize;
            check(
                index < logs.len(),
                "a page lies on another plane than its own",
            )?;
            let data = self.data.get(owner as usize);
            let may_lie_there = match logs[index] {
                None => data == block && page == offset,
                Some(log) => {
                    let of = self.log(plane, log, Log::Owner);
                    let is_in_place = page == offset;
                    let is_in_order = self.policies.scheme == BlockScheme::Block
                        || self.log(plane, log, Log::Disordered) == 0;
                    match of {
                        NOTHING => data != NOTHING,
                        of => of == owner && (is_in_place || !is_in_order),
                    }
                }
            };
            let is_written = page < self.next.get(block as usize);
            check(
                may_lie_there && is_written,
                "a page lies where no data of its block is",
            )?;
            let taken = &mut is_taken[index * pages as usize + page as usize];
            check(!*taken, "two pages lie in the same place")?;
            *taken = true;
            if let Some(log) = logs[index]
                && self.logged.size() > 0
            {
                let logged = (plane * self.logs + log) * pages + page;
                self.logged.set(logged as usize, place);
            }
        }
        Ok(())
    }
}

const _: () = assert!(LOG_WORDS == Log::Written as usize + 1);
