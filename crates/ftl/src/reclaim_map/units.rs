//! The reclaim units of every group: which are free, which are being filled, which can be
//! collected.
//!
//! ```text
//!   free ──> open, in one of its group's lanes ──> closed ──> victim ──> erased ──> free
//!
//!   lanes of a group   one a handle for what the host writes | one, or one a handle, for what is
//!                                                            | moved
//! ```
//!
//! Unit `u` of a group consists of block `u` of each of its planes. The planes of group `g` of
//! `n` are `g`, `g + n`, `g + 2n` .. Page `i` of a unit lies on the `i`th of them, modulo
//! their number. Host writes fill a unit in that order. Moved data stays on its plane as long
//! as the unit has room there, so that its program need not wait for another die. Otherwise it
//! goes to the plane with the most room. Units of all groups are numbered one group after
//! another.

use super::policies::{Isolation, ReclaimPolicies};
use crate::divisor::Divisor;
use crate::memory::{Cells, Memory};
use crate::{FlashLayout, NOTHING, Room};

/// Words of a unit.
#[derive(Clone, Copy)]
pub(super) enum UnitField {
    /// Its role: a [`UnitState`].
    State,
    /// The only handle whose data it holds; the number of handles means any data.
    Handle,
    Valid,
    /// Pages of it that were filled.
    Next,
    Erases,
}

pub(super) const UNIT_WORDS: usize = 5;

/// The role of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum UnitState {
    Free = 0,
    Open = 1,
    Closed = 2,
    Victim = 3,
}

/// Words of a group.
#[derive(Clone, Copy)]
pub(super) enum GroupField {
    Free,
    Valid,
    Victim,
    VictimPage,
    Credit,
    CreditPerWrite,
    CreditPerMove,
    /// 1 while collection is in progress.
    Collecting,
}

pub(super) const GROUP_WORDS: usize = 8;

/// Units and groups.
pub(super) struct Units<M: Memory> {
    pub(super) units: M::Wide,
    pub(super) groups: M::Wide,
    /// By group and lane, the unit being filled, or nothing.
    pub(super) lanes: M::Wide,
    /// By lane of moves and plane, the filled pages of the block open there.
    pub(super) filled: M::Wide,
    lanes_per_group: u32,
    handles: u32,
    isolation: Isolation,
    pub(super) units_per_group: u32,
    group_count: u32,
    pages_per_block: u32,
    /// Planes of a group, and pages of a unit.
    planes: u32,
    pub(super) unit_pages: u32,
    by_planes: Divisor,
    by_pages: Divisor,
    by_blocks: Divisor,
    by_groups: Divisor,
}

impl<M: Memory> Clone for Units<M> {
    fn clone(&self) -> Self {
        Self {
            units: self.units.clone(),
            groups: self.groups.clone(),
            lanes: self.lanes.clone(),
            filled: self.filled.clone(),
            ..*self
        }
    }
}

impl<M: Memory> Units<M> {
    /// Every unit erased.
    pub fn erased(layout: &FlashLayout, policies: &ReclaimPolicies) -> Self {
        let planes = layout.planes / policies.groups;
        let units = (layout.blocks_per_plane * policies.groups) as usize;
        let lanes = (policies.lanes() * policies.groups) as usize;
        let mut groups = M::Wide::filled(policies.groups as usize * GROUP_WORDS, 0);
        for group in 0..policies.groups as usize {
            let place = |field: GroupField| group * GROUP_WORDS + field as usize;
            groups.set(place(GroupField::Free), layout.blocks_per_plane);
            groups.set(place(GroupField::Victim), NOTHING);
        }
        Self {
            units: M::Wide::filled(units * UNIT_WORDS, 0),
            groups,
            lanes: M::Wide::filled(lanes, NOTHING),
            filled: M::Wide::filled(
                ((policies.lanes() - policies.handles) * layout.planes) as usize,
                0,
            ),
            lanes_per_group: policies.lanes(),
            handles: policies.handles,
            isolation: policies.isolation,
            units_per_group: layout.blocks_per_plane,
            group_count: policies.groups,
            pages_per_block: layout.pages_per_block,
            planes,
            unit_pages: planes * layout.pages_per_block,
            by_planes: Divisor::new(planes),
            by_pages: Divisor::new(layout.pages_per_block),
            by_blocks: Divisor::new(layout.blocks_per_plane),
            by_groups: Divisor::new(policies.groups),
        }
    }

    pub fn table_bytes(layout: &FlashLayout, policies: &ReclaimPolicies) -> u64 {
        let groups = u64::from(policies.groups);
        let units = u64::from(layout.blocks_per_plane) * UNIT_WORDS as u64;
        let filled = u64::from(policies.lanes()) * u64::from(layout.planes);
        (groups * (units + GROUP_WORDS as u64 + u64::from(policies.lanes())) + filled) * 4
    }

    pub fn unit(&self, unit: u32, field: UnitField) -> u32 {
        self.units.get(unit as usize * UNIT_WORDS + field as usize)
    }

    pub fn set_unit(&mut self, unit: u32, field: UnitField, value: u32) {
        (self.units).set(unit as usize * UNIT_WORDS + field as usize, value);
    }

    pub fn is(&self, unit: u32, state: UnitState) -> bool {
        self.unit(unit, UnitField::State) == state as u32
    }

    pub fn group(&self, group: u32, field: GroupField) -> u32 {
        self.groups
            .get(group as usize * GROUP_WORDS + field as usize)
    }

    pub fn set_group(&mut self, group: u32, field: GroupField, value: u32) {
        (self.groups).set(group as usize * GROUP_WORDS + field as usize, value);
    }

    fn change_group(&mut self, group: u32, field: GroupField, by: i32) {
        let value = self.group(group, field).wrapping_add_signed(by);
        self.set_group(group, field, value);
    }

    pub const fn group_count(&self) -> u32 {
        self.group_count
    }

    /// The units of a group.
    pub fn of_group(&self, group: u32) -> std::ops::Range<u32> {
        group * self.units_per_group..(group + 1) * self.units_per_group
    }

    /// The unit that `block` belongs to.
    pub fn of_block(&self, block: u32) -> u32 {
        let (plane, number) = (
            self.by_blocks.quotient(block),
            self.by_blocks.remainder(block),
        );
        self.by_groups.remainder(plane) * self.units_per_group + number
    }

    /// The unit that `page` belongs to.
    pub fn of_page(&self, page: u32) -> u32 {
        self.of_block(self.by_pages.quotient(page))
    }

    pub fn plane_of(&self, page: u32) -> u32 {
        self.by_blocks.quotient(self.by_pages.quotient(page))
    }

    pub fn group_of(&self, page: u32) -> u32 {
        self.by_groups.remainder(self.plane_of(page))
    }

    /// The flash page that is the `place`th of `unit`.
    pub fn page_at(&self, unit: u32, place: u32) -> u32 {
        let (group, block) = (
            self.by_blocks.quotient(unit),
            self.by_blocks.remainder(unit),
        );
        let plane = self.plane_at(group, self.by_planes.remainder(place));
        let block = plane * self.units_per_group + block;
        block * self.pages_per_block + self.by_planes.quotient(place)
    }

    /// The first pages of the blocks of `unit`, each with its plane.
    pub fn blocks(&self, unit: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.planes).map(move |place| {
            let page = self.page_at(unit, place);
            (self.plane_of(page), page)
        })
    }

    /// Changes the number of valid pages at `page` by one.
    pub fn count_valid(&mut self, page: u32, by: i32) {
        let unit = self.of_page(page);
        let valid = self.unit(unit, UnitField::Valid).wrapping_add_signed(by);
        self.set_unit(unit, UnitField::Valid, valid);
        self.change_group(self.group_of(page), GroupField::Valid, by);
    }

    fn lane_place(&self, group: u32, lane: u32) -> usize {
        (group * self.lanes_per_group + lane) as usize
    }

    /// The unit that a lane fills.
    pub fn open_unit(&self, group: u32, lane: u32) -> Option<u32> {
        let unit = self.lanes.get(self.lane_place(group, lane));
        (unit != NOTHING).then_some(unit)
    }

    /// The lane for data moved out of a unit of `handle`; the number of handles means any.
    pub const fn lane_of_moves(&self, handle: u32) -> u32 {
        match self.isolation {
            Isolation::Initial => self.handles,
            Isolation::Persistent => self.handles + handle,
        }
    }

    /// The handle whose data a lane fills its units with; the number of handles means any.
    pub const fn handle_of_lane(&self, lane: u32) -> u32 {
        match self.isolation {
            Isolation::Persistent if lane >= self.handles => lane - self.handles,
            _ => lane,
        }
    }

    /// Opens the free unit with the fewest erases for a lane, if there is one.
    pub fn open(&mut self, group: u32, lane: u32) -> Option<u32> {
        let is_free = |unit: &u32| self.is(*unit, UnitState::Free);
        let erases = |unit: &u32| self.unit(*unit, UnitField::Erases);
        let unit = self.of_group(group).filter(is_free).min_by_key(erases)?;
        self.set_unit(unit, UnitField::State, UnitState::Open as u32);
        self.set_unit(unit, UnitField::Handle, self.handle_of_lane(lane));
        if lane >= self.handles {
            for place in 0..self.planes {
                let filled = self.filled_place(lane, self.plane_at(group, place));
                self.filled.set(filled, 0);
            }
        }
        self.lanes.set(self.lane_place(group, lane), unit);
        self.change_group(group, GroupField::Free, -1);
        Some(unit)
    }

    /// Hands out the next page of an open unit of the host. The last page closes the unit.
    pub fn take_page(&mut self, unit: u32, group: u32, lane: u32) -> u32 {
        let place = self.count_page(unit, group, lane);
        self.page_at(unit, place)
    }

    /// Hands out a page of an open unit for data moved from `plane`, on that plane if it has room.
    pub fn take_page_near(&mut self, unit: u32, (group, lane): (u32, u32), plane: u32) -> u32 {
        let filled = |plane| self.filled.get(self.filled_place(lane, plane));
        let plane = if filled(plane) < self.pages_per_block {
            plane
        } else {
            let planes = (0..self.planes).map(|place| self.plane_at(group, place));
            planes.min_by_key(|&plane| filled(plane)).unwrap_or(plane)
        };
        let page = filled(plane);
        let place = self.filled_place(lane, plane);
        self.filled.set(place, page + 1);
        self.count_page(unit, group, lane);
        let block = plane * self.units_per_group + self.by_blocks.remainder(unit);
        block * self.pages_per_block + page
    }

    /// One more page of an open unit is filled. Returns how many were.
    fn count_page(&mut self, unit: u32, group: u32, lane: u32) -> u32 {
        let before = self.unit(unit, UnitField::Next);
        self.set_unit(unit, UnitField::Next, before + 1);
        if before + 1 == self.unit_pages {
            self.set_unit(unit, UnitField::State, UnitState::Closed as u32);
            self.lanes.set(self.lane_place(group, lane), NOTHING);
        }
        before
    }

    /// The `place`th plane of a group.
    const fn plane_at(&self, group: u32, place: u32) -> u32 {
        place * self.group_count + group
    }

    /// Index of how far a move lane's block on a plane is filled.
    const fn filled_place(&self, lane: u32, plane: u32) -> usize {
        ((lane - self.handles) * self.planes * self.group_count + plane) as usize
    }

    /// Filled pages of the block of `unit` on the plane of `page`. `lane` fills the unit, if one
    /// does.
    pub fn filled_beside(&self, unit: u32, lane: Option<u32>, page: u32) -> u32 {
        match lane {
            Some(lane) if lane >= self.handles => self
                .filled
                .get(self.filled_place(lane, self.plane_of(page))),
            _ => {
                let filled = self.unit(unit, UnitField::Next);
                let place = self.by_groups.quotient(self.plane_of(page));
                filled
                    .saturating_add(self.planes - 1 - place)
                    .div_euclid(self.planes)
            }
        }
    }

    /// Total of filled pages in the blocks of a move lane's open unit.
    pub fn filled_of_moves(&self, group: u32, lane: u32) -> u32 {
        let planes = (0..self.planes).map(|place| self.plane_at(group, place));
        planes
            .map(|plane| self.filled.get(self.filled_place(lane, plane)))
            .fold(0, u32::saturating_add)
    }

    /// The closed unit of a group with the fewest valid pages becomes its victim, if it has an
    /// invalid one.
    pub fn choose_victim(&mut self, group: u32) -> Option<u32> {
        let is_closed = |unit: &u32| self.is(*unit, UnitState::Closed);
        let valid = |unit: &u32| self.unit(*unit, UnitField::Valid);
        let victim = self.of_group(group).filter(is_closed).min_by_key(valid)?;
        let valid = self.unit(victim, UnitField::Valid);
        if valid >= self.unit_pages {
            return None;
        }
        self.set_unit(victim, UnitField::State, UnitState::Victim as u32);
        self.set_group(group, GroupField::Victim, victim);
        self.set_group(group, GroupField::VictimPage, 0);
        // Moving `valid` pages must be done after `pages - valid` host writes.
        self.set_group(group, GroupField::Credit, 0);
        self.set_group(group, GroupField::CreditPerWrite, valid);
        self.set_group(group, GroupField::CreditPerMove, self.unit_pages - valid);
        Some(victim)
    }

    /// The victim of a group, if it has one.
    pub fn victim(&self, group: u32) -> Option<u32> {
        let victim = self.group(group, GroupField::Victim);
        (victim != NOTHING).then_some(victim)
    }

    /// The victim is erased.
    pub fn give_back(&mut self, group: u32, unit: u32) {
        let erases = self.unit(unit, UnitField::Erases).saturating_add(1);
        self.set_unit(unit, UnitField::State, UnitState::Free as u32);
        self.set_unit(unit, UnitField::Next, 0);
        self.set_unit(unit, UnitField::Handle, 0);
        self.set_unit(unit, UnitField::Erases, erases);
        self.set_group(group, GroupField::Victim, NOTHING);
        self.change_group(group, GroupField::Free, 1);
    }

    /// How much room there is, in blocks.
    pub fn room(&self, layout: &FlashLayout, stop_units: u32) -> Room {
        let planes = u64::from(self.planes);
        let mut room = Room {
            blocks: layout.blocks().into(),
            reserve_blocks: u64::from(layout.planes) * u64::from(layout.reserve_blocks),
            planes: layout.planes.into(),
            ..Room::default()
        };
        for group in 0..self.group_count {
            let free = self.group(group, GroupField::Free);
            let has_begun = self.group(group, GroupField::Collecting) != 0;
            room.free_blocks += planes * u64::from(free);
            room.collecting_planes += planes * u64::from(has_begun && free < stop_units);
        }
        room
    }

    pub fn checkpoint(&mut self) {
        self.units.checkpoint();
        self.groups.checkpoint();
        self.lanes.checkpoint();
        self.filled.checkpoint();
    }

    pub fn rollback(&mut self, then: &Self) {
        self.units.rollback(&then.units);
        self.groups.rollback(&then.groups);
        self.lanes.rollback(&then.lanes);
        self.filled.rollback(&then.filled);
    }
}
