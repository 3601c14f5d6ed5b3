//! What a run's steps cost, a part for each room.

use super::buffer::memory::MemoryTimes;
use super::engine::ZoneTimes;
use super::firmware::cores::Costs;
use super::flash::Timing;
use super::front::times::FrontTimes;
use crate::preset::SsdConfig;

/// Every time of a drive in one run.
pub struct Times {
    pub front: FrontTimes,
    pub memory: MemoryTimes,
    /// What the firmware's work costs, if anything.
    pub firmware: Option<Box<Costs>>,
    pub flash: Timing,
    pub zones: ZoneTimes,
}

impl Times {
    /// Resolves a configuration, every time multiplied by `factor`.
    pub fn new(config: &SsdConfig, factor: f64) -> Self {
        Self {
            front: FrontTimes::new(config, factor),
            memory: MemoryTimes::new(config, factor),
            firmware: Costs::new(config, factor),
            flash: Timing::new(config, factor),
            zones: ZoneTimes::new(config, factor),
        }
    }
}

/// A time of the preset in a run that takes `factor` times as long.
pub fn scaled(nanos: u64, factor: f64) -> u64 {
    (nanos as f64 * factor).round() as u64
}

/// Time of `bytes` at a rate, rounded up; none at rate 0.
#[inline]
pub const fn transfer(bytes: u64, bytes_per_second: u64) -> u64 {
    match bytes_per_second {
        0 => 0,
        rate => (bytes * 1_000_000_000).div_ceil(rate),
    }
}
