//! Random changes of inputs, the same for the same seed: fuzzing without coverage.

/// Numbers at the limits of types, and other ways to write numbers.
const ODD_TEXTS: [&str; 16] = [
    "0",
    "-1",
    "1e400",
    "nan",
    "inf",
    "0.0",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967296",
    "true",
    "\"\"",
    "[]",
    "{}",
    "\n",
];

/// Draws inputs.
#[derive(Clone, Debug)]
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// A mutator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number below `end`, which is at least 1 (`SplitMix64`).
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }

    /// A part of `of`, at most `most` long.
    fn part<'a>(&mut self, of: &'a [u8], most: usize) -> &'a [u8] {
        let start = self.below(of.len() + 1);
        let length = self.below(most.min(of.len() - start) + 1);
        &of[start..start + length]
    }

    /// One of `seeds`, changed in one to four places.
    #[must_use]
    pub fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let Some(first) = seeds.get(self.below(seeds.len())) else {
            return Vec::new();
        };
        let mut data = first.clone();
        for _ in 0..=self.below(4) {
            let at = self.below(data.len() + 1);
            let end = at + self.below(data.len() - at + 1).min(1 + self.below(40));
            let with: Vec<u8> = match self.below(6) {
                0 => Vec::new(),
                1 => vec![self.below(256) as u8],
                2 => {
                    let flipped = 1 << self.below(8);
                    data[at..end].iter().map(|byte| byte ^ flipped).collect()
                }
                3 => ODD_TEXTS[self.below(ODD_TEXTS.len())].bytes().collect(),
                4 => self.part(&data.clone(), 200).to_vec(),
                _ => {
                    let other = self.below(seeds.len());
                    self.part(&seeds[other], 200).to_vec()
                }
            };
            data.splice(at..end, with);
        }
        data
    }
}
