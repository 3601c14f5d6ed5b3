//! Brings a drive into its preset's condition, and measures from there.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drivelab_ftl::{
    AnyMap, BlockMap, CachedMap, CompressedMap, Firmware, PageMap, ReclaimMap, Restorable, SlcMap,
    Undo, ZoneMap,
};
use drivelab_request::{Direction, Nanos, Request};
use drivelab_workload::Stream;

use super::engine::run;
use super::{Plan, SimError, SnapshotError, Watch, snapshot};
use crate::host::load::Running;
use crate::host::outcome::Outcome;
use crate::host::{Device, HostTime, Settling};
use crate::preset::SsdConfig;
use crate::ssd::engine::Engine;
use crate::ssd::fill::{fill, filled_in_order, passes};
use crate::ssd::firmware::cores::RecordedWork;
use crate::ssd::flash::{Recorded, RecordedOperation};
use crate::ssd::settle::{is_settled, overwrite_until_steady, settle};

/// If the reverse map has more bytes than this, prepared states are kept without it. The state that
/// workers return to then takes half the memory, and returning takes twice the time.
const LARGE_REVERSE_MAP_BYTES: u64 = 256 << 20;

/// The state of a drive in its preset's condition, shared by all workers and clones.
#[derive(Clone)]
pub struct Prepared(Arc<Shared>);

struct Shared {
    config: Arc<SsdConfig>,
    state: State,
}

/// A prepared state. The page map has a type of its own, so the event loop needs no dispatch for
/// it. For the others, each call is dispatched.
enum State {
    Page(Arc<PageMap<Undo>>),
    Other(Arc<AnyMap<Undo>>),
}

/// `firmware`, which is fresh, brought into the condition of `config`.
fn conditioned<F: Restorable>(
    mut firmware: F,
    config: &SsdConfig,
    stop: &AtomicBool,
) -> Result<Arc<F>, SimError> {
    for _ in 0..passes(config) {
        fill(&mut firmware, config, stop)?;
    }
    finished(firmware, config, stop)
}

/// A page map in the condition of `config`.
fn page_map(config: &SsdConfig, stop: &AtomicBool) -> Result<Arc<PageMap<Undo>>, SimError> {
    let layout = config.layout();
    let is_steady = config.occupancy.is_some_and(|occupancy| occupancy.steady);
    let is_large = PageMap::<Undo>::reverse_map_bytes(&layout) > LARGE_REVERSE_MAP_BYTES;
    match filled_in_order(config, passes(config), is_steady || !is_large, stop) {
        Some(firmware) => finished(firmware, config, stop),
        None if stop.load(Ordering::Relaxed) => Err(SimError::Stopped),
        None => {
            let firmware = PageMap::erased(layout, config.policies())?;
            conditioned(firmware, config, stop)
        }
    }
}

/// `firmware`, which is filled, brought into the condition of `config`.
fn finished<F: Restorable>(
    mut firmware: F,
    config: &SsdConfig,
    stop: &AtomicBool,
) -> Result<Arc<F>, SimError> {
    let is_steady = config.occupancy.is_some_and(|occupancy| occupancy.steady);
    if passes(config) > 0 && is_steady {
        overwrite_until_steady(&mut firmware, config, stop)?;
    }
    if let Some(erases) = config.wear.worn_erase_count {
        firmware.set_worn(erases, config.wear.worn_erase_spread.unwrap_or(0));
    }
    firmware.rest();
    Ok(kept(firmware))
}

/// `firmware` as a state in which workers begin and to which they return.
fn kept<F: Restorable>(mut firmware: F) -> Arc<F> {
    firmware.checkpoint();
    Arc::new(firmware.without_derived(LARGE_REVERSE_MAP_BYTES))
}

impl Prepared {
    /// Brings a drive into its condition, without simulating time:
    ///
    /// - `fresh` holds nothing;
    /// - `filled` was written once in order;
    /// - `preconditioned` was written in order with 128 KiB requests, twice the capacity;
    /// - `worn` is preconditioned, with the erase counts that the preset gives.
    ///
    /// If the preset says which part of the drive is filled, only that part was written in this
    /// way.
    ///
    /// # Errors
    /// [`SimError`] if the geometry leaves no space to work in.
    pub fn new(config: SsdConfig) -> Result<Self, SimError> {
        Self::stoppable(config, &AtomicBool::new(false))
    }

    /// As [`Prepared::new`], but fails soon after another thread has set `stop`.
    ///
    /// # Errors
    /// As [`Prepared::new`], and [`SimError::Stopped`].
    pub fn stoppable(config: SsdConfig, stop: &AtomicBool) -> Result<Self, SimError> {
        Engine::<PageMap<Undo>>::check(&config)?;
        let layout = config.layout();
        let other = if let Some(policies) = config.block_policies() {
            Some(AnyMap::Block(BlockMap::erased(layout, policies)?))
        } else if let Some(policies) = config.cached_policies() {
            Some(AnyMap::Cached(CachedMap::erased(layout, policies)?))
        } else if let Some(policies) = config.slc_policies() {
            Some(AnyMap::Slc(SlcMap::erased(layout, policies)?))
        } else if let Some(policies) = config.compressed_policies() {
            Some(AnyMap::Compressed(CompressedMap::erased(layout, policies)?))
        } else if let Some(policies) = config.reclaim_policies() {
            Some(AnyMap::Reclaim(ReclaimMap::erased(layout, policies)?))
        } else if let Some(policies) = config.zone_policies() {
            Some(AnyMap::Zone(ZoneMap::erased(layout, policies)?))
        } else {
            None
        };
        let state = match other {
            Some(firmware) => State::Other(conditioned(firmware, &config, stop)?),
            None => State::Page(page_map(&config, stop)?),
        };
        Ok(Self(Arc::new(Shared {
            config: Arc::new(config),
            state,
        })))
    }

    /// A drive with another configuration in the same state as this one. `Some` only if the two
    /// differ in nothing but times, the host's side, buffers and descriptive texts.
    pub(crate) fn timed(&self, config: &SsdConfig) -> Option<Self> {
        let known = &*self.0.config;
        let same = SsdConfig {
            name: known.name.clone(),
            summary: known.summary.clone(),
            rated_endurance_bytes: known.rated_endurance_bytes,
            timing: known.timing.clone(),
            scheduling: known.scheduling.clone(),
            energy: known.energy.clone(),
            host: known.host.clone(),
            buffer: known.buffer.clone(),
            variability: known.variability,
            closed_form: known.closed_form.clone(),
            published: known.published.clone(),
            firmware: known.firmware,
            ..config.clone()
        };
        let state = match &self.0.state {
            State::Page(state) => State::Page(Arc::clone(state)),
            State::Other(state) => State::Other(Arc::clone(state)),
        };
        (same == *known).then(|| {
            Self(Arc::new(Shared {
                config: Arc::new(config.clone()),
                state,
            }))
        })
    }

    /// Whether both share one state in memory; they may differ in times.
    pub(crate) fn shares_state(&self, other: &Self) -> bool {
        match (&self.0.state, &other.0.state) {
            (State::Page(one), State::Page(other)) => Arc::ptr_eq(one, other),
            (State::Other(one), State::Other(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// This drive after enough writing of one kind that more would change nothing (`settle.rs`). It
    /// has had no idle time since.
    ///
    /// # Errors
    /// [`SimError`] if the firmware cannot continue, and soon after another thread has set `stop`.
    pub(crate) fn settled(&self, settling: Settling, stop: &AtomicBool) -> Result<Self, SimError> {
        let config = &self.0.config;
        // In zones nothing is ever moved, so earlier writes have no effect on later ones.
        if config.zones.is_some() || is_settled(config, settling) {
            return Ok(self.clone());
        }
        let state = match &self.0.state {
            State::Page(state) => {
                let mut firmware = state.complete();
                settle(&mut firmware, config, settling, stop)?;
                State::Page(kept(firmware))
            }
            State::Other(state) => {
                let mut firmware = state.complete();
                settle(&mut firmware, config, settling, stop)?;
                State::Other(kept(firmware))
            }
        };
        Ok(Self(Arc::new(Shared {
            config: Arc::clone(config),
            state,
        })))
    }

    /// Bytes that the state of such a drive takes in each worker. The prepared state takes as much,
    /// or about half if the drive is large.
    #[must_use]
    pub fn state_bytes(config: &SsdConfig) -> u64 {
        let layout = config.layout();
        if let Some(policies) = config.block_policies() {
            BlockMap::<Undo>::table_bytes(&layout, &policies)
        } else if let Some(policies) = config.cached_policies() {
            CachedMap::<Undo>::table_bytes(&layout, &policies)
        } else if let Some(policies) = config.slc_policies() {
            SlcMap::<Undo>::table_bytes(&layout, &policies)
        } else if let Some(policies) = config.compressed_policies() {
            CompressedMap::<Undo>::table_bytes(&layout, &policies)
        } else if let Some(policies) = config.reclaim_policies() {
            ReclaimMap::<Undo>::table_bytes(&layout, &policies)
        } else if let Some(policies) = config.zone_policies() {
            ZoneMap::<Undo>::table_bytes(&layout, &policies)
        } else {
            PageMap::<Undo>::table_bytes(&layout)
        }
    }

    /// The resolved preset.
    #[must_use]
    pub fn config(&self) -> &SsdConfig {
        &self.0.config
    }

    /// A worker with a state of its own.
    #[must_use]
    pub fn worker(&self) -> Ssd {
        let config = &self.0.config;
        Ssd {
            drive: match &self.0.state {
                State::Page(state) => Drive::Page(Worker::new(config, state)),
                State::Other(state) => Drive::Other(Worker::new(config, state)),
            },
            config: Arc::clone(config),
        }
    }

    /// A drive with a state of its own and without users.
    #[must_use]
    pub fn device(&self) -> Box<dyn Device + Send> {
        self.worker().into_device()
    }

    /// Like [`Prepared::device`], in the state that [`Ssd::save`] wrote.
    ///
    /// # Errors
    /// As [`Ssd::load`].
    pub fn device_from(&self, saved: &[u8]) -> Result<Box<dyn Device + Send>, SnapshotError> {
        let mut worker = self.worker();
        worker.load(saved)?;
        Ok(worker.into_device())
    }

    /// `count` drives, each with a state of its own.
    pub(crate) fn workers(&self, count: u32) -> Workers {
        let config = &self.0.config;
        match &self.0.state {
            State::Page(state) => {
                Workers::Page((0..count).map(|_| Worker::new(config, state)).collect())
            }
            State::Other(state) => {
                Workers::Other((0..count).map(|_| Worker::new(config, state)).collect())
            }
        }
    }

    /// A worker with a state of its own, whose runs end soon after `stop` is set.
    #[must_use]
    pub fn worker_stopped_by(&self, stop: &Arc<AtomicBool>) -> Ssd {
        let mut worker = self.worker();
        worker.stop_by(stop);
        worker
    }

    /// Makes `worker`, of a drive that shares this one's state, a worker of this one. Its runs end
    /// soon after `stop` is set.
    pub(crate) fn take_over(&self, worker: Ssd, stop: &Arc<AtomicBool>) -> Ssd {
        let mut worker = if Arc::ptr_eq(&worker.config, &self.0.config) {
            worker
        } else {
            worker.timed(&self.0.config)
        };
        worker.stop_by(stop);
        worker
    }

    /// The flash operations of one request of `bytes` at the start of the idle drive, in the order
    /// in which the firmware emitted them, and the work of cores.
    ///
    /// # Errors
    /// [`SimError`] if the request cannot be served.
    pub fn record_one(&self, direction: Direction, bytes: u32) -> Result<Recorded, SimError> {
        let request = Request {
            arrival: Nanos::ZERO,
            offset_bytes: 0,
            size_bytes: bytes,
            direction,
        };
        let mut drive = self.worker();
        let streams = [Stream::timed("one", [request])];
        let (_, operations) = drive.run_recorded(&streams, Plan::counting(0, 1), 0, 0..u64::MAX)?;
        Ok(Recorded {
            operations,
            work: drive.recorded_work(0),
        })
    }
}

/// The drive of one worker, with a firmware of a given type.
pub(crate) struct Worker<F> {
    pub(super) engine: Engine<F>,
    pub(super) config: Arc<SsdConfig>,
    pub(super) prepared: Arc<F>,
}

impl<F: Restorable> Worker<F> {
    fn new(config: &Arc<SsdConfig>, prepared: &Arc<F>) -> Box<Self> {
        Box::new(Self {
            config: Arc::clone(config),
            engine: Engine::new(config, prepared.complete()),
            prepared: Arc::clone(prepared),
        })
    }

    /// The same state in a drive with other times.
    fn timed(self, config: &Arc<SsdConfig>) -> Box<Self> {
        Box::new(Self {
            config: Arc::clone(config),
            engine: Engine::new(config, self.engine.firmware),
            prepared: self.prepared,
        })
    }

    fn run(
        &mut self,
        work: (Vec<Running>, Plan),
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        run::run(&mut self.engine, &self.config, work, seed, index).inspect_err(|_| self.reset())
    }

    pub fn reset(&mut self) {
        self.engine.firmware.rollback(&self.prepared);
    }
}

/// Equal drives.
pub(crate) enum Workers {
    Page(Vec<Box<Worker<PageMap<Undo>>>>),
    Other(Vec<Box<Worker<AnyMap<Undo>>>>),
}

pub(super) enum Drive {
    Page(Box<Worker<PageMap<Undo>>>),
    Other(Box<Worker<AnyMap<Undo>>>),
}

macro_rules! with {
    ($drive:expr, $worker:ident => $what:expr) => {
        match $drive {
            Drive::Page($worker) => $what,
            Drive::Other($worker) => $what,
        }
    };
}

/// A simulated SSD: the drive of one worker.
pub struct Ssd {
    pub(super) drive: Drive,
    pub(super) config: Arc<SsdConfig>,
}

impl Ssd {
    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        with!(&self.drive, worker => worker.engine.capacity_bytes)
    }

    /// A copy of the firmware in its current state, for checks.
    #[must_use]
    pub fn firmware(&self) -> Box<dyn Firmware> {
        with!(&self.drive, worker => Box::new(worker.engine.firmware.clone()))
    }

    /// This drive with other times, as in [`Prepared::timed`].
    fn timed(self, config: &Arc<SsdConfig>) -> Self {
        Self {
            drive: match self.drive {
                Drive::Page(worker) => Drive::Page(worker.timed(config)),
                Drive::Other(worker) => Drive::Other(worker.timed(config)),
            },
            config: Arc::clone(config),
        }
    }

    fn into_device(self) -> Box<dyn Device + Send> {
        match self.drive {
            Drive::Page(worker) => worker,
            Drive::Other(worker) => worker,
        }
    }

    fn stop_by(&mut self, stop: &Arc<AtomicBool>) {
        with!(&mut self.drive, worker => worker.engine.users.stop = Arc::clone(stop));
    }

    /// Says whether later runs may use a second core. Results are the same.
    pub fn set_second_core(&mut self, has_second_core: bool) {
        with!(&mut self.drive, worker => worker.engine.has_second_core = has_second_core);
    }

    /// Reports the progress of every later run to `watch`.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        with!(&mut self.drive, worker => worker.engine.users.watch = Some(Arc::clone(watch)));
    }

    /// Runs streams and keeps the resulting state, unless the run fails. `seed` and `index` are the
    /// key of the random numbers.
    ///
    /// # Errors
    /// [`SimError`] if a request cannot be served; the drive has then returned to its prepared
    /// state.
    pub fn run(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        let work = (
            with!(&self.drive, worker => {
                run::loops_of(&worker.engine, &self.config, (streams, plan), (seed, index))
            })?,
            plan,
        );
        with!(&mut self.drive, worker => worker.run(work, seed, index))
    }

    /// The hash of everything a state depends on. Variability between runs is not part of it.
    fn state_hash(&self) -> String {
        let config = SsdConfig::clone(&self.config);
        config.without_variability().hash()
    }

    /// The state of the firmware between two runs, as bytes for [`Ssd::load`]: a few for each page
    /// whose place differs from the prepared state.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let changes = with!(&self.drive, worker => worker.changes());
        snapshot::framed(&self.config.name, &self.state_hash(), &changes)
    }

    /// Restores the state that [`Ssd::save`] wrote on a drive of the same configuration. What
    /// follows is the same as if the earlier runs had been made here.
    ///
    /// # Errors
    /// [`SnapshotError`] if the bytes belong to another configuration or version, or are damaged;
    /// the drive has then returned to its prepared state.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.reset();
        let changes = snapshot::unframed(&self.config.name, &self.state_hash(), bytes)?;
        with!(&mut self.drive, worker => worker.take_up(changes))
    }

    /// Like [`Ssd::run`] with index 0. Also returns the flash operations in progress during `span`,
    /// in ns from the beginning, in order of emission.
    ///
    /// # Errors
    /// As [`Ssd::run`].
    pub fn run_recorded(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        seed: u64,
        span: Range<u64>,
    ) -> Result<(Outcome, Vec<RecordedOperation>), SimError> {
        let mut time = HostTime::new(&self.config.variability, seed, 0);
        let span = match &mut time {
            Some(time) if span.end < u64::MAX => time.drive_ns(span.start)..time.drive_ns(span.end),
            _ => span,
        };
        with!(&mut self.drive, worker => worker.engine.record(span));
        let outcome = self.run(streams, plan, seed, 0);
        let mut recorded = with!(&mut self.drive, worker => worker.engine.recorded());
        for operation in &mut recorded {
            if let Some(time) = &mut time {
                operation.convert(|at| time.host_ns(at));
            }
            operation.stream = operation.stream.and_then(|place| self.stream_of(place));
        }
        Ok((outcome?, recorded))
    }

    /// When the controller's cores worked in the span of the last recorded run with this seed, in
    /// the order in which they were asked. Empty if the firmware is free.
    pub fn recorded_work(&mut self, seed: u64) -> Vec<RecordedWork> {
        let mut work = with!(&mut self.drive, worker => worker.engine.recorded_work());
        if let Some(mut time) = HostTime::new(&self.config.variability, seed, 0) {
            let mut ends: Vec<_> = work.iter_mut().map(|piece| &mut piece.span).collect();
            // Times must be converted in increasing order.
            ends.sort_unstable_by_key(|span| span.0);
            for (start, end) in ends {
                (*start, *end) = (time.host_ns(*start), time.host_ns(*end));
            }
        }
        work
    }

    /// The stream that a loop of the last run belonged to.
    fn stream_of(&self, place: u16) -> Option<u16> {
        with!(&self.drive, worker => {
            worker.engine.users.streams.get(usize::from(place)).map(|each| each.owner)
        })
    }

    /// Returns to the prepared state.
    pub fn reset(&mut self) {
        with!(&mut self.drive, worker => worker.reset());
    }
}
