//! A disk with its users: what a worker runs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_workload::Stream;

use super::disk::{Hdd, SECTOR};
use crate::host::{Outcome, Plan, Runner, SimError, Watch};
use crate::preset::HddConfig;
use crate::snapshot::{self, SnapshotError};

/// Bytes of the seek curve for a cylinder.
const SEEK_BYTES: u64 = 8;

/// Bytes of what the write cache knows of sectors that lie together, its place in the tree and
/// in the order of arrival among them, generously.
const EXTENT_BYTES: u64 = 100;

/// Bytes of everything else, generously.
const OTHER_BYTES: u64 = 1 << 20;

/// A simulated hard disk: one worker's drive. Nothing stays from one run to the next: each
/// begins with a cold cache and the heads on the outermost track.
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

    /// Bytes that such a disk takes for every worker.
    #[must_use]
    pub fn state_bytes(config: &HddConfig) -> u64 {
        let cylinders = config.geometry.zone_cylinders.iter();
        let seeks = cylinders.map(|&count| u64::from(count)).sum::<u64>() * SEEK_BYTES;
        // Writes of one sector each, none beside another.
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

    /// Tells `watch` where every run from here on stands.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        self.runner.watch(watch);
    }

    /// Runs streams until every command is complete and the write cache is empty. Random numbers
    /// are keyed by `seed` and `index`.
    ///
    /// # Errors
    /// [`SimError`] when a command cannot be served or simulated time ends.
    pub fn run(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        self.runner.run(streams, plan, seed, index)
    }

    /// Of what a state depends on: how much runs vary changes none.
    fn state_hash(&self) -> String {
        self.config().clone().without_variability().hash()
    }

    /// What is left of a run, for [`Disk::load`]: nothing but whose it is.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        snapshot::framed(&self.config().name, &self.state_hash(), &[])
    }

    /// Takes up what [`Disk::save`] wrote on a disk of the same configuration.
    ///
    /// # Errors
    /// [`SnapshotError`] where the bytes are of another configuration or version, or damaged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let changes = snapshot::unframed(&self.config().name, &self.state_hash(), bytes)?;
        if changes.is_empty() {
            Ok(())
        } else {
            Err(SnapshotError::Checksum)
        }
    }
}
