//! The simulated hard disk.
//!
//! ```text
//!   host ─> [commands] ─> link ─> read: segments of the cache ─ hit ──────────────> link ─> host
//!                          │                         └ miss ─> waiting ─┐
//!                          └────> write: write cache ─> complete        ├─> mechanism
//!                                                └─ oldest extents ─────┘   (seek, rotation,
//!                                                                            transfer, read-ahead)
//! ```
//!
//! Each concept has one file. [`geometry`] and [`rotation`] say where a sector is and when it
//! passes the heads. [`seek`] says how long the arm takes. [`mechanism`] combines the three.
//! [`cache`] and [`write_cache`] are the disk's memory. [`schedule`] chooses the next access.
//! [`disk`] is the device with its events, [`commands`] its host side and [`access`] its platter
//! side.

mod access;
mod cache;
mod commands;
mod disk;
mod geometry;
mod mechanism;
mod rotation;
mod run;
mod schedule;
mod seek;
mod write_cache;

pub use disk::Hdd;
pub use rotation::Rotation;
pub use run::Disk;
pub use seek::{SeekCurve, SeekTimes};

use crate::host::PartNames;

/// The parts of a latency on a hard disk.
///
/// | part | what it is |
/// |---|---|
/// | `host` | commands, data and acknowledgement on the link; waiting for a command slot |
/// | `buffer` | a write waits for room in the write cache; a flush waits for the cache to empty |
/// | `queueing` | waiting for the mechanism |
/// | `seek` | seek or head switch, and settling |
/// | `rotation` | waiting for the first sector |
/// | `transfer` | reading or writing, including switches on the way |
pub const DISK_PARTS: PartNames = &["host", "buffer", "queueing", "seek", "rotation", "transfer"];

/// The indices of [`DISK_PARTS`].
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
enum Part {
    Host,
    Buffer,
    Queueing,
    Seek,
    Rotation,
    Transfer,
}
