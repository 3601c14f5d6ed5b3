//! The blocks of every plane: which are free, which are being filled, which can be
//! collected.
//!
//! ```text
//!   free list ──> frontier (host) ──> closed ──> victim ──> erased ──> free list
//!            ├──> frontier (collection) ──> closed ──┤
//!            └──> frontiers of hotter data ──────────┘
//! ```
//!
//! A plane that separates data by temperature has more open blocks; see `temperature.rs`.

use std::ops::Range;

use crate::failures::spare_blocks;
use crate::memory::{Cells, Memory};
use crate::operation::Cause;
use crate::valid::Valid;
use crate::victim::{ClosedBlocks, VictimRule};
use crate::{Failures, FlashLayout, NOTHING, Pace, Policies, Ppn};

/// One of the open blocks of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frontier {
    Host,
    /// Data that the host overwrites often, if it is kept separate.
    Hot,
    /// The same for data that it overwrites most often.
    Hottest,
    Collection,
}

impl Frontier {
    pub const ALL: [Self; 4] = [Self::Host, Self::Hot, Self::Hottest, Self::Collection];
}

/// Fields of a plane's record. Fields that every write needs come first.
#[derive(Clone, Copy)]
#[repr(usize)]
pub(crate) enum Field {
    HostNext,
    HostLeft,
    CollectionNext,
    CollectionLeft,
    FreeHead,
    FreeCount,
    Victim,
    VictimPage,
    Credit,
    CreditPerWrite,
    CreditPerMove,
    /// Blocks closed so far, modulo 2^32.
    Closed,
    /// State of the plane's random numbers.
    Random,
    /// 1 while collection is in progress.
    Collecting,
    /// Valid pages, if pages may move between planes.
    Valid,
    /// Why the victim is emptied: 0 collection, 1 wear levelling, 2 refresh.
    VictimCause,
    HotNext,
    HotLeft,
    /// 1 from a victim of wear levelling to the next of collection.
    Levelled,
    /// One more than the page of the victim that idle-time work has read but not yet programmed
    /// elsewhere; 0 for none.
    Held,
    /// Pages of each open block that can be programmed, if programs can fail.
    HostEnd,
    HotEnd,
    CollectionEnd,
    /// Blocks in which a program has failed and that are not empty yet.
    Failing,
    /// These blocks and the bad ones.
    Failed,
    /// Mean valid pages of the last victims, in 256ths of a page, if the pace is adaptive.
    ValidMean,
    HottestNext,
    HottestLeft,
    HottestEnd,
}

/// Words of the whole drive.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Register {
    /// The plane whose turn it is, if planes take turns.
    Turn,
    /// The plane that works next in idle time.
    Background,
}

pub(crate) const REGISTERS: usize = 8;

/// Words of a plane's record. First come the words that every write needs, a cache line for every
/// plane, then the others.
pub(crate) const PLANE_WORDS: usize = 32;
const LINE_WORDS: usize = 16;

/// Words of the records of all planes.
pub(crate) fn record_words(layout: &FlashLayout) -> usize {
    layout.planes as usize * PLANE_WORDS
}

/// The place of a word of a plane's record among all records.
#[inline(always)]
pub(crate) fn place_of(layout: &FlashLayout, plane: u32, field: usize) -> usize {
    let plane = plane as usize;
    if field < LINE_WORDS {
        plane * LINE_WORDS + field
    } else {
        (layout.planes as usize + plane - 1) * LINE_WORDS + field
    }
}

/// A victim that is being collected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Victim {
    /// The block.
    pub block: u32,
    /// Its next page to examine.
    pub page: u32,
    /// Collection or wear levelling.
    pub cause: Cause,
}

/// Blocks, their valid pages, and the frontiers.
pub(crate) struct Space<M: Memory> {
    pub(crate) layout: FlashLayout,
    pub(crate) planes: M::Wide,
    pub(crate) free: M::Wide,
    pub(crate) valid: Valid<M>,
    /// For every block, how many blocks its plane had closed before it.
    pub(crate) closed_at: M::Wide,
    /// For every block, its erases; see `wear.rs`.
    pub(crate) erases: M::Wide,
    /// Words of the whole drive, see [`Register`].
    pub(crate) registers: M::Wide,
    /// For every block, whether it fails or is bad; empty if none does. See `failures.rs`.
    pub(crate) health: M::Wide,
    pub(crate) failures: Option<Failures>,
    /// Blocks that a plane can lose.
    pub(crate) spare_blocks: u32,
    rule: VictimRule<M>,
    choices: u32,
    stop_blocks: u32,
    least_worn_first: bool,
    wear_spread: Option<u32>,
    /// Classes of temperature, if data is separated by them.
    pub(crate) classes: Option<u32>,
    /// The pace of collection is adaptive; see `pace.rs`.
    pub(crate) adapts: bool,
}

impl<M: Memory> Clone for Space<M> {
    fn clone(&self) -> Self {
        Self {
            layout: self.layout,
            planes: self.planes.clone(),
            free: self.free.clone(),
            valid: self.valid.clone(),
            closed_at: self.closed_at.clone(),
            erases: self.erases.clone(),
            registers: self.registers.clone(),
            health: self.health.clone(),
            failures: self.failures,
            spare_blocks: self.spare_blocks,
            rule: self.rule,
            choices: self.choices,
            stop_blocks: self.stop_blocks,
            least_worn_first: self.least_worn_first,
            wear_spread: self.wear_spread,
            classes: self.classes,
            adapts: self.adapts,
        }
    }
}

impl<M: Memory> Space<M> {
    /// Every block erased and on its plane's free list.
    pub fn erased(layout: FlashLayout, policies: &Policies) -> Self {
        let mut planes = M::Wide::filled(record_words(&layout), 0);
        let mut free = M::Wide::filled(layout.blocks() as usize, 0);
        for plane in 0..layout.planes {
            let place = |field| place_of(&layout, plane, field as usize);
            planes.set(place(Field::FreeCount), layout.blocks_per_plane);
            planes.set(place(Field::Victim), NOTHING);
            // Any number but 0; neighbouring planes must differ in every bit.
            let random = (plane + 1).wrapping_mul(0x9E37_79B1);
            planes.set(place(Field::Random), random.max(1));
            for block in 0..layout.blocks_per_plane {
                let index = plane * layout.blocks_per_plane + block;
                free.set(index as usize, index);
            }
        }
        let failing = policies.failures.map_or(0, |_| layout.blocks() as usize);
        let mut space = Self {
            planes,
            free,
            valid: Valid::none(&layout),
            closed_at: M::Wide::filled(layout.blocks() as usize, 0),
            erases: M::Wide::filled(layout.blocks() as usize, 0),
            registers: M::Wide::filled(REGISTERS, 0),
            health: M::Wide::filled(failing, 0),
            ..Self::without_tables(layout, policies)
        };
        space.withdraw_bad();
        space
    }

    /// The rules of a space whose tables come from elsewhere.
    pub fn without_tables(layout: FlashLayout, policies: &Policies) -> Self {
        let none = || M::Wide::filled(0, 0);
        let held_back = policies.blocks_held_back(layout.reserve_blocks);
        Self {
            layout,
            planes: none(),
            free: none(),
            valid: Valid::without_tables(&layout),
            closed_at: none(),
            erases: none(),
            registers: none(),
            health: none(),
            failures: policies.failures,
            spare_blocks: spare_blocks(&layout, held_back),
            rule: policies.victim.rule(),
            choices: policies.victim_choices,
            stop_blocks: policies.stop_blocks(layout.reserve_blocks),
            least_worn_first: policies.least_worn_first,
            wear_spread: policies.wear_spread,
            classes: policies.temperature_classes,
            adapts: policies.pace == Pace::Adaptive,
        }
    }

    pub(crate) fn erases_len(&self) -> u32 {
        self.layout.blocks()
    }

    /// Bytes of the tables for `layout`.
    pub fn table_bytes(layout: &FlashLayout) -> u64 {
        let planes = u64::from(layout.planes);
        // Words: one in the free list, one for the time of closing, one for the erases.
        let words = PLANE_WORDS as u64 + u64::from(layout.blocks_per_plane) * 3;
        planes * words * 4 + Valid::<M>::table_bytes(layout)
    }

    #[inline(always)]
    pub(crate) fn field(&self, plane: u32, field: Field) -> u32 {
        self.planes
            .get(place_of(&self.layout, plane, field as usize))
    }

    #[inline(always)]
    pub(crate) fn set_field(&mut self, plane: u32, field: Field, value: u32) {
        self.planes
            .set(place_of(&self.layout, plane, field as usize), value);
    }

    /// The plane whose turn it is, if planes take turns.
    #[inline]
    pub fn turn(&self) -> u32 {
        self.registers.get(Register::Turn as usize)
    }

    /// The plane that works next in idle time.
    pub fn background_turn(&self) -> u32 {
        self.registers.get(Register::Background as usize)
    }

    pub fn set_background_turn(&mut self, turn: u32) {
        self.registers.set(Register::Background as usize, turn);
    }

    #[inline]
    pub fn set_turn(&mut self, turn: u32) {
        self.registers.set(Register::Turn as usize, turn);
    }

    /// Valid pages of a plane; counted only where pages move between planes.
    #[inline]
    pub fn valid_of_plane(&self, plane: u32) -> u32 {
        self.field(plane, Field::Valid)
    }

    /// Changes the number of valid pages on a plane by one.
    #[inline]
    pub fn count_valid(&mut self, plane: u32, change: i32) {
        let valid = self.field(plane, Field::Valid).wrapping_add_signed(change);
        self.set_field(plane, Field::Valid, valid);
    }

    /// Free blocks of a plane, without the frontiers.
    #[inline]
    pub fn free_blocks(&self, plane: u32) -> u32 {
        self.field(plane, Field::FreeCount)
    }

    /// Pages left in an open block of a plane.
    #[inline]
    pub fn pages_left(&self, plane: u32, frontier: Frontier) -> u32 {
        self.field(plane, Self::fields(frontier).1)
    }

    /// The fields with the next page of a frontier and, after it, the pages left.
    #[inline(always)]
    pub(crate) fn fields(frontier: Frontier) -> (Field, Field) {
        match frontier {
            Frontier::Host => (Field::HostNext, Field::HostLeft),
            Frontier::Hot => (Field::HotNext, Field::HotLeft),
            Frontier::Hottest => (Field::HottestNext, Field::HottestLeft),
            Frontier::Collection => (Field::CollectionNext, Field::CollectionLeft),
        }
    }

    /// Hands out the next page of a frontier, opening a block if necessary. `None` if no block is
    /// free.
    #[inline(always)]
    pub fn next_page(&mut self, plane: u32, frontier: Frontier) -> Option<Ppn> {
        let (page, _) = self.next_pages(plane, frontier, 1)?;
        Some(Ppn(page))
    }

    /// Hands out the next pages of a frontier, up to `most` from one block, opening a block if
    /// necessary: the first page and their number. `None` if no block is free.
    #[inline(always)]
    pub fn next_pages(&mut self, plane: u32, frontier: Frontier, most: u32) -> Option<(u32, u32)> {
        let place = place_of(&self.layout, plane, Self::fields(frontier).0 as usize);
        if self.planes.get(place + 1) == 0 {
            self.open(plane, frontier)?;
        }
        let (first, pages, left) = self.planes.update(place, |[next, left]| {
            let (first, pages) = (*next, most.min(*left));
            *next = first + pages;
            *left -= pages;
            (first, pages, *left)
        })?;
        if left == 0 {
            // The last page is handed out, so the block counts as closed.
            self.close(plane, frontier, first);
        }
        Some((first, pages))
    }

    /// Opens a free block for a frontier, if there is one.
    #[cold]
    #[inline(never)]
    fn open(&mut self, plane: u32, frontier: Frontier) -> Option<()> {
        let block = self.take_free(plane)?;
        if self.classes.is_some() {
            self.set_class_of(block, frontier);
        }
        self.valid.open(block);
        let (next, left) = Self::fields(frontier);
        let end = self.set_end(plane, frontier, block);
        self.set_field(plane, next, block * self.layout.pages_per_block);
        self.set_field(plane, left, end);
        Some(())
    }

    /// The open block that holds `page` is full.
    #[cold]
    #[inline(never)]
    fn close(&mut self, plane: u32, frontier: Frontier, page: u32) {
        let block = page / self.layout.pages_per_block;
        self.valid.close(block);
        let closed = self.field(plane, Field::Closed);
        self.closed_at.set(block as usize, closed);
        self.set_field(plane, Field::Closed, closed.wrapping_add(1));
        self.note_failure(plane, frontier, block);
    }

    /// Pages of `block` that are still to be written, if it is open.
    pub fn ahead(&self, block: u32) -> Range<u32> {
        let plane = block / self.layout.blocks_per_plane;
        let pages = self.layout.pages_per_block;
        let ahead = |frontier| {
            let (next, left) = Self::fields(frontier);
            let (next, left) = (self.field(plane, next), self.field(plane, left));
            let is_open = left > 0 && next / pages == block;
            is_open.then_some(next % pages..next % pages + left)
        };
        Frontier::ALL.into_iter().find_map(ahead).unwrap_or(0..0)
    }

    /// Sets whether the pages of `plane` that are still to be written count as valid, as they
    /// normally do.
    pub fn count_ahead(&mut self, plane: u32, do_count: bool) {
        let pages = self.layout.pages_per_block;
        for frontier in Frontier::ALL {
            let (next, left) = Self::fields(frontier);
            let (next, left) = (self.field(plane, next), self.field(plane, left));
            if left > 0 {
                let ahead = next % pages..next % pages + left;
                self.valid.set_range(next / pages, ahead, do_count);
            }
        }
    }

    fn take_free(&mut self, plane: u32) -> Option<u32> {
        let count = self.field(plane, Field::FreeCount);
        if count == 0 {
            return None;
        }
        let blocks = self.layout.blocks_per_plane;
        if self.least_worn_first {
            self.least_worn_to_head(plane);
        }
        let head = self.field(plane, Field::FreeHead);
        let block = self.free.get((plane * blocks + head) as usize);
        self.set_field(
            plane,
            Field::FreeHead,
            if head + 1 == blocks { 0 } else { head + 1 },
        );
        self.set_field(plane, Field::FreeCount, count - 1);
        Some(block)
    }

    /// Puts an erased block at the end of its plane's free list.
    pub fn give_back(&mut self, plane: u32, block: u32) {
        let blocks = self.layout.blocks_per_plane;
        let head = self.field(plane, Field::FreeHead);
        let count = self.field(plane, Field::FreeCount);
        let tail = (head + count) % blocks;
        self.free.set((plane * blocks + tail) as usize, block);
        self.set_field(plane, Field::FreeCount, count + 1);
        self.valid.withdraw(block);
        self.count_erase(block);
    }

    /// The victim being collected on `plane`, if any.
    #[inline]
    pub fn victim(&self, plane: u32) -> Option<Victim> {
        let block = self.field(plane, Field::Victim);
        (block != NOTHING).then(|| Victim {
            block,
            page: self.field(plane, Field::VictimPage),
            cause: match self.field(plane, Field::VictimCause) {
                0 => Cause::Collection,
                1 => Cause::Wear,
                _ => Cause::Refresh,
            },
        })
    }

    /// The block that wear levelling should empty now, if any.
    fn choose_lagging(&mut self, plane: u32, spread: u32) -> Option<Victim> {
        // One at a time, and only while its pages have a place to go.
        let may = self.field(plane, Field::Levelled) == 0 && self.free_blocks(plane) >= 2;
        let lagging = may.then(|| self.lagging(plane, spread)).flatten();
        self.set_field(plane, Field::Levelled, lagging.is_some().into());
        Some(self.take_victim(plane, lagging?, Cause::Wear))
    }

    /// Chooses a block to collect: first a lagging one for wear levelling, otherwise by the rule.
    /// `None` if no closed block has an invalid page.
    pub fn choose_victim(&mut self, plane: u32) -> Option<Victim> {
        if let Some(victim) = self.choose_failing(plane) {
            return Some(victim);
        }
        if let Some(spread) = self.wear_spread
            && let Some(victim) = self.choose_lagging(plane, spread)
        {
            return Some(victim);
        }
        let fewest = self.valid.fewest(self.blocks_of(plane))?;
        if fewest.1 >= self.layout.pages_per_block {
            return None;
        }
        let (rule, choices) = (self.rule, self.choices);
        let block = rule(&mut ClosedBlocks {
            space: self,
            plane,
            fewest,
            choices,
        })?;
        Some(self.take_victim(plane, block, Cause::Collection))
    }

    /// Makes the closed block `block` the plane's victim.
    pub(crate) fn take_victim(&mut self, plane: u32, block: u32, cause: Cause) -> Victim {
        let cause = self.cause_of(plane, block, cause);
        let valid = self.valid.count(block);
        // A victim cannot be chosen again; its count keeps falling meanwhile.
        self.valid.withdraw(block);
        self.set_field(plane, Field::Victim, block);
        self.set_field(plane, Field::VictimPage, 0);
        let levels = cause != Cause::Collection;
        let word = match cause {
            Cause::Refresh => 2,
            _ => u32::from(levels),
        };
        self.set_field(plane, Field::VictimCause, word);
        // Moving `valid` pages must be done after `pages - valid` host writes. Levelling and
        // refreshing win nothing and take one write for each move.
        let pages = self.layout.pages_per_block;
        let price = if levels { valid } else { pages - valid };
        if !self.adapts {
            self.set_field(plane, Field::Credit, 0);
        } else if cause == Cause::Collection {
            self.note_victim(plane, valid);
        }
        self.set_field(plane, Field::CreditPerWrite, valid);
        self.set_field(plane, Field::CreditPerMove, price);
        Victim {
            block,
            page: 0,
            cause,
        }
    }

    /// Whether collection should continue. It starts when the free blocks of a plane fall to the
    /// reserve, and stops at its limit.
    pub fn wants_collection(&mut self, plane: u32) -> bool {
        let free = self.free_blocks(plane);
        let collecting = self.field(plane, Field::Collecting) != 0;
        let wants = free <= self.layout.reserve_blocks || (collecting && free < self.stop_blocks);
        if wants != collecting {
            self.set_field(plane, Field::Collecting, wants.into());
        }
        wants || self.has_failing(plane)
    }

    /// The number of free blocks of a plane at which its collection stops.
    pub const fn stop_blocks(&self) -> u32 {
        self.stop_blocks
    }

    /// The victim being collected on `plane`, or another if collection should continue and
    /// something can be won.
    #[inline]
    pub fn wanted_victim(&mut self, plane: u32) -> Option<Victim> {
        match self.victim(plane) {
            Some(victim) => Some(victim),
            None if !self.wants_collection(plane) => None,
            None => self.choose_victim(plane),
        }
    }

    /// The numbers of the blocks of a plane.
    pub fn blocks_of(&self, plane: u32) -> Range<u32> {
        let first = plane * self.layout.blocks_per_plane;
        first..first + self.layout.blocks_per_plane
    }

    pub fn pages_per_block(&self) -> u32 {
        self.layout.pages_per_block
    }

    /// How many blocks of its plane have been closed since `block` was.
    pub fn age(&self, plane: u32, block: u32) -> u32 {
        let next = self.field(plane, Field::Closed);
        next.wrapping_sub(1)
            .wrapping_sub(self.closed_at.get(block as usize))
    }

    /// A random block of a plane, by xorshift32.
    pub fn draw_block(&mut self, plane: u32) -> u32 {
        let mut state = self.field(plane, Field::Random);
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        self.set_field(plane, Field::Random, state);
        let blocks = u64::from(self.layout.blocks_per_plane);
        plane * self.layout.blocks_per_plane + ((u64::from(state) * blocks) >> 32) as u32
    }

    /// Records how far the collection of a plane's victim has come.
    #[inline]
    pub fn advance_victim(&mut self, plane: u32, page: u32) {
        self.set_field(plane, Field::VictimPage, page);
    }

    /// The plane's victim is empty.
    pub fn finish_victim(&mut self, plane: u32) {
        self.set_field(plane, Field::Victim, NOTHING);
    }

    pub fn checkpoint(&mut self) {
        self.planes.checkpoint();
        self.free.checkpoint();
        self.valid.checkpoint();
        self.closed_at.checkpoint();
        self.erases.checkpoint();
        self.registers.checkpoint();
        self.health.checkpoint();
    }

    pub fn rollback(&mut self, then: &Self) {
        self.planes.rollback(&then.planes);
        self.free.rollback(&then.free);
        self.valid.rollback(&then.valid);
        self.closed_at.rollback(&then.closed_at);
        self.erases.rollback(&then.erases);
        self.registers.rollback(&then.registers);
        self.health.rollback(&then.health);
    }
}
