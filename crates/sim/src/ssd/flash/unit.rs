//! A die, or in plane mode a plane: its current operation, and what waits for it.

use drivelab_ftl::Operation;

use super::channel::Channel;
use super::queue::{Account, Queue, Task};
use super::timing::Timing;
use crate::event::EventKey;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    Idle,
    /// The channel is or will be requested. [`Unit::end`] is the earliest end.
    Asked,
    /// [`Unit::end`] is the end.
    Promised,
}

/// A die, or in plane mode a plane. The first of its two cache lines holds what every event needs.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Unit {
    /// The current task, unless idle.
    pub task: Task,
    /// When it began the current task. For a move: when the read began.
    pub began: u64,
    /// When it began the current operation. For a move: the read or the program.
    pub took: u64,
    pub end: u64,
    pub channel: u16,
    pub phase: Phase,
    pub busy: u64,
    /// The part of `busy` spent on collection.
    pub collected: u64,
    pub queue: Queue,
}

impl Unit {
    /// All units of a drive, idle. If dies take several operations at a time, these units' events
    /// never end one.
    pub fn all_idle(units: u32, channels: u32, has_pipelines: bool) -> Vec<Self> {
        let end = if has_pipelines { u64::MAX } else { 0 };
        let idle = |index| Self {
            end,
            ..Self::idle(index % channels)
        };
        (0..units).map(idle).collect()
    }

    fn idle(channel: u32) -> Self {
        Self {
            task: Task::NONE,
            began: 0,
            took: 0,
            end: 0,
            channel: channel as u16,
            phase: Phase::Idle,
            busy: 0,
            collected: 0,
            queue: Queue::default(),
        }
    }

    /// Busy time until `now`, including the current operation.
    #[inline]
    pub fn busy_until(&self, now: u64) -> u64 {
        match self.phase {
            Phase::Idle => self.busy,
            _ => self.busy + now.saturating_sub(self.began),
        }
    }

    /// Time spent on collection until `now`, including the current operation.
    #[inline]
    pub fn collected_until(&self, now: u64) -> u64 {
        // Branchless, because a branch would be mispredicted half the time.
        let collects = (self.phase != Phase::Idle) & self.task.cause.moves_data();
        self.collected + u64::from(collects) * now.saturating_sub(self.began)
    }

    /// The task of an operation that is emitted at `now` and handed over by dispatch at
    /// `available`.
    #[inline(always)]
    pub fn task_of(
        &self,
        operation: &Operation,
        account: Account,
        (available, now): (u64, u64),
    ) -> Task {
        Task {
            available,
            collected: self.collected_until(now),
            account,
            ppn: operation.ppn,
            lpn: operation.lpn,
            kind: operation.kind,
            cause: operation.cause,
            tag: 0,
        }
    }

    /// The current operation, which starts at `at`, goes in line for its channel. If it will ask
    /// later than `now`, returns its earliest end.
    #[inline(always)]
    pub fn ask(
        &mut self,
        channels: &mut [Channel],
        timing: &Timing,
        unit: u32,
        (at, now): (u64, u64),
    ) -> Option<u64> {
        self.began = at;
        self.took = at;
        let Task { kind, ppn, .. } = self.task;
        let asks_at = at + timing.before_transfer(kind, ppn);
        if asks_at <= now || self.task.stays_in_place() {
            return None;
        }
        let channel = &mut channels[self.channel as usize];
        let key = EventKey::new(asks_at, unit as usize);
        let moved = channel.ask(key, timing.register[kind as usize]);
        let mut end = moved + timing.after_transfer(kind, ppn);
        if self.task.account == Account::MOVE {
            end += timing.shortest_program;
        }
        self.phase = Phase::Asked;
        self.end = end;
        Some(end)
    }

    /// The current operation requested `channel` at `asked_at` and is promised its next time.
    /// Returns beginning and end.
    #[inline(always)]
    pub fn take_channel(
        &mut self,
        channel: &mut Channel,
        timing: &Timing,
        asked_at: u64,
    ) -> (u64, u64) {
        let Task { kind, ppn, .. } = self.task;
        let (start, moved) = channel.reserve(asked_at, timing.register[kind as usize]);
        self.end = moved + timing.after_transfer(kind, ppn);
        self.phase = Phase::Promised;
        (start, moved)
    }

    /// The current operation ended.
    #[inline(always)]
    pub fn put_down(&mut self, now: u64) {
        let worked = now - self.began;
        self.busy += worked;
        self.collected += worked * u64::from(self.task.cause.moves_data());
        self.phase = Phase::Idle;
    }

    /// Whether the current operation is the program of a move.
    pub fn is_in_move(&self) -> bool {
        self.phase != Phase::Idle && self.took != self.began
    }
}
