//! What goes first at a die, and pausing an operation for it.
//!
//! ```text
//!   class 0 .. 6   reads that a read of the host waits for  ─┐
//!   class 7        everything else, in its own order        ─┴> unit: the first class that waits,
//!                                                              or one that was passed too often
//! ```
//!
//! The reads of classes 0 to 6 are those of the host's data, and those of a map on the flash that
//! locate this data. A read never overtakes the program of its own page. Programs, erases and the
//! reads that belong to them keep the order of emission among themselves. A host read takes its
//! place behind them while the program of its own page is not complete; otherwise it may go before
//! any of them. An erase waits for the reads of its block that were emitted before it. There cannot
//! be later ones, because its pages no longer hold current data. The program of a copyback follows
//! its read at once, because its data lies in the page register.
//!
//! With suspends, a host read that meets a program or an erase in the cell array pauses it there.
//! Each operation is paused at most a given number of times, and each time only after some
//! progress. Reads then follow until none waits or as many went as may overtake, and the operation
//! resumes.
//!
//! ```text
//!   program |#####|suspend|read|read|resume|####|
//! ```

use drivelab_ftl::OperationKind;

use super::queue::{Account, Pool, Queue, Task};
use super::unit::Phase;
use super::{Flash, Whose};
use crate::preset::{Order, SsdConfig};
use crate::ssd::timeline::Timeline;

/// Queues of a unit.
const CLASSES: usize = 8;

/// The last queue, for everything that must keep its order.
const IN_ORDER: usize = CLASSES - 1;

/// How far a chip searches a queue for pages that can go together.
const LOOKED_AT: usize = 64;

/// A paused operation.
#[derive(Clone, Copy, Debug)]
struct Paused {
    task: Task,
    /// What is left of its time in the cell array.
    left: u64,
    /// How long it has worked.
    worked: u64,
    /// Reads that went before it in this pause.
    reads: u32,
    /// How often it was paused.
    pauses: u32,
}

/// The operations that wait for a unit.
#[derive(Clone, Copy, Debug, Default)]
struct Lines {
    queues: [Queue; CLASSES],
    /// For each class, how many operations overtook its first one.
    passed: [u32; CLASSES],
    paused: Option<Paused>,
    /// For the current operation: how often it was paused, ...
    pauses: u32,
    /// ... how long it worked before the last pause, ...
    worked: u64,
    /// ... and what was left of its cell-array time then.
    left: Option<u64>,
    /// The page register holds the data that the first operation in order programs.
    holds_page: bool,
}

impl Lines {
    fn waits(&self, class: usize) -> bool {
        !self.queues[class].is_empty()
    }

    fn first_of(&self, classes: usize, limit: u32) -> Option<usize> {
        let is_starving = |&class: &usize| self.waits(class) && self.passed[class] >= limit;
        let starving = (0..classes).rev().find(is_starving);
        starving.or_else(|| (0..classes).find(|&class| self.waits(class)))
    }

    /// Another operation becomes the current one. Returns how long the last one worked before its
    /// last pause.
    fn forget_pauses(&mut self) -> u64 {
        self.pauses = 0;
        self.left = None;
        std::mem::take(&mut self.worked)
    }

    /// Takes the first operation of `class`; it passes the ones behind.
    fn take(&mut self, class: usize, pool: &mut Pool) -> Option<Task> {
        self.take_at(class, 0, pool)
    }

    /// The same for the operation at `place`.
    fn take_at(&mut self, class: usize, place: u32, pool: &mut Pool) -> Option<Task> {
        let task = match place {
            0 => self.queues[class].pop(pool),
            place => self.queues[class].take_at(place, pool),
        };
        self.holds_page = false;
        self.passed[class] = 0;
        for behind in class + 1..CLASSES {
            self.passed[behind] += u32::from(self.waits(behind));
        }
        task
    }
}

/// The queues of a drive on which operations overtake one another.
#[derive(Clone, Debug)]
pub(super) struct Overtaking {
    order: Order,
    limit: u32,
    most_pauses: u32,
    /// For each page, how many of its programs were emitted but are not complete.
    being_programmed: Vec<u8>,
    pages_per_block: u32,
    units: Vec<Lines>,
}

impl Overtaking {
    /// `None` if everything goes in the order of emission, unless `keeps_lines` asks for the queues
    /// anyway.
    pub fn new(config: &SsdConfig, keeps_lines: bool) -> Option<Box<Self>> {
        let scheduling = &config.scheduling;
        let overtakes = scheduling.order != Order::FirstCome;
        let pages = if overtakes {
            config.physical_pages()
        } else {
            0
        };
        (overtakes || keeps_lines).then(|| {
            Box::new(Self {
                order: scheduling.order,
                limit: scheduling.starvation_limit.unwrap_or(u32::MAX),
                most_pauses: scheduling.suspends_per_operation,
                being_programmed: vec![0; pages as usize],
                pages_per_block: config.geometry.pages_per_block,
                units: vec![Lines::default(); config.units() as usize],
            })
        })
    }

    /// Empties all queues.
    pub fn reset(&mut self) {
        self.being_programmed.fill(0);
        self.units.fill(Lines::default());
    }

    /// The queue in which an operation waits.
    fn class_of(&self, kind: OperationKind, whose: Whose) -> usize {
        match (kind, whose.reader, self.order) {
            (OperationKind::Read, Some(_), Order::ReadsFirst) => 0,
            (OperationKind::Read, Some(priority), Order::Priority) => {
                usize::from(priority).min(IN_ORDER - 1)
            }
            _ => IN_ORDER,
        }
    }

    fn is_being_programmed(&self, page: u32) -> bool {
        self.being_programmed[page as usize] > 0
    }

    /// A program of `page` was emitted.
    fn program_emitted(&mut self, page: u32) {
        if let Some(count) = self.being_programmed.get_mut(page as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// A program of `page` completed. A count that reached its maximum stays there; reads of that
    /// page then keep their place.
    fn program_completed(&mut self, page: u32) {
        let count = self.being_programmed.get_mut(page as usize);
        if let Some(count) = count.filter(|count| **count != u8::MAX) {
            *count = count.saturating_sub(1);
        }
    }

    /// Whether the first operation in order of `unit` is an erase of a block that reads still wait
    /// for.
    fn must_wait(&self, unit: u32, pool: &Pool) -> bool {
        let lines = &self.units[unit as usize];
        let Some(first) = lines.queues[IN_ORDER].front(pool) else {
            return false;
        };
        let block = first.ppn.0 / self.pages_per_block;
        let of_block = |task: &Task| task.ppn.0 / self.pages_per_block == block;
        let mut reads = lines.queues[..IN_ORDER].iter();
        first.kind == OperationKind::Erase && reads.any(|queue| queue.tasks(pool).any(of_block))
    }

    /// The class whose first operation goes next on `unit`.
    fn next_class(&self, unit: u32, pool: &Pool) -> Option<usize> {
        let lines = &self.units[unit as usize];
        if lines.holds_page || self.order == Order::FirstCome {
            return lines.waits(IN_ORDER).then_some(IN_ORDER);
        }
        let class = lines.first_of(CLASSES, self.limit)?;
        if class == IN_ORDER && self.must_wait(unit, pool) {
            return lines.first_of(IN_ORDER, self.limit);
        }
        Some(class)
    }

    /// Takes the next operation on `unit`.
    fn choose(&mut self, unit: u32, pool: &mut Pool) -> Option<Task> {
        let class = self.next_class(unit, pool)?;
        self.units[unit as usize].take(class, pool)
    }

    /// The next operation on `unit`.
    pub fn first(&self, unit: u32, pool: &Pool) -> Option<Task> {
        let class = self.next_class(unit, pool)?;
        self.units[unit as usize].queues[class].front(pool).copied()
    }

    /// Takes the next operation on `unit`, and operations behind it in the same queue while `fits`
    /// accepts them. `fits` receives the operations taken so far and the next one.
    pub fn take_batch(
        &mut self,
        unit: u32,
        pool: &mut Pool,
        fits: impl Fn(&[Task], &Task) -> bool,
        batch: &mut Vec<Task>,
    ) {
        let Some(class) = self.next_class(unit, pool) else {
            return;
        };
        while let Some(next) = self.units[unit as usize].queues[class].front(pool) {
            let must_wait = class == IN_ORDER && self.must_wait(unit, pool);
            if must_wait || !fits(batch, next) {
                return;
            }
            batch.extend(self.units[unit as usize].take(class, pool));
        }
    }

    /// Like [`Overtaking::take_batch`], but looks past reads and programs that do not fit. It looks
    /// only at operations of the same kind and on other planes than those it passed.
    pub fn take_scattered_batch(
        &mut self,
        unit: u32,
        pool: &mut Pool,
        fits: impl Fn(&[Task], &Task) -> bool,
        plane_of: impl Fn(&Task) -> u32,
        batch: &mut Vec<Task>,
    ) {
        let Some(class) = self.next_class(unit, pool) else {
            return;
        };
        let lines = &mut self.units[unit as usize];
        let Some(first) = lines.queues[class].front(pool).copied() else {
            return;
        };
        if first.kind == OperationKind::Erase {
            return self.take_batch(unit, pool, fits, batch);
        }
        let queue = lines.queues[class].tasks(pool).take(LOOKED_AT);
        let waiting: Vec<Task> = queue
            .take_while(|task| task.kind == first.kind && task.account != Account::COPYBACK)
            .copied()
            .collect();
        let (mut place, mut passed) = (0, Vec::new());
        for task in &waiting {
            if !passed.contains(&plane_of(task)) && fits(batch, task) {
                batch.extend(lines.take_at(class, place, pool));
            } else {
                passed.push(plane_of(task));
                place += 1;
            }
        }
        if batch.is_empty() {
            batch.extend(lines.take(class, pool));
        }
    }

    /// An operation on `unit` completed.
    pub fn operation_completed(&mut self, unit: u32, task: &Task) {
        if task.kind == OperationKind::Program {
            self.program_completed(task.ppn.0);
        }
        let lines = &mut self.units[unit as usize];
        lines.holds_page = task.account == Account::COPYBACK && task.kind == OperationKind::Read;
    }

    /// Takes the next host read on `unit`.
    fn choose_read(&mut self, unit: u32, pool: &mut Pool) -> Option<Task> {
        let lines = &mut self.units[unit as usize];
        let class = lines.first_of(IN_ORDER, self.limit)?;
        lines.take(class, pool)
    }

    /// Whether a host read waits for `unit`.
    fn has_reads(&self, unit: u32) -> bool {
        let lines = &self.units[unit as usize];
        (0..IN_ORDER).any(|class| lines.waits(class))
    }
}

impl Flash {
    /// `task` reaches its unit, where others may wait.
    #[inline(never)]
    pub(super) fn enter_line(
        &mut self,
        unit: u32,
        (task, whose): (Task, Whose),
        timeline: &mut Timeline,
        now: u64,
    ) {
        let Some(overtaking) = &mut self.overtaking else {
            return;
        };
        let mut class = overtaking.class_of(task.kind, whose);
        if task.kind == OperationKind::Program {
            overtaking.program_emitted(task.ppn.0);
        } else if class != IN_ORDER && overtaking.is_being_programmed(task.ppn.0) {
            class = IN_ORDER;
        }
        if self.pipelines.is_some() {
            overtaking.units[unit as usize].queues[class].push(task, &mut self.pool);
            self.await_entry(unit, timeline, now);
            return;
        }
        if self.units[unit as usize].phase == Phase::Idle {
            self.begin_task(unit, task, task.available, timeline, now);
            return;
        }
        overtaking.units[unit as usize].queues[class].push(task, &mut self.pool);
        if class != IN_ORDER {
            self.pause_for_reads(unit, timeline, now);
        }
    }

    /// The current operation on `unit` completed. Returns how long it worked before its last pause.
    #[inline(never)]
    pub(super) fn leave_line(&mut self, unit: u32, task: &Task) -> u64 {
        let Some(overtaking) = &mut self.overtaking else {
            return 0;
        };
        overtaking.operation_completed(unit, task);
        overtaking.units[unit as usize].forget_pauses()
    }

    /// `unit` has become idle and takes the next operation.
    #[inline(never)]
    pub(super) fn take_from_lines(&mut self, unit: u32, timeline: &mut Timeline, now: u64) {
        let Some(overtaking) = &mut self.overtaking else {
            return;
        };
        let pool = &mut self.pool;
        let limit = overtaking.limit;
        let next = match &mut overtaking.units[unit as usize].paused {
            None => overtaking.choose(unit, pool),
            Some(paused) if paused.reads >= limit => None,
            Some(paused) => {
                paused.reads += 1;
                overtaking.choose_read(unit, pool)
            }
        };
        match next {
            Some(task) => {
                self.begin_task(unit, task, task.available.max(now), timeline, now);
                let overtaking = self.overtaking.as_ref();
                if task.account == Account::COPYBACK
                    && overtaking.is_some_and(|all| all.has_reads(unit))
                {
                    // Reads may have come during its read.
                    self.pause_for_reads(unit, timeline, now);
                }
            }
            None => self.resume(unit, timeline, now),
        }
    }

    /// Resumes the paused operation of `unit`, if there is one.
    fn resume(&mut self, unit: u32, timeline: &mut Timeline, now: u64) {
        let overtaking = self.overtaking.as_mut();
        let lines = overtaking.map(|all| &mut all.units[unit as usize]);
        let Some((lines, paused)) = lines.and_then(|l| l.paused.take().map(|p| (l, p))) else {
            timeline.events.cancel(unit as usize);
            return;
        };
        lines.worked = paused.worked;
        lines.left = Some(paused.left);
        lines.pauses = paused.pauses;
        let state = &mut self.units[unit as usize];
        state.task = paused.task;
        state.began = now + self.times.resume;
        state.end = state.began + paused.left;
        state.phase = Phase::Promised;
        let end = state.end;
        timeline.events.set(unit as usize, end);
        self.record_resume(unit, paused.task.tag, end);
    }

    /// A host read waits for `unit`: pauses the current operation now, or as soon as allowed, if at
    /// all.
    fn pause_for_reads(&mut self, unit: u32, timeline: &mut Timeline, now: u64) {
        self.settle(
            self.units[unit as usize].channel,
            timeline.current,
            timeline,
        );
        let Some(overtaking) = &mut self.overtaking else {
            return;
        };
        let lines = &overtaking.units[unit as usize];
        let state = &self.units[unit as usize];
        if state.phase != Phase::Promised
            || state.task.kind == OperationKind::Read
            || lines.pauses >= overtaking.most_pauses
        {
            return;
        }
        let cell = self.times.cell(state.task.kind, state.task.ppn);
        let left = lines.left.unwrap_or(cell);
        let may_pause_at = state.end - left + self.times.suspend_progress;
        let at = may_pause_at.max(now);
        if at + self.times.suspend >= state.end {
            // It ends before a pause would have begun.
            return;
        }
        if at > now {
            timeline.events.set(unit as usize, at);
        } else {
            self.pause(unit, timeline, now);
        }
    }

    /// The event of `unit` came before the end of its operation. Returns whether it belongs to
    /// something that the die takes in addition to that operation; otherwise a pause is due.
    #[cold]
    #[inline(never)]
    pub(super) fn is_die_event(&mut self, unit: u32, timeline: &mut Timeline, now: u64) -> bool {
        if self.pipelines.is_some() {
            return true;
        }
        let end = self.units[unit as usize].end;
        timeline.events.set(unit as usize, end);
        let overtaking = self.overtaking.as_ref();
        if overtaking.is_some_and(|all| all.has_reads(unit)) {
            self.pause_for_reads(unit, timeline, now);
        }
        false
    }

    fn pause(&mut self, unit: u32, timeline: &mut Timeline, now: u64) {
        let Some(overtaking) = &mut self.overtaking else {
            return;
        };
        let Some(read) = overtaking.choose_read(unit, &mut self.pool) else {
            return;
        };
        let lines = &mut overtaking.units[unit as usize];
        let state = &mut self.units[unit as usize];
        let worked = now - state.began;
        lines.paused = Some(Paused {
            task: state.task,
            left: state.end - now,
            worked: lines.worked + worked,
            reads: 1,
            pauses: lines.pauses + 1,
        });
        lines.forget_pauses();
        state.busy += worked;
        state.collected += worked * u64::from(state.task.cause.moves_data());
        let tag = state.task.tag;
        self.record_pause(unit, tag);
        let from = now + self.times.suspend;
        self.begin_task(unit, read, read.available.max(from), timeline, now);
    }
}
