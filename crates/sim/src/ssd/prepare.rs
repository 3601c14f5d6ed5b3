//! A drive brought into its preset's condition, and measured from there.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use drivelab_ftl::{Firmware, FlashLayout, Lpn, OperationBuffer, Pace, PageMap, PageRun, Undo};
use drivelab_request::{Direction, Nanos, Request};
use drivelab_workload::{Characteristics, Generator};

use super::engine::Engine;
use super::load::Load;
use super::outcome::{Outcome, RecordedOperation};
use super::timing::Timing;
use super::{Plan, SimError, variability};
use crate::preset::{self, Condition, SsdConfig};

/// Bytes of one preconditioning write.
const PRECONDITIONING_BYTES: u64 = 128 << 10;

/// A drive's state in its preset's condition, shared by every worker.
pub struct Prepared {
    config: Arc<SsdConfig>,
    firmware: Arc<PageMap<Undo>>,
    stop: Arc<AtomicBool>,
    /// Workers between two batches, each returned to the prepared state:
    /// copying that state anew would cost the drive's size for every batch.
    resting: Mutex<Vec<Ssd>>,
}

impl Prepared {
    /// Brings a drive into its condition, without simulating time: `fresh`
    /// holds nothing, `filled` was written once in order, `preconditioned` was
    /// written in order with 128 KiB requests, twice the capacity.
    ///
    /// # Errors
    /// [`SimError`] when the geometry leaves no space to work in.
    pub fn new(config: SsdConfig) -> Result<Self, SimError> {
        Self::stoppable(config, Arc::default())
    }

    /// As [`Prepared::new`]; preparation and runs fail with
    /// [`SimError::Stopped`] soon after another thread has set `stop`.
    ///
    /// # Errors
    /// As [`Prepared::new`], and [`SimError::Stopped`].
    pub fn stoppable(config: SsdConfig, stop: Arc<AtomicBool>) -> Result<Self, SimError> {
        Engine::<PageMap<Undo>>::check(&config)?;
        let pace = match config.collection.pace {
            preset::Pace::Paced => Pace::Paced,
            preset::Pace::WholeBlock => Pace::WholeBlock,
        };
        let mut firmware = PageMap::erased(layout_of(&config), pace)?;
        let passes = match config.condition {
            Condition::Fresh => 0,
            Condition::Filled => 1,
            Condition::Preconditioned => 2,
        };
        for _ in 0..passes {
            write_in_order(&mut firmware, config.geometry.page_size_bytes, &stop)?;
        }
        firmware.checkpoint();
        Ok(Self {
            config: Arc::new(config),
            firmware: Arc::new(firmware),
            stop,
            resting: Mutex::new(Vec::new()),
        })
    }

    /// Bytes that the state of such a drive takes: once for the prepared state,
    /// and up to one and a half times for every worker.
    #[must_use]
    pub fn state_bytes(config: &SsdConfig) -> u64 {
        PageMap::<Undo>::table_bytes(&layout_of(config))
    }

    /// The resolved preset.
    #[must_use]
    pub fn config(&self) -> &SsdConfig {
        &self.config
    }

    /// A worker with a state of its own.
    #[must_use]
    pub fn worker(&self) -> Ssd {
        Ssd {
            engine: Engine::new(
                &self.config,
                PageMap::clone(&self.firmware),
                Arc::clone(&self.stop),
            ),
            config: Arc::clone(&self.config),
            prepared: Arc::clone(&self.firmware),
        }
    }

    /// A worker that rests, or a new one.
    fn rested_worker(&self) -> Ssd {
        let resting = self
            .resting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        resting.unwrap_or_else(|| self.worker())
    }

    /// Keeps a worker that has returned to the prepared state.
    fn rest(&self, worker: Ssd) {
        self.resting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(worker);
    }

    /// The flash operations of one request of `bytes` at the start of the idle
    /// drive, in the order in which the firmware emitted them.
    ///
    /// # Errors
    /// [`SimError`] when the request cannot be served.
    pub fn record_one(
        &self,
        direction: Direction,
        bytes: u32,
    ) -> Result<Vec<RecordedOperation>, SimError> {
        let request = Request {
            arrival: Nanos::ZERO,
            offset_bytes: 0,
            size_bytes: bytes,
            direction,
        };
        let mut drive = self.worker();
        drive.engine.record();
        let load = Load::Open {
            requests: vec![request],
        };
        drive.run(
            load,
            Plan {
                requests: 1,
                ..Plan::default()
            },
            0,
            0,
        )?;
        Ok(drive.engine.recorded())
    }

    /// Measures every `(index, characteristics)` of `work`, each from the
    /// prepared state, on `workers` threads; the results are in the order of
    /// `work` and do not depend on the number of threads.
    ///
    /// # Errors
    /// The error of the first item of `work` that failed.
    pub fn measure(
        &self,
        work: &[(u64, Characteristics)],
        seed: u64,
        plan: Plan,
        workers: usize,
    ) -> Result<Vec<Outcome>, SimError> {
        let next = AtomicUsize::new(0);
        let workers = workers.clamp(1, work.len().max(1));
        let labour = || -> Vec<(usize, Result<Outcome, SimError>)> {
            let mut done = Vec::new();
            let mut drive = self.rested_worker();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some((index, workload)) = work.get(place) else {
                    self.rest(drive);
                    return done;
                };
                done.push((place, drive.measure(workload, seed, *index, plan)));
            }
        };
        let mut results = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..workers).map(|_| scope.spawn(labour)).collect();
            let mut results = labour();
            for thread in threads {
                match thread.join() {
                    Ok(more) => results.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            results
        });
        results.sort_by_key(|(place, _)| *place);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

fn layout_of(config: &SsdConfig) -> FlashLayout {
    FlashLayout {
        planes: config.planes(),
        blocks_per_plane: config.geometry.blocks_per_plane,
        pages_per_block: config.geometry.pages_per_block,
        logical_pages: config.logical_pages(),
        reserve_blocks: config.collection.reserve_blocks_per_plane,
    }
}

/// One pass of sequential writes over the whole drive.
fn write_in_order(
    firmware: &mut PageMap<Undo>,
    page_bytes: u32,
    stop: &AtomicBool,
) -> Result<(), SimError> {
    let pages_per_write = (PRECONDITIONING_BYTES / u64::from(page_bytes)).max(1) as u32;
    let logical_pages = firmware.layout().logical_pages;
    let mut out = OperationBuffer::with_capacity(1024);
    let mut first = 0;
    while first < logical_pages {
        if stop.load(Ordering::Relaxed) {
            return Err(SimError::Stopped);
        }
        let pages = pages_per_write.min(logical_pages - first);
        out.clear();
        let run = PageRun {
            direction: Direction::Write,
            first: Lpn(first),
            pages,
            first_partial: false,
            last_partial: false,
        };
        firmware.submit(&[run], &mut out)?;
        first += pages;
    }
    Ok(())
}

/// A simulated SSD: one worker's drive.
pub struct Ssd {
    engine: Engine<PageMap<Undo>>,
    config: Arc<SsdConfig>,
    prepared: Arc<PageMap<Undo>>,
}

impl Ssd {
    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.engine.capacity_bytes
    }

    /// The firmware's state, for checks.
    #[must_use]
    pub fn firmware(&self) -> &PageMap<Undo> {
        &self.engine.firmware
    }

    /// Measures one workload over the whole drive, from the prepared state,
    /// and returns to that state. Random numbers are keyed by `seed` and `index`.
    ///
    /// # Errors
    /// [`SimError`] when the workload cannot be served.
    pub fn measure(
        &mut self,
        workload: &Characteristics,
        seed: u64,
        index: u64,
        plan: Plan,
    ) -> Result<Outcome, SimError> {
        let capacity = self.capacity_bytes();
        let range = plan.range_bytes.unwrap_or(capacity);
        if range > capacity {
            return Err(SimError::Workload(format!(
                "the range has {range} bytes; allowed: at most the drive's {capacity}"
            )));
        }
        let generator = Generator::new(workload, 0, range, seed, index)
            .map_err(|error| SimError::Workload(error.to_string()))?;
        let load = Load::Closed {
            generator,
            queue_depth: workload.queue_depth,
        };
        let outcome = self.run(load, plan, seed, index);
        self.reset();
        outcome.and_then(|outcome| match outcome.window {
            Nanos::ZERO => Err(SimError::NoTime),
            _ => Ok(outcome),
        })
    }

    /// Runs any load and keeps the state it leaves, unless it fails.
    ///
    /// # Errors
    /// [`SimError`] when a request cannot be served; the drive has then
    /// returned to its prepared state.
    pub fn run(
        &mut self,
        load: Load,
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        check(&load, plan)?;
        let factor = variability::factor(self.config.variability.sigma, seed, index);
        let timing = Timing::new(&self.config, factor);
        let result = self.engine.run(load, plan, timing);
        match result {
            Ok(mut outcome) => {
                outcome.variability_factor = factor;
                Ok(outcome)
            }
            Err(error) => {
                self.reset();
                Err(error)
            }
        }
    }

    /// Returns to the prepared state.
    pub fn reset(&mut self) {
        self.engine.firmware.rollback(&self.prepared);
    }
}

/// Whether a run can be made of `load` and `plan`.
fn check(load: &Load, plan: Plan) -> Result<(), SimError> {
    let (warmup_requests, requests) = (plan.warmup_requests, plan.requests);
    let total = warmup_requests
        .checked_add(requests)
        .ok_or(SimError::TooMany {
            warmup_requests,
            requests,
        })?;
    let is_empty = match load {
        Load::Closed { queue_depth, .. } => *queue_depth == 0,
        Load::Open { requests } if !requests.is_sorted_by_key(|r| r.arrival) => {
            return Err(SimError::Unordered);
        }
        Load::Open { requests } => (requests.len() as u64) < total,
    };
    if is_empty || requests == 0 {
        return Err(SimError::Empty);
    }
    Ok(())
}
