//! Variability compared with closed forms: moments, autocorrelation, and the variation that
//! averaging leaves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::Nanos;
use drivelab_sim::host::{HostTime, mean_factor, measurement_factor};
use drivelab_sim::preset::Variability;
use drivelab_sim::ssd::{Plan, Prepared};
use drivelab_workload::Characteristics;

use crate::counted::flash;
use crate::small_drive::{self, ONE_DIE, closed, config, drive, read, timed};

const SIGMA: f64 = 0.4;
const T: u64 = 160_000_000;
/// A sixteenth of the correlation time.
const STEP: u64 = T / 16;

const DRIFTING: Variability = Variability {
    sigma: 0.0,
    outlier_probability: 0.0,
    outlier_factor: None,
    correlated_sigma: SIGMA,
    correlation_time_ns: Some(T),
};

const DRIFT: &str = "
variability.correlated_sigma = 0.4
variability.correlation_time_ns = 160_000_000
";

fn with_outliers(sigma: f64) -> Variability {
    Variability {
        sigma,
        outlier_probability: 0.1,
        outlier_factor: Some(3.0),
        ..Variability::default()
    }
}

/// The mean of the numbers, and four of its standard errors.
fn mean(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = numbers.clone().count() as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    let variance = numbers.map(|n| (n - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, 4.0 * (variance / count).sqrt())
}

fn assert_mean(numbers: impl Iterator<Item = f64> + Clone, expected: f64) {
    let (mean, errors) = mean(numbers);
    assert!(
        (mean - expected).abs() < errors,
        "{mean} +- {errors}, not {expected}"
    );
}

fn factors(variability: &Variability) -> impl Iterator<Item = f64> + Clone {
    let indices = 0..100_000;
    indices.map(|index| measurement_factor(variability, 7, index))
}

#[test]
fn the_factor_of_a_measurement_has_mean_one_and_the_spread_of_its_sigma() {
    let variability = Variability {
        sigma: 0.2,
        ..Variability::default()
    };
    assert_mean(factors(&variability), 1.0);
    let logarithms = factors(&variability).map(f64::ln);
    assert_mean(logarithms.clone(), -0.02);
    assert_mean(logarithms.map(|log| (log + 0.02).powi(2)), 0.04);
}

#[test]
fn outliers_are_as_rare_and_as_far_as_asked_and_keep_the_mean() {
    let variability = with_outliers(0.2);
    assert_mean(factors(&variability), 1.0);
    // E F^2 = exp(sigma^2) (1 + p (k^2 - 1)) / (1 + p (k - 1))^2.
    let second = 0.04_f64.exp() * 1.8 / 1.44;
    assert_mean(factors(&variability).map(|f| f * f), second);
    // Without the other spread there are two values: 1 / 1.2, and three times that.
    let pure = with_outliers(0.0);
    let far = factors(&pure).map(|f| f64::from(f > 2.0));
    assert_mean(far, 0.1);
    assert!(factors(&pure).all(|f| (f - 1.0 / 1.2).abs() < 1e-12 || (f - 2.5).abs() < 1e-12));
}

#[test]
fn factors_are_keyed_by_seed_and_index_and_off_they_are_one() {
    let variability = with_outliers(0.1);
    let bits = |seed, index| measurement_factor(&variability, seed, index).to_bits();
    assert_eq!(bits(1, 2), bits(1, 2));
    assert_ne!(bits(1, 2), bits(1, 3));
    assert_ne!(bits(1, 2), bits(2, 2));
    let off = measurement_factor(&Variability::default(), 1, 2);
    assert_eq!(off.to_bits(), 1.0_f64.to_bits());
    assert!(HostTime::new(&Variability::default(), 1, 2).is_none());
}

#[test]
fn a_run_takes_as_much_longer_as_its_mean_factor_says() {
    let text = "
variability.sigma = 0.3
variability.outlier_probability = 0.5
variability.outlier_factor = 2.0
";
    let prepared = drive(&[ONE_DIE, DRIFT, text]);
    let plain = drive(&[ONE_DIE]);
    let variability = prepared.config().variability;
    let reads = Characteristics {
        write_ratio: 0.0,
        queue_depth: 1,
        ..Characteristics::default()
    };
    // Reads of 60 us, for a time shorter than a step of the drift, and longer.
    for requests in [1_000, 200, 100] {
        let plan = Plan::counting(0, requests);
        let window = |drive: &Prepared, index| {
            let mut worker = drive.worker();
            worker.run(&closed(reads), plan, 7, index).unwrap()
        };
        for index in 0..10 {
            let truth = window(&plain, index).window.0;
            let outcome = window(&prepared, index);
            let factor = mean_factor(&variability, 7, index, truth);
            // Each operation is rounded to whole nanoseconds and takes at least 5000 x 0.4 ns.
            assert!((outcome.variability_factor / factor - 1.0).abs() < 2.5e-4);
            assert!((outcome.window.0 as f64 / (truth as f64 * factor) - 1.0).abs() < 2.5e-4);
        }
    }
}

fn host_time(index: u64) -> HostTime {
    HostTime::new(&DRIFTING, 7, index).unwrap()
}

/// The mean factor of the drift between two steps of measurement `index`.
fn drift(index: u64, from: u64, to: u64) -> f64 {
    let mut time = host_time(index);
    let lasted = time.host_ns(to * STEP) - time.host_ns(from * STEP);
    lasted as f64 / ((to - from) * STEP) as f64
}

/// The covariance of two moments `steps` apart: Cov = exp(s^2 exp(-t / T)) - 1.
fn covariance(steps: u64) -> f64 {
    let decay = (-(steps as f64) / 16.0).exp();
    (SIGMA * SIGMA * decay).exp() - 1.0
}

#[test]
fn the_drift_has_mean_one_and_the_autocorrelation_of_its_time() {
    let indices = 0..20_000_u64;
    for steps in [0, 1, 8, 16, 48] {
        let pairs = indices
            .clone()
            .map(|index| (drift(index, 3, 4), drift(index, 3 + steps, 4 + steps)));
        let (firsts, products): (Vec<_>, Vec<_>) = pairs
            .map(|(first, later)| (first, (first - 1.0) * (later - 1.0)))
            .unzip();
        assert_mean(firsts.into_iter(), 1.0);
        assert_mean(products.into_iter(), covariance(steps));
    }
}

#[test]
fn a_window_averages_as_its_length_says() {
    // The variance of the mean of n steps is the mean of the covariances of all their pairs.
    let closed_form = |n: u64| {
        let of_distance = |d: u64| 2.0 * (n - d) as f64 * covariance(d);
        let pairs = n as f64 * covariance(0) + (1..n).map(of_distance).sum::<f64>();
        pairs / (n * n) as f64
    };
    // A quarter of the correlation time, and ten of it.
    let spread = [4, 160].map(|n| {
        let squares = (0..4_000).map(|index| (drift(index, 0, n) - 1.0).powi(2));
        assert_mean(squares.clone(), closed_form(n));
        mean(squares).0.sqrt()
    });
    // For an Ornstein-Uhlenbeck process, 2T/W (1 - T/W (1 - exp(-W/T))) is 0.922 and 0.180 of the
    // variance. So the long window's mean is 2.3 times as accurate, not sqrt(40).
    let ratio = spread[0] / spread[1];
    assert!((2.1..2.5).contains(&ratio), "{ratio}");
}

#[test]
fn both_times_lead_to_each_other() {
    let mut time = host_time(3);
    let mut before = 0;
    for step in 0..2_000_u64 {
        let drive_ns = step * 1_234_567;
        let host_ns = time.host_ns(drive_ns);
        assert!(host_ns >= before);
        before = host_ns;
        let first = time.drive_ns(host_ns);
        assert!(first <= drive_ns && time.host_ns(first) == host_ns);
        let next = time.drive_ns(host_ns + 1);
        assert!(
            next > drive_ns && time.host_ns(next) > host_ns && time.host_ns(next - 1) <= host_ns
        );
    }
    // Forgetting steps changes nothing after them.
    let mut forgetful = host_time(3);
    let later = 1_500 * STEP + 77;
    forgetful.host_ns(later);
    forgetful.forget(1_400 * STEP);
    assert_eq!(forgetful.host_ns(later), time.host_ns(later));
    let after = time.host_ns(later);
    assert_eq!(forgetful.drive_ns(after), time.drive_ns(after));
}

#[test]
fn a_closed_loop_runs_in_the_hosts_time() {
    // Reads of 60 us one after another: the n-th completes at 60 n us of the drive's time.
    let prepared = drive(&[ONE_DIE, DRIFT]);
    let mut worker = prepared.worker();
    let reads = Characteristics {
        write_ratio: 0.0,
        queue_depth: 1,
        ..Characteristics::default()
    };
    let plan = Plan {
        log_requests: Some(9_000),
        ..Plan::counting(1_000, 9_000)
    };
    let outcome = worker.run(&closed(reads), plan, 7, 5).unwrap();
    let mut time = host_time(5);
    let mut at = |request: u64| time.host_ns(request * 60_000);
    for (request, logged) in (1_000..).zip(&outcome.log.as_ref().unwrap().requests) {
        let (from, to) = (at(request), at(request + 1));
        assert_eq!(logged.submitted_ns, from);
        assert_eq!(logged.latency_ns(), to - from);
    }
    let window = at(10_000) - at(1_000);
    assert_eq!(outcome.window, Nanos(window));
    let factor = window as f64 / 540e6;
    assert!((outcome.variability_factor - factor).abs() < 1e-12);
    // The die works all the time, in both times.
    assert!((flash(&outcome).unit_utilisation_ratio[0] - 1.0).abs() < 1e-12);
}

#[test]
fn commands_arrive_in_the_hosts_time_and_windows_close_in_it() {
    let prepared = drive(&[ONE_DIE, DRIFT]);
    // Long enough for old steps to be forgotten: 60 s are 6000 steps.
    let reads: Vec<_> = (0..60).map(|second| read(second * 1_000_000, 7)).collect();
    let plan = Plan {
        log_requests: Some(60),
        ..Plan::counting(0, 60)
    };
    let outcome = prepared.worker().run(&timed(reads), plan, 7, 5).unwrap();
    let mut time = host_time(5);
    for (second, logged) in (0..).zip(&outcome.log.as_ref().unwrap().requests) {
        let from = time.drive_ns(second * 1_000_000_000);
        assert_eq!(logged.submitted_ns, time.host_ns(from));
        // The drive's time has no moments between two of its own nanoseconds.
        assert!(logged.submitted_ns - second * 1_000_000_000 < 10);
        let latency = time.host_ns(from + 60_000) - time.host_ns(from);
        assert_eq!(logged.latency_ns(), latency);
    }
    let mut by_time = Plan::counting(0, 60);
    by_time.window.duration = Some(Nanos(2_500_000_000));
    let reads: Vec<_> = (0..60).map(|second| read(second * 1_000_000, 7)).collect();
    let outcome = prepared.worker().run(&timed(reads), by_time, 7, 5).unwrap();
    assert_eq!(outcome.window, Nanos(2_500_000_000));
    assert_eq!(outcome.measured_requests, 3);
}

#[test]
fn recorded_operations_are_told_in_the_hosts_time() {
    let prepared = drive(&[ONE_DIE, DRIFT]);
    let load = || timed([read(100_000, 7)]);
    let mut time = HostTime::new(&DRIFTING, 0, 0).unwrap();
    let start = time.drive_ns(100_000_000);
    let host = [0, 50_000, 60_000].map(|after| time.host_ns(start + after));
    let span = 100_000_000..100_000_001;
    let recorded = prepared
        .worker()
        .run_recorded(&load(), Plan::counting(0, 1), 0, span);
    let (_, recorded) = recorded.unwrap();
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0].cell, (host[0], host[1]));
    assert_eq!(recorded[0].transfer, (host[1], host[2]));
}

#[test]
fn without_variability_a_drive_is_the_one_that_never_had_any() {
    let varying = config(&[DRIFT, "variability.sigma = 0.2"]);
    let plain = config(&[]);
    assert_ne!(varying.hash(), plain.hash());
    assert_eq!(varying.without_variability().hash(), plain.hash());
}

#[test]
fn a_state_is_taken_up_by_the_drive_with_and_without_variability() {
    let varying = drive(&[DRIFT]);
    let plain = drive(&[]);
    let mut worker = varying.worker();
    let load = timed([small_drive::write(0, 3)]);
    worker.run(&load, Plan::counting(0, 1), 0, 0).unwrap();
    plain.worker().load(&worker.save()).unwrap();
}
