//! When the requests of an open loop arrive.

use drivelab_request::Nanos;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::Key;
use crate::random::keyed_rng;

/// Separates the random numbers of arrivals from others under a measurement's key.
const STREAM: u64 = 0x6172_7269;

/// Drawn arrivals are in units of 2^-10 ns, so 2^53 ns still fit.
const FRACTION_BITS: u32 = 10;

/// An endless sequence of arrival times that never decrease.
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// Requests a second.
    rate: f64,
    process: Process,
}

#[derive(Clone, Debug)]
enum Process {
    /// Equal gaps; the number of arrivals so far. Each time is computed from it, so times do not
    /// drift.
    Fixed(u64),
    /// Exponential gaps; the last arrival in units of 2^-10 ns.
    Poisson(Box<Xoshiro256PlusPlus>, u64),
}

impl Arrivals {
    /// The allowed `rate`s of an open loop, in requests a second.
    pub const RATES: std::ops::RangeInclusive<f64> = 1e-3..=1e9;

    /// Equal gaps; the first request arrives after one gap. `None` if `rate`, in requests a second,
    /// is outside [`Arrivals::RATES`].
    #[must_use]
    pub fn fixed(rate: f64) -> Option<Self> {
        Self::RATES.contains(&rate).then_some(Self {
            rate,
            process: Process::Fixed(0),
        })
    }

    /// A Poisson process of `rate` requests a second. `seed` and the measurement's `index` are its
    /// key. `None` if `rate` is outside [`Arrivals::RATES`].
    #[must_use]
    pub fn poisson(rate: f64, seed: u64, index: u64) -> Option<Self> {
        let rng = Box::new(keyed_rng(seed, index, STREAM));
        Self::RATES.contains(&rate).then_some(Self {
            rate,
            process: Process::Poisson(rng, 0),
        })
    }

    /// The arrivals of a stream's loop, random or in equal gaps. Their key is the stream's key and
    /// the index of the loop in it. `None` if `rate` is outside [`Arrivals::RATES`].
    #[must_use]
    pub fn of_loop(rate: f64, is_poisson: bool, key: Key, place: usize) -> Option<Self> {
        if is_poisson {
            Self::poisson(rate, key.seed, key.of_stream() ^ ((place as u64) << 32))
        } else {
            Self::fixed(rate)
        }
    }

    /// When the next request arrives.
    #[inline]
    pub fn next_arrival(&mut self) -> Nanos {
        match &mut self.process {
            Process::Fixed(number) => {
                *number += 1;
                Nanos((*number as f64 * 1e9 / self.rate) as u64)
            }
            Process::Poisson(rng, last) => {
                // Uniform in (0, 1], so that the logarithm is finite. The pure-Rust `libm` computes
                // the same value on every machine.
                let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
                let gap_ns = -libm::log(uniform) * 1e9 / self.rate;
                let gap = (gap_ns * f64::from(1_u32 << FRACTION_BITS)).round() as u64;
                *last = last.saturating_add(gap);
                Nanos(*last >> FRACTION_BITS)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn fixed_arrivals_keep_their_rate_over_any_time() {
        // 3 a second: 333,333,333.33 ns each, without drift.
        let mut arrivals = Arrivals::fixed(3.0).unwrap();
        let times: Vec<u64> = (0..3000).map(|_| arrivals.next_arrival().0).collect();
        assert_eq!(times[..3], [333_333_333, 666_666_666, 1_000_000_000]);
        assert_eq!(times[2999], 1_000_000_000_000);
    }

    /// Mean and variance of exponential gaps, within five standard errors (mean 1,
    /// variance 1, fourth central moment 9).
    #[test]
    fn poisson_gaps_are_exponential_and_keyed() {
        let count = 200_000_u32;
        let times = |seed| {
            let mut arrivals = Arrivals::poisson(1e6, seed, 2).unwrap();
            let draw = |_| arrivals.next_arrival().0 as f64;
            (0..count).map(draw).collect::<Vec<f64>>()
        };
        let of_one = times(1);
        assert_eq!(of_one, times(1));
        assert_ne!(of_one, times(2));
        let count = f64::from(count);
        let gaps: Vec<f64> = std::iter::once(of_one[0])
            .chain(of_one.windows(2).map(|pair| pair[1] - pair[0]))
            .collect();
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
        assert!((mean / 1e3 - 1.0).abs() < 5.0 / count.sqrt(), "{mean}");
        let error = (8.0 / count).sqrt();
        assert!((variance / 1e6 - 1.0).abs() < 5.0 * error, "{variance}");
    }

    #[test]
    fn rates_beyond_the_range_are_refused() {
        for rate in [0.0, -1.0, 1e-4, 1.1e9, f64::NAN, f64::INFINITY] {
            assert!(Arrivals::fixed(rate).is_none(), "{rate}");
            assert!(Arrivals::poisson(rate, 0, 0).is_none(), "{rate}");
        }
    }
}
