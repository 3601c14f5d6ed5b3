//! A drive in long use: the effects of all steps add up until the drive is purged.
//!
//! ```text
//!   preset's condition ── step ── step ── idle ── step ── ...
//!   purged             ── step ── step ── ...            each step continues where the last ended
//! ```
//!
//! The drive drains between two steps: the content of its write buffer moves to the flash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drivelab_request::{Command, Nanos};
use drivelab_workload::Stream;

use super::{Drive, Prepared, State};
use crate::host::{Outcome, Plan, SimError};
use crate::preset::DriveConfig;
use crate::snapshot::SnapshotError;

/// First byte of a saved state: names the state from which the rest is a difference.
const FROM_CONDITION: u8 = 0;
const FROM_PURGED: u8 = 1;

/// One drive and its history.
pub struct Session {
    config: DriveConfig,
    drive: Drive,
    is_purged: bool,
    /// A step failed, so the state before it is gone.
    is_lost: bool,
    stop: Arc<AtomicBool>,
}

impl Session {
    /// Begins in the preset's condition. Every call ends soon after another thread has set `stop`.
    ///
    /// # Errors
    /// As [`Prepared::stoppable`].
    pub fn new(config: DriveConfig, stop: &Arc<AtomicBool>) -> Result<Self, SimError> {
        let prepared = Prepared::stoppable(config.clone(), stop)?;
        prepared.check_states(1)?;
        let drive = prepared.worker(stop);
        Ok(Self {
            config,
            drive,
            is_purged: false,
            is_lost: false,
            stop: Arc::clone(stop),
        })
    }

    /// Erases everything. Erase counts go back to those of the preset.
    ///
    /// # Errors
    /// As [`Prepared::stoppable`].
    pub fn purge(&mut self) -> Result<(), SimError> {
        self.begin(true)
    }

    fn begin(&mut self, is_purged: bool) -> Result<(), SimError> {
        let config = self.config.clone();
        let config = if is_purged { config.purged() } else { config };
        self.stop.store(false, Ordering::Relaxed);
        self.is_lost = true;
        if self.is_purged == is_purged {
            self.drive.reset();
        } else {
            self.drive = Prepared::stoppable(config, &self.stop)?.worker(&self.stop);
        }
        self.is_purged = is_purged;
        self.is_lost = false;
        Ok(())
    }

    /// Sends streams at the same time. `seed` and `place`, the number of the step, are the key of
    /// the random numbers.
    ///
    /// # Errors
    /// [`SimError`] if the streams cannot be served; the state is then lost.
    pub fn run(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        seed: u64,
        place: u64,
    ) -> Result<Outcome, SimError> {
        if self.is_lost {
            return Err(SimError::StateLost);
        }
        self.stop.store(false, Ordering::Relaxed);
        let outcome = self.drive.run(streams, plan, (seed, place), State::Kept);
        self.is_lost = outcome.is_err();
        outcome
    }

    /// Leaves the drive idle for `time`.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn idle(&mut self, time: Nanos, seed: u64, place: u64) -> Result<(), SimError> {
        // The only command is a flush, sent when the time has passed.
        let streams = [Stream::timed("idle", [Command::flush(time)])];
        self.run(&streams, Plan::counting(0, 1), seed, place)
            .map(drop)
    }

    /// The state between two steps, as bytes for [`Session::load`].
    ///
    /// # Errors
    /// [`SimError::StateLost`] after a failed step.
    pub fn save(&self) -> Result<Vec<u8>, SimError> {
        if self.is_lost {
            return Err(SimError::StateLost);
        }
        let mut bytes = self.drive.save();
        bytes.push(if self.is_purged {
            FROM_PURGED
        } else {
            FROM_CONDITION
        });
        Ok(bytes)
    }

    /// Restores what [`Session::save`] gave on the same drive.
    ///
    /// # Errors
    /// The outer [`SimError`] is that of [`Session::purge`]. The inner [`SnapshotError`] says that
    /// the bytes belong to another drive or version, or are damaged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<Result<(), SnapshotError>, SimError> {
        let is_purged = match bytes.last() {
            Some(&FROM_PURGED) => true,
            Some(&FROM_CONDITION) => false,
            _ => return Ok(Err(SnapshotError::Checksum)),
        };
        self.begin(is_purged)?;
        Ok(self.drive.load(&bytes[..bytes.len() - 1]))
    }
}
