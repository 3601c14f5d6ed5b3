//! A request between submission and completion.

use drivelab_ftl::Action;
use drivelab_request::{Command, Content};

use crate::ssd::account::split::PARTS;

/// A request between submission and completion; two lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
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
pub(crate) struct Pages {
    pub action: Action,
    pub count: u32,
    pub first_partial: bool,
    pub last_partial: bool,
    pub content: Content,
}
