//! A request between submission and completion.

use drivelab_ftl::{Action, Lpn, PageRun};
use drivelab_request::{Command, CommandKind, Content, Nanos, Request, ZoneAction};

use crate::ssd::account::split::{PARTS, Part, Parts};

/// A request between submission and completion. It fills two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Slot {
    pub(super) command: Command,
    /// Its pages except the first, which follows from the command.
    pub(super) pages: Pages,
    /// Its stream and its queue pair.
    pub(super) stream: u16,
    pub(super) pair: u16,
    /// The number by which the owner of the drive knows it, if there is an owner.
    pub(super) number: u32,
    pub(super) submitted: u64,
    /// When it reached its current stage: the drive, the flash.
    pub(super) since: u64,
    /// The parts of its latency so far. The host's part is the remainder.
    pub(super) parts: [u64; PARTS],
    /// How many things it still waits for: flash operations, pages from memory, pieces.
    pub(super) pending: u32,
    /// Pages of a buffered write that already have space in the buffer.
    pub(super) reserved: u32,
}

const _: () = assert!(size_of::<Slot>() == 128);

impl Slot {
    pub const VACANT: Self = Self {
        command: Command::flush(Nanos::ZERO),
        pages: Pages {
            action: Action::Trim,
            count: 0,
            first_partial: false,
            last_partial: false,
            content: Content::Random,
        },
        stream: 0,
        pair: 0,
        number: 0,
        submitted: 0,
        since: 0,
        parts: [0; PARTS],
        pending: 0,
        reserved: 0,
    };

    /// The host's command.
    #[inline(always)]
    pub fn command(&self) -> &Command {
        &self.command
    }

    /// Its stream.
    #[inline(always)]
    pub fn stream(&self) -> u16 {
        self.stream
    }

    /// Its queue pair.
    #[inline(always)]
    pub fn pair(&self) -> u16 {
        self.pair
    }

    /// The number by which the owner of the drive knows it, if there is an owner.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        self.number
    }

    #[inline(always)]
    pub fn submitted(&self) -> u64 {
        self.submitted
    }

    /// What is done with its pages.
    #[inline(always)]
    pub fn action(&self) -> Action {
        self.pages.action
    }

    /// Its number of pages.
    #[inline(always)]
    pub fn pages(&self) -> u32 {
        self.pages.count
    }

    /// Its pages, each of `1 << page_shift` bytes.
    #[inline(always)]
    pub fn run(&self, page_shift: u32) -> PageRun {
        let pages = &self.pages;
        PageRun {
            action: pages.action,
            first: Lpn((self.command.offset_bytes >> page_shift) as u32),
            pages: pages.count,
            first_partial: pages.first_partial,
            last_partial: pages.last_partial,
            content: pages.content,
        }
    }

    /// Changes its offset.
    pub fn go_to(&mut self, offset_bytes: u64) {
        self.command.offset_bytes = offset_bytes;
    }

    /// Sets the bytes that it concerns.
    pub fn name_bytes(&mut self, size_bytes: u32) {
        self.command.size_bytes = size_bytes;
    }

    /// Marks it as refused: its data is dropped and nothing is done.
    pub fn lose_data(&mut self) {
        self.name_bytes(0);
        self.command.kind = CommandKind::Trim;
        self.command.is_forced = false;
        self.command.zone = ZoneAction::None;
        self.pages.action = Action::Trim;
        self.pages.count = 0;
    }

    /// It reached another stage.
    #[inline(always)]
    pub fn begin_stage(&mut self, now: u64) {
        self.since = now;
    }

    /// Sets the number of things it waits for.
    #[inline(always)]
    pub fn await_all(&mut self, count: u32) {
        self.pending = count;
    }

    /// Adds to the number of things it waits for.
    #[inline(always)]
    pub fn await_more(&mut self, count: u32) {
        self.pending += count;
    }

    /// One thing it waited for arrived. Returns whether it was the last.
    #[inline(always)]
    pub fn has_all(&mut self) -> bool {
        self.pending -= 1;
        self.pending == 0
    }

    /// Whether it waits for anything.
    #[inline(always)]
    pub fn is_waiting(&self) -> bool {
        self.pending > 0
    }

    /// Pages of a buffered write that have no space in the buffer yet.
    #[inline(always)]
    pub fn without_space(&self) -> u32 {
        self.pages.count - self.reserved
    }

    /// The next `pages` of it have space. Returns the first of them.
    #[inline(always)]
    pub fn reserve(&mut self, pages: u32) -> u32 {
        let first = self.reserved;
        self.reserved += pages;
        first
    }

    /// The parts of its latency so far.
    #[inline(always)]
    pub fn parts(&self) -> &[u64; PARTS] {
        &self.parts
    }

    /// Adds `nanos` to a part of its latency.
    #[inline(always)]
    pub fn add_part(&mut self, part: Part, nanos: u64) {
        self.parts[part as usize] += nanos;
    }

    /// Counts the current stage towards a part.
    #[inline(always)]
    pub fn end_stage(&mut self, part: Part, now: u64) {
        self.add_part(part, now - self.since);
    }

    /// The current stage was this flash operation, and nothing came before it.
    #[inline(always)]
    pub fn end_in_flash(&mut self, last: &Parts) {
        last.put_latency(self.since, &mut self.parts);
    }

    /// The same, but other parts of its latency remain.
    #[inline(always)]
    pub fn add_flash(&mut self, last: &Parts, now: u64) {
        let in_flash = last.of_time(self.since, now);
        for (part, nanos) in self.parts.iter_mut().zip(in_flash) {
            *part += nanos;
        }
    }

    /// It completes: the rest of its latency is the host's part. Returns its latency.
    #[inline(always)]
    pub fn end(&mut self, now: u64) -> u64 {
        let latency = now - self.submitted;
        self.parts[Part::Host as usize] = latency - self.parts.iter().sum::<u64>();
        latency
    }

    /// It completes with a flash operation, and nothing else came before or after. Returns its
    /// latency and the parts of it.
    #[inline(always)]
    pub fn end_with(&self, last: &Parts, now: u64) -> (u64, [u64; PARTS]) {
        let mut parts = [0; PARTS];
        last.put_latency(self.since, &mut parts);
        parts[Part::Host as usize] = self.since - self.submitted;
        (now - self.submitted, parts)
    }

    /// The slot is used again for the next request of its stream, which differs from the last one in
    /// nothing else. It waits for one thing.
    #[inline(always)]
    pub fn begin_again(&mut self, request: &Request, run: &PageRun, now: u64) {
        self.command.offset_bytes = request.offset_bytes;
        self.command.size_bytes = request.size_bytes;
        self.command.kind = request.direction.into();
        self.pages.action = run.action;
        self.pages.count = run.pages;
        self.pages.first_partial = run.first_partial;
        self.pages.last_partial = run.last_partial;
        self.submitted = now;
        self.since = now;
        self.pending = 1;
    }

    /// Bytes of `pages` pages from `first` on. The request is handled page by page of its run.
    #[inline(always)]
    pub fn bytes_of(&self, first: u32, pages: u32) -> u64 {
        let size = u64::from(self.command.size_bytes);
        if pages == self.pages.count {
            return size;
        }
        let share = |pages: u32| size * u64::from(pages) / u64::from(self.pages.count);
        share(first + pages) - share(first)
    }

    /// The same of what crosses the link: zeroes are not sent.
    #[inline(always)]
    pub fn link_bytes_of(&self, first: u32, pages: u32) -> u64 {
        match self.command.kind {
            CommandKind::WriteZeroes => 0,
            _ => self.bytes_of(first, pages),
        }
    }
}

/// A [`PageRun`] without its first page.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    pub action: Action,
    pub count: u32,
    pub first_partial: bool,
    pub last_partial: bool,
    pub content: Content,
}
