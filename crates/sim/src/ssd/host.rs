//! The host side: commands, the link, admission to the write buffer.
//!
//! ```text
//!   submitted ─> [command slots] ─> link: command ─> firmware (reads)
//!                                └> buffer space ─> link: command and data ─> firmware (writes)
//!   flash done ─> link: data ─> complete (reads)        buffered ─> acknowledge ─> complete
//! ```
//!
//! The link carries one thing at a time, in order of readiness. A host
//! interface that is `free` costs nothing and has a command slot for everybody.
//! A write larger than the space in the buffer is taken in pieces.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use drivelab_ftl::{Cause, Firmware, Lpn, OperationKind, PageRun};
use drivelab_request::{Direction, Request};

use super::SimError;
use super::engine::Engine;
use super::flash::Account;

/// Whether to stop is looked up once in so many requests.
const STOP_INTERVAL: u64 = 1024;

/// Requests in one instant after which no drive ever gets further.
const MOST_IN_NO_TIME: u64 = 1 << 20;

/// A request between submission and completion.
#[derive(Clone, Copy, Debug)]
struct Slot {
    request: Request,
    run: PageRun,
    submitted: u64,
    /// Flash operations it still waits for.
    pending: u32,
    /// Pages of a buffered write that have space in the buffer already.
    reserved: u32,
}

#[derive(Clone, Copy, Debug)]
enum Job {
    ReadCommand,
    ReadData,
    /// Pages `first .. first + pages` of the request's run arrive.
    WriteData {
        first: u32,
        pages: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct LinkJob {
    end: u64,
    slot: u32,
    job: Job,
}

/// Host-side state.
#[derive(Clone, Debug)]
pub(super) struct Host {
    commands: u32,
    free_commands: u32,
    link_free_at: u64,
    link: VecDeque<LinkJob>,
    acknowledged: VecDeque<(u64, u32)>,
    /// Submitted, but no command slot is free.
    waiting: VecDeque<u32>,
    /// Writes waiting for space in the buffer.
    blocked: VecDeque<u32>,
    slots: Vec<Slot>,
    vacant: Vec<u32>,
}

impl Host {
    pub fn new(commands: u32) -> Self {
        Self {
            commands,
            free_commands: commands,
            link_free_at: 0,
            link: VecDeque::new(),
            acknowledged: VecDeque::new(),
            waiting: VecDeque::new(),
            blocked: VecDeque::new(),
            slots: Vec::new(),
            vacant: Vec::new(),
        }
    }

    /// Requests submitted and not completed.
    pub fn outstanding(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    pub fn reset(&mut self) {
        *self = Self::new(self.commands);
    }
}

impl<F: Firmware> Engine<F> {
    /// The host submits the next request of the load, if there is one.
    #[inline]
    pub(super) fn submit_next(&mut self, now: u64) {
        let Some(request) = self.source.take(&self.firmware, self.page_shift) else {
            return;
        };
        if self.submitted.is_multiple_of(STOP_INTERVAL) {
            self.failure = self.reason_to_stop(now);
            if self.failure.is_some() {
                return;
            }
        }
        let end = request.offset_bytes.checked_add(request.size_bytes.into());
        if end.is_none_or(|end| end > self.capacity_bytes) || request.size_bytes == 0 {
            self.failure = Some(SimError::Range {
                request,
                capacity_bytes: self.capacity_bytes,
            });
            return;
        }
        let run = PageRun::covering(
            request.direction,
            request.offset_bytes,
            request.size_bytes,
            1 << self.page_shift,
        );
        let entry = Slot {
            request,
            run,
            submitted: now,
            pending: 0,
            reserved: 0,
        };
        self.submitted += 1;
        let host = &mut self.host;
        let slot = match host.vacant.pop() {
            Some(slot) => {
                host.slots[slot as usize] = entry;
                slot
            }
            None => {
                host.slots.push(entry);
                (host.slots.len() - 1) as u32
            }
        };
        if host.free_commands == 0 {
            host.waiting.push_back(slot);
        } else {
            host.free_commands -= 1;
            self.enter_device(slot, now);
        }
    }

    /// Looked up now and then: whether to go on has become pointless.
    fn reason_to_stop(&self, now: u64) -> Option<SimError> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(SimError::Stopped);
        }
        // A window that waits for time would do so for ever.
        let stands_still = now == 0 && self.submitted > MOST_IN_NO_TIME;
        (stands_still && self.window.next_time().is_some()).then_some(SimError::NoTime)
    }

    /// An open load's next request arrives.
    pub(super) fn arrival_event(&mut self, now: u64) {
        self.submit_next(now);
        self.schedule_arrival();
    }

    pub(super) fn schedule_arrival(&mut self) {
        match self.source.next_arrival() {
            Some(time) => self.events.set(self.arrival_leaf, time),
            None => self.events.cancel(self.arrival_leaf),
        }
    }

    #[inline]
    fn enter_device(&mut self, slot: u32, now: u64) {
        match self.host.slots[slot as usize].run.direction {
            Direction::Read if !self.timing.has_link() => self.start_read(slot, now),
            Direction::Read => {
                self.put_on_link(slot, Job::ReadCommand, self.timing.command[0], now)
            }
            Direction::Write if self.buffer.is_on() => {
                self.host.blocked.push_back(slot);
                if self.host.blocked.len() == 1 {
                    self.admit_blocked(now);
                }
            }
            Direction::Write if !self.timing.has_link() => self.start_write(slot, now),
            Direction::Write => {
                let entry = &self.host.slots[slot as usize];
                let (pages, bytes) = (entry.run.pages, u64::from(entry.request.size_bytes));
                let time = self.timing.command[1] + self.timing.link_transfer(bytes);
                self.put_on_link(slot, Job::WriteData { first: 0, pages }, time, now);
            }
        }
    }

    /// Gives free buffer space to the writes that wait for it, in order.
    fn admit_blocked(&mut self, now: u64) {
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
            let size = u64::from(entry.request.size_bytes);
            let share = |pages: u32| size * u64::from(pages) / u64::from(entry.run.pages);
            let bytes = share(first + pages) - share(first);
            let command = if first == 0 {
                self.timing.command[1]
            } else {
                0
            };
            if pages == missing {
                self.host.blocked.pop_front();
            }
            let time = command + self.timing.link_transfer(bytes);
            self.put_on_link(slot, Job::WriteData { first, pages }, time, now);
        }
    }

    fn put_on_link(&mut self, slot: u32, job: Job, time: u64, now: u64) {
        let end = self.host.link_free_at.max(now) + time;
        self.host.link_free_at = end;
        if self.host.link.is_empty() {
            self.events.set(self.link_leaf, end);
        }
        self.host.link.push_back(LinkJob { end, slot, job });
    }

    pub(super) fn link_event(&mut self, now: u64) {
        let Some(done) = self.host.link.pop_front() else {
            return;
        };
        match self.host.link.front() {
            Some(next) => self.events.set(self.link_leaf, next.end),
            None => self.events.cancel(self.link_leaf),
        }
        match done.job {
            Job::ReadCommand => self.start_read(done.slot, now),
            Job::ReadData => self.complete(done.slot, now),
            Job::WriteData { .. } if !self.buffer.is_on() => self.start_write(done.slot, now),
            Job::WriteData { first, pages } => self.fill_buffer(done.slot, first, pages, now),
        }
    }

    #[inline]
    fn start_read(&mut self, slot: u32, now: u64) {
        let run = self.host.slots[slot as usize].run;
        let mut pending = 0;
        self.out.clear();
        let result = if self.buffer.is_empty() {
            self.firmware.submit(&[run], &mut self.out)
        } else {
            self.read_past_buffer(run)
        };
        if let Err(error) = result {
            self.failure = Some(error.into());
            return;
        }
        if self.out.counts.unmapped_reads > 0 {
            self.failure = Some(SimError::Unmapped {
                offset_bytes: self.host.slots[slot as usize].request.offset_bytes,
            });
            return;
        }
        for index in 0..self.out.operations().len() {
            let operation = self.out.operations()[index];
            pending += 1;
            self.enter_flash(operation, Account::Request(slot), now);
        }
        self.host.slots[slot as usize].pending = pending;
        if pending == 0 {
            self.send_data(slot, now);
        }
    }

    /// Reads only the pages of `run` that the write buffer does not hold.
    fn read_past_buffer(&mut self, run: PageRun) -> Result<(), drivelab_ftl::FirmwareError> {
        for page in 0..run.pages {
            let first = Lpn(run.first.0 + page);
            if self.buffer.holds(first.0) {
                self.tally.buffer_hits += 1;
            } else {
                self.firmware.submit(
                    &[PageRun {
                        first,
                        pages: 1,
                        ..run
                    }],
                    &mut self.out,
                )?;
            }
        }
        Ok(())
    }

    /// A write without buffer: complete when its pages are programmed.
    #[inline]
    fn start_write(&mut self, slot: u32, now: u64) {
        let run = self.host.slots[slot as usize].run;
        self.out.clear();
        if let Err(error) = self.firmware.submit(&[run], &mut self.out) {
            self.failure = Some(error.into());
            return;
        }
        let mut pending = 0;
        for index in 0..self.out.operations().len() {
            let operation = self.out.operations()[index];
            let account = match operation.cause {
                Cause::Host => {
                    pending += 1;
                    Account::Request(slot)
                }
                Cause::Collection => Account::Nobody,
            };
            self.enter_flash(operation, account, now);
        }
        self.host.slots[slot as usize].pending = pending;
    }

    /// Pages of a write have arrived in the buffer, and go on to the flash.
    fn fill_buffer(&mut self, slot: u32, first: u32, pages: u32, now: u64) {
        let entry = self.host.slots[slot as usize];
        let run = entry.run;
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
        for index in 0..self.out.operations().len() {
            let operation = self.out.operations()[index];
            let account = match (operation.kind, operation.cause) {
                (OperationKind::Program, Cause::Host) => Account::Buffer,
                _ => Account::Nobody,
            };
            self.enter_flash(operation, account, now);
        }
        if last {
            let at = now + self.timing.acknowledge;
            if self.host.acknowledged.is_empty() {
                self.events.set(self.acknowledge_leaf, at);
            }
            self.host.acknowledged.push_back((at, slot));
        }
    }

    pub(super) fn acknowledge_event(&mut self, now: u64) {
        let Some((_, slot)) = self.host.acknowledged.pop_front() else {
            return;
        };
        match self.host.acknowledged.front() {
            Some(&(at, _)) => self.events.set(self.acknowledge_leaf, at),
            None => self.events.cancel(self.acknowledge_leaf),
        }
        self.complete(slot, now);
    }

    /// A page of a buffered write is programmed.
    pub(super) fn page_flushed(&mut self, page: u32, now: u64) {
        self.buffer.remove(page);
        self.admit_blocked(now);
    }

    /// A flash operation that request `slot` waits for is complete.
    #[inline]
    pub(super) fn page_done(&mut self, slot: u32, now: u64) {
        let entry = &mut self.host.slots[slot as usize];
        entry.pending -= 1;
        if entry.pending == 0 {
            match entry.run.direction {
                Direction::Read if self.timing.has_link() => self.send_data(slot, now),
                _ => self.complete(slot, now),
            }
        }
    }

    fn send_data(&mut self, slot: u32, now: u64) {
        let bytes = u64::from(self.host.slots[slot as usize].request.size_bytes);
        self.put_on_link(slot, Job::ReadData, self.timing.link_transfer(bytes), now);
    }

    #[inline]
    fn complete(&mut self, slot: u32, now: u64) {
        let entry = &self.host.slots[slot as usize];
        let (request, latency) = (entry.request, now - entry.submitted);
        self.host.vacant.push(slot);
        self.host.free_commands += 1;
        self.count_completion(&request, latency, now);
        if let Some(next) = self.host.waiting.pop_front() {
            self.host.free_commands -= 1;
            self.enter_device(next, now);
        }
        if self.resubmits && self.window.closed_by().is_none() {
            self.submit_next(now);
        }
    }
}
