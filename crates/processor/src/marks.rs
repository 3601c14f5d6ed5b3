//! Marks that a program leaves for its observer: each is a store of a byte, its place the meaning.

/// The program's function that stores the marks.
pub const FUNCTION: &str = "drivelab_mark";

/// Bytes of the array that marks are stored into; its address is a multiple of this.
pub const PLACES: u64 = 4096;

/// What happened in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Measuring begins.
    Begin,
    /// Measuring ends.
    End,
    /// A record, 1000 host requests, is complete.
    Record,
    /// This logical worker runs from here on.
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

/// Worker numbers; the last one is no worker.
pub const WORKERS: usize = 240;
/// The worker number of the host: its actions do not belong to the firmware and take no time.
pub const HOST: usize = WORKERS - 1;
/// Lock numbers.
pub const LOCKS: usize = 1024;
/// Queue numbers.
pub const QUEUES: usize = 512;

impl Mark {
    /// The mark at an index of the array, if the index has a meaning.
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

    /// The mark that a store to this address makes.
    #[must_use]
    pub fn of_address(address: u64) -> Option<Self> {
        Self::of_place((address % PLACES) as usize)
    }
}
