//! Place and size of the next request in a mixture of sizes.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::random::{keyed_rng, uniform_below};
use crate::stimulus::Stimulus;

/// Separates these random numbers from those of request generation; one number for each direction.
const FIRST_STREAM: u64 = 16;

/// Draws sizes and offsets for one direction, endlessly.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    rng: Xoshiro256PlusPlus,
    is_random: bool,
    sizes: Table<u32>,
    /// The beginnings and ends of the zones in the range.
    zones: Table<(u64, u64)>,
    /// Where the next access in order goes.
    next: u64,
    range_bytes: u64,
}

/// Items with probabilities. Each has the end of its part of all draws, in units of 2^-53.
#[derive(Clone, Debug)]
struct Table<T> {
    entries: Vec<(u64, T)>,
}

/// A draw has 53 bits.
const ONE: f64 = (1_u64 << 53) as f64;

impl<T: Copy> Table<T> {
    fn new(shares: impl Iterator<Item = (f64, T)> + Clone) -> Self {
        let total: f64 = shares.clone().map(|(share, _)| share).sum();
        let mut reached = 0.0;
        let entry = |(share, thing)| {
            reached += share;
            (((reached / total) * ONE).round() as u64, thing)
        };
        Self {
            entries: shares.map(entry).collect(),
        }
    }

    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> Option<T> {
        if let [(_, only)] = self.entries.as_slice() {
            return Some(*only);
        }
        let drawn = rng.next_u64() >> 11;
        let found = self.entries.iter().find(|(end, _)| drawn < *end);
        // Rounding may leave the last end just below one.
        found.or(self.entries.last()).map(|(_, thing)| *thing)
    }
}

impl Mixture {
    /// The mixture of a validated stimulus. `direction` selects its cursor.
    pub fn new(
        stimulus: &Stimulus,
        range_bytes: u64,
        (seed, index): (u64, u64),
        direction: usize,
    ) -> Self {
        let bounds = stimulus.zone_bounds(range_bytes);
        let zones = stimulus.zones.iter().zip(bounds.windows(2));
        Self {
            rng: keyed_rng(seed, index, FIRST_STREAM + direction as u64),
            is_random: stimulus.is_random,
            sizes: Table::new(stimulus.sizes.iter().map(|&(size, share)| (share, size))),
            zones: Table::new(zones.map(|(&(share, _), ends)| (share, (ends[0], ends[1])))),
            next: stimulus.begin_bytes % range_bytes.max(1),
            range_bytes,
        }
    }

    /// Offset in the range, and size, of the next request.
    pub fn draw(&mut self) -> (u64, u32) {
        let size = self.sizes.draw(&mut self.rng).unwrap_or_default();
        let bytes = u64::from(size);
        if self.is_random {
            let (start, end) = self.zones.draw(&mut self.rng).unwrap_or_default();
            // The first multiple of the size in the zone, and the number of such multiples.
            let first = start.div_ceil(bytes);
            let slots = (end / bytes).saturating_sub(first);
            let slot = first + uniform_below(&mut self.rng, slots.max(1));
            return (slot.min(self.range_bytes / bytes - 1) * bytes, size);
        }
        let offset = if self.next + bytes <= self.range_bytes {
            self.next
        } else {
            0
        };
        self.next = offset + bytes;
        (offset, size)
    }
}
