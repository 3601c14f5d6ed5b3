//! A pseudo-SLC region: the rate before and after the cliff, and what idle time restores.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Direction, Nanos, Request};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};

use crate::small_drive::timed;

use crate::counted::flash;

const PAGE_BYTES: u32 = 4096;
/// Pages of an SLC block, and of all four.
const BLOCK: u64 = 4;
const REGION: u64 = 4 * BLOCK;
const SLC_PROGRAM: u64 = 12_000 + 100_000;
/// A folded page: read in SLC, programmed in a dense block. And a block of them.
const FOLD: u64 = 20_000 + 10_000 + 12_000 + 400_000;
const ERASE: u64 = 2_000_000;

/// One die with four SLC blocks of four pages and twenty dense ones of twelve.
fn drive(condition: &str, idle_ns: u64) -> Prepared {
    paced_drive(condition, idle_ns, "whole_block")
}

fn paced_drive(condition: &str, idle_ns: u64, pace: &str) -> Prepared {
    let text = format!(
        "name = \"slc\"\nkind = \"ssd\"\nsummary = \"-\"\ncondition = \"{condition}\"\n\
         [geometry]\nchannels = 1\nways_per_channel = 1\ndies_per_way = 1\nplanes_per_die = 1\n\
         blocks_per_plane = 24\npages_per_block = 12\npage_size_bytes = {PAGE_BYTES}\n\
         user_capacity_bytes = {}\nplane_mode = false\n\
         [timing]\nread_dispatch_ns = 0\nwrite_dispatch_ns = 0\nerase_dispatch_ns = 0\n\
         read_register_ns = 10_000\nwrite_register_ns = 12_000\nread_cell_ns = 50_000\n\
         program_cell_ns = 400_000\nerase_cell_ns = {ERASE}\n\
         [scheduling]\ndispatch = \"per_die\"\n\
         [slc]\nblocks_per_plane = 4\npages_per_block = {BLOCK}\nread_cell_ns = 20_000\n\
         program_cell_ns = 100_000\nidle_ns = {idle_ns}\n\
         [collection]\npolicy = \"greedy\"\npace = \"{pace}\"\n[host]\ninterface = \"free\"\n\
         [buffer]\nwrite_buffer_bytes = 0\n[variability]\nsigma = 0.0\n",
        120 * PAGE_BYTES,
    );
    Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap()
}

/// Sequential pages, all submitted at once, and `again` more a second later.
fn run(drive: &Prepared, direction: Direction, pages: u64, again: u64, plan: Plan) -> Outcome {
    let request = |page: u64| Request {
        arrival: Nanos(if page < pages { 0 } else { 1_000_000_000 }),
        offset_bytes: page * u64::from(PAGE_BYTES),
        size_bytes: PAGE_BYTES,
        direction,
    };
    let requests: Vec<_> = (0..pages + again).map(request).collect();
    drive.worker().run(&timed(requests), plan, 1, 0).unwrap()
}

/// Until the region is full, each write takes a fast program. Then every four writes wait until a
/// block is folded: four pages and an erase.
#[test]
fn writes_fall_off_a_cliff_when_the_region_is_full() {
    let drive = drive("fresh", 1_000_000);
    let before = run(
        &drive,
        Direction::Write,
        REGION,
        0,
        Plan::counting(0, REGION),
    );
    assert_eq!(before.window, Nanos(REGION * SLC_PROGRAM));
    assert_eq!(
        (
            flash(&before).fold_page_programs,
            flash(&before).block_erases
        ),
        (0, 0)
    );
    let after = run(
        &drive,
        Direction::Write,
        3 * REGION,
        0,
        Plan::counting(REGION, 2 * REGION),
    );
    let blocks = 2 * REGION / BLOCK;
    let block = BLOCK * (FOLD + SLC_PROGRAM) + ERASE;
    assert_eq!(after.window, Nanos(blocks * block));
    assert_eq!(
        (flash(&after).fold_page_programs, flash(&after).block_erases),
        (blocks * BLOCK, blocks)
    );
    assert_eq!(flash(&after).write_amplification_ratio(), Some(2.0));
}

/// With paced collection, writes begin to fold when less than one block is free, one or two pages
/// each. Of every four writes, one folds two pages, and one, behind the erase, none. Together they
/// take as long as with waiting.
#[test]
fn paced_folds_cost_as_much_and_are_spread_over_writes() {
    let drive = paced_drive("fresh", 1_000_000, "paced");
    let fast = REGION - BLOCK + 1;
    let before = run(&drive, Direction::Write, fast, 0, Plan::counting(0, fast));
    assert_eq!(before.window, Nanos(fast * SLC_PROGRAM));
    let next = |first, count| {
        let pages = first + count;
        run(
            &drive,
            Direction::Write,
            pages,
            0,
            Plan::counting(first, count),
        )
    };
    assert_eq!(next(fast, 1).window, Nanos(2 * FOLD + SLC_PROGRAM));
    assert_eq!(next(fast + 1, 1).window, Nanos(FOLD + SLC_PROGRAM));
    assert_eq!(next(fast + 2, 1).window, Nanos(FOLD + ERASE + SLC_PROGRAM));
    assert_eq!(next(fast + 3, 1).window, Nanos(SLC_PROGRAM));
    let blocks = 2 * REGION / BLOCK;
    let block = BLOCK * (FOLD + SLC_PROGRAM) + ERASE;
    assert_eq!(next(fast, 2 * REGION).window, Nanos(blocks * block));
}

/// A second without commands is enough to fold all full blocks: the region then takes as much again
/// at its rate. A drive that counts as idle only later folds later.
#[test]
fn idle_time_restores_the_region() {
    let plan = Plan::counting(REGION, REGION);
    let restored = run(
        &drive("fresh", 1_000_000),
        Direction::Write,
        REGION,
        REGION,
        plan,
    );
    assert_eq!(restored.write.latency.max_ns(), Some(REGION * SLC_PROGRAM));
    assert_eq!(flash(&restored).fold_page_programs, REGION);
    let tired = run(
        &drive("fresh", 1_000_000_000),
        Direction::Write,
        REGION,
        REGION,
        plan,
    );
    let blocks = REGION / BLOCK;
    let latency = blocks * (BLOCK * (FOLD + SLC_PROGRAM) + ERASE);
    assert_eq!(tired.write.latency.max_ns(), Some(latency));
}

/// Data in SLC blocks is read faster. A prepared drive has rested, so its data lies in dense
/// blocks, except what was written last.
#[test]
fn reads_find_their_page_in_either_place() {
    let filled = drive("filled", 1_000_000);
    let outcome = run(&filled, Direction::Read, 1, 1, Plan::counting(1, 1));
    assert_eq!(outcome.read.latency.max_ns(), Some(50_000 + 10_000));
    let write = run(&filled, Direction::Write, 1, 0, Plan::counting(0, 1));
    assert_eq!(write.write.latency.max_ns(), Some(SLC_PROGRAM));
    let mut worker = filled.worker();
    let request = |direction, arrival| Request {
        arrival: Nanos(arrival),
        offset_bytes: 0,
        size_bytes: PAGE_BYTES,
        direction,
    };
    // The page just written.
    let requests = [
        request(Direction::Write, 0),
        request(Direction::Read, 500_000),
    ];
    let outcome = worker
        .run(&timed(requests), Plan::counting(0, 2), 1, 0)
        .unwrap();
    assert_eq!(outcome.read.latency.max_ns(), Some(20_000 + 10_000));
}
