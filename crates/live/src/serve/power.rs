//! Power that goes now and then.
//!
//! ```text
//!   on ── every ── cut ── off ── on ── every ── cut ...          wall time
//!                   │ requests under way fail, what the cache held is lost
//! ```

use crate::data::{Loss, Volatile};

/// When the power goes, and what is lost then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerCuts {
    /// So long after it came the power goes, ns of wall time.
    pub every_ns: u64,
    /// For so long at least, ns of wall time.
    pub off_ns: u64,
    /// What is lost of what may be.
    pub loss: Loss,
}

/// Whether the drive has power.
#[derive(Debug)]
pub(super) struct Power {
    cuts: PowerCuts,
    seed: u64,
    /// When it goes, or comes back.
    changes_at: u64,
    pub is_off: bool,
    number: u64,
    pub volatile: Volatile,
}

impl Power {
    /// It is there from the start on.
    pub fn new(cuts: PowerCuts, seed: u64) -> Self {
        Self {
            cuts,
            seed,
            changes_at: cuts.every_ns,
            is_off: false,
            number: 0,
            volatile: Volatile::default(),
        }
    }

    /// When something is to be done.
    pub const fn changes_at(&self) -> u64 {
        self.changes_at
    }

    /// It goes at `now`. Answers what says of a page's number whether it is lost.
    pub fn go(&mut self, now: u64) -> impl Fn(u64) -> bool + use<> {
        self.is_off = true;
        self.changes_at = now.saturating_add(self.cuts.off_ns);
        self.number += 1;
        let key = mixed(self.seed ^ mixed(self.number));
        let loss = self.cuts.loss;
        move |page| loss == Loss::All || mixed(key ^ mixed(page)) & 1 == 0
    }

    /// It is back at `now`.
    pub fn come(&mut self, now: u64) {
        self.is_off = false;
        self.changes_at = now.saturating_add(self.cuts.every_ns);
    }
}

/// Numbers that differ in one bit differ in half of them (the finaliser of SplitMix64).
const fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
