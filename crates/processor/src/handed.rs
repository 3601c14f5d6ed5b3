//! When locks are held and items wait in queues, in virtual time.
//!
//! The program runs one worker after the other; in virtual time they run side by side. So a worker
//! that runs later may ask for a lock at an earlier time than the holds of workers that ran before.
//! A lock therefore keeps the times during which it was held, and a worker waits for it only if it
//! asks for the lock within one of these times. (If clocks never cross, this is the time at which
//! the lock was last released.)
//!
//! Left out: a hold that reaches into one that began later does not move the later one.

use std::collections::VecDeque;

use crate::marks::{LOCKS, QUEUES};

/// One time for each value of a band: three for a target, one for a host.
pub type Times<const BAND: usize> = [u64; BAND];

/// Holds that are remembered for each lock.
const MOST_HOLDS: usize = 256;

/// Every lock and queue.
#[derive(Debug)]
pub struct Handed<const BAND: usize> {
    locks: Vec<Lock<BAND>>,
    queues: Vec<Queue<BAND>>,
    /// Locks that are held now.
    held: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Lock<const BAND: usize> {
    /// For each value of the band: when it was held, in order; no two holds touch.
    holds: [Vec<(u64, u64)>; BAND],
    since: Option<Times<BAND>>,
    /// Items put in while it was held: the queue, and the item's number in that queue.
    puts: Vec<(usize, u64)>,
}

#[derive(Clone, Debug)]
struct Queue<const BAND: usize> {
    items: VecDeque<Times<BAND>>,
    /// Items taken out.
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
    /// A worker asks for a lock. Returns when it has it.
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

    /// Releases it. Returns when: the release moves with the take, which waits for a gap as long as
    /// the hold. Items that were put in meanwhile move by as much.
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

    /// A worker asks for the oldest item. Returns when it has it.
    pub fn get(&mut self, queue: usize, asked: Times<BAND>) -> Times<BAND> {
        // An item put in before measuring began is ready.
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

/// The first time from `asked` on at which a lock is free for `length`.
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

/// Adds a hold to those in order, and merges it with all that touch it.
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
