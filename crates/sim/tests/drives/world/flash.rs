//! The oracle's flash: dispatch, units and channels.

use drivelab_ftl::{Cause, Chance, Operation, OperationKind};
use drivelab_request::CommandKind;
use drivelab_sim::preset::Dispatch;
use drivelab_sim::ssd::Part;

use super::overtaking::IN_ORDER;
use super::{Beneficiary, Crossing, Stage, Task, World};
use crate::drives::story::Entry;

impl World {
    pub(super) fn emit(&mut self, operation: Operation, beneficiary: Beneficiary, number: usize) {
        let mut task = Task {
            operation,
            beneficiary,
            handed_over: 0,
            emitted: self.now,
            number,
            class: IN_ORDER,
        };
        if self.config.scheduling.dispatch == Dispatch::InOrder {
            self.dispatch_line.push_back(task);
            if self.dispatch_line.len() == 1 {
                self.dispatch_head();
            }
        } else {
            let time = self.dispatch_time(operation.kind);
            self.dispatch_free_at = self.dispatch_free_at.max(self.now) + time;
            task.handed_over = self.dispatch_free_at;
            let unit = operation.plane as usize % self.units.len();
            task.class = self.class_of(&task, unit);
            self.units[unit].queue.push_back(task);
            if self.has_pipelines() {
                return;
            }
            self.take_next(unit);
            if task.class != IN_ORDER {
                self.try_pause(unit);
            }
        }
    }

    /// In order: hands over as many operations as dispatch can now.
    pub(super) fn dispatch_head(&mut self) {
        self.dispatch_alarm = None;
        while let Some(&task) = self.dispatch_line.front() {
            if self.dispatch_free_at > self.now {
                self.dispatch_alarm = Some(self.dispatch_free_at);
                return;
            }
            let unit = task.operation.plane as usize % self.units.len();
            if !matches!(self.units[unit].stage, Stage::Idle) {
                return;
            }
            self.dispatch_line.pop_front();
            self.dispatch_free_at = self.now + self.dispatch_time(task.operation.kind);
            self.units[unit].queue.push_back(Task {
                handed_over: self.dispatch_free_at,
                ..task
            });
            self.take_next(unit);
        }
    }

    fn dispatch_time(&self, kind: OperationKind) -> u64 {
        let timing = &self.config.timing;
        self.scaled(match kind {
            OperationKind::Read => timing.read_dispatch_ns,
            OperationKind::Program => timing.write_dispatch_ns,
            OperationKind::Erase => timing.erase_dispatch_ns,
        })
    }

    pub(super) fn cell_time(&self, operation: &Operation) -> u64 {
        let fresh = self.fresh_cell_time(operation);
        let Some(ageing) = self.config.ageing else {
            return fresh;
        };
        let block = operation.ppn.0 / self.config.geometry.pages_per_block;
        let erases = self.erases[block as usize];
        let wear = f64::from(erases) / f64::from(ageing.rated_erases);
        let part = |ratio: f64| (fresh as f64 * (1.0 + (ratio - 1.0) * wear.min(1.0))).round();
        match operation.kind {
            OperationKind::Program => part(ageing.program_time_ratio) as u64,
            OperationKind::Erase => part(ageing.erase_time_ratio) as u64,
            OperationKind::Read => {
                let wrong = (ageing.read_retry_probability * wear).min(1.0);
                let drawn = Chance::ReadRetries.draw(ageing.seed, operation.ppn.0, erases);
                let most = ageing.read_retries.unwrap_or(0) as i32;
                let retries = (1..=most)
                    .filter(|&times| drawn < wrong.powi(times))
                    .count();
                let each = ageing.read_retry_ns.map(|nanos| self.scaled(nanos));
                fresh + retries as u64 * each.unwrap_or(fresh)
            }
        }
    }

    /// The same for a block that was never erased.
    fn fresh_cell_time(&self, operation: &Operation) -> u64 {
        let timing = &self.config.timing;
        let geometry = &self.config.geometry;
        let page = operation.ppn.0 % geometry.pages_per_block;
        let block = operation.ppn.0 / geometry.pages_per_block % geometry.blocks_per_plane;
        if let Some(slc) = self.config.slc
            && block < slc.blocks_per_plane
            && operation.kind != OperationKind::Erase
        {
            return self.scaled(match operation.kind {
                OperationKind::Read => slc.read_cell_ns,
                _ => slc.program_cell_ns,
            });
        }
        self.scaled(match operation.kind {
            OperationKind::Read => timing.read_cell_ns.of_page(page),
            OperationKind::Program => timing.program_cell_ns.of_page(page),
            OperationKind::Erase => timing.erase_cell_ns,
        })
    }

    /// Whether the firmware moves the data within its plane. A failed program names no data.
    pub(super) fn is_copied_back(&self, operation: &Operation) -> bool {
        self.config.scheduling.copyback
            && operation.logical().is_some()
            && matches!(operation.cause, Cause::Collection | Cause::Wear)
            && operation.kind != OperationKind::Erase
    }

    /// The idle `unit` takes `task`, whose first stage starts at `start`.
    pub(super) fn start(&mut self, unit: usize, task: Task, start: u64) {
        let now = self.now;
        let cell = self.cell_time(&task.operation);
        let is_copied_back = self.is_copied_back(&task.operation);
        let state = &mut self.units[unit];
        state.task = Some(task);
        state.since = start;
        match task.operation.kind {
            _ if is_copied_back => state.stage = Stage::EndsAt(start + cell),
            OperationKind::Read if start + cell > now => {
                state.stage = Stage::WantsChannel(start + cell);
            }
            OperationKind::Erase => state.stage = Stage::EndsAt(start + cell),
            OperationKind::Program if start > now => state.stage = Stage::WantsChannel(start),
            OperationKind::Read | OperationKind::Program => self.transfer(unit),
        }
    }

    fn transfer(&mut self, unit: usize) {
        let operation = self.units[unit].task.unwrap().operation;
        let cell = match operation.kind {
            OperationKind::Read => 0,
            _ => self.cell_time(&operation),
        };
        let moved = self.one_transfer(unit, operation.kind);
        self.units[unit].stage = Stage::EndsAt(moved + cell);
    }

    /// A page of `unit` crosses its channel. Returns when it has.
    pub(super) fn one_transfer(&mut self, unit: usize, kind: OperationKind) -> u64 {
        let timing = &self.config.timing;
        let register = match kind {
            OperationKind::Read => timing.read_register_ns,
            _ => timing.write_register_ns,
        };
        let index = unit % self.channels.len();
        let start = self.channels[index].free_at.max(self.now);
        let moved = start + self.scaled(register);
        self.channels[index].free_at = moved;
        self.channels[index].busy.push((start, moved));
        moved
    }

    pub(super) fn unit_acts(&mut self, unit: usize) {
        if self.has_pipelines() {
            self.die_acts(unit);
            return;
        }
        if self.units[unit].alarm.take().is_some() {
            self.try_pause(unit);
            return;
        }
        match self.units[unit].stage {
            Stage::WantsChannel(_) => self.transfer(unit),
            Stage::EndsAt(_) => self.task_done(unit),
            Stage::Idle => unreachable!(),
        }
    }

    pub(super) fn task_done(&mut self, unit: usize) {
        let task = self.units[unit].task.take().unwrap();
        let is_read = task.operation.kind == OperationKind::Read;
        let holds_page = is_read && self.is_copied_back(&task.operation);
        let state = &mut self.units[unit];
        state.holds_page = holds_page;
        state.busy.push((state.since, self.now));
        if !matches!(task.operation.cause, Cause::Host | Cause::Map) {
            state.collecting.push((state.since, self.now));
        }
        // As if it had begun later and never paused. Time collected in its pauses counts.
        let (since, began) = (state.since, state.since - state.worked);
        state.forget_pauses();
        state.stage = Stage::Idle;
        let cell = self.cell_time(&task.operation);
        self.count_erase(&task.operation);
        self.take_next(unit);
        self.dispatch_head();
        self.told(unit, task, (since, cell, self.now - began - cell));
    }

    /// Operations after an erase find its block worn by one more erase.
    pub(super) fn count_erase(&mut self, operation: &Operation) {
        if operation.kind == OperationKind::Erase {
            let block = operation.ppn.0 / self.config.geometry.pages_per_block;
            self.erases[block as usize] += 1;
        }
    }

    /// `task` completed. `times`: until when it waited for others, its cell-array time, and its
    /// channel time.
    pub(super) fn told(&mut self, unit: usize, task: Task, times: (u64, u64, u64)) {
        self.journal
            .push(Entry::Operation(task.operation.kind, task.operation.cause));
        self.firmware.completed(&task.operation);
        self.own_work(&task.operation);
        self.was_read(task.number);
        match task.beneficiary {
            Beneficiary::Nobody | Beneficiary::Lookup(_) => {}
            Beneficiary::Buffer(number) => self.buffered_page_done(number),
            Beneficiary::Forced(index, number) => {
                self.buffered_page_done(number);
                self.requests[index].missing -= 1;
                let request = self.requests[index].request;
                let pages = self.pages_of(&request).count() as u32;
                let has_arrived = self.requests[index].arrived_pages == pages;
                if has_arrived && self.requests[index].missing == 0 {
                    self.tell_of_flash(index, unit, &task, times);
                    self.complete(index);
                }
            }
            Beneficiary::Request(index) => {
                let pending = &mut self.requests[index];
                pending.missing -= 1;
                let request = pending.request;
                if pending.missing > 0 {
                    return;
                }
                self.tell_of_flash(index, unit, &task, times);
                if self.has_link() && request.kind == CommandKind::Read {
                    let time = self.link_time(request.size_bytes.into());
                    self.cross(time, Crossing::ReadData(index));
                } else {
                    self.complete(index);
                }
            }
        }
    }

    /// The last operation of a request completed: assigns the time since the last recorded moment.
    /// Stages before that moment do not count.
    fn tell_of_flash(
        &mut self,
        index: usize,
        unit: usize,
        task: &Task,
        (since, cell, channel): (u64, u64, u64),
    ) {
        let dispatch = self.dispatch_time(task.operation.kind);
        let emitted = task.emitted;
        let overlap = |&(from, to): &(u64, u64)| to.min(since).saturating_sub(from.max(emitted));
        let collecting: u64 = self.units[unit].collecting.iter().map(overlap).sum();
        let pending = &mut self.requests[index];
        let mut left = self.now - pending.told;
        for (part, nanos) in [
            (Part::Cell, cell),
            (Part::Channel, channel),
            (Part::Dispatch, dispatch),
            (Part::Collection, collecting),
            (Part::Queueing, u64::MAX),
        ] {
            let nanos = nanos.min(left);
            pending.parts[part as usize] += nanos;
            left -= nanos;
        }
        pending.told = self.now;
    }
}
