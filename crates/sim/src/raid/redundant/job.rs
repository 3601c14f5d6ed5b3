//! A job of a row: reads, then computing parity, then writes.
//!
//! ```text
//!   begun ── reads ── all complete ── computed ── writes ── all complete: the row is free
//! ```

use drivelab_request::{Command, CommandKind, Content};

use super::Redundant;
use super::commands::Owner;
use super::rebuild::plain;
use super::timers::Timer;
use crate::host::{Completion, PARTS, SimError};
use crate::raid::rows::Holds;
use crate::raid::update::{Method, Work};

/// The purpose of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Writes of the host.
    Write,
    /// Reads of the host when a member is missing.
    Read,
    /// Trims of whole rows.
    Trim,
    /// Rebuilding a member's chunk.
    Rebuild,
}

/// A job.
pub struct Job {
    pub row: u64,
    pub kind: JobKind,
    pub work: Work,
    /// The host commands that it is a part of.
    pub hosts: Vec<u32>,
    /// The command that is written for the host, without its offset.
    pub command: Command,
    /// Bytes of the cache that it uses.
    pub cached_bytes: u64,
    /// Number of operations of the current step that are not complete.
    pub pending: u32,
    pub is_writing: bool,
    /// How the time in members divides into parts.
    pub parts: [u64; PARTS],
}

impl Job {
    pub fn new(row: u64, kind: JobKind, work: Work) -> Self {
        Self {
            row,
            kind,
            work,
            hosts: Vec::new(),
            command: plain(CommandKind::Write),
            cached_bytes: 0,
            pending: 0,
            is_writing: false,
            parts: [0; PARTS],
        }
    }
}

/// The jobs in progress.
#[derive(Default)]
pub struct Jobs {
    jobs: Vec<Option<Job>>,
    vacant: Vec<u32>,
}

impl Jobs {
    pub fn clear(&mut self) {
        self.jobs.clear();
        self.vacant.clear();
    }

    fn add(&mut self, job: Job) -> u32 {
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.jobs.push(None);
            (self.jobs.len() - 1) as u32
        });
        self.jobs[number as usize] = Some(job);
        number
    }

    fn get(&mut self, number: u32) -> Option<&mut Job> {
        self.jobs[number as usize].as_mut()
    }

    fn take(&mut self, number: u32) -> Option<Job> {
        self.vacant.push(number);
        self.jobs[number as usize].take()
    }
}

impl Redundant {
    /// Counts what a job does.
    pub(super) fn count(&mut self, job: &Job) {
        let counters = &mut self.counters;
        counters.parity_read_bytes += job.work.parity_read_bytes;
        counters.parity_write_bytes += job.work.parity_write_bytes;
        if job.kind == JobKind::Write {
            match job.work.method {
                Some(Method::ReadModifyWrite) => counters.read_modify_writes += 1,
                Some(Method::Reconstruct) => counters.reconstruct_writes += 1,
                Some(Method::FullStripe) => counters.full_stripe_writes += 1,
                None => {}
            }
        }
    }

    pub(super) fn begin_job(
        &mut self,
        job: Job,
        now: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        let reads = job.work.reads.len() as u32;
        let number = self.jobs.add(job);
        if reads == 0 {
            return self.compute(number, now, completions);
        }
        self.submit_parts(number, reads, false, now)
    }

    /// Submits the reads or writes of a job.
    fn submit_parts(
        &mut self,
        number: u32,
        count: u32,
        is_writing: bool,
        now: u64,
    ) -> Result<(), SimError> {
        let super::Layout::Parity(rows) = self.layout else {
            return Ok(());
        };
        let Some(job) = self.jobs.get(number) else {
            return Ok(());
        };
        (job.pending, job.is_writing) = (count, is_writing);
        let (row, command) = (job.row, job.command);
        let parts = if is_writing {
            std::mem::take(&mut job.work.writes)
        } else {
            std::mem::take(&mut job.work.reads)
        };
        for part in parts {
            let is_data = matches!(rows.holds(row, part.member), Holds::Data(_));
            let what = match (is_writing, is_data) {
                (false, _) => plain(CommandKind::Read),
                (true, true) => command,
                // Parity has no pattern.
                (true, false) => Command {
                    content: Content::Random,
                    ..command
                },
            };
            let offset = row * rows.chunk_bytes() + part.from;
            let piece = (part.member, offset, part.to - part.from);
            self.submit_to(Owner::Job(number), piece, &what, now)?;
        }
        Ok(())
    }

    pub(super) fn job_part_complete(
        &mut self,
        number: u32,
        one: &Completion,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        let Some(job) = self.jobs.get(number) else {
            return Ok(());
        };
        job.pending -= 1;
        if job.pending > 0 {
            return Ok(());
        }
        for (sum, part) in job.parts.iter_mut().zip(one.parts) {
            *sum += part;
        }
        if job.is_writing {
            self.job_over(number, one.at, completions)
        } else {
            self.compute(number, one.at, completions)
        }
    }

    /// A job has read everything it needs. The parity thread takes it when it is free.
    fn compute(
        &mut self,
        number: u32,
        now: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        let Some(job) = self.jobs.get(number) else {
            return Ok(());
        };
        let bytes = job.work.computed_bytes;
        if bytes == 0 {
            return self.computed(number, now, completions);
        }
        let takes = u128::from(bytes) * 1_000_000_000 / u128::from(self.parity.bytes_per_second);
        let begins = self.computing_until.max(now);
        self.computing_until = begins + self.parity.row_ns + takes as u64;
        self.timers
            .add(self.computing_until, Timer::Computed(number));
        Ok(())
    }

    /// The computation of a job is done.
    pub(super) fn computed(
        &mut self,
        number: u32,
        now: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        let writes = self.jobs.get(number).map_or(0, |job| job.work.writes.len());
        if writes == 0 {
            return self.job_over(number, now, completions);
        }
        self.submit_parts(number, writes as u32, true, now)
    }

    fn job_over(
        &mut self,
        number: u32,
        now: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        let Some(job) = self.jobs.take(number) else {
            return Ok(());
        };
        for &tag in &job.hosts {
            self.part_complete(tag, now, &job.parts, completions);
        }
        self.row_free(job.row, job.cached_bytes, now);
        if job.kind == JobKind::Rebuild {
            if let super::Layout::Parity(rows) = self.layout {
                self.piece_rebuilt(job.row * rows.chunk_bytes(), now);
            }
            return self.rebuild_on(now);
        }
        Ok(())
    }
}
