//! Requests of closed loops that go straight to the flash and back.
//!
//! ```text
//!   flash done ─> counted ─> next request of the loop ─> flash       all in the same slot
//! ```
//!
//! On a drive without link, buffers, cores and the like, the end of a request and the beginning of
//! the next one of its loop are one step. It does what `requests.rs` does, without the questions
//! whose answers are the same in the whole run. Anything unusual continues there.

use drivelab_ftl::{Firmware, PageRun};
use drivelab_request::Request;

use crate::host::users::Edge;
use crate::ssd::account::split::Parts;
use crate::ssd::engine::Engine;
use crate::ssd::flash::Account;

impl<F: Firmware> Engine<F> {
    /// Whether requests of this run go straight to the flash and back.
    pub(super) fn can_go_straight(&self) -> bool {
        let front = &self.front;
        let has_way = front.takes_all()
            && !front.times.has_link()
            && !front.times.has_interrupts
            && !self.buffer.is_on()
            && !self.cache.is_used()
            && !self.cores.is_on()
            && self.flash.is_plain();
        let users = &self.users;
        let is_counted_simply = !self.is_owned
            && !users.has_waiting
            && !users.clock.differs()
            && !users.counting.is_observed();
        has_way
            && is_counted_simply
            && self.background.idle_ns().is_none()
            && self.firmware.zones().is_none()
            && !self.firmware.packs_pages()
    }

    /// A flash operation that request `slot` waits for completed.
    #[inline(always)]
    pub(super) fn page_done_straight(&mut self, slot: u32, parts: &Parts, now: u64) {
        let entry = self.front.slot_mut(slot);
        if !entry.has_all() {
            return;
        }
        let stream = entry.stream();
        let command = entry.command();
        let what = (command.kind, command.size_bytes);
        let (latency, parts) = entry.end_with(parts, now);
        let edge = self
            .users
            .count_simply((stream, what), latency, &parts, now);
        if edge.is_some() || !self.users.goes_on(stream) {
            return self.end_otherwise(slot, edge, now);
        }
        let running = &mut self.users.streams[stream as usize];
        let Some(request) = running.take_request(&self.firmware, self.page_shift) else {
            return self.end_otherwise(slot, None, now);
        };
        if let Err(error) = self.users.submit_inside(stream, now) {
            self.failure = Some(error);
            return;
        }
        let run = self.pages_of(&request);
        self.front.slot_mut(slot).begin_again(&request, &run, now);
        let operation = match run.is_one_whole_page() {
            true => self.ask_for_page(run.action, run.first),
            false => None,
        };
        match operation {
            Some(operation) => self.enter_flash(&operation, Account::request(slot), now),
            None => self.enter_straight(slot, run, now),
        }
    }

    /// The pages of a request.
    #[inline(always)]
    pub(super) fn pages_of(&self, request: &Request) -> PageRun {
        PageRun::covering(
            request.direction,
            request.offset_bytes,
            request.size_bytes,
            1 << self.page_shift,
        )
    }

    /// The same for a request that is not a single operation.
    #[inline(never)]
    pub(super) fn enter_straight(&mut self, slot: u32, run: PageRun, now: u64) {
        self.go_in(slot, run, now);
    }

    /// The counted request in `slot` is complete, and what follows is not simply the next request.
    #[inline(never)]
    fn end_otherwise(&mut self, slot: u32, edge: Option<Edge>, now: u64) {
        let entry = self.front.slot(slot);
        let (stream, pair) = (entry.stream(), entry.pair());
        self.front.vacate(slot);
        if let Some(edge) = edge {
            self.window_decided(edge, now, self.timeline.current);
        }
        self.take_next(pair, now);
        if self.users.goes_on(stream) {
            self.submit_next(stream, now);
        }
    }
}
