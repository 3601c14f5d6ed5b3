//! The oracle's dies that start an operation while another is in progress, or execute several at
//! once.

use drivelab_ftl::{Cause, OperationKind};
use drivelab_sim::preset::{ChannelOrder, MultiPlane, WorkUnit};

use super::overtaking::IN_ORDER;
use super::{Task, World};

/// Operations that go through a die together.
pub struct Batch {
    tasks: Vec<Task>,
    is_alone: bool,
    cell: u64,
    /// When its cell time ends, if it has begun.
    sensed: Option<u64>,
    /// When the channel was requested and when each transfer ends, if it was requested.
    moved: Option<(u64, Vec<u64>)>,
}

/// The content of a die, in the first and the second stage.
#[derive(Default)]
pub struct Die {
    front: Option<Batch>,
    back: Option<Batch>,
    since: u64,
}

impl Die {
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        let batches = self.front.iter().chain(&self.back);
        batches.flat_map(|batch| &batch.tasks)
    }
}

impl World {
    pub(super) fn has_pipelines(&self) -> bool {
        let scheduling = &self.config.scheduling;
        scheduling.cache_operations
            || scheduling.multi_plane != MultiPlane::Off
            || self.sends_data_first()
    }

    fn sends_data_first(&self) -> bool {
        self.config.scheduling.channel == ChannelOrder::DataOutFirst
    }

    /// All units on the channel of `unit`, beginning with the one whose turn it is.
    fn in_turn(&self, unit: usize) -> Vec<usize> {
        let channels = self.channels.len();
        let channel = unit % channels;
        let all = (0..self.units.len()).filter(|other| other % channels == channel);
        let mut all: Vec<usize> = all.collect();
        let first = all.iter().position(|&u| u == self.channels[channel].turn);
        all.rotate_left(first.unwrap());
        all
    }

    /// The units on the channel of `unit` begin waiting operations until one of them sends data.
    fn begin_in_turn(&mut self, unit: usize) {
        let channel = unit % self.channels.len();
        let order = self.in_turn(unit);
        for (place, &next) in order.iter().enumerate() {
            self.enter_die(next);
            if self.channels[channel].free_at > self.now {
                let behind = order[(place + 1) % order.len()];
                self.channels[channel].turn = behind;
                return;
            }
        }
    }

    fn kind(batch: &Batch) -> OperationKind {
        batch.tasks[0].operation.kind
    }

    /// When the first operation that waits for `unit` may enter: now, or when it is handed over.
    fn enters_at(&self, unit: usize) -> Option<u64> {
        let place = self.next_place(unit, false)?.1;
        let task = self.units[unit].queue[place];
        let die = &self.units[unit].die;
        let is_alone =
            task.operation.kind == OperationKind::Erase || self.is_copied_back(&task.operation);
        let may = match (&die.front, &die.back) {
            (None, None) => true,
            (None, Some(back)) => {
                self.config.scheduling.cache_operations
                    && !is_alone
                    && !back.is_alone
                    && Self::kind(back) == task.operation.kind
            }
            (Some(_), _) => false,
        };
        let channel = match self.sends_data_first() {
            true => self.channels[unit % self.channels.len()].free_at,
            false => 0,
        };
        may.then_some(task.handed_over.max(self.now).max(channel))
    }

    /// When the next event in `unit` happens.
    pub(super) fn die_time(&self, unit: usize) -> Option<u64> {
        let die = &self.units[unit].die;
        let front = die.front.as_ref().filter(|_| die.back.is_none());
        let front = front.map(|batch| match Self::kind(batch) {
            OperationKind::Program => *batch.moved.as_ref().unwrap().1.last().unwrap(),
            _ => batch.sensed.unwrap(),
        });
        let back = die.back.as_ref().map(|batch| match &batch.moved {
            Some((_, ends)) if Self::kind(batch) == OperationKind::Read => ends[0],
            _ => batch.sensed.unwrap(),
        });
        [front, back, self.enters_at(unit)]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) fn die_acts(&mut self, unit: usize) {
        let now = self.now;
        let mut over = Vec::new();
        let since = self.units[unit].die.since;
        if let Some(back) = &mut self.units[unit].die.back {
            let asked = back.moved.as_ref().map_or(0, |&(asked, _)| asked);
            let reads_out = Self::kind(back) == OperationKind::Read && !back.is_alone;
            while !back.tasks.is_empty() {
                let ends = back.moved.as_mut().map(|(_, ends)| ends);
                let channel = match (reads_out, ends) {
                    (true, Some(ends)) if ends[0] <= now => ends.remove(0) - asked,
                    (false, ends) if back.sensed.unwrap() <= now => {
                        ends.map_or(0, |ends| ends[ends.len() - 1] - asked)
                    }
                    _ => break,
                };
                over.push((back.tasks.remove(0), channel, back.cell));
            }
            if back.tasks.is_empty() {
                self.leave_die(unit);
            }
        }
        for (task, ..) in &over {
            let is_read = task.operation.kind == OperationKind::Read;
            self.units[unit].holds_page = is_read && self.is_copied_back(&task.operation);
            self.count_erase(&task.operation);
        }
        self.go_on(unit);
        if !self.sends_data_first() {
            self.enter_die(unit);
        } else if self.channels[unit % self.channels.len()].free_at <= now {
            self.begin_in_turn(unit);
        }
        for (task, channel, cell) in over {
            self.told(unit, task, (since, cell, channel));
        }
    }

    /// The batch in the back of `unit` ends.
    fn leave_die(&mut self, unit: usize) {
        let now = self.now;
        let state = &mut self.units[unit];
        let first = state.task.take().unwrap();
        state.busy.push((state.die.since, now));
        if !matches!(first.operation.cause, Cause::Host | Cause::Map) {
            state.collecting.push((state.die.since, now));
        }
        state.die.back = None;
        state.die.since = now;
        state.task = state.die.front.as_ref().map(|batch| batch.tasks[0]);
    }

    fn go_on(&mut self, unit: usize) {
        let (now, die) = (self.now, &mut self.units[unit].die);
        if die.back.is_some() {
            return;
        }
        let Some(mut batch) = die.front.take() else {
            return;
        };
        let ready = match Self::kind(&batch) {
            OperationKind::Program => *batch.moved.as_ref().unwrap().1.last().unwrap(),
            _ => batch.sensed.unwrap(),
        };
        if ready > now {
            die.front = Some(batch);
        } else if Self::kind(&batch) == OperationKind::Program {
            batch.sensed = Some(now + batch.cell);
            self.units[unit].die.back = Some(batch);
        } else {
            self.move_all(unit, &mut batch);
            self.units[unit].die.back = Some(batch);
        }
    }

    fn move_all(&mut self, unit: usize, batch: &mut Batch) {
        let ends = batch
            .tasks
            .iter()
            .map(|task| self.one_transfer(unit, task.operation.kind));
        let ends = ends.collect();
        batch.moved = Some((self.now, ends));
    }

    fn enter_die(&mut self, unit: usize) {
        if self.enters_at(unit) != Some(self.now) {
            return;
        }
        let first = self.next_task(unit, false).unwrap();
        let is_alone =
            first.operation.kind == OperationKind::Erase || self.is_copied_back(&first.operation);
        let mut tasks = vec![first];
        while let Some(place) = self.joins(unit, &tasks) {
            tasks.push(self.take_at(unit, first.class, place));
        }
        let cells = tasks.iter().map(|task| self.cell_time(&task.operation));
        let mut batch = Batch {
            cell: cells.max().unwrap(),
            tasks,
            is_alone,
            sensed: None,
            moved: None,
        };
        let is_first = self.units[unit].die.back.is_none();
        if is_first {
            self.units[unit].die.since = self.now;
            self.units[unit].task = Some(first);
        }
        if first.operation.kind == OperationKind::Program && !is_alone {
            self.move_all(unit, &mut batch);
        } else {
            batch.sensed = Some(self.now + batch.cell);
        }
        let die = &mut self.units[unit].die;
        if is_alone {
            die.back = Some(batch);
        } else {
            die.front = Some(batch);
        }
    }

    /// The queue place of the next operation that can join `batch`.
    fn joins(&self, unit: usize, batch: &[Task]) -> Option<usize> {
        let (queue, first) = (&self.units[unit].queue, &batch[0]);
        let mut passed = Vec::new();
        for (place, task) in queue.iter().enumerate() {
            if task.class != first.class {
                continue;
            }
            let plane = task.operation.plane;
            if !passed.contains(&plane) && self.fits(unit, batch, place) {
                return Some(place);
            }
            passed.push(plane);
            let kind = task.operation.kind;
            let may_pass = self.config.scheduling.unit == WorkUnit::Chip
                && kind == first.operation.kind
                && kind != OperationKind::Erase
                && !self.is_copied_back(&task.operation)
                && passed.len() + batch.len() < 64;
            if !may_pass {
                return None;
            }
        }
        None
    }

    /// Whether the operation at `place` can join `batch`.
    fn fits(&self, unit: usize, batch: &[Task], place: usize) -> bool {
        let pages = self.config.geometry.pages_per_block;
        let (queue, first) = (&self.units[unit].queue, &batch[0]);
        let operation = &queue[place].operation;
        let same_page = operation.ppn.0 % pages == first.operation.ppn.0 % pages;
        let is_wanted = |other: &Task| {
            other.class != IN_ORDER && other.operation.ppn.0 / pages == operation.ppn.0 / pages
        };
        let fits = match self.config.scheduling.multi_plane {
            MultiPlane::Off => false,
            MultiPlane::SamePage => same_page,
            MultiPlane::AnyPage => true,
        };
        let on_its_plane = |task: &Task| task.operation.plane == operation.plane;
        let must_wait = operation.kind == OperationKind::Erase && queue.iter().any(is_wanted);
        fits && !must_wait
            && queue[place].handed_over <= self.now
            && operation.kind == first.operation.kind
            && !self.is_copied_back(operation)
            && !self.is_copied_back(&first.operation)
            && self.die_of(operation.plane) == self.die_of(first.operation.plane)
            && !batch.iter().any(on_its_plane)
    }

    fn die_of(&self, plane: u32) -> u32 {
        let geometry = &self.config.geometry;
        let chips = geometry.channels * geometry.ways_per_channel;
        plane / chips % geometry.dies_per_way
    }
}
