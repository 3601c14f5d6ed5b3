//! The state of a page map as plain bytes: its difference from a state that both sides
//! have, the prepared one.
//!
//! ```text
//!   table    number of changed cells | gap, value | gap, value | ...
//!   tables   map, planes, free lists, times of closing, erases, registers, and the health of
//!            blocks where they can fail
//! ```
//!
//! Numbers and gaps are variable-length (LEB128), values 32 bits, least byte first.
//! Reverse map, bitmap and counts follow from the map and are not written. What is read
//! back is checked before it is used: bytes from outside must not make the firmware fail
//! later.

use thiserror::Error;

use crate::memory::{Cells, Memory};
use crate::operation::TRIMMED;
use crate::page_map::PageMap;
use crate::space::{Field, Frontier, Space};
use crate::wear::drawn_erases;
use crate::{Firmware, NOTHING};

/// Bytes that are not a state of this drive, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct StateError(pub(crate) &'static str);

pub(crate) type Checked = Result<(), StateError>;

pub(crate) fn check(holds: bool, otherwise: &'static str) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(StateError(otherwise))
    }
}

/// Every table that is written, in order.
fn tables<M: Memory>(map: &PageMap<M>) -> impl Iterator<Item = &M::Wide> {
    let space = &map.space;
    [
        &map.map,
        &space.planes,
        &space.free,
        &space.closed_at,
        &space.erases,
        &space.registers,
        &space.health,
    ]
    .into_iter()
    .filter(|table| table.size() > 0)
}

pub(crate) fn write_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The remaining bytes.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Refuses bytes behind the last table.
    pub(crate) fn check_end(&self) -> Checked {
        check(self.0.is_empty(), "it goes on after its end")
    }

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

    /// As many bytes as the number before them says.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], StateError> {
        let length = self.number()?;
        let ends = StateError("it ends too soon");
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(ends)?;
        self.0 = rest;
        Ok(bytes)
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
    pub(crate) fn table(&mut self, size: usize) -> Result<Vec<(usize, u32)>, StateError> {
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

/// Appends the cells of `now` whose value in `then` differs, a few bytes each.
pub(crate) fn write_changes(bytes: &mut Vec<u8>, now: &impl Cells<u32>, then: &impl Cells<u32>) {
    let differs = |&place: &usize| now.get(place) != then.get(place);
    let changes: Vec<usize> = (0..now.size()).filter(differs).collect();
    write_number(bytes, changes.len());
    let mut next = 0;
    for place in changes {
        write_number(bytes, place - next);
        bytes.extend(now.get(place).to_le_bytes());
        next = place + 1;
    }
}

/// A firmware whose state can be kept, restored and written.
pub trait Restorable: Firmware + Clone {
    /// From now on remembers what [`Restorable::rollback`] needs. No operation may be outstanding
    /// now or after a return to here.
    fn checkpoint(&mut self);

    /// Returns to the checkpoint, at the cost of what was written since. `then` is a copy made at
    /// the checkpoint.
    fn rollback(&mut self, then: &Self);

    /// The difference from the state `base`, a few bytes for each change. No operation may be
    /// outstanding.
    fn changes_since(&self, base: &Self) -> Vec<u8>;

    /// Changes the state `base`, which this must be, into the one that
    /// [`Restorable::changes_since`] wrote.
    ///
    /// # Errors
    /// [`StateError`] if the bytes are not a state of this drive. The state is then unspecified
    /// until it is rolled back.
    fn apply_changes(&mut self, bytes: &[u8]) -> Result<(), StateError>;

    /// Sets how often blocks were erased: between `mean - spread` and `mean + spread` times (not
    /// below 0), all numbers equally likely.
    fn set_worn(&mut self, mean: u32, spread: u32);

    /// Does all its idle-time work, before the first command.
    fn rest(&mut self) {}

    /// Drops derived tables of more than `bytes`. From here on this state only
    /// serves [`Restorable::complete`] and as a state to return to, which takes
    /// longer.
    #[must_use]
    fn without_derived(self, _bytes: u64) -> Self {
        self
    }

    /// A working copy of a state that may have dropped derived tables.
    #[must_use]
    fn complete(&self) -> Self {
        self.clone()
    }
}

impl<M: Memory> Restorable for PageMap<M> {
    fn checkpoint(&mut self) {
        self.map.checkpoint();
        self.owner.checkpoint();
        self.space.checkpoint();
        self.placement.settle();
    }

    fn rollback(&mut self, then: &Self) {
        if then.owner.size() == self.owner.size() {
            self.map.rollback(&then.map);
            self.owner.rollback(&then.owner);
        } else {
            self.rollback_maps(then);
        }
        self.space.rollback(&then.space);
        self.placement.settle();
    }

    fn changes_since(&self, base: &Self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (now, then) in tables(self).zip(tables(base)) {
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
        let space = &mut self.space;
        for table in [
            &mut space.planes,
            &mut space.free,
            &mut space.closed_at,
            &mut space.erases,
            &mut space.registers,
            &mut space.health,
        ]
        .into_iter()
        .filter(|table| table.size() > 0)
        {
            for (place, value) in reader.table(table.size())? {
                table.set(place, value);
            }
        }
        reader.check_end()?;
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

    fn set_worn(&mut self, mean: u32, spread: u32) {
        self.space
            .set_erase_counts(|block| drawn_erases(block, mean, spread));
    }

    /// Drops the reverse map, which follows from the map, if it is large.
    fn without_derived(mut self, bytes: u64) -> Self {
        if self.layout.physical_pages() * 4 > bytes {
            self.owner = M::Wide::filled(0, NOTHING);
        }
        self
    }

    fn complete(&self) -> Self {
        if self.owner.size() > 0 {
            return self.clone();
        }
        let mut owner = M::Wide::filled(self.layout.physical_pages() as usize, NOTHING);
        for logical in 0..self.layout.logical_pages {
            let place = self.map.get(logical as usize);
            if place < TRIMMED {
                owner.set(place as usize, logical);
            }
        }
        self.clone_but(owner)
    }
}

impl<M: Memory> PageMap<M> {
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

    fn check_plane(&mut self, plane: u32) -> Checked {
        let valid = self.space.check_plane(plane)?;
        if self.placement.is_dynamic() {
            self.space.set_field(plane, Field::Valid, valid);
        }
        Ok(())
    }
}

impl<M: Memory> Space<M> {
    /// The valid pages of `block` before, and from, its page `page`.
    fn valid_around(&self, block: u32, page: u32) -> (u32, u32) {
        let first = block * self.layout.pages_per_block;
        let count = |pages: std::ops::Range<u32>| {
            let valid = pages.filter(|&page| self.valid.holds(first + page));
            valid.count() as u32
        };
        (count(0..page), count(page..self.layout.pages_per_block))
    }

    /// Checks which blocks of a plane are bad or failing, apart from its victim; bad blocks are not
    /// closed.
    fn check_health(&self, plane: u32, victim: u32, is_closed: &mut [bool]) -> Checked {
        let space = self;
        let (mut failing, mut failed) = (0, 0);
        for (block, is_closed) in space.blocks_of(plane).zip(is_closed) {
            let (is_bad, fails) = (space.is_bad(block), space.is_failing(block));
            failed += u32::from(is_bad || fails);
            failing += u32::from(fails && block != victim);
            if is_bad {
                check(
                    *is_closed && space.valid.count(block) == 0,
                    "a bad block is in use",
                )?;
                *is_closed = false;
            }
            if fails {
                let failed_page = space.health.get(block as usize) - 1;
                let (_, behind) =
                    self.valid_around(block, failed_page.min(self.layout.pages_per_block));
                check(
                    (1..self.layout.pages_per_block).contains(&failed_page) && behind == 0,
                    "a block holds data behind a page that failed",
                )?;
            }
        }
        check(
            failed == space.field(plane, Field::Failed)
                && failing == space.field(plane, Field::Failing),
            "a count of blocks that failed is wrong",
        )
    }

    /// Checks the records of one plane, and says which of its blocks are closed. Returns how many
    /// of its pages are valid.
    pub(crate) fn check_plane(&mut self, plane: u32) -> Result<u32, StateError> {
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
        let space = &*self;
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
            check(
                !space.is_bad(block) && !space.is_failing(block),
                "a free block is bad",
            )?;
        }
        for frontier in Frontier::ALL {
            let (next, left) = Space::<M>::fields(frontier);
            let (next, left) = (field(next), field(left));
            check(left <= pages, "an open block has too many pages left")?;
            if left == 0 {
                continue;
            }
            let block = next / pages;
            take(block)?;
            let (page, end) = (next - block * pages, space.end_of(plane, frontier));
            check(
                page + left == end && end <= pages,
                "an open block goes on elsewhere",
            )?;
            check(
                !space.is_bad(block) && !space.is_failing(block),
                "an open block is bad",
            )?;
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
        let are_small = [Field::CreditPerWrite, Field::CreditPerMove, Field::Held];
        let are_flags = [Field::Collecting, Field::Levelled];
        check(
            are_small.into_iter().all(|small| field(small) <= pages)
                && space.is_pace_possible(plane)
                && are_flags.into_iter().all(|flag| field(flag) <= 1)
                && field(Field::VictimCause) <= 2
                && field(Field::Random) != 0,
            "a count of a plane is out of range",
        )?;
        self.check_health(plane, victim, &mut is_closed)?;
        let mut valid = 0;
        for (place, is_closed) in is_closed.into_iter().enumerate() {
            let block = first + place as u32;
            valid += self.valid.count(block);
            if is_closed {
                self.valid.close(block);
            } else {
                self.valid.withdraw(block);
            }
        }
        self.count_ahead(plane, true);
        Ok(valid)
    }
}
