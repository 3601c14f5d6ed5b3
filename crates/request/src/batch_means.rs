//! How accurate a mean latency is: batch means (Law and Kelton; Fishman 1978).
//!
//! Neighbouring latencies depend on each other, so their scatter understates the uncertainty of
//! their mean. The means of long batches of consecutive requests are nearly independent, so their
//! scatter can be used:
//!
//! ```text
//! latencies   ...........................................   (never kept)
//! batches     |  x1  |  x2  |  x3  |  x4  | ...  at most 64; when full, pairs are joined
//!
//! correlated?  von Neumann's ratio, one-sided at 20 %: then pairs are joined once more,
//!              down to 16 batches
//! half-width   t(0.975, batches - 1) * deviation / sqrt(batches)
//!              still correlated: the drive changes; times sqrt((1 + r) / (1 - r))
//! ```
//!
//! The widening is that of a first-order autoregressive series whose neighbours have correlation r.
//! For a drift, the widened half-width exceeds the whole way from the first to the last batch. So a
//! drift larger than the requested half-width is never accepted, and a smaller one does no harm.
//!
//! The level of 20 % is far above the usual 5 % because the two errors differ in cost. Treating
//! independent batches as correlated costs some requests; the reverse gives a half-width that is
//! too small. Latencies are added as integers. All later computations use only operations that IEEE
//! 754 rounds correctly, so the same latencies give the same bits on every machine.

/// The most batches kept.
pub const MOST_BATCHES: usize = 64;
/// The least batches for a half-width. With fewer, Student's t and the test for correlation are
/// poor.
pub const LEAST_BATCHES: usize = 16;
/// The normal quantile at 80 %. Neighbours above it count as correlated.
const CORRELATED: f64 = 0.841_621_233_572_914_2;
/// The normal quantile at 97.5 %.
const NORMAL_975: f64 = 1.959_963_984_540_054;

/// Consecutive completions as at most [`MOST_BATCHES`] batches of equal size.
#[derive(Clone, Debug)]
pub struct BatchMeans {
    /// For each full batch, the sum of its latencies and the time of its last completion.
    full: Vec<(u128, u64)>,
    size: u64,
    sum: u128,
    count: u64,
    /// Sum over the full batches.
    total: u128,
}

/// The result of the batches.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyBatches {
    /// Requests in a batch.
    pub requests_per_batch: u64,
    /// Mean latency of each batch, ns.
    pub means_ns: Vec<f64>,
    /// When the last request of each batch completed, as it was pushed.
    pub ends_ns: Vec<u64>,
    /// Correlation of neighbouring batches, -1 to 1, by von Neumann's ratio; 0 without scatter.
    pub correlation: f64,
    /// Half of the 95 % confidence interval of the mean, ns, widened if even the longest batches
    /// are correlated. `None` with fewer than [`LEAST_BATCHES`].
    pub half_width_ns: Option<f64>,
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self::new()
    }
}

impl BatchMeans {
    /// No batches.
    #[must_use]
    pub fn new() -> Self {
        Self {
            full: Vec::with_capacity(MOST_BATCHES),
            size: 1,
            sum: 0,
            count: 0,
            total: 0,
        }
    }

    /// Adds the next completion: its latency and its time, ns. Times must not decrease.
    #[inline]
    pub fn push(&mut self, latency_ns: u64, at_ns: u64) {
        self.sum += u128::from(latency_ns);
        self.count += 1;
        if self.count == self.size {
            self.complete_batch(at_ns);
        }
    }

    #[inline(never)]
    fn complete_batch(&mut self, at_ns: u64) {
        if self.full.len() == MOST_BATCHES {
            // The batch just filled becomes the first half of a larger one.
            self.full = joined(&self.full);
            self.size *= 2;
            return;
        }
        self.full.push((self.sum, at_ns));
        self.total += self.sum;
        self.sum = 0;
        self.count = 0;
    }

    /// The number of pushed completions.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.full.len() as u64 * self.size + self.count
    }

    /// Mean of all pushed latencies, ns; `None` before the first.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        let requests = self.requests();
        (requests > 0).then(|| (self.total + self.sum) as f64 / requests as f64)
    }

    /// The shortest batches that are not correlated. If all are, the longest of which there are at
    /// least [`LEAST_BATCHES`].
    #[must_use]
    pub fn latency_batches(&self) -> LatencyBatches {
        let (mut batches, mut size) = (self.full.clone(), self.size);
        while batches.len() / 2 >= LEAST_BATCHES && Scatter::of(&batches).is_correlated() {
            batches = joined(&batches);
            size *= 2;
        }
        described(&batches, size)
    }

    /// Whether the half-width is known and at most `ratio` of the mean.
    #[must_use]
    pub fn reaches(&self, ratio: f64) -> bool {
        let batches = self.latency_batches();
        let (Some(half_width), Some(mean)) = (batches.half_width_ns, self.mean_ns()) else {
            return false;
        };
        half_width <= ratio * mean
    }
}

/// Joins neighbours in pairs. A last batch without a neighbour is left out.
fn joined(batches: &[(u128, u64)]) -> Vec<(u128, u64)> {
    let mut half = Vec::with_capacity(MOST_BATCHES);
    let pairs = batches.chunks_exact(2);
    half.extend(pairs.map(|pair| (pair[0].0 + pair[1].0, pair[1].1)));
    half
}

/// How batches differ from their mean and from each other, before division by their size.
struct Scatter {
    count: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
    /// Correlation of neighbouring batches, from half of von Neumann's ratio (Fishman 1978, section
    /// 5.6).
    correlation: f64,
}

impl Scatter {
    fn of(batches: &[(u128, u64)]) -> Self {
        let count = batches.len();
        let total: u128 = batches.iter().map(|&(sum, _)| sum).sum();
        // Differences of integers: without scatter they are exactly 0, not a rounding error.
        let squares: f64 = batches
            .iter()
            .map(|&(sum, _)| squared(sum * count as u128, total))
            .sum::<f64>()
            / (count * count).max(1) as f64;
        let steps: f64 = batches
            .windows(2)
            .map(|pair| squared(pair[0].0, pair[1].0))
            .sum();
        let correlation = if squares > 0.0 {
            (1.0 - steps / (2.0 * squares)).clamp(-1.0, 1.0)
        } else {
            0.0
        };
        Self {
            count: count as f64,
            squares,
            correlation,
        }
    }

    fn is_correlated(&self) -> bool {
        let count = self.count;
        // Normal with mean 0 and variance 1 if batches are independent.
        let score = self.correlation * ((count * count - 1.0) / (count - 2.0)).sqrt();
        count > 2.0 && score >= CORRELATED
    }

    fn half_width(&self) -> f64 {
        let degrees = self.count - 1.0;
        let plain = student_975(degrees) * (self.squares / degrees / self.count).sqrt();
        if self.is_correlated() {
            plain * ((1.0 + self.correlation) / (1.0 - self.correlation)).sqrt()
        } else {
            plain
        }
    }
}

fn described(batches: &[(u128, u64)], size: u64) -> LatencyBatches {
    let scatter = Scatter::of(batches);
    LatencyBatches {
        requests_per_batch: size,
        means_ns: batches
            .iter()
            .map(|&(sum, _)| sum as f64 / size as f64)
            .collect(),
        ends_ns: batches.iter().map(|&(_, end)| end).collect(),
        correlation: scatter.correlation,
        half_width_ns: (batches.len() >= LEAST_BATCHES).then(|| scatter.half_width() / size as f64),
    }
}

fn squared(a: u128, b: u128) -> f64 {
    let difference = a.abs_diff(b) as f64;
    difference * difference
}

/// The quantile of Student's t at 97.5 % (Abramowitz and Stegun, 26.7.5).
///
/// The error is below 1e-6 from 15 degrees of freedom on.
fn student_975(degrees: f64) -> f64 {
    let x = NORMAL_975;
    let x2 = x * x;
    let terms = [
        (x2 + 1.0) / 4.0,
        ((5.0 * x2 + 16.0) * x2 + 3.0) / 96.0,
        (((3.0 * x2 + 19.0) * x2 + 17.0) * x2 - 15.0) / 384.0,
        ((((79.0 * x2 + 776.0) * x2 + 1482.0) * x2 - 1920.0) * x2 - 945.0) / 92160.0,
    ];
    let series = terms
        .iter()
        .rev()
        .fold(0.0, |sum, term| (sum + term) / degrees);
    x * (1.0 + series)
}
