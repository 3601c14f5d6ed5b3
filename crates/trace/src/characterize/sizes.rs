//! How large requests are: exact for as many sizes as usual traces have, by bins beyond.

use drivelab_request::Histogram;
use rustc_hash::FxHashMap;

/// The most sizes that are counted individually. Further ones appear only in the histogram.
pub const MOST_SIZES: usize = 4096;

/// Sizes of reads or of writes.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    counts: FxHashMap<u64, u64>,
    last: (u64, u64),
    others: u64,
    histogram: Histogram,
}

impl Sizes {
    #[inline]
    pub(crate) fn count(&mut self, size_bytes: u64) {
        self.histogram.record(size_bytes);
        if self.last.0 == size_bytes {
            self.last.1 += 1;
            return;
        }
        self.lay_down();
        self.last = (size_bytes, 1);
    }

    fn lay_down(&mut self) {
        let (size_bytes, times) = self.last;
        if times == 0 {
            return;
        }
        if let Some(count) = self.counts.get_mut(&size_bytes) {
            *count += times;
        } else if self.counts.len() < MOST_SIZES {
            self.counts.insert(size_bytes, times);
        } else {
            self.others += times;
        }
        self.last = (0, 0);
    }

    pub(crate) fn finish(&mut self) {
        self.lay_down();
    }

    /// Sizes and how often each occurs, ascending.
    #[must_use]
    pub fn exact(&self) -> Vec<(u64, u64)> {
        let mut pairs: Vec<_> = self
            .counts
            .iter()
            .map(|(&size, &count)| (size, count))
            .collect();
        pairs.sort_unstable();
        pairs
    }

    /// Requests whose sizes appear only in the histogram.
    #[must_use]
    pub const fn others(&self) -> u64 {
        self.others
    }

    /// All sizes, in the layout of latencies, with bytes in place of ns.
    #[must_use]
    pub const fn histogram(&self) -> &Histogram {
        &self.histogram
    }
}
