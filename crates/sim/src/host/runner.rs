//! The loop that runs the streams of a load on a [`Device`].
//!
//! ```text
//!   earliest of   next arrival   and   the device's next event
//!                      │                    │
//!                   submit              serve ─> count, submit the stream's next
//! ```
//!
//! What happens in the device comes before what arrives at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drivelab_request::{Command, CompletionWindow, Nanos, WindowPlan};
use drivelab_workload::Characteristics;

use super::clock::HostClock;
use super::counting::Counting;
use super::device::{Completion, Device};
use super::error::SimError;
use super::load::{Load, Running, SECTOR_SHIFT, TablesOf};
use super::outcome::Outcome;
use super::plan::{self, Plan};
use super::request_log::LoggedRequest;
use super::split::PARTS;
use super::streams::{self, MOST_IN_NO_TIME, STOP_INTERVAL};
use super::watch::{Standing, Watch};
use crate::event::END_OF_TIME;

/// Later than this a run is refused.
const LAST_NOW: u64 = END_OF_TIME / 2;

/// Whether to stop is looked up, and who watches told, in such steps of time too.
const LOOK_STEP_NS: u64 = 100_000_000;

/// A command between submission and completion.
#[derive(Clone, Copy, Debug)]
struct Slot {
    command: Command,
    /// [`VACANT`] when it is complete.
    submitted: u64,
    stream: u16,
}

const VACANT: u64 = u64::MAX;

/// A device and its users.
pub struct Runner<D> {
    device: D,
    streams: Vec<Running>,
    /// Commands of some come at their own times.
    has_arrivals: bool,
    /// By tag.
    slots: Vec<Slot>,
    outstanding: u64,
    /// What was served last; kept for its memory.
    completions: Vec<Completion>,
    /// Its slots, where several are complete at once.
    completed: Vec<Slot>,
    window: CompletionWindow,
    counting: Counting,
    /// The host's time: the window's, arrivals' and latencies'. All else is the device's.
    clock: HostClock,
    /// When the window opened, in the device's time.
    opened_at: u64,
    /// From this time on the window opens or closes, or something is looked up.
    deadline: u64,
    submitted: u64,
    /// A moment, and how many were submitted then or before.
    stood: (u64, u64),
    stop: Arc<AtomicBool>,
    watch: Option<Arc<Watch>>,
    outcome: Outcome,
}

impl<D: Device> Runner<D> {
    /// An idle device whose runs end soon after `stop` is set.
    pub fn new(device: D, stop: &Arc<AtomicBool>) -> Self {
        Self {
            device,
            streams: Vec::new(),
            has_arrivals: false,
            slots: Vec::new(),
            outstanding: 0,
            completions: Vec::new(),
            completed: Vec::new(),
            window: CompletionWindow::new(WindowPlan::default()),
            counting: Counting::default(),
            clock: HostClock::default(),
            opened_at: 0,
            deadline: 0,
            submitted: 0,
            stood: (0, 0),
            stop: Arc::clone(stop),
            watch: None,
            outcome: Outcome::default(),
        }
    }

    /// The device, for checks.
    #[must_use]
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// The device, to be brought into another state between runs.
    pub const fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Runs from here on end soon after `stop` is set.
    pub fn stopped_by(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    /// Tells `watch` where every run from here on stands.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        self.watch = Some(Arc::clone(watch));
    }

    /// Measures one workload over the whole drive. Random numbers are keyed by `seed` and
    /// `index`.
    ///
    /// # Errors
    /// [`SimError`] when the workload cannot be served.
    pub fn measure(
        &mut self,
        workload: &Characteristics,
        seed: u64,
        index: u64,
        plan: Plan,
    ) -> Result<Outcome, SimError> {
        let load = plan::load_of(workload, plan, self.device.capacity_bytes(), seed, index)?;
        self.run(load, plan, seed, index).and_then(plan::told)
    }

    /// Runs any load until every command is complete and the device is drained.
    ///
    /// # Errors
    /// [`SimError`] when a command cannot be served or simulated time ends.
    pub fn run(
        &mut self,
        load: Load,
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        plan::check(&load, plan, self.device.capacity_bytes(), 1)?;
        if !self.device.takes_trims() {
            load.check_without_trims()?;
        }
        self.begin(load, plan, seed, index)?;
        self.advance()?;
        while self.device.drain(self.window.now().0) {
            self.advance()?;
        }
        let is_over = self.window.closed_by().is_some();
        if let Some(error) = streams::stalled(&self.streams, is_over) {
            return Err(error);
        }
        let mut outcome = std::mem::take(&mut self.outcome);
        streams::end(&self.streams, self.window.completed(), &mut outcome);
        self.device.end(&mut outcome)?;
        Ok(outcome)
    }

    fn begin(&mut self, load: Load, plan: Plan, seed: u64, index: u64) -> Result<(), SimError> {
        self.outcome = Outcome {
            part_names: self.device.part_names(),
            variability_factor: self.device.begin(seed, index),
            ..Outcome::default()
        };
        self.clock = HostClock::new(self.device.host_time(seed, index));
        self.slots.clear();
        self.outstanding = 0;
        self.submitted = 0;
        self.stood = (0, 0);
        self.window = CompletionWindow::new(plan.window);
        self.counting = Counting::new(load.streams.len(), plan);
        if self.window.is_open() {
            self.opened(0);
        }
        self.deadline = self.next_deadline(0);
        let (running, depths) = streams::begin(load, self.device.capacity_bytes());
        self.has_arrivals = streams::next_arrival(&running).is_some();
        self.streams = running;
        for (stream, depth) in (0..).zip(depths) {
            for _ in 0..depth {
                self.submit_next(stream, 0)?;
            }
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), SimError> {
        loop {
            let event = self.device.next_event();
            let arrival = self.next_arrival();
            match (event, arrival) {
                (None, None) => return Ok(()),
                (Some(at), arrival) if arrival.is_none_or(|(then, _)| at <= then) => {
                    self.come_to(at)?;
                    let limit = arrival.map_or(u64::MAX, |(then, _)| then);
                    self.serve(limit.min(self.deadline - 1))?;
                }
                (_, Some((at, stream))) => {
                    self.come_to(at)?;
                    self.submit_next(stream, at)?;
                }
                (Some(_), None) => {}
            }
        }
    }

    /// None once the window is closed.
    #[inline(always)]
    fn next_arrival(&mut self) -> Option<(u64, u16)> {
        if !self.has_arrivals || self.window.closed_by().is_some() {
            return None;
        }
        let (at, stream) = streams::next_arrival(&self.streams)?;
        Some((self.clock.drive_ns(at), stream))
    }

    #[inline(always)]
    fn come_to(&mut self, now: u64) -> Result<(), SimError> {
        if now >= self.deadline {
            self.pass_time(now)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn serve(&mut self, limit: u64) -> Result<(), SimError> {
        self.completions.clear();
        self.device.serve_until(limit, &mut self.completions)?;
        match self.completions.len() {
            0 => Ok(()),
            1 => {
                let slot = self.take_slot(0);
                self.complete(slot, 0)
            }
            several => {
                // A tag is free from here on, and what the first submits may get the second's.
                self.completed.clear();
                for place in 0..several {
                    let slot = self.take_slot(place);
                    self.completed.push(slot);
                }
                (0..several).try_for_each(|place| self.complete(self.completed[place], place))
            }
        }
    }

    /// The slot of a completion, vacant from here on.
    #[inline(always)]
    fn take_slot(&mut self, place: usize) -> Slot {
        let slot = &mut self.slots[self.completions[place].tag as usize];
        let taken = *slot;
        slot.submitted = VACANT;
        taken
    }

    #[inline(always)]
    fn complete(&mut self, slot: Slot, place: usize) -> Result<(), SimError> {
        let Slot {
            command,
            submitted,
            stream,
        } = slot;
        let completion = &self.completions[place];
        let (now, parts) = (completion.at, completion.parts);
        self.outstanding -= 1;
        let running = &mut self.streams[stream as usize];
        running.completed += 1;
        let resubmits = running.resubmits;
        if self.clock.differs() {
            let told = self.clock.told(now - submitted, &parts, now);
            self.count((command, stream), told.latency, &told.parts, (told.at, now));
            let submitted = self.slots.iter().map(|slot| slot.submitted);
            let oldest = || submitted.min().filter(|&oldest| oldest != VACANT);
            self.clock.forget(oldest, now);
        } else {
            let latency = now - submitted;
            self.count((command, stream), latency, &parts, (now, now));
        }
        if resubmits && self.window.closed_by().is_none() {
            self.submit_next(stream, now)?;
        }
        Ok(())
    }

    /// Counts a completion at a moment of the host's time and of the device's.
    #[inline(always)]
    fn count(
        &mut self,
        (command, stream): (Command, u16),
        latency: u64,
        parts: &[u64; PARTS],
        (at, now): (u64, u64),
    ) {
        let was_open = self.window.is_open();
        if was_open {
            let what = (command.kind, command.size_bytes);
            self.counting.record(stream, what, latency, parts);
            if self.counting.is_observed() {
                let request = LoggedRequest {
                    command,
                    stream,
                    submitted_ns: at - latency,
                    parts: *parts,
                };
                self.counting.observe(request, at);
            }
        }
        if self.window.tick(at, latency) {
            self.window_decided(was_open, now);
        }
    }

    #[inline(always)]
    fn submit_next(&mut self, stream: u16, now: u64) -> Result<(), SimError> {
        let running = &mut self.streams[stream as usize];
        let tables = TablesOf(&self.device);
        let command = match running.take_request(&tables, SECTOR_SHIFT) {
            Some(request) => request.into(),
            None => match running.take(&tables, SECTOR_SHIFT) {
                Some(command) => command,
                None => return Ok(()),
            },
        };
        if !running.holds(&command) {
            let (start, end) = running.range();
            return Err(SimError::Range {
                stream: running.name.clone(),
                command,
                start,
                end,
            });
        }
        running.submitted += 1;
        if self.submitted.is_multiple_of(STOP_INTERVAL) {
            self.reason_to_stop(now)?;
        }
        self.submitted += 1;
        let slot = Slot {
            command,
            submitted: now,
            stream,
        };
        let tag = self.device.submit(&command, now)? as usize;
        if tag >= self.slots.len() {
            let vacant = Slot {
                submitted: VACANT,
                ..slot
            };
            self.slots.resize(tag + 1, vacant);
        }
        self.slots[tag] = slot;
        self.outstanding += 1;
        Ok(())
    }

    /// Looked up now and then: whether to go on has become pointless.
    #[cold]
    fn reason_to_stop(&mut self, now: u64) -> Result<(), SimError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(SimError::Stopped);
        }
        if let Some(overloaded) = streams::overloaded(&self.streams, now) {
            return Err(overloaded);
        }
        if now != self.stood.0 {
            self.stood = (now, self.submitted);
        }
        // A window that waits for time would do so for ever.
        let stands_still = self.submitted - self.stood.1 > MOST_IN_NO_TIME;
        if stands_still && self.window.next_time().is_some() {
            return Err(SimError::NoTime);
        }
        Ok(())
    }

    fn next_deadline(&mut self, now: u64) -> u64 {
        let latest = (now + LOOK_STEP_NS).min(LAST_NOW + 1);
        let decides = self.window.next_time().map_or(u64::MAX, |at| at.0);
        self.clock.drive_ns_until(decides, latest)
    }

    /// Time comes to `now`, at or after the deadline, before what happens then.
    #[cold]
    fn pass_time(&mut self, now: u64) -> Result<(), SimError> {
        let host_now = self.clock.host_ns(now);
        while let Some(Nanos(host_at)) = self.window.next_time()
            && host_at <= host_now
        {
            let was_open = self.window.is_open();
            self.window.advance(host_at);
            let at = self.clock.drive_ns(host_at);
            self.window_decided(was_open, at);
        }
        if now > LAST_NOW {
            return Err(SimError::EndOfTime { nanos: now });
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(SimError::Stopped);
        }
        if let Some(watch) = &self.watch {
            watch.tell(Standing {
                completed: self.window.completed(),
                outstanding: self.outstanding,
                simulated_ns: host_now,
                drains: self.window.closed_by().is_some(),
            });
        }
        self.deadline = self.next_deadline(now);
        Ok(())
    }

    #[cold]
    fn window_decided(&mut self, was_open: bool, at: u64) {
        if self.window.is_open() && !was_open {
            self.opened(at);
        } else if was_open && !self.window.is_open() {
            self.counting
                .close(&self.window, &self.streams, &mut self.outcome);
            let worked = at - self.opened_at;
            if self.clock.differs() && worked > 0 {
                self.outcome.variability_factor *= self.outcome.window.0 as f64 / worked as f64;
            }
            self.device.close_window(at, &mut self.outcome);
        }
        self.deadline = self.next_deadline(at);
    }

    fn opened(&mut self, at: u64) {
        self.opened_at = at;
        self.counting.open(self.clock.host_ns(at));
        self.device.open_window(at);
    }
}
