//! A random order of 0 to n - 1 without a table.
//!
//! ```text
//!   position ─> add, shift, multiply, shift (rounds of it, modulo 2^b) ─> below n? ─ yes ─> element
//!                 ^                                                         │ no
//!                 └─────────────────────────────────────────────────────────┘
//! ```
//!
//! Each step of a round is a bijection of the numbers of b bits, where b is the least with n <=
//! 2^b. From a position below n, the steps are repeated until the result is below n (cycle walking,
//! Black and Rogaway 2002). That makes it a bijection of the positions, and on average takes less
//! than two repetitions. Memory does not grow with n, and any element can be computed without those
//! before it.

use rand_xoshiro::rand_core::Rng;

use crate::random::keyed_rng;

/// Separates the random numbers of permutations from others under a measurement's key.
const STREAM: u64 = 0x7065_726d;

/// Orders shorter than this use more rounds, because few bits mix slowly. They are drawn rarely.
const SHORT: u64 = 1024;
const ROUNDS_OF_SHORT: usize = 12;
const ROUNDS: usize = 4;

/// Every number below its length, once, in a random order.
#[derive(Clone, Debug)]
pub struct Permutation {
    length: u64,
    mask: u64,
    shift: u32,
    /// For each round, the number that is added and the odd factor.
    keys: [(u64, u64); ROUNDS_OF_SHORT],
    rounds: usize,
}

impl Permutation {
    /// A permutation of the numbers below `length`, which is at least 1. `seed` and the
    /// measurement's `index` are its key.
    #[must_use]
    pub fn new(length: u64, seed: u64, index: u64) -> Self {
        let mut rng = keyed_rng(seed, index, STREAM);
        let bits = u64::BITS - (length.max(1) - 1).leading_zeros();
        Self {
            length: length.max(1),
            mask: u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0),
            shift: bits.div_ceil(2).clamp(1, 63),
            keys: std::array::from_fn(|_| (rng.next_u64(), rng.next_u64() | 1)),
            rounds: if length <= SHORT {
                ROUNDS_OF_SHORT
            } else {
                ROUNDS
            },
        }
    }

    /// The element at a position below the length.
    #[inline]
    #[must_use]
    pub fn at(&self, position: u64) -> u64 {
        let mut number = position;
        loop {
            for &(added, odd) in &self.keys[..self.rounds] {
                number = number.wrapping_add(added) & self.mask;
                number ^= number >> self.shift;
                number = number.wrapping_mul(odd) & self.mask;
                number ^= number >> self.shift;
            }
            if number < self.length {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_once(length in 1_u64..3000, seed: u64, index: u64) {
            let order = Permutation::new(length, seed, index);
            let mut elements: Vec<u64> = (0..length).map(|position| order.at(position)).collect();
            elements.sort_unstable();
            prop_assert!(elements.into_iter().eq(0..length));
        }
    }

    #[test]
    fn the_longest_lengths_have_orders() {
        for length in [1, 2, u64::MAX / 2, u64::MAX] {
            let order = Permutation::new(length, 1, 2);
            let elements = [0, 1, 2].map(|place| order.at(place.min(length - 1)));
            assert!(elements.iter().all(|&element| element < length));
        }
    }

    /// Over many keys, each element is equally often at each position, and each pair of elements
    /// equally often adjacent, within six standard deviations.
    #[test]
    fn positions_and_neighbours_are_equally_likely() {
        const LENGTH: u64 = 10;
        const KEYS: u64 = 20_000;
        let mut places = [[0_u32; LENGTH as usize]; LENGTH as usize];
        let mut neighbours = places;
        for index in 0..KEYS {
            let order = Permutation::new(LENGTH, 5, index);
            let elements: Vec<usize> = (0..LENGTH).map(|at| order.at(at) as usize).collect();
            for (position, &element) in elements.iter().enumerate() {
                places[position][element] += 1;
            }
            for pair in elements.windows(2) {
                neighbours[pair[0]][pair[1]] += 1;
            }
        }
        let near =
            |count: u32, expected: f64| (f64::from(count) - expected).abs() < 6.0 * expected.sqrt();
        let (keys, length) = (KEYS as f64, LENGTH as f64);
        for (row, counts) in places.iter().enumerate() {
            assert!(
                counts.iter().all(|&count| near(count, keys / length)),
                "{counts:?}"
            );
            for (column, &count) in neighbours[row].iter().enumerate() {
                // Each ordered pair of two different elements: 9 places of 90.
                assert!(
                    row == column || near(count, keys / length),
                    "{row} {column} {count}"
                );
            }
        }
    }

    /// Elements at neighbouring positions are on average a third of the length apart, like two
    /// random ones, and rise and fall equally often.
    #[test]
    fn a_long_order_has_no_trend() {
        for length in [1_000, 4_096, 153_600] {
            let order = Permutation::new(length, 9, length);
            let elements: Vec<f64> = (0..length).map(|at| order.at(at) as f64).collect();
            let steps = elements.windows(2).map(|pair| pair[1] - pair[0]);
            let (mut distance, mut rises) = (0.0, 0.0);
            for step in steps {
                distance += step.abs();
                rises += f64::from(u8::from(step > 0.0));
            }
            let count = length as f64;
            let mean = distance / count / count;
            // Five standard errors: the variance of the distance is 1/18 of the square of the
            // length.
            assert!(
                (mean - 1.0 / 3.0).abs() < 5.0 * (1.0 / 18.0 / count).sqrt(),
                "{mean}"
            );
            assert!(
                (rises / count - 0.5).abs() < 5.0 * 0.5 / count.sqrt(),
                "{rises}"
            );
        }
    }

    #[test]
    fn keys_decide_the_order() {
        let order = |seed, index| {
            let order = Permutation::new(1000, seed, index);
            (0..1000).map(|at| order.at(at)).collect::<Vec<u64>>()
        };
        assert_eq!(order(1, 2), order(1, 2));
        assert_ne!(order(1, 2), order(1, 3));
        assert_ne!(order(1, 2), order(2, 2));
    }
}
