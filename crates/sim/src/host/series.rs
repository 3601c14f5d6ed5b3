//! What completed when: the measurement window in bins of equal length.
//!
//! ```text
//!   window   |----------|----------|----------|-----|
//!   bin          0           1          2        3      a stream's requests, bytes, latencies
//! ```
//!
//! The number of bins is bounded. When a series would exceed it, neighbouring bins are joined in
//! pairs and the interval doubles; the `interval` field shows the new length.

use drivelab_request::{CommandKind, Nanos};

use super::load::MOST_STREAMS;

/// The most bins of a series, over all streams and kinds of command.
pub const MOST_BINS: usize = 5 << 16;

/// The kinds of commands.
const KINDS: usize = CommandKind::ALL.len();

// Even with the most streams there are a thousand intervals.
const _: () = assert!(MOST_BINS / (KINDS * MOST_STREAMS) >= 1000);

/// The commands of one stream and kind that completed in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Commands.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Sum of their latencies, ns.
    pub latency_sum_ns: u64,
    /// The largest, ns.
    pub latency_max_ns: u64,
}

impl Bin {
    fn join(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }
}

/// The window in bins, by stream and kind of command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Length of a bin: the requested interval, or a power of two times it.
    pub interval: Nanos,
    /// Bins in one interval: one for each stream and kind of command.
    columns: usize,
    /// Row by row, one row for each interval.
    bins: Vec<Bin>,
    origin: u64,
    /// When the last row ends.
    row_end: u64,
    most_rows: usize,
}

impl Series {
    pub(crate) fn new(interval: Nanos, streams: usize) -> Self {
        let columns = streams * KINDS;
        let interval = Nanos(interval.0.max(1));
        Self {
            interval,
            columns,
            bins: vec![Bin::default(); columns],
            origin: 0,
            row_end: interval.0,
            // Even, so that rows can be joined in pairs.
            most_rows: MOST_BINS / columns / 2 * 2,
        }
    }

    /// The window opens.
    pub(crate) fn open(&mut self, at: u64) {
        self.origin = at;
        self.row_end = at + self.interval.0;
    }

    /// Counts a command of `column` that completed at `at`; times never fall.
    #[inline]
    pub(crate) fn record(&mut self, column: usize, at: u64, latency_ns: u64, bytes: u32) {
        if at >= self.row_end {
            self.advance(at);
        }
        let row = self.bins.len() - self.columns;
        self.bins[row + column].join(&Bin {
            requests: 1,
            bytes: bytes.into(),
            latency_sum_ns: latency_ns,
            latency_max_ns: latency_ns,
        });
    }

    /// Adds rows until one contains `at`.
    #[cold]
    fn advance(&mut self, at: u64) {
        while (at - self.origin) / self.interval.0 >= self.most_rows as u64 {
            self.coarsen();
        }
        let row = (at - self.origin) / self.interval.0;
        self.bins
            .resize((row as usize + 1) * self.columns, Bin::default());
        self.row_end = self.origin + (row + 1) * self.interval.0;
    }

    fn coarsen(&mut self) {
        let rows = self.intervals();
        for row in 0..rows {
            for column in 0..self.columns {
                let bin = std::mem::take(&mut self.bins[row * self.columns + column]);
                self.bins[row / 2 * self.columns + column].join(&bin);
            }
        }
        self.bins.truncate(rows.div_ceil(2) * self.columns);
        self.interval = Nanos(self.interval.0 * 2);
    }

    /// The number of intervals from the opening of the window to the last completion in it.
    #[must_use]
    pub fn intervals(&self) -> usize {
        self.bins.len() / self.columns
    }

    /// What completed in one interval of one stream; empty beyond the last interval.
    #[must_use]
    pub fn bin(&self, interval: usize, stream: usize, kind: CommandKind) -> Bin {
        let column = stream * KINDS + kind.index();
        if column >= self.columns {
            return Bin::default();
        }
        let bin = self.bins.get(interval * self.columns + column);
        bin.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_fall_into_the_bins_of_their_times() {
        let mut series = Series::new(Nanos(100), 2);
        series.open(1000);
        let column = KINDS + CommandKind::Write.index();
        // Time 1099 is in the first bin, 1100 in the second.
        for (at, latency) in [(1000, 7), (1099, 9), (1100, 5), (1350, 1)] {
            series.record(column, at, latency, 10);
        }
        let requests = |interval| series.bin(interval, 1, CommandKind::Write).requests;
        assert_eq!([0, 1, 2, 3, 4].map(requests), [2, 1, 0, 1, 0]);
        assert_eq!(series.intervals(), 4);
        let first = Bin {
            requests: 2,
            bytes: 20,
            latency_sum_ns: 16,
            latency_max_ns: 9,
        };
        assert_eq!(series.bin(0, 1, CommandKind::Write), first);
        assert_eq!(series.bin(0, 1, CommandKind::Read), Bin::default());
        assert_eq!(series.bin(0, 2, CommandKind::Read), Bin::default());
    }

    #[test]
    fn a_series_too_long_goes_on_with_coarser_bins_and_loses_nothing() {
        let mut series = Series::new(Nanos(10), 1);
        series.open(0);
        let rows = (MOST_BINS / KINDS) as u64;
        for at in 0..3 * rows {
            series.record(0, at * 10, at, 1);
        }
        // Three times as many intervals as bins give four times the interval.
        assert_eq!(series.interval, Nanos(40));
        assert_eq!(series.intervals() as u64, 3 * rows / 4);
        for interval in 0..series.intervals() {
            let bin = series.bin(interval, 0, CommandKind::Read);
            let first = 4 * interval as u64;
            assert_eq!((bin.requests, bin.latency_max_ns), (4, first + 3));
            assert_eq!(bin.latency_sum_ns, 4 * first + 6);
        }
        // A completion far away takes one jump.
        series.record(0, 1 << 49, 1, 1);
        assert!(series.intervals() as u64 <= rows);
    }
}
