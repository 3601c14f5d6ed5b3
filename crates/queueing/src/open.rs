//! The same drive when requests arrive at their own times, wherever they go.
//!
//! ```text
//!   request ─> is it time? fewer outstanding than it allows? ─> drive ─> answered
//!                  events that lie before are done first
//! ```
//!
//! A closed loop keeps a buffer full as long as it writes; here it is empty at first and empties
//! while nothing comes, so a write that meets room takes its way alone. How accesses follow each
//! other is seen from their addresses: one that begins where one of the last ones ended, or at most
//! [`MOST_GAP_BYTES`] further, goes on in order, as a closed loop's do with a stride.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::access::Access;
use crate::drive::Drive;
use crate::moment::{Moment, checked_costs};
use crate::{COSTS, Layout, QueueingError};

/// So many ends of accesses are remembered of each direction.
const STREAMS: usize = 32;
/// The longest way forward that is still in order.
pub const MOST_GAP_BYTES: u64 = 262_144;

/// A read or a write and when it may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Not before; never before the request before it.
    pub due_ns: u64,
    /// Only while fewer are outstanding; 1 or more.
    pub depth: u32,
    /// A write, or a read.
    pub is_write: bool,
    /// Where it begins.
    pub offset_bytes: u64,
    /// How long it is; 1 or more.
    pub size_bytes: u64,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answered {
    /// The request.
    pub request: Request,
    /// When it was sent: when it was due, or as soon as fewer were outstanding.
    pub sent_ns: f64,
    /// When it was complete.
    pub completed_ns: f64,
}

/// What happens at a time.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The data of a read is ready to cross the link.
    Ready,
    /// It is complete.
    Complete,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    request: Request,
    sent_ns: f64,
    pages: (u64, u64),
}

/// A drive that is asked at any time.
pub struct OpenLoop {
    drive: Drive,
    page_bytes: u64,
    ends: [Ends; 2],
    /// By the bits of their times, which are never below zero, then in order; what and whose.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    happens: Vec<Event>,
    outstanding: Vec<Outstanding>,
    free: Vec<usize>,
    count: usize,
    serial: u64,
    now_ns: f64,
}

impl OpenLoop {
    /// A drive that was idle for long.
    ///
    /// # Errors
    ///
    /// What is wrong about the layout or the costs.
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

    /// What is begun from now on takes so long.
    ///
    /// # Errors
    ///
    /// As [`OpenLoop::new`].
    pub fn set_costs(&mut self, costs: &[f64]) -> Result<(), QueueingError> {
        let costs: [f64; COSTS] = checked_costs(costs)?;
        self.drive.log.set_costs(costs);
        Ok(())
    }

    /// Sends the next request; tells what was completed until then, in the order of completion.
    pub fn send(&mut self, request: &Request, answered: &mut impl FnMut(Answered)) {
        let due_ns = request.due_ns as f64;
        while let Some(&Reverse((bits, ..))) = self.events.peek()
            && (f64::from_bits(bits) <= due_ns || self.count >= request.depth as usize)
        {
            self.go_on(answered);
        }
        self.now_ns = self.now_ns.max(due_ns);
        let sent = Moment::at(self.now_ns);
        // Paths are not asked for here.
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

    /// Completes what is outstanding.
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
            // Read-ahead goes on from the last read, not from one of many.
            follows: is_next && gap.is_some_and(|gap| gap < page),
            is_random: gap.is_none(),
        }
    }
}

/// Where accesses of one direction ended, the last one last.
#[derive(Debug, Default)]
struct Ends {
    last: Vec<u64>,
}

impl Ends {
    /// How far an access begins beyond one that it goes on from, which it replaces, and whether that
    /// was the last one.
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
