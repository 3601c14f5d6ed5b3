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
    queues: Vec<Queue<BAND>>,
    /// Locks that somebody holds.
    held: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Lock<const BAND: usize> {
    /// For each value of the band: when it was held, in order; none touch.
    holds: [Vec<(u64, u64)>; BAND],
    since: Option<Times<BAND>>,
    /// Items that were put in while it was held: the queue, and which of all that were put in there.
    puts: Vec<(usize, u64)>,
}

#[derive(Clone, Debug)]
struct Queue<const BAND: usize> {
    items: VecDeque<Times<BAND>>,
    /// How many were taken out.
    taken: u64,
}

impl<const BAND: usize> Default for Handed<BAND> {
    fn default() -> Self {
        let lock = Lock {
            holds: std::array::from_fn(|_| Vec::new()),
            since: None,
            puts: Vec::new(),
        };
        let queue = Queue {
            items: VecDeque::new(),
            taken: 0,
        };
        Self {
            locks: vec![lock; LOCKS],
            queues: vec![queue; QUEUES],
            held: Vec::new(),
        }
    }
}

impl<const BAND: usize> Handed<BAND> {
    /// A lock is asked for; from when on it is had.
    pub fn take(&mut self, number: usize, asked: Times<BAND>) -> Times<BAND> {
        let Some(lock) = self.locks.get_mut(number) else {
            return asked;
        };
        self.held.push(number);
        let mut had = asked;
        for (holds, time) in lock.holds.iter().zip(&mut had) {
            *time = first_gap(holds, *time, 0);
        }
        lock.since = Some(had);
        had
    }

    /// It is released; when, after all, because it was had only once nobody else had it for as long
    /// as it was held. Items that were put in meanwhile are there as much later.
    pub fn release(&mut self, number: usize, now: Times<BAND>) -> Times<BAND> {
        self.held.retain(|held| *held != number);
        let Some(lock) = self.locks.get_mut(number) else {
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
        for (queue, number) in lock.puts.drain(..) {
            let Some(queue) = self.queues.get_mut(queue) else {
                continue;
            };
            let place = number.checked_sub(queue.taken).map(|place| place as usize);
            if let Some(item) = place.and_then(|place| queue.items.get_mut(place)) {
                for value in 0..BAND {
                    item[value] += released[value] - now[value];
                }
            }
        }
        released
    }

    /// An item is put into a queue.
    pub fn put(&mut self, queue: usize, now: Times<BAND>) {
        let Some(into) = self.queues.get_mut(queue) else {
            return;
        };
        let number = into.taken + into.items.len() as u64;
        into.items.push_back(now);
        for lock in &self.held {
            self.locks[*lock].puts.push((queue, number));
        }
    }

    /// The oldest item is asked for; when it is had.
    pub fn get(&mut self, queue: usize, asked: Times<BAND>) -> Times<BAND> {
        // What was put in before measuring began is there.
        let mut item = [0; BAND];
        if let Some(queue) = self.queues.get_mut(queue)
            && let Some(oldest) = queue.items.pop_front()
        {
            queue.taken += 1;
            item = oldest;
        }
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
