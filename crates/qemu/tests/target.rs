//! Virtual time of the target, against counts, closed forms and hand calculation.

use super::emulated::{Emulated::Arm, nearly, records};

/// Converts cycles to time.
fn ns(cycles: u64) -> u64 {
    cycles * 10 / 12
}

/// Within 1 %: the code around a loop and cold caches are less than that in these cases.
fn close(number: u64, expected: u64) -> bool {
    number.abs_diff(expected) * 100 <= expected
}

#[test]
fn instructions_are_counted_to_the_last() {
    let Some(turns) = records(Arm, "turns") else {
        return;
    };
    let around = turns.of(1, "instructions") - 2 * 2_000_000;
    assert!(around < 30, "{around}");
    assert_eq!(turns.of(2, "instructions"), 2 * 3_000_000 + around);
    // They issue together; then the branch costs its cycle.
    assert!(nearly(turns.of(1, "pipeline_cycles"), 2 * 2_000_000, 100));
    assert!(close(turns.of(1, "time_ns"), ns(2 * 2_000_000)));
    assert!(turns.of(1, "mispredicts") < 30);
}

#[test]
fn walks_through_memory_meet_the_caches_that_they_must() {
    let Some(walk) = records(Arm, "walk") else {
        return;
    };
    assert!(nearly(walk.of(0, "loads"), 256, 8));
    assert!(nearly(walk.of(0, "l1d_load_misses"), 256, 4));
    assert!(nearly(walk.of(1, "l1d_load_misses"), 0, 1));
    // 128 KiB, ten times, from the shared cache: each pays its penalty.
    assert!(nearly(walk.of(4, "l2_hits"), 20_480, 4));
    assert!(nearly(walk.of(4, "near_cycles"), 20_480 * 13, 60));
    let from_memory = walk.of(4, "memory_lines") + walk.of(4, "streamed_lines");
    assert!(from_memory <= 2, "{from_memory}");
    // 1 MiB, four times: more than the shared cache holds, and prefetched.
    let beyond = walk.of(5, "memory_lines") + walk.of(5, "streamed_lines");
    assert!(nearly(beyond, 4 * 16_384 - 2048, 8));
    assert!(walk.of(5, "memory_lines") < 40);
    for (name, cycles) in [("time_low_ns", 10), ("time_ns", 16), ("time_high_ns", 24)] {
        let pipeline = walk.of(5, "pipeline_cycles");
        let l2 = 2048 * [9, 13, 17][(cycles - 10) as usize / 6 % 3];
        let expected = ns(pipeline + l2 + beyond * cycles);
        assert!(
            close(walk.of(5, name), expected),
            "{name}: {} {expected}",
            walk.of(5, name)
        );
    }
}

#[test]
fn branches_in_turn_are_learnt_and_by_chance_are_not() {
    let (Some(turns), Some(chance)) = (records(Arm, "alternating"), records(Arm, "random")) else {
        return;
    };
    assert!(turns.of(0, "mispredicts") < 100);
    let missed = chance.of(0, "mispredicts");
    assert!((47_000..53_000).contains(&missed), "{missed} of 100,000");
    assert_eq!(chance.of(0, "mispredict_cycles"), missed * 7);
}

/// A turn takes two cycles.
#[test]
fn an_item_is_taken_when_it_was_put() {
    let Some(handed) = records(Arm, "hand-over") else {
        return;
    };
    // Worker 0 puts at 200,000 and ends at 400,000; worker 1 goes on from 200,000 to 300,000.
    assert!(close(handed.of(0, "time_ns"), ns(400_000)));
    assert!(close(handed.of(0, "queue_wait_cycles"), 200_000));
    assert!(close(handed.of(0, "busy_cycles"), 500_000));
}

#[test]
fn a_lock_is_waited_for_while_another_has_it() {
    let Some(contended) = records(Arm, "contend") else {
        return;
    };
    // Worker 0 has it from 0 to 200,000 and ends at 600,000. Worker 1 has it from 200,000 to 220,000.
    assert!(close(contended.of(0, "time_ns"), ns(600_000)));
    assert!(close(contended.of(0, "lock_wait_cycles"), 200_000));
    assert_eq!(contended.of(0, "lock_waits"), 1);
    // It asks again at 320,000, when nobody has it, and ends before worker 0 did.
    assert_eq!(
        (
            contended.of(1, "lock_waits"),
            contended.of(1, "lock_wait_cycles")
        ),
        (0, 0)
    );
    assert!(contended.of(1, "time_ns") < 1000);
}

#[test]
fn what_one_worker_wrote_another_must_fetch() {
    let Some(shared) = records(Arm, "share") else {
        return;
    };
    // 8 KiB are 128 lines.
    assert_eq!(shared.of(0, "snoops"), 0);
    assert!(nearly(shared.of(1, "snoops"), 128, 2));
    assert!(nearly(shared.of(2, "snoops"), 128, 2));
}

#[test]
fn two_runs_give_the_same_bytes() {
    let (Some(first), Some(second)) = (records(Arm, "copy"), records(Arm, "copy")) else {
        return;
    };
    assert_eq!(first.text, second.text);
    assert_eq!(first.head["model"], "target");
}
