//! The contract between a firmware and the owner of the flash.

use std::ops::Range;

use drivelab_request::{Content, Direction, Nanos, PlacementId, ZoneAction};
use thiserror::Error;

use crate::{
    EraseCounts, FlashLayout, Judged, Lpn, Operation, OperationBuffer, OwnCounts, PlacedCounts,
    Room, ZoneCounts, ZoneRefusal, ZoneShape,
};

/// What the host does with a run of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Read their data.
    Read,
    /// Write new data to them.
    Write,
    /// Trim: they read as zeroes until they are written again. Pages that the run covers only
    /// partly keep their data.
    Trim,
}

impl From<Direction> for Action {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Read => Self::Read,
            Direction::Write => Self::Write,
        }
    }
}

/// One host request in pages: a run of consecutive logical pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRun {
    /// Read, write or trim.
    pub action: Action,
    /// The first logical page.
    pub first: Lpn,
    /// How many pages it touches.
    pub pages: u32,
    /// The first page is covered only partly.
    pub first_partial: bool,
    /// The last page is covered only partly.
    pub last_partial: bool,
    /// For a write: what its data looks like.
    pub content: Content,
}

impl PageRun {
    /// Whether it is one page, covered completely.
    #[inline(always)]
    #[must_use]
    pub const fn is_one_whole_page(&self) -> bool {
        self.pages == 1 && !self.first_partial && !self.last_partial
    }

    /// `pages` pages from `first` on, all covered completely.
    #[inline]
    #[must_use]
    pub const fn whole(action: Action, first: Lpn, pages: u32) -> Self {
        Self {
            action,
            first,
            pages,
            first_partial: false,
            last_partial: false,
            content: Content::Random,
        }
    }

    /// The pages that `size_bytes` from `offset_bytes` on touch.
    #[inline]
    #[must_use]
    pub fn covering(
        action: impl Into<Action>,
        offset_bytes: u64,
        size_bytes: u32,
        page_bytes: u32,
    ) -> Self {
        // Page sizes are powers of two (checked when presets are loaded).
        let shift = page_bytes.trailing_zeros();
        let mask = u64::from(page_bytes) - 1;
        let first = offset_bytes >> shift;
        if (offset_bytes | u64::from(size_bytes)) & mask == 0 {
            return Self::whole(action.into(), Lpn(first as u32), size_bytes >> shift);
        }
        let end = offset_bytes + u64::from(size_bytes);
        let pages = ((end + mask) >> shift) - first;
        let ragged_start = offset_bytes & mask != 0;
        let ragged_end = end & mask != 0;
        Self {
            action: action.into(),
            first: Lpn(first as u32),
            pages: pages as u32,
            first_partial: ragged_start || (pages == 1 && ragged_end),
            last_partial: ragged_end || (pages == 1 && ragged_start),
            content: Content::Random,
        }
    }

    /// Refuses a run that goes beyond the last of `logical_pages`.
    pub(crate) fn check_end(&self, logical_pages: u32) -> Result<(), FirmwareError> {
        let end = u64::from(self.first.0) + u64::from(self.pages);
        if end <= u64::from(logical_pages) {
            return Ok(());
        }
        Err(FirmwareError::BeyondEnd {
            last: end - 1,
            logical_pages,
        })
    }

    /// Whether the run covers `page`, one of its pages, only partly.
    pub(crate) fn is_partial(&self, page: u32) -> bool {
        (page == self.first.0 && self.first_partial)
            || (page - self.first.0 + 1 == self.pages && self.last_partial)
    }

    /// The pages that the run covers completely.
    #[must_use]
    pub fn whole_pages(&self) -> Range<u32> {
        let first = self.first.0.saturating_add(self.first_partial.into());
        let whole = self.pages.saturating_sub(self.last_partial.into());
        let end = self.first.0.saturating_add(whole);
        first..end.max(first)
    }
}

/// The reason why a firmware refuses a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FirmwareError {
    /// The request goes beyond the last logical page.
    #[error("page {last} lies beyond the drive's end: it has {logical_pages} logical pages")]
    BeyondEnd {
        /// The last requested page.
        last: u64,
        /// The number of pages.
        logical_pages: u32,
    },
    /// The user's own firmware failed.
    #[error("the firmware failed: {what}")]
    External {
        /// The failure.
        what: String,
    },
    /// A firmware under its checker broke its contract.
    #[error("{what}")]
    Contract {
        /// The operation, and the violated clause.
        what: String,
    },
    /// A plane has lost more blocks than it can spare.
    #[error(
        "plane {plane} has lost {lost} of its {blocks} blocks and could spare {spare}: the drive is \
         worn out and can only be read; for a longer life lower [ageing]'s probabilities or \
         factory_bad_ratio or the erases it begins with, or raise the over-provisioning"
    )]
    WornOut {
        /// The plane.
        plane: u32,
        /// Blocks that are bad or failing.
        lost: u32,
        /// Blocks that it had when it was made.
        blocks: u32,
        /// Blocks that it could lose.
        spare: u32,
    },
    /// A request that was not judged breaks a rule of zones.
    #[error("zone {zone} cannot be written so: a command that {}", refusal.words())]
    Zone {
        /// The zone.
        zone: u32,
        /// The rule.
        refusal: ZoneRefusal,
    },
    /// Collection found no block from which a page can be won.
    #[error(
        "plane {plane} has no invalid page left to collect: raise the over-provisioning or the \
         reserve of blocks"
    )]
    NoSpace {
        /// The plane that is full.
        plane: u32,
    },
}

/// Idle time offered to a firmware.
pub struct IdleTime<'a> {
    /// How long the drive has been idle.
    pub idle: Nanos,
    /// The most operations that may be appended.
    pub budget: u32,
    /// Whether a plane can begin an operation at once.
    pub is_free: &'a dyn Fn(u32) -> bool,
}

impl IdleTime<'_> {
    /// Room for `budget` operations, with all planes free.
    #[must_use]
    pub const fn on_all_planes(budget: u32) -> Self {
        Self {
            idle: Nanos::ZERO,
            budget,
            is_free: &|_| true,
        }
    }
}

/// A firmware: takes host requests, emits flash operations.
///
/// Contract, which [`crate::Checked`] checks from the operations alone:
/// - operations of one plane are executed in the order of emission;
/// - [`Operation::after`] names an earlier operation of the same buffer;
/// - a page is programmed once between two erases of its block, in page order and, unless
///   [`Firmware::skips_pages`], without gaps;
/// - a read names the page that holds the newest data of its logical page, at
///   the moment of emission;
/// - an erase never destroys the newest data of a logical page;
/// - every page of a write is programmed with cause host exactly once;
/// - a program with another cause waits for the read of its data, or follows
///   one that was emitted in idle time on its plane;
/// - a page of the map is programmed after its previous content was read, if it was ever
///   written; the host has no such pages, and operations with cause map have no others;
/// - in idle time there are no more operations than offered, none for the host, and all
///   on planes that can begin;
/// - a page that was trimmed since it was written is neither read nor moved;
/// - a failing program names no logical page, and its block, which then holds no newest data,
///   is neither programmed nor erased again.
pub trait Firmware: Send {
    /// The shape of the flash it manages.
    fn layout(&self) -> &FlashLayout;

    /// Appends to `operations` what serves `batch`, in order.
    ///
    /// # Errors
    /// [`FirmwareError`] if a request lies beyond the end (nothing of it was emitted), or no space
    /// can be won.
    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError>;

    /// The operation that serves a read of the whole page `page`, if that is a single operation on
    /// the page's own data: a short path for most requests. `None` leaves everything to
    /// [`Firmware::submit`]; nothing has happened then.
    #[inline]
    fn read_one(&mut self, _page: Lpn) -> Option<Operation> {
        None
    }

    /// The program that serves a write of the whole page `page`, if nothing else is needed: a short
    /// path for most writes. `None` leaves everything to [`Firmware::submit`]; nothing has happened
    /// then.
    #[inline]
    fn write_one(&mut self, _page: Lpn) -> Option<Operation> {
        None
    }

    /// Whether [`Firmware::completed`] does anything, so that callers can skip it.
    #[inline]
    fn heeds_completions(&self) -> bool {
        true
    }

    /// Whether pages of a block may be left out when it is programmed in order.
    fn skips_pages(&self) -> bool {
        false
    }

    /// Whether host operations wait, by [`Operation::after`], for operations that are elsewhere or
    /// that they might overtake.
    #[inline]
    fn uses_after(&self) -> bool {
        false
    }

    /// Whether it uses [`PageRun::content`] and keeps several logical pages in one flash page. Then
    /// a written page needs no program of its own: it may be all zeroes, or wait in the controller
    /// until others fill a flash page with it. A host program names the page that made it
    /// necessary, and each program carries waiting pages.
    #[inline]
    fn packs_pages(&self) -> bool {
        false
    }

    /// Whether it uses [`Firmware::place`].
    #[inline]
    fn takes_placements(&self) -> bool {
        false
    }

    /// Sets where later writes should be placed.
    #[inline]
    fn place(&mut self, _placement: PlacementId) {}

    /// Its counts for placement handles since it was made; `None` without them.
    fn placed_counts(&self) -> Option<&PlacedCounts> {
        None
    }

    /// The zones, if the drive is written zone by zone.
    #[inline]
    fn zones(&self) -> Option<ZoneShape> {
        None
    }

    /// Judges a command by the rules of zones. Call it before its pages are submitted, in the order
    /// in which commands come. An allowed command changes the zone's state. Without zones
    /// everything is allowed.
    ///
    /// # Errors
    /// [`ZoneRefusal`] if it breaks a rule; nothing may be submitted then.
    #[inline]
    fn judge(&mut self, run: &PageRun, _asked: ZoneAction) -> Result<Judged, ZoneRefusal> {
        Ok(Judged {
            first: run.first,
            unwritten: 0,
        })
    }

    /// The write pointer of a zone, in pages from its beginning.
    fn zone_pointer(&self, _zone: u32) -> u32 {
        0
    }

    /// Its counts for zones since it was made; `None` without them.
    fn zone_counts(&self) -> Option<&ZoneCounts> {
        None
    }

    /// Restarts counting the most zones that are open or active.
    fn watch_zones(&mut self) {}

    /// Pages of a map on the flash: logical pages behind those of the host.
    fn map_pages(&self) -> u32 {
        0
    }

    /// The flash has executed `operation`.
    #[inline]
    fn completed(&mut self, _operation: &Operation) {}

    /// Offers idle time: at most `offer.budget` operations may be appended, on planes that can
    /// begin at once. A firmware without idle work appends nothing.
    ///
    /// # Errors
    /// [`FirmwareError`] if the firmware fails or breaks its contract.
    fn background(
        &mut self,
        _offer: &IdleTime<'_>,
        _operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        Ok(())
    }

    /// Moves the data of `block` elsewhere because it has become hard to read, and erases the
    /// block. Returns `false` if that is not possible now.
    ///
    /// # Errors
    /// [`FirmwareError`] if the firmware fails or breaks its contract.
    fn refresh(
        &mut self,
        _block: u32,
        _operations: &mut OperationBuffer,
    ) -> Result<bool, FirmwareError> {
        Ok(false)
    }

    /// How many pages of a block hold data, if the firmware reports it.
    fn data_pages(&self, _block: u32) -> Option<u32> {
        None
    }

    /// The number of bad blocks; `None` if blocks do not fail.
    fn bad_blocks(&self) -> Option<u32> {
        None
    }

    /// How much room there is, if the firmware reports it.
    fn room(&self) -> Option<Room> {
        None
    }

    /// How often `block` was erased, if the firmware reports it: for all blocks or for none.
    fn erase_count(&self, _block: u32) -> Option<u32> {
        None
    }

    /// The same for all blocks.
    ///
    /// # Errors
    /// [`FirmwareError`] if the report is impossible.
    fn erase_counts(&self) -> Result<Option<EraseCounts>, FirmwareError> {
        let counts = (0..self.layout().blocks()).map_while(|block| self.erase_count(block));
        Ok(self.erase_count(0).map(|_| EraseCounts::of(counts)))
    }

    /// Its own counts since it was made, by name; none for the built-in firmware.
    ///
    /// # Errors
    /// [`FirmwareError`] if the report is impossible.
    fn own_counts(&self) -> Result<OwnCounts, FirmwareError> {
        Ok(OwnCounts::default())
    }

    /// Prefetches the map entry of `page`, which is needed soon.
    #[inline]
    fn prefetch_map(&self, _page: Lpn) {}

    /// Prefetches for a write to `page`; its map entry should be in the CPU's cache.
    #[inline]
    fn prefetch_overwrite(&self, _page: Lpn) {}
}
