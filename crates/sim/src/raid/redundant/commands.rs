//! Commands of the host, and their parts in progress on members.

use drivelab_request::{Command, CommandKind};

use super::NEVER;
use crate::host::{Completion, Device, PARTS, PartNames, SimError};

/// On whose behalf a member works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A command of the host, by its tag.
    Host(u32),
    /// The job of a row.
    Job(u32),
    /// A piece of a copy being rebuilt: its read.
    Source(u64),
    /// The same: its write.
    Target(u64),
}

/// A drive of the array.
pub struct Member {
    pub device: Box<dyn Device + Send>,
    /// Time of its next event, or [`NEVER`].
    pub next: u64,
    /// Whether it is an SSD, without a moving arm.
    pub is_flash: bool,
    /// Commands in progress.
    pub pending: u32,
    /// Where its last read or write ends.
    pub head: u64,
    /// Where its last read ends.
    pub read_end: u64,
    /// The completions served last; kept to reuse its memory.
    pub served: Vec<Completion>,
    owners: Vec<Owner>,
}

impl Member {
    pub fn new(device: Box<dyn Device + Send>) -> Self {
        Self {
            is_flash: device.part_names().contains(&"cell"),
            device,
            next: NEVER,
            pending: 0,
            head: 0,
            read_end: 0,
            served: Vec::new(),
            owners: Vec::new(),
        }
    }

    pub fn begin(&mut self, seed: u64, index: u64) -> f64 {
        let factor = self.device.begin(seed, index);
        (self.pending, self.head, self.read_end) = (0, 0, NEVER);
        self.look_ahead();
        factor
    }

    fn look_ahead(&mut self) {
        self.next = self.device.next_event().unwrap_or(NEVER);
    }

    pub fn submit(&mut self, owner: Owner, part: &Command, now: u64) -> Result<(), SimError> {
        let tag = self.device.submit(part, now)? as usize;
        self.look_ahead();
        if tag >= self.owners.len() {
            self.owners.resize(tag + 1, owner);
        }
        self.owners[tag] = owner;
        self.pending += 1;
        if matches!(part.kind, CommandKind::Read | CommandKind::Write) {
            self.head = part.offset_bytes + u64::from(part.size_bytes);
        }
        Ok(())
    }

    pub fn serve(&mut self, limit: u64, served: &mut Vec<Completion>) -> Result<(), SimError> {
        let next = self.device.serve_until(limit, served)?;
        self.next = next.unwrap_or(NEVER);
        self.pending -= served.len() as u32;
        Ok(())
    }

    /// On whose behalf a completed command was sent.
    pub fn owner(&self, tag: u32) -> Owner {
        self.owners[tag as usize]
    }

    pub fn drain(&mut self, now: u64) -> bool {
        let is_left = self.device.drain(now);
        self.look_ahead();
        is_left
    }
}

/// Commands of the host that are not complete.
#[derive(Default)]
pub struct Hosts {
    /// For each tag: when the command was submitted, and how many of its parts are not complete.
    commands: Vec<(u64, u32)>,
    vacant: Vec<u32>,
}

impl Hosts {
    pub fn clear(&mut self) {
        self.commands.clear();
        self.vacant.clear();
    }

    /// A tag for a command submitted now, without parts so far.
    pub fn take(&mut self, now: u64) -> u32 {
        let tag = self.vacant.pop().unwrap_or_else(|| {
            self.commands.push((0, 0));
            (self.commands.len() - 1) as u32
        });
        self.commands[tag as usize] = (now, 0);
        tag
    }

    pub fn add_part(&mut self, tag: u32) {
        self.commands[tag as usize].1 += 1;
    }

    /// One part completed. After the last part the tag is free; returns when the command was
    /// submitted.
    pub fn part_complete(&mut self, tag: u32) -> Option<u64> {
        let (submitted, parts) = &mut self.commands[tag as usize];
        *parts -= 1;
        if *parts > 0 {
            return None;
        }
        self.vacant.push(tag);
        Some(*submitted)
    }

    /// Whether any command is in progress.
    pub fn are_active(&self) -> bool {
        self.vacant.len() < self.commands.len()
    }
}

/// The parts of a latency on an array: those of its members, and the array's own time.
#[derive(Clone, Copy, Debug)]
pub struct PartsOfArray {
    names: PartNames,
    /// The part for time in the array itself: waiting for a row, and parity.
    own: usize,
    /// Members have different parts, so all their time counts as one.
    is_mixed: bool,
}

const OF_FLASH: PartNames = &[
    "host",
    "buffer",
    "queueing",
    "dispatch",
    "channel",
    "cell",
    "collection",
    "array",
];
const OF_DISKS: PartNames = &[
    "host", "buffer", "queueing", "seek", "rotation", "transfer", "array",
];
const OF_UNLIKE: PartNames = &["members", "array"];

impl PartsOfArray {
    pub fn of(mut members: impl Iterator<Item = PartNames>) -> Self {
        let first = members.next().unwrap_or(&[]);
        let own_part = |names: PartNames| Self {
            names,
            own: names.len() - 1,
            is_mixed: false,
        };
        if members.any(|names| names != first) {
            return Self {
                is_mixed: true,
                ..own_part(OF_UNLIKE)
            };
        }
        for names in [OF_FLASH, OF_DISKS] {
            if names[..names.len() - 1] == *first {
                return own_part(names);
            }
        }
        if first.is_empty() || first.len() < PARTS {
            return Self {
                is_mixed: true,
                ..own_part(OF_UNLIKE)
            };
        }
        // No part is left, so use the nearest one, the host's.
        Self {
            names: first,
            own: 0,
            is_mixed: false,
        }
    }

    pub const fn names(&self) -> PartNames {
        self.names
    }

    /// The parts of a command that took `latency`, of which `parts` were spent in members.
    pub fn of_command(&self, parts: &[u64; PARTS], latency: u64) -> [u64; PARTS] {
        let spent = parts.iter().sum::<u64>();
        let mut all = if self.is_mixed {
            let mut all = [0; PARTS];
            all[0] = spent;
            all
        } else {
            *parts
        };
        all[self.own] += latency - spent;
        all
    }
}
