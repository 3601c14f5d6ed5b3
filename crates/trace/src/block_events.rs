//! Builds requests from the events of Linux' block layer.
//!
//! ```text
//!   Q ─────────────> D ────────────────> C
//!   │   queue_ns     │    device_ns      │
//!   └──────────── response_ns ───────────┘
//! ```
//!
//! A request arrives when it is queued (Q). If it was merged with others, their common dispatch (D)
//! and completion (C) count for each of them. If it was split, it is dispatched with its first part
//! and completes with its last. A dispatch without a queue event, as in traces that have only D and
//! C, is a request that arrives then.
//!
//! Requests are given out in the order in which they were queued: each when it is complete, or when
//! [`MOST_IN_FLIGHT`] later ones wait. In the second case its completion stays unknown. So a
//! response may take as long as a fast drive needs for a quarter of a million requests. Before the
//! first completion of a trace, only [`MOST_WITHOUT_ENDS`] wait.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::checks::Check;
use crate::error::Problem;
use crate::record::{Operation, Record, UNKNOWN};
use crate::sink::Sink;

/// The most requests that wait for their completions: 28 MB.
const MOST_IN_FLIGHT: usize = 1 << 18;
/// The most requests that wait before the first completion. Many traces have only arrivals.
const MOST_WITHOUT_ENDS: usize = 1 << 12;

/// The most requests examined at one place.
const MOST_STEPS: usize = 64;

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Queued,
    Dispatched,
    Completed,
}

struct Waiting {
    record: Record,
    dispatched_ns: u64,
    /// Bytes that are not complete.
    left_bytes: u64,
    /// The next request at the same place.
    next: u64,
}

/// No request.
const NONE: u64 = u64::MAX;

#[derive(Default)]
pub(crate) struct BlockEvents {
    waiting: VecDeque<Waiting>,
    /// The number of the first waiting request.
    first: u64,
    /// For each place of a device, the first and last request waiting there; or a split request
    /// with a later part that begins there.
    places: FxHashMap<(u32, u64), (u64, u64)>,
    /// Whether the trace has completions.
    has_ends: bool,
    /// Whether requests are indexed by place. This starts with the first event that is not an
    /// arrival.
    is_linked: bool,
}

impl BlockEvents {
    /// Takes an event for a range of bytes. The sink provides position and file.
    #[inline]
    pub fn take(&mut self, stage: Stage, event: Record, sink: &mut Sink) -> Result<(), Problem> {
        match stage {
            Stage::Queued => self.queue(event, UNKNOWN, sink),
            Stage::Dispatched => {
                self.link_all();
                if self.dispatch(&event) {
                    return Ok(());
                }
                sink.note(Check::LoneDispatch, sink.position);
                self.queue(event, event.arrival_ns, sink)
            }
            Stage::Completed => {
                self.has_ends = true;
                self.link_all();
                if !self.complete(&event) {
                    sink.note(Check::LoneCompletion, sink.position);
                }
                self.give(sink);
                Ok(())
            }
        }
    }

    fn queue(
        &mut self,
        mut record: Record,
        dispatched_ns: u64,
        sink: &mut Sink,
    ) -> Result<(), Problem> {
        (record.position, record.file) = (sink.position, sink.file);
        sink.check(&record)?;
        if record.size_bytes == 0 && self.waiting.is_empty() {
            sink.lay(record);
            return Ok(());
        }
        let number = self.first + self.waiting.len() as u64;
        self.waiting.push_back(Waiting {
            record,
            dispatched_ns,
            // Operations without data complete at once.
            left_bytes: record.size_bytes,
            next: NONE,
        });
        if self.is_linked && record.size_bytes > 0 {
            self.link((record.device, record.offset_bytes), number);
        }
        let most = if self.has_ends {
            MOST_IN_FLIGHT
        } else {
            MOST_WITHOUT_ENDS
        };
        if self.waiting.len() > most {
            self.give_first(sink);
            self.give(sink);
        }
        Ok(())
    }

    /// Adds a request behind the others at its place.
    fn link(&mut self, place: (u32, u64), number: u64) {
        let known = self.places.get(&place).copied();
        let known = known.filter(|&(head, _)| self.begins_at(head, place));
        let head = match known {
            Some((head, tail)) => {
                if let Some(waiting) = self.at(tail) {
                    waiting.next = number;
                }
                head
            }
            None => number,
        };
        self.places.insert(place, (head, number));
    }

    fn link_all(&mut self) {
        if self.is_linked {
            return;
        }
        self.is_linked = true;
        for number in self.first..self.first + self.waiting.len() as u64 {
            let record = self.at(number).map(|waiting| waiting.record);
            if let Some(record) = record.filter(|record| record.size_bytes > 0) {
                self.link((record.device, record.offset_bytes), number);
            }
        }
    }

    /// Whether a waiting request begins at a place.
    fn begins_at(&mut self, number: u64, place: (u32, u64)) -> bool {
        let record = self.at(number).map(|waiting| waiting.record);
        record.is_some_and(|record| (record.device, record.offset_bytes) == place)
    }

    fn at(&mut self, number: u64) -> Option<&mut Waiting> {
        let place = number.checked_sub(self.first)?;
        self.waiting.get_mut(usize::try_from(place).ok()?)
    }

    /// The first request at a place for which `holds` is true.
    fn find(&mut self, place: (u32, u64), holds: impl Fn(&Waiting) -> bool) -> Option<u64> {
        let (mut number, _) = *self.places.get(&place)?;
        for _ in 0..MOST_STEPS {
            let waiting = self.at(number)?;
            if holds(waiting) {
                return Some(number);
            }
            if waiting.record.offset_bytes != place.1 {
                return None;
            }
            number = waiting.next;
        }
        None
    }

    /// Marks the requests that a dispatch belongs to. Returns false if none waits.
    fn dispatch(&mut self, event: &Record) -> bool {
        let end = event.offset_bytes.saturating_add(event.size_bytes);
        let mut at = event.offset_bytes;
        while at < end {
            let place = (event.device, at);
            let Some(number) = self.find(place, |waiting| waiting.dispatched_ns == UNKNOWN) else {
                // It is a later part of a split request, or belongs to nothing.
                return at > event.offset_bytes || self.places.contains_key(&place);
            };
            let Some(waiting) = self.at(number) else {
                return false;
            };
            waiting.dispatched_ns = event.arrival_ns;
            let arrival_ns = waiting.record.arrival_ns;
            waiting.record.queue_ns = event.arrival_ns.saturating_sub(arrival_ns);
            let own_end = waiting.record.offset_bytes + waiting.record.size_bytes;
            if own_end > end {
                self.split(number, (event.device, end));
            }
            at = own_end.max(at + 1);
        }
        true
    }

    /// Makes the part of a request from a place on findable there.
    fn split(&mut self, number: u64, place: (u32, u64)) {
        if self.places.len() > 2 * MOST_IN_FLIGHT {
            let (first, waiting) = (self.first, &self.waiting);
            self.places.retain(|_, (head, _)| {
                let place = head
                    .checked_sub(first)
                    .and_then(|place| usize::try_from(place).ok());
                let waiting = place.and_then(|place| waiting.get(place));
                waiting.is_some_and(|waiting| waiting.left_bytes > 0)
            });
        }
        self.places.entry(place).or_insert((number, number));
    }

    fn complete(&mut self, event: &Record) -> bool {
        let end = event.offset_bytes.saturating_add(event.size_bytes);
        let mut at = event.offset_bytes;
        while at < end {
            let place = (event.device, at);
            let Some(number) = self.find(place, |waiting| waiting.left_bytes > 0) else {
                return at > event.offset_bytes;
            };
            let Some(waiting) = self.at(number) else {
                return false;
            };
            let own_end = waiting.record.offset_bytes + waiting.record.size_bytes;
            let done = own_end.min(end).saturating_sub(at).max(1);
            waiting.left_bytes = waiting.left_bytes.saturating_sub(done);
            if waiting.left_bytes == 0 {
                let response_ns = event.arrival_ns.saturating_sub(waiting.record.arrival_ns);
                waiting.record.response_ns = response_ns;
                if waiting.dispatched_ns != UNKNOWN {
                    let device_ns = event.arrival_ns.saturating_sub(waiting.dispatched_ns);
                    waiting.record.device_ns = device_ns;
                }
                let own_place = (waiting.record.device, waiting.record.offset_bytes);
                let next = waiting.next;
                self.unlink(own_place, number, next);
            } else if own_end > end {
                self.split(number, (event.device, end));
            }
            if place.1 != event.offset_bytes || own_end <= end {
                self.forget_part(place, number);
            }
            at = own_end.min(end).max(at + 1);
        }
        true
    }

    /// Removes a request from its place.
    fn unlink(&mut self, place: (u32, u64), number: u64, next: u64) {
        let Some(&(head, tail)) = self.places.get(&place) else {
            return;
        };
        if head == number {
            if next == NONE {
                self.places.remove(&place);
            } else {
                self.places.insert(place, (next, tail));
            }
            return;
        }
        let mut before = head;
        for _ in 0..MOST_STEPS {
            let Some(waiting) = self.at(before) else {
                return;
            };
            if waiting.next == number {
                waiting.next = next;
                if tail == number {
                    self.places.insert(place, (head, before));
                }
                return;
            }
            before = waiting.next;
        }
    }

    /// Removes the entry of a later part of a request.
    fn forget_part(&mut self, place: (u32, u64), number: u64) {
        let is_own = self.at(number).is_some_and(|waiting| {
            (waiting.record.device, waiting.record.offset_bytes) == place && waiting.left_bytes > 0
        });
        if !is_own
            && self
                .places
                .get(&place)
                .is_some_and(|&(head, _)| head == number)
        {
            self.places.remove(&place);
        }
    }

    /// Gives out all requests that no earlier one holds back.
    fn give(&mut self, sink: &mut Sink) {
        while self
            .waiting
            .front()
            .is_some_and(|first| first.left_bytes == 0)
        {
            self.give_first(sink);
        }
    }

    fn give_first(&mut self, sink: &mut Sink) {
        let number = self.first;
        let Some(waiting) = self.waiting.front() else {
            return;
        };
        let (record, next, left_bytes) = (waiting.record, waiting.next, waiting.left_bytes);
        if self.is_linked && left_bytes > 0 {
            self.unlink((record.device, record.offset_bytes), number, next);
        }
        self.waiting.pop_front();
        self.first += 1;
        sink.lay(record);
    }

    /// Gives out everything.
    pub fn finish(&mut self, sink: &mut Sink) {
        while !self.waiting.is_empty() {
            self.give_first(sink);
        }
        self.places.clear();
    }
}

/// The operation for the letters of a request (RWBS of blkparse); `None` if they do not describe a
/// request.
pub(crate) fn operation_of(letters: &[u8]) -> Option<Operation> {
    let has = |letter| letters.contains(&letter);
    if has(b'D') || has(b'E') {
        Some(Operation::Trim)
    } else if has(b'R') {
        Some(Operation::Read)
    } else if has(b'W') {
        Some(Operation::Write)
    } else if has(b'F') {
        Some(Operation::Flush)
    } else {
        None
    }
}
