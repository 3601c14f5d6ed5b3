//! Dies that start an operation while another is in progress, or execute several at once.
//!
//! ```text
//!   queue ─> front ─────────> back               one batch in each
//!   program: transfers        cell array
//!   read:    cell array       transfers
//!   alone:                    cell array         an erase, each half of a copyback
//! ```
//!
//! A batch is one operation. With *multi-plane* operations it may be several of one kind on
//! different planes: those that come first in the queue when the die takes it. A batch is in the
//! cell array once, for the longest of its times, and its transfers follow one another. With
//! *cache* operations a batch enters the front as soon as the batch before it, of the same kind,
//! has gone to the back. The cache register then takes the data of the next program, or holds the
//! data of the last read. Otherwise the batch waits until the die is empty.
//!
//! ```text
//!   cache program:  |transfer 1|transfer 2|          |transfer 3|
//!                              |######## cell 1 #####|######## cell 2 #####|###
//! ```
//!
//! The same holds for a chip that takes one operation at a time. The operations of a batch are on
//! one of its dies and need not be adjacent in the queue. If data goes out first
//! ([`super::turns`]), a batch enters only when the channel is free.
//!
//! The die's time counts for the batch that has been in it longest. Time between front and back
//! counts as queueing. Left out: programs need not be of one block, as some chips require for cache
//! programs.

use drivelab_ftl::OperationKind;

use super::queue::{Account, Task};
use super::turns::Turns;
use super::unit::Phase;
use super::{Ended, Flash};
use crate::preset::{ChannelOrder, MultiPlane, SsdConfig, WorkUnit};
use crate::ssd::timeline::Timeline;

/// Operations that go through the die together.
#[derive(Clone, Debug, Default)]
struct Batch {
    /// The tasks; empty if there is no batch.
    tasks: Vec<Task>,
    /// Nothing of it crosses the channel.
    is_alone: bool,
    /// Its time in the cell array.
    cell: u64,
    /// When its work in the current stage ends.
    done: u64,
    /// When the channel was requested for its transfers, and when the last transfer ends.
    asked: u64,
    moved: u64,
    /// How many of its operations have been reported as complete.
    reported: usize,
}

impl Batch {
    fn kind(&self) -> Option<OperationKind> {
        self.tasks.first().map(|task| task.kind)
    }

    fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    fn clear(&mut self) {
        self.tasks.clear();
        self.reported = 0;
        self.is_alone = false;
    }

    /// Whether its operations complete one after another, as their transfers end.
    fn ends_with_transfers(&self) -> bool {
        self.kind() == Some(OperationKind::Read) && !self.is_alone
    }

    /// When the next of its operations, in the back, completes.
    fn next_end(&self, transfer: u64) -> u64 {
        if !self.ends_with_transfers() {
            return self.done;
        }
        let behind = self.tasks.len() - self.reported - 1;
        self.done - behind as u64 * transfer
    }
}

/// What is in a die.
#[derive(Clone, Debug, Default)]
struct Stages {
    front: Batch,
    back: Batch,
}

/// The dies of a drive with cache or multi-plane operations, or with data out first.
#[derive(Clone, Debug)]
pub(super) struct Pipelines {
    has_cache: bool,
    multi_plane: MultiPlane,
    pages_per_block: u32,
    /// For chips that take one operation at a time: the number of chips, and the dies of each.
    chips: Option<(u32, u32)>,
    dies: Vec<Stages>,
    /// If data goes out first: whose turn it is on each channel.
    pub turns: Option<Turns>,
}

impl Pipelines {
    /// `None` if dies take one operation at a time.
    pub fn new(config: &SsdConfig) -> Option<Box<Self>> {
        let scheduling = &config.scheduling;
        let data_first = scheduling.channel == ChannelOrder::DataOutFirst;
        let is_on =
            scheduling.cache_operations || scheduling.multi_plane != MultiPlane::Off || data_first;
        let (geometry, units) = (&config.geometry, config.units());
        is_on.then(|| {
            Box::new(Self {
                has_cache: scheduling.cache_operations,
                multi_plane: scheduling.multi_plane,
                pages_per_block: geometry.pages_per_block,
                chips: (scheduling.unit == WorkUnit::Chip)
                    .then_some((units, geometry.dies_per_way)),
                dies: vec![Stages::default(); units as usize],
                turns: data_first.then(|| Turns::new(geometry.channels, units)),
            })
        })
    }

    /// Empties the dies.
    pub fn reset(&mut self) {
        self.dies.fill(Stages::default());
        if let Some(turns) = &mut self.turns {
            turns.reset();
        }
    }

    /// Whether `task`, first in the queue, may enter the front.
    fn may_enter(&self, unit: u32, task: &Task) -> bool {
        let Stages { front, back } = &self.dies[unit as usize];
        let follows =
            self.has_cache && !back.is_alone && !is_alone(task) && back.kind() == Some(task.kind);
        front.is_empty() && (back.is_empty() || follows)
    }

    /// Whether `task` may join the operations of `batch`.
    fn fits(&self, batch: &[Task], task: &Task, plane_of: impl Fn(&Task) -> u32) -> bool {
        let Some(first) = batch.first() else {
            return true;
        };
        let page = |task: &Task| task.ppn.0 % self.pages_per_block;
        let is_allowed = match self.multi_plane {
            MultiPlane::Off => false,
            MultiPlane::SamePage => page(first) == page(task),
            MultiPlane::AnyPage => true,
        };
        let die = |task: &Task| {
            let of_chip = |(units, dies): (u32, u32)| plane_of(task) / units % dies;
            self.chips.map_or(0, of_chip)
        };
        is_allowed
            && first.kind == task.kind
            && die(first) == die(task)
            && first.account != Account::COPYBACK
            && task.account != Account::COPYBACK
            && batch.iter().all(|other| plane_of(other) != plane_of(task))
    }
}

/// Whether it transfers no data to or from the die.
fn is_alone(task: &Task) -> bool {
    task.kind == OperationKind::Erase || task.account == Account::COPYBACK
}

impl Flash {
    /// The first operation in the queue of `unit`.
    fn first_waiting(&self, unit: u32) -> Option<Task> {
        let overtaking = self.overtaking.as_ref()?;
        overtaking.first(unit, &self.pool)
    }

    /// An operation has joined the queue of `unit`.
    pub(super) fn await_entry(&mut self, unit: u32, timeline: &mut Timeline, now: u64) {
        let Some(pipelines) = self.pipelines.take() else {
            return;
        };
        // Otherwise the current event is no later than anything that can happen.
        if self
            .first_waiting(unit)
            .is_some_and(|first| pipelines.may_enter(unit, &first))
        {
            self.set_die_event(&pipelines, unit, timeline, now);
        }
        self.pipelines = Some(pipelines);
    }

    /// The event of `unit` is due: operations complete, and batches advance or enter.
    pub(super) fn die_event(&mut self, unit: u32, timeline: &mut Timeline, now: u64) {
        let Some(mut pipelines) = self.pipelines.take() else {
            return;
        };
        self.end_back(&mut pipelines.dies[unit as usize], unit, now);
        self.go_on(&mut pipelines.dies[unit as usize], unit, now);
        if pipelines.turns.is_some() {
            self.take_in_turn(&mut pipelines, unit, timeline, now);
        } else {
            self.take_batch(&mut pipelines, unit, now);
            self.set_die_event(&pipelines, unit, timeline, now);
        }
        self.pipelines = Some(pipelines);
    }

    /// Removes completed operations from the back.
    fn end_back(&mut self, stages: &mut Stages, unit: u32, now: u64) {
        let Stages { front, back } = stages;
        let collected = self.units[unit as usize].collected;
        while let Some(&task) = back.tasks.get(back.reported) {
            let kind = task.kind as usize;
            if back.next_end(self.times.register[kind]) > now {
                return;
            }
            back.reported += 1;
            // All transfers of a program batch come before its time in the cell array.
            let moved = if back.ends_with_transfers() {
                now
            } else {
                back.moved
            };
            let channel = moved - back.asked;
            if self.times.ageing.is_some() {
                self.count_ageing(&task);
            }
            self.over.push(Ended {
                task,
                began: now - back.cell - channel,
                cell: Some(back.cell),
                collected,
            });
            if let Some(overtaking) = &mut self.overtaking {
                overtaking.operation_completed(unit, &task);
            }
        }
        if !back.is_empty() {
            back.clear();
            self.count_time(unit, front.tasks.first(), now);
        }
    }

    /// Counts the die's time until `now`. From now on it counts for `next`.
    fn count_time(&mut self, unit: u32, next: Option<&Task>, now: u64) {
        let state = &mut self.units[unit as usize];
        let worked = now - state.began;
        state.busy += worked;
        state.collected += worked * u64::from(state.task.cause.moves_data());
        state.began = now;
        if let Some(next) = next {
            state.task = *next;
        } else {
            state.phase = Phase::Idle;
        }
    }

    /// Moves the batch in the front to the back, if it is ready and the back is free.
    fn go_on(&mut self, stages: &mut Stages, unit: u32, now: u64) {
        let Stages { front, back } = stages;
        if front.is_empty() || !back.is_empty() || front.done > now {
            return;
        }
        std::mem::swap(front, back);
        if back.ends_with_transfers() {
            self.transfer_all(back, unit, now);
            back.done = back.moved;
        } else {
            back.done = now + back.cell;
            for task in &back.tasks {
                if let Some(record) = self.recorded_task(unit, task.tag) {
                    record.cell = (now, back.done);
                }
            }
        }
    }

    /// Requests the channel for all transfers of `batch`.
    fn transfer_all(&mut self, batch: &mut Batch, unit: u32, now: u64) {
        let channel = self.units[unit as usize].channel;
        batch.asked = now;
        for task in &batch.tasks {
            let time = self.times.register[task.kind as usize];
            let transfer = self.channels[channel as usize].reserve(now, time);
            batch.moved = transfer.1;
            if let Some(record) = self.recorded_task(unit, task.tag) {
                record.transfer = transfer;
            }
        }
    }

    /// Lets the next batch enter, if there is one and it may.
    pub(super) fn take_batch(&mut self, pipelines: &mut Pipelines, unit: u32, now: u64) {
        let Some(first) = self.first_waiting(unit) else {
            return;
        };
        if first.available > now || !pipelines.may_enter(unit, &first) {
            return;
        }
        let mut tasks = std::mem::take(&mut pipelines.dies[unit as usize].front.tasks);
        if let Some(overtaking) = &mut self.overtaking {
            let by_plane = self.places.by_plane_pages;
            let plane_of = |task: &Task| by_plane.quotient(task.ppn.0);
            let fits = |batch: &[Task], task: &Task| {
                task.available <= now && pipelines.fits(batch, task, plane_of)
            };
            if pipelines.chips.is_some() && pipelines.multi_plane != MultiPlane::Off {
                let pool = &mut self.pool;
                overtaking.take_scattered_batch(unit, pool, fits, plane_of, &mut tasks);
            } else {
                overtaking.take_batch(unit, &mut self.pool, fits, &mut tasks);
            }
        }
        let cell = |task: &Task| self.times.cell(task.kind, task.ppn);
        let Stages { front, back } = &mut pipelines.dies[unit as usize];
        if back.is_empty() {
            let state = &mut self.units[unit as usize];
            state.phase = Phase::Promised;
            state.task = first;
            state.began = now;
        }
        let batch = if is_alone(&first) { back } else { front };
        batch.cell = tasks.iter().map(cell).max().unwrap_or(0);
        batch.tasks = tasks;
        batch.is_alone = is_alone(&first);
        batch.done = now + batch.cell;
        (batch.asked, batch.moved) = (now, now);
        for task in &batch.tasks {
            if let Some(record) = self.recorded_task(unit, task.tag) {
                record.cell = (now, batch.done);
                record.transfer = (batch.done, batch.done);
            }
        }
        if first.kind == OperationKind::Program && !batch.is_alone {
            self.transfer_all(batch, unit, now);
            batch.done = batch.moved;
        }
    }

    /// Sets the time of the next event in `unit`.
    pub(super) fn set_die_event(
        &mut self,
        pipelines: &Pipelines,
        unit: u32,
        timeline: &mut Timeline,
        now: u64,
    ) {
        let Stages { front, back } = &pipelines.dies[unit as usize];
        let mut next = None;
        let mut at = |time: u64| next = Some(next.map_or(time, |next: u64| next.min(time)));
        if let Some(kind) = back.kind() {
            at(back.next_end(self.times.register[kind as usize]));
        } else if !front.is_empty() {
            at(front.done);
        }
        if let Some(first) = self.first_waiting(unit) {
            let from = self.enters_from(pipelines, unit).max(now);
            let begins = first.available.max(from);
            if pipelines.may_enter(unit, &first) {
                at(begins);
            }
            if front.is_empty() && back.is_empty() {
                let state = &mut self.units[unit as usize];
                state.phase = Phase::Promised;
                state.task = first;
                state.began = begins;
            }
        }
        match next {
            Some(time) => timeline.events.set(unit as usize, time),
            None => timeline.events.cancel(unit as usize),
        }
    }
}
