//! The event loop of a simulated SSD, and what it counts.

mod ask;
mod device;
pub mod idle;
mod reads;
pub mod requests;
pub mod run;
mod window;
mod writes;

use std::ops::Range;

use drivelab_ftl::{
    Cause, Counts, Divisor, Firmware, Operation, OperationBuffer, OperationKind, OwnCounts,
};

use crate::event::{EventKey, EventTree, MAX_LEAVES, SIDE_LEAVES};
use crate::host::FlashCounters;
use crate::host::load::Running;
use crate::host::outcome::Outcome;
use crate::host::users::{Edge, Users};
use crate::preset::{Dispatch, SsdConfig};
use crate::ssd::account::split::{FLASH_PARTS, FLASH_PARTS_WITH_FIRMWARE};
use crate::ssd::buffer::read_cache::ReadCache;
use crate::ssd::buffer::{BufferSettings, WriteBuffer};
use crate::ssd::engine::idle::Background;
use crate::ssd::engine::requests::Host;
use crate::ssd::firmware::cores::{Cores, RecordedWork};
use crate::ssd::flash::dependents::Dependents;
use crate::ssd::flash::overtaking::Overtaking;
use crate::ssd::flash::pipeline::Pipelines;
use crate::ssd::flash::queue::Account;
use crate::ssd::flash::recorded::RecordedOperation;
use crate::ssd::flash::timing::Timing;
use crate::ssd::flash::{Flash, Recording};
use crate::ssd::{PartNames, Plan, SimError};

/// Whether to stop is looked up in such steps of time too: what was submitted may take long
/// after the last submission.
const STOP_STEP_NS: u64 = 1_000_000;

/// Places of the queues beside the units' events.
pub(in crate::ssd) const DISPATCH: usize = 0;
/// Only where its events stand among others of the same time: they are [`crate::ssd::front::link`]'s own.
pub(in crate::ssd) const LINK: usize = 1;
pub(in crate::ssd) const ACKNOWLEDGE: usize = 2;
pub(in crate::ssd) const ARRIVAL: usize = 3;
pub(in crate::ssd) const INTERRUPT: usize = 4;
pub(in crate::ssd) const MEMORY: usize = 5;
pub(in crate::ssd) const IDLE: usize = 6;
pub(in crate::ssd) const CORES: usize = 7;

/// What the flash executed inside the measurement window.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::ssd) struct Tally {
    /// By operation kind and cause.
    pub operations: [[u64; Cause::ALL.len()]; 3],
    /// By operation kind, those that were halves of copybacks.
    pub copybacks: [u64; 3],
}

impl Tally {
    /// Page programs, whatever for.
    pub fn programs(&self) -> u64 {
        self.operations[OperationKind::Program as usize]
            .iter()
            .sum()
    }
}

/// A drive with its firmware: everything but the preset and its preparation.
pub(in crate::ssd) struct Engine<F> {
    pub firmware: F,
    pub timing: Timing,
    pub events: EventTree,
    /// Every event before it has been served: the one in hand, or one of the same
    /// time that has caused it.
    pub current: EventKey,
    pub flash: Flash,
    pub host: Host,
    pub cores: Cores,
    pub buffer: WriteBuffer,
    pub cache: ReadCache,
    /// What the read cache asked for that waits for a core.
    pub fetched: Vec<(Operation, Account)>,
    pub out: OperationBuffer,
    pub tally: Tally,
    /// What else the measurement window counts.
    pub counters: FlashCounters,
    /// What the firmware had counted when the window opened.
    pub counts_before: Counts,
    /// The same by names of its own.
    pub own_before: OwnCounts,
    /// Those who submit and count.
    pub users: Users,
    /// Somebody else submits and counts: the users are none.
    pub is_owned: bool,
    /// Of one that is owned the slots whose commands are complete, until the owner takes them.
    pub completed: Vec<u32>,
    /// When the window opened, in the drive's time.
    pub opened_at: u64,
    /// The same in the host's.
    pub opened_at_host: u64,
    pub background: Background,
    /// Reads of what was never written are answered, from nowhere.
    pub answers_unwritten: bool,
    pub failure: Option<SimError>,
    pub outcome: Outcome,
    pub capacity_bytes: u64,
    pub page_shift: u32,
    pub by_plane_pages: Divisor,
    pub by_units: Divisor,
    pub units: u32,
    pub ways: u32,
    pub dies_per_way: u32,
}

impl<F: Firmware> Engine<F> {
    /// Whether the event queue has a leaf for every resource.
    ///
    /// # Errors
    /// [`SimError::TooManyUnits`].
    pub fn check(config: &SsdConfig) -> Result<(), SimError> {
        let (units, most) = (config.units(), MAX_LEAVES - SIDE_LEAVES);
        if units as usize <= most {
            return Ok(());
        }
        Err(SimError::TooManyUnits { units, most })
    }

    /// An idle drive that passed [`Engine::check`].
    pub fn new(config: &SsdConfig, firmware: F) -> Self {
        let geometry = &config.geometry;
        let (units, channels) = (config.units(), geometry.channels);
        let page_bytes = geometry.page_size_bytes;
        let in_order = config.scheduling.dispatch == Dispatch::InOrder;
        let pipelines = Pipelines::new(config);
        let overtaking = Overtaking::new(config, pipelines.is_some());
        let flash = Flash::new(units, channels, in_order, overtaking)
            .with_registers(config.scheduling.copyback, pipelines);
        Self {
            capacity_bytes: u64::from(firmware.layout().logical_pages) * u64::from(page_bytes),
            firmware,
            timing: Timing::new(config, 1.0),
            events: EventTree::new(units as usize),
            current: EventKey::default(),
            flash,
            host: Host::new(config),
            cores: Cores::new(None, units),
            buffer: WriteBuffer::new(BufferSettings::new(config)),
            cache: ReadCache::new(config),
            fetched: Vec::new(),
            out: OperationBuffer::with_capacity(1024),
            tally: Tally::default(),
            counters: FlashCounters::default(),
            counts_before: Counts::default(),
            own_before: OwnCounts::default(),
            users: Users::new(STOP_STEP_NS),
            is_owned: false,
            completed: Vec::new(),
            opened_at: 0,
            opened_at_host: 0,
            background: Background::new(config.idle_ns()),
            answers_unwritten: config.is_purged,
            failure: None,
            outcome: Outcome::default(),
            page_shift: page_bytes.trailing_zeros(),
            by_plane_pages: Divisor::new(geometry.blocks_per_plane * geometry.pages_per_block),
            by_units: Divisor::new(units),
            units,
            ways: geometry.ways_per_channel,
            dies_per_way: geometry.dies_per_way,
        }
    }

    /// Runs loops on the idle drive until every request is complete and the
    /// write buffer is empty.
    ///
    /// # Errors
    /// [`SimError`] when a request cannot be served or simulated time ends; the
    /// drive's state is then unspecified until the firmware is rolled back.
    pub fn run(
        &mut self,
        loops: Vec<Running>,
        plan: Plan,
        timing: Timing,
    ) -> Result<Outcome, SimError> {
        self.is_owned = false;
        self.reset(timing);
        let depths = self.users.begin(loops, plan);
        self.begin_streams(depths);
        self.advance()?;
        // What still waits for others to fill the buffer goes too.
        while self.buffer.gathered.len() > 0 {
            self.push_gathered(0, self.current.time());
            self.advance()?;
        }
        let mut outcome = std::mem::take(&mut self.outcome);
        self.users.end(self.buffer.is_empty(), &mut outcome)?;
        Ok(outcome)
    }

    /// Streams begin with so many commands each.
    fn begin_streams(&mut self, depths: Vec<u32>) {
        for (stream, depth) in depths.into_iter().enumerate() {
            for _ in 0..depth {
                self.submit_next(stream as u16, 0);
                if self.failure.is_some() {
                    return;
                }
            }
        }
        self.submit_waiting(0);
        self.schedule_arrival();
    }

    pub(in crate::ssd) fn reset(&mut self, timing: Timing) {
        self.timing = timing;
        if let Some(ageing) = &mut self.timing.ageing {
            let blocks = 0..self.firmware.layout().blocks();
            ageing.begin(blocks.map(|block| self.firmware.erase_count(block).unwrap_or(0)));
        }
        self.events.clear();
        self.current = EventKey::default();
        let (units, channels) = (self.units, self.flash.channels.len() as u32);
        let recording = self.flash.recording.take();
        let has_copyback = self.flash.has_copyback;
        let mut pipelines = self.flash.pipelines.take();
        if let Some(pipelines) = &mut pipelines {
            pipelines.reset();
        }
        let mut overtaking = self.flash.overtaking.take();
        if let Some(overtaking) = &mut overtaking {
            overtaking.reset();
        }
        self.flash = Flash::new(units, channels, self.flash.dispatch.in_order, overtaking)
            .with_registers(has_copyback, pipelines);
        self.flash.recording = recording;
        self.flash.dependents = self.firmware.uses_after().then(|| Dependents::new(units));
        self.host.reset();
        let recorded = self.cores.recorded.take();
        self.cores = Cores::new(self.timing.firmware.as_deref(), units);
        self.cores.recorded = recorded;
        self.fetched.clear();
        self.buffer = WriteBuffer::new(self.buffer.settings);
        self.cache.reset();
        self.out = OperationBuffer::with_capacity(1024);
        self.tally = Tally::default();
        self.counters = FlashCounters::default();
        self.counts_before = Counts::default();
        (self.opened_at, self.opened_at_host) = (0, 0);
        self.outcome = Outcome {
            part_names: self.part_names(),
            variability_factor: 1.0,
            ..Outcome::default()
        };
        self.background.reset();
        self.flash.is_plain = self.flash.may_be_plain()
            && self.timing.ageing.is_none()
            && !self.firmware.heeds_completions();
        self.flash.moves = self.may_move();
        self.completed.clear();
        // A window without a warm-up never opens: what was counted before it is known from here.
        self.own_before = self.own_counts();
        self.failure = None;
    }

    fn advance(&mut self) -> Result<(), SimError> {
        while self.failure.is_none() && self.step() {}
        self.failed()
    }

    /// What went wrong, if anything did.
    #[inline(always)]
    pub(in crate::ssd) fn failed(&mut self) -> Result<(), SimError> {
        if self.failure.is_none() {
            return Ok(());
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Serves the next event; answers whether there was one.
    #[inline(always)]
    pub(in crate::ssd) fn step(&mut self) -> bool {
        let link = self.host.link.next();
        let first = self.events.first();
        if link < first {
            if self.come_to(link) {
                self.link_event(link.time());
            }
            return true;
        }
        self.tree_event(first)
    }

    /// Serves the first event of those that are not the link's; answers whether there was one.
    #[inline(always)]
    pub(in crate::ssd) fn tree_event(&mut self, first: EventKey) -> bool {
        if first == EventKey::NEVER {
            return false;
        }
        if !self.come_to(first) {
            return true;
        }
        let (now, leaf) = (first.time(), first.leaf());
        if leaf < self.units as usize {
            self.unit_event(leaf as u32, now);
        } else {
            self.host_event(leaf - self.units as usize, now);
        }
        true
    }

    /// Time comes to an event; answers whether the run goes on.
    #[inline(always)]
    pub(in crate::ssd) fn come_to(&mut self, key: EventKey) -> bool {
        self.current = self.current.max(key);
        if key.time() >= self.users.deadline {
            return self.pass_time(key.time());
        }
        true
    }

    #[inline(never)]
    fn host_event(&mut self, place: usize, now: u64) {
        match place {
            ACKNOWLEDGE => self.acknowledge_event(now),
            DISPATCH => self.dispatch_in_order(now),
            ARRIVAL => self.arrival_event(now),
            INTERRUPT => self.interrupt_event(now),
            IDLE => self.idle_event(now),
            CORES => self.cores_event(now),
            _ => self.memory_event(now),
        }
    }

    /// The request of the host in `slot` is complete.
    #[inline(always)]
    pub fn count_completion(&mut self, slot: u32, stream: u16, latency: u64, now: u64) {
        let entry = &self.host.slots[slot as usize];
        let of = (stream, &entry.command);
        let edge = self.users.count(of, latency, &entry.parts, now);
        if let Some(edge) = edge {
            self.window_decided(edge, now, self.current);
        }
    }

    /// Time comes to `now`, at or after the deadline, before what happens then; answers whether
    /// the run goes on.
    #[cold]
    fn pass_time(&mut self, now: u64) -> bool {
        while let Some((edge, at)) = self.users.next_edge(now) {
            // Nothing of that moment has happened yet.
            let served = EventKey::new(at.saturating_sub(1), MAX_LEAVES - 1);
            self.window_decided(edge, at, served);
        }
        let passed = self.users.come_to(now, || self.host.oldest_submission());
        passed.map_err(|error| self.failure = Some(error)).is_ok()
    }

    #[cold]
    fn window_decided(&mut self, edge: Edge, at: u64, served: EventKey) {
        self.users.passed(edge, at, &mut self.outcome);
        match edge {
            Edge::Opened => self.open_account(at, served),
            Edge::Closed => self.close_account(at, served),
            Edge::Neither => {}
        }
    }

    /// Records the operations of the next run that are under way in `span`.
    pub fn record(&mut self, span: Range<u64>) {
        self.cores.recorded = Some((span.clone(), Vec::new()));
        self.flash.recording = Some(Recording::of(span));
    }

    /// When cores worked since [`Engine::record`], in the order in which they were asked.
    pub fn recorded_work(&mut self) -> Vec<RecordedWork> {
        let recorded = self.cores.recorded.take();
        recorded.map(|(_, work)| work).unwrap_or_default()
    }

    /// What the parts of a latency are called.
    pub const fn part_names(&self) -> PartNames {
        match self.timing.firmware {
            Some(_) => FLASH_PARTS_WITH_FIRMWARE,
            None => FLASH_PARTS,
        }
    }

    /// The operations recorded since [`Engine::record`], in order of emission.
    pub fn recorded(&mut self) -> Vec<RecordedOperation> {
        let recording = self.flash.recording.take();
        recording
            .map(Recording::into_operations)
            .unwrap_or_default()
    }
}
