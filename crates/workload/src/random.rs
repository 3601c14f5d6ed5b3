//! Random numbers that depend only on their key.
//!
//! The key is (seed, measurement index, stream). So results do not depend on the thread that
//! computes them or on the order. Probabilities and uniform integers are drawn here with integer
//! arithmetic, so a stream's bytes never change with a library's method of sampling.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// The generator of one stream of one measurement.
///
/// Each part of the key passes through SplitMix64, a bijection, before the next is mixed in. For
/// one seed and index, streams never share a state.
#[must_use]
pub fn keyed_rng(seed: u64, index: u64, stream: u64) -> Xoshiro256PlusPlus {
    let mixed = mix(mix(mix(seed) ^ index) ^ stream);
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

/// The first output of SplitMix64 seeded with `state`.
fn mix(state: u64) -> u64 {
    SplitMix64::from_seed(state.to_le_bytes()).next_u64()
}

/// An event of fixed probability, drawn by comparing integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// The probability in units of 2^-53: at 0 it never happens, at 2^53 always.
    threshold: u64,
}

impl Chance {
    const ONE: f64 = (1_u64 << 53) as f64;

    /// An event of `probability`, rounded to a multiple of 2^-53.
    ///
    /// Values outside 0 to 1 count as the nearer bound, and NaN as 0. Callers must check values
    /// from outside.
    #[must_use]
    pub fn new(probability: f64) -> Self {
        Self {
            threshold: (probability.clamp(0.0, 1.0) * Self::ONE).round() as u64,
        }
    }

    /// Whether it always happens.
    #[must_use]
    pub const fn is_certain(self) -> bool {
        self.threshold == 1 << 53
    }

    /// Whether it happens this time.
    #[inline]
    pub fn happens(self, rng: &mut Xoshiro256PlusPlus) -> bool {
        (rng.next_u64() >> 11) < self.threshold
    }
}

/// An event with a fixed share of every stretch of draws, not only on average.
///
/// Draws come in rounds of [`ROUND`]. A round contains the whole part of its share, and the
/// fraction is carried to the next round. The first carry is random, so each single draw has
/// exactly the probability. The places of the events in a round are random, and all arrangements
/// are equally likely (selection sampling, Knuth, volume 2, algorithm 3.4.2 S).
///
/// With a [`Chance`], the share in a run of n draws would scatter by `sqrt(p (1 - p) / n)`. If the
/// event costs much more than its absence, as a write does, this alone makes a mean latency
/// uncertain by a per cent after tens of thousands of requests, whatever the drive does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The probability in units of 2^-53.
    threshold: u64,
    /// The fraction of an event that earlier rounds left over, in units of 2^-53.
    carried: u64,
    /// Draws and events left in this round.
    draws: u64,
    events: u64,
}

/// Draws in a round: about the largest usual number of outstanding requests, so events within a
/// queue fall as they would by chance.
const ROUND: u64 = 64;

impl Share {
    /// An event of `probability`, treated as in [`Chance::new`].
    #[must_use]
    pub fn new(probability: f64, rng: &mut Xoshiro256PlusPlus) -> Self {
        Self {
            threshold: Chance::new(probability).threshold,
            carried: rng.next_u64() >> 11,
            draws: 0,
            events: 0,
        }
    }

    #[inline]
    fn begin_round(&mut self) {
        if self.draws == 0 {
            let share = self.carried + ROUND * self.threshold;
            self.draws = ROUND;
            self.events = share >> 53;
            self.carried = share & ((1 << 53) - 1);
        }
    }

    /// Whether it happens in all of the next draws or in none of them, and how many draws these are:
    /// the rest of the round. `None` if some draws decide.
    pub fn decided(&mut self) -> Option<(bool, u64)> {
        self.begin_round();
        let is_decided = self.events == 0 || self.events == self.draws;
        is_decided.then_some((self.events > 0, self.draws))
    }

    /// Whether it happens in no draw at all.
    pub const fn never_happens(&self) -> bool {
        self.threshold == 0
    }

    /// One of the draws of [`Share::decided`], whose result is known.
    #[inline(always)]
    pub fn pass(&mut self, happens: bool, rng: &mut Xoshiro256PlusPlus) {
        uniform_below(rng, self.draws);
        self.draws -= 1;
        self.events -= u64::from(happens);
    }

    /// Whether it happens this time.
    #[inline]
    pub fn happens(&mut self, rng: &mut Xoshiro256PlusPlus) -> bool {
        self.begin_round();
        let happens = uniform_below(rng, self.draws) < self.events;
        self.draws -= 1;
        self.events -= u64::from(happens);
        happens
    }
}

/// A uniform integer from 0 to `bound - 1`, exactly uniform (Lemire 2019, multiplication with
/// rejection). 0 if `bound` is 0.
#[inline]
pub fn uniform_below(rng: &mut Xoshiro256PlusPlus, bound: u64) -> u64 {
    let mut product = u128::from(rng.next_u64()) * u128::from(bound);
    if (product as u64) < bound {
        // 2^64 modulo bound: this many low products would be drawn once too often.
        let surplus = bound.wrapping_neg() % bound;
        while (product as u64) < surplus {
            product = u128::from(rng.next_u64()) * u128::from(bound);
        }
    }
    (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_same_key_gives_the_same_numbers_and_another_key_others() {
        let first = |seed, index, stream| keyed_rng(seed, index, stream).next_u64();
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
        let mut seen = HashSet::new();
        for seed in 0..20 {
            for index in 0..20 {
                for stream in 0..20 {
                    assert!(seen.insert(first(seed, index, stream)));
                }
            }
        }
    }

    /// Computed separately from this code, from the definitions of SplitMix64 and xoshiro256++. A
    /// change here changes every simulated result.
    #[test]
    fn golden_numbers() {
        let mut rng = keyed_rng(0, 0, 0);
        let numbers: [u64; 4] = std::array::from_fn(|_| rng.next_u64());
        let pinned = [
            13_455_478_169_099_370_058,
            3_106_000_864_563_739_563,
            2_921_810_637_271_418_517,
            2_260_661_850_944_817_338,
        ];
        assert_eq!(numbers, pinned);
    }

    #[test]
    fn impossible_and_certain_events() {
        let mut rng = keyed_rng(7, 0, 0);
        let never = Chance::new(0.0);
        let always = Chance::new(1.0);
        let mut none = Share::new(0.0, &mut rng);
        let mut all = Share::new(1.0, &mut rng);
        for _ in 0..10_000 {
            assert!(!never.happens(&mut rng));
            assert!(always.happens(&mut rng));
            assert!(!none.happens(&mut rng));
            assert!(all.happens(&mut rng));
        }
    }

    #[test]
    fn every_round_has_its_share() {
        for (index, probability) in [0.001, 0.25, 0.3, 0.5, 0.9, 0.999].into_iter().enumerate() {
            let mut rng = keyed_rng(12, index as u64, 0);
            let mut share = Share::new(probability, &mut rng);
            let mut happened = 0;
            for round in 1..500 {
                happened += (0..ROUND).filter(|_| share.happens(&mut rng)).count();
                let expected = (round * ROUND) as f64 * probability;
                assert!(
                    (happened as f64 - expected).abs() <= 1.0,
                    "{happened} {expected}"
                );
            }
        }
    }

    /// Over many keys each draw of a stream has the probability, within five standard deviations,
    /// and so does each pair of events in one round.
    #[test]
    fn no_place_in_a_round_is_preferred() {
        let (keys, probability) = (20_000, 0.3);
        let mut single = [0_u32; 2 * ROUND as usize];
        let mut pairs = [0_u32; 2];
        for key in 0..keys {
            let mut rng = keyed_rng(13, key, 0);
            let mut share = Share::new(probability, &mut rng);
            let drawn = single.each_mut().map(|count| {
                let happens = share.happens(&mut rng);
                *count += u32::from(happens);
                happens
            });
            pairs[0] += u32::from(drawn[3] && drawn[4]);
            pairs[1] += u32::from(drawn[10] && drawn[50]);
        }
        let near = |count: u32, probability: f64| {
            let expected = keys as f64 * probability;
            let deviation = (expected * (1.0 - probability)).sqrt();
            assert!(
                (f64::from(count) - expected).abs() < 5.0 * deviation,
                "{count} {expected}"
            );
        };
        for count in single {
            near(count, probability);
        }
        // 19 or 20 of 64, depending on the carry: a fifth of the rounds has 20.
        let together = |events: f64| events * (events - 1.0) / (64.0 * 63.0);
        for count in pairs {
            near(count, 0.8 * together(19.0) + 0.2 * together(20.0));
        }
    }

    /// Within five standard deviations of the binomial. The seed is fixed, so the test cannot
    /// flake.
    #[test]
    fn events_happen_as_often_as_they_should() {
        let draws = 200_000_u32;
        for (index, probability) in [0.001, 0.25, 0.5, 0.9].into_iter().enumerate() {
            let mut rng = keyed_rng(11, index as u64, 0);
            let chance = Chance::new(probability);
            let happened = (0..draws).filter(|_| chance.happens(&mut rng)).count() as f64;
            let expected = f64::from(draws) * probability;
            let deviation = (expected * (1.0 - probability)).sqrt();
            assert!(
                (happened - expected).abs() < 5.0 * deviation,
                "{probability}: {happened}"
            );
        }
    }

    #[test]
    fn uniform_numbers_reach_every_value_equally() {
        let mut rng = keyed_rng(3, 1, 4);
        for bound in [1_u64, 2, 3, 7, 10] {
            let mut counts = vec![0_u32; bound as usize];
            for _ in 0..70_000 {
                counts[uniform_below(&mut rng, bound) as usize] += 1;
            }
            let expected = 70_000.0 / bound as f64;
            for count in counts {
                assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt() + 1.0);
            }
        }
        assert_eq!(uniform_below(&mut rng, 0), 0);
    }

    /// A bound just above 2^63 rejects almost half of all draws.
    #[test]
    fn rejection_keeps_large_bounds_in_range() {
        let mut rng = keyed_rng(3, 1, 5);
        let bound = (1 << 63) + 1;
        let mut upper_half = 0;
        for _ in 0..10_000 {
            let drawn = uniform_below(&mut rng, bound);
            assert!(drawn < bound);
            upper_half += u32::from(drawn >= bound / 2);
        }
        assert!((4_750..5_250).contains(&upper_half), "{upper_half}");
    }
}
