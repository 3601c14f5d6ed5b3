//! The host's side of a disk: commands, the link, and reads answered from the cache.
//!
//! The link carries one item at a time, in the order in which they were queued, so the end of each
//! transfer is known at once.

use drivelab_request::CommandKind;

use super::Part;
use super::cache::Found;
use super::disk::{Hdd, Job, SECTOR, Slot};
use super::schedule::Waiting;
use crate::host::Completion;

impl Hdd {
    pub(super) fn put_on_link(&mut self, tag: u32, job: Job, time: u64, now: u64) {
        self.link_free_at = self.link_free_at.max(now) + time;
        self.link.push_back((self.link_free_at, tag, job));
    }

    /// A command enters the disk.
    pub(super) fn enter(&mut self, tag: u32, now: u64) {
        let slot = &mut self.slots[tag as usize];
        slot.since = now;
        match slot.kind {
            CommandKind::Read => {
                self.put_on_link(tag, Job::ReadCommand, self.times.read_command, now);
            }
            CommandKind::Write if slot.is_cached => {
                self.blocked.push_back(tag);
                if self.blocked.len() == 1 {
                    self.admit_blocked(now);
                }
            }
            CommandKind::Write => self.take_data(tag, now),
            CommandKind::Flush | CommandKind::Trim | CommandKind::WriteZeroes => {
                self.put_on_link(tag, Job::FlushCommand, self.times.flush_command, now);
            }
        }
    }

    /// Gives waiting writes room in the cache, in the order in which they came.
    pub(super) fn admit_blocked(&mut self, now: u64) {
        while let Some(&tag) = self.blocked.front() {
            let slot = &mut self.slots[tag as usize];
            if !self.writes.reserve(slot.end - slot.first) {
                return;
            }
            slot.parts[Part::Buffer as usize] += now - slot.since;
            self.blocked.pop_front();
            self.take_data(tag, now);
        }
    }

    pub(super) fn take_data(&mut self, tag: u32, now: u64) {
        let bytes = self.slots[tag as usize].bytes.into();
        let time = self.times.write_command + self.times.link(bytes);
        self.put_on_link(tag, Job::WriteData, time, now);
    }

    pub(super) fn crossed(
        &mut self,
        tag: u32,
        job: Job,
        now: u64,
        completions: &mut Vec<Completion>,
    ) {
        match job {
            Job::ReadCommand => self.look_up(tag, now),
            Job::ReadData => self.complete(tag, now, completions),
            Job::FlushCommand => {
                self.slots[tag as usize].since = now;
                self.flushes.push_back((self.number, tag));
                self.end_flushes(now);
            }
            Job::WriteData => self.take_write(tag, now),
        }
    }

    /// The data of a write has arrived in the disk.
    pub(super) fn take_write(&mut self, tag: u32, now: u64) {
        let Slot {
            first,
            end,
            is_cached,
            ..
        } = self.slots[tag as usize];
        self.forget(first, end, now);
        if is_cached {
            let number = self.next_number();
            let geometry = &self.mechanism.geometry;
            let replaced = self.writes.insert(first, end, number, geometry);
            self.counters.replaced_bytes += replaced * SECTOR;
            self.acknowledge(tag, now);
        } else {
            self.wait_for_mechanism(tag, first, now);
        }
    }

    /// A read looks for its sectors in the cache.
    pub(super) fn look_up(&mut self, tag: u32, now: u64) {
        let Slot { first, end, .. } = self.slots[tag as usize];
        if self.writes.holds(first, end) {
            self.counters.cache_hit_reads += 1;
            self.send_data(tag, now);
            return;
        }
        self.settle(now);
        match self.segments.find(first, end) {
            Found::All(segment) => {
                self.counters.cache_hit_reads += 1;
                self.read_further(segment, now);
                self.send_data(tag, now);
            }
            Found::Until(sector) => self.wait_for_mechanism(tag, sector, now),
            Found::Nothing => self.wait_for_mechanism(tag, first, now),
        }
    }

    pub(super) fn wait_for_mechanism(&mut self, tag: u32, sector: u64, now: u64) {
        let number = self.next_number();
        let slot = &mut self.slots[tag as usize];
        slot.since = now;
        self.waiting.push(Waiting {
            sector,
            count: (slot.end - sector) as u32,
            place: self.mechanism.geometry.place(sector),
            number,
            slot: tag,
            writes: slot.kind == CommandKind::Write,
        });
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number - 1
    }

    pub(super) fn send_data(&mut self, tag: u32, now: u64) {
        let time = self.times.link(self.slots[tag as usize].bytes.into());
        self.put_on_link(tag, Job::ReadData, time, now);
    }

    pub(super) fn acknowledge(&mut self, tag: u32, now: u64) {
        self.acknowledged
            .push_back((now + self.times.acknowledge, tag));
    }

    /// Ends each flush once everything written before it is on the platters.
    pub(super) fn end_flushes(&mut self, now: u64) {
        let oldest = self.writes.oldest().unwrap_or(u64::MAX);
        while let Some(&(number, tag)) = self.flushes.front()
            && oldest >= number
        {
            self.flushes.pop_front();
            let slot = &mut self.slots[tag as usize];
            slot.parts[Part::Buffer as usize] += now - slot.since;
            self.acknowledge(tag, now);
        }
    }

    pub(super) fn complete(&mut self, tag: u32, now: u64, completions: &mut Vec<Completion>) {
        let slot = &self.slots[tag as usize];
        let mut parts = slot.parts;
        parts[Part::Host as usize] = now - slot.submitted - parts.iter().sum::<u64>();
        completions.push(Completion {
            tag,
            at: now,
            parts,
        });
        self.vacant.push(tag);
        match self.outside.pop_front() {
            Some(next) => self.enter(next, now),
            None => self.free_commands += 1,
        }
    }
}
