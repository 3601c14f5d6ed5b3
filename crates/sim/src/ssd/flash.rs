//! Dispatch, channels and units: the way of a flash operation.
//!
//! ```text
//!   in_order:  op ─> one queue ─> [dispatch: waits until its unit is free] ─> unit
//!   per_die:   op ─> [dispatch] ─> queue of the unit ─> unit
//!
//!   unit, read:     cell ─> wait for the channel ─> transfer
//!   unit, program:  wait for the channel ─> transfer ─> cell
//!   unit, erase:    cell
//! ```
//!
//! A unit is a die; with plane mode on, a plane. It executes its operations in
//! the order in which the firmware emitted them. A channel carries one
//! transfer at a time and serves its units first come, first served; it costs
//! an event only when somebody waits. Dispatch is a server in order of arrival,
//! so its end times never decrease and `per_die` needs no event for it.

use drivelab_ftl::{Cause, Firmware, Operation, OperationKind};

use super::SimError;
use super::engine::Engine;
use super::outcome::RecordedOperation;

pub(super) const NONE: u32 = u32::MAX;

/// Operations in flight at once: some 200 MB, far above what a controller queues.
const MAX_IN_FLIGHT: u32 = 1 << 22;

/// On whose account an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Account {
    /// A request waits for it: its slot.
    Request(u32),
    /// It empties a page of the write buffer.
    Buffer,
    /// Nobody waits.
    Nobody,
}

/// An operation between emission and completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub operation: Operation,
    pub account: Account,
    /// `per_die`: when dispatch has handed it over.
    pub available: u64,
    /// The next in the same queue.
    next: u32,
    /// Index in the recording, if one is made.
    record: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    /// A program that dispatch has not handed over yet.
    Coming,
    /// A read in the cell array.
    Sensing,
    /// Waiting in the channel's queue.
    Queued,
    /// The last stage: transfer of a read, cell of a program or erase.
    Finishing,
}

/// A die (in plane mode a plane): one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Unit {
    phase: Phase,
    current: u32,
    head: u32,
    tail: u32,
    next_waiter: u32,
    pub channel: u32,
    began: u64,
    pub busy: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    free_at: u64,
    first_waiter: u32,
    last_waiter: u32,
    pub busy: u64,
}

/// The controller's dispatch stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispatch {
    pub in_order: bool,
    free_at: u64,
    head: u32,
    tail: u32,
}

/// Everything below the firmware.
#[derive(Clone, Debug)]
pub(super) struct Flash {
    pub units: Vec<Unit>,
    pub channels: Vec<Channel>,
    pub dispatch: Dispatch,
    in_flight: Vec<InFlight>,
    vacant: u32,
    pub recording: Option<Vec<RecordedOperation>>,
}

impl Flash {
    pub fn new(units: u32, channels: u32, in_order: bool) -> Self {
        let unit = Unit {
            phase: Phase::Idle,
            current: NONE,
            head: NONE,
            tail: NONE,
            next_waiter: NONE,
            channel: 0,
            began: 0,
            busy: 0,
        };
        let channel = Channel {
            free_at: 0,
            first_waiter: NONE,
            last_waiter: NONE,
            busy: 0,
        };
        Self {
            units: (0..units)
                .map(|index| Unit {
                    channel: index % channels,
                    ..unit
                })
                .collect(),
            channels: vec![channel; channels as usize],
            dispatch: Dispatch {
                in_order,
                free_at: 0,
                head: NONE,
                tail: NONE,
            },
            in_flight: Vec::new(),
            vacant: NONE,
            recording: None,
        }
    }

    #[inline]
    fn allocate(&mut self, flight: InFlight) -> u32 {
        let slot = self.vacant;
        if slot == NONE {
            self.in_flight.push(flight);
            return (self.in_flight.len() - 1) as u32;
        }
        let place = &mut self.in_flight[slot as usize];
        self.vacant = place.next;
        *place = flight;
        slot
    }

    #[inline]
    fn release(&mut self, slot: u32) -> InFlight {
        let flight = self.in_flight[slot as usize];
        self.in_flight[slot as usize].next = self.vacant;
        self.vacant = slot;
        flight
    }

    #[inline]
    fn recorded(&mut self, slot: u32) -> Option<&mut RecordedOperation> {
        let record = self.in_flight[slot as usize].record as usize;
        self.recording.as_mut()?.get_mut(record)
    }

    /// Starts the account of busy times at `now`: work in progress counts from here.
    pub fn open_window(&mut self, now: u64) {
        for unit in &mut self.units {
            unit.busy = 0;
            unit.began = unit.began.max(now);
        }
        for channel in &mut self.channels {
            channel.busy = channel.free_at.saturating_sub(now);
        }
    }

    /// Busy times of units and channels up to `now`.
    pub fn close_window(&self, now: u64) -> (Vec<u64>, Vec<u64>) {
        let units = self.units.iter().map(|unit| {
            let going = if unit.phase == Phase::Idle {
                0
            } else {
                now.saturating_sub(unit.began)
            };
            unit.busy + going
        });
        let channels = self
            .channels
            .iter()
            .map(|c| c.busy - c.free_at.saturating_sub(now).min(c.busy));
        (units.collect(), channels.collect())
    }
}

impl<F: Firmware> Engine<F> {
    #[inline(always)]
    fn unit_of(&self, plane: u32) -> u32 {
        // Planes are numbered die first, so the die is the plane's number
        // modulo the dies; in plane mode there are as many units as planes.
        if plane < self.units {
            plane
        } else {
            plane % self.units
        }
    }

    #[inline(always)]
    fn channel_leaf(&self, channel: u32) -> usize {
        (self.units + channel) as usize
    }

    /// An operation that the firmware emitted at `now` enters the flash.
    #[inline]
    pub(super) fn enter_flash(&mut self, operation: Operation, account: Account, now: u64) {
        let kind = operation.kind as usize;
        let unit = self.unit_of(operation.plane);
        let record = self.begin_record(&operation, unit);
        let flight = InFlight {
            operation,
            account,
            available: now,
            next: NONE,
            record,
        };
        let slot = self.flash.allocate(flight);
        if slot >= MAX_IN_FLIGHT {
            self.failure = Some(SimError::InFlight {
                most: MAX_IN_FLIGHT,
            });
        }
        if self.flash.dispatch.in_order {
            self.queue_for_dispatch(slot, now);
            return;
        }
        let start = self.flash.dispatch.free_at.max(now);
        let available = start + self.timing.dispatch[kind];
        self.flash.dispatch.free_at = available;
        self.flash.in_flight[slot as usize].available = available;
        if let Some(record) = self.flash.recorded(slot) {
            record.dispatch = (start, available);
        }
        let state = &mut self.flash.units[unit as usize];
        if state.phase == Phase::Idle {
            self.begin(unit, slot, available, now);
        } else if state.head == NONE {
            state.head = slot;
            state.tail = slot;
        } else {
            let tail = state.tail;
            state.tail = slot;
            self.flash.in_flight[tail as usize].next = slot;
        }
    }

    /// Opens the record of an operation and returns its index.
    #[inline]
    fn begin_record(&mut self, operation: &Operation, unit: u32) -> u32 {
        let channels = self.flash.channels.len() as u32;
        let Some(recording) = &mut self.flash.recording else {
            return NONE;
        };
        let (ways, dies) = (self.ways, self.dies_per_way);
        recording.push(RecordedOperation {
            operation: *operation,
            channel: operation.plane % channels,
            way: operation.plane / channels % ways,
            die: operation.plane / (channels * ways) % dies,
            plane: operation.plane / (channels * ways * dies),
            unit,
            dispatch: (0, 0),
            transfer: (0, 0),
            cell: (0, 0),
        });
        (recording.len() - 1) as u32
    }

    fn queue_for_dispatch(&mut self, slot: u32, now: u64) {
        let dispatch = &mut self.flash.dispatch;
        if dispatch.head == NONE {
            dispatch.head = slot;
            dispatch.tail = slot;
            if dispatch.free_at > now {
                let at = dispatch.free_at;
                self.events.set(self.dispatch_leaf, at);
            } else {
                self.dispatch_in_order(now);
            }
        } else {
            let tail = dispatch.tail;
            dispatch.tail = slot;
            self.flash.in_flight[tail as usize].next = slot;
        }
    }

    /// In-order dispatch: hands over the head of the line while it is free and
    /// the head's unit is idle.
    pub(super) fn dispatch_in_order(&mut self, now: u64) {
        loop {
            let slot = self.flash.dispatch.head;
            if slot == NONE {
                self.events.cancel(self.dispatch_leaf);
                return;
            }
            if self.flash.dispatch.free_at > now {
                self.events
                    .set(self.dispatch_leaf, self.flash.dispatch.free_at);
                return;
            }
            let flight = self.flash.in_flight[slot as usize];
            let unit = self.unit_of(flight.operation.plane);
            if self.flash.units[unit as usize].phase != Phase::Idle {
                // The unit's completion calls again.
                self.events.cancel(self.dispatch_leaf);
                return;
            }
            let end = now + self.timing.dispatch[flight.operation.kind as usize];
            let dispatch = &mut self.flash.dispatch;
            dispatch.head = flight.next;
            dispatch.free_at = end;
            if let Some(record) = self.flash.recorded(slot) {
                record.dispatch = (now, end);
            }
            self.begin(unit, slot, end, now);
        }
    }

    /// `unit` is idle and takes `slot`, whose first stage starts at `at`.
    #[inline]
    fn begin(&mut self, unit: u32, slot: u32, at: u64, now: u64) {
        let kind = self.flash.in_flight[slot as usize].operation.kind;
        let end = at + self.timing.cell[kind as usize];
        let state = &mut self.flash.units[unit as usize];
        state.current = slot;
        state.began = at;
        match kind {
            OperationKind::Read => {
                state.phase = Phase::Sensing;
                self.events.set(unit as usize, end);
            }
            OperationKind::Erase => {
                state.phase = Phase::Finishing;
                self.events.set(unit as usize, end);
            }
            OperationKind::Program if at > now => {
                state.phase = Phase::Coming;
                self.events.set(unit as usize, at);
            }
            OperationKind::Program => self.request_channel(unit, now),
        }
        if kind != OperationKind::Program
            && let Some(record) = self.flash.recorded(slot)
        {
            record.cell = (at, end);
            record.transfer = (end, end);
        }
    }

    /// The pending event of `unit` is due.
    #[inline]
    pub(super) fn unit_event(&mut self, unit: u32, now: u64) {
        if self.flash.units[unit as usize].phase == Phase::Finishing {
            self.finish(unit, now);
        } else {
            self.request_channel(unit, now);
        }
    }

    #[inline]
    fn request_channel(&mut self, unit: u32, now: u64) {
        let state = &mut self.flash.units[unit as usize];
        let index = state.channel;
        let channel = &mut self.flash.channels[index as usize];
        if channel.free_at <= now && channel.first_waiter == NONE {
            self.transfer(unit, now);
            return;
        }
        state.phase = Phase::Queued;
        state.next_waiter = NONE;
        self.events.cancel(unit as usize);
        if channel.first_waiter == NONE {
            channel.first_waiter = unit;
            channel.last_waiter = unit;
            let at = channel.free_at;
            self.events.set(self.channel_leaf(index), at);
        } else {
            let last = channel.last_waiter;
            channel.last_waiter = unit;
            self.flash.units[last as usize].next_waiter = unit;
        }
    }

    /// A channel with waiters is free: serves the first.
    pub(super) fn channel_event(&mut self, channel: u32, now: u64) {
        let state = &mut self.flash.channels[channel as usize];
        let unit = state.first_waiter;
        let next = self.flash.units[unit as usize].next_waiter;
        state.first_waiter = next;
        self.transfer(unit, now);
        let leaf = self.channel_leaf(channel);
        if next == NONE {
            self.events.cancel(leaf);
        } else {
            self.events
                .set(leaf, self.flash.channels[channel as usize].free_at);
        }
    }

    #[inline]
    fn transfer(&mut self, unit: u32, now: u64) {
        let state = &mut self.flash.units[unit as usize];
        state.phase = Phase::Finishing;
        let slot = state.current;
        let channel = &mut self.flash.channels[state.channel as usize];
        let kind = self.flash.in_flight[slot as usize].operation.kind;
        let moved = now + self.timing.register[kind as usize];
        channel.busy += moved - now;
        channel.free_at = moved;
        let end = match kind {
            OperationKind::Program => moved + self.timing.cell[kind as usize],
            OperationKind::Read | OperationKind::Erase => moved,
        };
        self.events.set(unit as usize, end);
        if let Some(record) = self.flash.recorded(slot) {
            record.transfer = (now, moved);
            if kind == OperationKind::Program {
                record.cell = (moved, end);
            }
        }
    }

    /// The operation on `unit` is complete: the unit takes its next one, and
    /// whoever waited for it is told.
    #[inline]
    fn finish(&mut self, unit: u32, now: u64) {
        let state = &mut self.flash.units[unit as usize];
        let flight = self.flash.in_flight[state.current as usize];
        let done = state.current;
        state.busy += now - state.began;
        state.phase = Phase::Idle;
        let next = state.head;
        if next == NONE {
            self.events.cancel(unit as usize);
        } else {
            let available = self.flash.in_flight[next as usize].available;
            state.head = self.flash.in_flight[next as usize].next;
            self.begin(unit, next, available.max(now), now);
        }
        self.flash.release(done);
        if self.flash.dispatch.in_order && self.flash.dispatch.head != NONE {
            self.dispatch_in_order(now);
        }
        self.firmware.completed(&flight.operation);
        let tally = &mut self.tally;
        match (flight.operation.kind, flight.operation.cause) {
            (OperationKind::Read, _) => tally.page_reads += 1,
            (OperationKind::Program, Cause::Host) => tally.host_programs += 1,
            (OperationKind::Program, Cause::Collection) => tally.collection_programs += 1,
            (OperationKind::Erase, _) => tally.erases += 1,
        }
        match flight.account {
            Account::Request(request) => self.page_done(request, now),
            Account::Buffer => self.page_flushed(flight.operation.lpn, now),
            Account::Nobody => {}
        }
    }
}
