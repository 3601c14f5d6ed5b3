//! The oracle's write buffer, and commands without data.

use std::collections::VecDeque;

use drivelab_ftl::{Action, Cause, Lpn, OperationBuffer, OperationKind, PageRun};
use drivelab_request::{Command, CommandKind, Content};
use drivelab_sim::preset::BufferPolicy;
use drivelab_sim::ssd::Part;

use super::cores::{Done, Then};
use super::zeroes::sent_bytes;
use super::{Beneficiary, Crossing, Held, World};
use crate::drives::story::Entry;

impl World {
    /// Gives space to the first waiting write, then to the next.
    pub(super) fn admit(&mut self) {
        while let Some(&index) = self.wants_buffer.front() {
            let request = self.requests[index].request;
            let total = self.pages_of(&request).count() as u64;
            let before = u64::from(self.requests[index].admitted_pages);
            let wanted = total - before;
            let free = self.buffer_pages() - self.buffer_used;
            let quarter = self.buffer_pages().div_ceil(4);
            let granted = if free >= wanted {
                wanted
            } else if free >= quarter
                && u64::from(request.size_bytes) > self.config.host.atomic_write_bytes
            {
                free
            } else {
                self.make_space();
                return;
            };
            self.buffer_used += granted;
            self.requests[index].admitted_pages += granted as u32;
            if granted == wanted {
                self.requests[index].tell(Part::Buffer, self.now);
                self.wants_buffer.pop_front();
            }
            let size = sent_bytes(&request);
            let bytes = size * (before + granted) / total - size * before / total;
            let mut time = self.link_time(bytes);
            if before == 0 {
                time += self.command_time(&request);
            }
            let what = Crossing::WriteData(index, before as u32, granted as u32);
            self.cross(time, what);
        }
    }

    pub(super) fn buffer_filled(&mut self, index: usize, first: u32, pages: u32) {
        let request = self.requests[index].request;
        let buffer = &self.config.buffer;
        let is_forced = buffer.policy == BufferPolicy::WriteThrough
            || (request.is_forced && !buffer.flush_at_once);
        let all = self.pages_of(&request);
        let piece = all.start + u64::from(first)..all.start + u64::from(first + pages);
        let is_last = piece.end == all.end;
        let gathers = self.config.buffer.flush_start_bytes > 0;
        if gathers && !is_forced {
            let done = self.for_piece(&request, first, pages);
            if is_last {
                self.requests[index].tell(Part::Host, self.now);
            }
            let then = move |world: &mut Self| {
                world.requests[index].tell(Part::Firmware, world.now);
                world.acknowledge(index);
            };
            let then: Option<Then> = is_last.then(|| Box::new(then) as Then);
            self.works_on_part(Some(index), done, &[], then);
            self.gather(&request, piece);
            self.admit();
            return;
        }
        let mut out = OperationBuffer::default();
        let before = self.ever_buffered;
        for page in piece.clone() {
            let mut run = self.one_page(&request, page);
            if gathers && self.drop_gathered(page) == Some(true) {
                (run.first_partial, run.last_partial) = (false, false);
            }
            let page_held = page as u32;
            // The data is newer than a trim of the waiting copy.
            for held in self.buffered.iter_mut().filter(|h| h.page == page_held) {
                held.is_trimmed = false;
            }
            self.buffered.push(Held {
                number: self.ever_buffered,
                page: page_held,
                is_trimmed: false,
                is_forced,
                is_gathered: false,
                is_whole: false,
            });
            self.ever_buffered += 1;
            self.firmware.submit(&[run], &mut out).unwrap();
        }
        self.requests[index].arrived_pages += pages;
        if is_forced {
            let pending = &mut self.requests[index];
            pending.missing += pages as usize;
        }
        // Its parts are recorded from the arrival of its last piece on.
        if is_last {
            self.requests[index].tell(Part::Host, self.now);
        }
        let mut number = before;
        let mut of = Vec::new();
        for operation in out.operations() {
            let is_program =
                operation.cause == Cause::Host && operation.kind == OperationKind::Program;
            let beneficiary = match (is_program, is_forced) {
                (false, _) => Beneficiary::Nobody,
                (true, true) => Beneficiary::Forced(index, number),
                (true, false) => Beneficiary::Buffer(number),
            };
            number += usize::from(is_program);
            of.push(beneficiary);
        }
        let done = self.for_piece(&request, first, pages);
        let operations = out.operations().to_vec();
        let then = move |world: &mut Self| {
            if is_last {
                world.requests[index].tell(Part::Firmware, world.now);
            }
            world.emit_all(&operations, &of);
            if is_last && !is_forced {
                world.acknowledge(index);
            }
        };
        self.works_on_part(Some(index), done, out.operations(), Some(Box::new(then)));
        if gathers {
            self.admit();
        }
    }

    /// The work on `pages` pages of a write, from `first` on.
    fn for_piece(&self, request: &Command, first: u32, pages: u32) -> Done {
        let total = self.pages_of(request).count() as u64;
        let share = |pages: u32| u64::from(request.size_bytes) * u64::from(pages) / total;
        let bytes = share(first + pages) - share(first);
        self.for_pages(request, pages.into(), bytes, first == 0)
    }

    fn acknowledge(&mut self, index: usize) {
        let at = self.now + self.scaled(self.config.host.write_acknowledge_ns);
        self.acknowledgements.push_back((at, index));
    }

    pub(super) fn gathered(&self) -> usize {
        self.buffered.iter().filter(|held| held.is_gathered).count()
    }

    fn marks(&self) -> (usize, usize) {
        let pages = |bytes: u64| (bytes / self.page_bytes()) as usize;
        let buffer = &self.config.buffer;
        (
            pages(buffer.flush_start_bytes),
            pages(buffer.flush_stop_bytes),
        )
    }

    fn gather(&mut self, request: &Command, pages: std::ops::Range<u64>) {
        for page in pages {
            let is_whole = !self.one_page(request, page).first_partial;
            let same = |held: &&mut Held| u64::from(held.page) == page;
            for held in self.buffered.iter_mut().filter(same) {
                held.is_trimmed = false;
            }
            let mut waiting = self.buffered.iter_mut().filter(same);
            if let Some(held) = waiting.find(|held| held.is_gathered) {
                held.is_whole |= is_whole;
                self.buffer_used -= 1;
                self.journal.push(Entry::Coalesced);
                continue;
            }
            self.buffered.push(Held {
                number: self.ever_buffered,
                page: page as u32,
                is_trimmed: false,
                is_forced: false,
                is_gathered: true,
                is_whole,
            });
            self.ever_buffered += 1;
        }
        let (start, stop) = self.marks();
        if self.gathered() >= start {
            self.push_gathered(stop);
        }
    }

    /// A forced write removes gathered data of its page. Returns whether that was whole.
    fn drop_gathered(&mut self, page: u64) -> Option<bool> {
        let is_it = |held: &Held| u64::from(held.page) == page && held.is_gathered;
        let place = self.buffered.iter().position(is_it)?;
        self.buffer_used -= 1;
        self.journal.push(Entry::Coalesced);
        Some(self.buffered.remove(place).is_whole)
    }

    /// The oldest pages go until `left` are left.
    pub(super) fn push_gathered(&mut self, left: usize) {
        if self.gathered() <= left {
            return;
        }
        let mut out = OperationBuffer::default();
        let mut numbers = VecDeque::new();
        while self.gathered() > left {
            let oldest = self.buffered.iter_mut().find(|held| held.is_gathered);
            let oldest = oldest.unwrap();
            oldest.is_gathered = false;
            numbers.push_back(oldest.number);
            let run = PageRun {
                action: Action::Write,
                first: Lpn(oldest.page),
                pages: 1,
                first_partial: !oldest.is_whole,
                last_partial: !oldest.is_whole,
                content: Content::Random,
            };
            self.firmware.submit(&[run], &mut out).unwrap();
        }
        let mut done = Done::default();
        done.other_pages = numbers.len() as u64;
        let mut of = Vec::new();
        for operation in out.operations() {
            let is_program =
                operation.cause == Cause::Host && operation.kind == OperationKind::Program;
            let beneficiary = if is_program {
                Beneficiary::Buffer(numbers.pop_front().unwrap())
            } else {
                Beneficiary::Nobody
            };
            of.push(beneficiary);
        }
        let operations = out.operations().to_vec();
        let then = move |world: &mut Self| world.emit_all(&operations, &of);
        self.firmware_works(done, out.operations(), Box::new(then));
    }

    /// A write finds no space.
    fn make_space(&mut self) {
        let (_, stop) = self.marks();
        if self.gathered() > stop {
            self.push_gathered(stop);
        }
        let all_wait = self.gathered() as u64 == self.buffer_used;
        if all_wait && self.buffer_used > 0 {
            self.push_gathered(0);
        }
    }

    /// A trim or a flush has arrived.
    pub(super) fn without_data(&mut self, index: usize) {
        self.requests[index].tell(Part::Host, self.now);
        let done = self.for_pages(&self.requests[index].request, 0, 0, true);
        let then = move |world: &mut Self| {
            world.requests[index].tell(Part::Firmware, world.now);
            world.begin_without_data(index);
        };
        self.firmware_works(done, &[], Box::new(then));
    }

    fn begin_without_data(&mut self, index: usize) {
        let request = self.requests[index].request;
        if request.kind == CommandKind::Flush {
            if self.config.buffer.flush_at_once {
                return self.complete(index);
            }
            self.push_gathered(0);
            let waits = self.buffered.iter().filter(|held| !held.is_forced);
            let waits: Vec<usize> = waits.map(|held| held.number).collect();
            if waits.is_empty() {
                self.complete(index);
            } else {
                self.flushes.push((index, waits));
            }
            return;
        }
        for page in self.pages_of(&request) {
            let run = self.one_page(&request, page);
            if !run.first_partial {
                let is_it = |held: &Held| u64::from(held.page) == page && held.is_gathered;
                let before = self.buffered.len();
                self.buffered.retain(|held| !is_it(held));
                self.buffer_used -= (before - self.buffered.len()) as u64;
                let same = |held: &&mut Held| u64::from(held.page) == page;
                self.buffered
                    .iter_mut()
                    .filter(same)
                    .for_each(|held| held.is_trimmed = true);
            }
        }
        let (start, size) = (request.offset_bytes, request.size_bytes);
        let run = PageRun::covering(Action::Trim, start, size, self.page_bytes() as u32);
        let mut out = OperationBuffer::default();
        self.firmware.submit(&[run], &mut out).unwrap();
        let of = vec![Beneficiary::Nobody; out.operations().len()];
        if !of.is_empty() {
            let operations = out.operations().to_vec();
            let then = move |world: &mut Self| world.emit_all(&operations, &of);
            self.firmware_works(Done::default(), out.operations(), Box::new(then));
        }
        self.complete(index);
        self.admit();
    }

    /// A page of the buffer is programmed: there is space, and flushes may complete.
    pub(super) fn buffered_page_done(&mut self, number: usize) {
        self.buffer_used -= 1;
        self.buffered.retain(|held| held.number != number);
        self.admit();
        for (_, waits) in &mut self.flushes {
            waits.retain(|&waits| waits != number);
        }
        while let Some(place) = self.flushes.iter().position(|(_, waits)| waits.is_empty()) {
            let (index, _) = self.flushes.remove(place);
            self.requests[index].tell(Part::Buffer, self.now);
            self.complete(index);
        }
    }
}
