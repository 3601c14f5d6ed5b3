//! A latency histogram in the layout of fio's completion latency statistics, extended to longer
//! times.
//!
//! Values below 128 ns have one bin each. Above, every octave is divided into 64 bins of equal
//! width, so a bin is at most 1/64 of its value wide:
//!
//! ```text
//! value   0 ..127   bins 0..127, 1 ns wide      (groups 0 and 1)
//!       128 ..255   64 bins,     2 ns wide      (group 2)
//!       256 ..511   64 bins,     4 ns wide      (group 3)
//!        ...
//!     2^33..2^34-1  64 bins, 2^27 ns wide       (group 28, about 8.6 to 17.2 s; fio's last)
//!        ...
//!     2^41..2^42-1  64 bins, 2^35 ns wide       (group 36, about 37 to 73 minutes)
//! ```
//!
//! Longer values are counted in the last bin. Count, sum, smallest and largest value stay exact.
//! Real and simulated drives share this layout, so percentiles compare without re-binning. fio
//! itself counts everything above 17.1 s in its last bin, where a slow drive with many large
//! outstanding requests has most of its latencies. So simulated drives have more octaves.

/// Bits that a bin keeps below the leading one of a value (fio: `FIO_IO_U_PLAT_BITS`).
const BITS: u32 = 6;
/// Bins in an octave.
const BINS_PER_GROUP: usize = 1 << BITS;
/// Groups of bins: two of width 1 ns, then one for each octave (fio: `FIO_IO_U_PLAT_GROUP_NR`, 29).
const GROUPS: usize = 37;
/// Bins of a histogram.
pub const BINS: usize = GROUPS * BINS_PER_GROUP;

/// The bin that counts a latency of `ns`.
#[inline]
#[must_use]
pub const fn bin_of(ns: u64) -> usize {
    // Setting bit 6 does not change the leading one of larger values, and gives all smaller ones
    // shift 0. So no branch is needed.
    let shift = u64::BITS - 1 - (ns | (1 << BITS)).leading_zeros() - BITS;
    let bin = ((shift as usize) << BITS) + (ns >> shift) as usize;
    if bin < BINS { bin } else { BINS - 1 }
}

/// The smallest and the largest latency that `bin` counts, in ns, both included.
///
/// The last bin ends at `u64::MAX`. Bins from [`BINS`] on do not exist; for them the last bin is
/// returned.
#[must_use]
pub const fn bin_range(bin: usize) -> (u64, u64) {
    let bin = if bin < BINS { bin } else { BINS - 1 };
    let shift = shift_of(bin);
    let low = ((bin - ((shift as usize) << BITS)) as u64) << shift;
    let high = if bin == BINS - 1 {
        u64::MAX
    } else {
        low + (1 << shift) - 1
    };
    (low, high)
}

/// The latency in ns that represents `bin`: its middle, as in fio's output.
///
/// For the last bin, the middle of its first 2^35 ns.
#[must_use]
pub const fn bin_value(bin: usize) -> u64 {
    let bin = if bin < BINS { bin } else { BINS - 1 };
    let shift = shift_of(bin);
    let low = ((bin - ((shift as usize) << BITS)) as u64) << shift;
    low + (1 << shift) / 2
}

/// The exponent of the width of a bin: 0 in the first two groups, then one more in each group.
const fn shift_of(bin: usize) -> u32 {
    ((bin >> BITS) as u32).saturating_sub(1)
}

/// The latency in ns that `percent` per cent of `count` latencies do not exceed, from their bins in
/// rising order. This is the definition behind [`Histogram::percentile_ns`], before that limits it
/// to the exact minimum and maximum.
///
/// `None` if `count` is 0, if `percent` is not between 0 and 100, or if the bins hold less than
/// `count`.
#[must_use]
pub fn percentile_of(
    bins: impl IntoIterator<Item = (usize, u64)>,
    count: u64,
    percent: f64,
) -> Option<u64> {
    if count == 0 || !(0.0..=100.0).contains(&percent) {
        return None;
    }
    // Multiply before dividing: 99.9 % of 1000 is then rank 999, not 1000.
    let rank = (percent * count as f64 / 100.0).ceil() as u64;
    let rank = rank.clamp(1, count);
    let mut cumulative: u64 = 0;
    for (bin, count) in bins {
        cumulative = cumulative.saturating_add(count);
        if cumulative >= rank {
            return Some(bin_value(bin));
        }
    }
    None
}

/// Counts of latencies, with exact count, sum, minimum and maximum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    bins: Box<[u64; BINS]>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self {
            bins: Box::new([0; BINS]),
            count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// Counts one latency of `ns`.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.record_n(ns, 1);
    }

    /// Counts `n` latencies of `ns` each. Nothing changes if `n` is 0.
    #[inline]
    pub fn record_n(&mut self, ns: u64, n: u64) {
        if n == 0 {
            return;
        }
        self.bins[bin_of(ns)] += n;
        self.count += n;
        self.sum_ns += u128::from(ns) * u128::from(n);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds everything that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.bins.iter_mut().zip(other.bins.iter()) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.bins.fill(0);
        self.count = 0;
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
    }

    /// The number of recorded latencies.
    #[inline]
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum in ns.
    #[must_use]
    pub const fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The exact minimum; `None` if nothing was recorded.
    #[must_use]
    pub const fn min_ns(&self) -> Option<u64> {
        if self.count == 0 {
            None
        } else {
            Some(self.min_ns)
        }
    }

    /// The exact maximum; `None` if nothing was recorded.
    #[must_use]
    pub const fn max_ns(&self) -> Option<u64> {
        if self.count == 0 {
            None
        } else {
            Some(self.max_ns)
        }
    }

    /// The mean in ns, from the exact sum; `None` if nothing was recorded.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        if self.count == 0 {
            None
        } else {
            Some(self.sum_ns as f64 / self.count as f64)
        }
    }

    /// The latency in ns that `percent` per cent do not exceed.
    ///
    /// The definition is fio's: the result is [`bin_value`] of the first bin at which the
    /// cumulative count reaches `percent / 100 * count`. It is then limited to the exact minimum
    /// and maximum, so no percentile lies outside the measured values. The error is at most 1/128
    /// of the value, except in the last bin.
    ///
    /// `None` if nothing was recorded or `percent` is not between 0 and 100.
    #[must_use]
    pub fn percentile_ns(&self, percent: f64) -> Option<u64> {
        let (min_ns, max_ns) = (self.min_ns()?, self.max_ns()?);
        percentile_of(self.nonzero(), self.count, percent).map(|ns| ns.clamp(min_ns, max_ns))
    }

    /// The bins with a count, in rising order: `(bin, count)`.
    pub fn nonzero(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.bins
            .iter()
            .copied()
            .enumerate()
            .filter(|&(_, count)| count > 0)
    }
}
