//! Runs of nothing but reads of single pages go window by window instead of event by event.
//!
//! ```text
//!   pass_time ─> flash given to the lookahead ─> window ─> window ─> ... ─> given back ─> events
//! ```
//!
//! [`crate::ssd::flash::Lookahead`] says why that gives the same results. It is left before anything
//! is decided by a number of requests: the measurement window opens or closes by events. What
//! happens in time, such as the end of a window by its duration, happens between windows.

use drivelab_ftl::{Action, Firmware, Lpn, PageRun};
use drivelab_request::{CommandKind, Direction, Nanos, Request};

use crate::event::EventKey;
use crate::ssd::account::split::{PARTS, Parts};
use crate::ssd::engine::Engine;
use crate::ssd::flash::{Lookahead, Reading};

/// Why the lookahead ended.
enum Left {
    /// Between two windows.
    Between,
    /// After this many ends of a window, because the run fails or the next request of a loop is not
    /// a single read.
    Within(usize, Option<Unusual>),
}

/// A request that is not a single read, and its slot.
struct Unusual {
    slot: u32,
    request: Request,
    now: u64,
}

impl<F: Firmware> Engine<F> {
    /// Whether the streams of this run send nothing but reads of single pages, straight to the flash.
    pub(super) fn can_look_ahead(&self) -> bool {
        let page_bytes = 1 << self.page_shift;
        let mut streams = self.users.streams.iter();
        self.goes_straight && streams.all(|each| each.only_reads(page_bytes))
    }

    /// Goes window by window as far as that is possible. Call it between events.
    pub(super) fn look_ahead(&mut self) {
        let mut ahead = std::mem::take(&mut self.lookahead);
        let front = &self.front;
        let of_slot = |slot| (front.slot(slot).submitted(), front.slot(slot).stream());
        if self.may_look_ahead() && ahead.take_over(&mut self.flash, &mut self.timeline, of_slot) {
            let left = self.go_ahead(&mut ahead);
            self.come_back(&mut ahead, left);
        }
        self.lookahead = ahead;
    }

    /// Whether so many requests must complete before their number decides something that none of
    /// those in the drive can be the one.
    #[inline(always)]
    fn may_look_ahead(&self) -> bool {
        let window = &self.users.window;
        window.closed_by().is_none()
            && window.requests_until_decision() > self.front.outstanding() as u64
    }

    fn go_ahead(&mut self, ahead: &mut Lookahead) -> Left {
        while self.may_look_ahead() {
            let first = ahead.first_end();
            if first >= self.users.deadline && !self.passes_deadline(first) {
                break;
            }
            if self.failure.is_some() {
                break;
            }
            let ends = ahead.next_window(first, self.users.deadline);
            for number in 0..ends {
                let key = ahead.due(number);
                if let Err(unusual) = self.read_ends(ahead, key) {
                    return Left::Within(number + 1, unusual);
                }
            }
        }
        Left::Between
    }

    /// Time passes the deadline, on the way to `now`. Returns whether nothing but that happens.
    #[cold]
    fn passes_deadline(&mut self, now: u64) -> bool {
        if now == u64::MAX || self.users.window.next_time().is_some_and(|at| at.0 <= now) {
            return false;
        }
        let passed = self.users.come_to(now, || None);
        passed.map_err(|error| self.failure = Some(error)).is_ok()
    }

    /// A read ends, and its loop submits the next one, in the same slot.
    #[inline(always)]
    fn read_ends(&mut self, ahead: &mut Lookahead, key: EventKey) -> Result<(), Option<Unusual>> {
        let now = key.time();
        self.timeline.current = key;
        let (slot, reading, parts) = ahead.end(key, self.flash.times());
        self.flash.count_host_read();
        self.count_read(&reading, &parts, now);
        let stream = reading.stream;
        let running = &mut self.users.streams[stream as usize];
        let Some(request) = running.take_request(&self.firmware, self.page_shift) else {
            return Err(None);
        };
        if let Err(error) = self.users.submit_inside(stream, now) {
            self.failure = Some(error);
            return Err(None);
        }
        let page = Lpn((request.offset_bytes >> self.page_shift) as u32);
        let Some(operation) = self.ask_for_page(Action::Read, page) else {
            return Err(Some(Unusual { slot, request, now }));
        };
        let unit = self.flash.unit_of(operation.plane);
        ahead.enter(&operation, (slot, stream), (unit, self.flash.times()), now);
        Ok(())
    }

    #[inline(always)]
    fn count_read(&mut self, reading: &Reading, parts: &Parts, now: u64) {
        let mut of_latency = [0; PARTS];
        parts.put_latency(reading.emitted, &mut of_latency);
        let what = (CommandKind::Read, 1 << self.page_shift);
        let latency = now - reading.emitted;
        let edge = (self.users).count_simply((reading.stream, what), latency, &of_latency, now);
        debug_assert!(edge.is_none(), "a number of requests decides nothing here");
    }

    /// Events take over again.
    fn come_back(&mut self, ahead: &mut Lookahead, left: Left) {
        let (ended, unusual) = match left {
            Left::Between => (usize::MAX, None),
            Left::Within(ended, unusual) => (ended, unusual),
        };
        let (front, page_shift) = (&mut self.front, self.page_shift);
        let parts = (&mut self.flash, &mut self.timeline);
        ahead.give_back(parts, ended, |slot, reading| {
            let request = Request {
                arrival: Nanos::ZERO,
                offset_bytes: u64::from(reading.lpn) << page_shift,
                size_bytes: 1 << page_shift,
                direction: Direction::Read,
            };
            let run = PageRun::whole(Action::Read, Lpn(reading.lpn), 1);
            let entry = front.slot_mut(slot);
            entry.begin_again(&request, &run, reading.emitted);
        });
        if let Some(Unusual { slot, request, now }) = unusual {
            let run = self.pages_of(&request);
            self.front.slot_mut(slot).begin_again(&request, &run, now);
            self.enter_straight(slot, run, now);
        }
    }
}
