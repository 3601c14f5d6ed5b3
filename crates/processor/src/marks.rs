//! What a program tells whoever observes it: one store of a byte a mark, its place says which.

/// A program's function that stores the marks.
pub const FUNCTION: &str = "drivelab_mark";

/// Bytes of the array that marks are stored into; its address is a multiple of them.
pub const PLACES: u64 = 4096;

/// What happened in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// What is measured begins.
    Begin,
    /// It is over.
    End,
    /// A record, 1000 host requests, is over.
    Record,
    /// From here on this logical worker runs.
    Worker(usize),
    /// A lock is taken.
    Taken(usize),
    /// A lock is released.
    Released(usize),
    /// An item is put into a queue, first in, first out.
    Put(usize),
    /// An item is taken out of a queue.
    Got(usize),
}

/// Workers that are told apart; the last is none.
pub const WORKERS: usize = 240;
/// The worker that is the host: what it does is no firmware's, and takes no time.
pub const HOST: usize = WORKERS - 1;
/// Locks that are told apart.
pub const LOCKS: usize = 1024;
/// Queues that are told apart.
pub const QUEUES: usize = 512;

impl Mark {
    /// The mark of a place in the array; places without a meaning have none.
    #[must_use]
    pub fn of_place(place: usize) -> Option<Self> {
        Some(match place {
            0 => Self::Begin,
            1 => Self::End,
            2 => Self::Record,
            16..256 => Self::Worker(place - 16),
            1024..2048 => Self::Taken(place - 1024),
            2048..3072 => Self::Released(place - 2048),
            3072..3584 => Self::Put(place - 3072),
            3584..4096 => Self::Got(place - 3584),
            _ => return None,
        })
    }

    /// The mark that a store to this address is.
    #[must_use]
    pub fn of_address(address: u64) -> Option<Self> {
        Self::of_place((address % PLACES) as usize)
    }
}
