//! Compression and deduplication: programs, rates and latencies computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};
use drivelab_sim::host::{Outcome, Plan};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::Prepared;
use drivelab_workload::{Characteristics, Stream};

use crate::small_drive::timed;

use crate::counted::flash;

const PAGE_BYTES: u32 = 4096;
const PROGRAM: u64 = 12_000 + 400_000;
const READ: u64 = 50_000 + 10_000;
const ACKNOWLEDGE: u64 = 3_000;

/// One die, changed by `lines`.
fn drive(condition: &str, pages: u32, buffer_pages: u32, lines: &str) -> Prepared {
    let text = format!(
        "name = \"compressing\"\nkind = \"ssd\"\nsummary = \"-\"\ncondition = \"{condition}\"\n\
         {lines}\n\
         [geometry]\nchannels = 1\nways_per_channel = 1\ndies_per_way = 1\nplanes_per_die = 1\n\
         blocks_per_plane = 64\npages_per_block = 32\npage_size_bytes = {PAGE_BYTES}\n\
         user_capacity_bytes = {}\nplane_mode = false\n\
         [timing]\nread_dispatch_ns = 0\nwrite_dispatch_ns = 0\nerase_dispatch_ns = 0\n\
         read_register_ns = 10_000\nwrite_register_ns = 12_000\nread_cell_ns = 50_000\n\
         program_cell_ns = 400_000\nerase_cell_ns = 2_000_000\n\
         [scheduling]\ndispatch = \"per_die\"\n\
         [collection]\npolicy = \"greedy\"\npace = \"paced\"\nreserve_blocks_per_plane = 2\n\
         [host]\ninterface = \"sata\"\nlink_bytes_per_second = 1_000_000_000_000\ncommands = 64\n\
         read_command_ns = 0\nwrite_command_ns = 0\nwrite_acknowledge_ns = {ACKNOWLEDGE}\n\
         [buffer]\nwrite_buffer_bytes = {}\n[variability]\nsigma = 0.0\n",
        pages * PAGE_BYTES,
        buffer_pages * PAGE_BYTES,
    );
    Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap()
}

const COMPRESSES: &str = "compression.slot_size_bytes = 1024\n\
                          compression.deduplicates_zeros = true";

/// Pages as a database fills them.
fn filled(count: usize) -> Vec<u64> {
    let is_filled = |page: &u64| {
        let data = Content::Database.of_page(*page as u32, PAGE_BYTES);
        !data.is_zero
    };
    (0..).filter(is_filled).take(count).collect()
}

fn command(kind: CommandKind, arrival: u64, page: u64, content: Content) -> Command {
    Command {
        arrival: Nanos(arrival),
        offset_bytes: page * u64::from(PAGE_BYTES),
        size_bytes: PAGE_BYTES,
        kind,
        is_forced: false,
        content,
        zone: ZoneAction::None,
    }
}

fn write_all(drive: &Prepared, pages: &[u64], content: Content, is_forced: bool) -> Outcome {
    let commands = pages.iter().map(|&page| Command {
        is_forced,
        ..command(CommandKind::Write, 0, page, content)
    });
    let plan = Plan::counting(0, pages.len() as u64);
    drive.worker().run(&timed(commands), plan, 0, 0).unwrap()
}

/// If programs take all the time, twice as many pages a second get through when they shrink to one
/// half. This holds without a buffer, for forced writes through a buffer, and with a full buffer.
#[test]
fn bandwidth_rises_by_what_compression_saves() {
    let pages = filled(64);
    let program = |outcome: &Outcome| {
        (
            flash(outcome).host_page_programs,
            flash(outcome).packed_pages,
        )
    };
    for (buffer_pages, is_forced) in [(0, false), (8, true), (8, false)] {
        let drive = drive("fresh", 1000, buffer_pages, COMPRESSES);
        let random = write_all(&drive, &pages, Content::Random, is_forced);
        let database = write_all(&drive, &pages, Content::Database, is_forced);
        assert_eq!(flash(&random).page_programs, 64);
        assert_eq!(flash(&database).page_programs, 32);
        let by_random = random.window.0 as f64 / PROGRAM as f64;
        let by_database = database.window.0 as f64 / PROGRAM as f64;
        if is_forced || buffer_pages == 0 {
            // The last page is complete when it is programmed, apart from the time on the link.
            assert!((64.0..64.1).contains(&by_random), "{by_random}");
            assert!((32.0..32.1).contains(&by_database), "{by_database}");
            assert_eq!(program(&random), (64, 0));
            assert_eq!(program(&database), (32, 32));
            assert_eq!(flash(&database).write_amplification_ratio(), Some(0.5));
        } else {
            // Space for 8 pages: the last page is in the buffer when 56 have left it, or half as
            // many programs of the rest.
            assert!((56.0..56.1).contains(&by_random), "{by_random}");
            assert!((24.0..25.1).contains(&by_database), "{by_database}");
        }
    }
}

/// Zeroes need no flash. A write of zeroes completes when it is acknowledged, a read as soon as it
/// is requested.
#[test]
fn zeroes_touch_no_flash() {
    let pages: Vec<u64> = (0..64).collect();
    for (buffer_pages, is_forced) in [(0, false), (8, true), (8, false)] {
        let drive = drive("fresh", 1000, buffer_pages, COMPRESSES);
        let outcome = write_all(&drive, &pages, Content::Zero, is_forced);
        assert_eq!(
            (flash(&outcome).page_programs, flash(&outcome).zero_pages),
            (0, 64)
        );
        assert_eq!(flash(&outcome).write_amplification_ratio(), Some(0.0));
        // 5 ns a page on the link.
        assert!(outcome.window.0 <= ACKNOWLEDGE + 64 * 5);
    }
    let drive = drive("fresh", 1000, 0, COMPRESSES);
    let commands = [
        command(CommandKind::Write, 0, 7, Content::Zero),
        command(CommandKind::Read, 1_000_000, 7, Content::Random),
        command(CommandKind::Write, 2_000_000, 7, Content::Random),
        command(CommandKind::Read, 3_000_000, 7, Content::Random),
    ];
    let outcome = drive
        .worker()
        .run(&timed(commands), Plan::counting(0, 4), 0, 0)
        .unwrap();
    assert_eq!(flash(&outcome).page_reads, 1);
    let latency = &outcome.read.latency;
    assert_eq!(
        (latency.min_ns(), latency.max_ns()),
        (Some(5), Some(READ + 5))
    );
}

/// Without deduplication, four pages of zeroes share a flash page. Without the section they are
/// ordinary data.
#[test]
fn each_of_the_two_can_be_left_out() {
    let pages: Vec<u64> = (0..64).collect();
    let programs = |lines: &str| {
        let drive = drive("fresh", 1000, 0, lines);
        flash(&write_all(&drive, &pages, Content::Zero, false)).page_programs
    };
    assert_eq!(programs("compression.slot_size_bytes = 1024"), 16);
    assert_eq!(programs("compression.slot_size_bytes = 2048"), 32);
    assert_eq!(programs("compression.slot_size_bytes = 4096"), 64);
    assert_eq!(programs(""), 64);
}

/// Write amplification of random writes over the whole drive, if all its data has the same content.
fn settled(pages: u32, content: Content) -> f64 {
    let condition = format!(
        "{COMPRESSES}\ncompression.condition_content = \"{}\"",
        content.name()
    );
    let drive = drive("preconditioned", pages, 0, &condition);
    let workload = Characteristics {
        write_ratio: 1.0,
        queue_depth: 1,
        ..Characteristics::default()
    };
    let capacity = u64::from(pages) * u64::from(PAGE_BYTES);
    let load = [Stream {
        content,
        range: Some((0, capacity)),
        ..Stream::closed("all", workload)
    }];
    let outcome = drive
        .worker()
        .run(&load, Plan::counting(20_000, 20_000), 3, 0);
    flash(&outcome.unwrap())
        .write_amplification_ratio()
        .unwrap()
}

/// Compression leaves the rest of the flash as spare space. A drive full of data that shrinks to 45
/// % behaves like one of 45 % of its size, and each of its pages costs 45 % of a program.
#[test]
fn what_is_saved_is_over_provisioning() {
    let pages = 1800;
    let share = (0..pages)
        .map(|page| Content::Database.of_page(page, PAGE_BYTES))
        .map(|data| f64::from(data.compressed_bytes) / f64::from(PAGE_BYTES))
        .sum::<f64>()
        / f64::from(pages);
    assert!((0.44..0.46).contains(&share), "{share}");
    let full = settled(pages, Content::Random);
    let small = settled((f64::from(pages) * share) as u32, Content::Random);
    let database = settled(pages, Content::Database);
    assert!(full > 3.0, "{full}");
    // Two percent: 20,000 writes, and pages that are written again while they wait.
    let expected = share * small;
    assert!(
        (database / expected - 1.0).abs() < 0.02,
        "{database} {expected}"
    );
    assert!(database < 1.0);
}

/// A run that is split by a snapshot continues as if it had not been split.
#[test]
fn states_are_kept() {
    let drive = drive("preconditioned", 1800, 4, COMPRESSES);
    let pages = |first: u64| (first..first + 333).map(|page| page * 5 % 1800);
    let load = |first| {
        let write = |page| command(CommandKind::Write, 0, page, Content::Database);
        timed(pages(first).map(write))
    };
    let plan = Plan::counting(0, 333);
    let mut worker = drive.worker();
    worker.run(&load(0), plan, 0, 0).unwrap();
    let state = worker.save();
    let programs = flash(&worker.run(&load(100), plan, 0, 0).unwrap()).page_programs;
    let after = worker.save();
    worker.reset();
    let mut other = drive.worker();
    other.load(&state).unwrap();
    assert_eq!(
        flash(&other.run(&load(100), plan, 0, 0).unwrap()).page_programs,
        programs
    );
    assert_eq!(other.save(), after);
}
