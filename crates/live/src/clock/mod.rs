//! Time: a drive whose moments come when the wall clock does.
//!
//! ```text
//!   wall time     0 ──────── t ───────────────── due ───>      (ns since the start)
//!                            │ submit             ▲ the reply may go out
//!   drive's time  0 ──────── t / dilation ── complete ──>
//! ```
//!
//! [`Keeper`] owns the drive and knows what is due, and is told what time it is, so that tests
//! tell it whatever they like; [`Wall`] knows what time it is, and [`pinned`] prepares the thread
//! that waits.

mod formula;
mod keeper;
mod round_trip;
mod thread;
mod wall;

pub use formula::Formula;
pub use keeper::{Due, Keeper, Stretch};
pub use round_trip::round_trip_ns;
pub use thread::{CpuError, check_cpu, pinned};
pub use wall::{Dilation, Wall};
