//! Where the oracle's requests come from.

use std::collections::VecDeque;

use drivelab_request::Command;

/// Where requests come from.
pub enum Arrivals {
    /// A closed loop: requests drawn from this iterator, and the number outstanding.
    Closed(Box<dyn Iterator<Item = Command>>, u32),
    /// The same with a share: it waits while another such stream has sent less for its share. Whole
    /// bursts count.
    Shared(Box<dyn Iterator<Item = Command>>, u32, Turns),
    /// At their own times.
    Open(VecDeque<Command>),
}

/// The share of the commands that a stream sends, and the commands in one of its turns.
#[derive(Clone, Copy)]
pub struct Turns {
    pub share: u64,
    pub burst: u64,
}
