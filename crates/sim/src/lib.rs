//! Simulated drives in virtual time, and their closed forms.
//!
//! Time is integer nanoseconds and jumps from event to event. Nothing here reads a clock, a file or
//! the environment.

pub mod analytic;
pub mod drive;
mod embedded;
mod event;
pub mod hdd;
pub mod host;
mod near_names;
pub mod preset;
pub mod raid;
pub mod scenario;
mod snapshot;
pub mod ssd;
