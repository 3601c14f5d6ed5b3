//! The flash room: everything below the firmware, and what it did.
//!
//! ```text
//!   enter, enter_all ─> dispatch ─> units, channels ─> has_ended, end ─> whoever waited
//! ```
//!
//! The room is given operations and says which are complete. It knows neither commands nor
//! the firmware: whom an operation is for is an [`Account`], handed back as it came, and what
//! decides about its place among others comes with it ([`Whose`]). The ways of operations are
//! in [`operation`]; what not every drive has is in files of its own, behind one question each.

mod ageing;
mod channel;
mod dependents;
mod emission;
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

use drivelab_ftl::{Divisor, OperationKind};

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

pub use queue::{Account, Beneficiary, STRETCHES, Task};
pub use recorded::{Recorded, RecordedOperation};
pub use tally::Tally;
pub use timing::Timing;

/// Operations queued at once: some 200 MB, far above what a controller queues.
pub const MAX_QUEUED: u32 = 1 << 22;

/// For which of its operations a request waits.
#[derive(Clone, Copy, Debug)]
pub enum Waits {
    /// A read.
    All,
    /// A write: not for the collection that it made necessary.
    Host,
    /// A page of the write buffer.
    Programs,
}

/// Whose an operation is, as far as that decides about its place and its record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whose {
    /// The stream whose request waits for it.
    pub stream: Option<u16>,
    /// A read of the host's waits for it, of a stream of this priority.
    pub reader: Option<u8>,
}

impl Whose {
    /// No request waits.
    pub const NOBODYS: Self = Self {
        stream: None,
        reader: None,
    };
}

/// An operation that is complete.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub task: Task,
    /// When it would have begun without pauses, or without waiting within its die.
    began: u64,
    /// Its time in the cell array, if that is not the time of its page.
    cell: Option<u64>,
    /// How long its unit had collected before it.
    collected: u64,
}

/// What the other rooms are like, as far as it decides what the flash may leave out.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// The firmware is told when an operation is complete.
    pub is_heeded: bool,
    /// Operations wait for others on other units.
    pub waits_in_turn: bool,
    /// Something is done in idle time.
    pub has_idle_work: bool,
    /// Cores work on what the flash has done.
    pub has_cores: bool,
}

/// What the flash did while the measurement window was open.
pub struct Work {
    pub tally: Tally,
    /// Busy times of units and channels.
    pub units: Vec<u64>,
    pub channels: Vec<u64>,
    /// Reads that were repeated; none where wear changes no time.
    pub retries: Option<u64>,
}

/// The controller's dispatch stage.
#[derive(Clone, Debug)]
struct Dispatch {
    in_order: bool,
    free_at: u64,
    /// In order: what waits to be handed over.
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
    /// Where the tasks of all queues are.
    pool: Pool,
    places: Places,
    tally: Tally,
    /// Operations are dispatched to their units' own queues, keep their order there, take
    /// the channel and are not recorded, nor are pages worn or the firmware told of their end:
    /// nothing else is asked about them then.
    is_plain: bool,
    /// Moves are tasks ([`moves`]).
    moves: bool,
    /// Where operations may overtake each other: the queues instead of the units' own.
    overtaking: Option<Box<Overtaking>>,
    /// Where operations wait for others: those that do.
    dependents: Option<Box<Dependents>>,
    /// Reads of the map that operations wait for go before everything else.
    map_reads_first: bool,
    /// Moves within a plane stay in its page register.
    has_copyback: bool,
    /// Where dies take more than one operation at a time: what is in them. No unit's own
    /// `end` ever comes then.
    pipelines: Option<Box<Pipelines>>,
    /// What is complete, where that may be several at once.
    over: Vec<Ended>,
    /// Reads that were repeated since the window opened.
    retries: u64,
    /// Busy times of units and channels when the window opened.
    at_opening: (Vec<u64>, Vec<u64>),
    recording: Option<Recording>,
}

impl Flash {
    /// Idle flash, of which nothing is asked before [`Flash::begin`].
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

    /// A run begins, with these times, on blocks that were erased so often; what was to be
    /// recorded of it is.
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
        self.is_plain = self.may_be_plain() && self.times.ageing.is_none() && !around.is_heeded;
        self.moves = self.may_move(around);
    }

    /// Whether [`Flash::is_plain`] may be.
    fn may_be_plain(&self) -> bool {
        !self.dispatch.in_order
            && self.overtaking.is_none()
            && self.pipelines.is_none()
            && self.recording.is_none()
    }

    /// Whether [`Flash::enter`] takes operations; otherwise [`Flash::enter_otherwise`] does.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether it matters whose an operation is.
    pub fn asks_whose(&self) -> bool {
        self.overtaking.is_some() || self.recording.is_some()
    }

    /// Whether more waits than may.
    #[inline(always)]
    pub fn is_overfull(&self) -> bool {
        self.pool.waiting > MAX_QUEUED
    }

    /// The unit that works on the pages of a plane.
    #[inline(always)]
    pub fn unit_of(&self, plane: u32) -> u32 {
        // Planes are numbered chip first, then die, so the die is the plane's number modulo the
        // dies, and the chip modulo the chips; in plane mode there are as many units as planes.
        self.places.by_units.remainder(plane)
    }

    /// Of how many units each works alone.
    pub fn unit_count(&self) -> u32 {
        self.places.units
    }

    /// Whether nothing is in the hands of the unit of a plane.
    pub fn is_free(&self, plane: u32) -> bool {
        let units = self.places.units;
        let unit = if plane < units { plane } else { plane % units };
        self.units[unit as usize].phase == Phase::Idle
    }

    /// Whether anything is on its way.
    pub fn is_at_work(&self) -> bool {
        let mut units = self.units.iter();
        !self.dispatch.line.is_empty() || units.any(|unit| unit.phase != Phase::Idle)
    }

    /// The window opens at `at`, when everything up to `served` has happened; answers how many
    /// pages were programmed before. Work in progress counts from here.
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

    /// It closes at `at`, when everything up to `served` has happened.
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

    /// Records the operations of the next run that are under way in `span`.
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

    /// What write buffer and read cache ask for from here on is recorded for `stream`.
    pub fn record_for(&mut self, stream: Option<u16>) {
        if let Some(recording) = &mut self.recording {
            recording.stream = stream;
        }
    }

    /// Promises what was asked of the channels before `now`. What asks at `now` has not
    /// had any of its time, and others may still come before it.
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
