//! The disk as a device: its events and what waits for them.
//!
//! There are three kinds of events: an item on the link arrives (in queue order), the current
//! access of the mechanism ends, and a write is acknowledged. Reading ahead has no events.
//!
//! Reads, and writes that bypass the cache, normally go before the content of the write cache. If a
//! write waits for room or a flush waits for its end, all are served in one order.

use std::collections::VecDeque;

use drivelab_request::{Command, CommandKind, SECTOR_BYTES};

use super::DISK_PARTS;
use super::cache::ReadCache;
use super::geometry::Geometry;
use super::mechanism::{Course, Mechanism, Position};
use super::rotation::Rotation;
use super::schedule::{Scheduler, Waiting};
use super::seek::SeekCurve;
use super::write_cache::WriteCache;
use crate::host::{
    Completion, Device, DiskCounters, Fullness, HostTime, Media, Outcome, PARTS, PartNames,
    SimError, measurement_factor,
};
use crate::preset::HddConfig;

/// Marks an access that writes out an extent of the write cache.
pub(super) const OF_CACHE: u32 = 1 << 31;

pub(super) const SECTOR: u64 = SECTOR_BYTES as u64;

/// A command between submission and completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) kind: CommandKind,
    /// Whether its data stays in the write cache.
    pub(super) is_cached: bool,
    /// First sector, number of sectors, and bytes.
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) bytes: u32,
    pub(super) submitted: u64,
    /// When it reached its current stage.
    pub(super) since: u64,
    pub(super) parts: [u64; PARTS],
}

/// What crosses the link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    ReadCommand,
    /// The data of a write, with its command.
    WriteData,
    FlushCommand,
    ReadData,
}

/// What reading ahead does, with its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    Off,
    Reads(usize),
    /// Paused, because the segment is full.
    Rests(usize),
}

/// The access that the mechanism is serving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) what: Waiting,
    pub(super) started: u64,
    /// When the transfer of its first sector began.
    pub(super) begins: u64,
    /// The position of the heads when it ends.
    pub(super) after: Course,
}

/// All times outside the mechanism, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) read_command: u64,
    pub(super) write_command: u64,
    pub(super) flush_command: u64,
    pub(super) acknowledge: u64,
    /// 0 if the link takes no time.
    pub(super) link_bytes_per_second: u64,
}

impl Times {
    fn new(config: &HddConfig, factor: f64) -> Self {
        let host = &config.host;
        let scale = |nanos: u64| (nanos as f64 * factor).round() as u64;
        Self {
            read_command: scale(host.read_command_ns),
            write_command: scale(host.write_command_ns),
            flush_command: scale(host.flush_command_ns.unwrap_or(host.write_command_ns)),
            acknowledge: scale(host.write_acknowledge_ns),
            link_bytes_per_second: (host.link_bytes_per_second as f64 / factor).round() as u64,
        }
    }

    /// The time that `bytes` take on the link, rounded up.
    #[inline(always)]
    pub(super) const fn link(&self, bytes: u64) -> u64 {
        match self.link_bytes_per_second {
            0 => 0,
            rate => (bytes * 1_000_000_000).div_ceil(rate),
        }
    }
}

/// A simulated hard disk.
#[derive(Clone, Debug)]
pub struct Hdd {
    pub(super) config: HddConfig,
    /// The factor on all times in this run.
    pub(super) factor: f64,
    pub(super) times: Times,
    pub(super) mechanism: Mechanism,
    pub(super) scheduler: Scheduler,
    pub(super) segments: ReadCache,
    pub(super) writes: WriteCache,
    /// Command slots by tag, and the unused tags.
    pub(super) slots: Vec<Slot>,
    pub(super) vacant: Vec<u32>,
    /// How many more commands may enter, and the commands waiting to enter.
    pub(super) free_commands: u32,
    pub(super) outside: VecDeque<u32>,
    /// The items on the link, with the times at which they will have crossed it.
    pub(super) link: VecDeque<(u64, u32, Job)>,
    pub(super) link_free_at: u64,
    pub(super) acknowledged: VecDeque<(u64, u32)>,
    /// Accesses of commands.
    pub(super) waiting: Vec<Waiting>,
    /// The same plus those of the write cache; kept to reuse its memory.
    pub(super) all_waiting: Vec<Waiting>,
    /// Writes waiting for room in the cache.
    pub(super) blocked: VecDeque<u32>,
    /// Flushes, each with the number of the first write that it need not wait for.
    pub(super) flushes: VecDeque<(u64, u32)>,
    pub(super) access: Option<Access>,
    /// The position of the heads after the last access, as far as they have read ahead.
    pub(super) course: Course,
    pub(super) ahead: Ahead,
    /// The number of accesses and of writes into the cache so far.
    pub(super) number: u64,
    pub(super) counters: DiskCounters,
    pub(super) busy_ns: u64,
    pub(super) opened_at: u64,
}

impl Hdd {
    /// An idle disk.
    #[must_use]
    pub fn new(config: HddConfig) -> Self {
        let cache = &config.cache;
        let segment_sectors = cache.segment_bytes.unwrap_or(0) / SECTOR;
        let write_sectors = if config.writes_back() {
            cache.write_cache_bytes / SECTOR
        } else {
            0
        };
        Self {
            factor: 1.0,
            times: Times::new(&config, 1.0),
            mechanism: mechanism(&config, 1.0),
            scheduler: Scheduler::new(config.scheduling.order),
            segments: ReadCache::new(cache.read_segments as usize, segment_sectors),
            writes: WriteCache::new(write_sectors),
            slots: Vec::new(),
            vacant: Vec::new(),
            free_commands: config.host.commands,
            outside: VecDeque::new(),
            link: VecDeque::new(),
            link_free_at: 0,
            acknowledged: VecDeque::new(),
            waiting: Vec::new(),
            all_waiting: Vec::new(),
            blocked: VecDeque::new(),
            flushes: VecDeque::new(),
            access: None,
            course: AT_REST,
            ahead: Ahead::Off,
            number: 0,
            counters: DiskCounters::default(),
            busy_ns: 0,
            opened_at: 0,
            config,
        }
    }

    /// Serves every event at `now`, the time of the next event.
    #[inline(always)]
    fn serve(&mut self, now: u64, completions: &mut Vec<Completion>) {
        if let Some(access) = self.access.take_if(|access| access.after.at == now) {
            self.end_access(access, now);
        }
        while let Some(&(at, tag, job)) = self.link.front()
            && at == now
        {
            self.link.pop_front();
            self.crossed(tag, job, now, completions);
        }
        while let Some(&(at, tag)) = self.acknowledged.front()
            && at == now
        {
            self.acknowledged.pop_front();
            self.complete(tag, now, completions);
        }
        self.dispatch(now);
    }

    /// Its configuration.
    #[must_use]
    pub const fn config(&self) -> &HddConfig {
        &self.config
    }
}

/// Position at the start of a run: heads at the outermost track.
const AT_REST: Course = Course {
    position: Position {
        cylinder: 0,
        head: 0,
    },
    at: 0,
    sector: 0,
};

/// The moving parts of a disk, with every time multiplied by `factor`.
fn mechanism(config: &HddConfig, factor: f64) -> Mechanism {
    let scale = |nanos: u64| (nanos as f64 * factor).round() as u64;
    let mechanics = &config.mechanics;
    let revolution = Rotation::of_rpm(mechanics.rotation_rpm).revolution();
    let rotation = Rotation::new(scale(revolution.into()).clamp(1, 1 << 30) as u32);
    let skews = (
        scale(mechanics.track_skew_ns),
        scale(mechanics.cylinder_skew_ns),
    );
    let geometry = Geometry::new(&config.zones(), config.geometry.heads, rotation, skews);
    let curve = SeekCurve::new(config.seek_times(), geometry.cylinders(), rotation, factor);
    let short = |nanos| scale(nanos).min(1 << 30) as u32;
    let switches = (
        short(mechanics.head_switch_ns),
        short(mechanics.write_settle_ns),
    );
    Mechanism::new(geometry, rotation, curve, switches)
}

impl Device for Hdd {
    fn capacity_bytes(&self) -> u64 {
        self.config.geometry.user_capacity_bytes
    }

    fn part_names(&self) -> PartNames {
        DISK_PARTS
    }

    fn takes_trims(&self) -> bool {
        false
    }

    fn begin(&mut self, seed: u64, index: u64) -> f64 {
        let factor = measurement_factor(&self.config.variability, seed, index);
        if factor.to_bits() != self.factor.to_bits() {
            self.factor = factor;
            self.times = Times::new(&self.config, factor);
            self.mechanism = mechanism(&self.config, factor);
        }
        self.scheduler = Scheduler::new(self.config.scheduling.order);
        self.segments.clear();
        self.writes.clear();
        self.slots.clear();
        self.vacant.clear();
        self.free_commands = self.config.host.commands;
        self.outside.clear();
        self.link.clear();
        self.link_free_at = 0;
        self.acknowledged.clear();
        self.waiting.clear();
        self.blocked.clear();
        self.flushes.clear();
        self.access = None;
        self.course = AT_REST;
        self.ahead = Ahead::Off;
        self.number = 0;
        self.counters = DiskCounters::default();
        (self.busy_ns, self.opened_at) = (0, 0);
        factor
    }

    fn host_time(&self, seed: u64, index: u64) -> Option<HostTime> {
        HostTime::new(&self.config.variability, seed, index)
    }

    #[inline]
    fn submit(&mut self, command: &Command, now: u64) -> Result<u32, SimError> {
        let end_bytes = command.offset_bytes + u64::from(command.size_bytes);
        let (first, end) = (command.offset_bytes / SECTOR, end_bytes.div_ceil(SECTOR));
        let slot = Slot {
            kind: command.kind,
            is_cached: !command.is_forced && self.writes.could_hold(end - first),
            first,
            end,
            bytes: command.size_bytes,
            submitted: now,
            since: now,
            parts: [0; PARTS],
        };
        let tag = match self.vacant.pop() {
            Some(tag) => {
                self.slots[tag as usize] = slot;
                tag
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        if self.free_commands > 0 {
            self.free_commands -= 1;
            self.enter(tag, now);
        } else {
            self.outside.push_back(tag);
        }
        Ok(tag)
    }

    #[inline]
    fn next_event(&self) -> Option<u64> {
        let access = self.access.as_ref().map_or(u64::MAX, |a| a.after.at);
        let link = self.link.front().map_or(u64::MAX, |&(at, ..)| at);
        let acknowledged = self.acknowledged.front().map_or(u64::MAX, |&(at, _)| at);
        let first = access.min(link).min(acknowledged);
        (first != u64::MAX).then_some(first)
    }

    #[inline]
    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        let before = completions.len();
        loop {
            match self.next_event() {
                Some(now) if now <= limit && completions.len() == before => {
                    self.serve(now, completions);
                }
                next => return Ok(next),
            }
        }
    }

    fn would_lose(&self, offset_bytes: u64) -> bool {
        let sector = offset_bytes / SECTOR;
        self.writes.holds(sector, sector + 1)
    }

    fn drain(&mut self, _: u64) -> bool {
        // The write cache empties by itself when the disk is otherwise idle.
        false
    }

    fn fullness(&self) -> Fullness {
        let (taken, sectors) = self.writes.fill();
        Fullness {
            buffer_bytes: sectors * SECTOR,
            buffered_bytes: taken * SECTOR,
            room: None,
        }
    }

    fn open_window(&mut self, at: u64) {
        self.settle(at);
        self.counters = DiskCounters::default();
        (self.busy_ns, self.opened_at) = (0, at);
    }

    fn close_window(&mut self, at: u64, outcome: &mut Outcome) {
        self.settle(at);
        let under_way = self
            .access
            .map_or(0, |a| at - a.started.max(self.opened_at));
        let window = at - self.opened_at;
        self.counters.utilisation_ratio = match window {
            0 => 0.0,
            window => (self.busy_ns + under_way) as f64 / window as f64,
        };
        outcome.media = Media::Disk(self.counters);
    }
}
