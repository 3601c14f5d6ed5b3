//! The link between host and drive: one way at a time, or both at once.

use std::collections::VecDeque;

use crate::preset::HostInterface;

/// What crosses the link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    ReadCommand,
    ReadData,
    /// Pages `first .. first + pages` of the request's run arrive.
    WriteData {
        first: u32,
        pages: u32,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LinkJob {
    pub end: u64,
    pub slot: u32,
    pub job: Job,
}

/// A lane carries one thing at a time, first come, first served.
#[derive(Clone, Debug, Default)]
struct Lane {
    free_at: u64,
    jobs: VecDeque<LinkJob>,
}

impl Lane {
    fn first_end(&self) -> u64 {
        self.jobs.front().map_or(u64::MAX, |job| job.end)
    }
}

/// The link: commands and data to the drive on its first lane; data to the host on
/// its second, or on the first where there is but one.
#[derive(Clone, Debug)]
pub(super) struct Link {
    lanes: [Lane; 2],
    to_host: usize,
}

impl Link {
    pub fn new(interface: HostInterface) -> Self {
        let is_full_duplex = matches!(interface, HostInterface::Sas | HostInterface::Nvme);
        Self {
            lanes: [Lane::default(), Lane::default()],
            to_host: usize::from(is_full_duplex),
        }
    }

    pub fn reset(&mut self) {
        self.lanes = [Lane::default(), Lane::default()];
    }

    /// Puts a job that takes `time` behind the others of its lane; answers when the
    /// first of all ends, if that is this one.
    #[inline]
    pub fn put(&mut self, slot: u32, job: Job, time: u64, now: u64) -> Option<u64> {
        let lane = match job {
            Job::ReadData => self.to_host,
            Job::ReadCommand | Job::WriteData { .. } => 0,
        };
        let other_end = self.lanes[1 - lane].first_end();
        let lane = &mut self.lanes[lane];
        let end = lane.free_at.max(now) + time;
        lane.free_at = end;
        let is_first = lane.jobs.is_empty() && end < other_end;
        lane.jobs.push_back(LinkJob { end, slot, job });
        is_first.then_some(end)
    }

    /// Takes the job that ends first, that to the drive of two; and when the next ends.
    #[inline]
    pub fn take(&mut self) -> (Option<LinkJob>, Option<u64>) {
        let [to_drive, to_host] = &mut self.lanes;
        let done = if to_drive.first_end() <= to_host.first_end() {
            to_drive.jobs.pop_front()
        } else {
            to_host.jobs.pop_front()
        };
        let next = to_drive.first_end().min(to_host.first_end());
        (done, (next != u64::MAX).then_some(next))
    }
}
