//! A built-in firmware that is chosen at run time, other than the page map.
//!
//! It is matched once a call. For the full speed of the page map, name it as a type.

use drivelab_request::{PlacementId, ZoneAction};

use crate::snapshot::StateError;
use crate::{
    BlockMap, CachedMap, CompressedMap, EraseCounts, Firmware, FirmwareError, FlashLayout,
    IdleTime, Judged, Lpn, Memory, Operation, OperationBuffer, PageRun, PlacedCounts, ReclaimMap,
    Restorable, Room, SlcMap, ZoneCounts, ZoneMap, ZoneRefusal, ZoneShape,
};

/// One of the firmwares of other generations.
pub enum AnyMap<M: Memory> {
    /// Maps whole blocks.
    Block(BlockMap<M>),
    /// Maps pages, with the map on the flash.
    Cached(CachedMap<M>),
    /// Maps pages behind a pseudo-SLC region.
    Slc(SlcMap<M>),
    /// Maps compressed pages, several to a flash page.
    Compressed(CompressedMap<M>),
    /// Maps pages into reclaim units, by placement handle.
    Reclaim(ReclaimMap<M>),
    /// Maps zones.
    Zone(ZoneMap<M>),
}

macro_rules! with {
    ($any:expr, $map:ident => $what:expr) => {
        match $any {
            AnyMap::Block($map) => $what,
            AnyMap::Cached($map) => $what,
            AnyMap::Slc($map) => $what,
            AnyMap::Compressed($map) => $what,
            AnyMap::Reclaim($map) => $what,
            AnyMap::Zone($map) => $what,
        }
    };
}

impl<M: Memory> Clone for AnyMap<M> {
    fn clone(&self) -> Self {
        match self {
            Self::Block(map) => Self::Block(map.clone()),
            Self::Cached(map) => Self::Cached(map.clone()),
            Self::Slc(map) => Self::Slc(map.clone()),
            Self::Compressed(map) => Self::Compressed(map.clone()),
            Self::Reclaim(map) => Self::Reclaim(map.clone()),
            Self::Zone(map) => Self::Zone(map.clone()),
        }
    }
}

impl<M: Memory> Firmware for AnyMap<M> {
    fn layout(&self) -> &FlashLayout {
        with!(self, map => map.layout())
    }

    #[inline]
    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        with!(self, map => map.submit(batch, operations))
    }

    #[inline]
    fn read_one(&mut self, page: Lpn) -> Option<Operation> {
        with!(self, map => map.read_one(page))
    }

    #[inline(always)]
    fn write_one(&mut self, page: Lpn) -> Option<Operation> {
        with!(self, map => map.write_one(page))
    }

    #[inline]
    fn heeds_completions(&self) -> bool {
        with!(self, map => map.heeds_completions())
    }

    fn skips_pages(&self) -> bool {
        with!(self, map => map.skips_pages())
    }

    #[inline]
    fn uses_after(&self) -> bool {
        with!(self, map => map.uses_after())
    }

    #[inline]
    fn packs_pages(&self) -> bool {
        with!(self, map => map.packs_pages())
    }

    #[inline]
    fn takes_placements(&self) -> bool {
        with!(self, map => map.takes_placements())
    }

    fn place(&mut self, placement: PlacementId) {
        with!(self, map => map.place(placement));
    }

    fn placed_counts(&self) -> Option<&PlacedCounts> {
        with!(self, map => map.placed_counts())
    }

    #[inline]
    fn zones(&self) -> Option<ZoneShape> {
        match self {
            Self::Zone(map) => map.zones(),
            _ => None,
        }
    }

    fn judge(&mut self, run: &PageRun, asked: ZoneAction) -> Result<Judged, ZoneRefusal> {
        with!(self, map => map.judge(run, asked))
    }

    fn zone_pointer(&self, zone: u32) -> u32 {
        with!(self, map => map.zone_pointer(zone))
    }

    fn zone_counts(&self) -> Option<&ZoneCounts> {
        with!(self, map => map.zone_counts())
    }

    fn watch_zones(&mut self) {
        with!(self, map => map.watch_zones());
    }

    fn map_pages(&self) -> u32 {
        with!(self, map => Firmware::map_pages(map))
    }

    fn completed(&mut self, operation: &Operation) {
        with!(self, map => map.completed(operation));
    }

    fn background(
        &mut self,
        offer: &IdleTime<'_>,
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        with!(self, map => map.background(offer, operations))
    }

    fn refresh(
        &mut self,
        block: u32,
        operations: &mut OperationBuffer,
    ) -> Result<bool, FirmwareError> {
        with!(self, map => Firmware::refresh(map, block, operations))
    }

    fn data_pages(&self, block: u32) -> Option<u32> {
        with!(self, map => Firmware::data_pages(map, block))
    }

    fn room(&self) -> Option<Room> {
        with!(self, map => Firmware::room(map))
    }

    fn erase_count(&self, block: u32) -> Option<u32> {
        with!(self, map => Firmware::erase_count(map, block))
    }

    fn erase_counts(&self) -> Result<Option<EraseCounts>, FirmwareError> {
        with!(self, map => Firmware::erase_counts(map))
    }

    #[inline]
    fn prefetch_map(&self, page: Lpn) {
        with!(self, map => map.prefetch_map(page));
    }

    #[inline]
    fn prefetch_overwrite(&self, page: Lpn) {
        with!(self, map => map.prefetch_overwrite(page));
    }
}

impl<M: Memory> Restorable for AnyMap<M> {
    fn checkpoint(&mut self) {
        with!(self, map => map.checkpoint());
    }

    fn rollback(&mut self, then: &Self) {
        match (self, then) {
            (Self::Block(map), Self::Block(then)) => map.rollback(then),
            (Self::Cached(map), Self::Cached(then)) => map.rollback(then),
            (Self::Slc(map), Self::Slc(then)) => map.rollback(then),
            (Self::Compressed(map), Self::Compressed(then)) => map.rollback(then),
            (Self::Reclaim(map), Self::Reclaim(then)) => map.rollback(then),
            (Self::Zone(map), Self::Zone(then)) => map.rollback(then),
            // A state of another firmware does not belong to this one.
            (
                Self::Block(_)
                | Self::Cached(_)
                | Self::Slc(_)
                | Self::Compressed(_)
                | Self::Reclaim(_)
                | Self::Zone(_),
                _,
            ) => {}
        }
    }

    fn changes_since(&self, base: &Self) -> Vec<u8> {
        match (self, base) {
            (Self::Block(map), Self::Block(base)) => map.changes_since(base),
            (Self::Cached(map), Self::Cached(base)) => map.changes_since(base),
            (Self::Slc(map), Self::Slc(base)) => map.changes_since(base),
            (Self::Compressed(map), Self::Compressed(base)) => map.changes_since(base),
            (Self::Reclaim(map), Self::Reclaim(base)) => map.changes_since(base),
            (Self::Zone(map), Self::Zone(base)) => map.changes_since(base),
            (
                Self::Block(_)
                | Self::Cached(_)
                | Self::Slc(_)
                | Self::Compressed(_)
                | Self::Reclaim(_)
                | Self::Zone(_),
                _,
            ) => Vec::new(),
        }
    }

    fn apply_changes(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        with!(self, map => map.apply_changes(bytes))
    }

    fn set_worn(&mut self, mean: u32, spread: u32) {
        with!(self, map => map.set_worn(mean, spread));
    }

    fn rest(&mut self) {
        with!(self, map => map.rest());
    }

    fn without_derived(self, bytes: u64) -> Self {
        match self {
            Self::Block(map) => Self::Block(map.without_derived(bytes)),
            Self::Cached(map) => Self::Cached(map.without_derived(bytes)),
            Self::Slc(map) => Self::Slc(map.without_derived(bytes)),
            Self::Compressed(map) => Self::Compressed(map.without_derived(bytes)),
            Self::Reclaim(map) => Self::Reclaim(map.without_derived(bytes)),
            Self::Zone(map) => Self::Zone(map.without_derived(bytes)),
        }
    }

    fn complete(&self) -> Self {
        match self {
            Self::Block(map) => Self::Block(map.complete()),
            Self::Cached(map) => Self::Cached(map.complete()),
            Self::Slc(map) => Self::Slc(map.complete()),
            Self::Compressed(map) => Self::Compressed(map.complete()),
            Self::Reclaim(map) => Self::Reclaim(map.complete()),
            Self::Zone(map) => Self::Zone(map.complete()),
        }
    }
}
