//! What a write does between command and completion, and what trim and flush do.
//!
//! ```text
//!   buffer off   link: data ─> firmware ─> flash ─> complete
//!   write back   space ─> link: data ─> buffer ─> acknowledged, complete
//!                                          └> firmware ─> flash ─> space free
//!   forced, or   space ─> link: data ─> buffer ─> firmware ─> flash ─> complete
//!   write through
//! ```
//!
//! A trim is complete when the firmware has given its pages up; pages that it covers
//! in part keep their data. A flush is complete when every page that had been
//! completed from the buffer is in the flash ([`super::flush`]).

use drivelab_ftl::{Firmware, Lpn, PageRun};
use drivelab_request::CommandKind;

use super::engine::{ACKNOWLEDGE, Engine};
use super::host::Waits;
use super::link::Job;
use super::queue::{Account, STRETCHES};
use super::split::{Part, Parts};

impl<F: Firmware> Engine<F> {
    /// Gives free buffer space to the writes that wait for it, in order.
    pub(super) fn admit_blocked(&mut self, now: u64) {
        while let Some(&slot) = self.host.blocked.front() {
            let entry = &mut self.host.slots[slot as usize];
            let missing = entry.run.pages - entry.reserved;
            let pages = self.buffer.reserve(missing);
            if pages == 0 {
                return;
            }
            let first = entry.reserved;
            entry.reserved += pages;
            // The link carries the request's bytes, page by page of its run.
            let size = u64::from(entry.command.size_bytes);
            let share = |pages: u32| size * u64::from(pages) / u64::from(entry.run.pages);
            let bytes = share(first + pages) - share(first);
            let command = if first == 0 {
                self.timing.command[1]
            } else {
                0
            };
            if pages == missing {
                entry.parts[Part::Buffer as usize] = now - entry.since;
                self.host.blocked.pop_front();
            }
            let time = command + self.timing.link_transfer(bytes);
            self.put_on_link(slot, Job::WriteData { first, pages }, time, now);
        }
    }

    /// A write without buffer: complete when its pages are programmed.
    #[inline(never)]
    pub(super) fn start_write(&mut self, slot: u32, run: PageRun, now: u64) {
        self.out.clear();
        if let Err(error) = self.firmware.submit(&[run], &mut self.out) {
            self.failure = Some(error.into());
            return;
        }
        self.emit(Account::request(slot), Waits::Host, now);
    }

    /// Pages of a write have arrived in the buffer, and go on to the flash.
    pub(super) fn fill_buffer(&mut self, slot: u32, first: u32, pages: u32, now: u64) {
        let run = self.run_of(slot);
        let last = first + pages == run.pages;
        let piece = PageRun {
            first: Lpn(run.first.0 + first),
            pages,
            first_partial: run.first_partial && first == 0,
            last_partial: run.last_partial && last,
            ..run
        };
        for page in 0..pages {
            self.buffer.insert(piece.first.0 + page);
        }
        self.out.clear();
        if let Err(error) = self.firmware.submit(&[piece], &mut self.out) {
            self.failure = Some(error.into());
            return;
        }
        let is_forced = self.host.slots[slot as usize].command.is_forced;
        if self.buffer.writes_through || is_forced {
            self.force(slot, (first, last), now);
            return;
        }
        self.host.barriers.hand_over(pages);
        let stretch = self.host.barriers.open();
        self.emit(Account::buffer(stretch), Waits::Programs, now);
        if last {
            let at = now + self.timing.acknowledge;
            if self.host.acknowledged.is_empty() {
                self.events.set_side(ACKNOWLEDGE, Some(at));
            }
            self.host.acknowledged.push_back((at, slot));
        }
    }

    pub(super) fn acknowledge_event(&mut self, now: u64) {
        let Some((_, slot)) = self.host.acknowledged.pop_front() else {
            return;
        };
        let next = self.host.acknowledged.front().map(|&(at, _)| at);
        self.events.set_side(ACKNOWLEDGE, next);
        self.complete_at_host(slot, now);
    }

    /// A page of a buffered write is programmed.
    pub(super) fn page_flushed(&mut self, page: u32, stretch: u32, now: u64) {
        self.buffer.remove(page);
        self.host.barriers.programmed(stretch, STRETCHES);
        self.admit_blocked(now);
        while let Some(flush) = self.host.barriers.next_done() {
            let entry = &mut self.host.slots[flush as usize];
            entry.parts[Part::Buffer as usize] = now - entry.since;
            self.complete_at_host(flush, now);
        }
    }

    /// The firmware's operations for a piece of a write that waits for its programs;
    /// the piece begins at page `first` of the request and may be its last.
    fn force(&mut self, slot: u32, (first, is_last): (u32, bool), now: u64) {
        let programs = self.emit(Account::forced(slot), Waits::Programs, now);
        let entry = &mut self.host.slots[slot as usize];
        // One more as long as pieces are missing, so that it cannot be complete.
        entry.pending += programs + u32::from(first == 0) - u32::from(is_last);
        if is_last {
            entry.since = now;
        }
    }

    /// A page of a forced write is programmed.
    #[inline(never)]
    pub(super) fn forced_page_done(&mut self, slot: u32, page: u32, parts: Parts, now: u64) {
        self.buffer.remove(page);
        self.admit_blocked(now);
        let entry = &mut self.host.slots[slot as usize];
        entry.pending -= 1;
        if entry.pending == 0 {
            let in_flash = parts.of_time(entry.since, now);
            for (part, nanos) in in_flash.into_iter().enumerate() {
                entry.parts[part] += nanos;
            }
            self.complete_at_host(slot, now);
        }
    }

    /// A command without data has arrived.
    #[inline(never)]
    pub(super) fn start_command(&mut self, slot: u32, now: u64) {
        let entry = &mut self.host.slots[slot as usize];
        entry.since = now;
        if entry.command.kind == CommandKind::Flush {
            if self.host.barriers.flush(slot) {
                self.complete_at_host(slot, now);
            }
            return;
        }
        let run = entry.run;
        if self.buffer.is_on() {
            for page in run.whole_pages() {
                self.buffer.trim(page);
            }
        }
        self.out.clear();
        if let Err(error) = self.firmware.submit(&[run], &mut self.out) {
            self.failure = Some(error.into());
            return;
        }
        self.complete_at_host(slot, now);
    }
}
