//! What all other crates share: units as types, the request, and statistics of completions (the
//! histogram, batch means, the measurement window).
//!
//! Nothing here keeps time or does I/O. Offsets and sizes are bytes, times are integer nanoseconds.

mod batch_means;
mod command;
mod content;
mod histogram;
mod nanos;
mod placement;
mod request;
mod window;
mod zone;

pub use batch_means::{BatchMeans, LEAST_BATCHES, LatencyBatches, MOST_BATCHES};
pub use command::{Command, CommandKind};
pub use content::{Content, PageData};
pub use histogram::{BINS, Histogram, bin_of, bin_range, bin_value, percentile_of};
pub use nanos::Nanos;
pub use placement::PlacementId;
pub use request::{Direction, Request, SECTOR_BYTES};
pub use window::{ClosedBy, CompletionWindow, Counted, HalfWidth, WindowPlan};
pub use zone::ZoneAction;
