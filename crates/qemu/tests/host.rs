//! Events of the host-like core, against counts and closed forms.

use super::emulated::{Emulated::X86, nearly, records};

#[test]
fn instructions_are_counted_to_the_last() {
    let Some(turns) = records(X86, "turns") else {
        return;
    };
    assert_eq!(turns.count(), 3);
    // Two instructions a turn. The code around a loop is the same in records 1 and 2.
    let around = turns.of(1, "instructions") - 2 * 2_000_000;
    assert!(around < 20, "{around}");
    assert_eq!(turns.of(2, "instructions"), 2 * 3_000_000 + around);
    assert!(nearly(turns.of(1, "branches"), 2_000_000, 9));
    assert!(turns.of(1, "branch_misses") <= 3);
    assert!(turns.of(1, "l1d_loads") + turns.of(1, "l1d_stores") <= 4);
}

#[test]
fn walks_through_memory_meet_the_caches_that_they_must() {
    let Some(walk) = records(X86, "walk") else {
        return;
    };
    // 16 KiB in lines of 64 bytes, then the same ten times, then by words.
    assert!(nearly(walk.of(0, "l1d_loads"), 256, 6));
    assert!(nearly(walk.of(0, "l1d_misses"), 256, 4));
    assert!(nearly(walk.of(0, "llc_misses"), 256, 4));
    assert!(nearly(walk.of(1, "l1d_loads"), 2560, 6));
    assert_eq!(walk.of(1, "l1d_misses"), 0);
    assert!(nearly(walk.of(2, "l1d_loads"), 20_480, 6));
    assert_eq!(walk.of(2, "l1d_misses"), 0);
    // 128 KiB: the rest comes from memory, then all of it from the second cache.
    assert!(nearly(walk.of(3, "llc_misses"), 2048 - 256, 4));
    assert!(nearly(walk.of(4, "l1d_misses"), 20_480, 4));
    assert_eq!(walk.of(4, "llc_references"), 0);
    // 1 MiB, four times: nothing stays in the second cache, all in the last.
    assert!(nearly(walk.of(5, "llc_references"), 4 * 16_384 - 2048, 4));
    assert!(nearly(walk.of(5, "llc_misses"), 16_384 - 2048, 4));
}

#[test]
fn stores_miss_as_loads_do() {
    let Some(fill) = records(X86, "fill") else {
        return;
    };
    assert!(nearly(fill.of(0, "l1d_stores"), 256, 6));
    assert!(nearly(fill.of(0, "l1d_store_misses"), 256, 6));
    assert_eq!(fill.of(1, "l1d_store_misses"), 0);
}

#[test]
fn branches_in_turn_are_learnt_and_by_chance_are_not() {
    let (Some(turns), Some(chance)) = (records(X86, "alternating"), records(X86, "random")) else {
        return;
    };
    assert!(turns.of(0, "branch_misses") < 100);
    let missed = chance.of(0, "branch_misses");
    assert!((47_000..53_000).contains(&missed), "{missed} of 100,000");
}

#[test]
fn copies_are_accesses_of_their_size() {
    let Some(copy) = records(X86, "copy") else {
        return;
    };
    // 16 KiB, a hundred times, in pieces of 16 to 64 bytes.
    for name in ["l1d_loads", "l1d_stores"] {
        let count = copy.of(0, name);
        assert!((25_600..105_000).contains(&count), "{name}: {count}");
    }
    assert!(nearly(copy.of(0, "l1d_store_misses"), 256, 25_600));
}

#[test]
fn the_head_says_what_every_number_is() {
    let Some(turns) = records(X86, "turns") else {
        return;
    };
    assert_eq!(turns.head["format"], "drivelab-processor-records");
    assert_eq!(turns.head["version"], 1);
    assert_eq!(turns.head["model"], "host");
    assert_eq!(turns.head["parameters"]["name"], "xeon-e5-2650v4-like");
    assert_eq!(turns.end["end"], "mark");
    for column in turns.head["columns"].as_array().expect("columns") {
        let how = column["how"].as_str().expect("how it comes about");
        assert!(["counted", "simulated", "derived"].contains(&how));
    }
}

#[test]
fn two_runs_give_the_same_bytes() {
    let (Some(first), Some(second)) = (records(X86, "copy"), records(X86, "copy")) else {
        return;
    };
    assert_eq!(first.text, second.text);
}

#[test]
fn a_program_that_ends_early_says_so() {
    let Some(early) = records(X86, "no-end") else {
        return;
    };
    assert_eq!(
        (early.count(), early.end["end"].as_str()),
        (1, Some("exit"))
    );
}
