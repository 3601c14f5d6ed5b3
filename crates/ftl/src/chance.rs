//! Random events of a block or a page, as a property of the drive.
//!
//! A draw depends only on the drive's seed, the place and its erases. So it is the same whenever
//! and however often it is asked for, and no state needs to keep it.

/// The subject of a draw. Draws on different subjects are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Chance {
    /// A block was bad from the factory.
    FactoryBad = 1,
    /// A block had failed before the first request to a worn drive.
    FailedBefore,
    /// Programming fails in a block.
    ProgramFails,
    /// The page at which it fails.
    FailingPage,
    /// Erasing a block fails.
    EraseFails,
    /// How often a page is read until its data is right.
    ReadRetries,
}

impl Chance {
    /// A uniform number from 0 up to but not including 1, for the block or page `place` whose block
    /// was erased `erases` times.
    #[must_use]
    pub fn draw(self, seed: u64, place: u32, erases: u32) -> f64 {
        let key = mixed(seed ^ mixed(self as u64));
        let drawn = mixed(key ^ (u64::from(place) << 32 | u64::from(erases)));
        (drawn >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

/// A step of SplitMix64 (Steele et al. 2014).
const fn mixed(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::Chance;

    /// 100,000 draws: the mean has a deviation of 1 / sqrt(12 x 100,000) = 0.0009, the mean product
    /// of neighbours one of 0.0008. Five deviations are allowed.
    #[test]
    fn draws_are_uniform_and_neighbours_independent() {
        for (chance, seed) in [(Chance::ReadRetries, 0), (Chance::EraseFails, 7)] {
            let draws: Vec<f64> = (0..100_000)
                .map(|place| chance.draw(seed, place, place % 3))
                .collect();
            let mean = draws.iter().sum::<f64>() / 100_000.0;
            assert!((mean - 0.5).abs() < 0.0045, "{mean}");
            let pairs = draws
                .windows(2)
                .map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5));
            let product = pairs.sum::<f64>() / 99_999.0;
            assert!(product.abs() < 0.0015, "{product}");
            assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        }
    }
}
