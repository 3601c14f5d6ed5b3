//! Properties of a stream of requests that follow from its definition.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Direction, Request};
use drivelab_workload::{Characteristics, Generator};
use proptest::prelude::*;

/// Requests drawn for each statistical check.
const REQUESTS: usize = 2_000;

fn stream(
    characteristics: &Characteristics,
    range: (u64, u64),
    key: (u64, u64),
    count: usize,
) -> Vec<Request> {
    Generator::new(characteristics, range.0, range.1, key.0, key.1)
        .unwrap()
        .take(count)
        .collect()
}

/// Any workload, with a range of at least four of its largest accesses.
fn workloads() -> impl Strategy<Value = (Characteristics, (u64, u64))> {
    let ratio = prop_oneof![Just(0.0), Just(1.0), Just(0.5), 0.0..=1.0_f64];
    let sectors = 1_u32..200;
    let stride = prop_oneof![Just(0_u64), 1_u64..300];
    (
        (ratio.clone(), 1_u32..64, sectors.clone(), sectors),
        (ratio.clone(), ratio, stride.clone(), stride),
        (0_u64..1000, 1_u64..10_000),
    )
        .prop_map(|(first, second, range)| {
            let characteristics = Characteristics {
                write_ratio: first.0,
                queue_depth: first.1,
                read_size: first.2 * 512,
                write_size: first.3 * 512,
                read_random: second.0,
                write_random: second.1,
                read_stride: second.2 * 512,
                write_stride: second.3 * 512,
            };
            let largest = u64::from(characteristics.read_size.max(characteristics.write_size))
                + characteristics
                    .read_stride
                    .max(characteristics.write_stride);
            (
                characteristics,
                (range.0 * 512, 4 * largest + range.1 * 512),
            )
        })
}

/// Whether `successes` of `trials` is within six standard deviations (and one unit) of
/// `probability`: one false alarm in 10^9 draws of this test.
fn plausible(successes: usize, trials: usize, probability: f64) -> bool {
    let expected = trials as f64 * probability;
    let deviation = (expected * (1.0 - probability)).sqrt();
    (successes as f64 - expected).abs() <= 6.0 * deviation + f64::from(u8::from(deviation > 0.0))
}

/// Where a non-random access must go, by the definition.
fn successor(previous: &Request, stride: u64, range: (u64, u64)) -> u64 {
    let start = previous.end_bytes() + stride;
    if start + u64::from(previous.size_bytes) <= range.0 + range.1 {
        start
    } else {
        range.0
    }
}

proptest! {
    #[test]
    fn requests_drawn_in_batches_are_those_drawn_one_by_one(
        (characteristics, range) in workloads(),
        batches in prop::collection::vec(1..150_usize, 1..12),
        seed in any::<u64>(),
    ) {
        let mut generator =
            Generator::new(&characteristics, range.0, range.1, seed, 3).unwrap();
        let mut one_by_one = generator.clone();
        for count in batches {
            let mut batch = vec![one_by_one.clone().next_request(); count];
            generator.fill(&mut batch);
            let expected: Vec<Request> = (&mut one_by_one).take(count).collect();
            prop_assert_eq!(batch, expected);
            // Both may be mixed.
            prop_assert_eq!(generator.next_request(), one_by_one.next_request());
        }
    }

    #[test]
    fn requests_are_whole_sectors_inside_the_range((workload, range) in workloads(), seed: u64) {
        for request in stream(&workload, range, (seed, 0), REQUESTS) {
            prop_assert_eq!(request.size_bytes, workload.size(request.direction));
            prop_assert_eq!(request.offset_bytes % 512, 0);
            prop_assert!(request.offset_bytes >= range.0);
            prop_assert!(request.end_bytes() <= range.0 + range.1);
        }
    }

    #[test]
    fn the_share_of_writes_is_the_write_ratio((workload, range) in workloads(), seed: u64) {
        let requests = stream(&workload, range, (seed, 1), REQUESTS);
        let mut writes = 0;
        for (place, round) in requests.chunks_exact(64).enumerate() {
            writes += round.iter().filter(|r| r.direction == Direction::Write).count();
            let expected = 64.0 * (place + 1) as f64 * workload.write_ratio;
            prop_assert!((writes as f64 - expected).abs() <= 1.0, "{} writes", writes);
        }
    }

    /// An access follows its predecessor unless it is random; a random one is aligned.
    #[test]
    fn each_direction_follows_itself((workload, range) in workloads(), seed: u64) {
        let requests = stream(&workload, range, (seed, 2), REQUESTS);
        for direction in Direction::ALL {
            let own: Vec<_> = requests.iter().filter(|r| r.direction == direction).collect();
            let size = u64::from(workload.size(direction));
            if let Some(first) = own.first() {
                prop_assert_eq!((first.offset_bytes - range.0) % size, 0);
            }
            let mut jumps = 0;
            for pair in own.windows(2) {
                if pair[1].offset_bytes != successor(pair[0], workload.stride(direction), range) {
                    jumps += 1;
                    prop_assert_eq!((pair[1].offset_bytes - range.0) % size, 0);
                }
            }
            // A random access may also land on the successor, with probability 1 / slots.
            let slots = (range.1 / size) as f64;
            let random = workload.random(direction);
            let steps = own.len().saturating_sub(1);
            let expected_most = random;
            let expected_least = random * (1.0 - 1.0 / slots);
            prop_assert!(
                plausible(jumps, steps, expected_most)
                    || plausible(jumps, steps, expected_least)
                    || (jumps as f64 >= expected_least * steps as f64
                        && jumps as f64 <= expected_most * steps as f64),
                "{} jumps in {} steps, {} random, {} slots", jumps, steps, random, slots
            );
        }
    }

    #[test]
    fn the_same_key_gives_the_same_stream((workload, range) in workloads(), key: (u64, u64)) {
        prop_assert_eq!(
            stream(&workload, range, key, 100),
            stream(&workload, range, key, 100)
        );
    }

    #[test]
    fn characteristics_without_effect_do_not_change_the_stream(
        (workload, range) in workloads(), seed: u64
    ) {
        let reads = Characteristics { write_ratio: 0.0, ..workload };
        let other = Characteristics { write_random: 0.25, write_stride: 512, ..reads };
        prop_assert_eq!(
            stream(&reads, range, (seed, 3), 100),
            stream(&other, range, (seed, 3), 100)
        );
    }
}

fn random_reads() -> Characteristics {
    Characteristics::default()
}

#[test]
fn another_seed_or_index_gives_another_stream() {
    let range = (0, 1 << 30);
    let base = stream(&random_reads(), range, (1, 1), 100);
    assert_ne!(base, stream(&random_reads(), range, (1, 2), 100));
    assert_ne!(base, stream(&random_reads(), range, (2, 1), 100));
}

#[test]
fn sequential_reads_wrap_to_the_start_of_the_range() {
    let workload = Characteristics {
        read_random: 0.0,
        ..random_reads()
    };
    // Ten slots, and a rest that is too small for a request.
    let range = (1 << 20, 10 * 4096 + 512);
    let requests = stream(&workload, range, (5, 0), 25);
    let first = (requests[0].offset_bytes - range.0) / 4096;
    for (place, request) in requests.iter().enumerate() {
        let slot = (first + place as u64) % 10;
        assert_eq!(request.offset_bytes, range.0 + slot * 4096);
    }
}

#[test]
fn strided_writes_leave_a_gap_and_wrap() {
    let workload = Characteristics {
        write_ratio: 1.0,
        write_random: 0.0,
        write_stride: 1024,
        ..random_reads()
    };
    let range = (0, 5 * (4096 + 1024));
    let requests = stream(&workload, range, (9, 0), 30);
    let wraps = requests
        .windows(2)
        .filter(|pair| pair[1].offset_bytes == 0)
        .count();
    assert!(wraps >= 5, "{wraps} wraps");
    for pair in requests.windows(2) {
        assert!(pair[1].offset_bytes == pair[0].offset_bytes + 5120 || pair[1].offset_bytes == 0);
    }
}

#[test]
fn a_range_of_one_request_is_always_that_request() {
    let requests = stream(&random_reads(), (8192, 4096), (0, 0), 10);
    assert!(requests.iter().all(|request| request.offset_bytes == 8192));
}

#[test]
fn random_offsets_reach_the_whole_range_evenly() {
    let range = (0, 16 * 4096);
    let mut counts = [0_u32; 16];
    for request in stream(&random_reads(), range, (2, 0), 16_000) {
        counts[(request.offset_bytes / 4096) as usize] += 1;
    }
    // 1000 expected; five standard deviations (binomial) are 153.
    assert!(
        counts.iter().all(|count| count.abs_diff(1000) < 153),
        "{counts:?}"
    );
}

#[test]
fn impossible_ranges_are_refused() {
    let cases = [
        (100, 1 << 20, "the range starts at 100"),
        (0, 1000, "has 1000 bytes"),
        (u64::MAX - 511, 1024, "below 2^63"),
        (0, u64::MAX - 511, "below 2^63"),
        (0, 0, "read_size is 4096 bytes; allowed here: at most 0"),
    ];
    for (start, bytes, message) in cases {
        let error = Generator::new(&random_reads(), start, bytes, 0, 0).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

/// Computed separately from this code, from the definition of the stream. A change here changes
/// every simulated result and every replayed stream.
#[test]
fn golden_prefix() {
    let workload = Characteristics {
        write_ratio: 0.3,
        queue_depth: 4,
        read_size: 4096,
        write_size: 16_384,
        read_random: 0.5,
        write_random: 0.0,
        read_stride: 65_536,
        write_stride: 0,
    };
    let lines: Vec<String> = stream(&workload, (1 << 20, 1 << 30), (42, 7), 12)
        .iter()
        .map(|r| format!("{} {} {}", r.direction, r.offset_bytes, r.size_bytes))
        .collect();
    assert_eq!(lines.join("\n"), GOLDEN);
}

const GOLDEN: &str = "\
read 1006587904 4096
write 175816704 16384
write 175833088 16384
read 853676032 4096
read 853745664 4096
read 853815296 4096
read 524939264 4096
write 175849472 16384
read 525008896 4096
write 175865856 16384
read 525078528 4096
read 325648384 4096";

proptest! {
    #[test]
    fn a_stream_knows_whether_it_only_reads_pages(
        (write_ratio, read_random) in (prop_oneof![Just(0.0), 0.0..=1.0_f64], 0.0..=1.0_f64),
        (size, stride, start) in (1_u32..5, 0_u64..9, 0_u64..9),
        page in prop::sample::select(vec![512_u32, 1024, 2048]),
        seed in any::<u64>(),
    ) {
        let workload = Characteristics {
            write_ratio,
            queue_depth: 1,
            read_size: size * 512,
            write_size: 512,
            read_random,
            write_random: 1.0,
            read_stride: stride * 512,
            write_stride: 0,
        };
        let mut generator = Generator::new(&workload, start * 512, 1 << 20, seed, 0).unwrap();
        let says = generator.only_reads(page);
        let are_pages = (0..500).all(|_| {
            let request = generator.next_request();
            request.direction == Direction::Read
                && request.size_bytes == page
                && request.offset_bytes.is_multiple_of(page.into())
        });
        prop_assert!(are_pages || !says);
        let is_certain = write_ratio == 0.0
            && size * 512 == page
            && (start * 512).is_multiple_of(page.into())
            && (stride * 512).is_multiple_of(page.into());
        prop_assert_eq!(says, is_certain);
    }
}
