//! How much collection the host's writes owe.
//!
//! While a plane collects, every host program owes steps of collection; a step is one flash
//! operation. That is more than the write takes in the long run, so the number of free blocks
//! grows. The owner of the plane pays some steps at a time, and does a few unowed ones when there
//! is nothing else to do.

use std::sync::atomic::Ordering::Relaxed;

use crate::controller::Controller;

/// Steps owed for a host program: five moves, a read and a program each. Greedy collection of
/// random overwrites needs three to four at this over-provisioning.
pub const PER_WRITE: u32 = 10;
/// Steps owed when the host waits for room.
pub const URGENT: u32 = 64;
/// Steps paid in one turn on one plane.
pub const TURN: u32 = 64;
/// Steps in a turn without other work.
pub const IDLE: u32 = 2;

/// Adds `steps` to what is owed on `plane`.
pub fn owe(shared: &Controller, plane: u32, steps: u32) {
    shared.owed[plane as usize].fetch_add(steps, Relaxed);
}

/// The steps owed on `plane`.
#[must_use]
pub fn owed(shared: &Controller, plane: u32) -> u32 {
    shared.owed[plane as usize].load(Relaxed)
}

/// `steps` owed on `plane` were paid, or all of them.
pub fn pay(shared: &Controller, plane: u32, steps: u32) {
    let owed = &shared.owed[plane as usize];
    // Steps added meanwhile are kept: only what was seen is paid.
    let _ = owed.fetch_update(Relaxed, Relaxed, |owed| Some(owed.saturating_sub(steps)));
}
