//! The same trace window by window: one row for each window with a request.

use drivelab_request::Histogram;

use crate::characterize::arrivals::{Counted, Gaps};
use crate::characterize::depth::Busy;
use crate::characterize::sample::Sample;
use crate::characterize::service::Service;
use crate::characterize::streams::Place;
use crate::characterize::tally::Tally;
use crate::error::TraceError;
use crate::record::Record;

/// The most windows with requests, because their rows are kept.
pub const MOST_WINDOWS: usize = 100_000;
/// Shorter windows do not show how bursty arrivals are.
pub const LEAST_COUNTED_NS: u64 = 1_000_000_000;
/// Arrivals of a window are counted in intervals of this length.
pub const COUNTED_NS: u64 = 100_000_000;
/// Sampled blocks of a window: an error of 1.6 % (one standard error) beyond 16 MiB.
const MOST_BLOCKS: usize = 4096;

/// A summary of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Number of times.
    pub count: u64,
    /// Exact.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// Exact.
    pub most_ns: u64,
}

impl Times {
    fn of(histogram: &Histogram) -> Option<Self> {
        Some(Self {
            count: histogram.count(),
            mean_ns: histogram.mean_ns()?,
            p50_ns: histogram.percentile_ns(50.0)?,
            p99_ns: histogram.percentile_ns(99.0)?,
            most_ns: histogram.max_ns()?,
        })
    }
}

/// The results of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Where it begins, in ns after the first request.
    pub begin_ns: u64,
    /// Its length. The last window ends with the last request.
    pub duration_ns: u64,
    /// Its requests.
    pub tally: Tally,
    /// Time from each of its arrivals back to the previous arrival.
    pub gaps: Gaps,
    /// Arrivals in each tenth of a second; `None` for a window shorter than a second.
    pub counted: Option<Counted>,
    /// What was outstanding, if completions are known.
    pub busy: Option<Busy>,
    /// Times from arrival to completion of reads and writes.
    pub response: Option<Times>,
    /// Their times from arrival to dispatch.
    pub queue: Option<Times>,
    /// Their times from dispatch to completion.
    pub device: Option<Times>,
    /// Distinct blocks requested in it.
    pub blocks: f64,
    /// Distinct blocks requested up to its end.
    pub blocks_so_far: f64,
}

/// The current window, and the past ones.
#[derive(Debug)]
pub(crate) struct Windows {
    width_ns: u64,
    begin_ns: u64,
    tally: Tally,
    gaps: Gaps,
    counted: Counted,
    busy_before: Busy,
    service: Service,
    blocks: Sample<()>,
    rows: Vec<Window>,
}

impl Windows {
    pub fn new(width_ns: u64) -> Self {
        Self {
            width_ns,
            begin_ns: 0,
            tally: Tally::default(),
            gaps: Gaps::default(),
            counted: Counted::new(COUNTED_NS, 0),
            busy_before: Busy::default(),
            service: Service::default(),
            blocks: Sample::new(MOST_BLOCKS),
            rows: Vec::new(),
        }
    }

    /// Where the current window ends, if a request that arrives at `at_ns` is beyond it.
    #[inline]
    pub const fn end_before(&self, at_ns: u64) -> Option<u64> {
        if at_ns - self.begin_ns < self.width_ns {
            return None;
        }
        Some(self.begin_ns + self.width_ns)
    }

    /// Ends the window. The next window contains a request at `at_ns`.
    pub fn end(
        &mut self,
        end_ns: u64,
        at_ns: u64,
        busy: Option<Busy>,
        blocks_so_far: f64,
    ) -> Result<(), TraceError> {
        if self.rows.len() == MOST_WINDOWS {
            return Err(TraceError::TooManyWindows {
                most: MOST_WINDOWS,
                width_ns: self.width_ns,
            });
        }
        let duration_ns = end_ns - self.begin_ns;
        self.rows.push(Window {
            begin_ns: self.begin_ns,
            duration_ns,
            tally: std::mem::take(&mut self.tally),
            gaps: std::mem::take(&mut self.gaps),
            counted: (duration_ns >= LEAST_COUNTED_NS).then_some(self.counted),
            busy: busy.map(|busy| busy.since(&self.busy_before)),
            response: Times::of(&self.service.response),
            queue: Times::of(&self.service.queue),
            device: Times::of(&self.service.device),
            blocks: self.blocks.estimate(),
            blocks_so_far,
        });
        self.service.clear();
        self.blocks.clear();
        self.begin_ns = at_ns - at_ns % self.width_ns;
        self.counted = Counted::new(COUNTED_NS, self.begin_ns);
        Ok(())
    }

    /// Sets what was outstanding until the current window began.
    pub const fn begin_busy(&mut self, busy: Busy) {
        self.busy_before = busy;
    }

    /// Where the current window begins.
    pub const fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    #[inline]
    pub fn count(&mut self, record: &Record, place: Option<&Place>, gap_ns: Option<u64>) {
        self.tally.count(record, place);
        self.counted.count(record.arrival_ns);
        if let Some(gap_ns) = gap_ns {
            self.gaps.count(gap_ns);
        }
        if place.is_some() {
            self.service.count(record);
        }
    }

    #[inline]
    pub fn access(&mut self, hash: u64) {
        if self.blocks.takes(hash) {
            self.blocks.insert(hash, ());
        }
    }

    pub fn rows(self) -> Vec<Window> {
        self.rows
    }
}
