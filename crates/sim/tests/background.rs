//! Collection in idle time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Direction, Nanos, Request};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Part, Plan, Prepared, Ssd};

use drivelab_workload::Characteristics;

use crate::small_drive::{closed, timed};

use crate::counted::flash;

/// Two planes on two channels, 32 blocks of 16 pages each, half of them user data. Collection
/// starts at two free blocks. Dispatch and transfers take no time: a read takes 50 us, a program
/// 300 us, an erase 1 ms.
fn drive(changes: &str) -> Ssd {
    drive_with(1.0, changes)
}

/// The same with this much over-provisioning.
fn drive_with(spare: f64, changes: &str) -> Ssd {
    let text = format!(
        "base = \"bench-64gib\"\nname = \"idle\"\n{changes}\n\
         geometry.channels = 2\ngeometry.ways_per_channel = 1\ngeometry.dies_per_way = 1\n\
         geometry.planes_per_die = 1\ngeometry.blocks_per_plane = 32\n\
         geometry.pages_per_block = 16\ngeometry.over_provisioning_ratio = {spare:?}\n\
         timing.read_register_ns = 0\ntiming.write_register_ns = 0\n\
         timing.read_cell_ns = 50_000\ntiming.program_cell_ns = 300_000\n\
         timing.erase_cell_ns = 1_000_000\ncollection.reserve_blocks_per_plane = 2\n"
    );
    Prepared::new(SsdConfig::from_text(&text).unwrap())
        .unwrap()
        .worker()
}

/// The same drive with little to spare: 5.5 of the 32 blocks of a die beyond the user data and the
/// reserve.
fn nearly_full(changes: &str) -> Ssd {
    drive_with(0.28, changes)
}

/// Idle time keeps three blocks of each die free beyond the reserve.
const FEW_BLOCKS: &str =
    "collection.background_blocks_per_plane = 5\ncollection.background_idle_ns = 500_000";

const IN_IDLE_TIME: &str =
    "collection.background_blocks_per_plane = 8\ncollection.background_idle_ns = 500_000";

/// `bursts` of 40 random writes, a second apart. A read comes 10 ms after each burst.
fn bursts(drive: &mut Ssd, bursts: u64) -> Outcome {
    bursts_and_reads(drive, bursts, 10_000_000)
}

/// The same with a read `read_after` nanoseconds after each burst.
fn bursts_and_reads(drive: &mut Ssd, bursts: u64, read_after: u64) -> Outcome {
    let pages = drive.capacity_bytes() / 4096;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut page = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 32) * pages) >> 32
    };
    let mut requests = Vec::new();
    for burst in 0..bursts {
        let mut push = |at: u64, direction| {
            requests.push(Request {
                arrival: Nanos(burst * 1_000_000_000 + at),
                offset_bytes: page() * 4096,
                size_bytes: 4096,
                direction,
            });
        };
        for _ in 0..40 {
            push(0, Direction::Write);
        }
        push(read_after + burst * 7_919, Direction::Read);
    }
    let plan = Plan::counting(0, requests.len() as u64);
    drive.run(&timed(requests), plan, 0, 0).unwrap()
}

/// A burst writes some twenty pages to each plane. Six blocks (96 pages) beyond the reserve are
/// free when the idle second is over, so nobody waits for collection.
#[test]
fn with_idle_time_enough_no_write_waits_for_collection() {
    let collection = |outcome: &Outcome| outcome.split[1].max_ns[Part::Collection as usize];
    let without = bursts(&mut drive(""), 60);
    // At least the erase of one victim.
    assert!(
        collection(&without) >= 1_000_000,
        "{}",
        collection(&without)
    );
    let with = bursts(&mut drive(IN_IDLE_TIME), 60);
    // The first bursts find the drive as it was prepared.
    assert_eq!(collection(&bursts_after_idleness()), 0);
    assert!(flash(&with).block_erases > 60 && flash(&with).collection_page_programs > 0);
    assert!(with.write.latency.mean_ns() < without.write.latency.mean_ns());
}

/// The same from a state in which idle time has been used.
fn bursts_after_idleness() -> Outcome {
    let mut drive = drive(IN_IDLE_TIME);
    bursts(&mut drive, 3);
    bursts(&mut drive, 60)
}

/// Moves in idle time that keep the only core busy for 1 ms each. One move in each plane may be in
/// progress.
#[test]
fn idle_time_never_leaves_more_to_the_cores_than_is_in_hand() {
    let cost = |(count, nanos): (&str, u32)| {
        format!("firmware.cost.{count}_cycles = 0\nfirmware.cost.{count}_memory_ns = {nanos}\n")
    };
    let free = ["read_page", "written_page", "copied_kib", "flash_read"];
    let free = free.into_iter().chain(["flash_program", "flash_erase"]);
    let costs = free
        .map(|count| (count, 0))
        .chain([("page_moved", 1_000_000), ("command", 1_000)]);
    let slow: String = costs.map(cost).collect();
    let cores = "firmware.time = \"counted\"\nfirmware.cores = 1\nfirmware.clock_mhz = 1000";
    let mut drive = drive(&format!("{IN_IDLE_TIME}\n{cores}\n{slow}"));
    // 14 ms after the last write, in the middle of a move. If idle work ignored the core, a read
    // would wait 31 ms.
    let outcome = bursts_and_reads(&mut drive, 20, 20_000_000);
    assert!(flash(&outcome).collection_page_programs > 300);
    let waited = outcome.split[0].max_ns[Part::Firmware as usize];
    assert!(waited <= 2 * 1_000_000 + 1_000, "{waited}");
}

/// A read waits for at most one operation in progress: an erase, 1 ms.
#[test]
fn a_command_waits_for_one_operation_of_idle_time_at_most() {
    let mut drive = drive(IN_IDLE_TIME);
    bursts(&mut drive, 3);
    let outcome = bursts(&mut drive, 200);
    let longest = outcome.read.latency.max_ns().unwrap();
    assert!(longest <= 1_000_000 + 50_000, "{longest}");
    let waited = outcome.split[0].max_ns[Part::Collection as usize];
    assert!(waited > 0 && waited <= 1_000_000, "{waited}");
}

#[test]
fn without_idle_time_the_setting_changes_nothing() {
    let run = |changes| {
        let mut drive = drive(changes);
        let pages = drive.capacity_bytes() / 4096;
        let requests = (0..20_000_u64).map(|place| Request {
            arrival: Nanos(place * 1_000),
            offset_bytes: place.wrapping_mul(0x9E37_79B9) % pages * 4096,
            size_bytes: 4096,
            direction: Direction::Write,
        });
        let outcome = drive.run(&timed(requests), Plan::counting(0, 20_000), 0, 0);
        format!("{:?}", outcome.unwrap())
    };
    assert_eq!(run(""), run(IN_IDLE_TIME));
}

/// The commands of a drive that needs collection: 2,000 random writes at once, then, `gap` after the
/// last of them completed, a read of each die.
fn reads_after_a_gap(gap: u64) -> (Outcome, u64) {
    let writes = |drive: &Ssd| -> Vec<Request> {
        let pages = drive.capacity_bytes() / 4096;
        let at = |place: u64| (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % pages;
        let write = |place| Request {
            arrival: Nanos(0),
            offset_bytes: at(place) * 4096,
            size_bytes: 4096,
            direction: Direction::Write,
        };
        (0..2_000).map(write).collect()
    };
    let plan = Plan::counting(0, 2_000);
    let mut first = nearly_full(FEW_BLOCKS);
    let requests = writes(&first);
    let alone = first.run(&timed(requests), plan, 0, 0).unwrap();
    let ended = alone.write.latency.max_ns().unwrap();
    let mut second = nearly_full(FEW_BLOCKS);
    let mut requests = writes(&second);
    requests.extend((0..2).map(|page| Request {
        arrival: Nanos(ended + gap),
        offset_bytes: page * 4096,
        size_bytes: 4096,
        direction: Direction::Read,
    }));
    let outcome = second.run(&timed(requests), Plan::counting(0, 2_002), 0, 0);
    (outcome.unwrap(), ended)
}

/// The drive counts as idle 500 us after the last completion, and begins with a read of 50 us on
/// each die.
#[test]
fn idle_time_begins_exactly_after_the_threshold() {
    let longest = |gap| reads_after_a_gap(gap).0.read.latency.max_ns().unwrap();
    let collected = |gap| flash(&reads_after_a_gap(gap).0).page_reads - 2;
    assert_eq!(longest(499_999), 50_000);
    assert_eq!(longest(500_001), 50_000 + 49_999);
    // Nothing was read but what the writes had moved, or a page of each die more.
    assert_eq!(collected(500_001), collected(499_999) + 2);
    // The read that is in progress is all that a command waits for.
    assert_eq!(longest(549_999), 50_000 + 1);
}

/// Bursts of 24 writes, half a second apart, fill less than a block of each die.
#[test]
fn bursts_on_a_nearly_full_drive_have_a_shorter_tail() {
    let tail = |changes: &str| {
        let mut drive = nearly_full(changes);
        let mut requests = Vec::new();
        let pages = drive.capacity_bytes() / 4096;
        for place in 0..24 * 1_500_u64 {
            let page = (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % pages;
            requests.push(Request {
                arrival: Nanos(place / 24 * 500_000_000),
                offset_bytes: page * 4096,
                size_bytes: 4096,
                direction: Direction::Write,
            });
        }
        let plan = Plan::counting(24 * 500, 24 * 1_000);
        let outcome = drive.run(&timed(requests), plan, 0, 0).unwrap();
        let p9999 = outcome.write.latency.percentile_ns(99.99).unwrap();
        (p9999, flash(&outcome).write_amplification_ratio())
    };
    let (without, amplified) = tail("");
    let (with, amplified_more) = tail(FEW_BLOCKS);
    assert!(with < without / 4, "{with} {without}");
    // What it costs: blocks are emptied before more of their pages are overwritten.
    let (fewer, more) = (amplified.unwrap(), amplified_more.unwrap());
    assert!(more > 1.1 * fewer && more < 1.7 * fewer, "{fewer} {more}");
}

/// A closed loop leaves no idle time: every count and every latency are the same.
#[test]
fn a_closed_loop_is_the_same_with_and_without() {
    let run = |changes| {
        let workload = Characteristics {
            write_ratio: 0.7,
            queue_depth: 4,
            ..Characteristics::default()
        };
        let mut drive = drive(changes);
        let outcome = drive.run(&closed(workload), Plan::counting(500, 5_000), 1, 0);
        format!("{:?}", outcome.unwrap())
    };
    assert_eq!(run(""), run(IN_IDLE_TIME));
}
