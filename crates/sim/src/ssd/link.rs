//! The link between host and drive: one way at a time, or both at once.

use super::ring::Ring;
use crate::preset::HostInterface;

/// What crosses the link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    ReadCommand,
    /// What has no data: a trim, a flush.
    Command,
    ReadData,
    /// Pages `first .. first + pages` of the request's run arrive.
    WriteData {
        first: u32,
        pages: u32,
    },
}

impl Job {
    /// It in whole words. What is written in parts and read as a whole soon after waits
    /// until every part has reached the cache.
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

/// A job on its way, and when it ends.
#[derive(Clone, Copy, Debug, Default)]
struct LinkJob {
    end: u64,
    /// The kind of the job above the slot of its request.
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

/// The link: commands and data to the drive on its first lane; data to the host on
/// its second, or on the first where there is but one. A lane carries one thing at a
/// time, first come, first served.
///
/// A job that finds its lane free is held back: if nothing else happens before it ends, it
/// needs neither a place in the lane nor an event.
#[derive(Clone, Debug)]
pub(super) struct Link {
    lanes: [Ring<LinkJob>; 2],
    free_at: [u64; 2],
    /// When the first job of each lane ends, the one held back included.
    ends: [u64; 2],
    to_host: usize,
    /// The job held back, on its lane.
    held: LinkJob,
    held_on: Option<u8>,
}

const NEVER: u64 = u64::MAX;

impl Link {
    pub fn new(interface: HostInterface) -> Self {
        let is_full_duplex = matches!(interface, HostInterface::Sas | HostInterface::Nvme);
        Self {
            lanes: Default::default(),
            free_at: [0; 2],
            ends: [NEVER; 2],
            to_host: usize::from(is_full_duplex),
            held: LinkJob::default(),
            held_on: None,
        }
    }

    pub fn reset(&mut self) {
        self.lanes.iter_mut().for_each(Ring::clear);
        self.free_at = [0; 2];
        self.ends = [NEVER; 2];
        self.held_on = None;
    }

    /// Whether nothing crosses to the drive: what takes no time is there at once.
    #[inline(always)]
    pub fn is_free(&self, now: u64) -> bool {
        self.ends[0] == NEVER && self.free_at[0] <= now
    }

    #[inline(always)]
    const fn lane_of(&self, job: Job) -> usize {
        match job {
            Job::ReadData => self.to_host,
            Job::ReadCommand | Job::Command | Job::WriteData { .. } => 0,
        }
    }

    /// Puts a job that takes `time` on its lane; answers whether it is held back.
    #[inline(always)]
    pub fn put(&mut self, slot: u32, job: Job, time: u64, now: u64) -> bool {
        let lane = self.lane_of(job);
        let end = self.free_at[lane].max(now) + time;
        self.free_at[lane] = end;
        let (kind, pages) = job.packed();
        let kind_and_slot = kind << 32 | u64::from(slot);
        if self.ends[lane] == NEVER && self.held_on.is_none() {
            self.ends[lane] = end;
            self.held_on = Some(lane as u8);
            self.held.end = end;
            self.held.kind_and_slot = kind_and_slot;
            self.held.pages = pages;
            return true;
        }
        self.queue(lane, end, kind_and_slot, pages);
        false
    }

    #[inline(never)]
    fn queue(&mut self, lane: usize, end: u64, kind_and_slot: u64, pages: u64) {
        self.release();
        self.ends[lane] = self.ends[lane].min(end);
        self.lanes[lane].push(LinkJob {
            end,
            kind_and_slot,
            pages,
        });
    }

    /// When the job held back ends.
    #[inline(always)]
    pub fn held_until(&self) -> Option<u64> {
        self.held_on.map(|_| self.held.end)
    }

    /// The job held back goes to its lane.
    #[inline(always)]
    pub fn release(&mut self) {
        if let Some(lane) = self.held_on.take() {
            self.lanes[usize::from(lane)].push(self.held);
        }
    }

    /// When the first job of all ends.
    #[inline(always)]
    pub fn next_end(&self) -> Option<u64> {
        let next = self.ends[0].min(self.ends[1]);
        (next != NEVER).then_some(next)
    }

    /// Takes the job held back.
    #[inline(always)]
    pub fn take_held(&mut self) -> Option<(u32, Job)> {
        let lane = self.held_on.take()?;
        self.ends[usize::from(lane)] = NEVER;
        Some(self.held.unpacked())
    }

    /// Takes the job that ends first, that to the drive of two.
    #[inline(always)]
    pub fn take(&mut self) -> Option<(u32, Job)> {
        let lane = usize::from(self.ends[1] < self.ends[0]);
        let jobs = &mut self.lanes[lane];
        let done = jobs.pop();
        self.ends[lane] = jobs.front().map_or(NEVER, |job| job.end);
        done.map(LinkJob::unpacked)
    }
}
