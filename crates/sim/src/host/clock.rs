//! Converts between the host's time and a drive's own time, where the two differ.

use super::split::PARTS;
use super::variability::HostTime;

/// The relation of the host's time to the drive's. The two are equal unless the drive drifts.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostClock {
    time: Option<Box<HostTime>>,
}

/// A completion in the host's time.
pub(crate) struct Told {
    pub at: u64,
    pub latency: u64,
    pub parts: [u64; PARTS],
}

impl HostClock {
    pub fn new(time: Option<HostTime>) -> Self {
        Self {
            time: time.map(Box::new),
        }
    }

    /// Whether the host's time differs from the drive's.
    #[inline(always)]
    pub const fn differs(&self) -> bool {
        self.time.is_some()
    }

    /// The host's time at `drive_ns` of the drive's time.
    #[inline(always)]
    pub fn host_ns(&mut self, drive_ns: u64) -> u64 {
        match &mut self.time {
            None => drive_ns,
            Some(time) => time.host_ns(drive_ns),
        }
    }

    /// The first drive time at which the host's time is `host_ns`.
    #[inline(always)]
    pub fn drive_ns(&mut self, host_ns: u64) -> u64 {
        match &mut self.time {
            None => host_ns,
            Some(time) => time.drive_ns(host_ns),
        }
    }

    /// The first drive time at which the host's time is `host_ns`, or `latest` if that is earlier.
    pub fn drive_ns_until(&mut self, host_ns: u64, latest: u64) -> u64 {
        if host_ns <= self.host_ns(latest) {
            self.drive_ns(host_ns).min(latest)
        } else {
            latest
        }
    }

    /// Converts a completion at `now`. `latency` and `parts` are in the drive's time.
    #[cold]
    #[inline(never)]
    pub fn told(&mut self, latency: u64, parts: &[u64; PARTS], now: u64) -> Told {
        let (from, at) = (self.host_ns(now - latency), self.host_ns(now));
        Told {
            at,
            latency: at - from,
            parts: in_proportion(parts, latency, at - from),
        }
    }

    /// Forgets history that nobody needs after `now`, once there is much of it. `oldest` gives the
    /// time at which the oldest outstanding command was submitted.
    pub fn forget(&mut self, oldest: impl FnOnce() -> Option<u64>, now: u64) {
        if let Some(time) = self.time.as_mut().filter(|time| time.is_long()) {
            time.forget(oldest().unwrap_or(now));
        }
    }
}

/// The earliest time among `submitted`, ignoring entries that are `vacant`.
pub(crate) fn oldest(submitted: impl Iterator<Item = u64>, vacant: &[u32]) -> Option<u64> {
    let mut submitted: Vec<_> = submitted.map(Some).collect();
    for &slot in vacant {
        submitted[slot as usize] = None;
    }
    submitted.into_iter().flatten().min()
}

/// Scales the parts of a latency from `before` to `after`. The result sums to `after` exactly.
fn in_proportion(parts: &[u64; PARTS], before: u64, after: u64) -> [u64; PARTS] {
    let share = |part: u64| {
        let share = u128::from(part) * u128::from(after) / u128::from(before.max(1));
        share as u64
    };
    let mut scaled = parts.map(share);
    let left = after - scaled.iter().sum::<u64>();
    // The rounding error goes to the largest part.
    if let Some(largest) = scaled.iter_mut().max() {
        *largest += left;
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_shares_and_their_sum() {
        // 10 : 20 : 70 of 100 become 15 : 30 : 105 of 150.
        let parts = [10, 0, 0, 0, 20, 70, 0, 0];
        assert_eq!(
            in_proportion(&parts, 100, 150),
            [15, 0, 0, 0, 30, 105, 0, 0]
        );
        // Each part is rounded down and the largest gets the rest: 3.33, 6.67, 23.3 of 33.
        assert_eq!(in_proportion(&parts, 100, 33), [3, 0, 0, 0, 6, 24, 0, 0]);
    }

    #[test]
    fn the_oldest_is_one_that_is_on_its_way() {
        let submitted = [30, 10, 20].into_iter();
        assert_eq!(oldest(submitted.clone(), &[]), Some(10));
        assert_eq!(oldest(submitted.clone(), &[1]), Some(20));
        assert_eq!(oldest(submitted, &[0, 1, 2]), None);
    }
}
