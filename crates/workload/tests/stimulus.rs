//! Sizes and places of a stimulus occur with their shares.
#![allow(clippy::unwrap_used)]

use drivelab_request::{Direction, Request};
use drivelab_workload::{CharacteristicsError, Stimulus};
use proptest::prelude::*;

/// The composite workload of the performance test specification.
fn composite() -> Stimulus {
    let small = [(512, 0.04)].into_iter();
    let odd = (2..8).map(|sectors| (sectors * 512, 0.01));
    let large = [
        (4096, 0.67),
        (8192, 0.10),
        (16_384, 0.07),
        (32_768, 0.03),
        (65_536, 0.03),
    ];
    Stimulus {
        read_ratio: 0.4,
        is_random: true,
        sizes: small.chain(odd).chain(large).collect(),
        zones: vec![(0.5, 0.05), (0.3, 0.15), (0.2, 0.8)],
        threads: 2,
        queue_depth: 16,
        range_start: 1 << 20,
        range_bytes: 1 << 30,
        begin_bytes: 0,
    }
}

fn first(stimulus: &Stimulus, key: (u64, u64), count: usize) -> Vec<Request> {
    let mut loops = stimulus.loops(key.0, key.1, 0).unwrap();
    assert_eq!(loops.len(), 1);
    loops.remove(0).generator.take(count).collect()
}

/// Within five standard deviations of the binomial; the seed is fixed.
fn near(counted: usize, share: f64, of: usize) {
    let (expected, of) = (share * of as f64, of as f64);
    let deviation = (of * share * (1.0 - share)).sqrt();
    assert!(
        (counted as f64 - expected).abs() < 5.0 * deviation,
        "{counted} of {of}: {share}"
    );
}

#[test]
fn the_composite_workload_has_its_shares() {
    let stimulus = composite();
    let count = 200_000;
    let requests = first(&stimulus, (7, 3), count);
    for &(size, share) in &stimulus.sizes {
        let counted = requests.iter().filter(|r| r.size_bytes == size).count();
        near(counted, share, count);
    }
    let reads = requests
        .iter()
        .filter(|r| r.direction == Direction::Read)
        .count();
    near(reads, 0.4, count);
    let range = stimulus.range_bytes as f64;
    let place = |r: &Request| (r.offset_bytes - stimulus.range_start) as f64 / range;
    let in_zone = |low: f64, high: f64| {
        requests
            .iter()
            .filter(|r| (low..high).contains(&place(r)))
            .count()
    };
    near(in_zone(0.0, 0.05), 0.5, count);
    near(in_zone(0.05, 0.20), 0.3, count);
    near(in_zone(0.20, 1.00), 0.2, count);
    // Within the last zone all places are equally likely: each quarter of it gets a quarter.
    let last = in_zone(0.2, 1.0);
    near(in_zone(0.2, 0.4), 0.25, last);
    near(in_zone(0.8, 1.0), 0.25, last);
}

#[test]
fn one_size_and_one_zone_are_the_stream_of_characteristics() {
    let mut stimulus = composite();
    stimulus.sizes = vec![(4096, 1.0)];
    stimulus.zones = vec![(1.0, 1.0)];
    let requests = first(&stimulus, (7, 3), 1000);
    assert!(requests.iter().all(|r| r.size_bytes == 4096));
    assert_ne!(requests, first(&stimulus, (7, 4), 1000));
    assert_ne!(requests, first(&stimulus, (8, 3), 1000));
    assert_eq!(stimulus.loops(7, 3, 0).unwrap()[0].queue_depth, 32);
}

/// Two threads over 64 KiB: each cycles through its half, starting from the middle of it.
#[test]
fn in_order_each_thread_goes_round_its_part() {
    let stimulus = Stimulus {
        read_ratio: 0.0,
        is_random: false,
        sizes: vec![(8192, 1.0)],
        zones: vec![(1.0, 1.0)],
        threads: 2,
        queue_depth: 4,
        range_start: 4096,
        range_bytes: 65_536,
        begin_bytes: 16_384,
    };
    let loops = stimulus.loops(0, 0, 0).unwrap();
    let offsets: Vec<Vec<u64>> = loops
        .into_iter()
        .map(|each| {
            assert_eq!(each.queue_depth, 4);
            each.generator.take(6).map(|r| r.offset_bytes).collect()
        })
        .collect();
    assert_eq!(offsets[0], [20_480, 28_672, 4096, 12_288, 20_480, 28_672]);
    assert_eq!(offsets[1], [53_248, 61_440, 36_864, 45_056, 53_248, 61_440]);
}

/// A range that the threads do not divide evenly: parts still begin at multiples of the request.
#[test]
fn parts_are_whole_requests() {
    let mut stimulus = composite();
    stimulus.is_random = false;
    stimulus.sizes = vec![(131_072, 1.0)];
    stimulus.zones = vec![(1.0, 1.0)];
    stimulus.threads = 4;
    stimulus.range_start = 0;
    stimulus.range_bytes = 80_026_361_856;
    for each in stimulus.loops(0, 0, 0).unwrap() {
        let first = each.generator.take(1).next().unwrap();
        assert!(first.offset_bytes.is_multiple_of(131_072));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refusal = |change: &dyn Fn(&mut Stimulus)| {
        let mut stimulus = composite();
        change(&mut stimulus);
        stimulus.loops(0, 0, 0).unwrap_err()
    };
    assert!(matches!(
        refusal(&|s| s.read_ratio = f64::NAN),
        CharacteristicsError::Ratio {
            field: "read_ratio",
            ..
        }
    ));
    assert!(matches!(
        refusal(&|s| s.sizes[0].0 = 100),
        CharacteristicsError::Size { value: 100, .. }
    ));
    assert!(matches!(
        refusal(&|s| s.sizes[0].1 = 0.0),
        CharacteristicsError::Ratio { .. }
    ));
    assert!(matches!(
        refusal(&|s| s.threads = 0),
        CharacteristicsError::QueueDepth { .. }
    ));
    // The first zone has a twentieth: 32 KiB.
    assert!(matches!(
        refusal(&|s| s.range_bytes = 640 << 10),
        CharacteristicsError::DoesNotFit {
            value: 65_536,
            limit: 32_768,
            ..
        }
    ));
}

proptest! {
    #[test]
    fn requests_stay_inside_and_are_aligned(
        sizes in prop::collection::vec((1_u32..256, 0.01_f64..1.0), 1..6),
        zones in prop::collection::vec((0.01_f64..1.0, 0.05_f64..1.0), 1..5),
        sectors in 16_384_u64..200_000,
        start in 0_u64..1000,
        is_random: bool,
        key: (u64, u32),
    ) {
        let stimulus = Stimulus {
            read_ratio: 0.5,
            is_random,
            sizes: sizes.into_iter().map(|(sectors, share)| (sectors * 512, share)).collect(),
            zones: if is_random { zones } else { vec![(1.0, 1.0)] },
            threads: 3,
            queue_depth: 2,
            range_start: start * 512,
            range_bytes: sectors * 512,
            begin_bytes: sectors * 256 / 512 * 512,
        };
        let end = stimulus.range_start + stimulus.range_bytes;
        for each in stimulus.loops(key.0, u64::from(key.1), 0).unwrap() {
            for request in each.generator.take(300) {
                let offset = request.offset_bytes - stimulus.range_start;
                let size = u64::from(request.size_bytes);
                prop_assert!(request.offset_bytes >= stimulus.range_start);
                prop_assert!(request.offset_bytes + size <= end);
                prop_assert!(!is_random || offset.is_multiple_of(size));
            }
        }
    }
}
