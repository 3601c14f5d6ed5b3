//! Where a request's latency went.
//!
//! ```text
//!  submitted      in the flash                         began                    done   complete
//!      |── host ──────|── queueing + collection ── dispatch ──|── cell + channel ──|── host ──|
//!      |  buffer      |
//!      |  firmware    |
//! ```
//!
//! A request that needs several flash operations is split by the one that completes
//! last. The parts of a request sum to its latency, to the nanosecond.

pub use crate::host::PARTS;
use crate::host::PartNames;

/// The parts on a drive of flash, by [`Part`].
pub const FLASH_PARTS: PartNames = &[
    "host",
    "buffer",
    "queueing",
    "dispatch",
    "channel",
    "cell",
    "collection",
];

/// The same where the firmware takes time.
pub const FLASH_PARTS_WITH_FIRMWARE: PartNames = &[
    "host",
    "buffer",
    "queueing",
    "dispatch",
    "channel",
    "cell",
    "collection",
    "firmware",
];

/// A part of a latency on a drive of flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Part {
    /// Command slots, commands and data on the host link, acknowledgement.
    Host,
    /// Waiting for space in the write buffer, of a flush for what it holds, of a read for
    /// the controller's memory.
    Buffer,
    /// Waiting for dispatch and for the die, while it does other work than collection.
    Queueing,
    /// The dispatch stage's own time.
    Dispatch,
    /// Waiting for the channel, and the transfer.
    Channel,
    /// The cell array.
    Cell,
    /// Waiting for the die while it collects.
    Collection,
    /// Waiting for a core of the controller, its work, and the work on what came before for the
    /// same dies.
    Firmware,
}

impl Part {
    /// Every part, in the order of [`LatencySplit::sum_ns`].
    pub const ALL: [Self; PARTS] = [
        Self::Host,
        Self::Buffer,
        Self::Queueing,
        Self::Dispatch,
        Self::Channel,
        Self::Cell,
        Self::Collection,
        Self::Firmware,
    ];
}

/// Where the time of one flash operation went.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// When its unit took it.
    pub began: u64,
    pub dispatch: u64,
    pub channel: u64,
    pub cell: u64,
    /// Time its unit collected between its emission and `began`.
    pub collected: u64,
}

impl Parts {
    /// The parts of the time from `since` to `now`, when it was complete, of an
    /// operation that may have been emitted before.
    pub fn of_time(&self, since: u64, now: u64) -> [u64; PARTS] {
        let mut left = now - since;
        let mut take = |nanos: u64| {
            let taken = nanos.min(left);
            left -= taken;
            taken
        };
        let (cell, channel) = (take(self.cell), take(self.channel));
        let (dispatch, collection) = (take(self.dispatch), take(self.collected));
        [0, 0, left, dispatch, channel, cell, collection, 0]
    }

    /// Writes the parts of a latency from `emitted` on, without host and buffer, to `parts`; the
    /// firmware's lies before.
    /// Field by field: a copy of the whole would wait until every field has reached the
    /// cache.
    #[inline(always)]
    pub fn put_latency(&self, emitted: u64, parts: &mut [u64; PARTS]) {
        let waited = self.began - emitted - self.dispatch;
        let collection = self.collected.min(waited);
        parts[Part::Host as usize] = 0;
        parts[Part::Buffer as usize] = 0;
        parts[Part::Queueing as usize] = waited - collection;
        parts[Part::Dispatch as usize] = self.dispatch;
        parts[Part::Channel as usize] = self.channel;
        parts[Part::Cell as usize] = self.cell;
        parts[Part::Collection as usize] = collection;
    }
}
