//! What the flash consists of: units, channels, dispatch.
//! Their ways are in [`super::operation`].

mod ageing;
pub mod dependents;
pub mod moves;
pub mod operation;
pub mod overtaking;
pub mod pipeline;
pub mod queue;
pub mod recorded;
pub mod registers;
pub mod timing;

use std::hint::select_unpredictable;
use std::ops::Range;

use drivelab_ftl::{Cause, Operation, OperationKind};
use rustc_hash::FxHashMap;

use crate::event::EventKey;
use crate::ssd::flash::dependents::Dependents;
use crate::ssd::flash::overtaking::Overtaking;
use crate::ssd::flash::pipeline::Pipelines;
use crate::ssd::flash::queue::{Account, Pool, Queue, Task};
use crate::ssd::flash::recorded::RecordedOperation;
use crate::ssd::flash::timing::Timing;
use crate::ssd::ring::Ring;

/// Operations queued at once: some 200 MB, far above what a controller queues.
pub(in crate::ssd) const MAX_QUEUED: u32 = 1 << 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::ssd) enum Phase {
    Idle,
    /// The channel is or will be asked for; [`Unit::end`] is the earliest end.
    Asked,
    /// [`Unit::end`] is the end.
    Promised,
}

/// A die (in plane mode a plane). What every event needs is in the first of its two
/// cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(in crate::ssd) struct Unit {
    /// In hand, unless idle.
    pub task: Task,
    /// When it began what it has in hand; of a move, the read.
    pub began: u64,
    /// When it began the operation in hand; of a move, the read or the program.
    pub took: u64,
    pub end: u64,
    pub channel: u16,
    pub phase: Phase,
    pub busy: u64,
    /// Of `busy`, for collection.
    pub collected: u64,
    pub queue: Queue,
}

impl Unit {
    fn idle(channel: u32) -> Self {
        Self {
            task: Task::NONE,
            began: 0,
            took: 0,
            end: 0,
            channel: channel as u16,
            phase: Phase::Idle,
            busy: 0,
            collected: 0,
            queue: Queue::default(),
        }
    }

    /// Time at work until `now`, the operation in hand included.
    #[inline]
    fn busy_until(&self, now: u64) -> u64 {
        match self.phase {
            Phase::Idle => self.busy,
            _ => self.busy + now.saturating_sub(self.began),
        }
    }

    /// Time spent on collection until `now`, the operation in hand included.
    #[inline]
    pub fn collected_until(&self, now: u64) -> u64 {
        // Without a branch: it is as good as random.
        let collects = (self.phase != Phase::Idle) & (self.task.cause != Cause::Host);
        self.collected + u64::from(collects) * now.saturating_sub(self.began)
    }

    /// An operation emitted `now` that dispatch hands over at `available`.
    #[inline(always)]
    pub fn task_of(
        &self,
        operation: &Operation,
        account: Account,
        (available, now): (u64, u64),
    ) -> Task {
        Task {
            available,
            collected: self.collected_until(now),
            account,
            ppn: operation.ppn,
            lpn: operation.lpn,
            kind: operation.kind,
            cause: operation.cause,
            tag: 0,
        }
    }

    /// The operation in hand, which starts at `at`, is in line for its channel; answers when it
    /// ends at the earliest, if it is to ask later than `now`.
    #[inline(always)]
    pub fn ask(
        &mut self,
        channels: &mut [Channel],
        timing: &Timing,
        unit: u32,
        (at, now): (u64, u64),
    ) -> Option<u64> {
        self.began = at;
        self.took = at;
        let Task { kind, ppn, .. } = self.task;
        let asks_at = at + timing.before_transfer(kind, ppn);
        if asks_at <= now || self.task.stays_in_place() {
            return None;
        }
        let channel = &mut channels[self.channel as usize];
        let key = EventKey::new(asks_at, unit as usize);
        let moved = channel.ask(key, timing.register[kind as usize]);
        let mut end = moved + timing.after_transfer(kind, ppn);
        if self.task.account == Account::MOVE {
            end += timing.shortest_program;
        }
        self.phase = Phase::Asked;
        self.end = end;
        Some(end)
    }

    /// The operation in hand asked `channel` at `asked_at`, and is promised its next time;
    /// answers when that begins and ends.
    #[inline(always)]
    pub fn take_channel(
        &mut self,
        channel: &mut Channel,
        timing: &Timing,
        asked_at: u64,
    ) -> (u64, u64) {
        let Task { kind, ppn, .. } = self.task;
        let (start, moved) = channel.reserve(asked_at, timing.register[kind as usize]);
        self.end = moved + timing.after_transfer(kind, ppn);
        self.phase = Phase::Promised;
        (start, moved)
    }

    /// The operation in hand is over.
    #[inline(always)]
    pub fn put_down(&mut self, now: u64) {
        let worked = now - self.began;
        self.busy += worked;
        self.collected += worked * u64::from(self.task.cause != Cause::Host);
        self.phase = Phase::Idle;
    }

    /// Whether the operation in hand is the program of a move.
    pub fn is_in_move(&self) -> bool {
        self.phase != Phase::Idle && self.took != self.began
    }
}

/// A channel carries one transfer at a time, in the order in which they are asked
/// for.
///
/// When a read will ask is known as soon as it begins, so no event is spent on the
/// asking: it is put in line, and the unit's event is set to when the transfer ends
/// if nobody comes between. Whoever asks later for an earlier time does, and the
/// unit's event then finds that it is early and is set anew.
///
/// ```text
///   promised: ... |####|   free_at      asks: 1 ...|####|   2 ......|####|
///   a program that asks now                          ^ goes before 2, which ends later
/// ```
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(in crate::ssd) struct Channel {
    pub free_at: u64,
    busy: u64,
    /// When the last of those in line ends at the earliest; not after `free_at` while
    /// nobody stands there.
    asked_end: u64,
    /// When and for which unit the channel will be asked.
    asks: Ring<EventKey>,
    /// The first and the last of them: what is asked with every event. After and before all
    /// others where there are none.
    first_ask: EventKey,
    last_ask: EventKey,
}

impl Channel {
    fn idle() -> Self {
        Self {
            free_at: 0,
            busy: 0,
            asked_end: 0,
            asks: Ring::default(),
            first_ask: EventKey::NEVER,
            last_ask: EventKey::default(),
        }
    }

    /// Gives the next `time` from `now` on; answers when it begins and ends.
    #[inline(always)]
    pub fn reserve(&mut self, now: u64, time: u64) -> (u64, u64) {
        let start = select_unpredictable(self.free_at > now, self.free_at, now);
        self.free_at = start + time;
        self.busy += time;
        (start, self.free_at)
    }

    /// `key` stands in line for `time`; answers when that ends at the earliest.
    #[inline(always)]
    pub fn ask(&mut self, key: EventKey, time: u64) -> u64 {
        if key < self.last_ask {
            return self.ask_between(key, time);
        }
        self.asked_end = self.asked_end.max(self.free_at).max(key.time()) + time;
        self.first_ask = self.first_ask.min(key);
        self.last_ask = key;
        self.asks.push(key);
        self.asked_end
    }

    #[inline(never)]
    fn ask_between(&mut self, key: EventKey, time: u64) -> u64 {
        if key < self.first_ask {
            self.first_ask = key;
            self.asks.push_front(key);
        } else {
            self.asks.insert_in_order(key);
        }
        self.free_at.max(key.time()) + time
    }

    /// Whether nobody in line asks before `key`.
    #[inline(always)]
    pub fn is_next(&self, key: EventKey) -> bool {
        key < self.first_ask
    }

    /// The first in line, if it asks at `latest` or before.
    #[inline(always)]
    pub fn next_ask(&mut self, latest: EventKey) -> Option<EventKey> {
        let first = self.first_ask;
        if first > latest {
            return None;
        }
        self.asks.pop();
        self.first_ask = self.asks.of_front(|&key| key, EventKey::NEVER);
        let is_last = self.asks.is_empty();
        self.last_ask = select_unpredictable(is_last, EventKey::default(), self.last_ask);
        Some(first)
    }

    /// Time at work until `now`: what is promised beyond lies without a gap before `free_at`.
    fn busy_until(&self, now: u64) -> u64 {
        self.busy - self.free_at.saturating_sub(now).min(self.busy)
    }
}

/// The controller's dispatch stage.
#[derive(Clone, Debug)]
pub(in crate::ssd) struct Dispatch {
    pub in_order: bool,
    pub free_at: u64,
    /// In order: what waits to be handed over.
    pub line: Queue,
}

/// Everything below the firmware.
#[derive(Clone, Debug)]
pub(in crate::ssd) struct Flash {
    pub units: Vec<Unit>,
    pub channels: Vec<Channel>,
    pub dispatch: Dispatch,
    /// Where the tasks of all queues are.
    pub pool: Pool,
    /// Operations are dispatched to their units' own queues, keep their order there, take
    /// the channel and are not recorded, nor are pages worn or the firmware told of their end:
    /// nothing else is asked about them then.
    pub is_plain: bool,
    /// Moves are tasks ([`crate::ssd::flash::moves`]).
    pub moves: bool,
    /// Where operations may overtake each other: the queues instead of the units' own.
    pub overtaking: Option<Box<Overtaking>>,
    /// Where operations wait for others: those that do.
    pub dependents: Option<Box<Dependents>>,
    /// Moves within a plane stay in its page register.
    pub has_copyback: bool,
    /// Where dies take more than one operation at a time: what is in them. No unit's own
    /// `end` ever comes then.
    pub pipelines: Option<Box<Pipelines>>,
    /// Busy times of units and channels when the window opened.
    at_opening: (Vec<u64>, Vec<u64>),
    pub recording: Option<Recording>,
}

/// The most operations that a record holds; what comes after them is left out.
const MOST_RECORDED: usize = 1 << 20;
/// So many may be kept before those that are over are looked for.
const FEW_RECORDED: usize = 1 << 8;
/// One second: no operation waits so long for its channel.
const PATIENCE: u64 = 1_000_000_000;

/// An operation whose times may still change.
#[derive(Clone, Debug)]
struct Tagged {
    place: u64,
    operation: RecordedOperation,
    /// It goes on: what it tells as its end is when it would have ended without the pause.
    is_paused: bool,
}

/// The operations that are under way in a span of time, each with its place in the
/// order of emission.
#[derive(Clone, Debug)]
pub(in crate::ssd) struct Recording {
    span: Range<u64>,
    /// For which stream the write buffer and the read cache work.
    pub stream: Option<u16>,
    emitted: u64,
    /// Those that came to be over while others took their tags.
    kept: Vec<(u64, RecordedOperation)>,
    /// By unit and tag. Looked up, thinned and sorted: its order cannot matter.
    tagged: FxHashMap<(u32, u16), Tagged>,
    /// How many are tagged before it is thinned.
    limit: usize,
}

impl Recording {
    pub fn of(span: Range<u64>) -> Self {
        Self {
            span,
            stream: None,
            emitted: 0,
            kept: Vec::new(),
            tagged: FxHashMap::default(),
            limit: FEW_RECORDED,
        }
    }

    /// Begins the record of an operation, if it can be under way in the span; answers
    /// its tag.
    pub fn open(&mut self, operation: RecordedOperation, now: u64) -> u16 {
        let tag = self.emitted as u16;
        let key = (operation.unit, tag);
        // Emitted 65,536 operations ago: it is over.
        let last = self.tagged.remove(&key);
        let start = self.span.start;
        let last = last.map(|last| (last.place, last.operation));
        self.kept
            .extend(last.filter(|(_, last)| last.end() > start));
        if self.tagged.len() >= self.limit {
            self.tagged
                .retain(|_, each| each.operation.end() > start || !each.is_over(now));
            self.limit = FEW_RECORDED.max(2 * self.tagged.len());
        }
        if now < self.span.end && self.kept.len() + self.tagged.len() < MOST_RECORDED {
            let tagged = Tagged {
                place: self.emitted,
                operation,
                is_paused: false,
            };
            self.tagged.insert(key, tagged);
        }
        self.emitted += 1;
        tag
    }

    /// What was recorded, in the order of emission.
    pub fn into_operations(self) -> Vec<RecordedOperation> {
        let mut operations = self.kept;
        let tagged = self.tagged.into_values();
        operations.extend(tagged.map(|each| (each.place, each.operation)));
        operations.sort_unstable_by_key(|&(place, _)| place);
        let operations = operations.into_iter().map(|(_, operation)| operation);
        operations.filter(|o| o.end() > self.span.start).collect()
    }
}

impl Tagged {
    /// Whether its times cannot change any more.
    fn is_over(&self, now: u64) -> bool {
        let (start, end) = self.operation.transfer;
        let has_all = match self.operation.operation.kind {
            // While it waits for the channel its transfer has no length.
            OperationKind::Read => start < end || end.saturating_add(PATIENCE) < now,
            OperationKind::Program | OperationKind::Erase => {
                self.operation.cell.1 > 0 && !self.is_paused
            }
        };
        has_all && self.operation.end() <= now
    }
}

impl Flash {
    pub fn new(
        units: u32,
        channels: u32,
        in_order: bool,
        overtaking: Option<Box<Overtaking>>,
    ) -> Self {
        Self {
            units: (0..units)
                .map(|index| Unit::idle(index % channels))
                .collect(),
            channels: vec![Channel::idle(); channels as usize],
            dispatch: Dispatch {
                in_order,
                free_at: 0,
                line: Queue::default(),
            },
            pool: Pool::default(),
            is_plain: false,
            moves: false,
            overtaking,
            dependents: None,
            has_copyback: false,
            pipelines: None,
            at_opening: (vec![0; units as usize], vec![0; channels as usize]),
            recording: None,
        }
    }

    /// With what dies may do beside one operation at a time.
    pub fn with_registers(mut self, has_copyback: bool, pipelines: Option<Box<Pipelines>>) -> Self {
        self.has_copyback = has_copyback;
        if pipelines.is_some() {
            self.units.iter_mut().for_each(|unit| unit.end = u64::MAX);
        }
        self.pipelines = pipelines;
        self
    }

    /// Whether [`Flash::is_plain`] may be.
    pub fn may_be_plain(&self) -> bool {
        !self.dispatch.in_order
            && self.overtaking.is_none()
            && self.pipelines.is_none()
            && self.recording.is_none()
    }

    /// Puts `task` behind the others of `unit`.
    #[inline(always)]
    pub fn enqueue(&mut self, unit: u32, task: Task) {
        self.units[unit as usize].queue.push(task, &mut self.pool);
    }

    /// The next move of those in hand, or the first operation that waits for `unit`, if
    /// there is one, becomes the one in hand.
    #[inline(always)]
    pub fn take_next(&mut self, unit: u32) -> bool {
        let state = &mut self.units[unit as usize];
        state.task.next_move() || state.queue.pop_to(&mut state.task, &mut self.pool)
    }

    /// The record of a task of `unit`, if one is made.
    #[inline(always)]
    pub fn recorded(&mut self, unit: u32, tag: u16) -> Option<&mut RecordedOperation> {
        self.tagged(unit, tag).map(|each| &mut each.operation)
    }

    #[inline(always)]
    fn tagged(&mut self, unit: u32, tag: u16) -> Option<&mut Tagged> {
        let recording = self.recording.as_mut()?;
        recording.tagged.get_mut(&(unit, tag))
    }

    /// The recorded task of `unit` is paused: it is not over when it says.
    pub fn record_pause(&mut self, unit: u32, tag: u16) {
        if let Some(tagged) = self.tagged(unit, tag) {
            tagged.is_paused = true;
        }
    }

    /// The recorded task of `unit` goes on until `end`.
    pub fn record_resume(&mut self, unit: u32, tag: u16, end: u64) {
        if let Some(tagged) = self.tagged(unit, tag) {
            tagged.is_paused = false;
            tagged.operation.cell.1 = end;
        }
    }

    /// The account of busy times begins at `now`: work in progress counts from here.
    pub fn open_window(&mut self, now: u64) {
        self.at_opening = self.busy_until(now);
    }

    /// Busy times of units and channels from the opening of the window to `now`.
    pub fn close_window(&self, now: u64) -> (Vec<u64>, Vec<u64>) {
        let since = |now: Vec<u64>, then: &[u64]| {
            let pairs = now.into_iter().zip(then);
            pairs.map(|(now, then)| now - then).collect()
        };
        let (units, channels) = self.busy_until(now);
        let (units_then, channels_then) = &self.at_opening;
        (since(units, units_then), since(channels, channels_then))
    }

    fn busy_until(&self, now: u64) -> (Vec<u64>, Vec<u64>) {
        let units = self.units.iter().map(|unit| unit.busy_until(now));
        let channels = self.channels.iter().map(|c| c.busy_until(now));
        (units.collect(), channels.collect())
    }
}
