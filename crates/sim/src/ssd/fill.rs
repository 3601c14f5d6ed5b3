//! How a drive is filled before the first measured request, without simulating time.
//!
//! ```text
//!   in order:  |######################|            |   pages 0 to n - 1, 128 KiB a write
//!   random:    |## # ### # ##  ### # ## # #### ### |   n pages, one a write, in a random order
//! ```
//!
//! What a page map holds after writing in order is computed, if possible, instead of written.

use std::sync::atomic::{AtomicBool, Ordering};

use drivelab_ftl::{Action, Firmware, InOrder, Lpn, OperationBuffer, PageMap, PageRun, Undo};
use drivelab_workload::Permutation;

use crate::host::SimError;
use crate::preset::{Condition, FillOrder, SsdConfig};

/// Bytes of one sequential write.
const WRITE_BYTES: u64 = 128 << 10;
/// A key that no workload uses. A workload that read the pages in the same order would visit the
/// units in turn.
const DRAWN: u64 = u64::from_be_bytes(*b"filling_");
/// Pages written at random between two checks of the stop flag.
const BATCH: u32 = 1024;

/// How often the filled pages of a drive are written before it is in the condition of `config`.
pub(super) const fn passes(config: &SsdConfig) -> u32 {
    match config.condition {
        _ if config.is_purged => 0,
        Condition::Fresh => 0,
        Condition::Filled => 1,
        Condition::Preconditioned | Condition::Worn => 2,
    }
}

/// The pages of a drive that hold data, by number.
pub(super) enum Filled {
    First,
    /// The first pages of this random order.
    Drawn(Box<Permutation>),
}

impl Filled {
    /// The filled pages of a drive. They are the same in every run, so its states are the same.
    pub fn of(config: &SsdConfig) -> Self {
        match config.filled_pages().1 {
            FillOrder::InOrder => Self::First,
            FillOrder::Random => Self::Drawn(Box::new(Permutation::new(
                config.logical_pages().into(),
                DRAWN,
                0,
            ))),
        }
    }

    /// The page with this number.
    #[inline]
    pub fn at(&self, number: u32) -> Lpn {
        Lpn(match self {
            Self::First => number,
            Self::Drawn(order) => order.at(number.into()) as u32,
        })
    }
}

/// A page-mapped drive that was filled in order, computed; `None` if it must be written.
pub(super) fn filled_in_order(
    config: &SsdConfig,
    passes: u32,
    with_reverse_map: bool,
    stop: &AtomicBool,
) -> Option<PageMap<Undo>> {
    let (pages, order) = config.filled_pages();
    if order != FillOrder::InOrder || pages == 0 {
        return None;
    }
    let written = InOrder {
        pages,
        passes,
        with_reverse_map,
    };
    PageMap::written_in_order(config.layout(), config.policies(), written, &|| {
        stop.load(Ordering::Relaxed)
    })
}

/// Writes once what the drive should hold according to its preset.
///
/// # Errors
/// Errors of the firmware, and [`SimError::Stopped`] soon after `stop` is set.
pub(super) fn fill(
    firmware: &mut impl Firmware,
    config: &SsdConfig,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    if firmware.zones().is_some() {
        return fill_zones(firmware, config, stop);
    }
    match (Filled::of(config), config.filled_pages()) {
        (Filled::First, (0, _)) => write_in_order(firmware, config, u32::MAX, stop),
        (Filled::First, (pages, _)) => write_in_order(firmware, config, pages, stop),
        (drawn @ Filled::Drawn(_), (pages, _)) => {
            write_drawn(firmware, config, (&drawn, pages), stop)
        }
    }
}

/// One pass of sequential writes over the first `pages` of a drive, or over fewer if it has fewer.
pub(super) fn write_in_order(
    firmware: &mut impl Firmware,
    config: &SsdConfig,
    pages: u32,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let page_bytes = config.geometry.page_size_bytes;
    let pages_per_write = (WRITE_BYTES / u64::from(page_bytes)).max(1) as u32;
    let end = firmware.layout().logical_pages.min(pages);
    let mut out = OperationBuffer::with_capacity(1024);
    let mut first = 0;
    while first < end {
        if stop.load(Ordering::Relaxed) {
            return Err(SimError::Stopped);
        }
        let pages = pages_per_write.min(end - first);
        out.clear();
        let run = PageRun {
            content: config.condition_content(),
            ..PageRun::whole(Action::Write, Lpn(first), pages)
        };
        firmware.submit(&[run], &mut out)?;
        first += pages;
    }
    Ok(())
}

/// Resets the first zones of a drive and writes them to their end.
fn fill_zones(
    firmware: &mut impl Firmware,
    config: &SsdConfig,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let Some(shape) = firmware.zones() else {
        return Ok(());
    };
    let mut out = OperationBuffer::with_capacity(1024);
    for zone in 0..config.full_zones(config.filled_pages().0) {
        if stop.load(Ordering::Relaxed) {
            return Err(SimError::Stopped);
        }
        out.clear();
        let first = Lpn(zone * shape.zone_pages);
        let reset = PageRun::whole(Action::Trim, first, shape.zone_pages);
        let write = PageRun::whole(Action::Write, first, shape.capacity_pages);
        firmware.submit(&[reset, write], &mut out)?;
    }
    Ok(())
}

fn write_drawn(
    firmware: &mut impl Firmware,
    config: &SsdConfig,
    (drawn, pages): (&Filled, u32),
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let mut out = OperationBuffer::with_capacity(1024);
    for number in 0..pages {
        if number % BATCH == 0 && stop.load(Ordering::Relaxed) {
            return Err(SimError::Stopped);
        }
        out.clear();
        let run = PageRun {
            content: config.condition_content(),
            ..PageRun::whole(Action::Write, drawn.at(number), 1)
        };
        firmware.submit(&[run], &mut out)?;
    }
    Ok(())
}
