//! A simulated drive of any kind. It is made from a preset, prepared once and run by workers.
//!
//! The kinds form a closed set, matched once a run. A run takes streams and decides what happens to
//! the state that it leaves ([`Drive::run`]).

mod bench;
mod measuring;
mod session;
mod states;
mod watched;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_workload::Stream;

use crate::hdd::{Disk, Hdd};
use crate::host::room::check_room;
use crate::host::{Device, Outcome, Plan, SimError, Watch, plan};
use crate::preset::{DriveConfig, HddConfig};
use crate::raid::{PreparedArray, Raid};
use crate::snapshot::SnapshotError;
use crate::ssd::{self, Ssd};

pub use bench::Bench;
pub use measuring::{Measuring, Work};
pub use session::Session;
pub use states::States;
pub use watched::watched;

/// A drive in the condition of its preset, shared by all workers and clones.
#[derive(Clone)]
pub enum Prepared {
    /// An SSD.
    Ssd(ssd::Prepared),
    /// A hard disk. It has no condition: every run starts with an idle disk and a cold cache.
    Hdd(Arc<HddConfig>),
    /// An array of SSDs or disks.
    Raid(Arc<PreparedArray>),
}

impl Prepared {
    /// Brings a drive into its condition without simulating time. Fails soon after another thread
    /// has set `stop`.
    ///
    /// # Errors
    /// [`SimError`] if the geometry leaves no space to work in, or memory is short.
    pub fn stoppable(config: DriveConfig, stop: &AtomicBool) -> Result<Self, SimError> {
        check_room(Self::state_bytes(&config))?;
        Ok(match config {
            DriveConfig::Ssd(config) => Self::Ssd(ssd::Prepared::stoppable(*config, stop)?),
            DriveConfig::Hdd(config) => Self::Hdd(Arc::from(config)),
            DriveConfig::Raid(config) => {
                Self::Raid(Arc::new(PreparedArray::stoppable(*config, stop)?))
            }
        })
    }

    /// A drive with another configuration in the same state as this one. `Some` only if the two
    /// configurations differ in times alone and preparing the state again would take long.
    #[must_use]
    pub fn timed(&self, config: &DriveConfig) -> Option<Self> {
        match (self, config) {
            (Self::Ssd(prepared), DriveConfig::Ssd(config)) => {
                prepared.timed(config).map(Self::Ssd)
            }
            _ => None,
        }
    }

    /// The bytes that the state of such a drive takes in each worker. The prepared state takes at
    /// most as much.
    #[must_use]
    pub fn state_bytes(config: &DriveConfig) -> u64 {
        match config {
            DriveConfig::Ssd(config) => ssd::Prepared::state_bytes(config),
            DriveConfig::Hdd(config) => Disk::state_bytes(config),
            DriveConfig::Raid(config) => PreparedArray::state_bytes(config),
        }
    }

    /// Checks that memory has room for this many states of such a drive, as many as workers have.
    ///
    /// # Errors
    /// [`SimError::NoMemory`] if it has not.
    pub fn check_states(&self, count: u64) -> Result<(), SimError> {
        let state = match self {
            Self::Ssd(prepared) => ssd::Prepared::state_bytes(prepared.config()),
            Self::Hdd(config) => Disk::state_bytes(config),
            Self::Raid(prepared) => prepared.worker_bytes(),
        };
        check_room((state + state / 8).saturating_mul(count))
    }

    /// A worker with a state of its own. Its runs end soon after `stop` is set.
    #[must_use]
    pub fn worker(&self, stop: &Arc<AtomicBool>) -> Drive {
        match self {
            Self::Ssd(prepared) => Drive::Ssd(Box::new(prepared.worker_stopped_by(stop))),
            Self::Hdd(config) => Drive::Hdd(Box::new(Disk::new(config, stop))),
            Self::Raid(prepared) => Drive::Raid(Box::new(prepared.worker(stop))),
        }
    }

    /// The drive without users, for an owner that keeps time. It is in its prepared condition, or
    /// in the state that [`Drive::save`] wrote.
    ///
    /// # Errors
    /// As [`Drive::load`].
    pub fn device(&self, saved: Option<&[u8]>) -> Result<Box<dyn Device + Send>, SnapshotError> {
        Ok(match (self, saved) {
            (Self::Ssd(prepared), None) => prepared.device(),
            (Self::Ssd(prepared), Some(saved)) => prepared.device_from(saved)?,
            (Self::Hdd(config), saved) => {
                if let Some(saved) = saved {
                    Disk::new(config, &Arc::default()).load(saved)?;
                }
                Box::new(Hdd::new(HddConfig::clone(config)))
            }
            (Self::Raid(prepared), saved) => prepared.device(saved)?,
        })
    }

    /// Whether both have the same state in memory. Disks have none that would be slow to make.
    fn shares_state(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ssd(one), Self::Ssd(other)) => one.shares_state(other),
            (Self::Raid(one), Self::Raid(other)) => one.shares_state(other),
            _ => false,
        }
    }

    /// Makes a worker of a drive that shares this one's state a worker of this one, which stops when
    /// `stop` is set.
    fn take_over(&self, worker: Drive, stop: &Arc<AtomicBool>) -> Drive {
        match (self, worker) {
            (Self::Ssd(prepared), Drive::Ssd(worker)) => {
                Drive::Ssd(Box::new(prepared.take_over(*worker, stop)))
            }
            (Self::Raid(_), Drive::Raid(mut worker)) => {
                worker.stop_by(stop);
                Drive::Raid(worker)
            }
            _ => self.worker(stop),
        }
    }
}

/// What happens to the state that a run leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The drive starts in its prepared state and returns to it. Each measurement is independent of
    /// all others.
    Returned,
    /// The state is kept, unless the run fails. The next run continues from it.
    Kept,
}

/// The drive of one worker.
pub enum Drive {
    /// An SSD.
    Ssd(Box<Ssd>),
    /// A hard disk.
    Hdd(Box<Disk>),
    /// An array.
    Raid(Box<Raid>),
}

impl Drive {
    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        match self {
            Self::Ssd(drive) => drive.capacity_bytes(),
            Self::Hdd(drive) => drive.capacity_bytes(),
            Self::Raid(drive) => drive.capacity_bytes(),
        }
    }

    /// Reports the progress of every later run to `watch`.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        match self {
            Self::Ssd(drive) => drive.watch(watch),
            Self::Hdd(drive) => drive.watch(watch),
            Self::Raid(drive) => drive.watch(watch),
        }
    }

    /// Says whether later runs may use a second core, where the drive can. Results are the same.
    pub fn set_second_core(&mut self, has_second_core: bool) {
        match self {
            Self::Ssd(drive) => drive.set_second_core(has_second_core),
            Self::Hdd(_) | Self::Raid(_) => {}
        }
    }

    /// Runs streams. All work enters the drive here. `seed` and `index`, the place of the
    /// measurement or step, are the key of the random numbers.
    ///
    /// # Errors
    /// [`SimError`] if the streams cannot be served, or if an independent measurement is too short
    /// to give a rate.
    pub fn run(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        (seed, index): (u64, u64),
        state: State,
    ) -> Result<Outcome, SimError> {
        let outcome = match self {
            Self::Ssd(drive) => drive.run(streams, plan, seed, index),
            Self::Hdd(drive) => drive.run(streams, plan, seed, index),
            Self::Raid(drive) => drive.run(streams, plan, seed, index),
        };
        match state {
            State::Kept => outcome,
            State::Returned => {
                self.reset();
                outcome.and_then(plan::told)
            }
        }
    }

    /// Returns to the prepared state.
    pub fn reset(&mut self) {
        match self {
            Self::Ssd(drive) => drive.reset(),
            // A disk starts every run at rest.
            Self::Hdd(_) => {}
            Self::Raid(drive) => drive.reset(),
        }
    }

    /// The state between two runs, as bytes for [`Drive::load`].
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        match self {
            Self::Ssd(drive) => drive.save(),
            Self::Hdd(drive) => drive.save(),
            Self::Raid(drive) => drive.save(),
        }
    }

    /// Restores the state that [`Drive::save`] wrote on a drive of the same configuration.
    ///
    /// # Errors
    /// [`SnapshotError`] if the bytes belong to another configuration or version, or are damaged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        match self {
            Self::Ssd(drive) => drive.load(bytes),
            Self::Hdd(drive) => drive.load(bytes),
            Self::Raid(drive) => drive.load(bytes),
        }
    }
}
