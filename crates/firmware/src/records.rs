//! The firmware's own counts, and the line that it writes for each record.
//!
//! A record is 1000 host requests, in the order in which they complete. Its line is a JSON object:
//! `record`, the number from 0; the counts named below, of that record alone; `own_NAME`, the
//! counts of the user's own firmware; `wall_ns`, the time on this machine's clock. A last record of
//! fewer than 1000 requests is not written.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Requests in a record by default.
pub const RECORD_REQUESTS: u64 = 1000;

macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The counters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Counter {
            $($(#[$doc])* $variant,)*
        }

        /// The names of the counters, as in a record's line.
        pub const NAMES: &[&str] = &[$($name),*];
    };
}

counters! {
    /// Completed host requests.
    Requests = "requests",
    /// Completed reads.
    Reads = "reads",
    /// Completed writes.
    Writes = "writes",
    /// Completed trims.
    Trims = "trims",
    /// Fetched commands: a request of more than 512 KiB is several.
    Commands = "commands",
    /// Pages of 16 KiB that commands touched.
    Pages = "pages",
    /// Bytes copied between the host's memory and the buffers, or within them.
    CopiedBytes = "copied_bytes",
    /// Pages read that were in a buffer.
    ReadHits = "read_hits",
    /// Pages written that were in the write buffer.
    WriteHits = "write_hits",
    /// Pages read because they were written in part.
    FillReads = "fill_reads",
    /// Map entries looked up for the host.
    MapLookups = "map_lookups",
    /// Pages read from flash, including collection.
    FlashReads = "flash_reads",
    /// Pages programmed, including collection.
    FlashPrograms = "flash_programs",
    /// Blocks erased.
    FlashErases = "flash_erases",
    /// Valid pages that collection moved.
    PagesMoved = "pages_moved",
    /// Locks taken.
    LockAcquisitions = "lock_acquisitions",
    /// Locks that were held by somebody else.
    LockWaits = "lock_waits",
    /// Items handed from one worker to another.
    HandOffs = "hand_offs",
}

/// The number of counters.
pub const COUNTERS: usize = NAMES.len();

/// The counts of one worker, which only it changes.
#[derive(Debug)]
#[repr(align(64))]
pub struct Counters([AtomicU64; COUNTERS]);

impl Default for Counters {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; COUNTERS])
    }
}

impl Counters {
    /// Adds to a counter of the calling worker.
    #[inline]
    pub fn add(&self, counter: Counter, amount: u64) {
        let cell = &self.0[counter as usize];
        cell.store(cell.load(Relaxed) + amount, Relaxed);
    }

    /// A count so far.
    #[must_use]
    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize].load(Relaxed)
    }
}

/// Counts of all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals([u64; COUNTERS]);

impl Totals {
    /// The sums so far.
    #[must_use]
    pub fn of(workers: &[Counters]) -> Self {
        let mut sums = [0; COUNTERS];
        for counters in workers {
            for (sum, cell) in sums.iter_mut().zip(&counters.0) {
                *sum += cell.load(Relaxed);
            }
        }
        Self(sums)
    }

    /// What was counted since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self(std::array::from_fn(|index| self.0[index] - before.0[index]))
    }

    /// One of the counts.
    #[must_use]
    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The counts.
    pub counts: Totals,
    /// Its duration on this machine.
    pub wall_ns: u64,
}

impl Record {
    /// The line of the record with the number `number`, without line feed.
    #[must_use]
    pub fn line(&self, number: usize) -> String {
        self.line_with(number, &[])
    }

    /// The same with the own counts of the user's firmware, as `own_` and their names.
    #[must_use]
    pub fn line_with(&self, number: usize, own: &[(String, u64)]) -> String {
        let mut line = format!("{{\"record\":{number}");
        for (name, count) in NAMES.iter().zip(self.counts.0) {
            // Writing into a string never fails.
            let _ = write!(line, ",\"{name}\":{count}");
        }
        for (name, count) in own {
            let _ = write!(line, ",\"own_{name}\":{count}");
        }
        let _ = write!(line, ",\"wall_ns\":{}}}", self.wall_ns);
        line
    }

    /// A record's line, extended by processor events, a JSON object.
    #[must_use]
    pub fn with_events(line: &str, events: &str) -> String {
        let whole = line.strip_suffix('}').unwrap_or(line);
        format!("{whole},\"events\":{events}}}")
    }
}
