//! A channel between the controller and its dies.

use std::hint::select_unpredictable;

use crate::event::EventKey;
use crate::ssd::ring::Ring;

/// A channel carries one transfer at a time, in the order in which they are requested.
///
/// When a read will request the channel is known as soon as it begins, so the request needs no
/// event of its own. It goes into a line, and the unit's event is set to the end of the transfer,
/// assuming that nobody comes between. If somebody later asks for an earlier time, the unit's event
/// finds that it came too early and is set again.
///
/// ```text
///   promised: ... |####|   free_at      asks: 1 ...|####|   2 ......|####|
///   a program that asks now                          ^ goes before 2, which ends later
/// ```
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Channel {
    pub free_at: u64,
    busy: u64,
    /// The earliest possible end of the last transfer in line. Not later than `free_at` if the line
    /// is empty.
    asked_end: u64,
    /// When the channel will be requested, and by which unit.
    asks: Ring<EventKey>,
    /// The first and the last request in line, because every event needs them. If the line is
    /// empty, they are after and before all others.
    first_ask: EventKey,
    last_ask: EventKey,
}

impl Channel {
    pub fn idle() -> Self {
        Self {
            free_at: 0,
            busy: 0,
            asked_end: 0,
            asks: Ring::default(),
            first_ask: EventKey::NEVER,
            last_ask: EventKey::default(),
        }
    }

    /// Reserves the next `time` from `now` on. Returns its beginning and end.
    #[inline(always)]
    pub fn reserve(&mut self, now: u64, time: u64) -> (u64, u64) {
        let start = select_unpredictable(self.free_at > now, self.free_at, now);
        self.free_at = start + time;
        self.busy += time;
        (start, self.free_at)
    }

    /// Puts `key` in line for `time`. Returns its earliest possible end.
    #[inline(always)]
    pub fn ask(&mut self, key: EventKey, time: u64) -> u64 {
        if key < self.last_ask {
            return self.ask_between(key, time);
        }
        self.asked_end = self.asked_end.max(self.free_at).max(key.time()) + time;
        self.first_ask = self.first_ask.min(key);
        self.last_ask = key;
        self.asks.push(key);
        self.asked_end
    }

    #[inline(never)]
    fn ask_between(&mut self, key: EventKey, time: u64) -> u64 {
        if key < self.first_ask {
            self.first_ask = key;
            self.asks.push_front(key);
        } else {
            self.asks.insert_in_order(key);
        }
        self.free_at.max(key.time()) + time
    }

    /// Whether nobody in line asks before `key`.
    #[inline(always)]
    pub fn is_next(&self, key: EventKey) -> bool {
        key < self.first_ask
    }

    /// The first in line, if it asks at or before `latest`.
    #[inline(always)]
    pub fn next_ask(&mut self, latest: EventKey) -> Option<EventKey> {
        let first = self.first_ask;
        if first > latest {
            return None;
        }
        self.asks.pop();
        self.first_ask = self.asks.of_front(|&key| key, EventKey::NEVER);
        let is_last = self.asks.is_empty();
        self.last_ask = select_unpredictable(is_last, EventKey::default(), self.last_ask);
        Some(first)
    }

    /// Leaves its requests to somebody else until it [resumes](Channel::resume). Returns when it is
    /// free, how long it was busy, and the requests in order.
    pub fn leave(&mut self) -> (u64, u64, Ring<EventKey>) {
        let left = std::mem::replace(self, Self::idle());
        (left.free_at, left.busy, left.asks)
    }

    /// Is free at `free_at` and was busy for `busy`. Nobody requests it yet.
    pub fn resume(&mut self, free_at: u64, busy: u64) {
        *self = Self {
            free_at,
            busy,
            ..Self::idle()
        };
    }

    /// Busy time until `now`. Time promised beyond `now` lies without a gap before `free_at`.
    pub fn busy_until(&self, now: u64) -> u64 {
        self.busy - self.free_at.saturating_sub(now).min(self.busy)
    }
}
