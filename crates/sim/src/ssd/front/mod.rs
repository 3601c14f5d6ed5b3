//! Everything between the host and the rest of the drive.
//!
//! ```text
//!   placed ─> [queue pair] ─> enters ─> link ─> ... ─> link ─> acknowledged, reported ─> vacant
//! ```
//!
//! It owns the commands in the drive, the queue pairs in which they wait, the link, and the
//! completions that the host has not received yet. It does not know what a command needs elsewhere
//! in the drive.

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

/// The commands in the drive, and their ways in and out.
#[derive(Clone, Debug)]
pub struct Front {
    pub times: FrontTimes,
    pairs: QueuePairs,
    link: Link,
    /// Writes and the times at which they complete, in order.
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

    /// Empties it.
    pub fn reset(&mut self, times: FrontTimes) {
        self.times = times;
        self.pairs.reset();
        self.link.reset();
        self.acknowledged.clear();
        self.slots.clear();
        self.vacant.clear();
    }

    /// Takes a command of a stream and its queue pair. An owner knows it by a number. Returns its
    /// slot, and whether it enters the drive now; otherwise it waits for another to leave.
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
        // Field by field: a copy of the whole would wait until every field has reached the CPU's
        // cache.
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

    /// Prefetches `slot`, which is needed soon.
    #[inline(always)]
    pub fn prefetch_slot(&self, slot: u32) {
        let entry = &self.slots[slot as usize];
        // A slot fills two cache lines.
        prefetch(&self.slots, slot as usize);
        prefetch(&entry.parts, Part::Buffer as usize);
    }

    /// The kind of the command in `slot`, and its stream.
    pub fn owner_of(&self, slot: u32) -> (CommandKind, u16) {
        let entry = &self.slots[slot as usize];
        (entry.command.kind, entry.stream)
    }

    /// The command in `slot` is not needed any more.
    #[inline(always)]
    pub fn vacate(&mut self, slot: u32) {
        self.vacant.push(slot);
    }

    /// Whether every command enters the drive when it is submitted.
    pub fn takes_all(&self) -> bool {
        self.pairs.take_all()
    }

    /// A command of a queue pair has left the drive. Returns the slot of the one that enters
    /// instead, if any.
    #[inline(always)]
    pub fn leaves(&mut self, pair: u16) -> Option<u32> {
        self.pairs.leaves(pair)
    }

    /// Commands submitted but not complete.
    pub fn outstanding(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// The slot of the next command.
    pub fn next_slot(&self) -> u32 {
        let new = self.slots.len() as u32;
        self.vacant.last().copied().unwrap_or(new)
    }

    /// When the oldest outstanding command was submitted.
    pub fn oldest_submission(&self) -> Option<u64> {
        oldest(self.slots.iter().map(|slot| slot.submitted), &self.vacant)
    }

    /// Whether nothing is crossing to the drive.
    #[inline(always)]
    pub fn is_link_free(&self, now: u64) -> bool {
        self.link.is_free(now)
    }

    /// Starts a transfer of `time` on the link for the command in `slot`.
    #[inline(always)]
    pub fn put_on_link(&mut self, slot: u32, job: Job, time: u64, now: u64) {
        self.link.put(slot, job, time, now);
    }

    /// When the first job on the link has crossed it.
    #[inline(always)]
    pub fn next_on_link(&self) -> EventKey {
        self.link.next()
    }

    /// Takes what has crossed the link.
    #[inline(always)]
    pub fn take_from_link(&mut self) -> (u32, Job) {
        self.link.take()
    }

    /// The last data of a write is in the buffer: the host sees its completion some time later.
    /// Returns when, if no other write is due before.
    #[inline(always)]
    pub fn acknowledge(&mut self, slot: u32, now: u64) -> Option<u64> {
        let at = now + self.times.acknowledge;
        let is_first = self.acknowledged.is_empty();
        self.acknowledged.push((at, slot));
        is_first.then_some(at)
    }

    /// The first write whose completion the host now sees, and when the next one is.
    pub fn take_acknowledged(&mut self) -> Option<(u32, Option<u64>)> {
        let (_, slot) = self.acknowledged.pop()?;
        Some((slot, self.acknowledged.front().map(|&(at, _)| at)))
    }

    /// Queues the completion of the command in `slot` for an interrupt. Returns the time of the
    /// next interrupt event.
    pub fn post(&mut self, slot: u32, now: u64) -> Option<u64> {
        let pair = self.slots[slot as usize].pair;
        let (cost, wait) = (self.times.interrupt, self.times.interrupt_wait);
        self.pairs.post(pair, slot, now, cost, wait);
        self.pairs.next_event()
    }

    /// A command whose completion has reached the host by `now`.
    pub fn told(&mut self, now: u64) -> Option<u32> {
        self.pairs.told(now, self.times.interrupt)
    }

    /// Time of the next interrupt event.
    pub fn next_interrupt(&self) -> Option<u64> {
        self.pairs.next_event()
    }
}
