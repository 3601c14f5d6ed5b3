//! Batch means compared with the same values computed from all latencies, and the coverage of the
//! intervals at which a window stops.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{
    BatchMeans, ClosedBy, CompletionWindow, Direction, HalfWidth, LEAST_BATCHES, MOST_BATCHES,
    WindowPlan,
};
use proptest::prelude::*;

fn pushed(latencies: &[u64]) -> BatchMeans {
    let mut batches = BatchMeans::new();
    for (place, &latency) in latencies.iter().enumerate() {
        batches.push(latency, 10 * (place as u64 + 1));
    }
    batches
}

proptest! {
    #[test]
    fn batches_are_means_of_consecutive_latencies(
        latencies in prop::collection::vec(0..1_000_000_u64, 1..3000)
    ) {
        let batches = pushed(&latencies);
        prop_assert_eq!(batches.requests(), latencies.len() as u64);
        let mean = latencies.iter().sum::<u64>() as f64 / latencies.len() as f64;
        prop_assert_eq!(batches.mean_ns(), Some(mean));
        let found = batches.latency_batches();
        let size = found.requests_per_batch as usize;
        let means: Vec<f64> = latencies
            .chunks_exact(size)
            .map(|batch| batch.iter().sum::<u64>() as f64 / size as f64)
            .collect();
        prop_assert!(found.means_ns.len() <= MOST_BATCHES);
        // A batch left over when pairs are joined is dropped.
        prop_assert!(means.len() - found.means_ns.len() <= 1);
        prop_assert_eq!(&found.means_ns[..], &means[..found.means_ns.len()]);
        let ends: Vec<u64> = (1..=found.means_ns.len()).map(|n| (10 * n * size) as u64).collect();
        prop_assert_eq!(found.ends_ns, ends);
        prop_assert_eq!(found.half_width_ns.is_some(), means.len() >= LEAST_BATCHES);
    }
}

#[test]
fn the_number_of_batches_stays_between_half_and_all() {
    let mut batches = BatchMeans::new();
    for count in 1..=10_000_u64 {
        batches.push(5, count);
        let found = batches.latency_batches();
        assert_eq!(found.half_width_ns.is_some(), count >= LEAST_BATCHES as u64);
        // Without scatter there is no correlation, so pairs are joined only where they must be.
        assert!(found.means_ns.len() >= (MOST_BATCHES / 2).min(count as usize));
        assert!(found.means_ns.len() <= MOST_BATCHES);
    }
}

/// A third of a nanosecond is not a binary fraction. Rounding must not look like scatter.
#[test]
fn equal_batches_have_half_width_zero() {
    for size in [1, 2, 64, 100] {
        let latencies: Vec<u64> = (0..size * 48).map(|_| 85_000_000_000_000_001).collect();
        let found = pushed(&latencies).latency_batches();
        assert_eq!((found.half_width_ns, found.correlation), (Some(0.0), 0.0));
    }
    assert!(pushed(&[7; 100]).reaches(1e-300));
}

#[test]
fn sums_do_not_overflow() {
    let found = pushed(&[u64::MAX; 1000]).latency_batches();
    assert_eq!(found.half_width_ns, Some(0.0));
    assert_eq!(found.means_ns[0], u64::MAX as f64);
}

#[test]
fn nothing_is_known_of_nothing() {
    let none = BatchMeans::new();
    assert_eq!((none.requests(), none.mean_ns()), (0, None));
    assert!(!none.reaches(0.5));
    let found = none.latency_batches();
    assert!(found.means_ns.is_empty());
    assert_eq!((found.half_width_ns, found.correlation), (None, 0.0));
}

/// The half-width of a drift exceeds the whole way, whatever the shape of the drift.
#[test]
fn the_half_width_of_a_drift_spans_it() {
    let way = 10_000;
    let line = |n: u64| way * n / 5000;
    let step = |n: u64| if n < 2500 { 0 } else { way };
    let late = |n: u64| if n < 4000 { 0 } else { way };
    let shapes: [&dyn Fn(u64) -> u64; 3] = [&line, &step, &late];
    for shape in shapes {
        let latencies: Vec<u64> = (0..5000).map(|n| 100_000 + shape(n)).collect();
        let found = pushed(&latencies).latency_batches();
        assert!(found.correlation > 0.6, "{}", found.correlation);
        assert!(found.means_ns.len() < 2 * LEAST_BATCHES);
        // With a late step, only a fifth of the batches saw the end.
        let least = if shape(4000) == way && shape(3999) == 0 {
            0.6
        } else {
            1.0
        };
        let half_width = found.half_width_ns.unwrap();
        assert!(half_width > least * way as f64, "{half_width}");
    }
}

/// SplitMix64 (Steele et al. 2014). Nothing else in this crate needs it.
struct Numbers(u64);

impl Numbers {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Mean 0, variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }
}

const REPLICATES: u64 = 400;
const MEAN_NS: f64 = 100_000.0;

/// How many of [`REPLICATES`] windows reached 1 %, and how many of these contained the true mean.
fn covered(mut next: impl FnMut(&mut Numbers, &mut f64) -> f64) -> (u64, u64) {
    let plan = WindowPlan {
        requests: Some(5000),
        half_width: Some(HalfWidth {
            ratio: 0.01,
            max_requests: 100_000,
        }),
        ..WindowPlan::default()
    };
    let (mut reached, mut held) = (0, 0);
    for replicate in 0..REPLICATES {
        let mut numbers = Numbers(replicate << 32);
        let mut state = numbers.normal();
        let mut window = CompletionWindow::new(plan);
        let mut at = 0;
        while window.closed_by().is_none() {
            at += 1;
            let latency = next(&mut numbers, &mut state).max(0.0) as u64;
            window.complete(at, latency, Direction::Read, 512);
        }
        if window.closed_by() == Some(ClosedBy::HalfWidth) {
            reached += 1;
            let half_width = window.batches().latency_batches().half_width_ns.unwrap();
            let mean = window.batches().mean_ns().unwrap();
            assert!(half_width <= 0.01 * mean);
            held += u64::from((mean - MEAN_NS).abs() <= half_width);
        }
    }
    (reached, held)
}

/// At least `least` of the intervals contain the true mean. The nominal fraction is 95 %. Stopping
/// at the first good look costs some of it, and the fraction in 400 replicates scatters by 1.1 %
/// (binomial); three times that is allowed.
fn assert_covers((reached, held): (u64, u64), least: f64) {
    assert!(reached >= REPLICATES * 9 / 10, "{reached} reached");
    let share = held as f64 / reached as f64;
    let scatter = 3.0 * (0.95 * 0.05 / reached as f64).sqrt();
    assert!(share >= least - scatter, "{share}, {least} - {scatter}");
    assert!(share <= 0.95 + scatter, "wider than it has to be: {share}");
}

#[test]
fn coverage_of_independent_latencies() {
    let seen = covered(|numbers, _| MEAN_NS * numbers.exponential());
    assert_covers(seen, 0.94);
}

/// First-order autoregressive: correlated over about 20, 200 and 700 requests. The last is nearly a
/// whole batch at the first looks.
#[test]
fn coverage_of_correlated_latencies() {
    for (memory, deviation, least) in [(0.9, 0.3, 0.93), (0.99, 0.04, 0.90), (0.997, 0.04, 0.88)] {
        let step = (1.0_f64 - memory * memory).sqrt();
        let seen = covered(|numbers, state| {
            *state = memory * *state + step * numbers.normal();
            MEAN_NS * (1.0 + deviation * *state)
        });
        assert_covers(seen, least);
    }
}

/// A mean that doubles over 50,000 requests is not a mean: at most one window in a hundred may
/// accept it.
#[test]
fn a_drifting_latency_is_not_believed() {
    let mut place = 0_u64;
    let mut before = f64::NAN;
    let (reached, _) = covered(|numbers, state| {
        // The state is drawn anew for each window.
        if state.to_bits() != before.to_bits() {
            before = *state;
            place = 0;
        }
        place += 1;
        MEAN_NS * (0.5 + place as f64 / 100_000.0) * (0.9 + 0.2 * numbers.uniform())
    });
    assert!(reached <= REPLICATES / 100, "{reached}");
}
