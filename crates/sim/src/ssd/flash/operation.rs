//! Dispatch, channels and units: the way of a flash operation.
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
//! A unit is a die; with plane mode on, a plane. It executes its operations in
//! the order in which the firmware emitted them. A channel carries one
//! transfer at a time, first come, first served. Dispatch is a server in order of
//! arrival, so its end times never decrease and `per_die` needs no event for it:
//! an operation costs one event, and one more where another transfer came between.

use drivelab_ftl::{Cause, Firmware, NOTHING, Operation, OperationKind};

use crate::event::{EventKey, MAX_LEAVES};
use crate::ssd::SimError;
use crate::ssd::account::split::Parts;
use crate::ssd::engine::{DISPATCH, Engine};
use crate::ssd::flash::queue::{Account, Beneficiary, Task};
use crate::ssd::flash::recorded::RecordedOperation;
use crate::ssd::flash::{Flash, MAX_QUEUED, Phase};

impl<F: Firmware> Engine<F> {
    #[inline(always)]
    pub(in crate::ssd) fn unit_of(&self, plane: u32) -> u32 {
        // Planes are numbered die first, so the die is the plane's number
        // modulo the dies; in plane mode there are as many units as planes.
        self.by_units.remainder(plane)
    }

    fn plane_of(&self, task: &Task) -> u32 {
        self.by_plane_pages.quotient(task.ppn.0)
    }

    /// An operation that the firmware emitted at `now` enters the flash.
    #[inline(always)]
    pub(in crate::ssd) fn enter_flash(
        &mut self,
        operation: &Operation,
        account: Account,
        now: u64,
    ) {
        if !self.flash.is_plain {
            return self.enter_otherwise(operation, account, now);
        }
        let unit = self.unit_of(operation.plane);
        let dispatch = &mut self.flash.dispatch;
        let available = dispatch.free_at.max(now) + self.timing.dispatch[operation.kind as usize];
        dispatch.free_at = available;
        let Flash { units, pool, .. } = &mut self.flash;
        let state = &mut units[unit as usize];
        let task = state.task_of(operation, account, (available, now));
        if state.phase == Phase::Idle {
            task.put(&mut state.task);
            self.start(unit, available, now);
        } else {
            state.queue.push(task, pool);
            self.check_queued();
        }
    }

    /// The same where operations are dispatched in order, overtake each other or are recorded.
    #[inline(never)]
    fn enter_otherwise(&mut self, operation: &Operation, account: Account, now: u64) {
        let unit = self.unit_of(operation.plane);
        let state = &self.flash.units[unit as usize];
        let is_idle = state.phase == Phase::Idle;
        let mut task = state.task_of(operation, account, (now, now));
        if self.flash.recording.is_some() {
            task.tag = self.begin_record(operation, account, unit, now);
        }
        if self.flash.dispatch.in_order {
            self.queue_for_dispatch(task, now);
            return;
        }
        let start = self.flash.dispatch.free_at.max(now);
        task.available = start + self.timing.dispatch[operation.kind as usize];
        self.flash.dispatch.free_at = task.available;
        if let Some(record) = self.flash.recorded(unit, task.tag) {
            record.dispatch = (start, task.available);
        }
        if self.flash.overtaking.is_some() {
            self.enter_line(unit, task, now);
        } else if is_idle {
            self.begin(unit, task, task.available, now);
        } else {
            self.flash.enqueue(unit, task);
            self.check_queued();
        }
    }

    #[inline(always)]
    pub(in crate::ssd) fn check_queued(&mut self) {
        if self.flash.pool.waiting > MAX_QUEUED {
            self.failure = Some(SimError::InFlight { most: MAX_QUEUED });
        }
    }

    #[cold]
    fn begin_record(
        &mut self,
        operation: &Operation,
        account: Account,
        unit: u32,
        now: u64,
    ) -> u16 {
        let owner = match account.beneficiary() {
            Beneficiary::Request(slot) | Beneficiary::Forced(slot) => {
                Some(self.host.owner_of(slot).1)
            }
            _ => None,
        };
        let channels = self.flash.channels.len() as u32;
        let (ways, dies) = (self.ways, self.dies_per_way);
        let Some(recording) = &mut self.flash.recording else {
            return 0;
        };
        let record = RecordedOperation {
            operation: *operation,
            stream: match operation.cause {
                Cause::Host => owner.or(recording.stream),
                Cause::Collection | Cause::Wear | Cause::Map | Cause::Fold => None,
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
    fn queue_for_dispatch(&mut self, task: Task, now: u64) {
        let dispatch = &mut self.flash.dispatch;
        let is_first = dispatch.line.is_empty();
        dispatch.line.push(task, &mut self.flash.pool);
        self.check_queued();
        if is_first {
            if self.flash.dispatch.free_at > now {
                let at = self.flash.dispatch.free_at;
                self.events.set_side(DISPATCH, Some(at));
            } else {
                self.dispatch_in_order(now);
            }
        }
    }

    /// In-order dispatch: hands over the head of the line while it is free and
    /// the head's unit is idle.
    #[inline(never)]
    pub(in crate::ssd) fn dispatch_in_order(&mut self, now: u64) {
        loop {
            let dispatch = &mut self.flash.dispatch;
            let Some(&task) = dispatch.line.front(&self.flash.pool) else {
                self.events.set_side(DISPATCH, None);
                return;
            };
            if dispatch.free_at > now {
                self.events.set_side(DISPATCH, Some(dispatch.free_at));
                return;
            }
            let unit = self.unit_of(self.plane_of(&task));
            if self.flash.units[unit as usize].phase != Phase::Idle {
                // The unit's completion calls again.
                self.events.set_side(DISPATCH, None);
                return;
            }
            let end = now + self.timing.dispatch[task.kind as usize];
            let dispatch = &mut self.flash.dispatch;
            dispatch.line.pop(&mut self.flash.pool);
            dispatch.free_at = end;
            if let Some(record) = self.flash.recorded(unit, task.tag) {
                record.dispatch = (now, end);
            }
            self.begin(unit, task, end, now);
        }
    }

    /// `unit` is idle and takes `task`, whose first stage starts at `at`.
    #[inline(always)]
    pub(in crate::ssd) fn begin(&mut self, unit: u32, task: Task, at: u64, now: u64) {
        task.put(&mut self.flash.units[unit as usize].task);
        self.start(unit, at, now);
    }

    /// The task of `unit` starts at `at`.
    #[inline(always)]
    fn start(&mut self, unit: u32, at: u64, now: u64) {
        if !self.flash.is_plain {
            self.record_sensing(unit, at);
        }
        let Flash {
            units, channels, ..
        } = &mut self.flash;
        let state = &mut units[unit as usize];
        match state.ask(channels, &self.timing, unit, (at, now)) {
            Some(end) => self.events.set(unit as usize, end),
            None => self.start_at_once(unit, at, now),
        }
    }

    /// The same of a task that asks for the channel now or never.
    #[inline(always)]
    fn start_at_once(&mut self, unit: u32, at: u64, now: u64) {
        if self.flash.units[unit as usize].task.stays_in_place() {
            self.start_in_place(unit, at);
        } else {
            self.transfer(unit, now);
        }
    }

    /// The task of `unit`, of which nothing crosses the channel, starts at `at`.
    #[inline(never)]
    fn start_in_place(&mut self, unit: u32, at: u64) {
        let state = &mut self.flash.units[unit as usize];
        let Task { kind, ppn, tag, .. } = state.task;
        let end = at
            + match state.task.account {
                Account::COPYBACKS => u64::from(state.task.lpn) * self.timing.copyback(),
                _ => self.timing.cell(kind, ppn),
            };
        state.phase = Phase::Promised;
        state.end = end;
        self.events.set(unit as usize, end);
        self.record_cell(unit, tag, (at, end));
    }

    #[inline(always)]
    fn record_cell(&mut self, unit: u32, tag: u16, cell: (u64, u64)) {
        if let Some(record) = self.flash.recorded(unit, tag) {
            record.cell = cell;
            record.transfer = (cell.1, cell.1);
        }
    }

    /// The cells of `unit` are at work from `at` until the transfer, if it reads.
    #[inline(never)]
    fn record_sensing(&mut self, unit: u32, at: u64) {
        let Task { kind, ppn, tag, .. } = self.flash.units[unit as usize].task;
        if kind == OperationKind::Read && self.flash.recording.is_some() {
            let sensing = self.timing.before_transfer(kind, ppn);
            self.record_cell(unit, tag, (at, at + sensing));
        }
    }

    /// The pending event of `unit` is due.
    #[inline(always)]
    pub(in crate::ssd) fn unit_event(&mut self, unit: u32, now: u64) {
        let state = &self.flash.units[unit as usize];
        let was_asked = state.phase == Phase::Asked;
        if was_asked {
            self.settle(state.channel, self.current);
        }
        let state = &self.flash.units[unit as usize];
        if state.end <= now {
            if self.flash.is_plain {
                self.finish_plain(unit, now);
            } else {
                self.finish(unit, now);
            }
        } else if was_asked {
            self.events.postpone(unit as usize, state.end);
        } else {
            self.pause_is_due(unit, now);
        }
    }

    /// The operation on `unit` asks for the channel now.
    #[inline(always)]
    fn transfer(&mut self, unit: u32, now: u64) {
        let channel = self.flash.units[unit as usize].channel;
        self.settle(channel, self.current);
        let Flash {
            units, channels, ..
        } = &mut self.flash;
        let state = &mut units[unit as usize];
        // Moves ask by an event, so that this is no move: its end is known now.
        let transfer = state.take_channel(&mut channels[channel as usize], &self.timing, now);
        self.events.set(unit as usize, state.end);
        if !self.flash.is_plain {
            self.record_transfer(unit, transfer);
        }
    }

    /// Promises its transfer to everybody who asked `channel` until `latest`.
    #[inline(always)]
    pub(in crate::ssd) fn settle(&mut self, channel: u16, latest: EventKey) {
        let Flash {
            units,
            channels,
            is_plain,
            ..
        } = &mut self.flash;
        let is_plain = *is_plain;
        let channel = &mut channels[channel as usize];
        while let Some(key) = channel.next_ask(latest) {
            let unit = key.leaf();
            let state = &mut units[unit];
            let transfer = state.take_channel(channel, &self.timing, key.time());
            if state.task.account == Account::MOVE {
                let tally = &mut self.tally;
                if !state.follow(unit, channel, &self.timing, tally, latest) {
                    continue;
                }
            }
            self.events.postpone(unit, state.end);
            if !is_plain {
                return self.settle_otherwise(unit as u32, transfer, latest);
            }
        }
    }

    /// Goes on with [`Engine::settle`] behind the transfer of `unit`, which is recorded.
    #[inline(never)]
    fn settle_otherwise(&mut self, unit: u32, transfer: (u64, u64), latest: EventKey) {
        let channel = self.flash.units[unit as usize].channel;
        self.record_transfer(unit, transfer);
        self.settle(channel, latest);
    }

    #[inline(never)]
    fn record_transfer(&mut self, unit: u32, (start, moved): (u64, u64)) {
        let state = &self.flash.units[unit as usize];
        let (end, tag) = (state.end, state.task.tag);
        if let Some(record) = self.flash.recorded(unit, tag) {
            record.transfer = (start, moved);
            if record.operation.kind == OperationKind::Program {
                record.cell = (moved, end);
            }
        }
    }

    /// Promises what was asked of the channels before `now`. What asks at `now` has not
    /// had any of its time, and others may still come before it.
    pub(in crate::ssd) fn settle_channels(&mut self, now: u64) {
        let Some(before) = now.checked_sub(1) else {
            return;
        };
        let latest = EventKey::new(before, MAX_LEAVES - 1);
        for channel in 0..self.flash.channels.len() {
            self.settle(channel as u16, latest);
        }
    }

    /// The operation on `unit` is complete where [the flash is plain](Flash::is_plain): the
    /// unit takes its next one, and whoever waited for it is told.
    #[inline(never)]
    fn finish_plain(&mut self, unit: u32, now: u64) {
        let Flash {
            units,
            channels,
            pool,
            ..
        } = &mut self.flash;
        let state = &mut units[unit as usize];
        let (task, began, collected) = (state.task, state.began, state.collected);
        state.put_down(now);
        if state.task.next_move() || state.queue.pop_to(&mut state.task, pool) {
            let at = state.task.available.max(now);
            match state.ask(channels, &self.timing, unit, (at, now)) {
                Some(end) => self.events.set(unit as usize, end),
                None => self.start_at_once(unit, at, now),
            }
        } else {
            self.events.cancel(unit as usize);
        }
        self.tell_completion(&task, (began, None, collected), now);
    }

    /// The same wherever there is more to an operation.
    #[inline(never)]
    fn finish(&mut self, unit: u32, now: u64) {
        let state = &mut self.flash.units[unit as usize];
        let (task, mut began) = (state.task, state.began);
        let collected_before = state.collected;
        state.put_down(now);
        let cell = self
            .timing
            .ageing
            .is_some()
            .then(|| self.count_ageing(&task));
        if self.flash.overtaking.is_some() {
            // As if it had begun later and never paused.
            began -= self.leave_line(unit, &task);
            self.take_from_lines(unit, now);
        } else if self.flash.take_next(unit) {
            let available = self.flash.units[unit as usize].task.available;
            self.start(unit, available.max(now), now);
        } else {
            self.events.cancel(unit as usize);
        }
        if self.flash.dispatch.in_order && !self.flash.dispatch.line.is_empty() {
            self.dispatch_in_order(now);
        }
        self.complete_operation(&task, (began, cell, collected_before), now);
    }

    /// An operation is complete that would have begun at `began` without pauses,
    /// was in the cell array for `cell` if that is not the time of its page, and whose unit
    /// had `collected` so long before it: whoever waited for it is told.
    #[inline(always)]
    pub(in crate::ssd) fn complete_operation(
        &mut self,
        task: &Task,
        (began, cell, collected): (u64, Option<u64>, u64),
        now: u64,
    ) {
        if self.firmware.heeds_completions() {
            self.firmware.completed(&Operation {
                kind: task.kind,
                cause: task.cause,
                plane: self.plane_of(task),
                ppn: task.ppn,
                lpn: task.lpn,
                after: NOTHING,
                request: 0,
            });
        }
        self.tell_completion(task, (began, cell, collected), now);
    }

    /// The same of an operation that the firmware does not heed.
    #[inline(always)]
    fn tell_completion(
        &mut self,
        task: &Task,
        (began, cell, collected): (u64, Option<u64>, u64),
        now: u64,
    ) {
        if task.account == Account::COPYBACKS {
            return self.tally.count_copybacks(task, 2 * u64::from(task.lpn));
        }
        let kind = task.kind as usize;
        self.tally.operations[kind][task.cause as usize] += 1;
        if self.cores.is_on
            && task.cause != Cause::Host
            && let Some(costs) = &self.timing.firmware
        {
            let (kind, cause) = (task.kind, task.cause);
            self.cores.work_for_drive(costs, kind, cause, now);
        }
        let beneficiary = task.account.beneficiary();
        match beneficiary {
            Beneficiary::Nobody => {
                if task.account == Account::COPYBACK {
                    self.tally.copybacks[kind] += 1;
                }
                if self.background.is_running {
                    self.work_in_background(1, now);
                }
                return;
            }
            Beneficiary::Buffer(stretch) => return self.page_flushed(task.lpn, stretch, now),
            Beneficiary::Lookup(ticket) => return self.looked_up(ticket, now),
            Beneficiary::Request(_) | Beneficiary::Forced(_) | Beneficiary::Cache => {}
        }
        let cell = cell.unwrap_or_else(|| self.timing.cell(task.kind, task.ppn));
        let dispatch = self.timing.dispatch[kind];
        // Made where they are used: in one place they would be written to memory first.
        let parts = || Parts {
            began,
            dispatch,
            cell,
            channel: now - began - cell,
            collected: collected - task.collected,
        };
        match beneficiary {
            Beneficiary::Request(slot) => self.page_done(slot, parts(), now),
            Beneficiary::Forced(slot) => self.forced_page_done(slot, task.lpn, parts(), now),
            _ => self.page_came(task.lpn, parts(), now),
        }
    }

    /// Counts what wear did to an operation that is complete, and what it did for wear,
    /// before another begins; answers its time in the cell array.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn count_ageing(&mut self, task: &Task) -> u64 {
        let cell = self.timing.cell(task.kind, task.ppn);
        if let Some(ageing) = &mut self.timing.ageing {
            match task.kind {
                OperationKind::Read => {
                    let retries = u64::from(ageing.retries(task.ppn));
                    *self.counters.read_retries.get_or_insert(0) += retries;
                }
                OperationKind::Program => {}
                OperationKind::Erase => ageing.count_erase(task.ppn),
            }
        }
        cell
    }
}
