//! Requests drawn window by window. Each window says how many requests of each kind it has, which
//! gaps and which regions. Tables say what tends to follow what.
//!
//! ```text
//!   window ─┬─ kinds    12 of kind 0, 3 of kind 5 ...   drawn without replacement, by what tends
//!           ├─ gaps     9 of class 2 ...                to come after what: an urn each
//!           └─ regions  2 in region 7 ...
//!                 │
//!   kind ── read or write, sizes, and where ──> next to a stream, again, near it, or in a region
//! ```
//!
//! If a window counts trains, its requests come in that many trains: each begins after a long gap
//! and continues after short ones. The length of bursts decides how long a drive's queue becomes.
//!
//! So the requests and bytes of a window are nearly those that it states, whatever the seed. Only
//! order, places and times are random. After the last window the first comes again, while streams
//! and history continue. A fitted trace consists of exactly this.

mod bag;
mod draw;
mod lift;
mod places;
mod trains;

use drivelab_request::{Direction, SECTOR_BYTES};
use thiserror::Error;

use crate::MAX_REQUEST_BYTES;

pub use draw::WindowedRequests;
pub use lift::Pairs;

/// The most kinds, and classes of gaps.
pub const MOST_CLASSES: usize = 64;
/// The most regions.
pub const MOST_REGIONS: usize = 256;
/// The most values of a table of sizes, ranks, distances or gaps.
pub const MOST_VALUES: usize = 33;
/// The most requests of a window: they are planned before the first is sent.
pub const MOST_WINDOW_REQUESTS: u64 = 4_000_000;
/// The most windows.
pub const MOST_WINDOWS: usize = 2_000;
/// How far back a repeated request may lie.
pub const HISTORY: usize = 8192;

/// Where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where a stream of its group ended.
    Next,
    /// Where a stream of any group in the same direction ended.
    NextOfAny,
    /// Where an earlier request of its group went, with the same size.
    Again,
    /// Where an earlier request of its group in the other direction went, with the same size.
    AgainOther,
    /// A distance behind the end of a stream of its group.
    Ahead,
    /// A distance before the end of a stream of its group.
    Behind,
    /// Anywhere in a region.
    Region,
}

impl Place {
    /// The names in a scenario.
    pub const NAMES: &[&str] = &[
        "next",
        "next_of_any",
        "again",
        "again_other",
        "ahead",
        "behind",
        "region",
    ];

    /// The place with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "next" => Self::Next,
            "next_of_any" => Self::NextOfAny,
            "again" => Self::Again,
            "again_other" => Self::AgainOther,
            "ahead" => Self::Ahead,
            "behind" => Self::Behind,
            "region" => Self::Region,
            _ => return None,
        })
    }
}

/// One kind of request.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Whether it reads or writes.
    pub direction: Direction,
    /// Where it goes.
    pub place: Place,
    /// Kinds of one group continue and repeat one another.
    pub group: u32,
    /// Its sizes, all equally likely.
    pub sizes: Vec<u32>,
    /// Which stream or earlier request it refers to, counted back from the last one; all equally
    /// likely.
    pub ranks: Vec<u32>,
    /// Distances ahead or behind, sorted. Each interval between neighbours is equally likely.
    pub distances: Vec<u64>,
    /// In a region, places are multiples of the first number plus the second.
    pub grid: (u64, u64),
    /// How often each kind came after this one.
    pub kinds_after: Pairs,
    /// How often a gap of each class came before this one.
    pub gaps_before: Pairs,
}

/// A class of times between two requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// Times in ns, sorted. Each interval between neighbours is equally likely.
    pub gaps_ns: Vec<u64>,
    /// How often a gap of each class came after this one.
    pub gaps_after: Pairs,
    /// Whether a train begins after it, if windows count trains.
    pub begins_train: bool,
}

/// A class of trains: requests in quick succession.
#[derive(Clone, Debug, PartialEq)]
pub struct Train {
    /// How many requests they have, all equally likely.
    pub lengths: Vec<u32>,
}

/// A part of the drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// How many requests of each sort arrive in a span of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Its length.
    pub duration_ns: u64,
    /// The number of requests of each kind.
    pub kinds: Pairs,
    /// The number of requests after a gap of each class.
    pub gaps: Pairs,
    /// Of the requests that go to a region, the number that go to each.
    pub regions: Pairs,
    /// The number of trains of each class; empty if gaps may follow one another freely.
    pub trains: Pairs,
}

/// Windows and what they are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows {
    /// Kinds of requests.
    pub kinds: Vec<Kind>,
    /// Classes of gaps, shortest first.
    pub gaps: Vec<Gap>,
    /// Regions, in order of their offsets.
    pub regions: Vec<Region>,
    /// Classes of trains; empty if no window counts any.
    pub trains: Vec<Train>,
    /// In order of time.
    pub windows: Vec<Window>,
}

/// Why such windows are impossible.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WindowsError {
    /// Too many items of one sort, or none.
    #[error("there are {count} {what}; allowed: 1 to {most}")]
    Count {
        /// The sort of item.
        what: &'static str,
        /// Their number.
        count: usize,
        /// The largest number.
        most: usize,
    },
    /// A table names a class that does not exist.
    #[error("{table} names {what} {value}; allowed: 0 to {last}")]
    Unknown {
        /// Which table.
        table: String,
        /// The sort of item it names.
        what: &'static str,
        /// The number it names.
        value: u32,
        /// The last existing number.
        last: usize,
    },
    /// A table that is empty, too long, not sorted or out of range.
    #[error("{table} is not possible; allowed: {allowed}")]
    Table {
        /// Which table.
        table: String,
        /// The allowed content.
        allowed: String,
    },
    /// Counts of a window that do not agree.
    #[error("window {window} has {kinds} requests by kinds and {gaps} by gaps; allowed: as many")]
    Unequal {
        /// The number of the window.
        window: usize,
        /// Requests by kinds.
        kinds: u64,
        /// Requests by gaps.
        gaps: u64,
    },
    /// A window with more trains than requests.
    #[error(
        "window {window} has {trains} trains and {requests} requests; allowed: at most as many"
    )]
    Trains {
        /// The number of the window.
        window: usize,
        /// The number of trains.
        trains: u64,
        /// The number of requests.
        requests: u64,
    },
    /// A window with too many requests.
    #[error(
        "window {window} has {requests} requests; allowed: at most {MOST_WINDOW_REQUESTS}; use \
         shorter windows"
    )]
    Crowded {
        /// The number of the window.
        window: usize,
        /// The number of requests.
        requests: u64,
    },
    /// No request is ever sent.
    #[error("no window has a request; give one at least")]
    Silent,
    /// A request that does not fit.
    #[error("its largest request of {size} bytes does not fit into {length} bytes")]
    DoesNotFit {
        /// Its size.
        size: u32,
        /// The length of the range.
        length: u64,
    },
}

impl Windows {
    /// Checks that these windows can be drawn.
    ///
    /// # Errors
    /// [`WindowsError`] names what is impossible, and what is allowed.
    pub fn validate(&self) -> Result<(), WindowsError> {
        count("kinds of requests", self.kinds.len(), MOST_CLASSES)?;
        count("classes of gaps", self.gaps.len(), MOST_CLASSES)?;
        count("regions", self.regions.len(), MOST_REGIONS)?;
        count("windows", self.windows.len(), MOST_WINDOWS)?;
        for (number, kind) in self.kinds.iter().enumerate() {
            self.validate_kind(number, kind)?;
        }
        for (number, gap) in self.gaps.iter().enumerate() {
            ordered(&format!("gaps_ns of gap {number}"), &gap.gaps_ns)?;
            let table = || format!("gaps_after of gap {number}");
            gap.gaps_after.within(table, "gap", self.gaps.len())?;
        }
        self.validate_regions()?;
        if self.trains.len() > MOST_CLASSES {
            count("classes of trains", self.trains.len(), MOST_CLASSES)?;
        }
        for (number, train) in self.trains.iter().enumerate() {
            let is_length = |length: &u32| (1..=MOST_WINDOW_REQUESTS as u32).contains(length);
            let lengths = &train.lengths;
            if !(1..MOST_VALUES).contains(&lengths.len()) || !lengths.iter().all(is_length) {
                return Err(WindowsError::Table {
                    table: format!("lengths of train {number}"),
                    allowed: format!("1 to {} numbers, each 1 or more", MOST_VALUES - 1),
                });
            }
        }
        for (number, window) in self.windows.iter().enumerate() {
            self.validate_window(number, window)?;
        }
        if self.windows.iter().all(|window| window.kinds.sum() == 0) {
            return Err(WindowsError::Silent);
        }
        Ok(())
    }

    fn validate_kind(&self, number: usize, kind: &Kind) -> Result<(), WindowsError> {
        let wrong = |table: &str, allowed: String| {
            Err(WindowsError::Table {
                table: format!("{table} of kind {number}"),
                allowed,
            })
        };
        let is_size = |&size: &u32| {
            size.is_multiple_of(SECTOR_BYTES) && (SECTOR_BYTES..=MAX_REQUEST_BYTES).contains(&size)
        };
        if !(1..MOST_VALUES).contains(&kind.sizes.len()) || !kind.sizes.iter().all(is_size) {
            let most = MOST_VALUES - 1;
            return wrong(
                "sizes_bytes",
                format!("1 to {most} multiples of {SECTOR_BYTES} up to {MAX_REQUEST_BYTES}"),
            );
        }
        if !(1..MOST_VALUES).contains(&kind.ranks.len()) {
            return wrong("ranks", format!("1 to {} numbers", MOST_VALUES - 1));
        }
        if matches!(kind.place, Place::Ahead | Place::Behind) {
            ordered(
                &format!("distances_bytes of kind {number}"),
                &kind.distances,
            )?;
        }
        let (grid, offset) = kind.grid;
        let sector = u64::from(SECTOR_BYTES);
        if grid == 0 || !grid.is_multiple_of(sector) || offset >= grid || offset % sector != 0 {
            return wrong(
                "grid_offset_bytes",
                format!("a multiple of {SECTOR_BYTES} below grid_bytes"),
            );
        }
        let (kinds, gaps) = (self.kinds.len(), self.gaps.len());
        let after = || format!("kinds_after of kind {number}");
        kind.kinds_after.within(after, "kind", kinds)?;
        let before = || format!("gaps_before of kind {number}");
        kind.gaps_before.within(before, "gap", gaps)
    }

    fn validate_regions(&self) -> Result<(), WindowsError> {
        let mut end = 0;
        for (number, region) in self.regions.iter().enumerate() {
            let after = region.offset.checked_add(region.bytes);
            if region.bytes == 0 || region.offset < end || after.is_none_or(|e| e > u64::MAX / 4) {
                return Err(WindowsError::Table {
                    table: format!("range_bytes of region {number}"),
                    allowed: "regions with bytes, in order, none inside another".to_owned(),
                });
            }
            end = region.offset + region.bytes;
        }
        Ok(())
    }

    fn validate_window(&self, number: usize, window: &Window) -> Result<(), WindowsError> {
        let of = |table: &'static str| move || format!("{table} of window {number}");
        window.kinds.within(of("kinds"), "kind", self.kinds.len())?;
        window.gaps.within(of("gaps"), "gap", self.gaps.len())?;
        let regions = self.regions.len();
        window.regions.within(of("regions"), "region", regions)?;
        window
            .trains
            .within(of("trains"), "train", self.trains.len())?;
        let (kinds, gaps) = (window.kinds.sum(), window.gaps.sum());
        let trains = window.trains.sum();
        if trains > kinds {
            return Err(WindowsError::Trains {
                window: number,
                trains,
                requests: kinds,
            });
        }
        if kinds > MOST_WINDOW_REQUESTS {
            return Err(WindowsError::Crowded {
                window: number,
                requests: kinds,
            });
        }
        if kinds != gaps {
            return Err(WindowsError::Unequal {
                window: number,
                kinds,
                gaps,
            });
        }
        if window.duration_ns == 0 {
            return Err(WindowsError::Table {
                table: format!("duration_ns of window {number}"),
                allowed: "1 ns or more".to_owned(),
            });
        }
        Ok(())
    }

    /// The bytes of its largest request.
    #[must_use]
    pub fn largest(&self) -> u32 {
        let sizes = self
            .kinds
            .iter()
            .flat_map(|kind| kind.sizes.iter().copied());
        sizes.max().unwrap_or(SECTOR_BYTES)
    }

    /// Mean bytes of a request.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        let mut total = (0.0, 0.0);
        for window in &self.windows {
            for (kind, count) in window.kinds.iter() {
                let Some(kind) = self.kinds.get(kind as usize) else {
                    continue;
                };
                let sum: f64 = kind.sizes.iter().map(|&size| f64::from(size)).sum();
                total.0 += sum / kind.sizes.len().max(1) as f64 * f64::from(count);
                total.1 += f64::from(count);
            }
        }
        total.0 / f64::max(total.1, 1.0)
    }
}

fn count(what: &'static str, count: usize, most: usize) -> Result<(), WindowsError> {
    if (1..=most).contains(&count) {
        return Ok(());
    }
    Err(WindowsError::Count { what, count, most })
}

fn ordered(table: &str, values: &[u64]) -> Result<(), WindowsError> {
    if (2..=MOST_VALUES).contains(&values.len())
        && values.is_sorted()
        && values.iter().all(|&value| value < 1 << 52)
    {
        return Ok(());
    }
    Err(WindowsError::Table {
        table: table.to_owned(),
        allowed: format!("2 to {MOST_VALUES} numbers in order, each below 2^52"),
    })
}
