//! How much collection is owed for what the host writes.
//!
//! While a plane collects, every program of the host owes steps of collection, a step being
//! one operation of the flash: more than the host's write takes in the long run, so that free
//! blocks become more. Whoever owns the plane pays, some at a time, and does a little
//! without being owed when there is nothing else to do.

use std::sync::atomic::Ordering::Relaxed;

use crate::controller::Controller;

/// Steps that a program of the host owes: five moves, a read and a program each. Greedy
/// collection of random overwrites takes three to four at this over-provisioning.
pub const PER_WRITE: u32 = 10;
/// Steps that are owed where the host waits for room.
pub const URGENT: u32 = 64;
/// Steps that are paid in one turn on one plane.
pub const TURN: u32 = 64;
/// Steps in a turn that has nothing else to do.
pub const IDLE: u32 = 2;

/// `steps` are owed on `plane`.
pub fn owe(shared: &Controller, plane: u32, steps: u32) {
    shared.owed[plane as usize].fetch_add(steps, Relaxed);
}

/// What is owed on `plane`.
#[must_use]
pub fn owed(shared: &Controller, plane: u32) -> u32 {
    shared.owed[plane as usize].load(Relaxed)
}

/// `steps` of what is owed on `plane` were paid, or all that is.
pub fn pay(shared: &Controller, plane: u32, steps: u32) {
    let owed = &shared.owed[plane as usize];
    // Who owes more meanwhile is heard: nothing is paid but what was seen.
    let _ = owed.fetch_update(Relaxed, Relaxed, |owed| Some(owed.saturating_sub(steps)));
}
