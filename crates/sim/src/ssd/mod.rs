//! The simulated solid-state drive.
//!
//! ```text
//!   Streams ─> front ──────────> buffer ──────────> firmware ─> flash ──────────> account ─> Outcome
//!              commands, link    space, memory      cores       dispatch, units   counts
//! ```
//!
//! `engine` holds the firmware itself and passes requests from one module to the next. The
//! simulator never reads a clock: it jumps from event to event.

mod account;
mod buffer;
mod engine;
mod external;
mod fill;
mod firmware;
mod flash;
mod front;
mod prepare;
mod ring;
mod settle;
mod timeline;
mod times;

use crate::snapshot;

pub use crate::host::{
    Bin, CommandOutcome, Energy, FlashCounters, LatencySplit, LoggedRequest, MOST_BINS,
    MOST_STREAMS, Media, Outcome, PARTS, PartNames, Plan, RequestLog, Series, SimError, Standing,
    StreamOutcome, Watch,
};
pub use crate::snapshot::SnapshotError;
pub use account::split::{FLASH_PARTS, Part};
pub use external::ExternalSsd;
pub use firmware::cores::RecordedWork;
pub use flash::{Recorded, RecordedOperation};
pub use prepare::{Prepared, Ssd};
pub(crate) use prepare::{Worker, Workers};
