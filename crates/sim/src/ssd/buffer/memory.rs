//! The controller's memory: one request's pages after the other's, at its rate, each a fixed
//! time later.

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
}

impl MemoryTimes {
    /// Resolves a configuration, every time multiplied by `factor`.
    pub fn new(config: &SsdConfig, factor: f64) -> Self {
        let rate = config.buffer.memory_bytes_per_second.unwrap_or(0);
        Self {
            latency: scaled(config.buffer.memory_ns, factor),
            bytes_per_second: (rate as f64 / factor).round() as u64,
        }
    }
}

/// The memory, and whose pages are on their way from it.
#[derive(Clone, Debug)]
pub struct Memory {
    times: MemoryTimes,
    coming: Ring<(u64, u32)>,
    /// Until when it is busy.
    free_at: u64,
}

impl Memory {
    pub fn new(times: MemoryTimes) -> Self {
        Self {
            times,
            coming: Ring::default(),
            free_at: 0,
        }
    }

    /// It is asked for `bytes` of a request; answers whether that takes time.
    pub fn ask(&mut self, slot: u32, bytes: u64, now: u64) -> bool {
        let MemoryTimes {
            latency,
            bytes_per_second,
        } = self.times;
        if latency == 0 && bytes_per_second == 0 {
            return false;
        }
        self.free_at = self.free_at.max(now) + transfer(bytes, bytes_per_second);
        self.coming.push((self.free_at + latency, slot));
        true
    }

    /// When the first request's pages have come.
    pub fn next(&self) -> Option<u64> {
        self.coming.front().map(|&(at, _)| at)
    }

    /// Whose pages have come.
    pub fn take(&mut self) -> Option<u32> {
        self.coming.pop().map(|(_, slot)| slot)
    }
}
