//! What every other crate shares: units as types, the request, the histogram.
//!
//! Nothing here keeps time or does I/O. Offsets and sizes are bytes, times are
//! integer nanoseconds.

mod histogram;
mod nanos;
mod request;
mod window;

pub use histogram::{BINS, Histogram, bin_of, bin_range, bin_value, percentile_of};
pub use nanos::Nanos;
pub use request::{Direction, Request, SECTOR_BYTES};
pub use window::{ClosedBy, CompletionWindow, Counted, WindowPlan};
