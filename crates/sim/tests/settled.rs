//! A settled drive behaves like one that was written for a long time.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_sim::drive::{self, Measuring, States};
use drivelab_sim::host::{Outcome, Settling, Writing};
use drivelab_sim::ssd::{Plan, Prepared};
use drivelab_workload::Characteristics;

use crate::counted::flash;
use crate::small_drive::{self, drive, measured};

const RANDOM: Settling = Settling {
    writing: Writing::AtRandom { piece_bytes: 4096 },
    range_bytes: None,
};
const IN_ORDER: Settling = Settling {
    writing: Writing::InOrder,
    range_bytes: None,
};

fn writes(write_random: f64) -> Characteristics {
    Characteristics {
        write_ratio: 1.0,
        write_size: small_drive::PAGE,
        write_random,
        ..Characteristics::default()
    }
}

/// A write workload of 4,000 requests in each of these states.
fn settled(prepared: &Prepared, settlings: &[Option<Settling>], workers: usize) -> Vec<Outcome> {
    counted(prepared, settlings, workers, 4000)
}

fn counted(
    prepared: &Prepared,
    settlings: &[Option<Settling>],
    workers: usize,
    requests: u64,
) -> Vec<Outcome> {
    let loops: Vec<_> = (0..)
        .zip(settlings)
        .map(|(index, _)| (index, writes(1.0)))
        .collect();
    let mut work = small_drive::work(&loops, Plan::counting(0, requests));
    for (one, settling) in work.iter_mut().zip(settlings) {
        one.settling = *settling;
    }
    let states = Arc::new(States::of(drive::Prepared::Ssd(prepared.clone())));
    Measuring::start(&states, work, 0, workers)
        .map(Result::unwrap)
        .collect()
}

/// Programs per host page while requests were counted.
fn amplification(outcome: &Outcome) -> f64 {
    let counters = flash(outcome);
    1.0 + counters.collection_page_programs as f64 / counters.host_page_programs as f64
}

/// The drive has 1,536 pages for the host, so 30,000 random writes are 20 times all of it.
#[test]
fn it_amplifies_as_after_a_long_run() {
    let prepared = drive(&[]);
    let long = measured(
        &prepared,
        &[(0, writes(1.0))],
        0,
        Plan::counting(30_000, 8000),
        1,
    );
    let long = amplification(&long.unwrap()[0]);
    let short = amplification(&settled(&prepared, &[Some(RANDOM)], 1)[0]);
    assert!(long > 1.2, "nothing is collected: {long}");
    // Rounds agree within 2 %. 4,000 writes collect some 250 blocks, which gives 3 % random error.
    assert!(
        (short / long - 1.0).abs() < 0.05,
        "{short} instead of {long}"
    );
}

#[test]
fn writes_in_order_leave_less_to_collect_than_writes_anywhere() {
    let prepared = drive(&[]);
    let found = settled(&prepared, &[Some(IN_ORDER), Some(RANDOM)], 1);
    assert!(amplification(&found[0]) < amplification(&found[1]));
}

#[test]
fn states_do_not_depend_on_threads_or_on_the_order_in_which_they_are_asked_for() {
    let prepared = drive(&[]);
    let asked = [None, Some(RANDOM), Some(IN_ORDER), Some(RANDOM), None];
    let alone = settled(&prepared, &asked, 1);
    let windows = |found: &[Outcome]| found.iter().map(|one| one.window).collect::<Vec<_>>();
    assert_eq!(windows(&settled(&prepared, &asked, 3)), windows(&alone));
    let last = settled(&prepared, &[None; 5], 1);
    assert_eq!(windows(&last)[4], windows(&alone)[4]);
}

#[test]
fn settling_stops_when_asked_to() {
    let states = States::of(drive::Prepared::Ssd(drive(&[])));
    assert!(states.get(Some(RANDOM), &AtomicBool::new(true)).is_err());
    assert!(states.get(Some(RANDOM), &AtomicBool::new(false)).is_ok());
}

/// If spare space exceeds the data, random writes find erased blocks, and later whole blocks
/// without current data, until the flash was written once. Rounds agree meanwhile.
#[test]
fn a_drive_with_much_spare_space_is_not_settled_before_that_is_used_up() {
    let prepared = drive(&["geometry.user_capacity_bytes = 3145728"]);
    let plan = Plan::counting(30_000, 8000);
    let long = measured(&prepared, &[(0, writes(1.0))], 0, plan, 1);
    let collected = amplification(&long.unwrap()[0]) - 1.0;
    assert!(collected > 0.02, "nothing is collected: {collected}");
    // 400 writes collect some 25 blocks: a random error of one fifth. Half of the expected value
    // would be far outside.
    let short = counted(&prepared, &[Some(RANDOM)], 1, 400);
    let found = amplification(&short[0]) - 1.0;
    assert!(
        (found / collected - 1.0).abs() < 0.5,
        "{found} instead of {collected}"
    );
}
