//! The simulated solid-state drive.
//!
//! ```text
//!   Streams ─> host (commands, link, write buffer) ─> firmware ─> dispatch ─> units ─> Outcome
//! ```
//!
//! The simulator never reads a clock: it jumps from event to event.

mod account;
mod ageing;
mod ask;
mod background;
mod buffer;
mod copies;
mod cores;
mod dependents;
mod device;
mod energy;
mod engine;
mod external;
mod flash;
mod flush;
mod gathered;
mod host;
mod link;
mod moves;
mod operation;
mod overtaking;
mod pipeline;
mod prepare;
mod queue;
mod queue_pair;
mod read_cache;
mod reads;
mod recorded;
mod registers;
mod ring;
mod run;
mod settle;
mod slot;
mod split;
mod timing;
mod writes;

use crate::host::{load, outcome};
use crate::snapshot;

pub use crate::host::{
    Bin, CommandOutcome, Energy, FlashCounters, LatencySplit, LoggedRequest, MOST_BINS,
    MOST_STREAMS, Media, Outcome, PARTS, PartNames, Plan, RequestLog, Series, SimError, Standing,
    StreamOutcome, Watch,
};
pub use crate::snapshot::SnapshotError;
pub use cores::RecordedWork;
pub use external::ExternalSsd;
pub use prepare::{Prepared, Ssd};
pub(crate) use prepare::{Worker, Workers};
pub use recorded::{Recorded, RecordedOperation};
pub(crate) use slot::Slot;
pub use split::{FLASH_PARTS, Part};
