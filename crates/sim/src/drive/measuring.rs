//! Many workloads, measured by several threads and answered in order.
//!
//! ```text
//! work     0 1 2 3 4 5 6 7 8 9 ...
//!          \_____/ ^     ^ ^
//!          given   next  being measured, at most AHEAD beyond the next
//! ```
//!
//! No thread waits for another as long as the answers are taken: a workload that
//! takes long holds up the order, not the work.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use drivelab_workload::Stream;

use super::{Bench, States};
use crate::host::{Outcome, Plan, Settling, SimError};

/// Measurements that may be done before the next in order is.
const AHEAD: usize = 128;

/// A list of workloads on its way; dropping it stops the threads.
pub struct Measuring {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    states: Arc<States>,
    work: Vec<Work>,
    seed: u64,
    stop: Arc<AtomicBool>,
    progress: Mutex<Progress>,
    /// Something in the progress changed.
    changed: Condvar,
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Work {
    /// The key of its random numbers, beside the seed.
    pub index: u64,
    /// Sent at the same time.
    pub streams: Vec<Stream>,
    /// How long.
    pub plan: Plan,
    /// The kind of writing that the drive has settled to before; none for the state that its
    /// preset says.
    pub settling: Option<Settling>,
}

#[derive(Default)]
struct Progress {
    /// Places of `work` that a thread has taken.
    taken: usize,
    /// Places answered to the caller.
    given: usize,
    done: BTreeMap<usize, thread::Result<Result<Outcome, SimError>>>,
}

impl Measuring {
    /// Starts to measure all `work`, each from the state that it names, on at most `workers`
    /// threads.
    #[must_use]
    pub fn start(states: &Arc<States>, work: Vec<Work>, seed: u64, workers: usize) -> Self {
        let workers = workers.clamp(1, work.len().max(1));
        let shared = Arc::new(Shared {
            states: Arc::clone(states),
            work,
            seed,
            stop: Arc::default(),
            progress: Mutex::default(),
            changed: Condvar::new(),
        });
        let threads = match Self::threads(&shared, workers) {
            Ok(threads) => threads,
            Err(error) => {
                shared.progress().done.insert(0, Ok(Err(error)));
                Vec::new()
            }
        };
        Self { shared, threads }
    }

    /// Starts as many of `workers` threads as there is memory for, at least one.
    fn threads(shared: &Arc<Shared>, workers: usize) -> Result<Vec<JoinHandle<()>>, SimError> {
        let fits = |&count: &usize| shared.states.prepared().check_workers(count).is_ok();
        let workers = (2..=workers).rev().find(fits);
        if workers.is_none() {
            shared.states.prepared().check_workers(1)?;
        }
        let mut threads = Vec::new();
        for _ in 0..workers.unwrap_or(1) {
            let of_thread = Arc::clone(shared);
            match thread::Builder::new().spawn(move || of_thread.labour()) {
                Ok(thread) => threads.push(thread),
                Err(error) if threads.is_empty() => {
                    let reason = error.to_string();
                    return Err(SimError::NoThread { reason });
                }
                // Those that there are do the work.
                Err(_) => break,
            }
        }
        Ok(threads)
    }

    /// Every result was given.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.shared.progress().given == self.shared.work.len()
    }

    /// Waits at most `patience` for the next result, in the order of the work.
    pub fn wait(&mut self, patience: Duration) -> Option<Result<Outcome, SimError>> {
        let mut progress = self.shared.progress();
        let place = progress.given;
        let may_come = place < self.shared.work.len() && !self.threads.is_empty();
        if may_come && !progress.done.contains_key(&place) {
            progress = self
                .shared
                .changed
                .wait_timeout(progress, patience)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        let result = progress.done.remove(&place)?;
        progress.given += 1;
        drop(progress);
        self.shared.changed.notify_all();
        Some(result.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// Ends every thread; what is under way is given up.
    pub fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Under the lock: a thread that is about to wait would miss the call.
        let progress = self.shared.progress();
        self.shared.changed.notify_all();
        drop(progress);
        for thread in self.threads.drain(..) {
            // Panics were caught where they happened.
            let _ = thread.join();
        }
    }
}

impl Iterator for Measuring {
    type Item = Result<Outcome, SimError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let result = self.wait(Duration::from_secs(1));
            let has_ended = self.is_done() || self.threads.is_empty();
            if result.is_some() || has_ended {
                return result;
            }
        }
    }
}

impl Drop for Measuring {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One thread: takes the next place until there is none.
    fn labour(&self) {
        let (states, stop) = (Arc::clone(&self.states), Arc::clone(&self.stop));
        let mut bench = Bench::new(states, self.seed, stop);
        while let Some(place) = self.take() {
            // Whoever waits for this place waits for ever where nothing comes of it.
            let result = catch_unwind(AssertUnwindSafe(|| bench.measure(&self.work[place])));
            let panicked = result.is_err();
            self.progress().done.insert(place, result);
            self.changed.notify_all();
            if panicked {
                // Its state is worth nothing any more.
                return;
            }
        }
        bench.rest();
    }

    fn take(&self) -> Option<usize> {
        let mut progress = self.progress();
        loop {
            if progress.taken == self.work.len() || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if progress.taken < progress.given + AHEAD {
                progress.taken += 1;
                return Some(progress.taken - 1);
            }
            progress = self
                .changed
                .wait(progress)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
