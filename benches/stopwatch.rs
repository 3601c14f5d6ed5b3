//! Time for benchmarks on a machine that others use too.

use std::time::{Duration, Instant};

/// A stretch of time on the core. Other programs' turns on the core do not count, if
/// the system reports them.
pub struct Stopwatch {
    core: Option<Duration>,
    wall: Instant,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self {
            core: Self::on_core(),
            wall: Instant::now(),
        }
    }

    pub fn seconds(&self) -> f64 {
        let core = Self::on_core().zip(self.core).map(|(now, then)| now - then);
        core.unwrap_or_else(|| self.wall.elapsed()).as_secs_f64()
    }

    fn on_core() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
        Some(Duration::from_nanos(
            text.split_whitespace().next()?.parse().ok()?,
        ))
    }
}
