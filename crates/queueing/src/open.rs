//! The same drive for requests that arrive at their own times, at any place.
//!
//! ```text
//!   request ─> is it time? fewer outstanding than it allows? ─> drive ─> answered
//!                  events that lie before are done first
//! ```
//!
//! A closed loop keeps a buffer full as long as it writes. Here the buffer is empty at first and
//! empties while nothing comes, so a write that finds room takes only its path. Sequential access
//! is recognised by addresses. An access continues one of the most recent ones if it begins where
//! that one ended, or at most [`MOST_GAP_BYTES`] further, like the accesses of a closed loop with a
//! stride.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::access::Access;
use crate::drive::Drive;
use crate::moment::{Moment, checked_costs};
use crate::{COSTS, Layout, QueueingError};

/// The number of recent ends of accesses remembered for each direction.
const STREAMS: usize = 32;
/// The longest forward gap that still counts as in order.
pub const MOST_GAP_BYTES: u64 = 262_144;

/// A read or a write, and when it may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its earliest time; never before that of the previous request.
    pub due_ns: u64,
    /// It is sent only while fewer than this are outstanding; 1 or more.
    pub depth: u32,
    /// Whether it is a write.
    pub is_write: bool,
    /// Its offset.
    pub offset_bytes: u64,
    /// Its length; 1 or more.
    pub size_bytes: u64,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answered {
    /// The request.
    pub request: Request,
    /// When it was sent: when it was due, or as soon as fewer were outstanding.
    pub sent_ns: f64,
    /// When it completed.
    pub completed_ns: f64,
}

/// An event.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The data of a read is ready to cross the link.
    Ready,
    /// The request is complete.
    Complete,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    request: Request,
    sent_ns: f64,
    pages: (u64, u64),
}

/// A drive that receives requests at any time.
pub struct OpenLoop {
    drive: Drive,
    page_bytes: u64,
    ends: [Ends; 2],
    /// Ordered by the bits of their times, which are never below zero, then by sequence. Then the
    /// kind and the request.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    happens: Vec<Event>,
    outstanding: Vec<Outstanding>,
    free: Vec<usize>,
    count: usize,
    serial: u64,
    now_ns: f64,
}

impl OpenLoop {
    /// A drive that has been idle for long.
    ///
    /// # Errors
    ///
    /// An invalid layout or cost.
    pub fn new(layout: &Layout, costs: &[f64]) -> Result<Self, QueueingError> {
        layout.validate()?;
        let mut drive = Drive::new(layout, &checked_costs(costs)?);
        drive.reset(false);
        Ok(Self {
            drive,
            page_bytes: layout.page_bytes as u64,
            ends: [Ends::default(), Ends::default()],
            events: BinaryHeap::new(),
            happens: Vec::new(),
            outstanding: Vec::new(),
            free: Vec::new(),
            count: 0,
            serial: 0,
            now_ns: 0.0,
        })
    }

    /// Sets the costs of everything that begins from now on.
    ///
    /// # Errors
    ///
    /// As [`OpenLoop::new`].
    pub fn set_costs(&mut self, costs: &[f64]) -> Result<(), QueueingError> {
        let costs: [f64; COSTS] = checked_costs(costs)?;
        self.drive.set_costs(costs);
        Ok(())
    }

    /// Sends the next request. Reports what completed until then, in order of completion.
    pub fn send(&mut self, request: &Request, answered: &mut impl FnMut(Answered)) {
        let due_ns = request.due_ns as f64;
        while let Some(&Reverse((bits, ..))) = self.events.peek()
            && (f64::from_bits(bits) <= due_ns || self.count >= request.depth as usize)
        {
            self.go_on(answered);
        }
        self.now_ns = self.now_ns.max(due_ns);
        let sent = Moment::at(self.now_ns);
        // Critical paths are not needed here.
        self.drive.log.clear();
        let access = self.access(request);
        let size = request.size_bytes as f64;
        let (at, event) = if request.is_write {
            (self.drive.write(sent, &access, size), Event::Complete)
        } else {
            (self.drive.read(sent, &access), Event::Ready)
        };
        let one = Outstanding {
            request: *request,
            sent_ns: sent.ns,
            pages: (access.first, access.last),
        };
        let place = self.place_of(one);
        self.count += 1;
        self.happen(at, event, place);
    }

    /// Completes all outstanding requests.
    pub fn finish(&mut self, answered: &mut impl FnMut(Answered)) {
        while !self.events.is_empty() {
            self.go_on(answered);
        }
    }

    fn go_on(&mut self, answered: &mut impl FnMut(Answered)) {
        let Some(Reverse((bits, _, place))) = self.events.pop() else {
            return;
        };
        let at_ns = f64::from_bits(bits);
        self.now_ns = self.now_ns.max(at_ns);
        let Outstanding {
            request,
            sent_ns,
            pages: (first, last),
        } = self.outstanding[place];
        match self.happens[place] {
            Event::Ready => {
                self.drive.log.clear();
                let size = request.size_bytes as f64;
                let at = self.drive.read_data(Moment::at(at_ns), first, last, size);
                self.happen(at, Event::Complete, place);
            }
            Event::Complete => {
                self.count -= 1;
                self.free.push(place);
                answered(Answered {
                    request,
                    sent_ns,
                    completed_ns: at_ns,
                });
            }
        }
    }

    fn happen(&mut self, at: Moment, event: Event, place: usize) {
        self.happens[place] = event;
        self.serial += 1;
        self.events
            .push(Reverse((at.ns.to_bits(), self.serial, place)));
    }

    fn place_of(&mut self, one: Outstanding) -> usize {
        if let Some(place) = self.free.pop() {
            self.outstanding[place] = one;
            return place;
        }
        self.outstanding.push(one);
        self.happens.push(Event::Complete);
        self.outstanding.len() - 1
    }

    fn access(&mut self, request: &Request) -> Access {
        let page = self.page_bytes;
        let (begin, end) = (
            request.offset_bytes,
            request.offset_bytes + request.size_bytes,
        );
        let (first, last) = (begin / page, (end - 1) / page);
        let (gap, is_next) = self.ends[usize::from(request.is_write)].follow(begin, end);
        let again = gap.is_some_and(|gap| (begin - gap).saturating_sub(1) / page == first);
        Access {
            first,
            last,
            partial: (!begin.is_multiple_of(page), !end.is_multiple_of(page)),
            again,
            // Read-ahead continues only from the last read, not from one of several.
            follows: is_next && gap.is_some_and(|gap| gap < page),
            is_random: gap.is_none(),
        }
    }
}

/// The ends of accesses in one direction, the most recent last.
#[derive(Debug, Default)]
struct Ends {
    last: Vec<u64>,
}

impl Ends {
    /// How far an access begins after the one that it continues and replaces, and whether that was
    /// the most recent one.
    fn follow(&mut self, begin: u64, end: u64) -> (Option<u64>, bool) {
        let gap_of = |&ended: &u64| {
            begin
                .checked_sub(ended)
                .filter(|&gap| gap <= MOST_GAP_BYTES)
        };
        let nearest = (self.last.iter().enumerate())
            .filter_map(|(place, ended)| gap_of(ended).map(|gap| (gap, place)))
            .min();
        let is_next = nearest.is_some_and(|(_, place)| place + 1 == self.last.len());
        if let Some((_, place)) = nearest {
            self.last.remove(place);
        } else if self.last.len() == STREAMS {
            self.last.remove(0);
        }
        self.last.push(end);
        (nearest.map(|(gap, _)| gap), is_next)
    }
}
