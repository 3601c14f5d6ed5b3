//! The front room: what is between the host and everything else.
//!
//! ```text
//!   placed ─> [queue pair] ─> enters ─> link ─> ... ─> link ─> acknowledged, told ─> vacant
//! ```
//!
//! It owns the commands that are in the drive, the queue pairs in which they wait, the link
//! and what the host is still to be told. What a command needs of other rooms it does not know.

mod arbitration;
mod link;
mod queue_pair;
mod slot;
pub mod times;

use drivelab_ftl::{PageRun, prefetch};
use drivelab_request::{Command, CommandKind};

use super::account::split::{PARTS, Part};
use super::ring::Ring;
use super::timeline::LINK;
use crate::event::EventKey;
use crate::host::clock::oldest;
use crate::preset::SsdConfig;
use link::Link;
use queue_pair::{PairSettings, QueuePairs};
use times::FrontTimes;

pub use link::Job;
pub use slot::Slot;

/// Commands in the drive, and their ways in and out.
#[derive(Clone, Debug)]
pub struct Front {
    pub times: FrontTimes,
    pairs: QueuePairs,
    link: Link,
    /// Writes that are complete at a time, in order.
    acknowledged: Ring<(u64, u32)>,
    slots: Vec<Slot>,
    vacant: Vec<u32>,
}

impl Front {
    pub fn new(config: &SsdConfig) -> Self {
        Self {
            times: FrontTimes::new(config, 1.0),
            pairs: QueuePairs::new(PairSettings::new(config)),
            link: Link::new(config.host.interface, config.units() as usize + LINK),
            acknowledged: Ring::default(),
            slots: Vec::new(),
            vacant: Vec::new(),
        }
    }

    /// No command is here.
    pub fn reset(&mut self, times: FrontTimes) {
        self.times = times;
        self.pairs.reset();
        self.link.reset();
        self.acknowledged.clear();
        self.slots.clear();
        self.vacant.clear();
    }

    /// Takes a command of a stream and its queue pair, which an owner knows by a number; answers
    /// its slot, and whether it enters the drive now. Otherwise it waits for another to leave.
    #[inline(always)]
    pub fn place(
        &mut self,
        (stream, pair, number): (u16, u16, u32),
        command: Command,
        (run, keeps_content): (&PageRun, bool),
        now: u64,
    ) -> (u32, bool) {
        let slot = match self.vacant.pop() {
            Some(slot) => slot,
            None => self.new_slot(),
        };
        // Field by field: a copy of the whole would wait until every field has reached
        // the cache.
        let entry = &mut self.slots[slot as usize];
        entry.command.arrival = command.arrival;
        entry.command.offset_bytes = command.offset_bytes;
        entry.command.size_bytes = command.size_bytes;
        entry.command.kind = command.kind;
        entry.command.is_forced = command.is_forced;
        entry.command.zone = command.zone;
        entry.pages.action = run.action;
        entry.pages.count = run.pages;
        entry.pages.first_partial = run.first_partial;
        entry.pages.last_partial = run.last_partial;
        if keeps_content {
            entry.pages.content = run.content;
        }
        entry.stream = stream;
        entry.pair = pair;
        entry.number = number;
        entry.submitted = now;
        entry.since = now;
        entry.parts = [0; PARTS];
        entry.pending = 0;
        entry.reserved = 0;
        (slot, self.pairs.enters(pair, slot))
    }

    #[cold]
    fn new_slot(&mut self) -> u32 {
        self.slots.push(Slot::VACANT);
        (self.slots.len() - 1) as u32
    }

    /// The command in a slot.
    #[inline(always)]
    pub fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    #[inline(always)]
    pub fn slot_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    /// Hints that `slot` is needed soon.
    #[inline(always)]
    pub fn prefetch_slot(&self, slot: u32) {
        let entry = &self.slots[slot as usize];
        // It has two lines of the cache.
        prefetch(&self.slots, slot as usize);
        prefetch(&entry.parts, Part::Buffer as usize);
    }

    /// The kind of the command in `slot`, and its stream.
    pub fn owner_of(&self, slot: u32) -> (CommandKind, u16) {
        let entry = &self.slots[slot as usize];
        (entry.command.kind, entry.stream)
    }

    /// Nothing asks about the command in `slot` any more.
    #[inline(always)]
    pub fn vacate(&mut self, slot: u32) {
        self.vacant.push(slot);
    }

    /// A command of a queue pair has left the drive: which one enters instead, if any.
    #[inline(always)]
    pub fn leaves(&mut self, pair: u16) -> Option<u32> {
        self.pairs.leaves(pair)
    }

    /// Commands submitted and not complete.
    pub fn outstanding(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// In which slot the next command will be.
    pub fn next_slot(&self) -> u32 {
        let new = self.slots.len() as u32;
        self.vacant.last().copied().unwrap_or(new)
    }

    /// When the first of those was submitted that are here.
    pub fn oldest_submission(&self) -> Option<u64> {
        oldest(self.slots.iter().map(|slot| slot.submitted), &self.vacant)
    }

    /// Whether nothing crosses to the drive.
    #[inline(always)]
    pub fn is_link_free(&self, now: u64) -> bool {
        self.link.is_free(now)
    }

    /// Something of the command in `slot` crosses the link, which takes `time`.
    #[inline(always)]
    pub fn put_on_link(&mut self, slot: u32, job: Job, time: u64, now: u64) {
        self.link.put(slot, job, time, now);
    }

    /// When the first job on the link has crossed it.
    #[inline(always)]
    pub fn next_on_link(&self) -> EventKey {
        self.link.next()
    }

    /// What has crossed the link.
    #[inline(always)]
    pub fn take_from_link(&mut self) -> (u32, Job) {
        self.link.take()
    }

    /// A write's last data is in the buffer: the host sees it as complete some time later. Answers
    /// when, if nobody else is told before.
    #[inline(always)]
    pub fn acknowledge(&mut self, slot: u32, now: u64) -> Option<u64> {
        let at = now + self.times.acknowledge;
        let is_first = self.acknowledged.is_empty();
        self.acknowledged.push((at, slot));
        is_first.then_some(at)
    }

    /// The first write that the host now sees as complete, and when the next one is.
    pub fn take_acknowledged(&mut self) -> Option<(u32, Option<u64>)> {
        let (_, slot) = self.acknowledged.pop()?;
        Some((slot, self.acknowledged.front().map(|&(at, _)| at)))
    }

    /// The host is to be told by an interrupt that the command in `slot` is complete; answers when
    /// something happens next to those that wait for one.
    pub fn post(&mut self, slot: u32, now: u64) -> Option<u64> {
        let pair = self.slots[slot as usize].pair;
        let (cost, wait) = (self.times.interrupt, self.times.interrupt_wait);
        self.pairs.post(pair, slot, now, cost, wait);
        self.pairs.next_event()
    }

    /// A command of which the host has been told by `now`.
    pub fn told(&mut self, now: u64) -> Option<u32> {
        self.pairs.told(now, self.times.interrupt)
    }

    /// When something happens next to completions that wait for an interrupt.
    pub fn next_interrupt(&self) -> Option<u64> {
        self.pairs.next_event()
    }
}
