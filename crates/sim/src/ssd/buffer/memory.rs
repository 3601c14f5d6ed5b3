//! The controller's memory: one request's pages after the other's, at its rate, each a fixed
//! time later. What is read of write buffer and read cache passes it, and where the preset says so
//! what is written into the buffer.

use crate::preset::SsdConfig;
use crate::ssd::ring::Ring;
use crate::ssd::times::{scaled, transfer};

/// What the memory costs, resolved from the preset.
#[derive(Clone, Copy, Debug)]
pub struct MemoryTimes {
    /// From a hit to its data.
    latency: u64,
    /// Its rate, 0 if it takes no time.
    bytes_per_second: u64,
    /// What is written passes it too.
    takes_writes: bool,
}

impl MemoryTimes {
    /// Resolves a configuration, every time multiplied by `factor`.
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

/// What passes the memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    /// When it is through.
    at: u64,
    pub slot: u32,
    /// Of a write its pages, the first and how many; none of a read.
    pub written: Option<(u32, u32)>,
    /// When it came.
    pub since: u64,
}

/// The memory, and what is on its way through it.
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

    /// Whether what is written takes time here.
    #[inline(always)]
    pub fn takes_writes(&self) -> bool {
        self.times.takes_writes && !self.times.are_none()
    }

    /// So many bytes are asked of it for the read in a slot; answers whether that takes time.
    pub fn read(&mut self, slot: u32, bytes: u64, now: u64) -> bool {
        let takes_time = !self.times.are_none();
        if takes_time {
            self.pass(slot, None, bytes, now);
        }
        takes_time
    }

    /// Pages of the write in a slot pass it, of so many bytes.
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

    /// When the first is through.
    pub fn next(&self) -> Option<u64> {
        self.passing.front().map(|passage| passage.at)
    }

    /// What is through.
    pub fn take(&mut self) -> Option<Passage> {
        self.passing.pop()
    }
}
