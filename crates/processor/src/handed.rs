//! When locks are held and items lie in queues, in virtual time.
//!
//! The program runs one worker after the other; in virtual time they run side by side. So one that
//! runs later may ask for a lock at a time at which another, that ran before, did not have it yet.
//! What is kept of a lock are the times during which it was held, and it is waited for only where
//! the time at which it is asked for lies in one of them. (If clocks never cross, that is the time
//! at which it was last released.)
//!
//! Left out: a hold that reaches into one that began later does not move that one.

use std::collections::VecDeque;

use crate::marks::{LOCKS, QUEUES};

/// A time for each value of a band: three of a target, one of a host.
pub type Times<const BAND: usize> = [u64; BAND];

/// Holds of a lock that are remembered.
const MOST_HOLDS: usize = 256;

/// Every lock and queue.
#[derive(Debug)]
pub struct Handed<const BAND: usize> {
    locks: Vec<Lock<BAND>>,
    queues: Vec<VecDeque<Times<BAND>>>,
}

#[derive(Clone, Debug)]
struct Lock<const BAND: usize> {
    /// For each value of the band: when it was held, in order; none touch.
    holds: [Vec<(u64, u64)>; BAND],
    since: Option<Times<BAND>>,
}

impl<const BAND: usize> Default for Handed<BAND> {
    fn default() -> Self {
        let lock = Lock {
            holds: std::array::from_fn(|_| Vec::new()),
            since: None,
        };
        Self {
            locks: vec![lock; LOCKS],
            queues: vec![VecDeque::new(); QUEUES],
        }
    }
}

impl<const BAND: usize> Handed<BAND> {
    /// A lock is asked for; from when on it is had.
    pub fn take(&mut self, lock: usize, asked: Times<BAND>) -> Times<BAND> {
        let Some(lock) = self.locks.get_mut(lock) else {
            return asked;
        };
        let mut had = asked;
        for (holds, time) in lock.holds.iter().zip(&mut had) {
            *time = first_gap(holds, *time, 0);
        }
        lock.since = Some(had);
        had
    }

    /// It is released; when, after all, because it was had only once nobody else had it for as long
    /// as it was held.
    pub fn release(&mut self, lock: usize, now: Times<BAND>) -> Times<BAND> {
        let Some(lock) = self.locks.get_mut(lock) else {
            return now;
        };
        // A lock that was taken before measuring began.
        let Some(since) = lock.since.take() else {
            return now;
        };
        let mut released = now;
        for ((holds, start), end) in lock.holds.iter_mut().zip(since).zip(&mut released) {
            let length = *end - start;
            let start = first_gap(holds, start, length);
            *end = start + length;
            hold(holds, start, *end);
        }
        released
    }

    /// An item is put into a queue.
    pub fn put(&mut self, queue: usize, now: Times<BAND>) {
        if let Some(items) = self.queues.get_mut(queue) {
            items.push_back(now);
        }
    }

    /// The oldest item is asked for; when it is had.
    pub fn get(&mut self, queue: usize, asked: Times<BAND>) -> Times<BAND> {
        // What was put in before measuring began is there.
        let item = self
            .queues
            .get_mut(queue)
            .and_then(VecDeque::pop_front)
            .unwrap_or([0; BAND]);
        std::array::from_fn(|value| asked[value].max(item[value]))
    }
}

/// The first time from `asked` on at which a lock is free for so long.
fn first_gap(holds: &[(u64, u64)], asked: u64, length: u64) -> u64 {
    let mut time = asked;
    let first = holds.partition_point(|(_, end)| *end <= asked);
    for (start, end) in &holds[first..] {
        if *start > time && *start >= time + length {
            break;
        }
        time = *end;
    }
    time
}

/// Adds a hold to those in order, and makes one of all that touch it.
fn hold(holds: &mut Vec<(u64, u64)>, start: u64, end: u64) {
    if start == end {
        return;
    }
    let first = holds.partition_point(|held| held.1 < start);
    let after = holds.partition_point(|held| held.0 <= end);
    if first < after {
        let start = start.min(holds[first].0);
        let end = end.max(holds[after - 1].1);
        holds.splice(first..after, [(start, end)]);
    } else {
        holds.insert(first, (start, end));
    }
    if holds.len() > MOST_HOLDS {
        holds.remove(0);
    }
}
