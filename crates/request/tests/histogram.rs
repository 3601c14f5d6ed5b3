//! The histogram compared with definitions written independently of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{BINS, Histogram, bin_of, bin_range, bin_value};
use proptest::prelude::*;

/// The number of fio's bins, which are the first of ours.
const FIOS: usize = 1856;

/// The bins of fio's layout, extended, by counting: bin after bin, each with the width of its
/// group. Returns `(low, high)` of every bin, both included.
fn layout_by_counting() -> Vec<(u64, u64)> {
    let mut bins = Vec::new();
    let mut low = 0_u64;
    for group in 0..37_u32 {
        let width = if group < 2 { 1 } else { 1_u64 << (group - 1) };
        for _ in 0..64 {
            bins.push((low, low + width - 1));
            low += width;
        }
    }
    bins
}

#[test]
fn layout_is_fios_and_goes_on() {
    let bins = layout_by_counting();
    assert_eq!(bins.len(), BINS);
    assert_eq!(bins[FIOS - 1].1, (1 << 34) - 1);
    assert_eq!(bins.last().unwrap().1, (1 << 42) - 1);
    for (bin, &(low, high)) in bins.iter().enumerate() {
        assert_eq!(bin_of(low), bin, "low end of bin {bin}");
        assert_eq!(bin_of(high), bin, "high end of bin {bin}");
        assert_eq!(bin_range(bin).0, low);
        if bin < BINS - 1 {
            assert_eq!(bin_range(bin).1, high);
        }
        // The value that fio prints: the low end plus half the width, in whole ns.
        assert_eq!(bin_value(bin), low + (high + 1 - low) / 2);
        assert_eq!(bin_of(bin_value(bin)), bin);
    }
}

#[test]
fn every_value_up_to_two_to_the_seventeen_by_search() {
    let bins = layout_by_counting();
    let mut bin = 0;
    for ns in 0..(1_u64 << 17) {
        while ns > bins[bin].1 {
            bin += 1;
        }
        assert_eq!(bin_of(ns), bin, "{ns} ns");
    }
}

#[test]
fn values_and_bins_past_the_end_belong_to_the_last_bin() {
    for ns in [(1 << 42) - 1, 1 << 42, 1 << 50, u64::MAX] {
        assert_eq!(bin_of(ns), BINS - 1);
    }
    assert_eq!(bin_range(BINS - 1).1, u64::MAX);
    assert_eq!(bin_range(BINS + 7), bin_range(BINS - 1));
    assert_eq!(bin_value(usize::MAX), bin_value(BINS - 1));
}

#[test]
fn percentiles_of_half_a_minute_are_as_near_as_those_of_half_a_millisecond() {
    for unit in [10, 1_000, 1_000_000] {
        let mut histogram = Histogram::new();
        (1..=1000_u64).for_each(|rank| histogram.record(unit * (20_000 + 10 * rank)));
        for percent in [1.0, 50.0, 99.0, 99.9] {
            let exact = (unit * 20_000) as f64 + unit as f64 * 100.0 * percent;
            let found = histogram.percentile_ns(percent).unwrap() as f64;
            assert!(
                (found / exact - 1.0).abs() <= 1.0 / 128.0,
                "{found} {exact}"
            );
        }
    }
}

#[test]
fn an_empty_histogram_has_no_statistics() {
    let histogram = Histogram::new();
    assert_eq!(histogram.count(), 0);
    assert_eq!(histogram.min_ns(), None);
    assert_eq!(histogram.max_ns(), None);
    assert_eq!(histogram.mean_ns(), None);
    assert_eq!(histogram.percentile_ns(50.0), None);
    assert_eq!(histogram.nonzero().count(), 0);
}

#[test]
fn percentiles_outside_zero_to_a_hundred_have_no_answer() {
    let mut histogram = Histogram::new();
    histogram.record(1000);
    for percent in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
        assert_eq!(histogram.percentile_ns(percent), None);
    }
}

#[test]
fn equal_latencies_have_equal_percentiles() {
    let mut histogram = Histogram::new();
    histogram.record_n(85_000, 7);
    for percent in [0.0, 50.0, 99.99, 100.0] {
        assert_eq!(histogram.percentile_ns(percent), Some(85_000));
    }
}

#[test]
fn ranks_do_not_suffer_from_decimal_fractions() {
    let mut histogram = Histogram::new();
    for ns in 1..=100 {
        histogram.record_n(ns, 10);
    }
    // Rank 999 of 1000 is still 100 ns; rank 990 is the last 99 ns.
    assert_eq!(histogram.percentile_ns(99.0), Some(99));
    assert_eq!(histogram.percentile_ns(99.1), Some(100));
    assert_eq!(histogram.percentile_ns(0.1), Some(1));
    assert_eq!(histogram.percentile_ns(7.0), Some(7));
}

/// Latencies of up to `bits` bits, with equal weight for each octave.
fn latencies(bits: u32) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(
        (0..bits, any::<u64>()).prop_map(|(bits, value)| value & ((1 << bits) | ((1 << bits) - 1))),
        1..400,
    )
}

fn histogram_of(latencies: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &ns in latencies {
        histogram.record(ns);
    }
    histogram
}

proptest! {
    #[test]
    fn a_value_lies_in_its_bin(ns in any::<u64>(), bits in 0_u32..64) {
        let ns = ns >> bits;
        let (low, high) = bin_range(bin_of(ns));
        prop_assert!(low <= ns && ns <= high);
    }

    #[test]
    fn exact_statistics(values in latencies(63)) {
        let histogram = histogram_of(&values);
        let sum: u128 = values.iter().map(|&ns| u128::from(ns)).sum();
        prop_assert_eq!(histogram.count(), values.len() as u64);
        prop_assert_eq!(histogram.sum_ns(), sum);
        prop_assert_eq!(histogram.min_ns(), values.iter().min().copied());
        prop_assert_eq!(histogram.max_ns(), values.iter().max().copied());
        prop_assert_eq!(histogram.mean_ns(), Some(sum as f64 / values.len() as f64));
        prop_assert_eq!(histogram.nonzero().map(|(_, count)| count).sum::<u64>(), histogram.count());
    }

    /// Compared with the nearest rank in the sorted values: the same bin, and so within 1/128.
    #[test]
    fn percentiles_against_sorting(values in latencies(33), percent in 0_u32..=100) {
        let histogram = histogram_of(&values);
        let mut sorted = values;
        sorted.sort_unstable();
        let rank = (percent as usize * sorted.len()).div_ceil(100).max(1);
        let exact = sorted[rank - 1];
        let answer = histogram.percentile_ns(f64::from(percent)).unwrap();
        prop_assert!(
            answer.abs_diff(exact) * 128 <= exact,
            "percentile {}: {} ns, exact {} ns", percent, answer, exact
        );
        prop_assert!(sorted[0] <= answer && answer <= sorted[sorted.len() - 1]);
    }

    #[test]
    fn merging_is_recording_both(left in latencies(40), right in latencies(40)) {
        let mut merged = histogram_of(&left);
        merged.merge(&histogram_of(&right));
        let both: Vec<u64> = left.iter().chain(&right).copied().collect();
        prop_assert_eq!(&merged, &histogram_of(&both));

        let mut with_nothing = merged.clone();
        with_nothing.merge(&Histogram::new());
        prop_assert_eq!(&with_nothing, &merged);
    }

    #[test]
    fn recording_n_times_at_once(ns in any::<u64>(), n in 0_u64..50) {
        let mut at_once = Histogram::new();
        at_once.record_n(ns, n);
        let one_by_one = histogram_of(&vec![ns; n as usize]);
        prop_assert_eq!(&at_once, &one_by_one);

        at_once.clear();
        prop_assert_eq!(&at_once, &Histogram::new());
    }
}
