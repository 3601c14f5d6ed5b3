//! What the members of an array do without a command.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::Command;
use drivelab_sim::drive::State;
use drivelab_sim::host::{Outcome, Plan};

use crate::counted::flash;
use crate::raid::worker;
use crate::small_drive::{PAGE, drive, read, timed, write};

/// Bursts of writes to random pages, with a second between two bursts, and a read after each.
fn bursts(count: u64, pages: u64) -> Vec<Command> {
    let mut state = 1_u64;
    let mut page = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % pages
    };
    let burst = |index: u64| {
        let at_us = index * 1_000_000;
        let writes: Vec<_> = (0..80).map(|_| write(at_us, page())).collect();
        writes.into_iter().chain([read(at_us + 900_000, index)])
    };
    (0..count).flat_map(burst).collect()
}

#[test]
fn members_work_in_idle_time() {
    let worn = "condition = \"preconditioned\"\n";
    let idle = "collection.background_blocks_per_plane = 8\n\
                collection.background_idle_ns = 500_000\n";
    let outcome_of = |changes: &[&str], members: u32| {
        let mut array = worker(changes, members);
        let commands = bursts(30, array.capacity_bytes() / u64::from(PAGE));
        let plan = Plan {
            log_requests: Some(commands.len() as u64),
            ..Plan::counting(0, commands.len() as u64)
        };
        let outcome = array.run(&timed(commands), plan, (1, 0), State::Kept);
        outcome.unwrap()
    };
    let mut alone = drive(&[worn, idle]).worker();
    let commands = bursts(30, alone.capacity_bytes() / u64::from(PAGE));
    let plan = Plan {
        log_requests: Some(commands.len() as u64),
        ..Plan::counting(0, commands.len() as u64)
    };
    let expected = alone.run(&timed(commands), plan, 1, 0).unwrap();
    let one = outcome_of(&[worn, idle], 1);
    assert_eq!(one.log, expected.log);
    assert_eq!(flash(&one), flash(&expected));
    // With two members, writes no longer wait for collection either.
    let mean = |outcome: &Outcome| outcome.write.latency.mean_ns().unwrap();
    let (with, without) = (outcome_of(&[worn, idle], 2), outcome_of(&[worn], 2));
    assert!(
        mean(&with) < 0.8 * mean(&without),
        "{} {}",
        mean(&with),
        mean(&without)
    );
}
