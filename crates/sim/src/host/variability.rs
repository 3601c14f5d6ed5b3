//! Variability: one factor for each measurement, and one that drifts during it.
//!
//! ```text
//!   drive's own time   0         step       2 step      3 step
//!                      |----------|----------|----------|---
//!   host's time        |------------|--------|----------------|---
//!                       x 1.2         x 0.8    x 1.6
//! ```
//!
//! A drive of any kind works in its own time. There its steps take what the preset says, times the
//! factor of the measurement ([`measurement_factor`]). The host's time is derived from it
//! ([`HostTime`]): each step of the drive's time is stretched by the drifting factor. Only what
//! crosses between the two is converted: arrivals, completions, and the opening and closing of the
//! window. That is enough for a drive that slows down in the middle of an operation.
//!
//! The drifting factor is exp(s x - s^2 / 2), where x is an Ornstein-Uhlenbeck process with mean 0,
//! variance 1 and correlation exp(-t / T). It is drawn [`STEPS`] times in each correlation time T
//! (its transition is exact: Gillespie 1996, equation 1.9). Its mean is 1.
//!
//! Left out: drift that continues from one measurement to the next.

use std::collections::VecDeque;

use drivelab_workload::{Chance, keyed_rng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::preset::Variability;

/// Identifies the keyed random numbers that variability draws.
const STREAM: u64 = 0x7661_7269;
const DRIFT_STREAM: u64 = 0x6472_6966;

/// Draws in one correlation time. Within one step the correlation falls by 6 %.
const STEPS: u64 = 16;

/// Number of past steps kept before those that nobody needs are forgotten.
const KEPT: usize = 1 << 12;

/// The factor by which measurement `index` takes longer than the preset says. It is log-normal with
/// rare outliers and mean 1. Without variability in the preset it is 1.
///
/// The pure-Rust `libm` computes it, so it is the same on every machine.
#[must_use]
pub fn measurement_factor(variability: &Variability, seed: u64, index: u64) -> f64 {
    let Variability {
        sigma,
        outlier_probability: probability,
        outlier_factor,
        ..
    } = *variability;
    if sigma == 0.0 && probability == 0.0 {
        return 1.0;
    }
    let mut rng = keyed_rng(seed, index, STREAM);
    let usual = log_normal(sigma, normal(&mut rng));
    let longer = outlier_factor.unwrap_or(1.0);
    let is_outlier = Chance::new(probability).happens(&mut rng);
    let factor = if is_outlier { usual * longer } else { usual };
    factor / (1.0 + probability * (longer - 1.0))
}

/// A normal number of mean 0 and variance 1 (Box and Muller 1958).
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    // Uniform in (0, 1], so that the logarithm is finite.
    let mut uniform = || ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    let radius = libm::sqrt(-2.0 * libm::log(uniform()));
    radius * libm::cos(std::f64::consts::TAU * uniform())
}

/// A log-normal number with mean 1; `sigma` is the standard deviation of its logarithm.
fn log_normal(sigma: f64, normal: f64) -> f64 {
    libm::exp(sigma * normal - sigma * sigma / 2.0)
}

/// A step of the drive's time, and how long it lasts in the host's.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// When it begins in the host's time.
    begin: u64,
    factor: f64,
}

/// The host's time as a function of the drive's, both in ns from the beginning of a run.
#[derive(Clone, Debug)]
pub struct HostTime {
    rng: Xoshiro256PlusPlus,
    sigma: f64,
    /// For each step: what remains of the process, and the size of what is added.
    decay: f64,
    noise: f64,
    /// The process in the step drawn last.
    state: f64,
    /// Length of a step in the drive's time.
    step_ns: u64,
    /// The drawn steps, without the first [`HostTime::forgotten`].
    steps: VecDeque<Step>,
    forgotten: u64,
    /// How many steps are kept before the next check for unneeded ones.
    most_kept: usize,
}

impl HostTime {
    /// The time of measurement `index`; `None` if the host's time equals the drive's.
    #[must_use]
    pub fn new(variability: &Variability, seed: u64, index: u64) -> Option<Self> {
        let correlation_ns = variability.correlation_time_ns?;
        let mut rng = keyed_rng(seed, index, DRIFT_STREAM);
        let state = normal(&mut rng);
        let decay = libm::exp(-1.0 / STEPS as f64);
        let mut time = Self {
            rng,
            sigma: variability.correlated_sigma,
            decay,
            noise: libm::sqrt(1.0 - decay * decay),
            state,
            step_ns: (correlation_ns / STEPS).max(1),
            steps: VecDeque::new(),
            forgotten: 0,
            most_kept: KEPT,
        };
        time.steps.push_back(Step {
            begin: 0,
            factor: log_normal(time.sigma, state),
        });
        Some(time)
    }

    /// The next step of the process.
    fn draw(&mut self) {
        let Some(&last) = self.steps.back() else {
            return;
        };
        self.state = self.decay * self.state + self.noise * normal(&mut self.rng);
        self.steps.push_back(Step {
            begin: last.begin + lengthened(self.step_ns, last.factor).max(1),
            factor: log_normal(self.sigma, self.state),
        });
    }

    /// The host's time at `drive_ns`. It never falls as `drive_ns` grows. For times that were
    /// [forgotten](HostTime::forget), the first remaining step is extended backwards.
    pub fn host_ns(&mut self, drive_ns: u64) -> u64 {
        let step = drive_ns / self.step_ns;
        // The beginning of the next step is needed too, because this one ends there.
        while step + 1 >= self.forgotten + self.steps.len() as u64 {
            self.draw();
        }
        let Some(place) = step.checked_sub(self.forgotten) else {
            let first = self.steps[0];
            let before = self.forgotten * self.step_ns - drive_ns;
            return first.begin.saturating_sub(lengthened(before, first.factor));
        };
        let Step { begin, factor } = self.steps[place as usize];
        let end = self.steps[place as usize + 1].begin;
        let inside = lengthened(drive_ns - step * self.step_ns, factor);
        (begin + inside).min(end)
    }

    /// The first drive time at which the host's time is at least `host_ns`.
    pub fn drive_ns(&mut self, host_ns: u64) -> u64 {
        while self.steps.back().is_some_and(|last| last.begin < host_ns) {
            self.draw();
        }
        let after = self.steps.partition_point(|step| step.begin <= host_ns);
        let place = after.saturating_sub(1);
        let Step { begin, factor } = self.steps[place];
        let start = (self.forgotten + place as u64) * self.step_ns;
        let inside = (host_ns.saturating_sub(begin) as f64 / factor) as u64;
        let mut at = start + inside.min(self.step_ns);
        while at > start && self.host_ns(at - 1) >= host_ns {
            at -= 1;
        }
        while self.host_ns(at) < host_ns {
            at += 1;
        }
        at
    }

    /// Whether so much history is kept that unneeded steps should be [forgotten](HostTime::forget).
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.steps.len() > self.most_kept
    }

    /// Nobody asks any more for drive times before `drive_ns`.
    pub fn forget(&mut self, drive_ns: u64) {
        let needless = (drive_ns / self.step_ns).saturating_sub(self.forgotten);
        let needless = (needless as usize).min(self.steps.len() - 1);
        self.steps.drain(..needless);
        self.forgotten += needless as u64;
        self.most_kept = KEPT.max(2 * self.steps.len());
    }
}

/// The factor by which measurement `index` takes longer than the preset says. Its window covers
/// what would take the first `duration_ns` without variability.
#[must_use]
pub fn mean_factor(variability: &Variability, seed: u64, index: u64, duration_ns: u64) -> f64 {
    let factor = measurement_factor(variability, seed, index);
    let Some(mut time) = HostTime::new(variability, seed, index) else {
        return factor;
    };
    // The drift runs in the drive's own time, which includes the factor.
    let drive_ns = lengthened(duration_ns, factor).max(1);
    factor * (time.host_ns(drive_ns) as f64 / drive_ns as f64)
}

fn lengthened(nanos: u64, factor: f64) -> u64 {
    (nanos as f64 * factor).round() as u64
}
