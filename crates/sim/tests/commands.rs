//! TRIM, FLUSH and forced writes compared with times computed by hand, and the effect that TRIM
//! exists for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, CommandKind, Nanos};
use drivelab_sim::ssd::{Outcome, PARTS, Part, Plan, SimError, Ssd};
use drivelab_workload::{Characteristics, Stream, WriteMode};

use crate::counted::flash;
use crate::small_drive::{self, PAGE, closed, command, drive, run, write};

/// Commands take 1 us, a trim 2, a flush 3 and an acknowledgement 7. A link of 409.6 MB/s moves a
/// page in 10 us. The buffer has eight pages.
const HOST: &str = "
host.interface = \"sata\"
host.link_bytes_per_second = 409_600_000
host.read_command_ns = 1_000
host.write_command_ns = 1_000
host.trim_command_ns = 2_000
host.flush_command_ns = 3_000
host.write_acknowledge_ns = 7_000
buffer.write_buffer_bytes = 32_768
";

fn forced(arrival_us: u64, page: u64, pages: u32) -> Command {
    Command {
        is_forced: true,
        ..command(CommandKind::Write, arrival_us, page, pages)
    }
}

/// Largest latency of a kind of command, ns.
fn largest(outcome: &Outcome, kind: CommandKind) -> u64 {
    let latency = &outcome.streams[0].commands[kind.index()].counted.latency;
    latency.max_ns().unwrap()
}

#[test]
fn a_flush_waits_for_what_is_in_the_buffer_and_for_nothing_later() {
    // Data of the write at 11 us, programmed at 11 + 310 = 321. The flush of 20 us arrives at 23.
    // The write of 30 us to the other die is programmed at 351. That is later, and the flush does
    // not wait for it.
    let flush = |at_us: u64| Command::flush(Nanos(at_us * 1000));
    let outcome = run(&drive(&[HOST]), vec![write(0, 0), flush(20), write(30, 1)]);
    assert_eq!(largest(&outcome, CommandKind::Flush), 321_000 - 20_000);
    let split = &outcome.streams[0].commands[CommandKind::Flush.index()].split;
    let mut parts = [0; PARTS];
    parts[Part::Host as usize] = 3_000;
    parts[Part::Buffer as usize] = 298_000;
    assert_eq!(split.sum_ns, parts);
    assert_eq!(largest(&outcome, CommandKind::Write), 18_000);
    // With an empty buffer a flush takes only its command time.
    let outcome = run(&drive(&[HOST]), vec![flush(0)]);
    assert_eq!(largest(&outcome, CommandKind::Flush), 3_000);
}

#[test]
fn flushes_complete_in_order_each_with_what_came_before_it() {
    // Two writes to die 0, programmed at 321 and 631, a flush after each.
    let flush = |at_us: u64| Command::flush(Nanos(at_us * 1000));
    let commands = vec![write(0, 0), flush(20), write(30, 2), flush(50)];
    let outcome = run(&drive(&[HOST]), commands);
    let latency = &outcome.streams[0].commands[CommandKind::Flush.index()].counted;
    let ends = (321_000 - 20_000) + (631_000 - 50_000);
    assert_eq!(latency.latency.sum_ns(), ends);
}

#[test]
fn a_forced_write_completes_when_its_pages_are_programmed() {
    // Data at 11 us, programmed at 321, and no acknowledgement from the buffer.
    let outcome = run(&drive(&[HOST]), vec![forced(0, 0, 1)]);
    assert_eq!(largest(&outcome, CommandKind::Write), 321_000);
    assert_eq!(outcome.split[1].sum_ns[Part::Cell as usize], 300_000);
    // A normal write: 11 + 7.
    let outcome = run(&drive(&[HOST]), vec![write(0, 0)]);
    assert_eq!(largest(&outcome, CommandKind::Write), 18_000);
    // Three pages on two dies: data at 31, programs end at 341, 341 and 651.
    let outcome = run(&drive(&[HOST]), vec![forced(0, 0, 3)]);
    assert_eq!(largest(&outcome, CommandKind::Write), 651_000);
}

#[test]
fn a_buffer_that_writes_through_forces_every_write() {
    let through = drive(&[HOST, "buffer.policy = \"write_through\""]);
    let outcome = run(&through, vec![write(0, 0), write(0, 2)]);
    // Data at 11 and 22; programs on one die end at 321 and 631.
    assert_eq!(largest(&outcome, CommandKind::Write), 631_000);
    assert_eq!(outcome.write.latency.min_ns(), Some(321_000));
    // A read of a page that is being programmed still finds it: 2 + 1 + 10 from 100 us on.
    let read = small_drive::read(100, 0);
    let outcome = run(&through, vec![write(0, 0), read]);
    assert_eq!(largest(&outcome, CommandKind::Read), 11_000);
}

#[test]
fn a_trim_costs_its_command_and_what_it_covers_whole_reads_as_zeroes() {
    // Four pages from the middle of page 0 on: pages 1, 2 and 3 whole, 0 and 4 in part.
    let trim = Command {
        offset_bytes: 2048,
        ..command(CommandKind::Trim, 0, 0, 4)
    };
    let read = |at, page| command(CommandKind::Read, at, page, 1);
    let outcome = run(
        &drive(&[HOST]),
        vec![
            trim,
            read(1000, 0),
            read(2000, 1),
            read(3000, 3),
            read(4000, 4),
        ],
    );
    assert_eq!(largest(&outcome, CommandKind::Trim), 2_000);
    // Pages 0 and 4 are read from the flash, 1 + 60 + 10 us; 1 and 3 are not, 1 + 10.
    assert_eq!(flash(&outcome).page_reads, 2);
    assert_eq!(outcome.read.latency.sum_ns(), 2 * 71_000 + 2 * 11_000);
    // Data that still waits in the buffer is given up too: no hit.
    let trim = command(CommandKind::Trim, 20, 0, 1);
    let outcome = run(&drive(&[HOST]), vec![write(0, 0), trim, read(100, 0)]);
    assert_eq!(
        (flash(&outcome).buffer_hit_pages, flash(&outcome).page_reads),
        (0, 0)
    );
}

#[test]
fn zeroes_that_are_not_sent_give_whole_pages_up_and_cross_no_link() {
    let zeroes = |at, page, pages| command(CommandKind::WriteZeroes, at, page, pages);
    let host = format!("{HOST}host.write_zeroes_command_ns = 4_000\n");
    // Three pages for the price of the command, and a read of one costs the link: 1 + 10.
    let commands = vec![zeroes(0, 1, 3), small_drive::read(100, 2)];
    let outcome = run(&drive(&[&host]), commands);
    assert_eq!(largest(&outcome, CommandKind::WriteZeroes), 4_000);
    assert_eq!(largest(&outcome, CommandKind::Read), 11_000);
    assert_eq!(
        (flash(&outcome).page_reads, flash(&outcome).programs()),
        (0, 0)
    );
    // A write is not asked for another command's time.
    let outcome = run(&drive(&[HOST]), vec![zeroes(0, 1, 3)]);
    assert_eq!(largest(&outcome, CommandKind::WriteZeroes), 1_000);
}

#[test]
fn zeroes_that_are_programmed_cost_what_their_pages_do_and_no_link() {
    let zeroes = |at, page, pages| command(CommandKind::WriteZeroes, at, page, pages);
    let host = format!("{HOST}host.write_zeroes = \"programs\"\n");
    // In the buffer after their command, 1 us, and acknowledged at 8; read from the buffer at
    // 100: 1 + 10. Programs of three pages, two dies: complete at 1 + 2 * 310.
    let flush = Command::flush(Nanos(2_000));
    let commands = vec![zeroes(0, 1, 3), flush, small_drive::read(100, 2)];
    let outcome = run(&drive(&[&host]), commands);
    assert_eq!(largest(&outcome, CommandKind::WriteZeroes), 8_000);
    assert_eq!(largest(&outcome, CommandKind::Flush), 621_000 - 2_000);
    assert_eq!(flash(&outcome).buffer_hit_pages, 1);
    assert_eq!(flash(&outcome).host_page_programs, 3);
    // Without a buffer: 1 + 310.
    let host = host.replace("write_buffer_bytes = 32_768", "write_buffer_bytes = 0");
    let outcome = run(&drive(&[&host]), vec![zeroes(0, 1, 1)]);
    assert_eq!(largest(&outcome, CommandKind::WriteZeroes), 311_000);
}

#[test]
fn zeroes_of_parts_of_pages_are_written_whatever_the_drive_gives_up() {
    let zeroes = Command {
        offset_bytes: 2048,
        ..command(CommandKind::WriteZeroes, 0, 0, 1)
    };
    let outcome = run(&drive(&[HOST]), vec![zeroes, Command::flush(Nanos(1_000))]);
    // Two pages in part, each read before it is programmed.
    assert_eq!(flash(&outcome).page_reads, 2);
    assert_eq!(flash(&outcome).host_page_programs, 2);
}

#[test]
fn a_buffer_that_outlives_the_power_may_let_flushes_and_forced_writes_go() {
    let safe = "buffer.survives_power_loss = true\nbuffer.flush_at_once = true";
    let flush = Command::flush(Nanos(20_000));
    let outcome = run(&drive(&[HOST, safe]), vec![write(0, 0), flush]);
    assert_eq!(largest(&outcome, CommandKind::Flush), 3_000);
    // As a usual write: data at 11, acknowledged at 18.
    let outcome = run(&drive(&[HOST, safe]), vec![forced(0, 0, 1)]);
    assert_eq!(largest(&outcome, CommandKind::Write), 18_000);
    // Of several pages too: data at 1 + 30.
    let outcome = run(&drive(&[HOST, safe]), vec![forced(0, 0, 3)]);
    assert_eq!(largest(&outcome, CommandKind::Write), 38_000);
    let unsafe_ = format!("{HOST}buffer.flush_at_once = true");
    let said = small_drive::refused(&unsafe_);
    assert!(
        said.contains("buffer.survives_power_loss = false"),
        "{said}"
    );
}

#[test]
fn a_write_that_is_atomic_waits_for_space_for_all_of_it() {
    let six = |at_us| command(CommandKind::Write, at_us, 8, 6);
    // Eight pages of buffer, three of them taken from 0 on: data at 31 us, programs end at 341,
    // 341 and 651. Five are free: pieces of five and one, complete when the last is there.
    let three = command(CommandKind::Write, 0, 0, 3);
    let outcome = run(&drive(&[HOST]), vec![three, six(40)]);
    let in_pieces = largest(&outcome, CommandKind::Write);
    assert_eq!(in_pieces, 341_000 + 10_000 + 7_000 - 40_000);
    let split = outcome.streams[0].commands[CommandKind::Write.index()].split;
    assert_eq!(split.max_ns[Part::Buffer as usize], 341_000 - 40_000);
    // Taken whole: it comes when two of them are programmed, at 341, and its data 1 + 60 later.
    let atomic = format!("{HOST}host.atomic_write_bytes = 24_576\n");
    let outcome = run(&drive(&[&atomic]), vec![three, six(40)]);
    let whole = largest(&outcome, CommandKind::Write);
    assert_eq!(whole, 341_000 + 61_000 + 7_000 - 40_000);
    // A larger one is not.
    let atomic = format!("{HOST}host.atomic_write_bytes = 20_480\n");
    let outcome = run(&drive(&[&atomic]), vec![three, six(40)]);
    assert_eq!(largest(&outcome, CommandKind::Write), in_pieces);
}

#[test]
fn atomic_writes_fit_the_buffer_and_are_no_smaller_with_power_than_without() {
    let said = small_drive::refused(&format!("{HOST}host.atomic_write_bytes = 32_768\n"));
    assert!(said.contains("at most 28672 bytes"), "{said}");
    let said = small_drive::refused(&format!("{HOST}host.atomic_power_loss_bytes = 4_096\n"));
    assert!(
        said.contains("at most host.atomic_write_bytes, 0"),
        "{said}"
    );
}

fn writes(queue_depth: u32, random: f64) -> Characteristics {
    Characteristics {
        write_ratio: 1.0,
        queue_depth,
        read_size: PAGE,
        write_size: PAGE,
        read_random: random,
        write_random: random,
        read_stride: 0,
        write_stride: 0,
    }
}

/// Host page programs a second, and the write amplification.
fn pace(drive: &mut Ssd, requests: u64) -> (f64, f64) {
    let load = closed(writes(8, 1.0));
    let outcome = drive.run(&load, Plan::counting(0, requests), 3, 0).unwrap();
    let rate = flash(&outcome).host_page_programs as f64 / outcome.window.0 as f64 * 1e9;
    (rate, flash(&outcome).write_amplification_ratio().unwrap())
}

#[test]
fn random_writes_fall_off_a_cliff_when_space_runs_out_and_trim_brings_it_back() {
    // 2048 pages for 1536 of user data. While erased blocks last, a write is one program, two dies
    // at a time: at most 2 / 310 us = 6452 a second.
    let prepared = drive(&[HOST, "condition = \"fresh\""]);
    let mut drive = prepared.worker();
    let (fresh, waf) = pace(&mut drive, 1_000);
    assert!((waf, fresh > 6_000.0) == (1.0, true), "{waf} {fresh}");
    // Without space: in steady state at a third over-provisioning, pages are moved.
    pace(&mut drive, 8_000);
    let (steady, waf) = pace(&mut drive, 4_000);
    assert!(waf > 1.8, "{waf}");
    assert!(steady * 1.8 < fresh, "{steady} {fresh}");
    // Everything is trimmed, in order, so collected blocks hold nothing to move. A block costs only
    // its erase, 1 ms in 16 x 310 us: at most 5370 a second, and less where the dies are not used
    // evenly, as before.
    let pages = drive.capacity_bytes() / u64::from(PAGE);
    let trims = Stream {
        writes: WriteMode::Trim,
        ..Stream::closed("trims", writes(1, 0.0))
    };
    let load = [trims];
    drive.run(&load, Plan::counting(0, pages), 3, 0).unwrap();
    let (trimmed, waf) = pace(&mut drive, 1_000);
    assert_eq!(waf, 1.0);
    assert!((4_800.0..5_371.0).contains(&trimmed), "{trimmed}");
}

#[test]
fn a_trim_of_several_ranges_is_one_command_that_gives_all_of_them_up() {
    let host = format!("{HOST}host.trim_range_ns = 100\ncondition = \"filled\"\n");
    let prepared = drive(&[&host]);
    let mut drive = prepared.worker();
    let pages = drive.capacity_bytes() / u64::from(PAGE);
    let stream = Stream {
        writes: WriteMode::Trim,
        ranges_per_trim: 64,
        ..Stream::closed("trims", writes(1, 0.0))
    };
    let plan = Plan::counting(0, pages / 64);
    let outcome = drive.run(&[stream], plan, 3, 0).unwrap();
    // 2 us for the command, 64 ranges of 16 bytes on the link, and 63 ranges that cost 100 ns.
    let trims = &outcome.streams[0].commands[CommandKind::Trim.index()].counted;
    assert_eq!(
        (trims.latency.count(), trims.bytes),
        (pages / 64, pages * u64::from(PAGE))
    );
    assert_eq!(trims.latency.max_ns(), Some(2_000 + 2_500 + 6_300));
    // Nothing is left: reads of any page come from nowhere.
    let reads = [Stream::closed(
        "reads",
        Characteristics {
            write_ratio: 0.0,
            ..writes(1, 0.0)
        },
    )];
    let outcome = drive.run(&reads, Plan::counting(0, pages), 3, 0).unwrap();
    assert_eq!(flash(&outcome).page_reads, 0);
}

#[test]
fn a_generator_flushes_after_so_many_writes() {
    let mut drive = drive(&[HOST]).worker();
    let stream = Stream {
        writes_per_flush: 4,
        ..Stream::closed("database", writes(1, 1.0))
    };
    let load = [stream];
    let outcome = drive.run(&load, Plan::counting(0, 50), 3, 0).unwrap();
    let counts = CommandKind::ALL.map(|kind| {
        let counted = &outcome.streams[0].commands[kind.index()].counted;
        counted.latency.count()
    });
    assert_eq!(counts, [0, 40, 0, 10, 0]);
}

#[test]
fn reads_of_trimmed_data_that_cost_nothing_do_not_run_for_ever() {
    // The first read of page 0 takes 60 us. From the trim at 10 us on, reads take no time.
    let free = drive(&[]);
    let page = Characteristics {
        write_ratio: 0.0,
        read_size: PAGE,
        write_size: PAGE,
        ..Characteristics::default()
    };
    let reads = Stream {
        range: Some((0, PAGE.into())),
        ..Stream::closed("reads", page)
    };
    let trim = Stream::timed("trim", [command(CommandKind::Trim, 10, 0, 1)]);
    let load = [reads, trim];
    let mut plan = Plan::default();
    plan.window.duration = Some(Nanos(1_000_000));
    let error = free.worker().run(&load, plan, 3, 0).unwrap_err();
    assert_eq!(error, SimError::NoTime);
}
