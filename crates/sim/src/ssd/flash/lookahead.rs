//! Reads alone on plain flash, a window of time at a step.
//!
//! A read that begins at `t` requests its channel no earlier than `t` plus the shortest cell time.
//! So if nothing but reads is under way, every transfer that ends within so long after the first of
//! them is known in advance: the lookahead of conservative parallel simulation (Fujimoto 1990).
//! Each channel is looked at once a window, and no event is needed:
//!
//! ```text
//!               first end                     first end + shortest cell time
//!   channel 0   |##|  |##|##|                 |
//!   channel 1       |##|      |##|##|         |
//!               1   2  3   4  5  6    due, in order of time
//!               └─> its unit and its loop go on: cells until here ─> |
//! ```
//!
//! [`Lookahead`] takes over what the flash is doing and gives it back between two ends. Both give
//! the same results: tests compare them.

use drivelab_ftl::{Cause, NOTHING, Operation, OperationKind, Ppn};

use super::channel::Channel;
use super::queue::{Account, Beneficiary, Task};
use super::unit::Phase;
use super::{Flash, Timing};
use crate::event::EventKey;
use crate::ssd::account::split::Parts;
use crate::ssd::ring::Ring;
use crate::ssd::timeline::Timeline;

const READ: usize = OperationKind::Read as usize;

/// A read between its emission and its end, by the slot of its request.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// When it was emitted, because its request was submitted.
    pub emitted: u64,
    /// When dispatch hands it over.
    available: u64,
    /// How long its unit had collected when it was emitted.
    collected: u64,
    ppn: Ppn,
    pub lpn: u32,
    /// The slot of the read that its unit takes next.
    next: u32,
    pub stream: u16,
}

/// A unit: the read in progress, and those that wait, linked by [`Reading::next`].
#[derive(Clone, Debug)]
struct Unit {
    began: u64,
    /// When the read in progress requests the channel.
    asks: EventKey,
    busy: u64,
    /// The slots of the reads in progress, next and last.
    slot: u32,
    head: u32,
    tail: u32,
    channel: u16,
}

/// A channel, and the requests for it, in order.
#[derive(Clone, Debug)]
struct Line {
    free_at: u64,
    busy: u64,
    asks: Ring<EventKey>,
    /// When it is free after the transfers that have been [ended](Lookahead::end).
    free_after_ended: u64,
}

/// The state of the flash while it only reads.
#[derive(Clone, Debug, Default)]
pub struct Lookahead {
    units: Vec<Unit>,
    lines: Vec<Line>,
    readings: Vec<Reading>,
    /// The ends of the current window, in order.
    due: Vec<EventKey>,
    dispatch: u64,
    dispatch_free_at: u64,
    transfer: u64,
    shortest_cell: u64,
}

impl Line {
    /// When its first transfer ends; `u64::MAX` if nobody requests one.
    #[inline(always)]
    fn first_end(&self, transfer: u64) -> u64 {
        let end = |asks: &EventKey| self.free_at.max(asks.time()) + transfer;
        self.asks.of_front(end, u64::MAX)
    }

    #[inline(always)]
    fn ask(&mut self, key: EventKey) {
        self.asks.insert_in_order(key);
    }
}

impl Lookahead {
    /// Takes over what `flash` is doing, if that is only reads of one page for requests of the host.
    /// `of_slot` says when the request in a slot was submitted, and its stream. Events of `timeline`
    /// are removed.
    pub fn take_over(
        &mut self,
        flash: &mut Flash,
        timeline: &mut Timeline,
        of_slot: impl Fn(u32) -> (u64, u16),
    ) -> bool {
        if !flash.is_plain() || !flash.only_reads() {
            return false;
        }
        let times = &flash.times;
        self.dispatch = times.dispatch[READ];
        self.dispatch_free_at = flash.dispatch.free_at;
        self.transfer = times.register[READ];
        self.shortest_cell = times.shortest_read() - self.transfer;
        if self.shortest_cell == 0 || self.transfer == 0 {
            return false;
        }
        self.due.clear();
        self.take_channels(flash);
        self.units.clear();
        for unit in 0..flash.units.len() {
            timeline.events.cancel(unit);
            self.take_unit(unit, flash, &of_slot);
        }
        true
    }

    /// What was promised to units is requested again: nothing comes between.
    fn take_channels(&mut self, flash: &mut Flash) {
        let transfer = self.transfer;
        self.lines.clear();
        let take = |channel: &mut Channel| {
            let (free_at, busy, asks) = channel.leave();
            Line {
                free_at,
                busy,
                asks,
                free_after_ended: free_at,
            }
        };
        self.lines.extend(flash.channels.iter_mut().map(take));
        let mut promised: Vec<_> = (flash.units.iter().enumerate())
            .filter(|(_, unit)| unit.phase == Phase::Promised)
            .collect();
        promised.sort_unstable_by_key(|(place, unit)| EventKey::new(unit.end, *place));
        for (place, unit) in promised.into_iter().rev() {
            let line = &mut self.lines[unit.channel as usize];
            line.asks.push_front(flash.asks_at(place as u32));
            line.busy -= transfer;
            line.free_at = unit.end - transfer;
            line.free_after_ended = line.free_at;
        }
    }

    fn take_unit(&mut self, place: usize, flash: &mut Flash, of_slot: impl Fn(u32) -> (u64, u16)) {
        let asks = flash.asks_at(place as u32);
        let unit = &mut flash.units[place];
        let mut taken = Unit {
            began: unit.began,
            asks,
            busy: unit.busy,
            slot: NOTHING,
            head: NOTHING,
            tail: NOTHING,
            channel: unit.channel,
        };
        if unit.phase != Phase::Idle {
            taken.slot = self.keep(&unit.task, &of_slot);
            unit.phase = Phase::Idle;
        }
        while let Some(task) = unit.queue.pop(&mut flash.pool) {
            let slot = self.keep(&task, &of_slot);
            taken.append(slot, &mut self.readings);
        }
        self.units.push(taken);
    }

    /// Returns the slot of the request that the task of a read is for.
    fn keep(&mut self, task: &Task, of_slot: impl Fn(u32) -> (u64, u16)) -> u32 {
        let Beneficiary::Request(slot) = task.account.beneficiary() else {
            return NOTHING;
        };
        let (emitted, stream) = of_slot(slot);
        let reading = Reading {
            emitted,
            available: task.available,
            collected: task.collected,
            ppn: task.ppn,
            lpn: task.lpn,
            next: NOTHING,
            stream,
        };
        let place = slot as usize;
        if place >= self.readings.len() {
            self.readings.resize(place + 1, reading);
        }
        self.readings[place] = reading;
        slot
    }

    /// Gives the reads in progress back to `flash`, with their events. `take` receives each with the
    /// slot of its request. Ends of the current window from `ended` on have not happened.
    pub fn give_back(
        &mut self,
        (flash, timeline): (&mut Flash, &mut Timeline),
        ended: usize,
        mut take: impl FnMut(u32, &Reading),
    ) {
        self.undo(ended);
        flash.dispatch.free_at = self.dispatch_free_at;
        for (channel, line) in flash.channels.iter_mut().zip(&self.lines) {
            channel.resume(line.free_at, line.busy);
        }
        let mut asks: Vec<EventKey> = Vec::new();
        for (place, unit) in self.units.iter().enumerate() {
            let state = &mut flash.units[place];
            state.busy = unit.busy;
            if unit.slot == NOTHING {
                continue;
            }
            asks.push(unit.asks);
            let reading = &self.readings[unit.slot as usize];
            take(unit.slot, reading);
            state.task = reading.task(unit.slot);
            (state.began, state.took) = (unit.began, unit.began);
            state.phase = Phase::Asked;
            let mut slot = unit.head;
            while slot != NOTHING {
                let reading = &self.readings[slot as usize];
                take(slot, reading);
                state.queue.push(reading.task(slot), &mut flash.pool);
                slot = reading.next;
            }
        }
        asks.sort_unstable();
        for key in asks {
            let state = &mut flash.units[key.leaf()];
            state.end = flash.channels[state.channel as usize].ask(key, self.transfer);
            timeline.events.set(key.leaf(), state.end);
        }
    }

    /// Ends of the current window from `ended` on are requests again.
    fn undo(&mut self, ended: usize) {
        for key in self.due.drain(..).skip(ended).rev() {
            let unit = &self.units[key.leaf()];
            let line = &mut self.lines[unit.channel as usize];
            line.asks.push_front(unit.asks);
            line.busy -= self.transfer;
            line.free_at = line.free_after_ended;
        }
    }

    /// When the first read ends; `u64::MAX` if there is none.
    #[inline(always)]
    pub fn first_end(&self) -> u64 {
        let ends = self.lines.iter().map(|line| line.first_end(self.transfer));
        ends.min().unwrap_or(u64::MAX)
    }

    /// Begins the next window. Its first end is at `first`, and it has none from `limit` on. Every
    /// end of the window before must have [happened](Lookahead::end). Returns how many it has.
    #[inline(always)]
    pub fn next_window(&mut self, first: u64, limit: u64) -> usize {
        let until = limit.min(first + self.shortest_cell);
        let Self {
            lines,
            due,
            transfer,
            ..
        } = self;
        due.clear();
        for line in lines {
            loop {
                let end = line.first_end(*transfer);
                if end >= until {
                    break;
                }
                let Some(key) = line.asks.pop() else {
                    break;
                };
                line.free_at = end;
                line.busy += *transfer;
                due.push(EventKey::new(end, key.leaf()));
            }
        }
        due.sort_unstable();
        due.len()
    }

    /// The end with this number in the current window.
    #[inline(always)]
    pub fn due(&self, number: usize) -> EventKey {
        self.due[number]
    }

    /// A read ends, and its unit takes the next one. Returns the slot of its request, the read, and
    /// the parts of its time.
    #[inline(always)]
    pub fn end(&mut self, key: EventKey, times: &Timing) -> (u32, Reading, Parts) {
        let (now, place) = (key.time(), key.leaf());
        let unit = &mut self.units[place];
        let (slot, began) = (unit.slot, unit.began);
        unit.busy += now - began;
        self.lines[unit.channel as usize].free_after_ended = now;
        let reading = self.readings[slot as usize];
        let next = unit.head;
        unit.slot = next;
        if next != NOTHING {
            let waiting = &self.readings[next as usize];
            unit.head = waiting.next;
            let at = waiting.available.max(now);
            unit.begin(place, at, times.cell(OperationKind::Read, waiting.ppn));
            self.lines[unit.channel as usize].ask(unit.asks);
        }
        let cell = times.cell(OperationKind::Read, reading.ppn);
        let parts = Parts {
            began,
            dispatch: self.dispatch,
            cell,
            channel: now - began - cell,
            collected: 0,
        };
        (slot, reading, parts)
    }

    /// A read for the request in `slot` of a stream, which was submitted `now`, enters the flash on
    /// `unit`.
    #[inline(always)]
    pub fn enter(
        &mut self,
        operation: &Operation,
        (slot, stream): (u32, u16),
        (place, times): (u32, &Timing),
        now: u64,
    ) {
        let available = self.dispatch_free_at.max(now) + self.dispatch;
        self.dispatch_free_at = available;
        let unit = &mut self.units[place as usize];
        let reading = &mut self.readings[slot as usize];
        reading.emitted = now;
        reading.available = available;
        reading.ppn = operation.ppn;
        reading.lpn = operation.lpn;
        reading.next = NOTHING;
        reading.stream = stream;
        if unit.slot == NOTHING {
            unit.slot = slot;
            let cell = times.cell(OperationKind::Read, operation.ppn);
            unit.begin(place as usize, available, cell);
            self.lines[unit.channel as usize].ask(unit.asks);
        } else {
            unit.append(slot, &mut self.readings);
        }
    }
}

impl Unit {
    #[inline(always)]
    fn begin(&mut self, place: usize, at: u64, cell: u64) {
        self.began = at;
        self.asks = EventKey::new(at + cell, place);
    }

    /// The read in `slot` waits behind the others.
    #[inline(always)]
    fn append(&mut self, slot: u32, readings: &mut [Reading]) {
        if self.head == NOTHING {
            self.head = slot;
        } else {
            readings[self.tail as usize].next = slot;
        }
        self.tail = slot;
    }
}

impl Reading {
    fn task(&self, slot: u32) -> Task {
        Task {
            available: self.available,
            collected: self.collected,
            account: Account::request(slot),
            ppn: self.ppn,
            lpn: self.lpn,
            kind: OperationKind::Read,
            cause: Cause::Host,
            tag: 0,
        }
    }
}

impl Flash {
    /// Whether nothing but reads of the host is under way, none of which has waited for collection.
    fn only_reads(&self) -> bool {
        let is_read = |task: &Task| {
            task.kind == OperationKind::Read
                && task.cause == Cause::Host
                && matches!(task.account.beneficiary(), Beneficiary::Request(_))
        };
        self.units.iter().all(|unit| {
            let is_free = unit.phase == Phase::Idle || is_read(&unit.task);
            is_free && unit.collected == 0 && unit.queue.tasks(&self.pool).all(is_read)
        })
    }

    /// When the read in progress on `unit` requests its channel.
    fn asks_at(&self, unit: u32) -> EventKey {
        let state = &self.units[unit as usize];
        let cell = self
            .times
            .before_transfer(OperationKind::Read, state.task.ppn);
        EventKey::new(state.took + cell, unit as usize)
    }

    /// The times of its operations.
    #[inline(always)]
    pub fn times(&self) -> &Timing {
        &self.times
    }

    /// Counts a read of the host that ended.
    #[inline(always)]
    pub fn count_host_read(&mut self) {
        self.tally.operations[READ][Cause::Host as usize] += 1;
    }
}
