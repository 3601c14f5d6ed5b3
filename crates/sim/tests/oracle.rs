//! Compares the simulator with a second one that was written independently to be obvious
//! (`drives/world.rs`). Both agree to the nanosecond in every request, on random drives under
//! random loads with collection at work.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_sim::preset::{Ageing, Mapping, SsdConfig};
use drivelab_sim::ssd::{Outcome, Plan, Prepared, SimError, Ssd};
use drivelab_workload::{Characteristics, Generator, Key, Stream};
use proptest::option;
use proptest::prelude::*;

use crate::counted::flash;
use crate::drives::story::Story;
use crate::drives::world::{Arrivals, Turns, World};
use crate::drives::{draws, fitted, placed, plans, small_drives, workloads};
use crate::small_drive::{closed, timed};

/// Uses one request a window to compare every latency and every completion time.
fn assert_every_request_agrees(drive: &mut Ssd, load: &[Stream], story: &Story) {
    let mut before = 0;
    for (place, (request, latency, at)) in story.completions().into_iter().enumerate() {
        let plan = Plan::counting(place as u64, 1);
        let outcome = run(drive, load, plan).unwrap();
        let counted = &outcome.streams[0].commands[request.kind.index()]
            .counted
            .latency;
        assert_eq!(counted.max_ns(), Some(latency), "request {place}");
        assert_eq!(outcome.window.0, at - before, "completion {place}");
        before = at;
    }
}

/// A run from the prepared state and back; `None` if time stands still.
fn run(drive: &mut Ssd, load: &[Stream], plan: Plan) -> Option<Outcome> {
    let outcome = drive.run(load, plan, 11, 7);
    drive.reset();
    match outcome {
        Err(SimError::NoTime) => None,
        other => Some(other.unwrap()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn closed_loops_agree(
        (config, workload, plan) in (small_drives(), workloads(), plans())
    ) {
        let workload = fitted(workload, &config);
        let prepared = Prepared::new(config.clone()).unwrap();
        let mut drive = prepared.worker();
        let generator = Generator::new(&workload, 0, drive.capacity_bytes(), 11, 7).unwrap();
        let load = closed(workload);
        let Some(outcome) = run(&mut drive, &load, plan) else {
            return Ok(());
        };
        let world = World::new(&config, drive.firmware(), outcome.variability_factor);
        let arrivals = Arrivals::Closed(Box::new(generator.map(Into::into)), workload.queue_depth);
        let story = world.run(vec![arrivals], plan);
        story.assert_agrees(&outcome);
    }

    /// Drives whose blocks fail until too many have: the moves of their data, and failed programs.
    #[test]
    fn drives_with_bad_blocks_agree(
        (mut config, workload, seed, failing) in (
            small_drives(),
            workloads(),
            0..1_000_u64,
            (1..9_u32, 0.0..0.2_f64, 0.0..0.2_f64, 0.0..0.1_f64),
        )
    ) {
        config.mapping = Mapping::default();
        config.slc = None;
        config.collection.temperature_classes = None;
        config.geometry.blocks_per_plane = 24;
        let usual = "rated_erases = 9\nprogram_time_ratio = 0.5\n";
        let text = format!("base = \"x25m\"\nname = \"-\"\n[ageing]\n{usual}");
        let ageing = SsdConfig::from_text(&text).unwrap().ageing.unwrap();
        config.ageing = Some(Ageing {
            seed,
            rated_erases: failing.0,
            program_failure_probability: failing.1,
            erase_failure_probability: failing.2,
            factory_bad_ratio: failing.3,
            ..ageing
        });
        let workload = Characteristics { write_ratio: 0.9, ..fitted(workload, &config) };
        let Ok(prepared) = Prepared::new(config.clone()) else {
            return Ok(());
        };
        let mut drive = prepared.worker();
        let generator = Generator::new(&workload, 0, drive.capacity_bytes(), 11, 7).unwrap();
        let load = closed(workload);
        let plan = Plan::counting(0, 200);
        let outcome = drive.run(&load, plan, 11, 7);
        drive.reset();
        let Ok(outcome) = outcome else {
            return Ok(());
        };
        prop_assert!(flash(&outcome).bad_blocks.is_some() && flash(&outcome).retired_blocks.is_some());
        let world = World::new(&config, drive.firmware(), outcome.variability_factor);
        let arrivals = Arrivals::Closed(Box::new(generator.map(Into::into)), workload.queue_depth);
        world.run(vec![arrivals], plan).assert_agrees(&outcome);
    }

    #[test]
    fn several_streams_agree(
        (config, workloads, draws, plan, shares) in (
            small_drives(),
            (workloads(), workloads()),
            draws(60),
            plans(),
            [option::of((1..40_u32, 1..6_u32)), option::of((1..40_u32, 1..6_u32))],
        )
    ) {
        let prepared = Prepared::new(config.clone()).unwrap();
        let mut drive = prepared.worker();
        let capacity = drive.capacity_bytes();
        let requests = placed(&draws, capacity);
        let mut streams = Vec::new();
        let mut arrivals = Vec::new();
        // The timed commands come between them.
        for ((place, workload), share) in [(0, workloads.0), (2, workloads.1)].into_iter().zip(shares) {
            let workload = fitted(workload, &config);
            let index = Key { place, ..Key::first(11, 7) }.of_stream();
            let generator = Generator::new(&workload, 0, capacity, 11, index).unwrap();
            let queue_depth = workload.queue_depth;
            let drawn = generator.map(Into::into);
            arrivals.push(match share {
                Some((share, burst)) => {
                    let turns = Turns { share: share.into(), burst: burst.into() };
                    Arrivals::Shared(Box::new(drawn), queue_depth, turns)
                }
                None => Arrivals::Closed(Box::new(drawn), queue_depth),
            });
            streams.push(Stream {
                share: share.map(|(share, _)| share.into()),
                burst: share.map_or(1, |(_, burst)| burst),
                ..Stream::closed("closed", workload)
            });
        }
        streams.insert(1, Stream::timed("timed", requests.clone()));
        arrivals.insert(1, Arrivals::Open(requests.into()));
        for (class, stream) in (0..).zip(&mut streams) {
            stream.priority = class;
        }
        let Some(outcome) = run(&mut drive, &streams, plan) else {
            return Ok(());
        };
        let world = World::new(&config, drive.firmware(), outcome.variability_factor);
        world.run(arrivals, plan).assert_agrees(&outcome);
    }

    #[test]
    fn open_loops_agree_in_every_request((config, draws) in (small_drives(), draws(120))) {
        let prepared = Prepared::new(config.clone()).unwrap();
        let mut drive = prepared.worker();
        let requests = placed(&draws, drive.capacity_bytes());
        let load = timed(requests.clone());
        let plan = Plan::counting(0, requests.len() as u64);
        let outcome = run(&mut drive, &load, plan).unwrap();
        let world = World::new(&config, drive.firmware(), outcome.variability_factor);
        let story = world.run(vec![Arrivals::Open(requests.into())], plan);
        story.assert_agrees(&outcome);
        assert_every_request_agrees(&mut drive, &load, &story);
    }
}
