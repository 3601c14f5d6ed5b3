//! The part of a command that lies on one page: the front end hands it to a worker, and the worker
//! hands it back.

use crate::geometry::PAGE_SECTORS;
use crate::handoff::Descriptor;
use crate::nvme::Status;

/// The work to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Sectors of a page to the host.
    Read,
    /// Sectors of a page from the host.
    Write,
    /// The same, complete only when the page is on the flash.
    WriteForced,
    /// Give up the worker's pages of a run.
    Trim,
    /// Bring everything that the worker has taken before to the flash.
    Flush,
}

/// A piece of work for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The work.
    pub work: Work,
    /// The command it belongs to.
    pub context: u16,
    /// The logical page, or the first of a run.
    pub logical: u32,
    /// The first sector of the page.
    pub first: u8,
    /// Number of sectors, from 1 to 32.
    pub sectors: u8,
    /// Where their part of the command's data begins, in sectors.
    pub transfer: u16,
    /// Pages of the run that a trim gives up.
    pub pages: u32,
}

impl Segment {
    /// The sectors, one bit each.
    #[inline]
    #[must_use]
    pub fn mask(&self) -> u32 {
        let all = u64::from(u32::MAX) >> (PAGE_SECTORS - u32::from(self.sectors).min(PAGE_SECTORS));
        (all << self.first) as u32
    }
}

impl Descriptor for Segment {
    #[inline]
    fn pack(self) -> [u64; 2] {
        let work = self.work as u64;
        [
            u64::from(self.logical) | u64::from(self.context) << 32 | work << 48,
            u64::from(self.pages)
                | u64::from(self.transfer) << 32
                | u64::from(self.first) << 48
                | u64::from(self.sectors) << 56,
        ]
    }

    #[inline]
    fn unpack([first, second]: [u64; 2]) -> Self {
        Self {
            work: match first >> 48 {
                0 => Work::Read,
                1 => Work::Write,
                2 => Work::WriteForced,
                3 => Work::Trim,
                _ => Work::Flush,
            },
            context: (first >> 32) as u16,
            logical: first as u32,
            first: (second >> 48) as u8,
            sectors: (second >> 56) as u8,
            transfer: (second >> 32) as u16,
            pages: second as u32,
        }
    }
}

/// A segment is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentDone {
    /// The command it belongs to.
    pub context: u16,
    /// How it ended.
    pub status: Status,
}

impl Descriptor for SegmentDone {
    #[inline]
    fn pack(self) -> [u64; 2] {
        [self.context.into(), self.status.0.into()]
    }

    #[inline]
    fn unpack([context, status]: [u64; 2]) -> Self {
        Self {
            context: context as u16,
            status: Status(status as u16),
        }
    }
}
