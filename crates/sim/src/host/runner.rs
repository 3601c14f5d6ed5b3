//! The loop that runs streams on a [`Device`].
//!
//! ```text
//!   earliest of   next arrival   and   the device's next event
//!                      │                    │
//!                   submit              serve ─> count, submit the stream's next
//! ```
//!
//! Device events come before arrivals at the same time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_request::Command;
use drivelab_workload::Stream;

use super::clock::HostClock;
use super::device::{Completion, Device};
use super::error::SimError;
use super::load::{self, Host, Running, SECTOR_SHIFT, TablesOf};
use super::outcome::Outcome;
use super::plan::{self, Plan};
use super::users::{Edge, Users};
use super::watch::Watch;
use crate::snapshot::SnapshotError;

/// Interval at which occasional checks are made, in simulated time.
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
    users: Users,
    /// Whether commands of some streams come at their own times.
    has_arrivals: bool,
    /// Slots by tag.
    slots: Vec<Slot>,
    /// The completions served last; kept to reuse its memory.
    completions: Vec<Completion>,
    /// The slots of those completions, if several complete at once.
    completed: Vec<Slot>,
    /// Time of the last event.
    now: u64,
    outcome: Outcome,
}

impl<D: Device> Runner<D> {
    /// An idle device whose runs end soon after `stop` is set.
    pub fn new(device: D, stop: &Arc<AtomicBool>) -> Self {
        let mut users = Users::new(LOOK_STEP_NS);
        users.stop = Arc::clone(stop);
        Self {
            device,
            users,
            has_arrivals: false,
            slots: Vec::new(),
            completions: Vec::new(),
            completed: Vec::new(),
            now: 0,
            outcome: Outcome::default(),
        }
    }

    /// The device, for checks.
    #[must_use]
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// The device, so that it can be brought into another state between runs.
    pub const fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.device.capacity_bytes()
    }

    /// Returns the device to the state in which it was made.
    pub fn reset(&mut self) {
        self.device.reset();
    }

    /// Between two runs: the difference of the device from the state in which it was made.
    #[must_use]
    pub fn changes(&self) -> Vec<u8> {
        self.device.changes()
    }

    /// Restores what [`Runner::changes`] returned.
    ///
    /// # Errors
    /// As [`Device::take_up`].
    pub fn take_up(&mut self, changes: &[u8]) -> Result<(), SnapshotError> {
        self.device.take_up(changes)
    }

    /// Later runs end soon after `stop` is set.
    pub fn stopped_by(&mut self, stop: &Arc<AtomicBool>) {
        self.users.stop = Arc::clone(stop);
    }

    /// Reports the progress of every later run to `watch`.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        self.users.watch = Some(Arc::clone(watch));
    }

    /// Runs streams until every command is complete and the device is drained. `seed` and `index`
    /// are the key of the random numbers.
    ///
    /// # Errors
    /// [`SimError`] if a command cannot be served or simulated time ends.
    pub fn run(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        let host = Host {
            capacity_bytes: self.device.capacity_bytes(),
            queue_pairs: 1,
            takes_trims: self.device.takes_trims(),
            takes_zeroes: self.device.takes_zeroes(),
            takes_ranges: false,
            zones: None,
            namespaces: Vec::new(),
        };
        let loops = load::loops_of(streams, &host, seed, index)?;
        plan::check(streams, plan)?;
        self.begin(loops, plan, seed, index)?;
        self.advance()?;
        while self.device.drain(self.now) {
            self.advance()?;
        }
        let mut outcome = std::mem::take(&mut self.outcome);
        self.users.end(true, &mut outcome)?;
        self.device.end(&mut outcome)?;
        Ok(outcome)
    }

    fn begin(
        &mut self,
        loops: Vec<Running>,
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<(), SimError> {
        self.outcome = Outcome {
            part_names: self.device.part_names(),
            variability_factor: self.device.begin(seed, index),
            ..Outcome::default()
        };
        self.slots.clear();
        self.now = 0;
        self.users.clock = HostClock::new(self.device.host_time(seed, index));
        let depths = self.users.begin(loops, plan);
        if self.users.window.is_open() {
            self.device.open_window(0);
        }
        self.has_arrivals = self.users.next_arrival().is_some();
        for (stream, depth) in (0..).zip(depths) {
            for _ in 0..depth {
                self.submit_next(stream, 0)?;
            }
        }
        self.submit_waiting(0)
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
                    self.serve(limit.min(self.users.deadline - 1))?;
                }
                (_, Some((at, stream))) => {
                    self.come_to(at)?;
                    self.submit_next(stream, at)?;
                }
                (Some(_), None) => {}
            }
        }
    }

    #[inline(always)]
    fn next_arrival(&mut self) -> Option<(u64, u16)> {
        if !self.has_arrivals {
            return None;
        }
        let (at, stream) = self.users.next_arrival()?;
        Some((self.users.clock.drive_ns(at), stream))
    }

    #[inline(always)]
    fn come_to(&mut self, now: u64) -> Result<(), SimError> {
        self.now = now;
        if now >= self.users.deadline {
            self.pass_time(now)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn serve(&mut self, limit: u64) -> Result<(), SimError> {
        self.completions.clear();
        self.device.serve_until(limit, &mut self.completions)?;
        match self.completions.len() {
            0 => return Ok(()),
            1 => {
                let slot = self.take_slot(0);
                self.complete(slot, 0)?;
            }
            several => {
                // All tags are free from here on: what the first completion submits may reuse the
                // second's tag.
                self.completed.clear();
                for place in 0..several {
                    let slot = self.take_slot(place);
                    self.completed.push(slot);
                }
                (0..several).try_for_each(|place| self.complete(self.completed[place], place))?;
            }
        }
        self.submit_waiting(self.now)
    }

    /// Streams that wait for their share, or were held, submit what they may.
    #[inline(always)]
    fn submit_waiting(&mut self, now: u64) -> Result<(), SimError> {
        if self.users.has_waiting {
            while let Some(stream) = self.users.next_waiting(now) {
                self.submit_next(stream, now)?;
            }
            self.users.have_caught_up();
        }
        Ok(())
    }

    /// Returns the slot of a completion and marks it vacant.
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
        let (now, parts) = (completion.at, &completion.parts);
        self.now = now;
        let edge = self
            .users
            .count((stream, &command), now - submitted, parts, now);
        if let Some(edge) = edge {
            self.window_decided(edge, now);
        }
        if self.users.goes_on(stream) {
            self.submit_next(stream, now)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn submit_next(&mut self, stream: u16, now: u64) -> Result<(), SimError> {
        let tables = TablesOf(&self.device);
        let Some(command) = self.users.next_command(stream, &tables, SECTOR_SHIFT) else {
            return Ok(());
        };
        self.users.submit(stream, &command, now)?;
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
        Ok(())
    }

    /// Advances time to `now`, at or after the deadline, before the events of that moment.
    #[cold]
    fn pass_time(&mut self, now: u64) -> Result<(), SimError> {
        while let Some((edge, at)) = self.users.next_edge(now) {
            self.window_decided(edge, at);
        }
        let submitted = self.slots.iter().map(|slot| slot.submitted);
        let oldest = || submitted.min().filter(|&oldest| oldest != VACANT);
        self.users.come_to(now, oldest)
    }

    #[cold]
    fn window_decided(&mut self, edge: Edge, at: u64) {
        self.users.passed(edge, at, &mut self.outcome);
        match edge {
            Edge::Opened => self.device.open_window(at),
            Edge::Closed => self.device.close_window(at, &mut self.outcome),
            Edge::Neither => {}
        }
    }
}
