//! A sample of blocks: those whose hashes lie below a limit, which falls as more blocks appear.
//!
//! Up to [`Sample::most`] blocks, all of them are in the sample and results are exact. Beyond that,
//! each new block removes the one with the largest hash, and the limit becomes that hash. A block
//! in the sample has been there since its first access, so its counts are complete. With `n` blocks
//! in the sample, counts have an error of about 1/sqrt(n) (one standard error).

use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

/// The unit of footprint and reuse.
pub const BLOCK_BYTES: u64 = 4096;

/// The hash of a block of a device.
#[inline]
pub(crate) const fn hash_of(device: u32, block: u64) -> u64 {
    // The finalizer of splitmix64. Devices are placed far apart.
    let mut bits = block.wrapping_add((device as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Sampled blocks, with a value for each.
#[derive(Clone, Debug)]
pub(crate) struct Sample<T> {
    most: usize,
    /// Hashes from here on are left out; `None` means that none are.
    limit: Option<u64>,
    kept: FxHashMap<u64, T>,
    hashes: BinaryHeap<u64>,
}

impl<T: Clone> Sample<T> {
    pub fn new(most: usize) -> Self {
        Self {
            most,
            limit: None,
            kept: FxHashMap::default(),
            hashes: BinaryHeap::new(),
        }
    }

    /// Whether a block with this hash is in the sample.
    #[inline]
    pub fn takes(&self, hash: u64) -> bool {
        self.limit.is_none_or(|limit| hash < limit)
    }

    /// The sampled fraction; 1 while all blocks are kept.
    pub fn rate(&self) -> f64 {
        // 2^64 hashes.
        self.limit
            .map_or(1.0, |limit| limit as f64 / 18_446_744_073_709_551_616.0)
    }

    pub fn get_mut(&mut self, hash: u64) -> Option<&mut T> {
        self.kept.get_mut(&hash)
    }

    /// Inserts a block that belongs to the sample and is not in it. Returns what had to go.
    pub fn insert(&mut self, hash: u64, value: T) -> Option<T> {
        if let Entry::Vacant(place) = self.kept.entry(hash) {
            place.insert(value);
            self.hashes.push(hash);
        }
        if self.kept.len() <= self.most {
            return None;
        }
        let largest = self.hashes.pop()?;
        self.limit = Some(largest);
        self.kept.remove(&largest)
    }

    /// The estimated number of all blocks.
    pub fn estimate(&self) -> f64 {
        self.kept.len() as f64 / self.rate()
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.kept.values()
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.kept.values_mut()
    }

    pub fn clear(&mut self) {
        self.limit = None;
        self.kept.clear();
        self.hashes.clear();
    }
}
