//! Timings of small situations compared with times computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Direction, Nanos, Request};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, PARTS, Part, Plan, Prepared};

use crate::small_drive::timed;

use crate::counted::flash;

/// Two channels, one way, two planes a die. Dispatch 5 us, register 10 us, cells 50 and 300 us,
/// erase 1 ms; host free, no buffer.
const BASE: &str = r#"
name = "small"
kind = "ssd"
summary = "for tests"
condition = "filled"
[geometry]
channels = 2
ways_per_channel = 1
dies_per_way = 1
planes_per_die = 2
blocks_per_plane = 32
pages_per_block = 16
page_size_bytes = 4096
user_capacity_bytes = 4194304
plane_mode = false
[timing]
read_dispatch_ns = 5_000
write_dispatch_ns = 5_000
erase_dispatch_ns = 5_000
read_register_ns = 10_000
write_register_ns = 10_000
read_cell_ns = 50_000
program_cell_ns = 300_000
erase_cell_ns = 1_000_000
[scheduling]
dispatch = "per_die"
[collection]
policy = "greedy"
pace = "paced"
reserve_blocks_per_plane = 2
[host]
interface = "free"
[buffer]
write_buffer_bytes = 0
[variability]
sigma = 0.0
"#;

fn drive(replacements: &[(&str, &str)]) -> Prepared {
    let mut text = BASE.to_owned();
    for (from, to) in replacements {
        assert!(text.contains(from), "{from} is not in the preset");
        text = text.replace(from, to);
    }
    Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap()
}

fn at(arrival_us: u64, direction: Direction, page: u64, bytes: u32) -> Request {
    Request {
        arrival: Nanos(arrival_us * 1000),
        offset_bytes: page * 4096,
        size_bytes: bytes,
        direction,
    }
}

fn read(arrival_us: u64, page: u64) -> Request {
    at(arrival_us, Direction::Read, page, 4096)
}

fn write(arrival_us: u64, page: u64) -> Request {
    at(arrival_us, Direction::Write, page, 4096)
}

fn run(prepared: &Prepared, requests: Vec<Request>) -> Outcome {
    let plan = Plan::counting(0, requests.len() as u64);
    prepared.worker().run(&timed(requests), plan, 0, 0).unwrap()
}

/// Mean latency in us. A latency is exact only to 1/128, the width of its histogram bin, so the
/// mean is compared where exactness matters.
fn mean_us(outcome: &Outcome, direction: Direction) -> f64 {
    outcome.of(direction).latency.mean_ns().unwrap() / 1000.0
}

#[test]
fn one_read_takes_dispatch_cell_and_register() {
    let outcome = run(&drive(&[]), vec![read(0, 0)]);
    assert_eq!(outcome.window, Nanos(65_000));
    assert_eq!(outcome.read.latency.max_ns(), Some(65_000));
}

#[test]
fn reads_of_one_die_follow_each_other_and_dispatch_overlaps() {
    // Pages 0 and 2 lie on die 0 (2 dies; pages 2 and 3 are on their second planes). First: 5 + 50
    // + 10. Second: dispatched at 10, starts at 65, done at 125.
    let outcome = run(&drive(&[]), vec![read(0, 0), read(0, 2)]);
    assert_eq!(outcome.window, Nanos(125_000));
    assert_eq!(mean_us(&outcome, Direction::Read), (65.0 + 125.0) / 2.0);
}

/// Three bits a cell: 50, 70 and 90 us to read, 200, 500 and 1000 us to program.
const THREE_BITS: [(&str, &str); 2] = [
    ("= 50_000", "= [50_000, 70_000, 90_000]"),
    ("= 300_000", "= [200_000, 500_000, 1_000_000]"),
];

#[test]
fn the_type_of_a_page_decides_its_time_in_the_cell_array() {
    // The first of four planes has pages 0, 4, 8, ..., 60 in its first block: types 0, 1, 2, 0, ...
    // Page 64 is the first of its second block. 5 + cell + 10.
    let prepared = drive(&THREE_BITS);
    for (page, us) in [(0, 65), (4, 85), (8, 105), (12, 65), (60, 65), (64, 65)] {
        let outcome = run(&prepared, vec![read(0, page)]);
        assert_eq!(outcome.window, Nanos(us * 1000), "{page}");
        let cell = Part::Cell as usize;
        assert_eq!(outcome.split[0].sum_ns[cell], (us - 15) * 1000, "{page}");
    }
    // The filled blocks are full, so writes at separate times begin another: 5 + 10 + cell.
    let writes: Vec<_> = (0..4).map(|place| write(place * 2000, 0)).collect();
    for (count, us) in [(1, 215), (2, 2515), (3, 5015), (4, 6215)] {
        let outcome = run(&prepared, writes[..count].to_vec());
        assert_eq!(outcome.window, Nanos(us * 1000), "{count}");
    }
    let outcome = run(&prepared, writes);
    let sum_us = parts_us(&outcome, Direction::Write)[Part::Cell as usize];
    assert_eq!(sum_us, 200.0 + 500.0 + 1000.0 + 200.0);
    // One time for all programs, three for reads.
    let programs_alike = drive(&THREE_BITS[..1]);
    let outcome = run(
        &programs_alike,
        vec![write(0, 0), write(1000, 0), read(2000, 4)],
    );
    assert_eq!(outcome.write.latency.max_ns(), Some(315_000));
    assert_eq!(outcome.window, Nanos(2_085_000));
}

#[test]
fn a_pause_knows_the_time_of_the_page_that_is_programmed() {
    // Two writes at once on die 0. The second, of type 1, is in the cell array from 215 + 10 to
    // 725. Then a read of type 0 comes.
    let suspends = (
        "dispatch = \"per_die\"",
        "dispatch = \"per_die\"\norder = \"reads_first\"\nsuspends_per_operation = 1",
    );
    let cost = (
        "[scheduling]",
        "suspend_ns = 7_000\nresume_ns = 5_000\nsuspend_progress_ns = 100_000\n[scheduling]",
    );
    let prepared = drive(&[THREE_BITS[0], THREE_BITS[1], cost, suspends]);
    let latencies = |read_at_ns: u64| {
        let mut late = read(0, 24);
        late.arrival = Nanos(read_at_ns);
        let outcome = run(&prepared, vec![write(0, 0), write(0, 0), late]);
        [&outcome.read, &outcome.write].map(|of| of.latency.max_ns().unwrap())
    };
    // Paused after 100 us of progress, at 325: the read takes 332 to 392, then 400 us remain from
    // 397 on.
    assert_eq!(latencies(300_000), [92_000, 797_000]);
    // The last moment before the end at which a pause begins, and the first at which none does: 7 +
    // 60 after the pause, or from 725 on.
    assert_eq!(latencies(717_999), [67_000, 797_000]);
    assert_eq!(latencies(718_000), [67_000, 725_000]);
}

fn parts_us(outcome: &Outcome, direction: Direction) -> [f64; PARTS] {
    let split = outcome.split[direction.index()];
    split.sum_ns.map(|sum| sum as f64 / 1000.0)
}

#[test]
fn the_parts_of_latencies_are_those_of_their_waits() {
    // On one die the second read waits from 0 to 65, 5 of that in dispatch. With independent planes
    // it only waits for the dispatch of the first, 5 to 10, and its data, ready at 60, waits for
    // the channel until 65.
    let (one_die, planes) = (
        drive(&[]),
        drive(&[("plane_mode = false", "plane_mode = true")]),
    );
    let reads = || vec![read(0, 0), read(0, 2)];
    let part = |part: Part, us: f64| (part, us);
    for (prepared, expected) in [
        (
            one_die,
            [part(Part::Queueing, 60.0), part(Part::Channel, 20.0)],
        ),
        (
            planes,
            [part(Part::Queueing, 5.0), part(Part::Channel, 25.0)],
        ),
    ] {
        let outcome = run(&prepared, reads());
        let mut sums = [0.0; PARTS];
        sums[Part::Dispatch as usize] = 10.0;
        sums[Part::Cell as usize] = 100.0;
        for (part, us) in expected {
            sums[part as usize] = us;
        }
        assert_eq!(parts_us(&outcome, Direction::Read), sums);
        assert_eq!(outcome.split[0].max_ns[Part::Cell as usize], 50_000);
    }
}

/// As in the test above, and as on two dies: 5 + 50 + 10, and 5 later.
#[test]
fn the_order_of_striping_decides_which_pages_are_read_together() {
    let ends_at = |order: &str| {
        let mapping = format!("[mapping]\norder = \"{order}\"\n[collection]");
        let prepared = drive(&[("[collection]", &mapping)]);
        run(&prepared, vec![read(0, 0), read(0, 1)]).window
    };
    assert_eq!(ends_at("cwdp"), Nanos(70_000));
    assert_eq!(ends_at("pcwd"), Nanos(125_000));
}

/// Pages 0, 4, 8 and 12 lie on plane 0: four programs one after another, the first from 15 on, the
/// others 310 each. With alternation each die has two of them, the second die 5 later.
#[test]
fn dynamic_allocation_spreads_writes_that_static_striping_does_not() {
    let ends_at = |allocation: &str| {
        let mapping = format!("[mapping]\nallocation = \"{allocation}\"\n[collection]");
        let prepared = drive(&[("[collection]", &mapping)]);
        let writes = (0..4).map(|place| write(0, 4 * place)).collect();
        run(&prepared, writes).window
    };
    assert_eq!(ends_at("static"), Nanos(315_000 + 3 * 310_000));
    assert_eq!(ends_at("round_robin"), Nanos(320_000 + 310_000));
    assert_eq!(ends_at("least_loaded"), Nanos(320_000 + 310_000));
}

#[test]
fn plane_mode_lets_the_planes_of_a_die_sense_together_and_share_the_channel() {
    // Sensing starts at 5 and 10. The second read waits for the channel: 55 + 10 = 65, then 65 + 10
    // = 75 (it was ready at 60).
    let prepared = drive(&[("plane_mode = false", "plane_mode = true")]);
    let outcome = run(&prepared, vec![read(0, 0), read(0, 2)]);
    assert_eq!(outcome.window, Nanos(75_000));
}

#[test]
fn a_channel_serves_its_ways_in_the_order_in_which_they_became_ready() {
    // One channel, four ways, register 40 us: sensing ends at 55, 60, 65, 70;
    // transfers run 55-95-135-175-215.
    let prepared = drive(&[
        ("channels = 2", "channels = 1"),
        ("ways_per_channel = 1", "ways_per_channel = 4"),
        ("planes_per_die = 2", "planes_per_die = 1"),
        ("read_register_ns = 10_000", "read_register_ns = 40_000"),
    ]);
    let outcome = run(&prepared, (0..4).map(|page| read(0, page)).collect());
    assert_eq!(outcome.window, Nanos(215_000));
    assert_eq!(
        mean_us(&outcome, Direction::Read),
        (95.0 + 135.0 + 175.0 + 215.0) / 4.0
    );
    // The channel transferred 160 of 215 us. The dies worked or held their data from the end of
    // their dispatch on, at 5, 10, 15 and 20 us.
    assert_eq!(flash(&outcome).channel_utilisation_ratio, [160.0 / 215.0]);
    let held = [95.0 - 5.0, 135.0 - 10.0, 175.0 - 15.0, 215.0 - 20.0];
    assert_eq!(
        flash(&outcome).unit_utilisation_ratio,
        held.map(|time| time / 215.0)
    );
}

#[test]
fn in_order_dispatch_waits_for_the_head_of_the_line() {
    // Pages 0 and 2 are on die 0, page 1 on die 1. In order, page 2 blocks the stage until die 0 is
    // free at 65, then 65 + 5 + 60 = 130. Page 1 came last; it is dispatched at 70 and done at 70 +
    // 5 + 60 = 135.
    let requests = vec![read(0, 0), read(0, 2), read(0, 1)];
    let in_order = drive(&[("\"per_die\"", "\"in_order\"")]);
    let outcome = run(&in_order, requests.clone());
    assert_eq!(
        mean_us(&outcome, Direction::Read),
        (65.0 + 130.0 + 135.0) / 3.0
    );
    // With queues at the dies, page 1 is dispatched by 15 and done at 75, page 2 at 125.
    let outcome = run(&drive(&[]), requests);
    assert_eq!(
        mean_us(&outcome, Direction::Read),
        (65.0 + 125.0 + 75.0) / 3.0
    );
}

#[test]
fn a_write_without_buffer_completes_when_it_is_programmed() {
    let outcome = run(&drive(&[]), vec![write(0, 0)]);
    assert_eq!(outcome.window, Nanos(315_000));
}

#[test]
fn a_write_below_a_page_reads_the_old_page_first() {
    // Dispatch 5, read 60, then the program: 10 + 300.
    let outcome = run(&drive(&[]), vec![at(0, Direction::Write, 0, 512)]);
    assert_eq!(outcome.window, Nanos(375_000));
    assert_eq!(
        (
            flash(&outcome).page_reads,
            flash(&outcome).host_page_programs
        ),
        (1, 1)
    );
}

#[test]
fn a_write_across_pages_reads_only_the_pages_it_covers_in_part() {
    // 12 KiB from the middle of page 0: pages 0 and 3 in part, 1 and 2 whole.
    let request = Request {
        arrival: Nanos::ZERO,
        offset_bytes: 2048,
        size_bytes: 12288,
        direction: Direction::Write,
    };
    let outcome = run(&drive(&[]), vec![request]);
    assert_eq!(
        (
            flash(&outcome).page_reads,
            flash(&outcome).host_page_programs
        ),
        (2, 4)
    );
}

/// SATA at 100 MB/s (4 KiB in 40.96 us), commands 2 and 3 us, acknowledge 7 us.
const SATA: (&str, &str) = (
    "interface = \"free\"",
    "interface = \"sata\"\nlink_bytes_per_second = 100_000_000\ncommands = 2\n\
     read_command_ns = 2_000\nwrite_command_ns = 3_000\nwrite_acknowledge_ns = 7_000",
);

#[test]
fn a_read_pays_for_its_command_and_its_data_on_the_link() {
    let outcome = run(&drive(&[SATA]), vec![read(0, 0)]);
    assert_eq!(outcome.window, Nanos(2_000 + 65_000 + 40_960));
}

#[test]
fn a_buffered_write_completes_before_it_is_programmed() {
    let buffered = drive(&[
        SATA,
        ("write_buffer_bytes = 0", "write_buffer_bytes = 8192"),
    ]);
    let outcome = run(&buffered, vec![write(0, 0)]);
    assert_eq!(outcome.window, Nanos(3_000 + 40_960 + 7_000));
    // Without a buffer the data arrives and is then programmed.
    let outcome = run(&drive(&[SATA]), vec![write(0, 0)]);
    assert_eq!(outcome.window, Nanos(3_000 + 40_960 + 315_000));
}

#[test]
fn a_full_buffer_holds_the_next_write_back_until_a_page_is_programmed() {
    // One page of buffer. First write: data at 43.96, completes at 50.96, programmed at 43.96 + 315
    // = 358.96. Second: 358.96 + 3 + 40.96 + 7.
    let buffered = drive(&[
        SATA,
        ("write_buffer_bytes = 0", "write_buffer_bytes = 4096"),
    ]);
    let outcome = run(&buffered, vec![write(0, 0), write(0, 1)]);
    assert_eq!(outcome.window, Nanos(358_960 + 50_960));
}

#[test]
fn a_write_larger_than_the_buffer_is_taken_in_pieces() {
    // Four pages, two of buffer, two dies. Pages 0 and 1: data at 3 + 81.92 = 84.92; dispatched by
    // 89.92 and 94.92; programmed at 399.92 and 404.92. Page 2 (die 0): link 399.92 to 440.88,
    // programmed from 445.88 on. Page 3: space at 404.92, link behind page 2: 440.88 to 481.84,
    // acknowledged + 7.
    let buffered = drive(&[
        SATA,
        ("write_buffer_bytes = 0", "write_buffer_bytes = 8192"),
    ]);
    let outcome = run(&buffered, vec![at(0, Direction::Write, 0, 16384)]);
    assert_eq!(outcome.window, Nanos(481_840 + 7_000));
}

#[test]
fn a_read_of_a_buffered_page_does_not_touch_the_flash() {
    // The write's data is in the buffer from 43.96 to 358.96. The read at 100 finds it: 2 + 40.96.
    let buffered = drive(&[
        SATA,
        ("write_buffer_bytes = 0", "write_buffer_bytes = 8192"),
    ]);
    let outcome = run(&buffered, vec![write(0, 0), read(100, 0)]);
    assert_eq!(outcome.read.latency.max_ns(), Some(42_960));
    assert_eq!(
        (flash(&outcome).buffer_hit_pages, flash(&outcome).page_reads),
        (1, 0)
    );
    // At 359 the page is in the flash.
    let outcome = run(&buffered, vec![write(0, 0), read(359, 0)]);
    assert_eq!(outcome.read.latency.max_ns(), Some(2_000 + 65_000 + 40_960));
    assert_eq!(flash(&outcome).buffer_hit_pages, 0);
}

#[test]
fn no_more_commands_are_in_the_drive_than_it_has_slots() {
    // Two slots, six reads of one die: the third may start its command only when the first is
    // complete. If the die is the bottleneck (60 us) and the link short, the ends are the same as
    // with slots for all. So the command is long here: 100 us. With 2 slots: commands 0-100-200,
    // then one at a time as completions free slots. With 32 slots: commands end every 100 us.
    let slow = SATA
        .1
        .replace("read_command_ns = 2_000", "read_command_ns = 100_000");
    let slow = slow.replace(
        "link_bytes_per_second = 100_000_000",
        "link_bytes_per_second = 4_096_000_000",
    );
    let many = slow.replace("commands = 2", "commands = 32");
    let requests = || (0..3).map(|page| read(0, 4 * page)).collect::<Vec<_>>();
    // Data takes 1 us. The commands of the reads end at 100 and 200. First: flash 100-165; its data
    // waits for the second command (link busy to 200) and is done at
    // 201. Second: flash 200-265, so its data would be done at 266. But with two slots the third
    //      command starts at 201 and ends at 301, so that data waits: 302. Third: flash 301-366,
    //      done 367.
    let outcome = run(&drive(&[(SATA.0, &slow)]), requests());
    assert_eq!(outcome.window, Nanos(367_000));
    // With slots for all, the third command ends at 300, before the first data: data 301 and 302.
    // Third: flash 300-365, done 366.
    let outcome = run(&drive(&[(SATA.0, &many)]), requests());
    assert_eq!(outcome.window, Nanos(366_000));
}

#[test]
fn requests_arrive_in_an_open_loop_at_their_times() {
    let outcome = run(&drive(&[]), vec![read(0, 0), read(1000, 0)]);
    assert_eq!(outcome.window, Nanos(1_065_000));
    assert_eq!(outcome.read.latency.max_ns(), Some(65_000));
}

#[test]
fn a_fresh_drive_refuses_to_read_what_it_does_not_hold() {
    let fresh = drive(&[("\"filled\"", "\"fresh\"")]);
    let load = timed([read(0, 0)]);
    let plan = Plan::counting(0, 1);
    let error = fresh.worker().run(&load, plan, 0, 0).unwrap_err();
    assert!(error.to_string().contains("never written"), "{error}");
}

#[test]
fn a_request_beyond_the_end_is_refused() {
    let load = timed([at(0, Direction::Read, 1023, 8192)]);
    let plan = Plan::counting(0, 1);
    let error = drive(&[]).worker().run(&load, plan, 0, 0).unwrap_err();
    assert!(
        error.to_string().contains("4194304 of the drive"),
        "{error}"
    );
}
