//! The wall clock, and the factor by which the drive's time runs slower.

use std::time::{Duration, Instant};

/// The wall clock since the start.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    start: Instant,
}

impl Wall {
    /// A clock that is 0 now.
    #[must_use]
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// The time, ns.
    #[must_use]
    pub fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// As [`Wall::now`], as a duration.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// The factor by which everything takes longer than in the drive's time. It is a whole number of
/// thousandths, so the two times convert into each other without accumulating rounding errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dilation {
    thousandths: u64,
}

impl Default for Dilation {
    fn default() -> Self {
        Self { thousandths: 1000 }
    }
}

impl Dilation {
    /// `None` unless the factor is between 1 and 100,000.
    #[must_use]
    pub fn new(factor: f64) -> Option<Self> {
        (1.0..=100_000.0).contains(&factor).then(|| Self {
            thousandths: (factor * 1000.0).round() as u64,
        })
    }

    /// The factor.
    #[must_use]
    pub fn factor(self) -> f64 {
        self.thousandths as f64 / 1000.0
    }

    /// The drive's time at a moment of wall time.
    #[inline]
    #[must_use]
    pub fn drive_ns(self, wall_ns: u64) -> u64 {
        if self.thousandths == 1000 {
            return wall_ns;
        }
        scaled(wall_ns, 1000, self.thousandths, 0)
    }

    /// The first moment of wall time at which the drive's time is `drive_ns`.
    #[inline]
    #[must_use]
    pub fn wall_ns(self, drive_ns: u64) -> u64 {
        if self.thousandths == 1000 {
            return drive_ns;
        }
        scaled(drive_ns, self.thousandths, 1000, 999)
    }
}

/// `(value * by + more) / of`.
fn scaled(value: u64, by: u64, of: u64, more: u64) -> u64 {
    let scaled = (u128::from(value) * u128::from(by) + u128::from(more)) / u128::from(of);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}
