//! A request that goes straight to the flash and back counts like one whose every step is asked
//! about.
#![allow(clippy::unwrap_used)]

use drivelab_request::{HalfWidth, Nanos, WindowPlan};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Plan, Prepared};
use drivelab_workload::{Characteristics, Stream};
use proptest::prelude::*;

use crate::small_drive::BASE;

fn workload() -> impl Strategy<Value = Characteristics> {
    let ratio = || prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0_f64];
    let sectors = || prop_oneof![Just(8_u32), Just(32), 1..40_u32];
    (
        ratio(),
        1..20_u32,
        (sectors(), sectors()),
        (ratio(), ratio()),
    )
        .prop_map(
            |(write_ratio, queue_depth, sectors, random)| Characteristics {
                write_ratio,
                queue_depth,
                read_size: sectors.0 * 512,
                write_size: sectors.1 * 512,
                read_random: random.0,
                write_random: random.1,
                read_stride: 0,
                write_stride: 0,
            },
        )
}

/// Windows that open and close by numbers of requests, by time, or by how sure the mean is. They
/// are long enough for a second core.
fn long_window() -> impl Strategy<Value = WindowPlan> {
    let warmup = prop_oneof![Just(0), 0..9_000_u64];
    let time = prop_oneof![3 => Just(0), 1 => 0..9_000_000_u64];
    (warmup, time, 0..5_u8, 1..14_000_u64).prop_map(|(warmup_requests, warmup, by, requests)| {
        let half_width = HalfWidth {
            ratio: 0.02,
            max_requests: requests + 8_000,
        };
        WindowPlan {
            warmup_requests,
            warmup: Nanos(warmup),
            requests: (by != 1).then_some(requests),
            duration: (by == 1).then_some(Nanos(1 + requests * 20_000)),
            half_width: (by == 2).then_some(half_width),
        }
    })
}

proptest! {
    // Each case is up to 30,000 requests, twice.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_second_core_changes_neither_results_nor_the_state_that_is_left(
        workloads in prop::collection::vec(workload(), 1..3),
        // Most runs have one loop: others have no use for a second core.
        loops in prop_oneof![5 => Just(1_usize), 1 => Just(2)],
        window in long_window(),
        (known, other) in prop::sample::select(vec![
            ("\"filled\"", "\"filled\""),
            ("\"filled\"", "\"preconditioned\""),
            ("\"filled\"", "\"filled\"\noccupancy.filled = 0.99"),
            ("\"filled\"", "\"filled\"\noccupancy.filled = 0.5"),
            ("\"filled\"", "\"filled\"\noccupancy.filled = 0.8\noccupancy.order = \"random\""),
            ("\"paced\"", "\"whole_block\""),
            ("\"per_die\"", "\"per_die\"\nscheduling.copyback = true"),
        ]),
        seed in any::<u64>(),
    ) {
        let text = BASE.replace(known, other);
        let prepared = Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap();
        let streams: Vec<Stream> = (workloads.iter().take(loops).zip(["one", "two"]))
            .map(|(workload, name)| Stream::closed(name, *workload))
            .collect();
        let run = |has_second_core| {
            let mut worker = prepared.worker();
            worker.set_second_core(has_second_core);
            let outcome = worker.run(&streams, Plan::of(window), seed, 0);
            (format!("{outcome:?}"), worker.save())
        };
        prop_assert_eq!(run(true), run(false));
    }
}

proptest! {
    #[test]
    fn a_run_is_the_same_by_the_short_way_and_by_the_long_one(
        workloads in prop::collection::vec(workload(), 1..3),
        (warmup, requests) in (0..300_u64, 1..900_u64),
        (known, other) in prop::sample::select(vec![
            ("\"filled\"", "\"filled\""),
            ("\"filled\"", "\"preconditioned\""),
            ("\"filled\"", "\"filled\"\noccupancy.filled = 0.5"),
            ("\"paced\"", "\"whole_block\""),
            ("\"per_die\"", "\"per_die\"\nscheduling.copyback = true"),
        ]),
        seed in any::<u64>(),
    ) {
        let text = BASE.replace(known, other);
        let prepared = Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap();
        let streams: Vec<Stream> = (workloads.iter().zip(["one", "two"]))
            .map(|(workload, name)| Stream::closed(name, *workload))
            .collect();
        let plan = Plan::counting(warmup, requests);
        let straight = prepared.worker().run(&streams, plan, seed, 0).unwrap();
        // With a log of requests, requests go the long way.
        let plan = Plan { log_requests: Some(1), ..plan };
        let mut asked = prepared.worker().run(&streams, plan, seed, 0).unwrap();
        prop_assert!(asked.log.take().is_some());
        prop_assert_eq!(format!("{straight:?}"), format!("{asked:?}"));
    }
}
