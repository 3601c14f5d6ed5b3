//! A drive in simulated time without its users.
//!
//! ```text
//!   owner                                    device
//!     submit(command, now) ──────────────────>  takes it, or keeps it waiting, under a tag
//!     next_event() ──> when something happens
//!     serve_until(limit, completions) ───────>  until something is complete, which is told
//! ```
//!
//! The owner keeps time: it submits at moments that never fall, none later than the next
//! event, and serves that event before anything later. All of this is the drive's own time
//! ([`Device::host_time`]). A device keeps no time of its own
//! and may be owned by another device (an array of drives) as well as by a
//! [`Runner`](super::Runner).

use drivelab_ftl::Room;
use drivelab_request::Command;

use super::error::SimError;
use super::outcome::Outcome;
use super::split::{PARTS, PartNames};
use super::variability::HostTime;
use crate::snapshot::SnapshotError;

/// A command that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What [`Device::submit`] answered.
    pub tag: u32,
    /// When it is complete, ns: the moment that was served.
    pub at: u64,
    /// Where its time since submission went, by [`Device::part_names`]; together that time.
    pub parts: [u64; PARTS],
}

/// How full a drive is inside, at a moment; of an array all members together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fullness {
    /// Bytes that the write buffer or write cache holds at most; 0 without one.
    pub buffer_bytes: u64,
    /// Bytes of it that are taken.
    pub buffered_bytes: u64,
    /// Room on the flash; `None` of a disk, and of a firmware that does not tell.
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

/// A drive that takes commands at given moments and says when they are complete.
pub trait Device {
    /// Bytes that the host can address.
    fn capacity_bytes(&self) -> u64;

    /// What the parts of a latency are called.
    fn part_names(&self) -> PartNames;

    /// Whether it knows TRIM.
    fn takes_trims(&self) -> bool;

    /// A run begins at time 0: nothing is under way and nothing cached. `seed` and `index`
    /// key what is random about the drive itself; answers its variability factor.
    fn begin(&mut self, seed: u64, index: u64) -> f64;

    /// How the host's time runs beside the drive's in that run; `None` where they are one.
    fn host_time(&self, _seed: u64, _index: u64) -> Option<HostTime> {
        None
    }

    /// From the next run on commands come from programs, and nobody knows when the next does:
    /// idle time is used for background work, and what was never written may be read.
    fn expect_programs(&mut self) {}

    /// Returns to the state in which it was made; between two runs.
    fn reset(&mut self) {}

    /// Between two runs, what differs from the state in which it was made.
    fn changes(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes up what [`Device::changes`] answered on a device like this.
    ///
    /// # Errors
    /// [`SnapshotError`] where the bytes are not whole; it has then returned to the state in
    /// which it was made.
    fn take_up(&mut self, changes: &[u8]) -> Result<(), SnapshotError> {
        if changes.is_empty() {
            Ok(())
        } else {
            Err(SnapshotError::Checksum)
        }
    }

    /// The host submits `command`, which lies on the drive, at `now`. Answers its tag: a small
    /// number that no other command on its way has, free again as soon as its completion was
    /// told.
    ///
    /// # Errors
    /// [`SimError`] when it cannot be served.
    fn submit(&mut self, command: &Command, now: u64) -> Result<u32, SimError>;

    /// A command at this offset comes soon: what it needs may be fetched into the cache.
    fn hint(&self, _offset_bytes: u64) {}

    /// The same, sooner still, of a write.
    fn hint_overwrite(&self, _offset_bytes: u64) {}

    /// When something happens next; never before a moment that was served.
    fn next_event(&self) -> Option<u64>;

    /// Serves one moment after the other, none later than `limit`, until commands are complete:
    /// appends those of the last moment, if there are any. Answers [`Device::next_event`].
    ///
    /// # Errors
    /// [`SimError`] when a command cannot be served.
    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError>;

    /// Whether the newest data of the sector at this offset would be lost with the power now. Of a
    /// write that is not complete it need not be told.
    fn would_lose(&self, _offset_bytes: u64) -> bool {
        false
    }

    /// Nothing happens any more and nothing else comes: what the device holds back is
    /// written, by events to come. Answers whether there is such.
    fn drain(&mut self, now: u64) -> bool;

    /// How full it is after the last moment that was served.
    fn fullness(&self) -> Fullness {
        Fullness::default()
    }

    /// The measurement window opens at `at`; what was served before does not count.
    fn open_window(&mut self, at: u64);

    /// It closes at `at`: what the device did in it goes into `outcome`.
    fn close_window(&mut self, at: u64, outcome: &mut Outcome);

    /// The run is over and the device drained: what is told only then goes into `outcome`.
    ///
    /// # Errors
    /// [`SimError`] when the device's firmware tells what cannot be.
    fn end(&mut self, _outcome: &mut Outcome) -> Result<(), SimError> {
        Ok(())
    }
}
