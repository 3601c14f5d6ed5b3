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
//! One file a concept: [`geometry`] and [`rotation`] say where a sector is and when it passes
//! the heads, [`seek`] how long the arm takes, [`mechanism`] puts them together, [`cache`] and
//! [`write_cache`] are the disk's memory, [`schedule`] says what goes next, [`disk`] is the
//! device with its events, [`commands`] what happens on the host's side of it and [`access`] on
//! the platters'.

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
/// | `host` | commands, data and acknowledgement on the link, waiting for a command slot |
/// | `buffer` | waiting for room in the write cache, of a flush for what it holds |
/// | `queueing` | waiting for the mechanism |
/// | `seek` | seek or head switch, and settling |
/// | `rotation` | waiting for the first sector |
/// | `transfer` | reading or writing, switches on the way included |
pub const DISK_PARTS: PartNames = &["host", "buffer", "queueing", "seek", "rotation", "transfer"];

/// The places of [`DISK_PARTS`].
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
