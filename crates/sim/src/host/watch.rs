//! The progress of a run, for a watcher on another thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use drivelab_request::WindowPlan;

/// Written from time to time during a run: at least once in a millisecond of simulated time in
/// which anything happens. Its numbers may belong to slightly different moments.
#[derive(Debug, Default)]
pub struct Watch {
    completed: AtomicU64,
    outstanding: AtomicU64,
    simulated_ns: AtomicU64,
    drains: AtomicBool,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Requests completed, before the window and in it.
    pub completed: u64,
    /// Requests submitted but not complete.
    pub outstanding: u64,
    /// Simulated time.
    pub simulated_ns: u64,
    /// The window is closed: outstanding commands are served, and no others come.
    pub drains: bool,
}

impl Standing {
    /// The fraction of the way to the end of `window` that is done, 0 to 1.
    #[must_use]
    pub fn share_of(&self, window: &WindowPlan) -> f64 {
        let share = |done: u64, all: u64| (done as f64 / all.max(1) as f64).min(1.0);
        let by_requests = window.requests.map_or(0.0, |requests| {
            share(self.completed, window.warmup_requests + requests)
        });
        let by_time = window.duration.map_or(0.0, |duration| {
            share(self.simulated_ns, window.warmup.0 + duration.0)
        });
        by_requests.max(by_time)
    }
}

impl Watch {
    /// The current progress.
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
