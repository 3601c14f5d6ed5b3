//! The flash: everything below the firmware, and what it did.
//!
//! ```text
//!   enter, enter_all ─> dispatch ─> units, channels ─> has_ended, end ─> whoever waited
//! ```
//!
//! The flash receives operations and says which are complete. It knows neither commands nor the
//! firmware. An [`Account`] says whom an operation is for and is handed back unchanged. [`Whose`]
//! says what decides about its place among others. [`operation`] has the path of operations.
//! Features that not every drive has are in files of their own, each behind one check.

mod ageing;
mod channel;
mod dependents;
mod emission;
mod lookahead;
mod moves;
mod operation;
mod overtaking;
mod pipeline;
mod queue;
mod recorded;
mod recording;
mod registers;
mod tally;
mod timing;
mod turns;
mod unit;

use std::ops::Range;

use drivelab_ftl::{Cause, Divisor, Operation, OperationKind};

use crate::event::{EventKey, MAX_LEAVES};
use crate::preset::{Dispatch as DispatchKind, SsdConfig};
use crate::ssd::timeline::Timeline;
use channel::Channel;
use dependents::Dependents;
use overtaking::Overtaking;
use pipeline::Pipelines;
use queue::{Pool, Queue};
use recording::Recording;
use unit::{Phase, Unit};

pub use lookahead::{Lookahead, Reading};
pub use queue::{Account, Beneficiary, STRETCHES, Task};
pub use recorded::{Recorded, RecordedOperation};
pub use tally::Tally;
pub use timing::Timing;

/// Most operations queued at once: some 200 MB, far above what a controller queues.
pub const MAX_QUEUED: u32 = 1 << 22;

/// Which of its operations a request waits for.
#[derive(Clone, Copy, Debug)]
pub enum Waits {
    /// A read.
    All,
    /// A write. It does not wait for the collection that it made necessary.
    Host,
    /// A page of the write buffer.
    Programs,
}

impl Waits {
    /// Whether a request waits for this operation.
    #[inline(always)]
    pub fn is_for(self, operation: &Operation) -> bool {
        match self {
            Self::All => true,
            Self::Host => operation.cause == Cause::Host,
            Self::Programs => {
                operation.cause == Cause::Host && operation.kind == OperationKind::Program
            }
        }
    }

    /// Whether it waits for any of them.
    pub fn any_of(self, operations: &[Operation]) -> bool {
        operations.iter().any(|operation| self.is_for(operation))
    }
}

/// Who an operation is for, as far as its place and its record depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whose {
    /// The stream whose request waits for it.
    pub stream: Option<u16>,
    /// If a host read waits for it: the priority of that read's stream.
    pub reader: Option<u8>,
}

impl Whose {
    /// No request waits.
    pub const NOBODYS: Self = Self {
        stream: None,
        reader: None,
    };
}

/// A completed operation.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub task: Task,
    /// When it would have begun without pauses, or without waiting within its die.
    began: u64,
    /// Its cell-array time, if that differs from the time of its page.
    cell: Option<u64>,
    /// How long its unit had collected before it.
    collected: u64,
}

/// Facts about the rest of the drive that decide what the flash may leave out.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// The firmware is informed when an operation completes.
    pub is_heeded: bool,
    /// Operations wait for operations on other units.
    pub waits_in_turn: bool,
    /// There is work in idle time.
    pub has_idle_work: bool,
    /// Cores work on what the flash has done.
    pub has_cores: bool,
    /// Somebody looks at each operation that is complete.
    pub is_attributed: bool,
}

/// What the flash did while the measurement window was open.
pub struct Work {
    pub tally: Tally,
    /// Busy times of units and channels.
    pub units: Vec<u64>,
    pub channels: Vec<u64>,
    /// Repeated reads; `None` if wear changes no time.
    pub retries: Option<u64>,
}

/// The controller's dispatch stage.
#[derive(Clone, Debug)]
struct Dispatch {
    in_order: bool,
    free_at: u64,
    /// For in-order dispatch: the operations waiting to be handed over.
    line: Queue,
}

impl Dispatch {
    fn idle(in_order: bool) -> Self {
        Self {
            in_order,
            free_at: 0,
            line: Queue::default(),
        }
    }
}

/// Where pages lie.
#[derive(Clone, Copy, Debug)]
struct Places {
    by_plane_pages: Divisor,
    by_units: Divisor,
    units: u32,
    ways: u32,
    dies_per_way: u32,
}

/// Everything below the firmware.
pub struct Flash {
    times: Timing,
    units: Vec<Unit>,
    channels: Vec<Channel>,
    dispatch: Dispatch,
    /// The tasks of all queues.
    pool: Pool,
    places: Places,
    tally: Tally,
    /// The simple case: operations go to their units' own queues, keep their order there, use the
    /// channel and are not recorded. Pages do not wear, and the firmware is not informed when
    /// operations end. Nothing else is checked then.
    is_plain: bool,
    /// Moves are single tasks ([`moves`]).
    moves: bool,
    /// If operations may overtake one another: the queues used instead of the units' own.
    overtaking: Option<Box<Overtaking>>,
    /// If operations wait for others: the waiting ones.
    dependents: Option<Box<Dependents>>,
    /// Map reads that operations wait for go before everything else.
    map_reads_first: bool,
    /// Moves within a plane stay in its page register.
    has_copyback: bool,
    /// If dies take more than one operation at a time: what is in them. The units' own `end` never
    /// comes then.
    pipelines: Option<Box<Pipelines>>,
    /// Completed operations, if there may be several at once.
    over: Vec<Ended>,
    /// Repeated reads since the window opened.
    retries: u64,
    /// Busy times of units and channels when the window opened.
    at_opening: (Vec<u64>, Vec<u64>),
    recording: Option<Recording>,
}

impl Flash {
    /// Idle flash. Call [`Flash::begin`] before anything else.
    pub fn new(config: &SsdConfig) -> Self {
        let geometry = &config.geometry;
        let (units, channels) = (config.units(), geometry.channels);
        let pipelines = Pipelines::new(config);
        Self {
            times: Timing::new(config, 1.0),
            units: Unit::all_idle(units, channels, pipelines.is_some()),
            channels: vec![Channel::idle(); channels as usize],
            dispatch: Dispatch::idle(config.scheduling.dispatch == DispatchKind::InOrder),
            pool: Pool::default(),
            places: Places {
                by_plane_pages: Divisor::new(geometry.blocks_per_plane * geometry.pages_per_block),
                by_units: Divisor::new(units),
                units,
                ways: geometry.ways_per_channel,
                dies_per_way: geometry.dies_per_way,
            },
            tally: Tally::default(),
            is_plain: false,
            moves: false,
            overtaking: Overtaking::new(config, pipelines.is_some()),
            dependents: None,
            map_reads_first: config.scheduling.map_reads_first,
            has_copyback: config.scheduling.copyback,
            pipelines,
            over: Vec::new(),
            retries: 0,
            at_opening: (vec![0; units as usize], vec![0; channels as usize]),
            recording: None,
        }
    }

    /// Begins a run with these times, on blocks with these erase counts. Recording, if requested,
    /// starts here.
    pub fn begin(
        &mut self,
        times: Timing,
        erases: impl Iterator<Item = u32>,
        around: Surroundings,
    ) {
        self.times = times;
        if let Some(ageing) = &mut self.times.ageing {
            ageing.begin(erases);
        }
        let (units, channels) = (self.places.units, self.channels.len());
        if let Some(pipelines) = &mut self.pipelines {
            pipelines.reset();
        }
        if let Some(overtaking) = &mut self.overtaking {
            overtaking.reset();
        }
        self.units = Unit::all_idle(units, channels as u32, self.pipelines.is_some());
        self.channels = vec![Channel::idle(); channels];
        self.dispatch = Dispatch::idle(self.dispatch.in_order);
        self.pool = Pool::default();
        self.dependents = around.waits_in_turn.then(|| Dependents::new(units));
        self.at_opening = (vec![0; units as usize], vec![0; channels]);
        self.tally = Tally::default();
        self.retries = 0;
        self.over.clear();
        self.is_plain = self.may_be_plain()
            && self.times.ageing.is_none()
            && !around.is_heeded
            && !around.is_attributed;
        self.moves = self.may_move(around);
    }

    /// Whether [`Flash::is_plain`] may be set.
    fn may_be_plain(&self) -> bool {
        !self.dispatch.in_order
            && self.overtaking.is_none()
            && self.pipelines.is_none()
            && self.recording.is_none()
    }

    /// Whether operations enter by [`Flash::enter`]. Otherwise they enter by
    /// [`Flash::enter_otherwise`].
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether it matters who an operation is for.
    pub fn asks_whose(&self) -> bool {
        self.overtaking.is_some() || self.recording.is_some()
    }

    /// Whether more operations wait than allowed.
    #[inline(always)]
    pub fn is_overfull(&self) -> bool {
        self.pool.waiting > MAX_QUEUED
    }

    /// The unit that works on the pages of a plane.
    #[inline(always)]
    pub fn unit_of(&self, plane: u32) -> u32 {
        // Planes are numbered chip first, then die. So the die is the plane number modulo the
        // number of dies, and the chip modulo the number of chips. In plane mode there are as many
        // units as planes.
        self.places.by_units.remainder(plane)
    }

    /// The number of units that work independently.
    pub fn unit_count(&self) -> u32 {
        self.places.units
    }

    /// Whether the unit of a plane is idle.
    pub fn is_free(&self, plane: u32) -> bool {
        let units = self.places.units;
        let unit = if plane < units { plane } else { plane % units };
        self.units[unit as usize].phase == Phase::Idle
    }

    /// Whether any operation is in progress.
    pub fn is_at_work(&self) -> bool {
        let mut units = self.units.iter();
        !self.dispatch.line.is_empty() || units.any(|unit| unit.phase != Phase::Idle)
    }

    /// Opens the window at `at`. Everything up to `served` has happened. Returns how many pages
    /// were programmed before. Work in progress counts from here on.
    pub fn open_window(&mut self, at: u64, served: EventKey, timeline: &mut Timeline) -> u64 {
        self.settle_channels(at, timeline);
        self.count_copybacks_until(served);
        let mut early = Tally::default();
        for cause in self.counted_early(served) {
            early.operations[OperationKind::Read as usize][cause as usize] += 1;
        }
        let before = self.tally.programs();
        self.tally = early;
        self.retries = 0;
        self.at_opening = self.busy_until(at);
        before
    }

    /// Closes the window at `at`. Everything up to `served` has happened.
    pub fn close_window(&mut self, at: u64, served: EventKey, timeline: &mut Timeline) -> Work {
        self.settle_channels(at, timeline);
        self.count_copybacks_until(served);
        let mut tally = self.tally;
        for cause in self.counted_early(served) {
            tally.operations[OperationKind::Read as usize][cause as usize] -= 1;
        }
        let since = |now: Vec<u64>, then: &[u64]| {
            let pairs = now.into_iter().zip(then);
            pairs.map(|(now, then)| now - then).collect()
        };
        let (units, channels) = self.busy_until(at);
        let (units_then, channels_then) = &self.at_opening;
        Work {
            tally,
            units: since(units, units_then),
            channels: since(channels, channels_then),
            retries: self.times.ageing.as_ref().map(|_| self.retries),
        }
    }

    /// Pages programmed since the window opened, or since the run began.
    pub fn programs(&self) -> u64 {
        self.tally.programs()
    }

    fn busy_until(&self, now: u64) -> (Vec<u64>, Vec<u64>) {
        let units = self.units.iter().map(|unit| unit.busy_until(now));
        let channels = self.channels.iter().map(|c| c.busy_until(now));
        (units.collect(), channels.collect())
    }

    /// Records the operations of the next run that are in progress during `span`.
    pub fn record(&mut self, span: Range<u64>) {
        self.recording = Some(Recording::of(span));
    }

    /// The operations recorded since [`Flash::record`], in order of emission.
    pub fn recorded(&mut self) -> Vec<RecordedOperation> {
        let recording = self.recording.take();
        recording
            .map(Recording::into_operations)
            .unwrap_or_default()
    }

    /// Whether operations are recorded.
    #[inline(always)]
    pub fn is_recorded(&self) -> bool {
        self.recording.is_some()
    }

    /// Sets the stream for which operations of write buffer and read cache are recorded from here
    /// on.
    pub fn record_for(&mut self, stream: Option<u16>) {
        if let Some(recording) = &mut self.recording {
            recording.stream = stream;
        }
    }

    /// Promises the channel to requests from before `now`. Requests at `now` have had none of its
    /// time, and others may still come before them.
    fn settle_channels(&mut self, now: u64, timeline: &mut Timeline) {
        let Some(before) = now.checked_sub(1) else {
            return;
        };
        let latest = EventKey::new(before, MAX_LEAVES - 1);
        for channel in 0..self.channels.len() {
            self.settle(channel as u16, latest, timeline);
        }
    }
}
