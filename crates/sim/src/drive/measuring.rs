//! Several threads measure many workloads; the answers come in order.
//!
//! ```text
//! work     0 1 2 3 4 5 6 7 8 9 ...
//!          \_____/ ^     ^ ^
//!          given   next  being measured, at most AHEAD beyond the next
//! ```
//!
//! No thread waits for another as long as the caller takes the answers. A slow workload delays the
//! answers behind it, but not the measurements.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use drivelab_workload::Stream;

use super::{Bench, States};
use crate::host::{Outcome, Plan, Settling, SimError};

/// How many measurements may be finished before the next one in order.
const AHEAD: usize = 128;

/// A list of workloads being measured. Dropping it stops the threads.
pub struct Measuring {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    states: Arc<States>,
    work: Vec<Work>,
    seed: u64,
    /// There may be twice as many threads as measurements, so each has two.
    has_second_cores: bool,
    stop: Arc<AtomicBool>,
    progress: Mutex<Progress>,
    /// Signals that the progress changed.
    changed: Condvar,
}

/// One measurement to make.
#[derive(Clone, Debug)]
pub struct Work {
    /// Together with the seed, the key of its random numbers.
    pub index: u64,
    /// The streams, all sent at the same time.
    pub streams: Vec<Stream>,
    /// When the measurement ends.
    pub plan: Plan,
    /// The kind of writing to which the drive has settled beforehand. `None` means the state that
    /// the preset describes.
    pub settling: Option<Settling>,
}

#[derive(Default)]
struct Progress {
    /// How many places of `work` threads have taken.
    taken: usize,
    /// How many places the caller has been given.
    given: usize,
    done: BTreeMap<usize, thread::Result<Result<Outcome, SimError>>>,
}

impl Measuring {
    /// Starts to measure all `work` on at most `workers` threads, two for each measurement if there
    /// are twice as many. Each workload begins in its own
    /// start state.
    #[must_use]
    pub fn start(states: &Arc<States>, work: Vec<Work>, seed: u64, workers: usize) -> Self {
        let threads = workers.clamp(1, work.len().max(1));
        let shared = Arc::new(Shared {
            has_second_cores: workers / 2 >= threads,
            states: Arc::clone(states),
            work,
            seed,
            stop: Arc::default(),
            progress: Mutex::default(),
            changed: Condvar::new(),
        });
        let threads = match Self::threads(&shared, threads) {
            Ok(threads) => threads,
            Err(error) => {
                shared.progress().done.insert(0, Ok(Err(error)));
                Vec::new()
            }
        };
        Self { shared, threads }
    }

    /// Starts up to `workers` threads, as many as memory has room for, but at least one.
    fn threads(shared: &Arc<Shared>, workers: usize) -> Result<Vec<JoinHandle<()>>, SimError> {
        let fits = |&count: &usize| shared.states.check_workers(count).is_ok();
        let workers = (2..=workers).rev().find(fits);
        if workers.is_none() {
            shared.states.check_workers(1)?;
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
                // The threads already started do the work.
                Err(_) => break,
            }
        }
        Ok(threads)
    }

    /// Whether the caller has received every result.
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

    /// Ends every thread and abandons the measurements in progress.
    pub fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Notify under the lock; a thread that is about to wait would otherwise miss it.
        let progress = self.shared.progress();
        self.shared.changed.notify_all();
        drop(progress);
        for thread in self.threads.drain(..) {
            // Panics are caught inside the thread.
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

    /// The loop of one thread: takes the next place until none is left.
    fn labour(&self) {
        let (states, stop) = (Arc::clone(&self.states), Arc::clone(&self.stop));
        let mut bench = Bench::new(states, self.seed, stop).with_second_core(self.has_second_cores);
        while let Some(place) = self.take() {
            // Without a result for this place, whoever waits for it would wait for ever.
            let result = catch_unwind(AssertUnwindSafe(|| bench.measure(&self.work[place])));
            let panicked = result.is_err();
            self.progress().done.insert(place, result);
            self.changed.notify_all();
            if panicked {
                // After a panic the state of the drive cannot be trusted.
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
