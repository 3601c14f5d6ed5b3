//! Which blocks are requested, how often, and how many others in between.
//!
//! The reuse distance of an access is the number of distinct blocks requested since the last access
//! to the same block. A cache with least-recently-used replacement holds the block if it has room
//! for more blocks than that. Distances are counted among the blocks of a [`Sample`] and scaled by
//! its rate (spatially hashed sampling, as SHARDS does for such caches).
//!
//! ```text
//!   time slots   1 . . 1 . 1 1 . 1      1: some block was last asked for then
//!                      ^ this block     distance: the ones behind it
//! ```

use crate::characterize::sample::Sample;

/// The number of sampled blocks. The result is exact up to 256 MiB, then within about 0.4 % (one
/// standard error).
pub const MOST_BLOCKS: usize = 65_536;
/// Slots of time. More than twice the number of blocks, so that renumbering is rare.
const SLOTS: usize = 4 * MOST_BLOCKS;
/// Distances are counted in four bins for each octave.
const BINS: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Block {
    slot: u32,
    accesses: u64,
    /// Bits: reads 1, writes 2.
    by: u8,
}

/// The footprint of a trace and the reuse of its blocks.
#[derive(Clone, Debug)]
pub struct Reuse {
    sample: Sample<Block>,
    /// A Fenwick tree over the slots.
    tree: Vec<u32>,
    next: usize,
    /// Accesses by distance, for reads and writes. Each counts as one divided by the sampling rate.
    distances: [Box<[f64; BINS]>; 2],
    /// First accesses to blocks.
    first: [f64; 2],
}

impl Default for Reuse {
    fn default() -> Self {
        Self {
            sample: Sample::new(MOST_BLOCKS),
            tree: vec![0; SLOTS + 1],
            next: 0,
            distances: [Box::new([0.0; BINS]), Box::new([0.0; BINS])],
            first: [0.0; 2],
        }
    }
}

/// How many distinct blocks were requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footprint {
    /// Blocks that were read or written.
    pub blocks: f64,
    /// Blocks that were read.
    pub read: f64,
    /// Blocks that were written.
    pub written: f64,
    /// Blocks that were read and written.
    pub both: f64,
}

impl Reuse {
    /// Counts an access to a block by a read (0) or a write (1).
    #[inline]
    pub(crate) fn access(&mut self, hash: u64, direction: usize) {
        if self.sample.takes(hash) {
            self.access_kept(hash, direction);
        }
    }

    fn access_kept(&mut self, hash: u64, direction: usize) {
        if self.next == SLOTS {
            self.renumber();
        }
        let weight = 1.0 / self.sample.rate();
        let slot = self.next;
        let by = 1 << direction;
        if let Some(block) = self.sample.get_mut(hash) {
            let old = block.slot as usize;
            // There are fewer slots than fit.
            block.slot = slot as u32;
            block.accesses += 1;
            block.by |= by;
            let distance = self.behind(old);
            self.add(old, false);
            self.distances[direction][bin_of(distance * weight)] += weight;
        } else {
            let block = Block {
                slot: slot as u32,
                accesses: 1,
                by,
            };
            self.first[direction] += weight;
            // The block that must go may be the new one itself, whose slot is not marked yet.
            if let Some(gone) = self.sample.insert(hash, block) {
                if gone.slot as usize == slot {
                    return;
                }
                self.add(gone.slot as usize, false);
            }
        }
        self.add(slot, true);
        self.next += 1;
    }

    /// How many blocks were requested after a slot.
    fn behind(&self, slot: usize) -> f64 {
        let (all, upto) = (self.sum(SLOTS), self.sum(slot + 1));
        f64::from(all - upto)
    }

    fn sum(&self, mut end: usize) -> u32 {
        let mut sum = 0;
        while end > 0 {
            sum += self.tree[end];
            end &= end - 1;
        }
        sum
    }

    fn add(&mut self, slot: usize, is_more: bool) {
        let mut place = slot + 1;
        while place <= SLOTS {
            let node = &mut self.tree[place];
            *node = if is_more { *node + 1 } else { *node - 1 };
            place += place & place.wrapping_neg();
        }
    }

    /// Gives the blocks the first slots, in the same order.
    fn renumber(&mut self) {
        let mut blocks: Vec<&mut Block> = self.sample.values_mut().collect();
        blocks.sort_unstable_by_key(|block| block.slot);
        for (slot, block) in blocks.iter_mut().enumerate() {
            block.slot = slot as u32;
        }
        self.next = blocks.len();
        // A node holds the sum of as many slots as its lowest set bit says.
        for (place, node) in self.tree.iter_mut().enumerate().skip(1) {
            let first = place & (place - 1);
            *node = (place.min(self.next) - first.min(self.next)) as u32;
        }
    }

    /// The fraction of blocks that is sampled; 1 means that everything here is exact.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.sample.rate()
    }

    /// The number of blocks so far.
    #[must_use]
    pub fn blocks(&self) -> f64 {
        self.sample.estimate()
    }

    /// How much was read and written.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        let count = |wanted: fn(u8) -> bool| {
            let found = self
                .sample
                .values()
                .filter(|block| wanted(block.by))
                .count();
            found as f64 / self.sample.rate()
        };
        Footprint {
            blocks: count(|_| true),
            read: count(|by| by & 1 > 0),
            written: count(|by| by & 2 > 0),
            both: count(|by| by == 3),
        }
    }

    /// For each fraction in `shares`: the fraction of accesses that goes to this hottest part of
    /// the blocks.
    #[must_use]
    pub fn hottest(&self, shares: &[f64]) -> Vec<Option<f64>> {
        let mut accesses: Vec<u64> = self.sample.values().map(|block| block.accesses).collect();
        accesses.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
        let all: u64 = accesses.iter().sum();
        let share = |&share: &f64| {
            let count = (share * accesses.len() as f64).ceil() as usize;
            let hot: u64 = accesses.iter().take(count).sum();
            (all > 0).then(|| hot as f64 / all as f64)
        };
        shares.iter().map(share).collect()
    }

    /// Cache hits of reads (0) or writes (1), and the number of all accesses. The hits are pairs of
    /// cache size in blocks and accesses, ascending as long as the hits grow.
    #[must_use]
    pub fn held(&self, direction: usize) -> (Vec<(u64, f64)>, f64) {
        let (distances, first) = (&self.distances[direction], self.first[direction]);
        let last = distances.iter().rposition(|&count| count > 0.0);
        let mut held = 0.0;
        let mut curve = Vec::new();
        for (bin, count) in distances
            .iter()
            .enumerate()
            .take(last.map_or(0, |bin| bin + 1))
        {
            held += count;
            curve.push((begin_of(bin + 1), held));
        }
        (curve, held + first)
    }
}

/// The bin of a distance: 0 to 7 have one each, then there are four for each octave.
fn bin_of(distance: f64) -> usize {
    let distance = distance.round() as u64;
    let shift = u64::BITS - 1 - (distance | 4).leading_zeros() - 2;
    ((shift as usize) << 2) + (distance >> shift) as usize
}

/// The smallest distance of a bin.
const fn begin_of(bin: usize) -> u64 {
    let shift = ((bin >> 2) as u32).saturating_sub(1);
    ((bin - ((shift as usize) << 2)) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_meet_without_gaps() {
        for bin in 0..200 {
            let begin = begin_of(bin);
            assert_eq!(bin_of(begin as f64), bin);
            if begin < 1 << 50 {
                assert_eq!(bin_of(begin_of(bin + 1) as f64 - 1.0), bin);
            }
        }
    }
}
