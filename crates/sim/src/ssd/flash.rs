//! What the flash consists of: units, channels, dispatch, operations in flight.
//! Their ways are in [`super::operation`].

use drivelab_ftl::{Cause, OperationKind};

use super::outcome::RecordedOperation;

pub(super) const NONE: u32 = u32::MAX;

/// Operations in flight at once: some 200 MB, far above what a controller queues.
pub(super) const MAX_IN_FLIGHT: u32 = 1 << 22;

/// On whose account an operation runs: the slot of the request that waits for it,
/// or one of the two names below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Account(pub u32);

impl Account {
    /// Nobody waits.
    pub const NOBODY: Self = Self(u32::MAX);
    /// It empties a page of the write buffer.
    pub const BUFFER: Self = Self(u32::MAX - 1);
}

/// An operation between emission and completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    /// When dispatch has handed it over.
    pub available: u64,
    /// What [`Unit::collected_until`] was when it was emitted.
    pub collected: u64,
    /// The next in the same queue.
    pub next: u32,
    pub account: Account,
    pub plane: u32,
    pub ppn: u32,
    pub lpn: u32,
    pub kind: OperationKind,
    pub cause: Cause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    Idle,
    /// Needs the channel at its event: a read in the cell array, a program that
    /// dispatch has not handed over yet.
    BeforeTransfer,
    /// The last stages: transfer of a read, transfer and cell of a program, cell of an erase.
    Finishing,
}

/// A die (in plane mode a plane): one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Unit {
    pub began: u64,
    pub busy: u64,
    /// Of `busy`, for collection.
    pub collected: u64,
    pub current: u32,
    pub head: u32,
    pub tail: u32,
    pub channel: u32,
    pub phase: Phase,
    /// Of the current operation.
    pub kind: OperationKind,
    pub cause: Cause,
}

impl Unit {
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
        let collects = self.phase != Phase::Idle && self.cause != Cause::Host;
        self.collected + u64::from(collects) * now.saturating_sub(self.began)
    }
}

/// A channel carries one transfer at a time, in the order in which they were asked
/// for. Whoever asks is told at once when its transfer ends: nothing can come
/// between, so nobody waits in a queue and no event is needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    pub free_at: u64,
    busy: u64,
}

impl Channel {
    /// Gives the next `time` from `now` on; answers when it begins and ends.
    #[inline(always)]
    pub fn reserve(&mut self, now: u64, time: u64) -> (u64, u64) {
        let start = self.free_at.max(now);
        self.free_at = start + time;
        self.busy += time;
        (start, self.free_at)
    }

    /// Time at work until `now`: what is promised beyond lies without a gap before `free_at`.
    fn busy_until(&self, now: u64) -> u64 {
        self.busy - self.free_at.saturating_sub(now).min(self.busy)
    }
}

/// The controller's dispatch stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispatch {
    pub in_order: bool,
    pub free_at: u64,
    pub head: u32,
    pub tail: u32,
}

/// Everything below the firmware.
#[derive(Clone, Debug)]
pub(super) struct Flash {
    pub units: Vec<Unit>,
    pub channels: Vec<Channel>,
    pub dispatch: Dispatch,
    pub in_flight: Vec<InFlight>,
    vacant: u32,
    /// Busy times of units and channels when the window opened.
    at_opening: (Vec<u64>, Vec<u64>),
    pub recording: Option<Recording>,
}

/// Every operation of a run, and where those in flight stand in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Recording {
    pub operations: Vec<RecordedOperation>,
    /// By slot of the operation in flight.
    places: Vec<u32>,
}

impl Recording {
    #[cold]
    fn open(&mut self, slot: u32, operation: RecordedOperation) {
        let slot = slot as usize;
        self.places.resize(self.places.len().max(slot + 1), NONE);
        self.places[slot] = self.operations.len() as u32;
        self.operations.push(operation);
    }
}

impl Flash {
    pub fn new(units: u32, channels: u32, in_order: bool) -> Self {
        let unit = |index| Unit {
            began: 0,
            busy: 0,
            collected: 0,
            current: NONE,
            head: NONE,
            tail: NONE,
            channel: index % channels,
            phase: Phase::Idle,
            kind: OperationKind::Read,
            cause: Cause::Host,
        };
        let channel = Channel {
            free_at: 0,
            busy: 0,
        };
        Self {
            units: (0..units).map(unit).collect(),
            channels: vec![channel; channels as usize],
            dispatch: Dispatch {
                in_order,
                free_at: 0,
                head: NONE,
                tail: NONE,
            },
            in_flight: Vec::new(),
            vacant: NONE,
            at_opening: (vec![0; units as usize], vec![0; channels as usize]),
            recording: None,
        }
    }

    #[inline]
    pub fn allocate(&mut self, flight: InFlight) -> u32 {
        let slot = self.vacant;
        if slot == NONE {
            self.in_flight.push(flight);
            return (self.in_flight.len() - 1) as u32;
        }
        let place = &mut self.in_flight[slot as usize];
        self.vacant = place.next;
        *place = flight;
        drivelab_ftl::prefetch(&self.in_flight, self.vacant as usize);
        slot
    }

    #[inline]
    pub fn release(&mut self, slot: u32) {
        self.in_flight[slot as usize].next = self.vacant;
        self.vacant = slot;
    }

    /// Puts `slot` behind the others of `unit`.
    #[inline]
    pub fn enqueue(&mut self, unit: u32, slot: u32) {
        let state = &mut self.units[unit as usize];
        let tail = std::mem::replace(&mut state.tail, slot);
        if state.head == NONE {
            state.head = slot;
        } else {
            self.in_flight[tail as usize].next = slot;
        }
    }

    /// Takes the first operation that waits for `unit`.
    #[inline]
    pub fn dequeue(&mut self, unit: u32) -> Option<u32> {
        let state = &mut self.units[unit as usize];
        let slot = state.head;
        (slot != NONE).then(|| {
            state.head = self.in_flight[slot as usize].next;
            drivelab_ftl::prefetch(&self.in_flight, state.head as usize);
            slot
        })
    }

    /// Begins the record of an operation.
    pub fn record(&mut self, slot: u32, operation: RecordedOperation) {
        if let Some(recording) = &mut self.recording {
            recording.open(slot, operation);
        }
    }

    /// The record of an operation in flight, if one is made.
    #[inline(always)]
    pub fn recorded(&mut self, slot: u32) -> Option<&mut RecordedOperation> {
        let recording = self.recording.as_mut()?;
        let place = recording.places[slot as usize];
        recording.operations.get_mut(place as usize)
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
