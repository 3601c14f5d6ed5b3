//! Draws without replacement: cells of a table, and items by counts.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::random::uniform_below;

/// A number from 0 up to but not including 1.
pub(super) fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Cells of a table; each is drawn once before any comes again. So even a few draws are spread like
/// the table.
#[derive(Clone, Debug)]
pub(super) struct Bag {
    cells: u32,
    left: u64,
}

impl Bag {
    /// A bag of `cells` cells, 1 to 64.
    pub fn new(cells: usize) -> Self {
        Self {
            cells: cells.clamp(1, 64) as u32,
            left: 0,
        }
    }

    pub fn draw(&mut self, rng: &mut Xoshiro256PlusPlus) -> usize {
        if self.cells == 1 {
            return 0;
        }
        if self.left == 0 {
            self.left = u64::MAX >> (64 - self.cells);
        }
        let skipped = uniform_below(rng, self.left.count_ones().into());
        let mut rest = self.left;
        for _ in 0..skipped {
            rest &= rest - 1;
        }
        let cell = rest.trailing_zeros();
        self.left &= !(1 << cell);
        cell as usize
    }
}

/// Items in an urn: each with the number that is left of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Urn {
    left: Vec<(usize, f64)>,
    weights: Vec<f64>,
}

impl Urn {
    pub fn fill(&mut self, things: impl Iterator<Item = (u32, u32)>) {
        self.left.clear();
        let filled = things.filter(|&(_, count)| count > 0);
        self.left
            .extend(filled.map(|(which, count)| (which as usize, f64::from(count))));
    }

    /// Takes one item out, with probabilities multiplied by `weight`. `None` when nothing with a
    /// weight is left.
    pub fn draw(
        &mut self,
        rng: &mut Xoshiro256PlusPlus,
        weight: impl Fn(usize) -> f64,
    ) -> Option<usize> {
        self.weights.clear();
        let mut sum = 0.0;
        for &(which, left) in &self.left {
            sum += left * weight(which);
            self.weights.push(sum);
        }
        if sum <= 0.0 {
            return None;
        }
        let reached = uniform(rng) * sum;
        let found = self.weights.iter().position(|&end| reached < end);
        let place = found.unwrap_or(self.left.len() - 1);
        let (which, left) = self.left.get_mut(place)?;
        let which = *which;
        *left -= 1.0;
        if *left < 0.5 {
            self.left.remove(place);
        }
        Some(which)
    }
}
