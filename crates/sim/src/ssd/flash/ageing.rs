//! How wear changes the times of the flash.
//!
//! ```text
//!   wear = erases of the block / rated erases
//!
//!   program, erase   time x (1 + (ratio - 1) x wear), from the rated count on ratio
//!   read             sensed again while the draw of the page is below p, p^2, p^3, ...
//!                    with p = probability x wear: at most so many times
//! ```
//!
//! The time of an operation depends on the erases of its block when it is executed. So erases are
//! counted here, as the flash executes them; a firmware counts them when it emits them, which is
//! earlier. The number of times that a page is sensed stays the same until its block is erased.

use drivelab_ftl::{Chance, OperationKind, Ppn};

use crate::preset::SsdConfig;

/// Reads that must be repeated.
#[derive(Clone, Copy, Debug)]
struct Retry {
    /// Probability that the data is wrong once more, at the rated count.
    probability: f64,
    most: u32,
    /// The time of each retry; `None` means the time of the read.
    time: Option<u64>,
}

/// Wear of the blocks of a drive, and its effects.
#[derive(Clone, Debug)]
pub struct Ageing {
    rated_erases: f64,
    /// The relative increase of a time at the rated count; 0 for a read.
    change: [f64; 3],
    retry: Retry,
    seed: u64,
    pages_per_block: u32,
    /// Erases of every block that the flash has executed.
    erases: Vec<u32>,
}

impl Ageing {
    /// `None` if wear changes no time. `scale` applies the factor of this run.
    pub fn new(config: &SsdConfig, scale: impl Fn(u64) -> u64) -> Option<Box<Self>> {
        let ageing = config.ageing.filter(|ageing| ageing.changes_times())?;
        Some(Box::new(Self {
            rated_erases: ageing.rated_erases.into(),
            change: [
                0.0,
                ageing.program_time_ratio - 1.0,
                ageing.erase_time_ratio - 1.0,
            ],
            retry: Retry {
                probability: ageing.read_retry_probability,
                most: ageing.read_retries.unwrap_or(0),
                time: ageing.read_retry_ns.map(scale),
            },
            seed: ageing.seed,
            pages_per_block: config.geometry.pages_per_block,
            erases: Vec::new(),
        }))
    }

    /// The drive is idle, and its blocks have these erase counts.
    pub fn begin(&mut self, erases: impl Iterator<Item = u32>) {
        self.erases = erases.collect();
    }

    /// The block of `page` is erased.
    pub fn count_erase(&mut self, page: Ppn) {
        let block = page.0 / self.pages_per_block;
        if let Some(erases) = self.erases.get_mut(block as usize) {
            *erases = erases.saturating_add(1);
        }
    }

    fn erases(&self, page: Ppn) -> u32 {
        let block = page.0 / self.pages_per_block;
        self.erases.get(block as usize).copied().unwrap_or(0)
    }

    /// How often `page` is sensed again until its data is right.
    pub fn retries(&self, page: Ppn) -> u32 {
        let erases = self.erases(page);
        let wear = f64::from(erases) / self.rated_erases;
        let again = (self.retry.probability * wear).min(1.0);
        if again == 0.0 {
            return 0;
        }
        let drawn = Chance::ReadRetries.draw(self.seed, page.0, erases);
        let (mut retries, mut reached) = (0, again);
        while retries < self.retry.most && drawn < reached {
            retries += 1;
            reached *= again;
        }
        retries
    }

    /// The cell-array time of an operation that takes `fresh` on a block that was never erased.
    pub fn time(&self, kind: OperationKind, page: Ppn, fresh: u64) -> u64 {
        if kind == OperationKind::Read {
            let each = self.retry.time.unwrap_or(fresh);
            return fresh + u64::from(self.retries(page)) * each;
        }
        let wear = f64::from(self.erases(page)) / self.rated_erases;
        let ratio = 1.0 + self.change[kind as usize] * wear.min(1.0);
        (fresh as f64 * ratio).round() as u64
    }
}
