//! The settings of a firmware with zones, and how zones lie on the flash.

use crate::divisor::Divisor;
use crate::{FlashLayout, LayoutError};

/// The choices of [`ZoneMap`](crate::ZoneMap).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonePolicies {
    /// Logical pages from the beginning of one zone to the next.
    pub zone_pages: u32,
    /// The writable ones of these, from the first on: whole blocks of every plane over which a zone
    /// is spread.
    pub capacity_pages: u32,
    /// Planes over which a zone is spread; they divide the planes.
    pub planes: u32,
    /// Zones that may be open at once.
    pub most_open: u32,
    /// Zones that may be active at once: open or closed, that is partly written.
    pub most_active: u32,
    /// The most pages in an append.
    pub most_append_pages: u32,
}

/// What a host knows about the zones of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneShape {
    /// The number of zones.
    pub zones: u32,
    /// Logical pages from the beginning of one zone to the next.
    pub zone_pages: u32,
    /// The writable ones of these, from the first on.
    pub capacity_pages: u32,
}

/// Where zones lie: a group of planes has slots, each of which can hold one zone.
///
/// ```text
///   group   planes g w .. (g + 1) w        zone z is of group z mod groups
///   slot    blocks s b .. (s + 1) b of each of them
///   pages   of a zone go round its planes, block after block
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct ZoneLayout {
    pub zones: u32,
    pub groups: u32,
    pub slots_per_group: u32,
    /// Blocks of a zone on each of its planes.
    pub blocks: u32,
    width: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    by_width: Divisor,
    by_pages: Divisor,
    by_zone: Divisor,
    by_groups: Divisor,
    by_slots: Divisor,
}

impl ZonePolicies {
    /// Slots of a group of planes: this many of its zones can hold data at once.
    #[must_use]
    pub fn slots_per_group(&self, layout: &FlashLayout) -> u32 {
        layout.blocks_per_plane / self.blocks(layout).max(1)
    }

    /// Blocks of a zone on each of its planes.
    fn blocks(&self, layout: &FlashLayout) -> u32 {
        self.capacity_pages / self.block_row(layout).max(1)
    }

    /// Pages in one block of every plane of a zone.
    fn block_row(&self, layout: &FlashLayout) -> u32 {
        self.planes.saturating_mul(layout.pages_per_block)
    }

    /// Checks that a drive can have such zones.
    ///
    /// # Errors
    /// [`LayoutError`] with the first impossible number, and what is possible.
    pub(super) fn validate(&self, layout: &FlashLayout) -> Result<(), LayoutError> {
        layout.check_counts()?;
        let count = |what, value: u32, is_possible: bool, low: u32, high: u32| {
            if is_possible {
                return Ok(());
            }
            Err(LayoutError::Count {
                what,
                value: value.into(),
                low: low.into(),
                high: high.into(),
            })
        };
        let planes = self.planes;
        let divides = planes > 0 && layout.planes.is_multiple_of(planes);
        count("planes of a zone", planes, divides, 1, layout.planes)?;
        let row = self.block_row(layout);
        let capacity = self.capacity_pages;
        let is_whole = capacity > 0 && capacity.is_multiple_of(row) && capacity <= self.zone_pages;
        let what = "pages of a zone";
        count(what, capacity, is_whole, row, self.zone_pages)?;
        let zones = layout.logical_pages / self.zone_pages;
        let are_whole = zones > 0 && layout.logical_pages.is_multiple_of(self.zone_pages);
        let most = self.slots_per_group(layout) * (layout.planes / planes);
        let fit = zones.div_ceil(layout.planes / planes) <= self.slots_per_group(layout);
        count("zones", zones, are_whole && fit, 1, most)?;
        let open = self.most_open;
        let is_open = open > 0 && open <= self.most_active;
        count("open zones", open, is_open, 1, self.most_active)
    }
}

impl ZoneLayout {
    /// The layout for validated policies.
    pub fn new(layout: &FlashLayout, policies: &ZonePolicies) -> Self {
        let groups = layout.planes / policies.planes;
        let slots_per_group = policies.slots_per_group(layout);
        Self {
            zones: layout.logical_pages / policies.zone_pages,
            groups,
            slots_per_group,
            blocks: policies.blocks(layout),
            width: policies.planes,
            blocks_per_plane: layout.blocks_per_plane,
            pages_per_block: layout.pages_per_block,
            by_width: Divisor::new(policies.planes),
            by_pages: Divisor::new(layout.pages_per_block),
            by_zone: Divisor::new(policies.zone_pages),
            by_groups: Divisor::new(groups),
            by_slots: Divisor::new(slots_per_group),
        }
    }

    /// The zone of a logical page, and its place there.
    #[inline]
    pub fn place_of(&self, page: u32) -> (u32, u32) {
        (self.by_zone.quotient(page), self.by_zone.remainder(page))
    }

    /// The slots of the group of `zone`.
    pub fn slots_of(&self, zone: u32) -> std::ops::Range<u32> {
        let group = self.by_groups.remainder(zone);
        group * self.slots_per_group..(group + 1) * self.slots_per_group
    }

    pub const fn slots(&self) -> u32 {
        self.groups * self.slots_per_group
    }

    /// The plane and the flash page of a place in `slot`.
    #[inline]
    pub fn page_at(&self, slot: u32, place: u32) -> (u32, u32) {
        let row = self.by_width.quotient(place);
        let (block, page) = (self.by_pages.quotient(row), self.by_pages.remainder(row));
        let group = self.by_slots.quotient(slot);
        let plane = group * self.width + self.by_width.remainder(place);
        let first = self.by_slots.remainder(slot) * self.blocks;
        let block = plane * self.blocks_per_plane + first + block;
        (plane, block * self.pages_per_block + page)
    }

    /// The blocks of a slot that hold any of its first `written` pages: plane and first page of each.
    pub fn blocks_of(&self, slot: u32, written: u32) -> impl Iterator<Item = (u32, u32)> + use<> {
        let this = *self;
        let row = self.width * self.pages_per_block;
        (0..self.blocks).flat_map(move |block| {
            let begun = written.saturating_sub(block * row).min(this.width);
            (0..begun).map(move |place| this.page_at(slot, block * row + place))
        })
    }

    /// The first block of a slot, which every use of the slot writes.
    pub fn first_block(&self, slot: u32) -> u32 {
        self.by_pages.quotient(self.page_at(slot, 0).1)
    }

    pub fn block_of(&self, page: u32) -> u32 {
        self.by_pages.quotient(page)
    }
}
