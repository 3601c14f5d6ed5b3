//! From the host to the firmware or the write buffer, and back: commands and the link.
//!
//! ```text
//!   submitted ─> [command slots] ─> link: command ─> firmware (reads)
//!                                └> buffer space ─> link: command and data ─> firmware (writes)
//!   flash done ─> link: data ─> complete (reads)        buffered ─> acknowledge ─> complete
//! ```
//!
//! [`crate::ssd::front::queue_pair`] and [`crate::ssd::front::link`] hold what waits. A `free` host
//! interface takes no time and has a command slot for every command. A write larger than the free
//! space of the buffer is taken in pieces.

use drivelab_ftl::{Action, Firmware, Lpn, PageRun};
use drivelab_request::{Command, CommandKind, Content};

use super::Engine;
use crate::ssd::SimError;
use crate::ssd::account::split::Parts;
use crate::ssd::firmware::cores::What;
use crate::ssd::flash::{Account, Waits};
use crate::ssd::front::Job;
use crate::ssd::timeline::{ARRIVAL, INTERRUPT};

impl<F: Firmware> Engine<F> {
    /// The host submits the next command of a stream, if there is one.
    #[inline(never)]
    pub(in crate::ssd) fn submit_next(&mut self, stream: u16, now: u64) {
        self.submit_following(stream, now);
    }

    #[inline(always)]
    fn submit_following(&mut self, stream: u16, now: u64) {
        let running = &mut self.users.streams[stream as usize];
        match running.take_request(&self.firmware, self.page_shift) {
            Some(request) => {
                let pair = running.queue_pair;
                match self.users.submit_inside(stream, now) {
                    Ok(()) => self.place((stream, pair), request.into(), 0, now),
                    Err(error) => self.failure = Some(error),
                }
            }
            None => self.submit_other(stream, now),
        }
    }

    /// The same if the next command is not a request of a plain closed loop.
    #[inline(never)]
    fn submit_other(&mut self, stream: u16, now: u64) {
        let running = &mut self.users.streams[stream as usize];
        let Some(command) = running.take(&self.firmware, self.page_shift) else {
            return;
        };
        let pair = running.queue_pair;
        match self.users.submit(stream, &command, now) {
            Ok(()) => self.place((stream, pair), command, 0, now),
            Err(error) => self.failure = Some(error),
        }
    }

    /// Takes a checked and counted command of a stream and its queue pair. An owner knows it by a
    /// number.
    #[inline(always)]
    pub(in crate::ssd) fn place(
        &mut self,
        (stream, pair): (u16, u16),
        command: Command,
        number: u32,
        now: u64,
    ) {
        let action = match command.kind {
            CommandKind::Read => Action::Read,
            CommandKind::Write => Action::Write,
            CommandKind::Trim | CommandKind::Flush => Action::Trim,
            CommandKind::WriteZeroes => self.action_of_zeroes(&command),
        };
        let mut run = PageRun::covering(
            action,
            command.offset_bytes,
            command.size_bytes,
            1 << self.page_shift,
        );
        if self.firmware.packs_pages() {
            run.content = match command.kind {
                CommandKind::WriteZeroes => Content::Zero,
                _ => command.content,
            };
        }
        let keeps_content = self.firmware.packs_pages();
        let (slot, enters) =
            (self.front).place((stream, pair, number), command, (&run, keeps_content), now);
        if enters {
            self.enter(slot, run, now);
        }
    }

    /// How WRITE ZEROES is carried out: whole pages may be given up, other ranges are written.
    #[cold]
    fn action_of_zeroes(&self, command: &Command) -> Action {
        let in_page = (1 << self.page_shift) - 1;
        let ends = command.offset_bytes | u64::from(command.size_bytes);
        match self.front.times.gives_up_zeroes && ends & in_page == 0 {
            true => Action::Trim,
            false => Action::Write,
        }
    }

    /// The next command of an open loop arrives.
    pub(in crate::ssd) fn arrival_event(&mut self, now: u64) {
        if let Some((_, stream)) = self.next_arrival() {
            self.submit_next(stream, now);
        }
        self.schedule_arrival();
    }

    pub(in crate::ssd) fn schedule_arrival(&mut self) {
        let next = self
            .next_arrival()
            .map(|(at, _)| self.users.clock.drive_ns(at));
        self.timeline.events.set_side(ARRIVAL, next);
        self.await_idleness();
    }

    /// When the next command of an open loop arrives, and the index of its stream. `None` once the
    /// window is closed.
    pub(in crate::ssd) fn next_arrival(&self) -> Option<(u64, u16)> {
        self.users.next_arrival()
    }

    pub(in crate::ssd) fn run_of(&self, slot: u32) -> PageRun {
        self.front.slot(slot).run(self.page_shift)
    }

    /// A request that has waited for a command slot enters the drive.
    #[inline(never)]
    fn enter_device(&mut self, slot: u32, now: u64) {
        self.enter(slot, self.run_of(slot), now);
    }

    #[inline(always)]
    fn enter(&mut self, slot: u32, run: PageRun, now: u64) {
        if self.firmware.zones().is_some() {
            self.enter_zone(slot, run, now);
        } else {
            self.go_in(slot, run, now);
        }
    }

    /// Sends a command on the path of its kind.
    #[inline(always)]
    pub(super) fn go_in(&mut self, slot: u32, run: PageRun, now: u64) {
        match run.action {
            Action::Read if self.is_command_free(now) => self.start_read(slot, run, now),
            Action::Read => {
                self.put_on_link(slot, Job::ReadCommand, self.front.times.command[0], now)
            }
            Action::Write if self.buffer.is_on() => {
                self.front.slot_mut(slot).begin_stage(now);
                if self.buffer.wait(slot) {
                    self.admit_blocked(now);
                }
            }
            Action::Write if !self.front.times.has_link() => self.start_write(slot, run, now),
            Action::Write => {
                let entry = self.front.slot(slot);
                let (pages, kind) = (entry.pages(), entry.command().kind.index());
                let bytes = entry.link_bytes_of(0, pages);
                let time = self.front.times.command[kind] + self.front.times.link_transfer(bytes);
                self.put_on_link(slot, Job::WriteData { first: 0, pages }, time, now);
            }
            Action::Trim => {
                let kind = self.front.slot(slot).command().kind;
                let mut time = self.front.times.command[kind.index()];
                if kind == CommandKind::Trim {
                    time += self.time_of_ranges(slot);
                }
                self.put_on_link(slot, Job::Command, time, now);
            }
        }
    }

    /// Whether a read command reaches the drive without delay.
    #[inline(always)]
    fn is_command_free(&self, now: u64) -> bool {
        !self.front.times.has_link()
            || (self.front.times.command[0] == 0 && self.front.is_link_free(now))
    }

    #[inline(always)]
    pub(in crate::ssd) fn put_on_link(&mut self, slot: u32, job: Job, time: u64, now: u64) {
        self.front.put_on_link(slot, job, time, now);
    }

    /// The first job on the link has crossed it.
    #[inline(always)]
    pub(in crate::ssd) fn link_event(&mut self, now: u64) {
        let (slot, job) = self.front.take_from_link();
        self.crossed(slot, job, now);
    }

    /// A job has crossed the link.
    #[inline(always)]
    pub(in crate::ssd) fn crossed(&mut self, slot: u32, job: Job, now: u64) {
        match job {
            Job::ReadCommand => self.start_read(slot, self.run_of(slot), now),
            Job::Command => self.start_command(slot, now),
            Job::ReadData => self.complete_at_host(slot, now),
            Job::WriteData { .. } if !self.buffer.is_on() => {
                self.start_write(slot, self.run_of(slot), now);
            }
            Job::WriteData { first, pages } if self.memory.takes_writes() => {
                self.pass_memory(slot, (first, pages), now);
            }
            Job::WriteData { first, pages } => self.fill_buffer(slot, first, pages, now),
        }
    }

    /// A read starts to look for its pages.
    #[inline(always)]
    fn start_read(&mut self, slot: u32, run: PageRun, now: u64) {
        if run.pages == 1
            && !self.cache.is_on()
            && !self.buffer.holds(run.first.0)
            && let Some(operation) = self.ask_for_page(Action::Read, run.first)
        {
            let entry = self.front.slot_mut(slot);
            entry.await_all(1);
            entry.begin_stage(now);
            let account = Account::request(slot);
            if self.cores.is_on() {
                return self.hand_over_page(slot, (&operation, account), false, now);
            }
            self.enter_flash(&operation, account, now);
        } else {
            self.start_large_read(slot, run, now);
        }
    }

    #[inline(never)]
    fn start_large_read(&mut self, slot: u32, run: PageRun, now: u64) {
        if self.cache.is_on() {
            return self.read_through_cache(slot, run, now);
        }
        self.out.clear();
        let result = if self.buffer.is_empty() {
            self.ask_firmware(run).map(|()| 0)
        } else {
            self.read_past_buffer(run)
        };
        let in_memory = match result {
            Ok(pages) => pages,
            Err(error) => {
                self.failure = Some(error.into());
                return;
            }
        };
        if self.out.counts.unmapped_reads > 0 && !self.answers_unwritten {
            self.failure = Some(SimError::Unmapped {
                offset_bytes: self.front.slot(slot).command().offset_bytes,
            });
            return;
        }
        if self.cores.is_on() {
            let done = self.done_for(slot, run.pages, true);
            return self.hand_over(Some(slot), What::Read(in_memory), (done, Vec::new()), now);
        }
        self.emit_read(slot, in_memory, now);
    }

    /// What the firmware emitted for a read enters the flash; `in_memory` more of its pages are in
    /// the write buffer.
    #[inline(always)]
    pub(in crate::ssd) fn emit_read(&mut self, slot: u32, in_memory: u32, now: u64) {
        let pending = self.emit(Account::request(slot), Waits::All, now);
        if in_memory > 0 {
            self.front.slot_mut(slot).await_more(1);
            self.look_into_memory(slot, in_memory, now);
        } else if pending == 0 {
            self.send_data(slot, now);
        }
    }

    /// Sets the stream for which operations of write buffer and read cache are recorded from here
    /// on, if anything is recorded.
    #[inline(always)]
    pub(in crate::ssd) fn record_for(&mut self, slot: Option<u32>) {
        if self.flash.is_recorded() {
            let stream = slot.map(|slot| self.front.owner_of(slot).1);
            self.flash.record_for(stream);
        }
    }

    /// Reads only those pages of `run` that the write buffer does not hold. Returns how many it
    /// holds.
    fn read_past_buffer(&mut self, run: PageRun) -> Result<u32, drivelab_ftl::FirmwareError> {
        let mut held = 0;
        for page in 0..run.pages {
            let first = Lpn(run.first.0 + page);
            if self.buffer.holds(first.0) {
                held += 1;
            } else {
                self.ask_firmware(PageRun {
                    first,
                    pages: 1,
                    ..run
                })?;
            }
        }
        self.counters.buffer_hit_pages += u64::from(held);
        Ok(held)
    }

    /// A flash operation that request `slot` waits for completed.
    #[inline(always)]
    pub(in crate::ssd) fn page_done(&mut self, slot: u32, parts: Parts, now: u64) {
        let has_link = self.front.times.has_link();
        let entry = self.front.slot_mut(slot);
        if entry.has_all() {
            entry.end_in_flash(&parts);
            if has_link && entry.command().kind == CommandKind::Read {
                self.send_data(slot, now);
            } else if self.front.times.has_interrupts {
                self.post(slot, now);
            } else {
                self.complete(slot, now);
            }
        }
    }

    #[inline(always)]
    pub(in crate::ssd) fn send_data(&mut self, slot: u32, now: u64) {
        let bytes = u64::from(self.front.slot(slot).command().size_bytes);
        self.put_on_link(
            slot,
            Job::ReadData,
            self.front.times.link_transfer(bytes),
            now,
        );
    }

    /// Completes a request that did not go straight from the flash to the host.
    #[inline(always)]
    pub(in crate::ssd) fn complete_at_host(&mut self, slot: u32, now: u64) {
        if self.front.times.has_interrupts {
            self.post(slot, now);
        } else {
            self.complete(slot, now);
        }
    }

    /// Queues a completion for an interrupt to the host.
    #[inline(never)]
    fn post(&mut self, slot: u32, now: u64) {
        let next = self.front.post(slot, now);
        self.timeline.events.set_side(INTERRUPT, next);
    }

    /// The host serves an interrupt, or completions have waited long enough for one.
    pub(super) fn interrupt_event(&mut self, now: u64) {
        while let Some(slot) = self.front.told(now) {
            self.complete(slot, now);
        }
        let next = self.front.next_interrupt();
        self.timeline.events.set_side(INTERRUPT, next);
    }

    /// A request is complete.
    #[inline(always)]
    fn complete(&mut self, slot: u32, now: u64) {
        if self.firmware.zones().is_some() {
            self.leave_zone(slot, now);
        }
        if self.is_owned {
            // The slot becomes vacant when the owner has taken its content.
            self.completed.push(slot);
            self.leave(slot, now);
        } else {
            self.complete_own(slot, now);
        }
    }

    /// A request of the drive's owner leaves the drive.
    #[inline(always)]
    pub(in crate::ssd) fn leave(&mut self, slot: u32, now: u64) {
        let (_, pair) = self.end_request(slot, now);
        self.take_next(pair, now);
    }

    /// Finishes the parts of a request: latency that belongs neither to buffer nor flash is the
    /// host's. Returns the latency and the queue pair.
    #[inline(always)]
    fn end_request(&mut self, slot: u32, now: u64) -> (u64, u16) {
        let entry = self.front.slot_mut(slot);
        let (latency, pair) = (entry.end(now), entry.pair());
        self.background.complete(now);
        (latency, pair)
    }

    /// A request of the drive's own users is complete.
    #[inline(never)]
    fn complete_own(&mut self, slot: u32, now: u64) {
        let stream = self.front.slot(slot).stream();
        let (latency, pair) = self.end_request(slot, now);
        self.front.vacate(slot);
        self.count_completion(slot, stream, latency, now);
        self.take_next(pair, now);
        if self.users.goes_on(stream) {
            self.submit_following(stream, now);
        } else if self.users.has_waiting {
            self.submit_waiting(now);
        }
    }

    /// Streams that wait for their share, or were held, submit what they may.
    #[inline(never)]
    pub(in crate::ssd) fn submit_waiting(&mut self, now: u64) {
        while self.failure.is_none()
            && let Some(stream) = self.users.next_waiting(now)
        {
            self.submit_next(stream, now);
        }
        if self.users.have_caught_up() {
            self.schedule_arrival();
        }
    }

    /// A command has left a queue pair.
    #[inline(always)]
    pub(super) fn take_next(&mut self, pair: u16, now: u64) {
        if let Some(next) = self.front.leaves(pair) {
            self.enter_device(next, now);
        }
    }
}
