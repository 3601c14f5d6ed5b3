//! How many requests are outstanding, if the trace gives their completions.
//!
//! Time advances by arrivals and completions, and the depth between two of them is weighted with
//! the time that it lasts. The mean covers the time in which something is outstanding. So a program
//! that keeps `n` requests outstanding shows a depth of `n`, however long it sleeps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use drivelab_request::Histogram;

use crate::record::UNKNOWN;

/// More outstanding requests than any drive has. If there seem to be more, a unit is wrong.
pub const MOST_OUTSTANDING: usize = 1 << 20;

/// Outstanding requests over a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// The sum of depth times time.
    pub area_ns: u128,
    /// The time during which something was outstanding.
    pub busy_ns: u64,
}

impl Busy {
    /// Mean depth while something is outstanding.
    #[must_use]
    pub fn mean_depth(&self) -> Option<f64> {
        (self.busy_ns > 0).then(|| self.area_ns as f64 / self.busy_ns as f64)
    }

    pub(crate) const fn since(&self, before: &Self) -> Self {
        Self {
            area_ns: self.area_ns - before.area_ns,
            busy_ns: self.busy_ns - before.busy_ns,
        }
    }
}

/// The outstanding requests of one device, or of the whole trace.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    depth: u64,
    since_ns: u64,
    busy: Busy,
}

impl Line {
    const fn change(&mut self, at_ns: u64, depth: u64) {
        self.go(at_ns);
        self.depth = depth;
    }

    const fn go(&mut self, at_ns: u64) {
        let lasting_ns = at_ns - self.since_ns;
        if self.depth > 0 {
            self.busy.busy_ns += lasting_ns;
            self.busy.area_ns += self.depth as u128 * lasting_ns as u128;
        }
        self.since_ns = at_ns;
    }
}

/// The outstanding requests over a whole trace.
#[derive(Debug, Default)]
pub struct Depth {
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    whole: Line,
    devices: Vec<Line>,
    at_arrival: Histogram,
    known: u64,
    is_beyond: bool,
}

impl Depth {
    /// Handles all completions up to a time.
    pub(crate) fn go_to(&mut self, at_ns: u64) {
        while let Some(&Reverse((end_ns, device))) = self.ends.peek() {
            if end_ns > at_ns {
                break;
            }
            self.ends.pop();
            self.whole.change(end_ns, self.whole.depth - 1);
            if let Some(line) = self.devices.get_mut(device as usize) {
                line.change(end_ns, line.depth - 1);
            }
        }
        self.whole.go(at_ns);
    }

    /// Counts a request that arrives and completes after `response_ns`, if that is known.
    #[inline]
    pub(crate) fn arrive(&mut self, at_ns: u64, device: u32, response_ns: u64) {
        if response_ns == UNKNOWN || self.is_beyond {
            return;
        }
        self.known += 1;
        self.go_to(at_ns);
        if self.ends.len() >= MOST_OUTSTANDING {
            self.is_beyond = true;
            self.ends = BinaryHeap::new();
            return;
        }
        let place = device as usize;
        if self.devices.len() <= place {
            self.devices.resize(place + 1, Line::default());
        }
        self.whole.change(at_ns, self.whole.depth + 1);
        self.at_arrival.record(self.whole.depth);
        if let Some(line) = self.devices.get_mut(place) {
            line.change(at_ns, line.depth + 1);
        }
        self.ends
            .push(Reverse((at_ns.saturating_add(response_ns), device)));
    }

    pub(crate) fn finish(&mut self) {
        while let Some(&Reverse((end_ns, _))) = self.ends.peek() {
            self.go_to(end_ns);
        }
    }

    /// The result so far for all devices together; `None` if more was outstanding than is possible.
    #[must_use]
    pub fn whole(&self) -> Option<Busy> {
        (!self.is_beyond && self.known > 0).then_some(self.whole.busy)
    }

    /// The result so far for one device.
    #[must_use]
    pub fn device(&self, device: usize) -> Option<Busy> {
        let line = self.devices.get(device).filter(|_| !self.is_beyond)?;
        (line.busy.busy_ns > 0).then_some(line.busy)
    }

    /// A histogram of the number outstanding at each arrival, including the arriving request.
    #[must_use]
    pub const fn at_arrival(&self) -> &Histogram {
        &self.at_arrival
    }

    /// Whether more than [`MOST_OUTSTANDING`] were outstanding.
    #[must_use]
    pub const fn is_beyond(&self) -> bool {
        self.is_beyond
    }
}
