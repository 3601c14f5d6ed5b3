//! A member that is a single server and records what it was asked.
#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use drivelab_request::{Command, CommandKind};
use drivelab_sim::host::{
    Completion, Device, DiskCounters, Media, Outcome, PARTS, PartNames, SimError,
};

/// A command that a member received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub member: u32,
    pub kind: CommandKind,
    pub offset: u64,
    pub size: u64,
    pub submitted: u64,
    pub complete: u64,
}

pub type Log = Arc<Mutex<Vec<Asked>>>;

/// Serves one command after another: each takes a fixed time plus a time for its bytes.
pub struct Ideal {
    pub member: u32,
    pub capacity_bytes: u64,
    pub command_ns: u64,
    pub byte_ns: u64,
    pub log: Log,
    queue: VecDeque<(u32, u64, u64)>,
    tags: u32,
    vacant: Vec<u32>,
    free_at: u64,
}

impl Ideal {
    pub fn new(member: u32, capacity_bytes: u64, times: (u64, u64), log: &Log) -> Self {
        Self {
            member,
            capacity_bytes,
            command_ns: times.0,
            byte_ns: times.1,
            log: Arc::clone(log),
            queue: VecDeque::new(),
            tags: 0,
            vacant: Vec::new(),
            free_at: 0,
        }
    }
}

impl Device for Ideal {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn part_names(&self) -> PartNames {
        &["cell", "queueing"]
    }

    fn takes_trims(&self) -> bool {
        true
    }

    fn begin(&mut self, _: u64, _: u64) -> f64 {
        self.queue.clear();
        self.vacant.clear();
        (self.tags, self.free_at) = (0, 0);
        1.0
    }

    fn submit(&mut self, command: &Command, now: u64) -> Result<u32, SimError> {
        let size = u64::from(command.size_bytes);
        assert!(command.offset_bytes + size <= self.capacity_bytes);
        let tag = self.vacant.pop().unwrap_or_else(|| {
            self.tags += 1;
            self.tags - 1
        });
        let takes = match command.kind {
            CommandKind::Read | CommandKind::Write => self.command_ns + size * self.byte_ns,
            CommandKind::Trim | CommandKind::Flush | CommandKind::WriteZeroes => self.command_ns,
        };
        self.free_at = self.free_at.max(now) + takes;
        self.queue.push_back((tag, now, self.free_at));
        self.log.lock().unwrap().push(Asked {
            member: self.member,
            kind: command.kind,
            offset: command.offset_bytes,
            size,
            submitted: now,
            complete: self.free_at,
        });
        Ok(tag)
    }

    fn next_event(&self) -> Option<u64> {
        self.queue.front().map(|&(_, _, at)| at)
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        if self.next_event().is_some_and(|at| at <= limit)
            && let Some((tag, submitted, at)) = self.queue.pop_front()
        {
            let mut parts = [0; PARTS];
            parts[0] = at - submitted;
            completions.push(Completion { tag, at, parts });
            self.vacant.push(tag);
        }
        Ok(self.next_event())
    }

    fn drain(&mut self, _: u64) -> bool {
        false
    }

    fn open_window(&mut self, _: u64) {}

    fn close_window(&mut self, _: u64, outcome: &mut Outcome) {
        outcome.media = Media::Disk(DiskCounters::default());
    }
}
