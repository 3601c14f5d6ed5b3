//! The array's own events, in order of time; at one moment, in the order in which they were set.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A part of a command that takes no time completes.
    Finish(u32),
    /// A job that waits for a row may begin.
    Row(u64),
    /// The parity of a job is computed.
    Computed(u32),
    /// The next piece may be rebuilt.
    Rebuild,
}

/// A time, a serial number, and what is due.
type Due = Reverse<(u64, u64, Timer)>;

/// Everything that will be due.
#[derive(Default)]
pub struct Timers {
    due: BinaryHeap<Due>,
    asked: u64,
}

impl Timers {
    pub fn add(&mut self, at: u64, timer: Timer) {
        self.due.push(Reverse((at, self.asked, timer)));
        self.asked += 1;
    }

    pub fn next(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((at, ..))| *at)
    }

    pub fn pop(&mut self) -> Option<Timer> {
        self.due.pop().map(|Reverse((.., timer))| timer)
    }

    pub fn clear(&mut self) {
        self.due.clear();
        self.asked = 0;
    }
}
