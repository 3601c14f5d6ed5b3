//! A drive written until more of the same changes nothing, without simulating time.
//!
//! ```text
//!   in order    the passes over the drive that its condition lacks
//!   at random   these, then pieces anywhere in the range, in rounds
//!
//!   programs of a page of the host
//!     2.4 |                    o  o  o    each round a quarter of the range; settled when the
//!     1.7 |              o  o             last rounds agree and the flash was programmed once
//!     1.0 |  o  o  o  o
//!         +--------------------------> rounds
//! ```
//!
//! Writes in order settle when the flash was programmed once, after two passes at least: then no
//! block is erased any more, whole blocks hold no newest data, and every later pass leaves as many.
//! Random writes first use these up, at one program a page, and the more spare space a drive has
//! the longer: so long rounds agree and nothing is settled.

use std::sync::atomic::{AtomicBool, Ordering};

use drivelab_ftl::{Action, Firmware, OperationBuffer, OperationKind, PageRun};
use drivelab_request::Content;
use drivelab_workload::{keyed_rng, uniform_below};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::host::{Settling, SimError, Writing};
use crate::preset::SsdConfig;
use crate::ssd::fill::{Filled, fill, passes, write_in_order};

/// Passes in order, at least, after which the next one finds the drive as this one did.
const LEAST_PASSES: u32 = 2;
/// Parts of the range that a round writes.
const ROUND_PART: u32 = 4;
/// Rounds that agree.
const AGREEING: usize = 3;
/// By how much of their mean they may differ.
const TOLERANCE: f64 = 0.02;
/// Four times the range, when the flash was programmed once: steady states of page maps come within
/// two of them.
const MOST_ROUNDS: usize = 16;
/// Tells these places from those of every measurement: one that wrote to the same in the same order
/// would find the blocks emptied one after the other.
const STREAM: u64 = u64::from_be_bytes(*b"settling");
/// Writes of one batch: their map entries are asked for before the first is done.
const BATCH: u32 = 64;

/// Brings `firmware`, in the condition of `config`, to where `settling` ends.
///
/// # Errors
/// What the firmware cannot do, and [`SimError::Stopped`] soon after `stop` is set.
pub(super) fn settle(
    firmware: &mut impl Firmware,
    config: &SsdConfig,
    settling: Settling,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let done = if config.is_purged {
        0
    } else {
        passes(config.condition)
    };
    let layout = *firmware.layout();
    let all = layout.logical_pages;
    let flash_pages = layout.physical_pages() as f64;
    let wanted = (flash_pages / f64::from(all)).ceil() as u32;
    for _ in done..wanted.max(LEAST_PASSES) {
        match settling.writing {
            // What no write goes to stays as the preset says that it is.
            Writing::AtRandom { .. } => fill(firmware, config, stop)?,
            Writing::InOrder => write_in_order(firmware, config, all, stop)?,
        }
    }
    let Writing::AtRandom { piece_bytes } = settling.writing else {
        return Ok(());
    };
    let page_bytes = u64::from(config.geometry.page_size_bytes);
    let pages = settling.range_bytes.map_or(all, |bytes| {
        bytes.div_ceil(page_bytes).min(all.into()) as u32
    });
    let piece = (u64::from(piece_bytes) / page_bytes).clamp(1, pages.into()) as u32;
    let writes = RandomWrites::new(config, Filled::First, pages / piece, piece);
    until_steady(firmware, writes, stop)
}

/// Overwrites single pages of what `config` says that its drive holds, which was written before,
/// until more of it changes nothing.
///
/// # Errors
/// As [`settle`].
pub(super) fn overwrite_until_steady(
    firmware: &mut impl Firmware,
    config: &SsdConfig,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let pages = config.filled_pages().0;
    let writes = RandomWrites::new(config, Filled::of(config), pages, 1);
    until_steady(firmware, writes, stop)
}

fn until_steady(
    firmware: &mut impl Firmware,
    mut writes: RandomWrites,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let flash_pages = firmware.layout().physical_pages() as f64;
    let pieces = writes.pieces.div_ceil(ROUND_PART);
    let pages_of_round = f64::from(pieces) * f64::from(writes.pages);
    let mut programmed = 0.0;
    while programmed < flash_pages {
        let programs = writes.round(firmware, pieces, stop)?;
        if programs <= 0.0 {
            // What is written takes no room.
            return Ok(());
        }
        programmed += programs * pages_of_round;
    }
    let mut programs: Vec<f64> = Vec::new();
    while programs.len() < MOST_ROUNDS && !is_settled(&programs) {
        programs.push(writes.round(firmware, pieces, stop)?);
    }
    Ok(())
}

/// Whether the last rounds agree.
fn is_settled(programs: &[f64]) -> bool {
    let Some(last) = programs.len().checked_sub(AGREEING) else {
        return false;
    };
    let last = &programs[last..];
    let mean = last.iter().sum::<f64>() / AGREEING as f64;
    last.iter()
        .all(|each| (each / mean - 1.0).abs() <= TOLERANCE)
}

/// Pieces of some pages anywhere among the first of a drive, or pages anywhere among those that it
/// holds.
struct RandomWrites {
    content: Content,
    among: Filled,
    pieces: u32,
    pages: u32,
    rng: Xoshiro256PlusPlus,
    batch: Vec<PageRun>,
    out: OperationBuffer,
}

impl RandomWrites {
    /// The same for every run of a drive, so that its states are the same.
    fn new(config: &SsdConfig, among: Filled, pieces: u32, pages: u32) -> Self {
        Self {
            content: config.condition_content(),
            among,
            pieces,
            pages,
            rng: keyed_rng(0, 0, STREAM),
            batch: Vec::with_capacity(BATCH as usize),
            out: OperationBuffer::with_capacity(1024),
        }
    }

    /// Writes so many pieces; answers how many programs a page took.
    fn round(
        &mut self,
        firmware: &mut impl Firmware,
        count: u32,
        stop: &AtomicBool,
    ) -> Result<f64, SimError> {
        let mut programs = 0;
        let mut left = count;
        while left > 0 {
            if stop.load(Ordering::Relaxed) {
                return Err(SimError::Stopped);
            }
            let pieces = left.min(BATCH);
            self.draw(firmware, pieces);
            self.out.clear();
            firmware.submit(&self.batch, &mut self.out)?;
            let operations = self.out.operations().iter();
            programs += operations
                .filter(|operation| operation.kind == OperationKind::Program)
                .count();
            left -= pieces;
        }
        Ok(programs as f64 / (f64::from(count) * f64::from(self.pages)))
    }

    fn draw(&mut self, firmware: &impl Firmware, pieces: u32) {
        self.batch.clear();
        for _ in 0..pieces {
            let piece = uniform_below(&mut self.rng, self.pieces.into()) as u32;
            let page = self.among.at(piece * self.pages);
            firmware.prefetch_map(page);
            self.batch.push(PageRun {
                content: self.content,
                ..PageRun::whole(Action::Write, page, self.pages)
            });
        }
        for run in &self.batch {
            firmware.prefetch_overwrite(run.first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_settled;

    #[test]
    fn three_rounds_that_agree_are_settled() {
        assert!(!is_settled(&[1.0, 1.0]));
        assert!(is_settled(&[1.0, 2.0, 2.02, 2.0]));
        assert!(!is_settled(&[1.0, 2.0, 2.1, 2.2]));
    }
}
