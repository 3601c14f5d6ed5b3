//! The times of a run's steps, with one part for each module.

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
    /// The times of the firmware's work, if it takes any.
    pub firmware: Option<Box<Costs>>,
    pub flash: Timing,
    pub zones: ZoneTimes,
}

impl Times {
    /// Resolves a configuration, with every time multiplied by `factor`.
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

/// Time of `bytes` at a rate, rounded up; 0 at rate 0.
#[inline]
pub const fn transfer(bytes: u64, bytes_per_second: u64) -> u64 {
    match bytes_per_second {
        0 => 0,
        rate => (bytes * 1_000_000_000).div_ceil(rate),
    }
}
