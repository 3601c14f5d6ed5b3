//! Requests whose reply is not due yet.

use drivelab_request::CommandKind;

use crate::data::{BegunFlush, BegunWrite};

/// The owner of a request: the index of a connection, and a counter of the connections with that
/// index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub place: usize,
    pub number: u64,
}

/// A request whose reply is ready except for its time.
#[derive(Debug)]
pub(super) struct Waiting {
    /// `None` once the connection is gone.
    pub owner: Option<Owner>,
    pub kind: CommandKind,
    pub offset: u64,
    pub bytes: u32,
    pub cookie: u64,
    pub reply: Vec<u8>,
    /// What it waits for: the drive, and the sync of the file.
    pub awaits: u8,
    /// When it is due, as far as known, and how long the drive took.
    pub due: u64,
    pub latency: u64,
    pub is_failed: bool,
    /// What it may lose or make durable when the power goes.
    pub in_power: InPower,
}

/// What a request is for a drive whose power fails from time to time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum InPower {
    /// Nothing, or power never fails.
    #[default]
    Nothing,
    Write(BegunWrite),
    ForcedWrite(BegunWrite),
    Flush(BegunFlush),
}

/// Requests by ticket.
#[derive(Debug, Default)]
pub(super) struct Waitings {
    slots: Vec<Option<Waiting>>,
    vacant: Vec<usize>,
    /// Reply buffers for reuse.
    buffers: Vec<Vec<u8>>,
    /// Number of requests without an owner.
    orphans: usize,
    /// The upper half of tickets. Tickets from before the last power failure are void.
    generation: u32,
}

/// Number of buffers kept, and the largest size of a kept buffer.
const KEPT: (usize, usize) = (256, 64 << 10);

impl Waitings {
    pub fn insert(&mut self, waiting: Waiting) -> u64 {
        let place = self.vacant.pop().unwrap_or(self.slots.len());
        if place == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[place] = Some(waiting);
        self.ticket(place)
    }

    fn ticket(&self, place: usize) -> u64 {
        (u64::from(self.generation) << 32) | place as u64
    }

    /// The index that a ticket refers to, unless it is void.
    fn place(&self, ticket: u64) -> Option<usize> {
        (ticket >> 32 == u64::from(self.generation)).then_some(ticket as u32 as usize)
    }

    /// Voids all tickets; nothing waits any more.
    pub fn begin_anew(&mut self) {
        self.generation = self.generation.wrapping_add(1);
    }

    pub fn get_mut(&mut self, ticket: u64) -> Option<&mut Waiting> {
        let place = self.place(ticket)?;
        self.slots.get_mut(place)?.as_mut()
    }

    pub fn remove(&mut self, ticket: u64) -> Option<Waiting> {
        let place = self.place(ticket)?;
        let taken = self.slots.get_mut(place)?.take()?;
        self.vacant.push(place);
        self.orphans -= usize::from(taken.owner.is_none());
        Some(taken)
    }

    /// Nobody takes the replies of `owner` any more. The drive still has its requests, but their
    /// replies take no memory.
    pub fn orphan(&mut self, owner: Owner) {
        let all = self.slots.iter_mut().flatten();
        for waiting in all.filter(|waiting| waiting.owner == Some(owner)) {
            waiting.owner = None;
            waiting.reply = Vec::new();
            self.orphans += 1;
        }
    }

    /// Requests whose connection is gone.
    pub const fn orphans(&self) -> usize {
        self.orphans
    }

    /// The tickets of all waiting requests.
    pub fn tickets(&self) -> Vec<u64> {
        let places = 0..self.slots.len();
        let taken = places.filter(|&place| self.slots[place].is_some());
        taken.map(|place| self.ticket(place)).collect()
    }

    pub fn buffer(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_default()
    }

    pub fn give_back(&mut self, mut buffer: Vec<u8>) {
        let (most, bytes) = KEPT;
        if self.buffers.len() < most && buffer.capacity() <= bytes {
            buffer.clear();
            self.buffers.push(buffer);
        }
    }
}
