//! Log blocks of a drive that maps whole blocks.
//!
//! ```text
//!   a page is written ─> the log block of its block, in order of arrival
//!                          none: the log block written least recently is merged first
//!                          full: merged first, unless its pages lie in order
//! ```
//!
//! Every unit has its own. A merge copies the pages of a block together from block and log, which
//! takes far longer than the write that caused it. A log block whose pages were written in order
//! becomes the block itself; if it is not full, only the rest is copied (Kim et al. 2002).

/// No block.
const NONE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct LogBlock {
    /// The block whose pages it takes.
    owner: u64,
    pages: u64,
    in_order: bool,
    /// When it was last written, by the number of written pages.
    written: u64,
}

const EMPTY: LogBlock = LogBlock {
    owner: NONE,
    pages: 0,
    in_order: true,
    written: 0,
};

/// The log blocks of all units.
pub struct Logs {
    of_unit: usize,
    block_pages: u64,
    blocks: Vec<LogBlock>,
    clock: u64,
}

impl Logs {
    pub fn new(units: usize, of_unit: usize, block_pages: usize) -> Self {
        Self {
            of_unit,
            block_pages: block_pages.max(1) as u64,
            blocks: vec![EMPTY; units * of_unit],
            clock: 0,
        }
    }

    pub fn clear(&mut self) {
        self.blocks.fill(EMPTY);
        self.clock = 0;
    }

    /// Whether the drive has any.
    #[inline(always)]
    pub const fn are_any(&self) -> bool {
        self.of_unit > 0
    }

    /// Writes a page of a unit, counted from the unit's first. Returns the part of a block that is
    /// copied before, from 0 to 1.
    pub fn write(&mut self, unit: usize, page: u64) -> f64 {
        let (owner, offset) = (page / self.block_pages, page % self.block_pages);
        let Some(logs) = self
            .blocks
            .get_mut(unit * self.of_unit..(unit + 1) * self.of_unit)
        else {
            return 0.0;
        };
        let own = logs.iter().position(|log| log.owner == owner);
        let taken = own.unwrap_or_else(|| {
            let by_age = |&place: &usize| logs[place].written;
            (0..logs.len()).min_by_key(by_age).unwrap_or(0)
        });
        let Some(log) = logs.get_mut(taken) else {
            return 0.0;
        };
        let mut merged = 0.0;
        if log.owner != owner || log.pages == self.block_pages {
            if log.owner != NONE {
                let rest = self.block_pages - log.pages;
                let copied = if log.in_order { rest } else { self.block_pages };
                merged = copied as f64 / self.block_pages as f64;
            }
            *log = LogBlock { owner, ..EMPTY };
        }
        self.clock += 1;
        log.in_order &= log.pages == offset;
        log.pages += 1;
        log.written = self.clock;
        if log.in_order && log.pages == self.block_pages {
            *log = EMPTY;
        }
        merged
    }
}
