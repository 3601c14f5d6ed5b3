//! A request between submission and completion.

use drivelab_ftl::{Action, Lpn, PageRun};
use drivelab_request::{Command, Content, Nanos};

use crate::ssd::account::split::PARTS;

/// A request between submission and completion; two lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Slot {
    pub command: Command,
    /// Its pages, but for the first: that follows from the command.
    pub pages: Pages,
    /// Whose it is, and through which queue pair it came.
    pub stream: u16,
    pub pair: u16,
    /// What the owner of the drive knows it by, if it has one.
    pub number: u32,
    pub submitted: u64,
    /// When it came as far as it is: into the drive, into the flash.
    pub since: u64,
    /// Where its latency went so far; the host's part is what the others leave.
    pub parts: [u64; PARTS],
    /// Flash operations it still waits for.
    pub pending: u32,
    /// Pages of a buffered write that have space in the buffer already.
    pub reserved: u32,
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

    /// Its pages, of so many bytes each.
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

    /// Something that it waited for is there; answers whether that was the last.
    #[inline(always)]
    pub fn has_all(&mut self) -> bool {
        self.pending -= 1;
        self.pending == 0
    }

    /// Bytes of so many of its pages from `first` on: it is taken page by page of its run.
    #[inline(always)]
    pub fn bytes_of(&self, first: u32, pages: u32) -> u64 {
        let size = u64::from(self.command.size_bytes);
        if pages == self.pages.count {
            return size;
        }
        let share = |pages: u32| size * u64::from(pages) / u64::from(self.pages.count);
        share(first + pages) - share(first)
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
