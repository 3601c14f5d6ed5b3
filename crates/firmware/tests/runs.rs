//! Complete runs: the same seed gives the same result, no page and no request is lost, and
//! collection keeps the bounds, with turns and with threads.
#![allow(clippy::unwrap_used)]

use drivelab_firmware::error::RunError;
use drivelab_firmware::marks::{DRIVELAB_MARKS, HOST, drivelab_mark};
use drivelab_firmware::records::{Counter, NAMES, RECORD_REQUESTS, Record};
use drivelab_firmware::requests::Request;
use drivelab_firmware::run::{Outcome, Settings, run};
use drivelab_ftl::Policies;

use crate::drive::{SMALL, list, mixed, prepared, random_writes};

fn serve(requests: &[Request], settings: &Settings) -> Outcome {
    run(prepared(), list(requests), settings).unwrap()
}

fn counts(records: &[Record]) -> Vec<String> {
    // Only the time differs.
    let lines = records.iter().enumerate();
    lines
        .map(|(number, record)| {
            let line = record.line(number);
            line.split(",\"wall_ns\"").next().unwrap().to_owned()
        })
        .collect()
}

fn with_workers(workers: usize) -> Settings {
    Settings {
        workers,
        ..Settings::default()
    }
}

fn check(outcome: &Outcome, requests: &[Request]) {
    assert_eq!(outcome.counts.get(Counter::Requests), requests.len() as u64);
    outcome.state.check().unwrap();
}

#[test]
fn two_runs_of_a_seed_give_the_same() {
    let requests = mixed(3_000, 1);
    let settings = with_workers(4);
    let (one, two) = (serve(&requests, &settings), serve(&requests, &settings));
    assert_eq!(one.records.len(), 3);
    assert_eq!(counts(&one.records), counts(&two.records));
    assert_eq!(one.state.programmed, two.state.programmed);
    let other = serve(
        &requests,
        &Settings {
            seed: 2,
            ..settings
        },
    );
    assert_ne!(counts(&one.records), counts(&other.records));
}

#[test]
fn records_of_a_request_add_up_to_those_of_a_thousand() {
    let requests = mixed(3_000, 1);
    let alone = Settings {
        depth: 1,
        ..with_workers(4)
    };
    let each = Settings {
        record_requests: 1,
        ..alone
    };
    let (whole, single) = (serve(&requests, &alone), serve(&requests, &each));
    assert_eq!(single.records.len(), requests.len());
    for (thousand, singles) in whole.records.iter().zip(single.records.chunks(1000)) {
        for counter in [Counter::Requests, Counter::Pages, Counter::FlashPrograms] {
            let sum: u64 = singles.iter().map(|one| one.counts.get(counter)).sum();
            assert_eq!(sum, thousand.counts.get(counter));
        }
        assert!(
            singles
                .iter()
                .all(|one| one.counts.get(Counter::Requests) == 1)
        );
    }
}

#[test]
fn turns_lose_nothing_for_any_number_of_workers() {
    let requests = mixed(2_500, 2);
    for workers in [1, 2, 3, 4, 9, 16] {
        for depth in [1, 7, 255] {
            let settings = Settings {
                depth,
                ..with_workers(workers)
            };
            let outcome = serve(&requests, &settings);
            check(&outcome, &requests);
            assert_eq!(outcome.counts.get(Counter::LockWaits), 0);
        }
    }
}

#[test]
fn threads_lose_nothing() {
    let mut requests = mixed(2_000, 3);
    requests.extend(random_writes(30_000, 4));
    for workers in [2, 3, 4, 8] {
        let settings = Settings {
            has_threads: true,
            ..with_workers(workers)
        };
        let outcome = serve(&requests, &settings);
        check(&outcome, &requests);
        assert!(outcome.counts.get(Counter::PagesMoved) > 0);
    }
}

#[test]
fn a_firmware_that_is_stuck_says_so() {
    let requests = random_writes(30_000, 8);
    for (has_threads, workers) in [(false, 4), (true, 2), (true, 4)] {
        let settings = Settings {
            has_threads,
            ..with_workers(workers)
        };
        let mut state = prepared();
        // Nothing is collected: blocks run out, and host writes wait for ever.
        let without_collection = Policies {
            background_blocks: None,
            ..SMALL.policies()
        };
        let map = state
            .map
            .clone()
            .managed(SMALL.layout().reserve_blocks, without_collection);
        state.map = map.unwrap();
        match run(state, list(&requests), &settings) {
            Err(RunError::Stuck { outstanding }) => {
                assert_eq!(outstanding, usize::from(settings.depth));
            }
            Err(other) => unreachable!("{other}"),
            Ok(_) => unreachable!("every request was served"),
        }
    }
}

#[test]
fn records_have_a_thousand_requests_and_add_up() {
    let requests = mixed(5_500, 5);
    let outcome = serve(&requests, &with_workers(4));
    assert_eq!(outcome.records.len(), 5);
    for record in &outcome.records {
        let get = |counter| record.counts.get(counter);
        assert_eq!(get(Counter::Requests), RECORD_REQUESTS);
        let kinds = get(Counter::Reads) + get(Counter::Writes) + get(Counter::Trims);
        assert_eq!(kinds, RECORD_REQUESTS);
    }
    let line = outcome.records[4].line(4);
    assert!(line.starts_with("{\"record\":4,\"requests\":1000,"));
    assert!(
        NAMES
            .iter()
            .all(|name| line.contains(&format!("\"{name}\":")))
    );
}

#[test]
fn every_count_is_documented() {
    let page = include_str!("../../../docs/firmware-program.md");
    for name in NAMES {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn collection_keeps_between_its_bounds() {
    let requests = random_writes(60_000, 6);
    let outcome = serve(&requests, &with_workers(4));
    check(&outcome, &requests);
    let free: Vec<u32> = (0..SMALL.planes())
        .map(|plane| outcome.state.map.free_blocks(plane))
        .collect();
    // It may lag slightly behind the host, and stops at once.
    let bounds = SMALL.begin_blocks() - 3..=SMALL.end_blocks();
    assert!(free.iter().all(|free| bounds.contains(free)), "{free:?}");
    let counts = &outcome.counts;
    let amplification =
        counts.get(Counter::FlashPrograms) as f64 / counts.get(Counter::Writes) as f64;
    assert!((2.5..6.0).contains(&amplification), "{amplification}");
}

#[test]
fn the_prepared_drive_is_full_and_about_to_collect() {
    let state = prepared();
    assert_eq!(state.check().unwrap(), SMALL.layout().logical_pages);
    for plane in 0..SMALL.planes() {
        assert_eq!(state.map.free_blocks(plane), SMALL.begin_blocks());
    }
}

#[test]
fn marks_are_bytes_of_one_page() {
    assert_eq!((&raw const DRIVELAB_MARKS).addr() % 4096, 0);
    assert_eq!(size_of_val(&DRIVELAB_MARKS), 4096);
    let requests = random_writes(1_000, 7);
    let base = (&raw const DRIVELAB_MARKS).cast::<std::sync::atomic::AtomicU8>();
    serve(&requests, &with_workers(4));
    drivelab_mark(4095);
    let is_set = |index: usize| {
        // SAFETY: the page consists of 4096 atomic bytes.
        let mark = unsafe { &*base.add(index) };
        mark.load(std::sync::atomic::Ordering::Relaxed) == 1
    };
    let locks = 1024..1024 + SMALL.planes() as usize;
    let expected = [0, 1, 2, 16, 17, 18, 19, 16 + HOST, 4095];
    assert!(expected.into_iter().chain(locks).all(is_set));
}
