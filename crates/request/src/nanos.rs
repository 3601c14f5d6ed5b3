//! Simulated and measured time.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// A point in time or a duration, in integer nanoseconds.
///
/// A `u64` holds 584 years, so sums of simulated times do not overflow. Debug builds check the
/// arithmetic as for plain integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of simulated time, or no time at all.
    pub const ZERO: Self = Self(0);
    /// Later than everything that happens.
    pub const MAX: Self = Self(u64::MAX);

    /// The duration from `earlier` to `self`; zero if `earlier` is later.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        Self(iter.map(|span| span.0).sum())
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ns", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_that_of_integers() {
        assert_eq!(Nanos(3) + Nanos(4), Nanos(7));
        assert_eq!(Nanos(7) - Nanos(4), Nanos(3));
        assert_eq!(Nanos(4).saturating_sub(Nanos(7)), Nanos::ZERO);
        assert_eq!([Nanos(1), Nanos(2)].into_iter().sum::<Nanos>(), Nanos(3));
        assert_eq!(Nanos(85_000).to_string(), "85000 ns");
    }
}
