//! An SSD without its users: somebody else submits, keeps time and counts.
//!
//! The events are those of the drive's own loop, one served at a time, so that what its
//! owner submits at a completion comes before whatever else happens at that moment. The
//! drive does not know whether commands are still to come, so it does nothing in idle time.

use drivelab_ftl::{Firmware, Lpn, Restorable};
use drivelab_request::{Command, CompletionWindow, WindowPlan};

use super::engine::{ARRIVAL, Engine};
use super::load::{Running, Source};
use super::outcome::Outcome;
use super::prepare::Worker;
use super::split::FLASH_PARTS;
use super::timing::Timing;
use super::{Plan, SimError, SnapshotError, Stream, run};
use crate::event::{EventKey, MAX_LEAVES};
use crate::host::clock::HostClock;
use crate::host::{Completion, Device, HostTime, PartNames, measurement_factor};

impl<F: Firmware> Engine<F> {
    /// A run begins whose commands come from outside.
    pub(super) fn begin_outside(&mut self, timing: Timing) {
        self.reset(Plan::default(), timing);
        // One that never opens or closes: nothing is counted here.
        self.window = CompletionWindow::new(WindowPlan::default());
        self.clock = HostClock::of_another();
        let nothing = Source::Timed {
            commands: Vec::new(),
        };
        self.streams = vec![Running::new(
            Stream::new("all", nothing),
            self.capacity_bytes,
        )];
    }

    #[inline]
    fn submit_outside(&mut self, command: &Command, now: u64) -> Result<u32, SimError> {
        let slot = self.host.next_slot();
        if self.current.time() < now {
            // As an arrival: everything before this moment has been served.
            self.current = EventKey::new(now, self.units as usize + ARRIVAL);
        }
        self.submit(0, *command, now);
        self.failure.take().map_or(Ok(slot), Err)
    }

    #[inline(always)]
    fn next_outside(&self) -> Option<u64> {
        if let Some(waiting) = self.told.first() {
            // Complete as soon as it was submitted.
            return Some(waiting.at);
        }
        let next = self.host.link.next().min(self.events.first());
        (next != EventKey::NEVER).then(|| next.time())
    }

    #[inline(always)]
    fn serve_outside(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        if !self.told.is_empty() {
            completions.append(&mut self.told);
            return Ok(self.next_outside());
        }
        let before = completions.len();
        let until = EventKey::new(limit, MAX_LEAVES - 1);
        // What is complete is put where its owner wants it, not copied there.
        let own = std::mem::replace(&mut self.told, std::mem::take(completions));
        let mut result = Ok(true);
        while self.told.len() == before
            && self.host.link.next().min(self.events.first()) <= until
            && self.failure.is_none()
        {
            result = self.step();
            if result.is_err() {
                break;
            }
        }
        *completions = std::mem::replace(&mut self.told, own);
        result?;
        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok(self.next_outside()),
        }
    }

    pub(super) fn drain_outside(&mut self, now: u64) -> bool {
        let holds = self.buffer.gathered.len() > 0;
        if holds {
            self.push_gathered(0, now);
        }
        holds
    }

    /// Up to where events have been served at `at`.
    pub(super) fn served_until(&self, at: u64) -> EventKey {
        self.current.max(EventKey::new(at, 0))
    }
}

impl<F: Restorable> Device for Worker<F> {
    fn capacity_bytes(&self) -> u64 {
        self.engine.capacity_bytes
    }

    fn part_names(&self) -> PartNames {
        FLASH_PARTS
    }

    fn takes_trims(&self) -> bool {
        true
    }

    fn begin(&mut self, seed: u64, index: u64) -> f64 {
        let factor = measurement_factor(&self.config.variability, seed, index);
        let timing = Timing::new(&self.config, factor);
        self.engine.begin_outside(timing);
        factor
    }

    fn host_time(&self, seed: u64, index: u64) -> Option<HostTime> {
        HostTime::new(&self.config.variability, seed, index)
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
        self.engine.submit_outside(command, now)
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
        self.engine.next_outside()
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        self.engine.serve_outside(limit, completions)
    }

    fn drain(&mut self, now: u64) -> bool {
        self.engine.drain_outside(now)
    }

    fn open_window(&mut self, at: u64) {
        let served = self.engine.served_until(at);
        self.engine.open_account(at, served);
    }

    fn close_window(&mut self, at: u64, outcome: &mut Outcome) {
        let engine = &mut self.engine;
        engine.close_account(at, engine.served_until(at));
        outcome.take_flash(std::mem::take(&mut engine.outcome));
    }

    fn end(&mut self, outcome: &mut Outcome) -> Result<(), SimError> {
        outcome.all_programs += self.engine.tally.programs();
        run::end(&mut self.engine, &self.config, outcome)
    }
}
