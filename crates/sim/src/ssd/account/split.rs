//! The parts of a request's latency.
//!
//! ```text
//!  submitted      in the flash                         began                    done   complete
//!      |── host ──────|── queueing + collection ── dispatch ──|── cell + channel ──|── host ──|
//!      |  buffer      |
//!      |  firmware    |
//! ```
//!
//! If a request needs several flash operations, the one that completes last determines the parts.
//! The parts of a request add up to its latency, to the nanosecond.

pub use crate::host::PARTS;
use crate::host::PartNames;

/// The parts for an SSD, by [`Part`].
pub const FLASH_PARTS: PartNames = &[
    "host",
    "buffer",
    "queueing",
    "dispatch",
    "channel",
    "cell",
    "collection",
];

/// The same if the firmware takes time.
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

/// A part of a latency on an SSD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Part {
    /// Command slots, commands and data on the host link, and acknowledgement.
    Host,
    /// A write waits for buffer space, a flush for the buffer's content, a read for the
    /// controller's memory.
    Buffer,
    /// Waiting for dispatch and for the die, while the die does work other than collection.
    Queueing,
    /// The dispatch stage's own time.
    Dispatch,
    /// Waiting for the channel, and the transfer.
    Channel,
    /// The cell array.
    Cell,
    /// Waiting for the die while it collects.
    Collection,
    /// Waiting for a core of the controller, the core's work, and earlier firmware work for the
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

/// How the time of one flash operation divides.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// When its unit started it.
    pub began: u64,
    pub dispatch: u64,
    pub channel: u64,
    pub cell: u64,
    /// How long its unit collected between its emission and `began`.
    pub collected: u64,
}

impl Parts {
    /// The parts of the time from `since` to the completion at `now`. The operation may have been
    /// emitted before `since`.
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

    /// Writes the parts of a latency from `emitted` on to `parts`, without host and buffer. The
    /// firmware's part lies before `emitted`. Fields are written one by one, because a copy of the
    /// whole would wait until every field has reached the CPU's cache.
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
