//! Power that fails from time to time.
//!
//! ```text
//!   on ── every ── cut ── off ── on ── every ── cut ...          wall time
//!                   │ requests under way fail, what the cache held is lost
//! ```

use super::waiting::InPower;
use crate::data::{Loss, Volatile};

/// When the power fails, and what is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerCuts {
    /// Time from the return of the power to its next failure, ns of wall time.
    pub every_ns: u64,
    /// Least duration of a failure, ns of wall time.
    pub off_ns: u64,
    /// Which of the volatile data is lost.
    pub loss: Loss,
}

/// Whether the drive has power.
#[derive(Debug)]
pub(super) struct Power {
    cuts: PowerCuts,
    seed: u64,
    /// When it fails or returns.
    changes_at: u64,
    pub is_off: bool,
    number: u64,
    pub volatile: Volatile,
}

impl Power {
    /// Power is on from the start. Writes up to `atomic_bytes` are lost completely or not at all.
    pub fn new(cuts: PowerCuts, seed: u64, atomic_bytes: u64) -> Self {
        Self {
            cuts,
            seed,
            changes_at: cuts.every_ns,
            is_off: false,
            number: 0,
            volatile: Volatile::with_units_of(atomic_bytes),
        }
    }

    /// A request on this range ended; `is_done` says whether it was served.
    pub fn ended(&mut self, what: InPower, range: (u64, u64), is_done: bool) {
        match what {
            InPower::Nothing => {}
            InPower::Write(write) => self.volatile.end(write, range, false),
            InPower::ForcedWrite(write) => self.volatile.end(write, range, is_done),
            InPower::Flush(flush) => self.volatile.end_flush(flush, is_done),
        }
    }

    /// When the next change is due.
    pub const fn changes_at(&self) -> u64 {
        self.changes_at
    }

    /// The power fails at `now`. Returns a function that says by page number whether the page is
    /// lost.
    pub fn go(&mut self, now: u64) -> impl Fn(u64) -> bool + use<> {
        self.is_off = true;
        self.changes_at = now.saturating_add(self.cuts.off_ns);
        self.number += 1;
        let key = mixed(self.seed ^ mixed(self.number));
        let loss = self.cuts.loss;
        move |page| loss == Loss::All || mixed(key ^ mixed(page)) & 1 == 0
    }

    /// The power returns at `now`.
    pub fn come(&mut self, now: u64) {
        self.is_off = false;
        self.changes_at = now.saturating_add(self.cuts.every_ns);
    }
}

/// A mixing function: numbers that differ in one bit give results that differ in half of their bits
/// (the finaliser of SplitMix64).
const fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
