//! Variability: a factor a measurement, and how the host's time runs beside the drive's.
//!
//! ```text
//!   drive's own time   0         step       2 step      3 step
//!                      |----------|----------|----------|---
//!   host's time        |------------|--------|----------------|---
//!                       x 1.2         x 0.8    x 1.6
//! ```
//!
//! A drive of any kind works in a time of its own, in which its steps take what the preset
//! says, times the measurement's factor ([`measurement_factor`]). The host's time runs beside
//! it ([`HostTime`]): a step of the drive's time lasts as much longer as an outlier that
//! [ends](super::disturbance) and the [drifting factor](super::drift) say. Only what crosses the
//! border is converted: when commands arrive, when they complete, when the window opens and
//! closes. A drive that slows down in the middle of an operation needs no more than that.

use drivelab_workload::{Chance, keyed_rng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use super::disturbance::Disturbance;
use super::drift::Drift;
use crate::preset::Variability;

/// Stream of the keyed random numbers that a measurement's factor is drawn from.
const STREAM: u64 = 0x7661_7269;

/// What is drawn once a measurement.
struct Draw {
    /// Log-normal, of mean 1.
    usual: f64,
    /// 1 in any but an outlier.
    longer: f64,
    /// The mean of that.
    mean: f64,
}

impl Draw {
    fn new(variability: &Variability, seed: u64, index: u64) -> Self {
        let mut rng = keyed_rng(seed, index, STREAM);
        let usual = log_normal(variability.sigma, normal(&mut rng));
        let probability = variability.outlier_probability;
        let outlier = variability.outlier_factor.unwrap_or(1.0);
        let is_outlier = Chance::new(probability).happens(&mut rng);
        Self {
            usual,
            longer: if is_outlier { outlier } else { 1.0 },
            mean: 1.0 + probability * (outlier - 1.0),
        }
    }
}

/// The factor by which measurement `index` takes longer than the preset says, all of it:
/// log-normal, with the rare outliers that do not end, and with mean 1; 1 where the preset has
/// no such variability.
///
/// The pure-Rust `libm` computes it, so that it is the same on every machine.
#[must_use]
pub fn measurement_factor(variability: &Variability, seed: u64, index: u64) -> f64 {
    if variability.sigma == 0.0 && variability.outlier_probability == 0.0 {
        return 1.0;
    }
    let draw = Draw::new(variability, seed, index);
    match variability.outlier_duration_ns {
        None => draw.usual * draw.longer / draw.mean,
        Some(_) => draw.usual,
    }
}

/// A normal number of mean 0 and variance 1 (Box and Muller 1958).
pub(super) fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    // Uniform in (0, 1], so that the logarithm is finite.
    let mut uniform = || ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    let radius = libm::sqrt(-2.0 * libm::log(uniform()));
    radius * libm::cos(std::f64::consts::TAU * uniform())
}

/// Of mean 1, with `sigma` the standard deviation of its logarithm.
pub(super) fn log_normal(sigma: f64, normal: f64) -> f64 {
    libm::exp(sigma * normal - sigma * sigma / 2.0)
}

/// The host's time beside the drive's own, both in ns from the beginning of a run.
///
/// The drift runs in the time that an outlier has lengthened: both are independent and have
/// mean 1 at every moment, and so has the one after the other.
#[derive(Clone, Debug)]
pub struct HostTime {
    disturbance: Option<Disturbance>,
    drift: Option<Drift>,
}

impl HostTime {
    /// The time of measurement `index`; nothing where the host's time is the drive's.
    #[must_use]
    pub fn new(variability: &Variability, seed: u64, index: u64) -> Option<Self> {
        let disturbance = variability.outlier_duration_ns.map(|duration_ns| {
            let draw = Draw::new(variability, seed, index);
            Disturbance::new(duration_ns, draw.longer / draw.mean)
        });
        let drift = Drift::new(variability, seed, index);
        let differs = disturbance.is_some() || drift.is_some();
        differs.then_some(Self { disturbance, drift })
    }

    /// The host's time at `drive_ns`; never falls as that grows. What was
    /// [forgotten](HostTime::forget) is told as if the drift that is left had been there before.
    pub fn host_ns(&mut self, drive_ns: u64) -> u64 {
        let lengthened = self.lengthened(drive_ns);
        match &mut self.drift {
            None => lengthened,
            Some(drift) => drift.host_ns(lengthened),
        }
    }

    /// The first moment of the drive's time at which the host's is at least `host_ns`.
    pub fn drive_ns(&mut self, host_ns: u64) -> u64 {
        let lengthened = match &mut self.drift {
            None => host_ns,
            Some(drift) => drift.drive_ns(host_ns),
        };
        match &self.disturbance {
            None => lengthened,
            Some(disturbance) => disturbance.drive_ns(lengthened),
        }
    }

    /// Whether so much of the past is kept that what is not needed should be
    /// [forgotten](HostTime::forget).
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.drift.as_ref().is_some_and(Drift::is_long)
    }

    /// Nobody asks any more for drive times before `drive_ns`.
    pub fn forget(&mut self, drive_ns: u64) {
        let lengthened = self.lengthened(drive_ns);
        if let Some(drift) = &mut self.drift {
            drift.forget(lengthened);
        }
    }

    /// The drive's time with the outlier in it.
    fn lengthened(&self, drive_ns: u64) -> u64 {
        match &self.disturbance {
            None => drive_ns,
            Some(disturbance) => disturbance.lengthened(drive_ns),
        }
    }
}

/// By how much measurement `index` takes longer than the preset says if its window is what
/// takes the first `duration_ns` without variability.
#[must_use]
pub fn mean_factor(variability: &Variability, seed: u64, index: u64, duration_ns: u64) -> f64 {
    let factor = measurement_factor(variability, seed, index);
    let Some(mut time) = HostTime::new(variability, seed, index) else {
        return factor;
    };
    // The drive's own time holds the factor, and that decides when an outlier ends in it.
    let drive_ns = lengthened(duration_ns, factor).max(1);
    factor * (time.host_ns(drive_ns) as f64 / drive_ns as f64)
}

pub(super) fn lengthened(nanos: u64, factor: f64) -> u64 {
    (nanos as f64 * factor).round() as u64
}
