//! An SSD without its users: somebody else submits, keeps time and counts.
//!
//! The events are those of the drive's own loop, served one at a time. So what the owner submits at
//! a completion comes before anything else at that moment. The drive does not know whether more
//! commands will come, so it does nothing in idle time unless its owner says that there may always
//! be another ([`Device::await_commands`]).

use std::hint::select_unpredictable;

use drivelab_ftl::{Firmware, Lpn, Restorable};
use drivelab_request::Command;

use super::run;
use crate::event::{EventKey, MAX_LEAVES};
use crate::host::load::Running;
use crate::host::outcome::Outcome;
use crate::host::{Completion, Device, Fullness, HostTime, PartNames, measurement_factor};
use crate::ssd::engine::Engine;
use crate::ssd::front::Job;
use crate::ssd::front::Slot;
use crate::ssd::prepare::Worker;
use crate::ssd::timeline::ARRIVAL;
use crate::ssd::times::Times;
use crate::ssd::{Plan, SimError, SnapshotError};

impl<F: Firmware> Engine<F> {
    /// Begins a run whose commands come from outside, from streams with these priorities.
    fn begin_outside(&mut self, times: Times, priorities: impl Iterator<Item = u8>) {
        self.reset(times);
        self.is_owned = true;
        // A window that never opens or closes: nothing is counted here.
        let outside = |(owner, priority)| Running::outside(owner, priority);
        let loops = (0..).zip(priorities).map(outside).collect();
        self.users.begin(loops, Plan::default());
    }

    /// Takes a command of `stream` from the drive's owner at `now`.
    #[inline(always)]
    fn take_outside(&mut self, stream: u16, command: Command, number: u32, now: u64) {
        if self.failure.is_some() {
            // The owner gets the first error.
            return;
        }
        // Treated as an arrival: everything before this moment has been served. Branchless, because
        // nobody can predict whether a command has just completed in this member.
        let arrived = EventKey::new(now, self.flash.unit_count() as usize + ARRIVAL);
        let is_later = self.timeline.now() < now;
        self.timeline.current = select_unpredictable(is_later, arrived, self.timeline.current);
        self.place((stream, 0), command, number, now);
        if self.background.is_always_awaited() {
            self.await_idleness();
        }
    }

    /// Whether there is nothing to report to the owner.
    #[inline(always)]
    fn goes_on(&self) -> bool {
        self.completed.is_empty() && self.failure.is_none()
    }

    /// The next event.
    #[inline(always)]
    fn next_outside(&self) -> EventKey {
        self.front.next_on_link().min(self.timeline.events.first())
    }

    /// Serves the next event, if there is one. Returns the slot of a command whose data reached the
    /// host with it. Any other completed command is in [`Engine::completed`].
    #[inline(always)]
    fn step_outside(&mut self) -> Option<u32> {
        let (link, first) = (self.front.next_on_link(), self.timeline.events.first());
        if link >= first {
            self.tree_event(first);
            return None;
        }
        if !self.come_to(link) {
            return None;
        }
        let (slot, job) = self.front.take_from_link();
        match job {
            Job::ReadData if !self.front.times.has_interrupts => {
                self.leave(slot, link.time());
                Some(slot)
            }
            job => {
                self.crossed(slot, job, link.time());
                None
            }
        }
    }

    /// Serves the events before a given time, until a command completes or fails. Returns the time
    /// of the next event.
    #[inline(always)]
    fn serve_outside(&mut self, before: u64) -> u64 {
        while self.goes_on() {
            let next = self.next_outside().time();
            if next >= before {
                return next;
            }
            self.step();
        }
        self.next_outside().time()
    }

    /// Reports completed commands, or the error, to the owner.
    #[inline(always)]
    fn tell_completed(&mut self, completions: &mut Vec<Completion>) -> Result<(), SimError> {
        for slot in self.completed.drain(..) {
            completions.push(Completion {
                tag: slot,
                at: self.timeline.now(),
                parts: *self.front.slot(slot).parts(),
            });
            self.front.vacate(slot);
        }
        self.failed()
    }

    pub(in crate::ssd) fn drain_outside(&mut self, now: u64) -> bool {
        let holds = self.buffer.has_gathered();
        if holds {
            self.push_gathered(0, now);
        }
        holds
    }

    /// The last event that has been served at `at`.
    pub(in crate::ssd) fn served_until(&self, at: u64) -> EventKey {
        let served = EventKey::new(at.saturating_sub(1), MAX_LEAVES - 1);
        self.timeline.current.max(served)
    }
}

/// For an owner that counts completed commands from the slots.
impl<F: Restorable> Worker<F> {
    /// As [`Device::begin`], for streams with these priorities.
    pub(crate) fn begin_streams(
        &mut self,
        seed: u64,
        index: u64,
        priorities: impl Iterator<Item = u8>,
    ) -> f64 {
        let factor = measurement_factor(&self.config.variability, seed, index);
        let times = Times::new(&self.config, factor);
        self.engine.begin_outside(times, priorities);
        factor
    }

    /// The time of the next event, or [`END_OF_TIME`](crate::event::END_OF_TIME).
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.engine.next_outside().time()
    }

    /// The next event, on this drive's leaves.
    #[inline(always)]
    pub(crate) fn next_key(&self) -> EventKey {
        self.engine.next_outside()
    }

    /// Serves the next event, if there is one.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> Option<u32> {
        self.engine.step_outside()
    }

    /// The time of the last event or the last submitted command.
    #[inline(always)]
    pub(crate) const fn now(&self) -> u64 {
        self.engine.timeline.now()
    }

    /// Serves the events before a given time, until a command completes or fails. Returns the time
    /// of the next event.
    #[inline(never)]
    pub(crate) fn serve_before(&mut self, before: u64) -> u64 {
        self.engine.serve_outside(before)
    }

    /// Takes a command of one of the owner's streams at `now`. The owner knows it by `number`.
    #[inline(always)]
    pub(crate) fn submit_of(&mut self, stream: u16, command: Command, number: u32, now: u64) {
        self.engine.take_outside(stream, command, number, now);
    }

    /// Returns the error if a command could not be served.
    ///
    /// # Errors
    /// The reason why it could not be served.
    #[inline(always)]
    pub(crate) fn failed(&mut self) -> Result<(), SimError> {
        self.engine.failed()
    }

    /// Whether nothing completed and nothing failed.
    #[inline(always)]
    pub(crate) fn goes_on(&self) -> bool {
        self.engine.goes_on()
    }

    /// The slots of completed commands.
    #[inline(always)]
    pub(crate) const fn completed(&mut self) -> &mut Vec<u32> {
        &mut self.engine.completed
    }

    /// The command in a slot.
    #[inline(always)]
    pub(crate) fn slot(&self, slot: u32) -> &Slot {
        self.engine.front.slot(slot)
    }

    /// The owner has taken the completed command from a slot, so the slot may be reused.
    #[inline(always)]
    pub(crate) fn vacate(&mut self, slot: u32) {
        self.engine.front.vacate(slot);
    }

    /// When the oldest outstanding command was submitted.
    pub(crate) fn oldest_submission(&self) -> Option<u64> {
        self.engine.front.oldest_submission()
    }
}

impl<F: Restorable> Device for Worker<F> {
    fn capacity_bytes(&self) -> u64 {
        self.engine.capacity_bytes
    }

    fn part_names(&self) -> PartNames {
        self.engine.part_names()
    }

    fn takes_trims(&self) -> bool {
        true
    }

    fn takes_zeroes(&self) -> bool {
        true
    }

    fn begin(&mut self, seed: u64, index: u64) -> f64 {
        self.begin_streams(seed, index, [0].into_iter())
    }

    fn host_time(&self, seed: u64, index: u64) -> Option<HostTime> {
        HostTime::new(&self.config.variability, seed, index)
    }

    fn await_commands(&mut self) {
        self.engine.background.await_always();
    }

    fn expect_programs(&mut self) {
        self.await_commands();
        self.engine.answers_unwritten = true;
    }

    fn reset(&mut self) {
        Self::reset(self);
    }

    fn changes(&self) -> Vec<u8> {
        self.engine.firmware.changes_since(&self.prepared)
    }

    fn take_up(&mut self, changes: &[u8]) -> Result<(), SnapshotError> {
        Self::reset(self);
        let applied = self.engine.firmware.apply_changes(changes);
        applied.map_err(|error| {
            Self::reset(self);
            SnapshotError::Damaged(error)
        })
    }

    fn submit(&mut self, command: &Command, now: u64) -> Result<u32, SimError> {
        let slot = self.engine.front.next_slot();
        self.engine.take_outside(0, *command, slot, now);
        self.engine.failed().map(|()| slot)
    }

    fn hint(&self, offset_bytes: u64) {
        let engine = &self.engine;
        let page = Lpn((offset_bytes >> engine.page_shift) as u32);
        engine.firmware.prefetch_map(page);
    }

    fn hint_overwrite(&self, offset_bytes: u64) {
        let engine = &self.engine;
        let page = Lpn((offset_bytes >> engine.page_shift) as u32);
        engine.firmware.prefetch_overwrite(page);
    }

    fn next_event(&self) -> Option<u64> {
        if !self.engine.completed.is_empty() {
            // The command completed as soon as it was submitted.
            return Some(self.engine.timeline.now());
        }
        let next = self.engine.next_outside();
        (next != EventKey::NEVER).then(|| next.time())
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        self.engine.serve_outside(limit.saturating_add(1));
        self.engine.tell_completed(completions)?;
        Ok(self.next_event())
    }

    fn would_lose(&self, offset_bytes: u64) -> bool {
        let page = offset_bytes / u64::from(self.config.geometry.page_size_bytes);
        self.engine.buffer.would_lose(page as u32)
    }

    fn atomic_power_loss_bytes(&self) -> u64 {
        self.config.host.atomic_power_loss_bytes
    }

    fn drain(&mut self, now: u64) -> bool {
        self.engine.drain_outside(now)
    }

    fn fullness(&self) -> Fullness {
        let engine = &self.engine;
        let (taken, pages) = engine.buffer.fill();
        Fullness {
            buffer_bytes: u64::from(pages) << engine.page_shift,
            buffered_bytes: u64::from(taken) << engine.page_shift,
            room: engine.firmware.room(),
        }
    }

    fn open_window(&mut self, at: u64) {
        let served = self.engine.served_until(at);
        self.engine.open_account(at, served);
    }

    fn close_window(&mut self, at: u64, outcome: &mut Outcome) {
        let engine = &mut self.engine;
        engine.close_account(at, engine.served_until(at));
        outcome.media = std::mem::take(&mut engine.outcome.media);
    }

    fn end(&mut self, outcome: &mut Outcome) -> Result<(), SimError> {
        run::end(&mut self.engine, &self.config, outcome)
    }
}
