//! A drive in simulated time, without its users.
//!
//! ```text
//!   owner                                    device
//!     submit(command, now) ──────────────────>  takes it or lets it wait; returns a tag
//!     next_event() ──> when something happens
//!     serve_until(limit, completions) ───────>  until something completes, and reports it
//! ```
//!
//! The owner keeps time. It submits at times that never decrease and that are no later than the
//! next event, and it serves that event before anything later. All these times are the drive's own
//! ([`Device::host_time`]). A device has no clock; its owner may be another device (an array of
//! drives) or a [`Runner`](super::Runner).

use drivelab_ftl::Room;
use drivelab_request::Command;

use super::error::SimError;
use super::outcome::Outcome;
use super::split::{PARTS, PartNames};
use super::variability::HostTime;
use crate::snapshot::SnapshotError;

/// A completed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The tag that [`Device::submit`] returned.
    pub tag: u32,
    /// When it completed, ns: the moment that was served.
    pub at: u64,
    /// How the time since submission divides into parts, in the order of [`Device::part_names`].
    /// The parts add up to that time.
    pub parts: [u64; PARTS],
}

/// How full a drive is inside at one moment. For an array, all members together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fullness {
    /// Capacity of the write buffer or write cache; 0 without one.
    pub buffer_bytes: u64,
    /// Bytes of it in use.
    pub buffered_bytes: u64,
    /// Room on the flash; `None` for a disk, and for a firmware that does not report it.
    pub room: Option<Room>,
}

impl std::ops::AddAssign for Fullness {
    fn add_assign(&mut self, other: Self) {
        self.buffer_bytes += other.buffer_bytes;
        self.buffered_bytes += other.buffered_bytes;
        match (&mut self.room, other.room) {
            (Some(room), Some(more)) => *room += more,
            (room, more) => *room = room.or(more),
        }
    }
}

/// A drive that takes commands at given times and says when they complete.
pub trait Device {
    /// Bytes that the host can address.
    fn capacity_bytes(&self) -> u64;

    /// The names of the parts of a latency.
    fn part_names(&self) -> PartNames;

    /// Whether it supports TRIM.
    fn takes_trims(&self) -> bool;

    /// Whether it supports WRITE ZEROES.
    fn takes_zeroes(&self) -> bool {
        false
    }

    /// Begins a run at time 0: nothing is in progress and nothing is cached. `seed` and `index` are
    /// the key of the drive's own randomness. Returns its variability factor.
    fn begin(&mut self, seed: u64, index: u64) -> f64;

    /// How the host's time relates to the drive's in that run; `None` if they are equal.
    fn host_time(&self, _seed: u64, _index: u64) -> Option<HostTime> {
        None
    }

    /// From the next run on, nobody knows when the next command comes. So idle time is used for
    /// background work.
    fn await_commands(&mut self) {}

    /// From the next run on, programs send the commands: the device [waits for them] at any time,
    /// and data that was never written may be read.
    ///
    /// [waits for them]: Device::await_commands
    fn expect_programs(&mut self) {}

    /// Returns to the state in which it was made. Call it between two runs.
    fn reset(&mut self) {}

    /// Between two runs: the difference from the state in which it was made.
    fn changes(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Restores what [`Device::changes`] returned on an equal device.
    ///
    /// # Errors
    /// [`SnapshotError`] if the bytes are incomplete. The device has then returned to the state in
    /// which it was made.
    fn take_up(&mut self, changes: &[u8]) -> Result<(), SnapshotError> {
        if changes.is_empty() {
            Ok(())
        } else {
            Err(SnapshotError::Checksum)
        }
    }

    /// The host submits `command` at `now`. The command must lie on the drive. Returns its tag: a
    /// small number that no other outstanding command has. The tag is free again once its
    /// completion is reported.
    ///
    /// # Errors
    /// [`SimError`] if the command cannot be served.
    fn submit(&mut self, command: &Command, now: u64) -> Result<u32, SimError>;

    /// A command at this offset comes soon, so what it needs may be prefetched into the CPU's
    /// cache.
    fn hint(&self, _offset_bytes: u64) {}

    /// The same for a write, which comes sooner still.
    fn hint_overwrite(&self, _offset_bytes: u64) {}

    /// When something happens next; never before a moment that was served.
    fn next_event(&self) -> Option<u64>;

    /// Serves one moment after another, none later than `limit`, until commands complete. Appends
    /// the completions of the last moment, if any. Returns [`Device::next_event`].
    ///
    /// # Errors
    /// [`SimError`] if a command cannot be served.
    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError>;

    /// Whether a power cut now would lose the newest data of the sector at this offset. A write
    /// that is not complete may be ignored.
    fn would_lose(&self, _offset_bytes: u64) -> bool {
        false
    }

    /// Writes up to this size are lost completely or not at all when the power fails, bytes.
    fn atomic_power_loss_bytes(&self) -> u64 {
        0
    }

    /// The device is idle and no more commands come: starts to write what it holds back. Returns
    /// whether that causes further events.
    fn drain(&mut self, now: u64) -> bool;

    /// How full it is after the last served moment.
    fn fullness(&self) -> Fullness {
        Fullness::default()
    }

    /// Opens the measurement window at `at`. What was served before does not count.
    fn open_window(&mut self, at: u64);

    /// Closes the window at `at` and writes what the device did in it into `outcome`.
    fn close_window(&mut self, at: u64, outcome: &mut Outcome);

    /// The run is over and the device is drained: writes what is known only now into `outcome`.
    ///
    /// # Errors
    /// [`SimError`] if the device's firmware reports something impossible.
    fn end(&mut self, _outcome: &mut Outcome) -> Result<(), SimError> {
        Ok(())
    }
}
