//! The pending events of a drive, and the event it has reached.

use crate::event::{EventKey, EventTree};

/// Numbers of the queues outside the tree of unit events.
pub const DISPATCH: usize = 0;
/// Only fixes the order among events at the same time; the link keeps its own events.
pub const LINK: usize = 1;
pub const ACKNOWLEDGE: usize = 2;
pub const ARRIVAL: usize = 3;
pub const INTERRUPT: usize = 4;
pub const MEMORY: usize = 5;
pub const IDLE: usize = 6;
pub const CORES: usize = 7;
/// After the other events of its moment, so that commands that follow from these come first.
pub const REFRESH: usize = 8;

/// The events of a drive, except the link's.
pub struct Timeline {
    pub events: EventTree,
    /// Every event before it has been served. It is the current event, or one at the same time that
    /// caused it.
    pub current: EventKey,
}

impl Timeline {
    /// A timeline without pending events.
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
