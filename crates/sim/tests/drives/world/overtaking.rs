//! The oracle's order of operations at a unit, and their pauses.

use drivelab_ftl::{Cause, Operation, OperationKind};
use drivelab_request::CommandKind;
use drivelab_sim::preset::Order;

use super::{Beneficiary, Stage, Task, World};

/// The class of operations that keep their order.
pub const IN_ORDER: usize = 7;

/// A program or an erase that is paused for reads.
#[derive(Clone, Copy)]
pub struct Paused {
    task: Task,
    left: u64,
    worked: u64,
    reads: u32,
    pauses: u32,
}

impl World {
    pub(super) fn class_of(&self, task: &Task, unit: usize) -> usize {
        let order = self.config.scheduling.order;
        let is_urgent = self.urgent.contains(&task.number);
        let of_read = match (task.operation.kind, task.beneficiary) {
            (OperationKind::Read, Beneficiary::Request(index) | Beneficiary::Lookup(index)) => {
                Some(&self.requests[index]).filter(|one| one.request.kind == CommandKind::Read)
            }
            _ => None,
        };
        if order == Order::FirstCome || (of_read.is_none() && !is_urgent) {
            return IN_ORDER;
        }
        let programs = |other: &Task| {
            other.operation.kind == OperationKind::Program
                && other.operation.ppn == task.operation.ppn
        };
        let state = &self.units[unit];
        let paused = state.paused.map(|paused| paused.task);
        let in_hand = state.task.iter().chain(&paused).chain(state.die.tasks());
        if state.queue.iter().chain(in_hand).any(programs) {
            return IN_ORDER;
        }
        match (order, of_read) {
            (Order::Priority, Some(pending)) if !is_urgent => pending.stream.min(IN_ORDER - 1),
            _ => 0,
        }
    }

    /// Takes the next operation on `unit`; with `reads_only`, the next read.
    pub(super) fn next_task(&mut self, unit: usize, reads_only: bool) -> Option<Task> {
        let (class, place) = self.next_place(unit, reads_only)?;
        Some(self.take_at(unit, class, place))
    }

    /// The class and queue place of the next operation on `unit`.
    pub(super) fn next_place(&self, unit: usize, reads_only: bool) -> Option<(usize, usize)> {
        let limit = self.config.scheduling.starvation_limit.unwrap_or(u32::MAX);
        let pages = self.config.geometry.pages_per_block;
        let state = &self.units[unit];
        let block = |operation: &Operation| operation.ppn.0 / pages;
        let mut fronts = Vec::new();
        let first = if state.holds_page { IN_ORDER } else { 0 };
        for class in first..=IN_ORDER {
            let Some(place) = state.queue.iter().position(|task| task.class == class) else {
                continue;
            };
            let operation = &state.queue[place].operation;
            let is_wanted = |other: &Task| {
                other.class != IN_ORDER && block(&other.operation) == block(operation)
            };
            let must_wait =
                operation.kind == OperationKind::Erase && state.queue.iter().any(is_wanted);
            let is_left_out = must_wait || (reads_only && class == IN_ORDER);
            if !is_left_out {
                fronts.push((class, place));
            }
        }
        let is_starving = |&&(class, _): &&(usize, usize)| state.passed[class] >= limit;
        let chosen = fronts.iter().rev().find(is_starving).or(fronts.first());
        chosen.copied()
    }

    pub(super) fn take_at(&mut self, unit: usize, class: usize, place: usize) -> Task {
        let state = &mut self.units[unit];
        state.holds_page = false;
        let task = state.queue.remove(place).unwrap();
        state.passed[class] = 0;
        for behind in class + 1..=IN_ORDER {
            if state.queue.iter().any(|task| task.class == behind) {
                state.passed[behind] += 1;
            }
        }
        task
    }

    /// A read came: the current operation pauses now or later, if it may.
    pub(super) fn try_pause(&mut self, unit: usize) {
        let timing = &self.config.timing;
        let scaled = |nanos: Option<u64>| self.scaled(nanos.unwrap_or(0));
        let (suspend, progress) = (
            scaled(timing.suspend_ns),
            scaled(timing.suspend_progress_ns),
        );
        let now = self.now;
        let (Some(task), Stage::EndsAt(end)) = (self.units[unit].task, self.units[unit].stage)
        else {
            return;
        };
        if task.operation.kind == OperationKind::Read {
            return;
        }
        let cell = self.cell_time(&task.operation);
        let state = &mut self.units[unit];
        if state.pauses >= self.config.scheduling.suspends_per_operation {
            return;
        }
        let at = now.max(end - state.left.unwrap_or(cell) + progress);
        if at + suspend >= end {
            return;
        }
        if at > now {
            state.alarm = Some(at);
            return;
        }
        let Some(read) = self.next_task(unit, true) else {
            return;
        };
        let state = &mut self.units[unit];
        state.busy.push((state.since, now));
        if !matches!(task.operation.cause, Cause::Host | Cause::Map) {
            state.collecting.push((state.since, now));
        }
        state.paused = Some(Paused {
            task,
            left: end - now,
            worked: state.worked + (now - state.since),
            reads: 1,
            pauses: state.pauses + 1,
        });
        state.forget_pauses();
        self.start(unit, read, read.handed_over.max(now + suspend));
    }

    /// `unit` is idle: starts or resumes an operation, if there is one.
    pub(super) fn take_next(&mut self, unit: usize) {
        if !matches!(self.units[unit].stage, Stage::Idle) {
            return;
        }
        let limit = self.config.scheduling.starvation_limit.unwrap_or(u32::MAX);
        let reads = self.units[unit].paused.map(|paused| paused.reads);
        let next = match reads {
            None => self.next_task(unit, false),
            Some(reads) if reads < limit => self.next_task(unit, true),
            Some(_) => None,
        };
        let resume = self.scaled(self.config.timing.resume_ns.unwrap_or(0));
        let now = self.now;
        let state = &mut self.units[unit];
        if let Some(task) = next {
            if let Some(paused) = &mut state.paused {
                paused.reads += 1;
            }
            self.start(unit, task, task.handed_over.max(now));
            if self.is_copied_back(&task.operation) {
                // Reads may have come during its read.
                self.try_pause(unit);
            }
        } else if let Some(paused) = state.paused.take() {
            state.task = Some(paused.task);
            state.since = now + resume;
            state.stage = Stage::EndsAt(now + resume + paused.left);
            state.left = Some(paused.left);
            state.worked = paused.worked;
            state.pauses = paused.pauses;
        }
    }
}
