//! The controller's memory. It handles the pages of one request after another at its rate; each
//! takes a fixed latency in addition. Reads from write buffer and read cache pass it. If the preset
//! says so, writes into the buffer pass it too.

use crate::preset::SsdConfig;
use crate::ssd::ring::Ring;
use crate::ssd::times::{scaled, transfer};

/// What the memory costs, resolved from the preset.
#[derive(Clone, Copy, Debug)]
pub struct MemoryTimes {
    /// Latency from a hit to its data.
    latency: u64,
    /// Its rate; 0 if it takes no time.
    bytes_per_second: u64,
    /// Whether writes pass it too.
    takes_writes: bool,
}

impl MemoryTimes {
    /// Resolves a configuration, with every time multiplied by `factor`.
    pub fn new(config: &SsdConfig, factor: f64) -> Self {
        let rate = config.buffer.memory_bytes_per_second.unwrap_or(0);
        Self {
            latency: scaled(config.buffer.memory_ns, factor),
            bytes_per_second: (rate as f64 / factor).round() as u64,
            takes_writes: config.buffer.memory_takes_writes,
        }
    }

    const fn are_none(&self) -> bool {
        self.latency == 0 && self.bytes_per_second == 0
    }
}

/// A transfer through the memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    /// When it is done.
    at: u64,
    pub slot: u32,
    /// For a write, its first page and number of pages; `None` for a read.
    pub written: Option<(u32, u32)>,
    /// When it arrived.
    pub since: u64,
}

/// The memory and its transfers in progress.
#[derive(Clone, Debug)]
pub struct Memory {
    times: MemoryTimes,
    passing: Ring<Passage>,
    /// Until when it is busy.
    free_at: u64,
}

impl Memory {
    pub fn new(times: MemoryTimes) -> Self {
        Self {
            times,
            passing: Ring::default(),
            free_at: 0,
        }
    }

    /// Whether writes take time here.
    #[inline(always)]
    pub fn takes_writes(&self) -> bool {
        self.times.takes_writes && !self.times.are_none()
    }

    /// Starts to read `bytes` for the request in a slot. Returns whether that takes time.
    pub fn read(&mut self, slot: u32, bytes: u64, now: u64) -> bool {
        let takes_time = !self.times.are_none();
        if takes_time {
            self.pass(slot, None, bytes, now);
        }
        takes_time
    }

    /// Starts to write pages, `bytes` in all, for the request in a slot.
    pub fn write(&mut self, slot: u32, pages: (u32, u32), bytes: u64, now: u64) {
        self.pass(slot, Some(pages), bytes, now);
    }

    fn pass(&mut self, slot: u32, written: Option<(u32, u32)>, bytes: u64, now: u64) {
        let time = transfer(bytes, self.times.bytes_per_second);
        self.free_at = self.free_at.max(now) + time;
        self.passing.push(Passage {
            at: self.free_at + self.times.latency,
            slot,
            written,
            since: now,
        });
    }

    /// When the first transfer is done.
    pub fn next(&self) -> Option<u64> {
        self.passing.front().map(|passage| passage.at)
    }

    /// Takes a finished transfer.
    pub fn take(&mut self) -> Option<Passage> {
        self.passing.pop()
    }
}
