//! Which rows a round sees: a seeded draw without replacement.

/// SplitMix64 (Steele et al. 2014): a counter that is hashed, so any seed will do.
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound` (> 0) by multiply and shift; its bias is below 2^-32.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// Draws `take` of `rows` row numbers, ascending; all of them when `take >= rows`.
pub(crate) fn draw_rows(rows: u32, take: u32, random: &mut SplitMix64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..rows).collect();
    if take >= rows {
        return all;
    }
    for position in 0..take {
        let other = position + random.below(rows - position);
        all.swap(position as usize, other as usize);
    }
    all.truncate(take as usize);
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn splitmix_gives_its_published_sequence() {
        // First outputs for seed 1234567 of the reference implementation (Vigna).
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn rows_are_distinct_ascending_and_seeded() {
        let draw = |seed| draw_rows(100, 30, &mut SplitMix64::new(seed));
        assert_eq!(draw(1).len(), 30);
        assert!(draw(1).windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert_eq!(
            draw_rows(5, 9, &mut SplitMix64::new(0)),
            vec![0, 1, 2, 3, 4]
        );
    }
}
