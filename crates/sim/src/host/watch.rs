//! How far a run is, for whoever watches it from another thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Written now and then while a run is on: at least once in a millisecond of simulated
/// time in which anything happens. Its numbers may be of slightly different moments.
#[derive(Debug, Default)]
pub struct Watch {
    completed: AtomicU64,
    outstanding: AtomicU64,
    simulated_ns: AtomicU64,
    drains: AtomicBool,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Requests completed, before the window and in it.
    pub completed: u64,
    /// Requests submitted and not complete.
    pub outstanding: u64,
    /// Simulated time.
    pub simulated_ns: u64,
    /// The window is closed: what is outstanding is served, and nothing else comes.
    pub drains: bool,
}

impl Watch {
    /// Where the run stands.
    #[must_use]
    pub fn standing(&self) -> Standing {
        Standing {
            completed: self.completed.load(Ordering::Relaxed),
            outstanding: self.outstanding.load(Ordering::Relaxed),
            simulated_ns: self.simulated_ns.load(Ordering::Relaxed),
            drains: self.drains.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn tell(&self, standing: Standing) {
        self.completed.store(standing.completed, Ordering::Relaxed);
        self.outstanding
            .store(standing.outstanding, Ordering::Relaxed);
        self.simulated_ns
            .store(standing.simulated_ns, Ordering::Relaxed);
        self.drains.store(standing.drains, Ordering::Relaxed);
    }
}
