//! An SSD without its users: somebody else submits, keeps time and counts.
//!
//! The events are those of the drive's own loop, one served at a time, so that what its
//! owner submits at a completion comes before whatever else happens at that moment. The
//! drive does not know whether commands are still to come, so it does nothing in idle time.

use drivelab_ftl::{Firmware, Lpn};
use drivelab_request::{Command, CompletionWindow, WindowPlan};

use super::engine::{ARRIVAL, Engine};
use super::load::{Running, Source};
use super::outcome::Outcome;
use super::prepare::{Drive, Ssd, with};
use super::split::{FLASH_PARTS, PARTS};
use super::timing::Timing;
use super::{Plan, SimError, Stream, run};
use crate::event::EventKey;
use crate::host::clock::HostClock;
use crate::host::{Completion, Device, HostTime, PartNames, measurement_factor};

/// Who submits to an SSD from outside: by slot the tag of the command in it, and what is
/// complete and has not been told yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Outside {
    tags: Vec<u32>,
    completions: Vec<Completion>,
}

impl Outside {
    pub fn complete(&mut self, slot: u32, parts: &[u64; PARTS], now: u64) {
        self.completions.push(Completion {
            tag: self.tags[slot as usize],
            at: now,
            parts: *parts,
        });
    }
}

impl<F: Firmware> Engine<F> {
    /// A run begins whose commands come from outside.
    pub(super) fn begin_outside(&mut self, timing: Timing) {
        self.reset(Plan::default(), timing);
        // One that never opens or closes: nothing is counted here.
        self.window = CompletionWindow::new(WindowPlan::default());
        self.clock = HostClock::of_another();
        self.outside = Some(Box::default());
        let nothing = Source::Timed {
            commands: Vec::new(),
        };
        self.streams = vec![Running::new(
            Stream::new("all", nothing),
            self.capacity_bytes,
        )];
    }

    pub(super) fn submit_outside(
        &mut self,
        tag: u32,
        command: &Command,
        now: u64,
    ) -> Result<(), SimError> {
        let slot = self.host.next_slot() as usize;
        if let Some(outside) = &mut self.outside {
            let tags = &mut outside.tags;
            tags.resize(tags.len().max(slot + 1), 0);
            tags[slot] = tag;
        }
        if self.current.time() < now {
            // As an arrival: everything before this moment has been served.
            self.current = EventKey::new(now, self.units as usize + ARRIVAL);
        }
        self.submit(0, *command, now);
        self.failure.take().map_or(Ok(()), Err)
    }

    pub(super) fn next_outside(&self) -> Option<u64> {
        if let Some(waiting) = self.outside.as_ref().and_then(|o| o.completions.first()) {
            return Some(waiting.at);
        }
        let next = self.host.link.next().min(self.events.first());
        (next != EventKey::NEVER).then(|| next.time())
    }

    pub(super) fn serve_outside(
        &mut self,
        limit: u64,
        told: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        let is_told = |engine: &Self| {
            let outside = engine.outside.as_ref();
            outside.is_none_or(|outside| outside.completions.is_empty())
        };
        while is_told(self) && self.next_outside().is_some_and(|at| at <= limit) {
            self.step()?;
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
        }
        if let Some(outside) = &mut self.outside {
            told.append(&mut outside.completions);
        }
        Ok(())
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

impl Device for Ssd {
    fn capacity_bytes(&self) -> u64 {
        Self::capacity_bytes(self)
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
        with!(&mut self.drive, worker => worker.engine.begin_outside(timing));
        factor
    }

    fn host_time(&self, seed: u64, index: u64) -> Option<HostTime> {
        HostTime::new(&self.config.variability, seed, index)
    }

    fn reset(&mut self) {
        Self::reset(self);
    }

    fn submit(&mut self, tag: u32, command: &Command, now: u64) -> Result<(), SimError> {
        with!(&mut self.drive, worker => worker.engine.submit_outside(tag, command, now))
    }

    fn hint(&self, offset_bytes: u64) {
        with!(&self.drive, worker => {
            let engine = &worker.engine;
            engine.firmware.prefetch_map(Lpn((offset_bytes >> engine.page_shift) as u32));
        });
    }

    fn hint_overwrite(&self, offset_bytes: u64) {
        with!(&self.drive, worker => {
            let engine = &worker.engine;
            engine.firmware.prefetch_overwrite(Lpn((offset_bytes >> engine.page_shift) as u32));
        });
    }

    fn next_event(&self) -> Option<u64> {
        with!(&self.drive, worker => worker.engine.next_outside())
    }

    fn serve(&mut self, completions: &mut Vec<Completion>) -> Result<(), SimError> {
        let now = Device::next_event(self).unwrap_or(0);
        self.serve_until(now, completions)
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        with!(&mut self.drive, worker => worker.engine.serve_outside(limit, completions))
    }

    fn drain(&mut self, now: u64) -> bool {
        with!(&mut self.drive, worker => worker.engine.drain_outside(now))
    }

    fn open_window(&mut self, at: u64) {
        with!(&mut self.drive, worker => {
            let served = worker.engine.served_until(at);
            worker.engine.open_account(at, served);
        });
    }

    fn close_window(&mut self, at: u64, outcome: &mut Outcome) {
        with!(&mut self.drive, worker => {
            let engine = &mut worker.engine;
            engine.close_account(at, engine.served_until(at));
            outcome.take_flash(std::mem::take(&mut engine.outcome));
        });
    }

    fn end(&mut self, outcome: &mut Outcome) -> Result<(), SimError> {
        with!(&mut self.drive, worker => {
            outcome.all_programs += worker.engine.tally.programs();
            run::end(&mut worker.engine, &self.config, outcome)
        })
    }
}
