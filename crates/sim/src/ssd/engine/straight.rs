//! Requests of closed loops that go straight to the flash and back.
//!
//! ```text
//!   pass_time ─> flash done ─> counted ─> next request of the loop ─> flash ─> ... ─> pass_time
//! ```
//!
//! On a drive without link, buffers, cores and the like, the end of a request and the beginning of
//! the next one of its loop are one step, in the same slot. It does what `requests.rs` does,
//! without the questions whose answers are the same in the whole run. [`supply`](super::supply)
//! gives it requests with their operations, so it does not need the firmware. Reads of single pages
//! do not even need events (`lookahead.rs`).
//!
//! It stops before the request whose number opens or closes the measurement window: that one is
//! served by events. What happens in time, such as the end of a window by its duration, happens
//! between two steps. Anything unusual continues in `requests.rs`, and it begins again after that.

use drivelab_ftl::{Firmware, PageRun};
use drivelab_request::{Direction, Request};

use crate::event::EventKey;
use crate::host::counting::{Completed, Counting};
use crate::host::users::Users;
use crate::ssd::SimError;
use crate::ssd::engine::Engine;
use crate::ssd::engine::supply::{Asking, Supply};
use crate::ssd::flash::{Account, Beneficiary, Flash, Lookahead, MAX_QUEUED, Waits, Whose};
use crate::ssd::front::Front;
use crate::ssd::timeline::Timeline;

/// The parts of a drive that requests pass on the straight way.
pub(super) struct Way<'a> {
    pub users: &'a mut Users,
    pub front: &'a mut Front,
    pub flash: &'a mut Flash,
    pub timeline: &'a mut Timeline,
    pub page_shift: u32,
}

/// Why the straight way ended.
pub(super) enum Left {
    /// Between two steps.
    Between,
    Failed(SimError),
    /// The request in `slot` is counted. What follows is not simply the next request of its loop.
    Other(Unusual),
}

/// A completed request's slot, and the request that follows, if that is known.
pub(super) struct Unusual {
    slot: u32,
    request: Option<Request>,
    now: u64,
    /// The firmware was asked already: nothing in the flash has to be read.
    is_answered: bool,
}

impl<F: Firmware> Engine<F> {
    /// Whether requests of this run go straight to the flash and back.
    pub(super) fn can_go_straight(&self) -> bool {
        let front = &self.front;
        let has_way = front.takes_all()
            && !front.times.has_link()
            && !front.times.has_interrupts
            && !self.buffer.is_on()
            && !self.cache.is_on()
            && !self.cores.is_on()
            && self.flash.is_plain()
            && !self.firmware.uses_after();
        let users = &self.users;
        let is_counted_simply = !self.is_owned
            && !users.has_waiting
            && !users.clock.differs()
            && !users.counting.is_observed();
        has_way
            && is_counted_simply
            && (users.streams.iter()).all(|stream| stream.only_sends_requests())
            && self.background.idle_ns().is_none()
            && self.firmware.zones().is_none()
            && !self.firmware.packs_pages()
    }

    /// Whether they are nothing but reads of single pages.
    pub(super) fn only_reads_pages(&self) -> bool {
        let page_bytes = 1 << self.page_shift;
        let mut streams = self.users.streams.iter();
        streams.all(|each| each.only_reads(page_bytes))
    }

    /// Goes straight as far as that is possible. Call it between events.
    pub(super) fn go_straight(&mut self) {
        if self.front.next_on_link() != EventKey::NEVER {
            // The rest of something unusual.
            return;
        }
        let most = self.requests_without_decision();
        let Self {
            users,
            front,
            flash,
            timeline,
            page_shift,
            lookahead,
            ..
        } = self;
        let mut way = Way {
            users,
            front,
            flash,
            timeline,
            page_shift: *page_shift,
        };
        let mut asking = Asking {
            firmware: &mut self.firmware,
            out: &mut self.out,
            page_shift: *page_shift,
            answers_unwritten: self.answers_unwritten,
            heeds_placements: self.heeds_placements,
        };
        let ahead = self.looks_ahead.then_some(lookahead);
        let on_two_cores = self.uses_second_core && way.can_use_second_core(most);
        let left = match on_two_cores {
            true => way.go_on_two_cores(ahead, &mut asking, most),
            false => way.go(ahead, &mut asking, most),
        };
        // Where something is unusual, it will be again soon, and starting a thread costs time.
        self.uses_second_core &= !(on_two_cores && matches!(left, Left::Other(_)));
        self.come_back(left);
    }

    /// How many requests may complete before their number decides something, so that none of those
    /// in the drive can be the one.
    fn requests_without_decision(&self) -> u64 {
        let window = &self.users.window;
        if window.closed_by().is_some() {
            return 0;
        }
        let outstanding = self.front.outstanding() as u64;
        (window.requests_until_decision()).saturating_sub(outstanding)
    }

    /// Events take over again.
    fn come_back(&mut self, left: Left) {
        match left {
            Left::Between => {}
            Left::Failed(error) => self.failure = Some(error),
            Left::Other(unusual) => self.go_on_otherwise(&unusual),
        }
    }

    #[cold]
    fn go_on_otherwise(&mut self, unusual: &Unusual) {
        let &Unusual { slot, now, .. } = unusual;
        if !self.looks_ahead {
            // The straight way begins again at the next moment. The lookahead would cost too much.
            self.users.deadline = self.users.deadline.min(now + 1);
        }
        match unusual.request {
            Some(_) if unusual.is_answered => self.send_data(slot, now),
            Some(request) => {
                let run = pages_of(&request, self.page_shift);
                self.front.slot_mut(slot).begin_again(&request, &run, now);
                self.go_in(slot, run, now);
            }
            None => {
                let entry = self.front.slot(slot);
                let (stream, pair) = (entry.stream(), entry.pair());
                self.front.vacate(slot);
                self.take_next(pair, now);
                if self.users.goes_on(stream) {
                    self.submit_next(stream, now);
                }
            }
        }
    }
}

/// The pages of a request.
#[inline(always)]
pub(super) fn pages_of(request: &Request, page_shift: u32) -> PageRun {
    PageRun::covering(
        request.direction,
        request.offset_bytes,
        request.size_bytes,
        1 << page_shift,
    )
}

/// Which of its operations a request waits for.
pub(super) fn waits_of(request: &Request) -> Waits {
    match request.direction {
        Direction::Read => Waits::All,
        Direction::Write => Waits::Host,
    }
}

impl Way<'_> {
    /// Goes on until `most` requests are complete, or until something else is due.
    pub(super) fn go<S: Supply>(
        &mut self,
        ahead: Option<&mut Lookahead>,
        supply: &mut S,
        most: u64,
    ) -> Left {
        if let Some(ahead) = ahead
            && most > 0
            && let Some(left) = self.look_ahead(ahead, supply, most)
        {
            return left;
        }
        match self.serve_events(supply, most) {
            Ok(()) => Left::Between,
            Err(left) => left,
        }
    }

    /// Serves events.
    fn serve_events<S: Supply>(&mut self, supply: &mut S, most: u64) -> Result<(), Left> {
        let mut left = most;
        while left > 0 {
            let first = self.timeline.events.first();
            let now = first.time();
            if first == EventKey::NEVER || now >= self.users.deadline && !self.pass_deadline(now)? {
                break;
            }
            self.timeline.current = self.timeline.current.max(first);
            let unit = first.leaf() as u32;
            if self.flash.has_ended(unit, self.timeline, now) {
                left -= u64::from(self.operation_ends(unit, supply, now)?);
            }
        }
        Ok(())
    }

    /// Time passes the deadline, on the way to `now`. Returns whether nothing but that happens.
    #[cold]
    pub fn pass_deadline(&mut self, now: u64) -> Result<bool, Left> {
        if self.users.window.next_time().is_some_and(|at| at.0 <= now) {
            return Ok(false);
        }
        let passed = self.users.come_to(now, || None);
        passed.map_err(Left::Failed).map(|()| true)
    }

    /// An operation ends. Returns whether a request is complete with it.
    #[inline(always)]
    fn operation_ends<S: Supply>(
        &mut self,
        unit: u32,
        supply: &mut S,
        now: u64,
    ) -> Result<bool, Left> {
        let ended = self.flash.end(unit, self.timeline, now);
        self.flash.count(&ended.task);
        let Beneficiary::Request(slot) = ended.task.account.beneficiary() else {
            return Ok(false);
        };
        let parts = self.flash.parts_of(&ended, now);
        let entry = self.front.slot_mut(slot);
        if !entry.has_all() {
            return Ok(false);
        }
        let stream = entry.stream();
        let command = entry.command();
        let (latency, parts) = entry.end_with(&parts, now);
        let request = Completed {
            stream,
            kind: command.kind,
            bytes: command.size_bytes,
            latency,
            parts,
        };
        self.count(&request, supply, now);
        self.go_on((slot, stream), supply, now)?;
        Ok(true)
    }

    /// A request is complete.
    #[inline(always)]
    pub fn count<S: Supply>(&mut self, request: &Completed, supply: &mut S, now: u64) {
        let record = |counting: &mut Counting, request: &_| supply.record(counting, request);
        let edge = self.users.count_simply(request, now, record);
        debug_assert!(edge.is_none(), "a number of requests decides nothing here");
    }

    /// The loop of `stream` submits its next request, in `slot`.
    #[inline(always)]
    fn go_on<S: Supply>(
        &mut self,
        (slot, stream): (u32, u16),
        supply: &mut S,
        now: u64,
    ) -> Result<(), Left> {
        let request = self.next((slot, stream), supply, now)?;
        let run = self.pages_of(&request);
        self.front.slot_mut(slot).begin_again(&request, &run, now);
        let Some(operation) = supply.operation(&run) else {
            return self.enter_all((slot, stream), &request, supply, now);
        };
        let account = Account::request(slot);
        match self.flash.enter(&operation, account, self.timeline, now) {
            true => Ok(()),
            false => Err(overfull()),
        }
    }

    /// The next request of the loop of `stream`, submitted in `slot`.
    #[inline(always)]
    pub fn next<S: Supply>(
        &mut self,
        (slot, stream): (u32, u16),
        supply: &mut S,
        now: u64,
    ) -> Result<Request, Left> {
        let Some(request) = supply.request(&mut self.users.streams[stream as usize]) else {
            return Err(unusual(slot, None, now));
        };
        let submitted = self.users.submit_inside(stream, now);
        submitted.map_err(Left::Failed).map(|()| request)
    }

    #[inline(always)]
    pub fn pages_of(&self, request: &Request) -> PageRun {
        pages_of(request, self.page_shift)
    }

    /// A request that takes more than one operation enters the flash.
    #[inline(never)]
    fn enter_all<S: Supply>(
        &mut self,
        (slot, stream): (u32, u16),
        request: &Request,
        supply: &mut S,
        now: u64,
    ) -> Result<(), Left> {
        let run = self.pages_of(request);
        let placement = self.users.streams[stream as usize].placement;
        let operations = supply.operations((request, &run), placement);
        let Some(operations) = operations.map_err(Left::Failed)? else {
            return Err(unusual(slot, Some(*request), now));
        };
        let waits = waits_of(request);
        let owner = (Account::request(slot), Whose::NOBODYS);
        let pending = (self.flash).enter_all(operations, owner, waits, self.timeline, now);
        self.front.slot_mut(slot).await_all(pending);
        if self.flash.is_overfull() {
            return Err(overfull());
        }
        if pending == 0 {
            return Err(Left::Other(Unusual {
                slot,
                request: Some(*request),
                now,
                is_answered: true,
            }));
        }
        Ok(())
    }
}

#[cold]
fn overfull() -> Left {
    Left::Failed(SimError::InFlight { most: MAX_QUEUED })
}

#[cold]
pub(super) fn unusual(slot: u32, request: Option<Request>, now: u64) -> Left {
    Left::Other(Unusual {
        slot,
        request,
        now,
        is_answered: false,
    })
}
