//! The link between host and drive: one direction at a time, or both at once.

use std::hint::select_unpredictable;

use crate::event::EventKey;
use crate::preset::HostInterface;
use crate::ssd::ring::Ring;

/// What crosses the link.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    ReadCommand,
    /// A command without data: a trim or a flush.
    Command,
    ReadData,
    /// Pages `first .. first + pages` of the request's run arrive.
    WriteData {
        first: u32,
        pages: u32,
    },
}

impl Job {
    /// Packs the job into whole words. If it were written in parts and read as a whole soon after,
    /// the read would wait until every part has reached the CPU's cache.
    #[inline(always)]
    const fn packed(self) -> (u64, u64) {
        match self {
            Self::ReadCommand => (0, 0),
            Self::Command => (1, 0),
            Self::ReadData => (2, 0),
            Self::WriteData { first, pages } => (3, (pages as u64) << 32 | first as u64),
        }
    }

    #[inline(always)]
    const fn unpacked(kind: u64, pages: u64) -> Self {
        match kind {
            0 => Self::ReadCommand,
            1 => Self::Command,
            2 => Self::ReadData,
            _ => Self::WriteData {
                first: pages as u32,
                pages: (pages >> 32) as u32,
            },
        }
    }
}

/// A job in progress, and when it ends.
#[derive(Clone, Copy, Debug, Default)]
struct LinkJob {
    end: u64,
    /// The kind of the job in the bits above the slot of its request.
    kind_and_slot: u64,
    pages: u64,
}

impl LinkJob {
    #[inline(always)]
    fn unpacked(self) -> (u32, Job) {
        let job = Job::unpacked(self.kind_and_slot >> 32, self.pages);
        (self.kind_and_slot as u32, job)
    }
}

/// One direction: the job that is crossing, and the jobs that wait behind it.
#[derive(Clone, Debug)]
struct Lane {
    jobs: Ring<LinkJob>,
    /// When the first job has crossed, or [`NEVER`].
    end: u64,
    free_at: u64,
}

impl Lane {
    fn idle() -> Self {
        Self {
            jobs: Ring::default(),
            end: NEVER,
            free_at: 0,
        }
    }

    fn reset(&mut self) {
        self.jobs.clear();
        self.end = NEVER;
        self.free_at = 0;
    }

    /// Adds a job. Returns when it ends.
    #[inline(always)]
    fn put(&mut self, kind_and_slot: u64, pages: u64, time: u64, now: u64) -> u64 {
        let end = self.free_at.max(now) + time;
        self.free_at = end;
        // Jobs before it end earlier.
        self.end = self.end.min(end);
        self.jobs.push(LinkJob {
            end,
            kind_and_slot,
            pages,
        });
        end
    }

    #[inline(always)]
    fn take(&mut self) -> LinkJob {
        let done = self.jobs.pop().unwrap_or_default();
        self.end = self.jobs.of_front(|job| job.end, NEVER);
        done
    }
}

/// The link. Its first lane carries commands and data to the drive. Data to the host uses the
/// second lane, or the first if there is only one. A lane carries one job at a time, first come,
/// first served.
///
/// Its events are not in the event tree. Every request crosses the link, so [`Link::next`] is
/// instead compared with the first event of the tree.
#[derive(Clone, Debug)]
pub(super) struct Link {
    lanes: [Lane; 2],
    to_host: usize,
    leaf: usize,
    next: EventKey,
}

const NEVER: u64 = u64::MAX;

impl Link {
    /// A link whose events have the place `leaf` among others at the same time.
    pub fn new(interface: HostInterface, leaf: usize) -> Self {
        let is_full_duplex = matches!(interface, HostInterface::Sas | HostInterface::Nvme);
        Self {
            lanes: [Lane::idle(), Lane::idle()],
            to_host: usize::from(is_full_duplex),
            leaf,
            next: EventKey::NEVER,
        }
    }

    pub fn reset(&mut self) {
        self.lanes.iter_mut().for_each(Lane::reset);
        self.next = EventKey::NEVER;
    }

    /// Whether nothing is crossing to the drive, so that a command that takes no time arrives at
    /// once.
    #[inline(always)]
    pub fn is_free(&self, now: u64) -> bool {
        self.lanes[0].end == NEVER && self.lanes[0].free_at <= now
    }

    /// When the first job of all lanes has crossed.
    #[inline(always)]
    pub fn next(&self) -> EventKey {
        self.next
    }

    #[inline(always)]
    const fn lane_of(&self, job: Job) -> usize {
        match job {
            Job::ReadData => self.to_host,
            Job::ReadCommand | Job::Command | Job::WriteData { .. } => 0,
        }
    }

    /// Adds a job that takes `time` to its lane.
    #[inline(always)]
    pub fn put(&mut self, slot: u32, job: Job, time: u64, now: u64) {
        let lane = self.lane_of(job);
        let (kind, pages) = job.packed();
        let end = self.lanes[lane % 2].put(kind << 32 | u64::from(slot), pages, time, now);
        // If another job is crossing already, that one ends earlier.
        self.next = self.next.min(EventKey::new(end, self.leaf));
    }

    /// Takes the job that ends first. On a tie, the one to the drive.
    #[inline(always)]
    pub fn take(&mut self) -> (u32, Job) {
        let is_second = self.lanes[1].end < self.lanes[0].end;
        let done = self.lanes[usize::from(is_second)].take();
        let first = self.lanes[0].end.min(self.lanes[1].end);
        let next = EventKey::new(first, self.leaf);
        self.next = select_unpredictable(first == NEVER, EventKey::NEVER, next);
        done.unpacked()
    }
}
