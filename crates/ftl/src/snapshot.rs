//! The state of a page map as plain bytes: what differs from a state that both
//! sides have, the prepared one.
//!
//! ```text
//!   table    number of changed cells | gap, value | gap, value | ...
//!   tables   map, planes, free lists, times of closing, erases, registers
//! ```
//!
//! Numbers and gaps are variable-length (LEB128), values 32 bits, least byte first.
//! Reverse map, bitmap and counts follow from the map and are not written. What is
//! read back is checked before anything works with it: bytes from outside must not
//! make the firmware fail later.

use thiserror::Error;

use crate::NOTHING;
use crate::memory::{Cells, Memory};
use crate::operation::TRIMMED;
use crate::page_map::PageMap;
use crate::space::{Field, Frontier, Space};

/// Bytes that are no state of this drive; what they get wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct StateError(&'static str);

type Checked = Result<(), StateError>;

fn check(holds: bool, otherwise: &'static str) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(StateError(otherwise))
    }
}

/// Every table that is written, in order.
fn tables<M: Memory>(map: &PageMap<M>) -> [&M::Wide; 6] {
    let space = &map.space;
    [
        &map.map,
        &space.planes,
        &space.free,
        &space.closed_at,
        &space.erases,
        &space.registers,
    ]
}

fn write_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// What is left of the bytes.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Result<usize, StateError> {
        let mut number = 0_u64;
        for shift in (0..35).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(StateError("it ends too soon"))?;
            self.0 = rest;
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number as usize);
            }
        }
        Err(StateError("a number in it is too long"))
    }

    fn value(&mut self) -> Result<u32, StateError> {
        let (value, rest) = self
            .0
            .split_first_chunk()
            .ok_or(StateError("it ends too soon"))?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*value))
    }

    /// The changed cells of a table of `size`.
    fn table(&mut self, size: usize) -> Result<Vec<(usize, u32)>, StateError> {
        let cells = self.number()?;
        check(cells <= size, "it changes more cells than there are")?;
        let mut changes = Vec::new();
        let mut next = 0;
        for _ in 0..cells {
            let place = next + self.number()?;
            check(place < size, "it changes a cell that does not exist")?;
            changes.push((place, self.value()?));
            next = place + 1;
        }
        Ok(changes)
    }
}

impl<M: Memory> PageMap<M> {
    /// What differs from the state `base`, a few bytes a change. No operation may be
    /// outstanding.
    #[must_use]
    pub fn changes_since(&self, base: &Self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut changes = Vec::new();
        for (now, then) in tables(self).into_iter().zip(tables(base)) {
            changes.clear();
            changes.extend((0..now.size()).filter(|&place| now.get(place) != then.get(place)));
            write_number(&mut bytes, changes.len());
            let mut next = 0;
            for &place in &changes {
                write_number(&mut bytes, place - next);
                bytes.extend(now.get(place).to_le_bytes());
                next = place + 1;
            }
        }
        bytes
    }

    /// Changes the state `base`, which this must be, into the one that
    /// [`PageMap::changes_since`] wrote.
    ///
    /// # Errors
    /// [`StateError`] where the bytes are no state of this drive. The state is then
    /// unspecified until it is rolled back.
    pub fn apply_changes(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut reader = Reader(bytes);
        let pages = reader.table(self.map.size())?;
        // Until it is known which blocks are open, nothing counts but what is written.
        for plane in 0..self.layout.planes {
            self.space.count_ahead(plane, false);
        }
        self.move_pages(&pages)?;
        let space = &mut self.space;
        for table in [
            &mut space.planes,
            &mut space.free,
            &mut space.closed_at,
            &mut space.erases,
            &mut space.registers,
        ] {
            for (place, value) in reader.table(table.size())? {
                table.set(place, value);
            }
        }
        check(reader.0.is_empty(), "it goes on after its end")?;
        check(
            space.turn() < self.layout.planes,
            "the plane whose turn it is does not exist",
        )?;
        for plane in 0..self.layout.planes {
            self.check_plane(plane)?;
        }
        self.placement.settle();
        Ok(())
    }

    fn move_pages(&mut self, pages: &[(usize, u32)]) -> Checked {
        for &(logical, new) in pages {
            let old = self.map.get(logical);
            if old < TRIMMED {
                self.space.valid.invalidate(old);
            }
            self.map.set(logical, new);
        }
        for &(logical, new) in pages {
            if new >= TRIMMED {
                continue;
            }
            check(
                u64::from(new) < self.layout.physical_pages(),
                "a page lies where no flash is",
            )?;
            let plane = self.by_plane_pages.quotient(new);
            let turn = self.by_planes.remainder(logical as u32);
            check(
                self.placement.is_dynamic() || plane == self.placement.striped(turn),
                "a page lies on another plane than its own",
            )?;
            check(
                !self.space.valid.holds(new),
                "two pages lie in the same place",
            )?;
            self.space.valid.validate(new);
            self.occupy(new, logical as u32);
        }
        Ok(())
    }

    /// The valid pages of `block` before and from its page `page` on.
    fn valid_around(&self, block: u32, page: u32) -> (u32, u32) {
        let first = block * self.layout.pages_per_block;
        let count = |pages: std::ops::Range<u32>| {
            let valid = pages.filter(|&page| self.space.valid.holds(first + page));
            valid.count() as u32
        };
        (count(0..page), count(page..self.layout.pages_per_block))
    }

    /// Checks the records of one plane, and says which of its blocks are closed.
    fn check_plane(&mut self, plane: u32) -> Checked {
        let blocks = self.layout.blocks_per_plane as usize;
        let first = plane * self.layout.blocks_per_plane;
        let pages = self.layout.pages_per_block;
        let mut is_closed = vec![true; blocks];
        let mut take = |block: u32| {
            let place = block
                .checked_sub(first)
                .map_or(usize::MAX, |place| place as usize);
            check(
                is_closed.get(place) == Some(&true),
                "a block is of another plane, or two things at once",
            )?;
            is_closed[place] = false;
            Ok(())
        };
        let space = &self.space;
        let field = |field| space.field(plane, field);
        let (head, free) = (
            field(Field::FreeHead) as usize,
            field(Field::FreeCount) as usize,
        );
        check(head < blocks && free <= blocks, "a free list is too long")?;
        for position in 0..free {
            let place = first as usize + (head + position) % blocks;
            let block = space.free.get(place);
            take(block)?;
            check(space.valid.count(block) == 0, "a free block holds data")?;
        }
        for frontier in Frontier::ALL {
            let (next, left) = Space::<M>::fields(frontier);
            let (next, left) = (field(next), field(left));
            check(left <= pages, "an open block has too many pages left")?;
            if left == 0 {
                continue;
            }
            let block = self.by_pages.quotient(next);
            take(block)?;
            let page = next - block * pages;
            check(page + left == pages, "an open block goes on elsewhere")?;
            let (_, ahead) = self.valid_around(block, page);
            check(ahead == 0, "an open block holds data that is to come")?;
        }
        let (victim, at) = (field(Field::Victim), field(Field::VictimPage));
        if victim != NOTHING {
            take(victim)?;
            check(at <= pages, "a victim has fewer pages")?;
            let (behind, _) = self.valid_around(victim, at);
            check(behind == 0, "a victim holds data that was moved")?;
        }
        let are_small = [
            Field::Credit,
            Field::CreditPerWrite,
            Field::CreditPerMove,
            Field::Held,
        ];
        let are_flags = [Field::Collecting, Field::VictimLevels, Field::Levelled];
        check(
            are_small.into_iter().all(|small| field(small) <= pages)
                && are_flags.into_iter().all(|flag| field(flag) <= 1)
                && field(Field::Random) != 0,
            "a count of a plane is out of range",
        )?;
        let mut valid = 0;
        for (place, is_closed) in is_closed.into_iter().enumerate() {
            let block = first + place as u32;
            valid += self.space.valid.count(block);
            if is_closed {
                self.space.valid.close(block);
            } else {
                self.space.valid.withdraw(block);
            }
        }
        self.space.count_ahead(plane, true);
        if self.placement.is_dynamic() {
            self.space.set_field(plane, Field::Valid, valid);
        }
        Ok(())
    }
}
