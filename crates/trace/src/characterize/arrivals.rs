//! When requests arrive: the times between them, and how bursty they are.

use drivelab_request::Histogram;

/// Interval lengths over which arrivals are counted, ns: 1 ms to a minute.
pub const SCALES_NS: [u64; 6] = [
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    60_000_000_000,
];

/// Times between arrivals, by Welford's recurrence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gaps {
    /// Number of gaps.
    pub count: u64,
    mean_ns: f64,
    squares: f64,
}

impl Gaps {
    pub(crate) fn count(&mut self, gap_ns: u64) {
        self.count += 1;
        let off = gap_ns as f64 - self.mean_ns;
        self.mean_ns += off / self.count as f64;
        self.squares += off * (gap_ns as f64 - self.mean_ns);
    }

    /// Their mean.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean_ns)
    }

    /// Standard deviation divided by mean: 0 at a steady pace, 1 for random (Poisson) arrivals,
    /// more in bursts. `None` if all arrive together.
    #[must_use]
    pub fn coefficient_of_variation(&self) -> Option<f64> {
        let known = self.count > 1 && self.mean_ns > 0.0;
        known.then(|| (self.squares / self.count as f64).sqrt() / self.mean_ns)
    }
}

/// Arrivals in consecutive intervals of one length, from the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// The length of the intervals.
    pub width_ns: u64,
    begin_ns: u64,
    index: u64,
    current: u64,
    /// The most arrivals in one interval.
    pub most: u64,
    /// The index of that interval, from 0.
    pub most_at: u64,
    total: u64,
    squares: f64,
}

impl Counted {
    pub(crate) const fn new(width_ns: u64, begin_ns: u64) -> Self {
        Self {
            width_ns,
            begin_ns,
            index: 0,
            current: 0,
            most: 0,
            most_at: 0,
            total: 0,
            squares: 0.0,
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, at_ns: u64) {
        let past_ns = at_ns - self.begin_ns;
        // Most arrivals fall into the current interval, and a division is slow.
        if past_ns - self.index * self.width_ns >= self.width_ns {
            self.squares += (self.current as f64).powi(2);
            self.current = 0;
            self.index = past_ns / self.width_ns;
        }
        self.current += 1;
        self.total += 1;
        if self.current > self.most {
            (self.most, self.most_at) = (self.current, self.index);
        }
    }

    /// The number of intervals up to that of the last arrival.
    #[must_use]
    pub const fn intervals(&self) -> u64 {
        self.index + 1
    }

    /// Mean arrivals in one interval.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.total as f64 / self.intervals() as f64
    }

    /// Variance divided by mean of the arrivals in one interval: 0 at a steady pace, 1 for random
    /// (Poisson) arrivals, more in bursts.
    #[must_use]
    pub fn dispersion(&self) -> Option<f64> {
        let mean = self.mean();
        let squares = self.squares + (self.current as f64).powi(2);
        let variance = squares / self.intervals() as f64 - mean * mean;
        (self.total > 0).then(|| variance.max(0.0) / mean)
    }
}

/// The arrivals of a whole trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// Times between them.
    pub gaps: Gaps,
    /// The same as a histogram.
    pub gap_histogram: Histogram,
    /// Counts over each of [`SCALES_NS`].
    pub counted: [Counted; SCALES_NS.len()],
    last_ns: Option<u64>,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            gaps: Gaps::default(),
            gap_histogram: Histogram::new(),
            counted: SCALES_NS.map(|width_ns| Counted::new(width_ns, 0)),
            last_ns: None,
        }
    }
}

impl Arrivals {
    /// Counts an arrival. Returns the time since the one before.
    #[inline]
    pub(crate) fn count(&mut self, at_ns: u64) -> Option<u64> {
        for counted in &mut self.counted {
            counted.count(at_ns);
        }
        let gap_ns = self.last_ns.map(|last_ns| at_ns - last_ns);
        self.last_ns = Some(at_ns);
        if let Some(gap_ns) = gap_ns {
            self.gaps.count(gap_ns);
            self.gap_histogram.record(gap_ns);
        }
        gap_ns
    }

    /// The last arrival, ns after the first; `None` without arrivals.
    #[must_use]
    pub const fn last_ns(&self) -> Option<u64> {
        self.last_ns
    }
}
