//! Copyback compared with times computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, Nanos};
use drivelab_sim::ssd::{Outcome, Plan};

use crate::counted::flash;
use crate::small_drive::{ONE_DIE, drive, read, run, timed, write};

const COPYBACK: &str = "scheduling.copyback = true\n";

/// One die of 8 blocks of four pages, four of them filled. Three blocks must be free before the
/// host's next block is opened.
const FEW_PAGES: &str = "
geometry.channels = 1
geometry.blocks_per_plane = 8
geometry.pages_per_block = 4
geometry.user_capacity_bytes = 65536
collection.pace = \"whole_block\"
energy.read_page_nj = 0
energy.program_page_nj = 0
energy.erase_block_nj = 0
energy.transfer_byte_pj = 1000
energy.idle_power_mw = 0
";

/// The first two pages of every block are written again, which fills two blocks. The ninth write
/// finds two free blocks, so the two valid pages of each of two blocks are moved.
fn collect(more: &str, then: &[Command]) -> Outcome {
    let mut commands = nine_writes();
    commands.extend_from_slice(then);
    run(&drive(&[FEW_PAGES, more]), commands)
}

fn nine_writes() -> Vec<Command> {
    let pages = [0, 4, 8, 12, 1, 5, 9, 13, 0];
    pages.map(|page| write(0, page)).to_vec()
}

#[test]
fn a_move_within_a_plane_does_not_need_the_channel() {
    // Nine writes of 310 us, two erases of 1 ms, four moves of 50 + 10 + 10 + 300 us.
    let outcome = collect("", &[]);
    assert_eq!(flash(&outcome).collection_page_programs, 4);
    assert_eq!(outcome.window, Nanos(2_790_000 + 2_000_000 + 4 * 370_000));
    assert_eq!(
        flash(&outcome).channel_utilisation_ratio,
        [(9.0 + 8.0) * 10.0 / 6270.0]
    );
    assert_eq!(flash(&outcome).copyback_page_programs, 0);
    // Without the transfers of the moves: 50 + 300 us each.
    let outcome = collect(COPYBACK, &[]);
    assert_eq!(outcome.window, Nanos(2_790_000 + 2_000_000 + 4 * 350_000));
    assert_eq!(outcome.write.latency.max_ns(), Some(6_190_000));
    assert_eq!(
        flash(&outcome).channel_utilisation_ratio,
        [9.0 * 10.0 / 6190.0]
    );
    assert_eq!(flash(&outcome).unit_utilisation_ratio, [1.0]);
    let counts = [
        flash(&outcome).copyback_page_reads,
        flash(&outcome).copyback_page_programs,
    ];
    assert_eq!(counts, [4, 4]);
    // 1 nJ a byte: nine pages.
    let channel = outcome.energy.unwrap().channel_joules;
    assert!(
        (channel / (9.0 * 4.096e-6) - 1.0).abs() < 1e-12,
        "{channel}"
    );
}

#[test]
fn a_window_counts_the_halves_of_moves_that_end_in_it() {
    let counted = |more: &str, begin: u64, end: Option<u64>| {
        let mut plan = Plan::default();
        plan.window.warmup = Nanos(begin);
        plan.window.duration = end.map(|end| Nanos(end - begin));
        plan.window.requests = Some(end.map_or(1, |_| 9));
        let load = timed(nine_writes());
        let drive = drive(&[FEW_PAGES, more]);
        let outcome = drive.worker().run(&load, plan, 0, 0).unwrap();
        [
            flash(&outcome).page_reads,
            flash(&outcome).collection_page_programs,
        ]
    };
    let until = |more: &str, end: u64| counted(more, 0, Some(end));
    // To the end of the ninth write.
    let from = |more: &str, begin: u64| counted(more, begin, None);
    // Moves begin at 2480 us, two from each block. An operation that ends exactly at the end of a
    // window is outside it.
    let ends = [2_530_000, 2_830_000, 2_880_000, 3_180_000];
    for (halves, end) in (0..).zip(ends) {
        let before = [u64::div_ceil(halves, 2), halves / 2];
        let after = [u64::div_ceil(halves + 1, 2), halves.div_ceil(2)];
        assert_eq!(until(COPYBACK, end), before);
        assert_eq!(until(COPYBACK, end + 1), after);
        assert_eq!(from(COPYBACK, end), before.map(|count| 4 - count));
        assert_eq!(from(COPYBACK, end + 1), after.map(|count| 4 - count));
    }
    // Over the channel the first read takes 60 us.
    assert_eq!(until("", 2_540_000), [0, 0]);
    assert_eq!(until("", 2_540_001), [1, 0]);
    assert_eq!(from("", 2_540_000), [4, 4]);
    assert_eq!(from("", 2_540_001), [3, 4]);
}

#[test]
fn nothing_comes_between_the_halves_of_a_copyback() {
    // The first move begins after the eight writes, at 2480 us. A read that comes during its read
    // waits for its program too, until 2480 + 350.
    let reads_first = format!("{COPYBACK}scheduling.order = \"reads_first\"\n");
    let mut late = read(0, 10);
    late.arrival = Nanos(2_480_001);
    let outcome = collect(&reads_first, &[late]);
    assert_eq!(outcome.read.latency.max_ns(), Some(349_999 + 60_000));
    assert_eq!(outcome.window, Nanos(6_190_000 + 60_000));
    // Without copyback it waits only for the read.
    let outcome = collect("scheduling.order = \"reads_first\"\n", &[late]);
    assert_eq!(outcome.read.latency.max_ns(), Some(59_999 + 60_000));
    // The program pauses for it at once: at 2530, 5 us before the read begins.
    let pauses = "scheduling.suspends_per_operation = 1\ntiming.suspend_ns = 5_000\n\
                  timing.resume_ns = 5_000\ntiming.suspend_progress_ns = 0\n";
    let outcome = collect(&format!("{reads_first}{pauses}"), &[late]);
    assert_eq!(outcome.read.latency.max_ns(), Some(49_999 + 5_000 + 60_000));
}

#[test]
fn a_partial_write_and_idle_time_do_not_copy_back() {
    // A partial write reads the old page into the controller: 60 + 310.
    let mut partial = write(0, 0);
    partial.size_bytes = 512;
    let outcome = run(&drive(&[ONE_DIE, COPYBACK]), vec![partial]);
    assert_eq!(outcome.window, Nanos(370_000));
    assert_eq!(flash(&outcome).copyback_page_programs, 0);
    // In idle time operations are requested one at a time, so a command may come between.
    let idle = "collection.background_blocks_per_plane = 3\n\
                collection.background_idle_ns = 10_000\n";
    let later = read(100_000, 2);
    let outcome = collect(&format!("{COPYBACK}{idle}"), &[later]);
    assert!(flash(&outcome).collection_page_programs > 4);
    assert_eq!(flash(&outcome).copyback_page_programs, 4);
}
