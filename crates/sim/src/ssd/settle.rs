//! Writes a drive until more of the same changes nothing, without simulating time.
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
//! Sequential writes have settled when the flash was programmed once, after at least two passes. By
//! then no block is still erased, some whole blocks hold no current data, and every later pass leaves
//! as many of them.
//!
//! Random writes first use up such blocks, at one program a page. The more spare space a drive has,
//! the longer this takes. Meanwhile rounds agree although nothing has settled.

use std::sync::atomic::{AtomicBool, Ordering};

use drivelab_ftl::{Action, Firmware, OperationBuffer, OperationKind, PageRun};
use drivelab_request::Content;
use drivelab_workload::{keyed_rng, uniform_below};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::host::{Settling, SimError, Writing};
use crate::preset::SsdConfig;
use crate::ssd::fill::{Filled, fill, passes, write_in_order};

/// The least number of sequential passes after which the next pass finds the drive as this one did.
const LEAST_PASSES: u32 = 2;
/// A round writes one part in this many of the range.
const ROUND_PART: u32 = 4;
/// The number of rounds that must agree.
const AGREEING: usize = 3;
/// The largest allowed difference between them, relative to their mean.
const TOLERANCE: f64 = 0.02;
/// Rounds in all, four times the range, once the flash was programmed once. Page maps come close to
/// their steady state within two ranges.
const MOST_ROUNDS: usize = 16;
/// Separates these random places from those of every measurement. A measurement that wrote to the
/// same places in the same order would find the blocks emptied one after another.
const STREAM: u64 = u64::from_be_bytes(*b"settling");
/// Writes in a batch. Their map entries are prefetched before the first write.
const BATCH: u32 = 64;

/// Brings `firmware`, in the condition of `config`, to the end of `settling`.
///
/// # Errors
/// Errors of the firmware, and [`SimError::Stopped`] soon after `stop` is set.
pub(super) fn settle(
    firmware: &mut impl Firmware,
    config: &SsdConfig,
    settling: Settling,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let all = firmware.layout().logical_pages;
    for _ in 0..lacking_passes(config) {
        match settling.writing {
            // Pages that no write reaches keep the preset's condition.
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

/// Whether a drive in the condition of `config` has settled already.
pub(super) fn is_settled(config: &SsdConfig, settling: Settling) -> bool {
    settling.writing == Writing::InOrder && lacking_passes(config) == 0
}

/// How many sequential passes the condition of `config` lacks.
fn lacking_passes(config: &SsdConfig) -> u32 {
    let layout = config.layout();
    let wanted = layout.physical_pages() as f64 / f64::from(layout.logical_pages);
    (wanted.ceil() as u32)
        .max(LEAST_PASSES)
        .saturating_sub(passes(config))
}

/// Overwrites single pages among those that the drive holds according to `config`, until more of it
/// changes nothing. The pages must have been written before.
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
            // The written content takes no space.
            return Ok(());
        }
        programmed += programs * pages_of_round;
    }
    let mut programs: Vec<f64> = Vec::new();
    while programs.len() < MOST_ROUNDS && !agree(&programs) {
        programs.push(writes.round(firmware, pieces, stop)?);
    }
    Ok(())
}

/// Whether the last rounds agree.
fn agree(programs: &[f64]) -> bool {
    let Some(last) = programs.len().checked_sub(AGREEING) else {
        return false;
    };
    let last = &programs[last..];
    let mean = last.iter().sum::<f64>() / AGREEING as f64;
    last.iter()
        .all(|each| (each / mean - 1.0).abs() <= TOLERANCE)
}

/// Random pieces of several pages at the start of a drive, or random pages among those that it
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
    /// They are the same in every run of a drive, so its states are the same.
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

    /// Writes a round of pieces. Returns the number of programs per page.
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
    use super::agree;

    #[test]
    fn three_rounds_that_agree_are_settled() {
        assert!(!agree(&[1.0, 1.0]));
        assert!(agree(&[1.0, 2.0, 2.02, 2.0]));
        assert!(!agree(&[1.0, 2.0, 2.1, 2.2]));
    }
}
