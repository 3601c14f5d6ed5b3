//! An array with copies or parity, as a device.
//!
//! ```text
//!   command ─┬─ copies: read ─> one member, write ─> all of them            (copies.rs)
//!            └─ parity: whole ─> read ─> the member that has it
//!                       write, or a member is missing ─> its row            (row.rs)
//!                           reads ─> parity is computed ─> writes           (job.rs)
//!   rebuilding: row by row, or piece by piece, at its own speed             (rebuild.rs)
//! ```
//!
//! At one moment, events in members come before the array's own, and the first member before the
//! others. The array has one thread for parity. Everything else in it takes no time.

mod commands;
mod copies;
mod job;
mod rebuild;
mod row;
mod timers;

use std::collections::{BTreeMap, VecDeque};

use drivelab_request::{Command, CommandKind};

use self::commands::{Hosts, Member, Owner, PartsOfArray};
use self::copies::Held;
use self::job::Jobs;
use self::rebuild::Rebuild;
pub use self::rebuild::Rebuilding;
use self::row::{Arriving, Row};
use self::timers::{Timer, Timers};
use super::level::Level;
use super::mirrors::Mirrors;
use super::rows::Rows;
use super::state;
use super::update::Members;
use crate::host::{
    ArrayCounters, Completion, Device, Energy, Fullness, HostTime, Media, Outcome, PartNames,
    SimError,
};
use crate::snapshot::SnapshotError;

const NEVER: u64 = u64::MAX;

/// An array apart from its members.
#[derive(Clone, Debug, PartialEq)]
pub struct Redundancy {
    /// Its level: any but 0.
    pub level: Level,
    /// Bytes of a chunk; unused by RAID-1.
    pub chunk_bytes: u64,
    /// Members that are missing.
    pub failed: Members,
    /// The member that is being rebuilt.
    pub rebuilding: Option<Rebuilding>,
    /// How parity is computed; used only by arrays with parity.
    pub parity: ParityTimes,
}

/// How long parity takes, and how long writes gather before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParityTimes {
    /// Fixed time for every row that is updated or whose missing data is computed.
    pub row_ns: u64,
    /// Bytes of chunks, old and new, that the computation handles in a second.
    pub bytes_per_second: u64,
    /// How long a partly written row waits for the rest.
    pub gather_ns: u64,
    /// Bytes of every member that may be in progress at once.
    pub cache_bytes: u64,
}

/// Where data lies.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Copies(Mirrors),
    Parity(Rows),
}

/// Drives that keep all data redundantly.
pub struct Redundant {
    members: Vec<Member>,
    layout: Layout,
    capacity_bytes: u64,
    /// The members that exist.
    present: Members,
    rebuild: Option<Rebuild>,
    parity: ParityTimes,
    parts: PartsOfArray,
    hosts: Hosts,
    jobs: Jobs,
    rows: BTreeMap<u64, Row>,
    /// Parts of commands for which the cache has no room yet.
    arriving: VecDeque<Arriving>,
    /// Bytes of the cache in use.
    cached_bytes: u64,
    /// Writes to copies that wait for a piece being rebuilt.
    held: VecDeque<Held>,
    /// Until when the parity thread is busy.
    computing_until: u64,
    timers: Timers,
    counters: ArrayCounters,
    opened_at: u64,
}

impl Redundant {
    /// An array of as many `members` as its level needs. It must survive without the missing
    /// members.
    #[must_use]
    pub fn new(devices: Vec<Box<dyn Device + Send>>, redundancy: &Redundancy) -> Self {
        let count = devices.len() as u32;
        let smallest = devices.iter().map(|device| device.capacity_bytes()).min();
        let smallest = smallest.unwrap_or(0);
        let Redundancy {
            level, chunk_bytes, ..
        } = *redundancy;
        let (layout, capacity_bytes, used_bytes) = if level.parities() > 0 {
            let rows = Rows::new(level, count, chunk_bytes);
            let used = smallest / chunk_bytes * chunk_bytes;
            (Layout::Parity(rows), rows.capacity_bytes(smallest), used)
        } else {
            let mirrors = Mirrors::new(level, count, chunk_bytes);
            let used = smallest / chunk_bytes.max(1) * chunk_bytes.max(1);
            (
                Layout::Copies(mirrors),
                mirrors.capacity_bytes(smallest),
                used,
            )
        };
        let piece = if level == Level::Raid1 {
            None
        } else {
            Some(chunk_bytes)
        };
        let rebuild = redundancy.rebuilding.as_ref();
        Self {
            parts: PartsOfArray::of(devices.iter().map(|device| device.part_names())),
            members: devices.into_iter().map(Member::new).collect(),
            layout,
            capacity_bytes,
            present: ((1 << count) - 1) & !redundancy.failed,
            rebuild: rebuild.map(|rebuilding| Rebuild::new(rebuilding, piece, used_bytes)),
            parity: redundancy.parity,
            hosts: Hosts::default(),
            jobs: Jobs::default(),
            rows: BTreeMap::new(),
            arriving: VecDeque::new(),
            cached_bytes: 0,
            held: VecDeque::new(),
            computing_until: 0,
            timers: Timers::default(),
            counters: ArrayCounters::default(),
            opened_at: 0,
        }
    }

    fn is_present(&self, member: u32) -> bool {
        self.present >> member & 1 == 1
    }

    /// The indices of the existing members.
    fn present_places(&self) -> impl Iterator<Item = usize> + use<> {
        let present = self.present;
        (0..u32::BITS)
            .filter(move |member| present >> member & 1 == 1)
            .map(|member| member as usize)
    }

    /// Submits a command for `owner` to a member.
    fn submit_to(
        &mut self,
        owner: Owner,
        (member, offset_bytes, size_bytes): (u32, u64, u64),
        command: &Command,
        now: u64,
    ) -> Result<(), SimError> {
        match command.kind {
            CommandKind::Read => self.counters.member_reads += 1,
            CommandKind::Write => self.counters.member_writes += 1,
            CommandKind::Trim | CommandKind::Flush | CommandKind::WriteZeroes => {}
        }
        let part = Command {
            offset_bytes,
            size_bytes: size_bytes as u32,
            ..*command
        };
        self.members[member as usize].submit(owner, &part, now)
    }

    /// Part of a host command completed. The last part completes the command.
    fn part_complete(
        &mut self,
        tag: u32,
        at: u64,
        parts: &[u64; crate::host::PARTS],
        completions: &mut Vec<Completion>,
    ) {
        if let Some(submitted) = self.hosts.part_complete(tag) {
            completions.push(Completion {
                tag,
                at,
                parts: self.parts.of_command(parts, at - submitted),
            });
        }
    }

    /// The next event: in a member (the first of several at one moment) or in the array itself, and
    /// the time until which it stays the next.
    fn first(&self) -> (Option<usize>, u64, u64) {
        let timer = self.timers.next().unwrap_or(NEVER);
        let (mut first, mut earliest, mut until) = (None, NEVER, timer);
        for place in self.present_places() {
            let next = self.members[place].next;
            if next < earliest {
                until = until.min(earliest.saturating_sub(1));
                (first, earliest) = (Some(place), next);
            } else {
                until = until.min(next);
            }
        }
        if timer < earliest {
            return (None, timer, timer);
        }
        (first, earliest, until)
    }

    fn serve_member(
        &mut self,
        place: usize,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        let mut served = std::mem::take(&mut self.members[place].served);
        let result = self.members[place].serve(limit, &mut served);
        for one in served.drain(..) {
            match self.members[place].owner(one.tag) {
                Owner::Host(tag) => {
                    self.host_part_complete(place as u32, tag, &one, completions)?;
                }
                Owner::Job(job) => self.job_part_complete(job, &one, completions)?,
                Owner::Source(piece) => self.copy_read(piece, one.at)?,
                Owner::Target(piece) => self.copy_written(piece, one.at)?,
            }
        }
        self.members[place].served = served;
        result
    }

    fn serve_timer(&mut self, now: u64, completions: &mut Vec<Completion>) -> Result<(), SimError> {
        match self.timers.pop() {
            Some(Timer::Finish(tag)) => {
                self.part_complete(tag, now, &Default::default(), completions);
                Ok(())
            }
            Some(Timer::Row(row)) => self.start_row(row, now, completions),
            Some(Timer::Computed(job)) => self.computed(job, now, completions),
            Some(Timer::Rebuild) => self.rebuild_on(now),
            None => Ok(()),
        }
    }

    fn flush(&mut self, tag: u32, command: &Command, now: u64) -> Result<(), SimError> {
        for place in self.present_places() {
            self.hosts.add_part(tag);
            self.submit_to(Owner::Host(tag), (place as u32, 0, 0), command, now)?;
        }
        Ok(())
    }
}

impl Device for Redundant {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn part_names(&self) -> PartNames {
        self.parts.names()
    }

    fn takes_trims(&self) -> bool {
        let mut members = self.members.iter();
        members.all(|member| member.device.takes_trims())
    }

    fn begin(&mut self, seed: u64, index: u64) -> f64 {
        self.hosts.clear();
        self.jobs.clear();
        self.rows.clear();
        self.arriving.clear();
        self.held.clear();
        self.timers.clear();
        self.cached_bytes = 0;
        self.computing_until = 0;
        self.counters = ArrayCounters::default();
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.begin();
            self.timers.add(0, Timer::Rebuild);
        }
        // All members have the array's variability, and so the same factor.
        let mut factor = 1.0;
        for member in &mut self.members {
            factor = member.begin(seed, index);
        }
        factor
    }

    fn host_time(&self, seed: u64, index: u64) -> Option<HostTime> {
        self.members.first()?.device.host_time(seed, index)
    }

    fn expect_programs(&mut self) {
        for member in &mut self.members {
            member.device.expect_programs();
        }
    }

    fn submit(&mut self, command: &Command, now: u64) -> Result<u32, SimError> {
        let tag = self.hosts.take(now);
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.host_came();
        }
        match (self.layout, command.kind) {
            (_, CommandKind::Flush) => self.flush(tag, command, now)?,
            (Layout::Copies(mirrors), CommandKind::Read) => {
                self.read_copy(mirrors, tag, command, now)?;
            }
            (
                Layout::Copies(mirrors),
                CommandKind::Write | CommandKind::Trim | CommandKind::WriteZeroes,
            ) => {
                self.write_copies(mirrors, tag, command, now)?;
            }
            (Layout::Parity(rows), CommandKind::Read) => self.read_rows(rows, tag, command, now)?,
            (Layout::Parity(rows), CommandKind::Write) => self.write_rows(rows, tag, command, now),
            (Layout::Parity(rows), CommandKind::Trim | CommandKind::WriteZeroes) => {
                self.trim_rows(rows, tag, command, now);
            }
        }
        Ok(tag)
    }

    fn next_event(&self) -> Option<u64> {
        let (_, at, _) = self.first();
        (at != NEVER).then_some(at)
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        let before = completions.len();
        loop {
            let (place, at, until) = self.first();
            if at > limit || at == NEVER || completions.len() > before {
                return Ok((at != NEVER).then_some(at));
            }
            match place {
                Some(place) => self.serve_member(place, until.min(limit), completions)?,
                None => self.serve_timer(at, completions)?,
            }
        }
    }

    fn would_lose(&self, offset_bytes: u64) -> bool {
        let loses = |member: u32, offset| {
            let is_there = self.is_present(member);
            is_there.then(|| self.members[member as usize].device.would_lose(offset))
        };
        match self.layout {
            // Data is not lost if one copy keeps it.
            Layout::Copies(mirrors) => mirrors.split(offset_bytes, 1).all(|part| {
                let mut copies = mirrors.copies(part);
                copies.all(|(member, offset)| loses(member, offset).unwrap_or(true))
            }),
            Layout::Parity(rows) => {
                let (member, offset) = rows.place(offset_bytes);
                loses(member, offset).unwrap_or_else(|| {
                    let mut others = 0..rows.members();
                    others.any(|other| loses(other, offset).unwrap_or(false))
                })
            }
        }
    }

    fn drain(&mut self, now: u64) -> bool {
        let mut is_left = false;
        for place in self.present_places() {
            is_left |= self.members[place].drain(now);
        }
        is_left
    }

    fn fullness(&self) -> Fullness {
        let mut all = Fullness::default();
        for place in self.present_places() {
            all += self.members[place].device.fullness();
        }
        all
    }

    fn open_window(&mut self, at: u64) {
        self.opened_at = at;
        self.counters = ArrayCounters::default();
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.open_window();
            if rebuild.goes_on() {
                self.timers.add(at, Timer::Rebuild);
            }
        }
        for member in &mut self.members {
            member.device.open_window(at);
        }
    }

    fn close_window(&mut self, at: u64, outcome: &mut Outcome) {
        let window = outcome.window;
        let close = |member: &mut Member| {
            let mut own = Outcome {
                window,
                ..Outcome::default()
            };
            member.device.close_window(at, &mut own);
            own
        };
        outcome.media = Media::Members(self.members.iter_mut().map(close).collect());
        self.counters.window_ns = at - self.opened_at;
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.close_window(self.opened_at, &mut self.counters);
        }
        outcome.array = Some(std::mem::take(&mut self.counters));
    }

    fn end(&mut self, outcome: &mut Outcome) -> Result<(), SimError> {
        for (member, own) in self.members.iter_mut().zip(outcome.media.members_mut()) {
            member.device.end(own)?;
        }
        outcome.energy = Energy::of_members(&outcome.media, outcome.measured_requests);
        Ok(())
    }

    fn reset(&mut self) {
        for member in &mut self.members {
            member.device.reset();
        }
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.reset();
        }
    }

    fn changes(&self) -> Vec<u8> {
        let mut all = state::changes(self.members.iter().map(|member| &*member.device));
        if let Some(rebuild) = &self.rebuild {
            all.extend(rebuild.position().to_le_bytes());
        }
        all
    }

    fn take_up(&mut self, changes: &[u8]) -> Result<(), SnapshotError> {
        let devices = self.members.iter_mut().map(|member| &mut *member.device);
        let taken = match &mut self.rebuild {
            None => state::take_up(devices, changes),
            Some(rebuild) => match changes.split_last_chunk() {
                None => Err(SnapshotError::Checksum),
                Some((members, position)) => {
                    let taken = state::take_up(devices, members);
                    taken.and_then(|()| rebuild.take_up(u64::from_le_bytes(*position)))
                }
            },
        };
        if taken.is_err() {
            self.reset();
        }
        taken
    }
}
