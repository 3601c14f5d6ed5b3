//! What every kind of simulated drive shares: its users, and the record of what happened to them.
//!
//! ```text
//!   Streams ─> users ─> Runner ── submit ──> Device (a disk, an array, an SSD)
//!                ^        │ <─ completions ─────┘
//!                └────────┴─> window ─> counting ─> Outcome
//! ```
//!
//! A [`Device`] is a drive in simulated time without its users. The users are the streams of a run
//! and the window that counts them. [`Runner`] is the loop that connects the two. The SSD, and an
//! array of SSDs, have a loop of their own for speed.

mod asked;
pub(crate) mod clock;
pub mod counters;
pub(crate) mod counting;
mod device;
mod error;
pub(crate) mod load;
pub(crate) mod outcome;
mod paced;
pub mod plan;
pub(crate) mod request_log;
pub(crate) mod room;
mod runner;
mod series;
mod settling;
mod shares;
mod split;
pub(crate) mod streams;
pub(crate) mod users;
mod variability;
mod watch;

pub use drivelab_ftl::Room;

pub use counters::{
    ArrayCounters, DiskCounters, Energy, FlashCounters, Media, NamespaceCounters,
    PlacementCounters, ZoneCounters,
};
pub use device::{Completion, Device, Fullness};
pub use error::SimError;
pub use load::MOST_STREAMS;
pub use outcome::{CommandOutcome, Outcome, StreamOutcome};
pub use plan::Plan;
pub use request_log::{LoggedRequest, RequestLog};
pub use runner::Runner;
pub use series::{Bin, MOST_BINS, Series};
pub use settling::{Settling, Writing};
pub use split::{LatencySplit, PARTS, PartNames};
pub use users::LAST_NOW;
pub use variability::{HostTime, mean_factor, measurement_factor};
pub use watch::{Standing, Watch};
