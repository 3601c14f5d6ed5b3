//! The link between host and drive: one way at a time, or both at once.

use std::collections::VecDeque;

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
#[derive(Clone, Copy, Debug)]
struct LinkJob {
    end: u64,
    /// The kind of the job above the slot of its request.
    kind_and_slot: u64,
    pages: u64,
}

/// The link: commands and data to the drive on its first lane; data to the host on
/// its second, or on the first where there is but one. A lane carries one thing at a
/// time, first come, first served.
#[derive(Clone, Debug)]
pub(super) struct Link {
    lanes: [VecDeque<LinkJob>; 2],
    free_at: [u64; 2],
    /// When the first job of each lane ends.
    ends: [u64; 2],
    to_host: usize,
}

const NEVER: u64 = u64::MAX;

impl Link {
    pub fn new(interface: HostInterface) -> Self {
        let is_full_duplex = matches!(interface, HostInterface::Sas | HostInterface::Nvme);
        Self {
            lanes: [VecDeque::new(), VecDeque::new()],
            free_at: [0; 2],
            ends: [NEVER; 2],
            to_host: usize::from(is_full_duplex),
        }
    }

    pub fn reset(&mut self) {
        self.lanes.iter_mut().for_each(VecDeque::clear);
        self.free_at = [0; 2];
        self.ends = [NEVER; 2];
    }

    /// Whether nothing crosses to the drive: what takes no time is there at once.
    #[inline(always)]
    pub fn is_free(&self, now: u64) -> bool {
        self.ends[0] == NEVER && self.free_at[0] <= now
    }

    /// Puts a job that takes `time` behind the others of its lane; answers when the
    /// first of all ends, if that has changed.
    #[inline(always)]
    pub fn put(&mut self, slot: u32, job: Job, time: u64, now: u64) -> Option<u64> {
        let lane = match job {
            Job::ReadData => self.to_host,
            Job::ReadCommand | Job::Command | Job::WriteData { .. } => 0,
        };
        let (kind, pages) = job.packed();
        self.put_packed(lane, kind << 32 | u64::from(slot), pages, (time, now))
    }

    #[inline(never)]
    fn put_packed(
        &mut self,
        lane: usize,
        kind_and_slot: u64,
        pages: u64,
        (time, now): (u64, u64),
    ) -> Option<u64> {
        let end = self.free_at[lane].max(now) + time;
        self.free_at[lane] = end;
        self.lanes[lane].push_back(LinkJob {
            end,
            kind_and_slot,
            pages,
        });
        if self.ends[lane] != NEVER {
            return None;
        }
        self.ends[lane] = end;
        Some(end.min(self.ends[1 - lane]))
    }

    /// Takes the job that ends first, that to the drive of two; and when the next ends.
    #[inline(always)]
    pub fn take(&mut self) -> (Option<(u32, Job)>, Option<u64>) {
        let lane = usize::from(self.ends[1] < self.ends[0]);
        let jobs = &mut self.lanes[lane];
        let done = jobs.pop_front();
        self.ends[lane] = jobs.front().map_or(NEVER, |job| job.end);
        let next = self.ends[0].min(self.ends[1]);
        let done = done.map(|done| {
            let job = Job::unpacked(done.kind_and_slot >> 32, done.pages);
            (done.kind_and_slot as u32, job)
        });
        (done, (next != NEVER).then_some(next))
    }
}
