//! An outlier that ends: a measurement whose first part takes longer.
//!
//! ```text
//!   drive's own time   0      duration
//!                      |---------|---------------------
//!   an outlier         |--------------------|---------------------
//!                            x f / m                 x 1
//!   any other          |------|---------------------
//!                       x 1/m           x 1
//! ```
//!
//! With m = 1 + p (f - 1), the mean over both in the first part, so that the mean is 1 at every
//! moment, and a window of any length takes as long on average as without.
//!
//! It begins with the measurement, whose length nobody knows then. One at a random moment would
//! come at a rate, and so more often to long measurements than to short ones. At rates that fit
//! the repetitions and hours of Boito et al. 2015 it would disturb up to every fourth random read
//! of an array, and the paper's random reads vary least.

use super::variability::lengthened;

/// The beginning of a measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disturbance {
    /// In the drive's time.
    duration_ns: u64,
    factor: f64,
}

impl Disturbance {
    pub(super) const fn new(duration_ns: u64, factor: f64) -> Self {
        Self {
            duration_ns,
            factor,
        }
    }

    /// How long the first `drive_ns` take; never falls as these grow.
    pub(super) fn lengthened(&self, drive_ns: u64) -> u64 {
        let first = drive_ns.min(self.duration_ns);
        lengthened(first, self.factor) + (drive_ns - first)
    }

    /// The first moment of the drive's time that takes at least `nanos`.
    pub(super) fn drive_ns(&self, nanos: u64) -> u64 {
        let end = lengthened(self.duration_ns, self.factor);
        if nanos > end {
            return self.duration_ns.saturating_add(nanos - end);
        }
        let mut at = ((nanos as f64 / self.factor) as u64).min(self.duration_ns);
        while at > 0 && self.lengthened(at - 1) >= nanos {
            at -= 1;
        }
        while self.lengthened(at) < nanos {
            at += 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_at_its_duration() {
        let outlier = Disturbance::new(1_000, 2.5);
        let took = [0, 999, 1_000, 1_001, 5_000].map(|at| outlier.lengthened(at));
        // 2497.5 is rounded up.
        assert_eq!(took, [0, 2_498, 2_500, 2_501, 6_500]);
        let other = Disturbance::new(1_000, 0.8);
        let took = [999, 1_000, 1_001].map(|at| other.lengthened(at));
        assert_eq!(took, [799, 800, 801]);
    }

    #[test]
    fn both_times_lead_to_each_other() {
        for factor in [0.02, 0.8, 1.0, 24.0] {
            let one = Disturbance::new(777, factor);
            for nanos in 0..3_000 {
                let first = one.drive_ns(nanos);
                assert!(one.lengthened(first) >= nanos);
                assert!(first == 0 || one.lengthened(first - 1) < nanos);
            }
        }
    }
}
