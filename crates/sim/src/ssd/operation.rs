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
//! transfer at a time, first come, first served. Dispatch is a server in order of
//! arrival, so its end times never decrease and `per_die` needs no event for it:
//! a read costs two events, a program or an erase one.

use drivelab_ftl::{Cause, Firmware, NOTHING, Operation, OperationKind, Ppn};

use super::SimError;
use super::engine::{DISPATCH, Engine};
use super::flash::{Account, InFlight, MAX_IN_FLIGHT, NONE, Phase};
use super::outcome::RecordedOperation;
use super::split::Parts;

impl<F: Firmware> Engine<F> {
    #[inline(always)]
    pub(super) fn unit_of(&self, plane: u32) -> u32 {
        // Planes are numbered die first, so the die is the plane's number
        // modulo the dies; in plane mode there are as many units as planes.
        if plane < self.units {
            plane
        } else {
            plane % self.units
        }
    }

    /// An operation that the firmware emitted at `now` enters the flash.
    #[inline(always)]
    pub(super) fn enter_flash(&mut self, operation: &Operation, account: Account, now: u64) {
        let kind = operation.kind as usize;
        let unit = self.unit_of(operation.plane);
        let flight = InFlight {
            available: now,
            collected: self.flash.units[unit as usize].collected_until(now),
            next: NONE,
            account,
            plane: operation.plane,
            ppn: operation.ppn.0,
            lpn: operation.lpn,
            kind: operation.kind,
            cause: operation.cause,
        };
        let slot = self.flash.allocate(flight);
        if slot >= MAX_IN_FLIGHT {
            self.failure = Some(SimError::InFlight {
                most: MAX_IN_FLIGHT,
            });
        }
        if self.flash.recording.is_some() {
            self.begin_record(operation, unit, slot);
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
        if self.flash.units[unit as usize].phase == Phase::Idle {
            self.begin(unit, slot, available, now);
        } else {
            self.flash.enqueue(unit, slot);
        }
    }

    #[cold]
    fn begin_record(&mut self, operation: &Operation, unit: u32, slot: u32) {
        let channels = self.flash.channels.len() as u32;
        let (ways, dies) = (self.ways, self.dies_per_way);
        let record = RecordedOperation {
            operation: *operation,
            channel: operation.plane % channels,
            way: operation.plane / channels % ways,
            die: operation.plane / (channels * ways) % dies,
            plane: operation.plane / (channels * ways * dies),
            unit,
            dispatch: (0, 0),
            transfer: (0, 0),
            cell: (0, 0),
        };
        self.flash.record(slot, record);
    }

    #[inline(never)]
    fn queue_for_dispatch(&mut self, slot: u32, now: u64) {
        let dispatch = &mut self.flash.dispatch;
        if dispatch.head == NONE {
            dispatch.head = slot;
            dispatch.tail = slot;
            if dispatch.free_at > now {
                let at = dispatch.free_at;
                self.events.set_side(DISPATCH, Some(at));
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
    #[inline(never)]
    pub(super) fn dispatch_in_order(&mut self, now: u64) {
        loop {
            let slot = self.flash.dispatch.head;
            if slot == NONE {
                self.events.set_side(DISPATCH, None);
                return;
            }
            let free_at = self.flash.dispatch.free_at;
            if free_at > now {
                self.events.set_side(DISPATCH, Some(free_at));
                return;
            }
            let flight = &self.flash.in_flight[slot as usize];
            let (next, kind) = (flight.next, flight.kind);
            let unit = self.unit_of(flight.plane);
            if self.flash.units[unit as usize].phase != Phase::Idle {
                // The unit's completion calls again.
                self.events.set_side(DISPATCH, None);
                return;
            }
            let end = now + self.timing.dispatch[kind as usize];
            let dispatch = &mut self.flash.dispatch;
            dispatch.head = next;
            dispatch.free_at = end;
            if let Some(record) = self.flash.recorded(slot) {
                record.dispatch = (now, end);
            }
            self.begin(unit, slot, end, now);
        }
    }

    /// `unit` is idle and takes `slot`, whose first stage starts at `at`.
    #[inline(always)]
    fn begin(&mut self, unit: u32, slot: u32, at: u64, now: u64) {
        let flight = &self.flash.in_flight[slot as usize];
        let (kind, cause) = (flight.kind, flight.cause);
        let state = &mut self.flash.units[unit as usize];
        state.current = slot;
        state.began = at;
        state.kind = kind;
        state.cause = cause;
        if kind == OperationKind::Program {
            if at <= now {
                self.transfer(unit, now);
            } else {
                state.phase = Phase::BeforeTransfer;
                self.events.set(unit as usize, at);
            }
            return;
        }
        let end = at + self.timing.cell[kind as usize];
        state.phase = match kind {
            OperationKind::Read => Phase::BeforeTransfer,
            _ => Phase::Finishing,
        };
        self.events.set(unit as usize, end);
        if let Some(record) = self.flash.recorded(slot) {
            record.cell = (at, end);
            record.transfer = (end, end);
        }
    }

    /// The pending event of `unit` is due.
    #[inline(always)]
    pub(super) fn unit_event(&mut self, unit: u32, now: u64) {
        if self.flash.units[unit as usize].phase == Phase::BeforeTransfer {
            self.transfer(unit, now);
        } else {
            self.finish(unit, now);
        }
    }

    /// The operation on `unit` asks for the channel.
    #[inline(always)]
    fn transfer(&mut self, unit: u32, now: u64) {
        let state = &mut self.flash.units[unit as usize];
        state.phase = Phase::Finishing;
        let (slot, kind) = (state.current, state.kind as usize);
        let channel = &mut self.flash.channels[state.channel as usize];
        let (start, moved) = channel.reserve(now, self.timing.register[kind]);
        let end = moved + self.timing.after_transfer[kind];
        self.events.set(unit as usize, end);
        if let Some(record) = self.flash.recorded(slot) {
            record.transfer = (start, moved);
            if record.operation.kind == OperationKind::Program {
                record.cell = (moved, end);
            }
        }
    }

    /// The operation on `unit` is complete: the unit takes its next one, and
    /// whoever waited for it is told.
    #[inline(never)]
    fn finish(&mut self, unit: u32, now: u64) {
        let state = &mut self.flash.units[unit as usize];
        let (done, began) = (state.current, state.began);
        let (kind, cause) = (state.kind, state.cause);
        let collected_before = state.collected;
        state.busy += now - began;
        state.collected += (now - began) * u64::from(cause != Cause::Host);
        state.phase = Phase::Idle;
        let flight = self.flash.in_flight[done as usize];
        match self.flash.dequeue(unit) {
            None => self.events.cancel(unit as usize),
            Some(next) => {
                let available = self.flash.in_flight[next as usize].available;
                self.begin(unit, next, available.max(now), now);
            }
        }
        self.flash.release(done);
        if self.flash.dispatch.in_order && self.flash.dispatch.head != NONE {
            self.dispatch_in_order(now);
        }
        self.firmware.completed(&Operation {
            kind,
            cause,
            plane: flight.plane,
            ppn: Ppn(flight.ppn),
            lpn: flight.lpn,
            after: NOTHING,
            request: 0,
        });
        self.tally.operations[kind as usize][cause as usize] += 1;
        if flight.account == Account::NOBODY {
            return;
        }
        if flight.account == Account::BUFFER {
            self.page_flushed(flight.lpn, now);
            return;
        }
        let cell = self.timing.cell[kind as usize];
        let parts = Parts {
            began,
            dispatch: self.timing.dispatch[kind as usize],
            cell,
            channel: now - began - cell,
            collected: collected_before - flight.collected,
        };
        self.page_done(flight.account.0, parts, now);
    }
}
