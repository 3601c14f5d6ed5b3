//! What happens when: the pending events of a drive, and how far it has come.

use crate::event::{EventKey, EventTree};

/// Places of the queues beside the units' events.
pub const DISPATCH: usize = 0;
/// Only where its events stand among others of the same time: they are the link's own.
pub const LINK: usize = 1;
pub const ACKNOWLEDGE: usize = 2;
pub const ARRIVAL: usize = 3;
pub const INTERRUPT: usize = 4;
pub const MEMORY: usize = 5;
pub const IDLE: usize = 6;
pub const CORES: usize = 7;

/// The events of a drive, but for the link's.
pub struct Timeline {
    pub events: EventTree,
    /// Every event before it has been served: the one in hand, or one of the same
    /// time that has caused it.
    pub current: EventKey,
}

impl Timeline {
    /// Nothing is pending.
    pub fn new(units: u32) -> Self {
        Self {
            events: EventTree::new(units as usize),
            current: EventKey::default(),
        }
    }

    pub fn reset(&mut self) {
        self.events.clear();
        self.current = EventKey::default();
    }

    #[inline(always)]
    pub const fn now(&self) -> u64 {
        self.current.time()
    }
}
