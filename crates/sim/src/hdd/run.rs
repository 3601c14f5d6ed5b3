//! A disk with its users, as a worker runs it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_workload::Stream;

use super::disk::{Hdd, SECTOR};
use crate::host::{Outcome, Plan, Runner, SimError, Watch};
use crate::preset::HddConfig;
use crate::snapshot::{self, SnapshotError};

/// Bytes that the seek curve needs for one cylinder.
const SEEK_BYTES: u64 = 8;

/// A generous bound on the bytes that the write cache needs for one extent: the extent, its entry
/// in the tree and its entry in the order of arrival.
const EXTENT_BYTES: u64 = 100;

/// A generous bound on the bytes of everything else.
const OTHER_BYTES: u64 = 1 << 20;

/// A simulated hard disk, the drive of one worker. Nothing carries over between runs: each starts
/// with a cold cache and the heads on the outermost track.
pub struct Disk {
    runner: Runner<Hdd>,
}

impl Disk {
    /// A disk whose runs end soon after `stop` is set.
    #[must_use]
    pub fn new(config: &HddConfig, stop: &Arc<AtomicBool>) -> Self {
        Self {
            runner: Runner::new(Hdd::new(config.clone()), stop),
        }
    }

    /// Bytes that such a disk takes in each worker.
    #[must_use]
    pub fn state_bytes(config: &HddConfig) -> u64 {
        let cylinders = config.geometry.zone_cylinders.iter();
        let seeks = cylinders.map(|&count| u64::from(count)).sum::<u64>() * SEEK_BYTES;
        // The worst case: writes of one sector each, none adjacent to another.
        let extents = config.cache.write_cache_bytes / SECTOR * EXTENT_BYTES;
        seeks + extents + OTHER_BYTES
    }

    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.config().geometry.user_capacity_bytes
    }

    /// The resolved preset.
    #[must_use]
    pub const fn config(&self) -> &HddConfig {
        self.runner.device().config()
    }

    /// Reports the progress of every later run to `watch`.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        self.runner.watch(watch);
    }

    /// Runs streams until every command is complete and the write cache is empty. `seed` and
    /// `index` are the key of the random numbers.
    ///
    /// # Errors
    /// [`SimError`] if a command cannot be served or simulated time ends.
    pub fn run(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        self.runner.run(streams, plan, seed, index)
    }

    /// The hash of everything a state depends on. Variability between runs is not part of it.
    fn state_hash(&self) -> String {
        self.config().clone().without_variability().hash()
    }

    /// What a run leaves, for [`Disk::load`]: only the identity of the disk.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        snapshot::framed(&self.config().name, &self.state_hash(), &[])
    }

    /// Accepts what [`Disk::save`] wrote on a disk of the same configuration.
    ///
    /// # Errors
    /// [`SnapshotError`] if the bytes belong to another configuration or version, or are damaged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let changes = snapshot::unframed(&self.config().name, &self.state_hash(), bytes)?;
        if changes.is_empty() {
            Ok(())
        } else {
            Err(SnapshotError::Checksum)
        }
    }
}
