//! Dispatch, channels and units: the path of a flash operation.
//!
//! ```text
//!   in_order:  op ─> one queue ─> [dispatch: waits until its unit is free] ─> unit
//!   per_die:   op ─> [dispatch] ─> queue of the unit ─> unit
//!
//!   unit, read:     cell ─> wait for the channel ─> transfer
//!   unit, program:  wait for the channel ─> transfer ─> cell
//!   unit, erase:    cell, as each half of a copyback (`registers.rs`)
//! ```
//!
//! A unit is a die; in plane mode, a plane. It executes its operations in the order in which the
//! firmware emitted them. A channel carries one transfer at a time, first come, first served.
//! Dispatch serves in order of arrival, so its end times never decrease, and `per_die` needs no
//! event for it. An operation costs one event, plus one if another transfer came between.

use drivelab_ftl::{Cause, Operation, OperationKind};

use super::queue::{Account, Task};
use super::recorded::RecordedOperation;
use super::unit::Phase;
use super::{Ended, Flash, Whose};
use crate::event::EventKey;
use crate::ssd::account::split::Parts;
use crate::ssd::timeline::{DISPATCH, Timeline};

impl Flash {
    /// The plane on which the page of an operation lies.
    pub fn plane_of(&self, task: &Task) -> u32 {
        self.places.by_plane_pages.quotient(task.ppn.0)
    }

    /// An operation that the firmware emitted at `now` enters [plain flash](Flash::is_plain).
    /// Returns whether no more operations wait than allowed.
    #[inline(always)]
    #[must_use]
    pub fn enter(
        &mut self,
        operation: &Operation,
        account: Account,
        timeline: &mut Timeline,
        now: u64,
    ) -> bool {
        let unit = self.unit_of(operation.plane);
        let dispatch = &mut self.dispatch;
        let available = dispatch.free_at.max(now) + self.times.dispatch[operation.kind as usize];
        dispatch.free_at = available;
        let Self { units, pool, .. } = self;
        let state = &mut units[unit as usize];
        let task = state.task_of(operation, account, (available, now));
        if state.phase == Phase::Idle {
            task.put(&mut state.task);
            self.start(unit, available, timeline, now);
            true
        } else {
            state.queue.push(task, pool);
            !self.is_overfull()
        }
    }

    /// The same if operations are dispatched in order, may overtake one another, or are recorded.
    #[inline(never)]
    pub fn enter_otherwise(
        &mut self,
        operation: &Operation,
        (account, whose): (Account, Whose),
        timeline: &mut Timeline,
        now: u64,
    ) {
        let unit = self.unit_of(operation.plane);
        let state = &self.units[unit as usize];
        let is_idle = state.phase == Phase::Idle;
        let mut task = state.task_of(operation, account, (now, now));
        if self.recording.is_some() {
            task.tag = self.begin_record(operation, whose, unit, now);
        }
        if self.dispatch.in_order {
            self.queue_for_dispatch(task, timeline, now);
            return;
        }
        let start = self.dispatch.free_at.max(now);
        task.available = start + self.times.dispatch[operation.kind as usize];
        self.dispatch.free_at = task.available;
        if let Some(record) = self.recorded_task(unit, task.tag) {
            record.dispatch = (start, task.available);
        }
        if self.overtaking.is_some() {
            self.enter_line(unit, (task, whose), timeline, now);
        } else if is_idle {
            self.begin_task(unit, task, task.available, timeline, now);
        } else {
            self.enqueue(unit, task);
        }
    }

    /// Puts `task` at the end of the queue of `unit`.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, unit: u32, task: Task) {
        self.units[unit as usize].queue.push(task, &mut self.pool);
    }

    /// Makes the next move of the current run, or else the first operation that waits for `unit`,
    /// the current task. Returns whether there is one.
    #[inline(always)]
    fn take_next(&mut self, unit: u32) -> bool {
        let state = &mut self.units[unit as usize];
        state.task.next_move() || state.queue.pop_to(&mut state.task, &mut self.pool)
    }

    #[cold]
    fn begin_record(&mut self, operation: &Operation, whose: Whose, unit: u32, now: u64) -> u16 {
        let channels = self.channels.len() as u32;
        let (ways, dies) = (self.places.ways, self.places.dies_per_way);
        let Some(recording) = &mut self.recording else {
            return 0;
        };
        let record = RecordedOperation {
            operation: *operation,
            stream: match operation.cause {
                Cause::Host => whose.stream.or(recording.stream),
                Cause::Collection | Cause::Wear | Cause::Map | Cause::Fold | Cause::Refresh => None,
            },
            channel: operation.plane % channels,
            way: operation.plane / channels % ways,
            die: operation.plane / (channels * ways) % dies,
            plane: operation.plane / (channels * ways * dies),
            unit,
            dispatch: (0, 0),
            transfer: (0, 0),
            cell: (0, 0),
        };
        recording.open(record, now)
    }

    #[inline(never)]
    fn queue_for_dispatch(&mut self, task: Task, timeline: &mut Timeline, now: u64) {
        let dispatch = &mut self.dispatch;
        let is_first = dispatch.line.is_empty();
        dispatch.line.push(task, &mut self.pool);
        if is_first {
            if self.dispatch.free_at > now {
                let at = self.dispatch.free_at;
                timeline.events.set_side(DISPATCH, Some(at));
            } else {
                self.dispatch_in_order(timeline, now);
            }
        }
    }

    /// In-order dispatch: hands over the first operation in line while dispatch is free and that
    /// operation's unit is idle.
    #[inline(never)]
    pub fn dispatch_in_order(&mut self, timeline: &mut Timeline, now: u64) {
        loop {
            let dispatch = &mut self.dispatch;
            let Some(&task) = dispatch.line.front(&self.pool) else {
                timeline.events.set_side(DISPATCH, None);
                return;
            };
            if dispatch.free_at > now {
                timeline.events.set_side(DISPATCH, Some(dispatch.free_at));
                return;
            }
            let unit = self.unit_of(self.plane_of(&task));
            if self.units[unit as usize].phase != Phase::Idle {
                // The unit's completion calls again.
                timeline.events.set_side(DISPATCH, None);
                return;
            }
            let end = now + self.times.dispatch[task.kind as usize];
            let dispatch = &mut self.dispatch;
            dispatch.line.pop(&mut self.pool);
            dispatch.free_at = end;
            if let Some(record) = self.recorded_task(unit, task.tag) {
                record.dispatch = (now, end);
            }
            self.begin_task(unit, task, end, timeline, now);
        }
    }

    /// `unit` is idle and takes `task`, whose first stage starts at `at`.
    #[inline(always)]
    pub(super) fn begin_task(
        &mut self,
        unit: u32,
        task: Task,
        at: u64,
        timeline: &mut Timeline,
        now: u64,
    ) {
        task.put(&mut self.units[unit as usize].task);
        self.start(unit, at, timeline, now);
    }

    /// The task of `unit` starts at `at`.
    #[inline(always)]
    fn start(&mut self, unit: u32, at: u64, timeline: &mut Timeline, now: u64) {
        if !self.is_plain {
            self.record_sensing(unit, at);
        }
        let Self {
            units,
            channels,
            times,
            ..
        } = self;
        let state = &mut units[unit as usize];
        match state.ask(channels, times, unit, (at, now)) {
            Some(end) => timeline.events.set(unit as usize, end),
            None => self.start_at_once(unit, at, timeline, now),
        }
    }

    /// The same for a task that requests the channel now or never.
    #[inline(always)]
    fn start_at_once(&mut self, unit: u32, at: u64, timeline: &mut Timeline, now: u64) {
        if self.units[unit as usize].task.stays_in_place() {
            self.start_in_place(unit, at, timeline);
        } else {
            self.transfer(unit, timeline, now);
        }
    }

    /// The task of `unit` starts at `at`. Nothing of it crosses the channel.
    #[inline(never)]
    fn start_in_place(&mut self, unit: u32, at: u64, timeline: &mut Timeline) {
        let state = &mut self.units[unit as usize];
        let Task { kind, ppn, tag, .. } = state.task;
        let end = at
            + match state.task.account {
                Account::COPYBACKS => u64::from(state.task.lpn) * self.times.copyback(),
                _ => self.times.cell(kind, ppn),
            };
        state.phase = Phase::Promised;
        state.end = end;
        timeline.events.set(unit as usize, end);
        self.record_cell(unit, tag, (at, end));
    }

    #[inline(always)]
    fn record_cell(&mut self, unit: u32, tag: u16, cell: (u64, u64)) {
        if let Some(record) = self.recorded_task(unit, tag) {
            record.cell = cell;
            record.transfer = (cell.1, cell.1);
        }
    }

    /// Records that the cells of `unit` are busy from `at` until the transfer, if the task is a
    /// read.
    #[inline(never)]
    fn record_sensing(&mut self, unit: u32, at: u64) {
        let Task { kind, ppn, tag, .. } = self.units[unit as usize].task;
        if kind == OperationKind::Read && self.recording.is_some() {
            let sensing = self.times.before_transfer(kind, ppn);
            self.record_cell(unit, tag, (at, at + sensing));
        }
    }

    /// The pending event of `unit` is due. Returns whether it means that an operation completed.
    #[inline(always)]
    #[must_use]
    pub fn has_ended(&mut self, unit: u32, timeline: &mut Timeline, now: u64) -> bool {
        let state = &self.units[unit as usize];
        let was_asked = state.phase == Phase::Asked;
        if was_asked {
            self.settle(state.channel, timeline.current, timeline);
        }
        let state = &self.units[unit as usize];
        if state.end <= now {
            return true;
        }
        if was_asked {
            timeline.events.postpone(unit as usize, state.end);
            return false;
        }
        self.is_die_event(unit, timeline, now)
    }

    /// The operation on `unit` requests the channel now.
    #[inline(always)]
    fn transfer(&mut self, unit: u32, timeline: &mut Timeline, now: u64) {
        let channel = self.units[unit as usize].channel;
        self.settle(channel, timeline.current, timeline);
        let Self {
            units,
            channels,
            times,
            ..
        } = self;
        let state = &mut units[unit as usize];
        // Moves request by an event, so this is not a move and its end is known now.
        let transfer = state.take_channel(&mut channels[channel as usize], times, now);
        timeline.events.set(unit as usize, state.end);
        if !self.is_plain {
            self.record_transfer(unit, transfer);
        }
    }

    /// Promises transfers to everybody who requested `channel` up to `latest`.
    #[inline(always)]
    pub(super) fn settle(&mut self, channel: u16, latest: EventKey, timeline: &mut Timeline) {
        let Self {
            units,
            channels,
            is_plain,
            times,
            tally,
            ..
        } = self;
        let is_plain = *is_plain;
        let channel = &mut channels[channel as usize];
        while let Some(key) = channel.next_ask(latest) {
            let unit = key.leaf();
            let state = &mut units[unit];
            let transfer = state.take_channel(channel, times, key.time());
            let is_move = state.task.account == Account::MOVE;
            if is_move && !state.follow(unit, channel, times, tally, latest) {
                continue;
            }
            timeline.events.postpone(unit, state.end);
            if !is_plain {
                return self.settle_otherwise(unit as u32, transfer, latest, timeline);
            }
        }
    }

    /// Continues [`Flash::settle`] after the transfer of `unit`, which is recorded.
    #[inline(never)]
    fn settle_otherwise(
        &mut self,
        unit: u32,
        transfer: (u64, u64),
        latest: EventKey,
        timeline: &mut Timeline,
    ) {
        let channel = self.units[unit as usize].channel;
        self.record_transfer(unit, transfer);
        self.settle(channel, latest, timeline);
    }

    #[inline(never)]
    fn record_transfer(&mut self, unit: u32, (start, moved): (u64, u64)) {
        let state = &self.units[unit as usize];
        let (end, tag) = (state.end, state.task.tag);
        if let Some(record) = self.recorded_task(unit, tag) {
            record.transfer = (start, moved);
            if record.operation.kind == OperationKind::Program {
                record.cell = (moved, end);
            }
        }
    }

    /// The operation on `unit` completed in [plain flash](Flash::is_plain). The unit takes its next
    /// one.
    #[inline(always)]
    pub fn end(&mut self, unit: u32, timeline: &mut Timeline, now: u64) -> Ended {
        let Self {
            units,
            channels,
            pool,
            times,
            ..
        } = self;
        let state = &mut units[unit as usize];
        let (task, began, collected) = (state.task, state.began, state.collected);
        state.put_down(now);
        if state.task.next_move() || state.queue.pop_to(&mut state.task, pool) {
            let at = state.task.available.max(now);
            match state.ask(channels, times, unit, (at, now)) {
                Some(end) => timeline.events.set(unit as usize, end),
                None => self.start_at_once(unit, at, timeline, now),
            }
        } else {
            timeline.events.cancel(unit as usize);
        }
        Ended {
            task,
            began,
            cell: None,
            collected,
        }
    }

    /// The operations completed on `unit`, in order, if the flash is not plain. [Give the list
    /// back](Flash::give_back) to reuse its memory.
    #[inline(never)]
    pub fn end_otherwise(&mut self, unit: u32, timeline: &mut Timeline, now: u64) -> Vec<Ended> {
        if self.pipelines.is_some() {
            self.die_event(unit, timeline, now);
        } else {
            let ended = self.end_one(unit, timeline, now);
            self.over.push(ended);
        }
        std::mem::take(&mut self.over)
    }

    /// See [`Flash::end_otherwise`].
    pub fn give_back(&mut self, mut over: Vec<Ended>) {
        over.clear();
        self.over = over;
    }

    fn end_one(&mut self, unit: u32, timeline: &mut Timeline, now: u64) -> Ended {
        let state = &mut self.units[unit as usize];
        let (task, mut began) = (state.task, state.began);
        let collected = state.collected;
        state.put_down(now);
        let cell = self
            .times
            .ageing
            .is_some()
            .then(|| self.count_ageing(&task));
        if self.overtaking.is_some() {
            // As if it had begun later and never paused.
            began -= self.leave_line(unit, &task);
            self.take_from_lines(unit, timeline, now);
        } else if self.take_next(unit) {
            let available = self.units[unit as usize].task.available;
            self.start(unit, available.max(now), timeline, now);
        } else {
            timeline.events.cancel(unit as usize);
        }
        if self.dispatch.in_order && !self.dispatch.line.is_empty() {
            self.dispatch_in_order(timeline, now);
        }
        Ended {
            task,
            began,
            cell,
            collected,
        }
    }

    /// Counts a completed operation.
    #[inline(always)]
    pub fn count(&mut self, task: &Task) {
        if task.account == Account::COPYBACKS {
            return self.tally.count_copybacks(task, 2 * u64::from(task.lpn));
        }
        self.tally.operations[task.kind as usize][task.cause as usize] += 1;
        if task.account == Account::COPYBACK {
            self.tally.copybacks[task.kind as usize] += 1;
        }
    }

    /// The parts of the time of an operation that completed at `now`.
    // Inlined: otherwise the result would be written to memory first.
    #[inline(always)]
    pub fn parts_of(&self, ended: &Ended, now: u64) -> Parts {
        let Ended {
            task,
            began,
            cell,
            collected,
        } = ended;
        let cell = cell.unwrap_or_else(|| self.times.cell(task.kind, task.ppn));
        Parts {
            began: *began,
            dispatch: self.times.dispatch[task.kind as usize],
            cell,
            channel: now - began - cell,
            collected: collected - task.collected,
        }
    }

    /// Counts how wear affected a completed operation, and how the operation adds to wear, before
    /// another begins. Returns its cell-array time.
    #[cold]
    #[inline(never)]
    pub(super) fn count_ageing(&mut self, task: &Task) -> u64 {
        let cell = self.times.cell(task.kind, task.ppn);
        if let Some(ageing) = &mut self.times.ageing {
            match task.kind {
                OperationKind::Read => {
                    let retries = u64::from(ageing.retries(task.ppn));
                    self.retries += retries;
                }
                OperationKind::Program => {}
                OperationKind::Erase => ageing.count_erase(task.ppn),
            }
        }
        cell
    }
}
