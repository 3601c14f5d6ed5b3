//! Where the oracle's requests come from.

use std::collections::VecDeque;

use drivelab_request::Command;

/// Where requests come from.
pub enum Arrivals {
    /// So many outstanding, drawn from this.
    Closed(Box<dyn Iterator<Item = Command>>, u32),
    /// The same, while no other of these has sent less for its share; of each, whole bursts count.
    Shared(Box<dyn Iterator<Item = Command>>, u32, Turns),
    /// At their own times.
    Open(VecDeque<Command>),
}

/// Which part of the commands a stream sends, and how many at each of its turns.
#[derive(Clone, Copy)]
pub struct Turns {
    pub share: u64,
    pub burst: u64,
}
