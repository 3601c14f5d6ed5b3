//! The event loop of a simulated SSD, and its counts.

mod ask;
mod completion;
mod device;
mod idle;
mod lookahead;
mod reads;
mod refresh;
mod requests;
pub mod run;
mod second_core;
mod straight;
mod supply;
mod window;
mod writes;
mod zones;

use std::ops::Range;

use drivelab_ftl::{Firmware, Operation, OperationBuffer};

use crate::event::{EventKey, MAX_LEAVES, SIDE_LEAVES};
use crate::host::FlashCounters;
use crate::host::load::Running;
use crate::host::outcome::Outcome;
use crate::host::users::{Edge, Users};
use crate::preset::SsdConfig;
use crate::ssd::account::ledger::Ledger;
use crate::ssd::account::namespaces::NamespaceTally;
use crate::ssd::account::split::{FLASH_PARTS, FLASH_PARTS_WITH_FIRMWARE};
use crate::ssd::buffer::WriteBuffer;
use crate::ssd::buffer::memory::{Memory, MemoryTimes};
use crate::ssd::buffer::read_cache::ReadCache;
use crate::ssd::firmware::cores::{Cores, Costs, RecordedWork};
use crate::ssd::firmware::idle::Background;
use crate::ssd::flash::{Account, Flash, Lookahead, RecordedOperation, Surroundings};
use crate::ssd::front::Front;
use crate::ssd::timeline::{
    ACKNOWLEDGE, ARRIVAL, CORES, DISPATCH, IDLE, INTERRUPT, REFRESH, Timeline,
};
use crate::ssd::times::Times;
use crate::ssd::{PartNames, Plan, SimError};
use refresh::Refreshing;
use zones::Gate;

pub(in crate::ssd) use zones::ZoneTimes;

/// Interval at which the stop flag is also checked, in simulated time, because submitted commands
/// may take long after the last submission.
const STOP_STEP_NS: u64 = 1_000_000;

/// A drive with its firmware: everything except the preset and the preparation.
pub(in crate::ssd) struct Engine<F> {
    pub(in crate::ssd) firmware: F,
    timeline: Timeline,
    flash: Flash,
    front: Front,
    cores: Cores,
    buffer: WriteBuffer,
    cache: ReadCache,
    memory: Memory,
    /// Operations of the read cache that wait for a core.
    fetched: Vec<(Operation, Account)>,
    out: OperationBuffer,
    /// Everything else that the measurement window counts.
    counters: FlashCounters,
    /// The counts when the window opened.
    ledger: Ledger,
    /// The users, who submit and count.
    pub(in crate::ssd) users: Users,
    /// An owner submits and counts, so there are no users.
    is_owned: bool,
    /// Requests take the short way of `straight.rs` where they can.
    goes_straight: bool,
    /// They are reads of single pages, and go window by window there.
    looks_ahead: bool,
    lookahead: Lookahead,
    /// Another thread may ask the firmware ahead of time ...
    pub(in crate::ssd) has_second_core: bool,
    /// ... and does so in this run, as long as that pays.
    uses_second_core: bool,
    /// For a drive with an owner: slots of completed commands, until the owner takes them.
    completed: Vec<u32>,
    background: Background,
    /// Commands in progress in zones.
    gate: Gate,
    /// Where data is moved before it becomes hard to read.
    refreshing: Option<Box<Refreshing>>,
    /// Where the drive has namespaces: whose each program is.
    namespaces: Option<Box<NamespaceTally>>,
    /// Streams decide where their data goes.
    heeds_placements: bool,
    /// Reads of pages that were never written are answered without the flash.
    answers_unwritten: bool,
    failure: Option<SimError>,
    outcome: Outcome,
    pub(in crate::ssd) capacity_bytes: u64,
    page_shift: u32,
}

impl<F: Firmware> Engine<F> {
    /// Checks that the event queue has a leaf for every resource.
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

    /// An idle drive. The configuration must have passed [`Engine::check`].
    pub fn new(config: &SsdConfig, firmware: F) -> Self {
        let page_bytes = config.geometry.page_size_bytes;
        let refreshing = Refreshing::new(config, firmware.layout());
        Self {
            capacity_bytes: u64::from(firmware.layout().logical_pages) * u64::from(page_bytes),
            firmware,
            timeline: Timeline::new(config.units()),
            flash: Flash::new(config),
            front: Front::new(config),
            cores: Cores::new(Costs::new(config, 1.0), config.units()),
            buffer: WriteBuffer::new(config),
            cache: ReadCache::new(config),
            memory: Memory::new(MemoryTimes::new(config, 1.0)),
            fetched: Vec::new(),
            out: OperationBuffer::with_capacity(1024),
            counters: FlashCounters::default(),
            ledger: Ledger::default(),
            users: Users::new(STOP_STEP_NS),
            is_owned: false,
            goes_straight: false,
            looks_ahead: false,
            lookahead: Lookahead::default(),
            has_second_core: false,
            uses_second_core: false,
            completed: Vec::new(),
            background: Background::new(config.idle_ns()),
            gate: Gate::default(),
            refreshing: refreshing.map(Box::new),
            namespaces: NamespaceTally::new(config).map(Box::new),
            heeds_placements: config.takes_placements(),
            answers_unwritten: config.is_purged
                || config.is_partly_filled()
                || config.zones.is_some(),
            failure: None,
            outcome: Outcome::default(),
            page_shift: page_bytes.trailing_zeros(),
        }
    }

    /// Runs loops on the idle drive until every request is complete and the write buffer is empty.
    ///
    /// # Errors
    /// [`SimError`] if a request cannot be served or simulated time ends. The drive's state is then
    /// unspecified until the firmware is rolled back.
    pub fn run(
        &mut self,
        loops: Vec<Running>,
        plan: Plan,
        times: Times,
    ) -> Result<Outcome, SimError> {
        self.is_owned = false;
        self.reset(times);
        let depths = self.users.begin(loops, plan);
        self.goes_straight = self.can_go_straight();
        self.looks_ahead = self.goes_straight && self.only_reads_pages();
        self.uses_second_core = self.has_second_core;
        self.begin_streams(depths);
        self.advance()?;
        // Gathered pages that still wait for others must go too.
        while self.buffer.has_gathered() {
            self.push_gathered(0, self.timeline.now());
            self.advance()?;
        }
        let mut outcome = std::mem::take(&mut self.outcome);
        self.users.end(self.buffer.is_empty(), &mut outcome)?;
        Ok(outcome)
    }

    /// Streams begin with this many commands each.
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

    pub(in crate::ssd) fn reset(&mut self, times: Times) {
        self.timeline.reset();
        self.front.reset(times.front);
        (self.cores).begin(times.firmware, self.flash.unit_count());
        self.fetched.clear();
        self.buffer.reset();
        self.cache.reset();
        self.memory = Memory::new(times.memory);
        self.out = OperationBuffer::with_capacity(1024);
        self.counters = FlashCounters::default();
        self.outcome = Outcome {
            part_names: self.part_names(),
            variability_factor: 1.0,
            ..Outcome::default()
        };
        self.background.reset();
        let around = Surroundings {
            is_heeded: self.firmware.heeds_completions(),
            waits_in_turn: self.firmware.uses_after(),
            has_idle_work: self.background.idle_ns().is_some(),
            has_cores: self.cores.is_on(),
            is_attributed: self.namespaces.is_some() || self.refreshing.is_some(),
        };
        let blocks = 0..self.firmware.layout().blocks();
        let firmware = &self.firmware;
        let erases = blocks.map(|block| firmware.erase_count(block).unwrap_or(0));
        self.flash.begin(times.flash, erases, around);
        self.gate.begin(self.firmware.zones(), times.zones);
        self.firmware.watch_zones();
        self.completed.clear();
        self.goes_straight = false;
        self.looks_ahead = false;
        if let Some(refreshing) = &mut self.refreshing {
            refreshing.begin();
        }
        if let Some(namespaces) = &mut self.namespaces {
            namespaces.reset();
        }
        // A window without warm-up never opens, so record the counts from here.
        let own = self.own_counts();
        let placed = self.firmware.placed_counts().cloned();
        let zones = self.firmware.zone_counts().copied();
        self.ledger.begin(own, placed, zones);
        self.failure = None;
    }

    fn advance(&mut self) -> Result<(), SimError> {
        while self.failure.is_none() && self.step() {}
        self.failed()
    }

    /// Returns the error, if there is one.
    #[inline(always)]
    pub(in crate::ssd) fn failed(&mut self) -> Result<(), SimError> {
        if self.failure.is_none() {
            return Ok(());
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Serves the next event. Returns whether there was one.
    #[inline(always)]
    pub(in crate::ssd) fn step(&mut self) -> bool {
        let link = self.front.next_on_link();
        let first = self.timeline.events.first();
        if link < first {
            if self.come_to(link) {
                self.link_event(link.time());
            }
            return true;
        }
        self.tree_event(first)
    }

    /// Serves the first event outside the link. Returns whether there was one.
    #[inline(always)]
    pub(in crate::ssd) fn tree_event(&mut self, first: EventKey) -> bool {
        if first == EventKey::NEVER {
            return false;
        }
        if !self.come_to(first) {
            return true;
        }
        let (now, leaf) = (first.time(), first.leaf());
        let units = self.flash.unit_count() as usize;
        if leaf < units {
            self.unit_event(leaf as u32, now);
        } else {
            self.host_event(leaf - units, now);
        }
        true
    }

    /// Advances time to an event. Returns whether the run continues.
    #[inline(always)]
    pub(in crate::ssd) fn come_to(&mut self, key: EventKey) -> bool {
        self.timeline.current = self.timeline.current.max(key);
        if key.time() >= self.users.deadline {
            return self.pass_time(key.time());
        }
        true
    }

    #[inline(never)]
    fn host_event(&mut self, place: usize, now: u64) {
        match place {
            ACKNOWLEDGE => self.acknowledge_event(now),
            DISPATCH => self.flash.dispatch_in_order(&mut self.timeline, now),
            ARRIVAL => self.arrival_event(now),
            INTERRUPT => self.interrupt_event(now),
            IDLE => self.idle_event(now),
            CORES => self.cores_event(now),
            REFRESH => self.refresh_event(now),
            _ => self.memory_event(now),
        }
    }

    /// Counts the completed host request in `slot`.
    #[inline(always)]
    pub fn count_completion(&mut self, slot: u32, stream: u16, latency: u64, now: u64) {
        let entry = self.front.slot(slot);
        let of = (stream, entry.command());
        let edge = self.users.count(of, latency, entry.parts(), now);
        if let Some(edge) = edge {
            self.window_decided(edge, now, self.timeline.current);
        }
    }

    /// Advances time to `now`, at or after the deadline, before the events of that moment. Returns
    /// whether the run continues.
    #[cold]
    fn pass_time(&mut self, now: u64) -> bool {
        while let Some((edge, at)) = self.users.next_edge(now) {
            // Nothing of that moment has happened yet.
            let served = EventKey::new(at.saturating_sub(1), MAX_LEAVES - 1);
            self.window_decided(edge, at, served);
        }
        let passed = self.users.come_to(now, || self.front.oldest_submission());
        if let Err(error) = passed {
            self.failure = Some(error);
            return false;
        }
        if self.goes_straight {
            // Other events may be due first when it comes back.
            self.go_straight();
            return false;
        }
        true
    }

    #[cold]
    pub(super) fn window_decided(&mut self, edge: Edge, at: u64, served: EventKey) {
        self.users.passed(edge, at, &mut self.outcome);
        match edge {
            Edge::Opened => self.open_account(at, served),
            Edge::Closed => self.close_account(at, served),
            Edge::Neither => {}
        }
    }

    /// Records the operations of the next run that are in progress during `span`.
    pub fn record(&mut self, span: Range<u64>) {
        self.cores.record(span.clone());
        self.flash.record(span);
    }

    /// When cores worked since [`Engine::record`], in the order in which they were asked.
    pub fn recorded_work(&mut self) -> Vec<RecordedWork> {
        self.cores.recorded()
    }

    /// The names of the parts of a latency.
    pub const fn part_names(&self) -> PartNames {
        match self.cores.is_on() {
            true => FLASH_PARTS_WITH_FIRMWARE,
            false => FLASH_PARTS,
        }
    }

    /// The operations recorded since [`Engine::record`], in order of emission.
    pub fn recorded(&mut self) -> Vec<RecordedOperation> {
        self.flash.recorded()
    }
}
