//! Requests that wait for their reply to be due.

use drivelab_request::CommandKind;

/// Whose a request is: the place of a connection, and which of those that had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub place: usize,
    pub number: u64,
}

/// A request whose reply is ready but for its time.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Nobody any more when the connection is gone.
    pub owner: Option<Owner>,
    pub kind: CommandKind,
    pub offset: u64,
    pub bytes: u32,
    pub cookie: u64,
    pub reply: Vec<u8>,
    /// What it waits for: the drive, and the file's sync.
    pub awaits: u8,
    /// When it is due, as far as is known, and how long the drive took.
    pub due: u64,
    pub latency: u64,
    pub is_failed: bool,
}

/// Requests by ticket.
#[derive(Debug, Default)]
pub(super) struct Waitings {
    slots: Vec<Option<Waiting>>,
    vacant: Vec<usize>,
    /// Replies' memory, for the next ones.
    buffers: Vec<Vec<u8>>,
    /// How many have no owner any more.
    orphans: usize,
    /// The upper half of tickets: those from before the power went mean nothing.
    generation: u32,
}

/// So many buffers of at most so many bytes are kept.
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

    /// The place that a ticket names, unless it is an old one.
    fn place(&self, ticket: u64) -> Option<usize> {
        (ticket >> 32 == u64::from(self.generation)).then_some(ticket as u32 as usize)
    }

    /// Whoever has a ticket now comes too late; nothing waits any more.
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

    /// Nobody takes the replies of `owner` any more: the drive still has its requests, and their
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

    /// Those that are there.
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
