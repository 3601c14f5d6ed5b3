//! Time: the events of the drive happen when the wall clock reaches them.
//!
//! ```text
//!   wall time     0 ──────── t ───────────────── due ───>      (ns since the start)
//!                            │ submit             ▲ the reply may go out
//!   drive's time  0 ──────── t / dilation ── complete ──>
//! ```
//!
//! [`Keeper`] owns the drive and knows what is due. Its caller passes the time, so tests can pass
//! any. [`Wall`] knows the time, and [`pinned`] prepares the thread that waits.

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
