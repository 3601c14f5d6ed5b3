//! A target's times by hand: blocks, accesses and marks as an executor would report them.

use drivelab_processor::board::{COLUMNS, Target, TargetParameters};
use drivelab_processor::code::Instruction;
use drivelab_processor::marks::{HOST, Mark};
use drivelab_processor::model::Model;
use drivelab_processor::parameters::TARGET;

const ADD_X0_X0_1: u32 = 0x9100_0400;
const LDR_X1_X0: u32 = 0xf940_0001;
const STR_X1_X0: u32 = 0xf900_0001;
/// The address of data, far from code.
const FAR: u64 = 1 << 30;
const RET: u32 = 0xd65f_03c0;

fn target() -> Target {
    let mut target =
        Target::new(TargetParameters::from_toml(TARGET).expect("the package's target"));
    target.mark(Mark::Begin, &mut Vec::new());
    target
}

fn mark(target: &mut Target, mark: Mark) {
    let mut values = Vec::new();
    target.mark(mark, &mut values);
    assert!(values.is_empty());
}

/// A record's numbers by name.
fn record(target: &mut Target) -> impl Fn(&str) -> u64 + use<> {
    let mut values = Vec::new();
    target.mark(Mark::Record, &mut values);
    assert_eq!(values.len(), COLUMNS.len());
    move |name| {
        let place = COLUMNS.iter().position(|column| column.name == name);
        values[place.expect("a column")]
    }
}

fn block(target: &mut Target, address: u64, words: &[u32]) -> usize {
    let bytes: Vec<[u8; 4]> = words.iter().map(|word| word.to_le_bytes()).collect();
    let instructions: Vec<Instruction<'_>> = bytes
        .iter()
        .enumerate()
        .map(|(number, bytes)| Instruction {
            address: address + 4 * number as u64,
            bytes,
        })
        .collect();
    target.translate(&instructions, true)
}

/// 1200 cycles: 1 us.
fn microsecond(target: &mut Target, add: usize) {
    for _ in 0..1200 {
        target.enter(add);
    }
}

/// A block that takes one cycle per turn, executed before so that its line is cached.
fn adding(target: &mut Target) -> usize {
    let add = block(target, 0x1000, &[ADD_X0_X0_1]);
    for worker in 0..4 {
        mark(target, Mark::Worker(worker));
        target.enter(add);
    }
    mark(target, Mark::Worker(0));
    target.mark(Mark::Record, &mut Vec::new());
    // Begins again, with warm caches.
    target.mark(Mark::Begin, &mut Vec::new());
    add
}

#[test]
fn cycles_become_time() {
    let mut target = target();
    let add = adding(&mut target);
    microsecond(&mut target, add);
    let value = record(&mut target);
    assert_eq!(value("instructions"), 1200);
    assert_eq!(
        value("pipeline_cycles"),
        1200 + 1,
        "the first comes from nowhere"
    );
    assert_eq!(
        (
            value("time_low_ns"),
            value("time_ns"),
            value("time_high_ns")
        ),
        (1000, 1000, 1000)
    );
}

#[test]
fn misses_cost_as_the_band_says() {
    let mut target = target();
    let load = block(&mut target, 0x1000, &[LDR_X1_X0]);
    target.enter(load);
    let _ = record(&mut target);
    // Lines far apart: none is foreseen.
    for line in 0..100_u64 {
        target.enter(load);
        target.access(0, FAR + line * 4096, 8, false);
    }
    let value = record(&mut target);
    assert_eq!(value("l1d_load_misses"), 100);
    assert_eq!(value("memory_lines"), 100);
    assert_eq!(value("memory_cycles"), 100 * 140);
    let cycles = value("pipeline_cycles");
    for (name, penalty) in [
        ("time_low_ns", 110),
        ("time_ns", 140),
        ("time_high_ns", 180),
    ] {
        let expected = (cycles + 100 * penalty) * 10 / 12;
        assert!(
            value(name).abs_diff(expected) <= 1,
            "{name}: {} not {expected}",
            value(name)
        );
    }
}

#[test]
fn a_store_waits_for_a_part_of_a_miss() {
    let mut target = target();
    let store = block(&mut target, 0x1000, &[STR_X1_X0]);
    target.enter(store);
    let _ = record(&mut target);
    for line in 0..100_u64 {
        target.enter(store);
        target.access(0, FAR + line * 4096, 8, true);
    }
    let value = record(&mut target);
    assert_eq!((value("l1d_store_misses"), value("stores")), (100, 100));
    assert_eq!(value("memory_cycles"), 100 * (140 * 15 / 100));
}

#[test]
fn cores_share_lines_and_take_them_from_each_other() {
    let mut target = target();
    let touch = |target: &mut Target, worker, store| {
        mark(target, Mark::Worker(worker));
        target.access(0, 0x8000, 8, store);
        record(target)("snoops")
    };
    assert_eq!(touch(&mut target, 0, true), 0, "from memory");
    assert_eq!(touch(&mut target, 0, true), 0, "its own");
    assert_eq!(touch(&mut target, 1, false), 1, "the other one gives it");
    assert_eq!(touch(&mut target, 0, false), 0, "both have it");
    assert_eq!(
        touch(&mut target, 0, true),
        1,
        "the other one must give it up"
    );
    assert_eq!(touch(&mut target, 0, true), 0, "its own again");
    assert_eq!(touch(&mut target, 1, true), 1, "and again the other's");
}

#[test]
fn workers_run_side_by_side_and_a_record_ends_with_the_last() {
    let mut target = target();
    let add = adding(&mut target);
    for (worker, microseconds) in [(0, 3), (1, 5), (2, 1)] {
        mark(&mut target, Mark::Worker(worker));
        for _ in 0..microseconds {
            microsecond(&mut target, add);
        }
    }
    let value = record(&mut target);
    assert!(value("time_ns").abs_diff(5000) <= 2, "{}", value("time_ns"));
    assert!(value("busy_cycles").abs_diff(9 * 1200) <= 9);
    // Worker 4 runs on core 0, which is at 3 us: the furthest is at 5 until 2 us have passed there.
    mark(&mut target, Mark::Worker(4));
    microsecond(&mut target, add);
    assert_eq!(record(&mut target)("time_ns"), 0);
}

#[test]
fn locks_and_items_are_waited_for() {
    let mut target = target();
    let add = adding(&mut target);
    mark(&mut target, Mark::Taken(5));
    microsecond(&mut target, add);
    mark(&mut target, Mark::Released(5));
    microsecond(&mut target, add);
    mark(&mut target, Mark::Put(9));
    mark(&mut target, Mark::Worker(1));
    mark(&mut target, Mark::Taken(5));
    microsecond(&mut target, add);
    mark(&mut target, Mark::Released(5));
    mark(&mut target, Mark::Got(9));
    microsecond(&mut target, add);
    let value = record(&mut target);
    // Worker 1 has the lock from 1 us to 2, and the item, put at 2 us, at once.
    assert!(value("time_ns").abs_diff(3000) <= 3, "{}", value("time_ns"));
    assert_eq!(value("lock_waits"), 1);
    assert!(value("lock_wait_cycles").abs_diff(1200) <= 3);
    assert!(value("queue_wait_cycles") <= 3);
}

#[test]
fn a_return_leads_anywhere() {
    let mut target = target();
    let ret = block(&mut target, 0x2000, &[RET]);
    let places: Vec<usize> = (0..10)
        .map(|number| block(&mut target, 0x3000 + 64 * number, &[ADD_X0_X0_1]))
        .collect();
    for _ in 0..100 {
        for &place in &places {
            target.enter(ret);
            target.enter(place);
        }
    }
    let value = record(&mut target);
    assert_eq!(value("instructions"), 2000);
    assert_eq!(value("mispredicts"), 1000, "nobody called");
}

#[test]
fn nothing_is_counted_before_it_begins() {
    let mut target =
        Target::new(TargetParameters::from_toml(TARGET).expect("the package's target"));
    let add = block(&mut target, 0x1000, &[ADD_X0_X0_1]);
    microsecond(&mut target, add);
    target.access(0, 0, 8, true);
    let mut values = Vec::new();
    target.mark(Mark::Record, &mut values);
    assert!(values.is_empty());
    target.mark(Mark::Begin, &mut values);
    target.enter(add);
    assert_eq!(record(&mut target)("instructions"), 1);
}

/// What the host does between two turns takes no time on any core.
#[test]
fn the_host_takes_no_time() {
    let mut target = target();
    let add = adding(&mut target);
    mark(&mut target, Mark::Worker(0));
    microsecond(&mut target, add);
    mark(&mut target, Mark::Worker(HOST));
    microsecond(&mut target, add);
    target.access(0, 0x7_0000, 8, true);
    mark(&mut target, Mark::Worker(0));
    microsecond(&mut target, add);
    let value = record(&mut target);
    assert_eq!(value("instructions"), 2400);
    // The first of each turn follows no known block.
    assert_eq!(value("pipeline_cycles"), 2400 + 2);
    assert_eq!(value("l1d_store_misses"), 0);
}
