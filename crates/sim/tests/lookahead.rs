//! Reads that go window by window give what they give event by event.
#![allow(clippy::unwrap_used)]

use drivelab_request::{HalfWidth, Nanos, WindowPlan};
use drivelab_sim::ssd::Plan;
use drivelab_workload::{Characteristics, Stream};
use proptest::prelude::*;

use crate::small_drive::{PAGE, drive};

/// A loop of reads of single pages, at random, in order or in strides.
fn reads() -> impl Strategy<Value = Characteristics> {
    let random = prop_oneof![4 => Just(1.0), 1 => Just(0.0), 1 => 0.0..=1.0_f64];
    let depth = prop_oneof![1..5_u32, 1..70_u32];
    (depth, random, 0..4_u64).prop_map(|(queue_depth, read_random, stride)| Characteristics {
        write_ratio: 0.0,
        queue_depth,
        read_size: PAGE,
        write_size: PAGE,
        read_random,
        write_random: 1.0,
        read_stride: stride * u64::from(PAGE),
        write_stride: 0,
    })
}

/// Windows that open and close by numbers of requests, by time, or by how sure the mean is.
fn window() -> impl Strategy<Value = WindowPlan> {
    let number = |most: u64| prop_oneof![Just(0), 0..most];
    let time = |most: u64| prop_oneof![2 => Just(0), 1 => 0..most];
    (
        number(2_000),
        time(9_000_000),
        0..4_u8,
        1..3_000_u64,
        1_u64..20_000_000,
    )
        .prop_map(|(warmup_requests, warmup, by, requests, duration)| {
            let half_width = HalfWidth {
                ratio: 0.02,
                max_requests: requests + 2_000,
            };
            WindowPlan {
                warmup_requests,
                warmup: Nanos(warmup),
                requests: (by != 1).then_some(requests),
                duration: (by == 1 || by == 3).then_some(Nanos(duration)),
                half_width: (by == 2).then_some(half_width),
            }
        })
}

/// Times that often meet, and such that rarely do; types of pages; a dispatch that takes time.
fn times() -> impl Strategy<Value = String> {
    let cell = prop::sample::select(vec![
        "20_000",
        "50_000",
        "[30_000, 40_000, 70_000]",
        "[10_007, 35_001]",
        "1",
    ]);
    let dispatch = prop::sample::select(vec![0, 0, 1_000, 7_919]);
    let transfer = prop::sample::select(vec![1, 10_000, 12_347, 60_000]);
    (cell, dispatch, transfer).prop_map(|(cell, dispatch, transfer)| {
        format!(
            "timing.read_cell_ns = {cell}\ntiming.read_dispatch_ns = {dispatch}\n\
             timing.read_register_ns = {transfer}"
        )
    })
}

fn shape() -> impl Strategy<Value = String> {
    let ways = prop::sample::select(vec![(2, 1, 1), (1, 4, 1), (4, 2, 2), (3, 1, 1)]);
    ways.prop_map(|(channels, ways, planes)| {
        // As much over-provisioning as on the small drive.
        let bytes = 3_145_728 * channels * ways * planes;
        format!(
            "geometry.channels = {channels}\ngeometry.ways_per_channel = {ways}\n\
             geometry.planes_per_die = {planes}\ngeometry.user_capacity_bytes = {bytes}"
        )
    })
}

proptest! {
    // Each case is up to 7,000 requests, twice.
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn windows_give_what_events_give(
        workloads in prop::collection::vec(reads(), 1..4),
        window in window(),
        (shape, times) in (shape(), times()),
        state in prop::sample::select(vec![
            "condition = \"filled\"",
            "condition = \"preconditioned\"",
            "occupancy.filled = 0.99",
        ]),
        seed in any::<u64>(),
    ) {
        let prepared = drive(&[&shape, &times, state]);
        let streams: Vec<Stream> = (workloads.iter().zip(["one", "two", "three"]))
            .map(|(workload, name)| Stream::closed(name, *workload))
            .collect();
        let plan = Plan::of(window);
        let ahead = prepared.worker().run(&streams, plan, seed, 0);
        // With a log of requests, every request goes by events.
        let plan = Plan { log_requests: Some(1), ..plan };
        let mut by_events = prepared.worker().run(&streams, plan, seed, 0);
        if let Ok(outcome) = &mut by_events {
            prop_assert!(outcome.log.take().is_some());
        }
        prop_assert_eq!(format!("{ahead:?}"), format!("{by_events:?}"));
    }
}

#[test]
fn the_state_it_leaves_is_the_same() {
    let prepared = drive(&["condition = \"preconditioned\""]);
    let streams = [Stream::closed(
        "reads",
        Characteristics {
            write_ratio: 0.0,
            ..mixed()
        },
    )];
    let after = |log_requests| {
        let mut worker = prepared.worker();
        let plan = Plan {
            log_requests,
            ..Plan::counting(100, 2_000)
        };
        worker.run(&streams, plan, 1, 0).unwrap();
        let streams = [Stream::closed("mixed", mixed())];
        format!(
            "{:?}",
            worker.run(&streams, Plan::counting(0, 500), 1, 1).unwrap()
        )
    };
    assert_eq!(after(None), after(Some(1)));
}

fn mixed() -> Characteristics {
    Characteristics {
        write_ratio: 0.3,
        queue_depth: 16,
        read_size: PAGE,
        write_size: PAGE,
        read_random: 1.0,
        write_random: 1.0,
        read_stride: 0,
        write_stride: 0,
    }
}
