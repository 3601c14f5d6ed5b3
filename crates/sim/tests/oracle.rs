//! The simulator against a second one, written apart from it to be obvious
//! (`drives/world.rs`): equal to the nanosecond in every request, on random
//! drives under random loads with collection at work.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod drives;

use drivelab_sim::ssd::{Load, Outcome, Plan, Prepared, Ssd};
use drivelab_workload::Generator;
use drives::story::Story;
use drives::world::{Arrivals, World};
use drives::{draws, fitted, placed, small_drives, workloads};
use proptest::prelude::*;

/// One request a window: compares every latency and every completion time.
fn assert_every_request_agrees(drive: &mut Ssd, load: &Load, story: &Story) {
    let mut before = 0;
    for (place, (request, latency, at)) in story.completions().into_iter().enumerate() {
        let plan = Plan {
            warmup_requests: place as u64,
            requests: 1,
            range_bytes: None,
        };
        let outcome = run(drive, load, plan);
        let counted = &outcome.of(request.direction).latency;
        assert_eq!(counted.max_ns(), Some(latency), "request {place}");
        assert_eq!(outcome.window.0, at - before, "completion {place}");
        before = at;
    }
}

/// A run from the prepared state, and back.
fn run(drive: &mut Ssd, load: &Load, plan: Plan) -> Outcome {
    let outcome = drive.run(load.clone(), plan, 11, 7).unwrap();
    drive.reset();
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn closed_loops_agree(
        (config, workload, warmup, requests) in
            (small_drives(), workloads(), 0..60_u64, 1..120_u64)
    ) {
        let workload = fitted(workload, &config);
        let prepared = Prepared::new(config.clone()).unwrap();
        let mut drive = prepared.worker();
        let generator = Generator::new(&workload, 0, drive.capacity_bytes(), 11, 7).unwrap();
        let load = Load::Closed { generator: generator.clone(), queue_depth: workload.queue_depth };
        let plan = Plan { warmup_requests: warmup, requests, range_bytes: None };
        let outcome = run(&mut drive, &load, plan);
        let world = World::new(&config, drive.firmware().clone(), outcome.variability_factor);
        let story = world.run(Arrivals::Closed(Box::new(generator), workload.queue_depth), plan);
        story.assert_agrees(&outcome);
    }

    #[test]
    fn open_loops_agree_in_every_request((config, draws) in (small_drives(), draws(120))) {
        let prepared = Prepared::new(config.clone()).unwrap();
        let mut drive = prepared.worker();
        let requests = placed(&draws, drive.capacity_bytes());
        let load = Load::Open { requests: requests.clone() };
        let plan = Plan { requests: requests.len() as u64, ..Plan::default() };
        let outcome = run(&mut drive, &load, plan);
        let world = World::new(&config, drive.firmware().clone(), outcome.variability_factor);
        let story = world.run(Arrivals::Open(requests.into()), plan);
        story.assert_agrees(&outcome);
        assert_every_request_agrees(&mut drive, &load, &story);
    }
}
