//! Mapping schemes of other generations in the simulator, compared with times and counts by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Direction, Nanos, Request};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Media, Outcome, Part, Plan, Prepared};

use crate::counted::flash;
use crate::small_drive::timed;

const PAGES: u64 = 8;
const PAGE_BYTES: u64 = 4096;
const READ: u64 = 50_000 + 10_000;
const PROGRAM: u64 = 12_000 + 400_000;
const ERASE: u64 = 2_000_000;

/// One plane of 16 logical blocks of 8 pages and 8 spare ones, written once in order.
fn drive(mapping: &str) -> Prepared {
    drive_of(1, mapping)
}

/// The same on each of some channels.
fn drive_of(channels: u64, mapping: &str) -> Prepared {
    let text = format!(
        "name = \"one-plane\"\nkind = \"ssd\"\nsummary = \"-\"\ncondition = \"filled\"\n\
         [geometry]\nchannels = {channels}\nways_per_channel = 1\ndies_per_way = 1\nplanes_per_die = 1\n\
         blocks_per_plane = 24\npages_per_block = {PAGES}\npage_size_bytes = {PAGE_BYTES}\n\
         user_capacity_bytes = {}\nplane_mode = false\n\
         [timing]\nread_dispatch_ns = 0\nwrite_dispatch_ns = 0\nerase_dispatch_ns = 0\n\
         read_register_ns = 10_000\nwrite_register_ns = 12_000\nread_cell_ns = 50_000\n\
         program_cell_ns = 400_000\nerase_cell_ns = {ERASE}\n\
         [scheduling]\ndispatch = \"per_die\"\n[mapping]\n{mapping}\n\
         [collection]\npolicy = \"greedy\"\npace = \"paced\"\n[host]\ninterface = \"free\"\n\
         [buffer]\nwrite_buffer_bytes = 0\n[variability]\nsigma = 0.0\n",
        channels * 16 * PAGES * PAGE_BYTES,
    );
    Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap()
}

/// Requests of one page, a second apart.
fn requests(direction: Direction, pages: impl IntoIterator<Item = u64>) -> Vec<Request> {
    let request = |(second, page): (u64, u64)| Request {
        arrival: Nanos(second * 1_000_000_000),
        offset_bytes: page * PAGE_BYTES,
        size_bytes: PAGE_BYTES as u32,
        direction,
    };
    (0..).zip(pages).map(request).collect()
}

fn run(drive: &Prepared, direction: Direction, pages: impl IntoIterator<Item = u64>) -> Outcome {
    run_after(drive, 0, requests(direction, pages))
}

/// The same, of which the first `warmup` do not count.
fn run_after(drive: &Prepared, warmup: u64, requests: Vec<Request>) -> Outcome {
    let plan = Plan::counting(warmup, requests.len() as u64 - warmup);
    drive.worker().run(&timed(requests), plan, 1, 0).unwrap()
}

/// Page 3 of one block after another. The replacement block of the previous request is completed (4
/// pages and an erase), 3 pages are copied, and the page is programmed.
#[test]
fn a_write_waits_for_the_merge_that_it_makes_necessary() {
    let blocks = (0..16).map(|block| block * PAGES + 3);
    let outcome = run(&drive("scheme = \"block\""), Direction::Write, blocks);
    let latency = &outcome.write.latency;
    assert_eq!(
        latency.max_ns(),
        Some(7 * (READ + PROGRAM) + ERASE + PROGRAM)
    );
    // The first request finds no replacement block.
    assert_eq!(latency.min_ns(), Some(3 * (READ + PROGRAM) + PROGRAM));
    let merges = (
        flash(&outcome).switch_merges,
        flash(&outcome).partial_merges,
        flash(&outcome).full_merges,
    );
    assert_eq!(merges, (0, 0, 15));
    assert_eq!(flash(&outcome).collection_moves, 16 * 7 - 4);
    assert_eq!(
        flash(&outcome).collection_moves,
        flash(&outcome).collection_page_programs
    );
}

/// A log block takes the page at once. The fifth block needs a log block that another one has.
#[test]
fn a_log_block_takes_a_page_at_once() {
    let pages = |count| (0..count).map(|block| block * PAGES + 3);
    let drive = drive("scheme = \"bast\"\nlog_blocks_per_plane = 4");
    let outcome = run(&drive, Direction::Write, pages(4));
    assert_eq!(outcome.write.latency.max_ns(), Some(PROGRAM));
    assert_eq!(flash(&outcome).full_merges, 0);
    let outcome = run(&drive, Direction::Write, pages(5));
    let merge = 8 * (READ + PROGRAM) + 2 * ERASE;
    assert_eq!(outcome.write.latency.max_ns(), Some(merge + PROGRAM));
    assert_eq!(flash(&outcome).full_merges, 1);
}

/// Writes in order copy nothing, whatever is mapped: the whole drive is written once more.
#[test]
fn writes_in_order_amplify_nothing() {
    for mapping in [
        "scheme = \"page\"",
        "scheme = \"block\"",
        "scheme = \"bast\"\nlog_blocks_per_plane = 4",
        "scheme = \"fast\"\nlog_blocks_per_plane = 4",
    ] {
        let outcome = run(&drive(mapping), Direction::Write, 0..16 * PAGES);
        assert_eq!(
            flash(&outcome).write_amplification_ratio(),
            Some(1.0),
            "{mapping}"
        );
        let switches = if mapping.contains("page") { 0 } else { 16 };
        assert_eq!(flash(&outcome).switch_merges, switches, "{mapping}");
        let reads = run(&drive(mapping), Direction::Read, 0..16 * PAGES);
        assert_eq!(reads.read.latency.max_ns(), Some(READ), "{mapping}");
    }
}

/// Page 0 brings in its translation page, and entries that were written to the flash. Then page 1
/// misses and page 1 hits. A miss takes one page read longer, to the ns, although with two dies the
/// translation page lies on another die.
#[test]
fn a_miss_takes_one_page_read_longer() {
    for channels in [1, 2] {
        let drive = drive_of(
            channels,
            "scheme = \"demand_cached_page\"\ncached_entries = 16",
        );
        let outcome = run_after(&drive, 1, requests(Direction::Read, [0, 1, 1]));
        let latency = &outcome.read.latency;
        assert_eq!(
            (latency.min_ns(), latency.max_ns()),
            (Some(READ), Some(2 * READ))
        );
        assert_eq!(
            (flash(&outcome).map_hits, flash(&outcome).map_misses),
            (1, 1)
        );
        assert_eq!(
            (
                flash(&outcome).map_page_reads,
                flash(&outcome).map_page_programs
            ),
            (1, 0)
        );
        assert_eq!(flash(&outcome).page_reads, 3);
    }
}

/// Reads miss the map, and wait behind each other's look-ups on one die: that is queueing, because
/// nothing is moved.
#[test]
fn waiting_behind_reads_of_the_map_is_no_collection() {
    let drive = drive_of(1, "scheme = \"demand_cached_page\"\ncached_entries = 16");
    let mut all = requests(Direction::Read, 0..64);
    for request in &mut all {
        request.arrival = Nanos(0);
    }
    let outcome = run_after(&drive, 0, all);
    assert!(flash(&outcome).map_page_reads > 0);
    let sums = &outcome.split[Direction::Read.index()].sum_ns;
    assert_eq!(sums[Part::Collection as usize], 0);
    assert!(sums[Part::Queueing as usize] > 0);
}

/// One translation page holds all entries. A write that misses waits for it. Its dirty entry is
/// programmed when 16 others have come.
#[test]
fn a_dirty_entry_that_makes_room_costs_a_read_and_a_program() {
    let drive =
        drive("scheme = \"demand_cached_page\"\ncached_entries = 16\ncache_replacement = \"lru\"");
    // All clean, except page 1.
    let mut all = requests(Direction::Read, [0]);
    all.extend(requests(Direction::Write, [1]));
    all.extend(requests(Direction::Read, 2..18));
    for (second, request) in (0..).zip(&mut all) {
        request.arrival = Nanos(second * 1_000_000_000);
    }
    let outcome = run_after(&drive, 1, all);
    assert_eq!(outcome.write.latency.max_ns(), Some(READ + PROGRAM));
    // The seventeenth entry: the translation page is read and programmed, and read again; then the
    // page is read.
    let longest = outcome.read.latency.max_ns();
    assert_eq!(longest, Some(READ + PROGRAM + 2 * READ));
    assert_eq!(
        (
            flash(&outcome).map_misses,
            flash(&outcome).map_page_programs
        ),
        (17, 1)
    );
}

/// With memory for the whole map it behaves exactly like the page map.
#[test]
fn a_cache_as_large_as_the_map_is_the_page_map() {
    let text_of = |mapping: &str| {
        let pages = (0..2_000_u64).map(|step| step * 7919 % 128);
        let mut outcome = run(&drive(mapping), Direction::Write, pages);
        if let Media::Flash(counters) = &mut outcome.media {
            counters.map_hits = 0;
        }
        format!("{outcome:?}")
    };
    let page = text_of("scheme = \"page\"");
    assert!(page.contains("map_misses: 0"));
    assert_eq!(
        page,
        text_of("scheme = \"demand_cached_page\"\ncached_entries = 128")
    );
}
