//! Firmware that takes time, compared with sums by hand and with queues of several servers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use drivelab_request::{Command, CommandKind, Nanos};
use drivelab_sim::host::{Outcome, Plan, Runner};
use drivelab_sim::raid::Array;
use drivelab_sim::ssd::{Part, Prepared};
use drivelab_workload::{Characteristics, Source, Stream};

use crate::counted::flash;
use crate::small_drive::{LINK, PAGE, closed, command, drive, read, run, timed, write};

const COUNTS: [&str; 8] = [
    "command",
    "read_page",
    "written_page",
    "copied_kib",
    "flash_read",
    "flash_program",
    "page_moved",
    "flash_erase",
];

/// A controller whose work takes `nanos` nanoseconds, by [`COUNTS`]: half of them cycles at 2 GHz,
/// half memory.
fn counted(cores: u32, nanos: [u32; 8]) -> String {
    let costs = COUNTS.iter().zip(nanos).map(|(name, nanos)| {
        let memory = f64::from(nanos) / 2.0;
        format!(
            "firmware.cost.{name}_cycles = {nanos}\nfirmware.cost.{name}_memory_ns = {memory}\n"
        )
    });
    let costs: String = costs.collect();
    format!(
        "firmware.time = \"counted\"\nfirmware.cores = {cores}\nfirmware.clock_mhz = 2000\n{costs}"
    )
}

fn fixed(cores: u32, nanos: u64) -> String {
    format!("firmware.time = \"fixed\"\nfirmware.cores = {cores}\nfirmware.command_ns = {nanos}\n")
}

/// When a command submitted at 0 to the idle drive completes. It must not complete a nanosecond
/// earlier.
fn complete_at(drive: &Prepared, command: &Command) -> u64 {
    let mut done = Vec::new();
    let mut device = drive.device();
    device.begin(0, 0);
    device.submit(command, 0).unwrap();
    while device
        .serve_until(u64::MAX / 4, &mut done)
        .unwrap()
        .is_some()
        && done.is_empty()
    {}
    let at = done[0].at;
    done.clear();
    device.reset();
    device.begin(0, 0);
    device.submit(command, 0).unwrap();
    if let Some(before) = at.checked_sub(1) {
        device.serve_until(before, &mut done).unwrap();
        assert!(done.is_empty(), "complete before {at}");
    }
    while done.is_empty() {
        device.serve_until(at, &mut done).unwrap();
    }
    assert_eq!(done[0].at, at);
    at
}

#[test]
fn on_an_idle_drive_a_command_takes_longer_by_exactly_its_cost() {
    let cost = [1_000, 200, 300, 40, 500, 600, 7_000, 8_000];
    let cores = counted(2, cost);
    let [
        command_ns,
        read_page,
        written_page,
        kib,
        flash_read,
        flash_program,
        ..,
    ] = cost.map(u64::from);
    let buffer = format!("{LINK}host.interface = \"sata\"\nbuffer.write_buffer_bytes = 65_536\n");
    let through = format!("{buffer}buffer.policy = \"write_through\"\n");
    let gathering = format!("{buffer}buffer.flush_start_bytes = 32_768\n");
    let of_page = |page: u64, flash: u64| command_ns + page + 4 * kib + flash;
    let flush = Command::flush(Nanos(0));
    let wide = |kind| command(kind, 0, 0, 3);
    for (settings, command, cost) in [
        ("", read(0, 5), of_page(read_page, flash_read)),
        ("", write(0, 5), of_page(written_page, flash_program)),
        // The other core finishes the other two pages before the first core finishes command and
        // page.
        (
            "",
            wide(CommandKind::Read),
            (command_ns + read_page + 4 * kib + flash_read)
                .max(2 * (read_page + 4 * kib + flash_read)),
        ),
        (
            "",
            wide(CommandKind::Write),
            (command_ns + written_page + 4 * kib + flash_program)
                .max(2 * (written_page + 4 * kib + flash_program)),
        ),
        ("", wide(CommandKind::Trim), command_ns),
        ("", flush, command_ns),
        (&buffer, read(0, 5), of_page(read_page, flash_read)),
        (&buffer, write(0, 5), of_page(written_page, flash_program)),
        (&through, write(0, 5), of_page(written_page, flash_program)),
        // Gathered pages go to the flash later.
        (&gathering, write(0, 5), of_page(written_page, 0)),
    ] {
        let free = complete_at(&drive(&[settings]), &command);
        let taking = complete_at(&drive(&[settings, &cores]), &command);
        assert_eq!(taking - free, cost, "{settings} {command:?}");
    }
}

#[test]
fn the_pages_of_a_command_are_shared_by_the_cores() {
    // 32 pages of 1 us each and 5 us for the command: number of cores, and when the last of them
    // finishes.
    for (cores, last) in [
        (1, 37_000),
        (2, 19_000),
        (4, 10_000),
        (8, 6_000),
        (64, 6_000),
    ] {
        let costs = counted(cores, [5_000, 1_000, 0, 0, 0, 0, 0, 0]);
        let wide = command(CommandKind::Read, 0, 0, 32);
        let free = complete_at(&drive(&[NO_FLASH]), &wide);
        let taking = complete_at(&drive(&[NO_FLASH, &costs]), &wide);
        assert_eq!(taking - free, last, "{cores} cores");
    }
}

/// When cores work, in the order in which they are asked: beginning and end in nanoseconds.
fn spans_of_work(settings: &[&str], commands: Vec<Command>) -> Vec<(u64, u64)> {
    let plan = Plan::counting(0, commands.len() as u64);
    let mut worker = drive(settings).worker();
    worker
        .run_recorded(&timed(commands), plan, 0, 0..1_000_000)
        .unwrap();
    let work = worker.recorded_work(0);
    work.iter().map(|piece| piece.span).collect()
}

#[test]
fn pages_that_leave_the_buffer_are_shared_by_the_cores() {
    // The fourth gathered page makes all four leave, once the link has brought it.
    let buffer = "host.interface = \"sata\"\nbuffer.write_buffer_bytes = 65_536\n\
                  buffer.flush_start_bytes = 16_384\nbuffer.flush_stop_bytes = 0\n";
    let costs = counted(2, [0, 0, 0, 0, 0, 600, 0, 0]);
    let commands = (0..4).map(|page| write(0, page)).collect();
    let spans = spans_of_work(&[LINK, buffer, &costs], commands);
    let (first, second) = ((40_000, 40_600), (40_600, 41_200));
    assert_eq!(spans, [first, first, second, second]);
}

#[test]
fn pages_that_are_read_ahead_are_shared_by_the_cores() {
    // The second read in a row has one core, and the first page behind it the other.
    let cache = "host.interface = \"sata\"\nbuffer.read_cache_bytes = 16_384\n\
                 buffer.read_ahead_bytes = 8_192\n";
    let costs = counted(2, [0, 0, 0, 0, 500, 0, 0, 0]);
    let commands = vec![read(0, 0), read(100, 1)];
    let spans = spans_of_work(&[LINK, cache, &costs], commands);
    let both = (100_000, 100_500);
    assert_eq!(spans, [(0, 500), both, both, (100_500, 101_000)]);
}

#[test]
fn times_of_pages_add_up_to_the_commands() {
    // A page takes a third of a nanosecond more than 1,000.
    let costs = counted(1, [1_000, 0, 0, 0, 1_000, 0, 0, 0]);
    let (whole, third) = (
        "flash_read_memory_ns = 500",
        "flash_read_memory_ns = 500.333_334",
    );
    assert!(costs.contains(whole));
    let wide = command(CommandKind::Read, 0, 0, 3);
    let free = complete_at(&drive(&[NO_FLASH]), &wide);
    let taking = complete_at(&drive(&[NO_FLASH, &costs.replace(whole, third)]), &wide);
    assert_eq!(taking - free, 4_001);
}

#[test]
fn a_part_of_a_page_is_copied_in_part_and_read_before_it_is_written() {
    let cores = counted(1, [0, 0, 0, 1_024, 100, 1_000, 0, 0]);
    let half = |kind| Command {
        size_bytes: PAGE / 2,
        ..command(kind, 0, 4, 1)
    };
    for (kind, cost) in [(CommandKind::Read, 2_148), (CommandKind::Write, 3_148)] {
        let free = complete_at(&drive(&[]), &half(kind));
        let taking = complete_at(&drive(&[&cores]), &half(kind));
        assert_eq!(taking - free, cost, "{kind}");
    }
}

#[test]
fn a_read_that_the_controllers_memory_answers_costs_no_flash() {
    let cores = counted(1, [1_000, 200, 0, 25, 500, 0, 0, 0]);
    let cache = "buffer.read_cache_bytes = 65_536\nbuffer.memory_ns = 2_000\n";
    let commands = vec![read(0, 5), read(1_000, 5)];
    let log = |settings: &[&str]| {
        let plan = Plan {
            log_requests: Some(2),
            ..Plan::counting(0, 2)
        };
        let mut worker = drive(settings).worker();
        let outcome = worker.run(&timed(commands.clone()), plan, 0, 0).unwrap();
        outcome.log.unwrap().requests
    };
    let (free, taking) = (log(&[cache]), log(&[cache, &cores]));
    for (place, cost) in [(0, 1_800), (1, 1_300)] {
        let [before, after] = [&free, &taking].map(|log| log[place].latency_ns());
        assert_eq!(after - before, cost);
        assert_eq!(taking[place].parts[Part::Firmware as usize], cost);
    }
}

fn pages(write_ratio: f64, queue_depth: u32) -> Characteristics {
    Characteristics {
        write_ratio,
        queue_depth,
        read_size: PAGE,
        write_size: PAGE,
        read_random: 1.0,
        write_random: 1.0,
        read_stride: 0,
        write_stride: 0,
    }
}

fn rate(outcome: &Outcome) -> f64 {
    outcome.measured_requests as f64 / outcome.window.0 as f64 * 1e9
}

#[test]
fn saturated_cores_serve_as_many_requests_a_second_as_they_are_over_the_cost() {
    // Two dies of 60 us: 33 k a second. With 64 outstanding of 30,000 requests, the ends of the
    // window matter less than 0.3 %.
    for (cores, nanos) in [(1, 90_000), (3, 150_000), (4, 400_000)] {
        let prepared = drive(&[&fixed(cores, nanos)]);
        let plan = Plan::counting(1_000, 30_000);
        let outcome = prepared.worker().run(&closed(pages(0.0, 64)), plan, 5, 0);
        let outcome = outcome.unwrap();
        let bound = f64::from(cores) / nanos as f64 * 1e9;
        assert!((rate(&outcome) / bound - 1.0).abs() < 0.003, "{cores}");
        let busy = flash(&outcome).core_busy_ns as f64;
        let share = busy / f64::from(cores) / outcome.window.0 as f64;
        assert!((share - 1.0).abs() < 1e-9, "{cores}: {share}");
    }
}

/// A core that never rests is busy for the whole window, whichever time the host measures it in.
#[test]
fn busy_cores_are_told_in_the_hosts_time() {
    let drifts =
        "variability.correlated_sigma = 0.4\nvariability.correlation_time_ns = 100_000_000\n";
    let prepared = drive(&[&fixed(1, 90_000), drifts]);
    for seed in 1..5 {
        let plan = Plan::counting(1_000, 10_000);
        let outcome = prepared
            .worker()
            .run(&closed(pages(0.0, 64)), plan, seed, 0);
        let outcome = outcome.unwrap();
        let share = flash(&outcome).core_busy_ns as f64 / outcome.window.0 as f64;
        // Both ends of the window are whole nanoseconds of one of the two times.
        assert!((share - 1.0).abs() < 1e-6, "{seed}: {share}");
    }
}

/// Flash that takes no time, so only the cores matter.
const NO_FLASH: &str = "timing.read_cell_ns = 0\ntiming.read_register_ns = 0\n";

#[test]
fn one_core_under_poisson_arrivals_is_an_m_d_1_queue() {
    // As for one die in queueing.rs: the mean wait of 10 million arrivals is known to 0.2 %.
    let prepared = drive(&[NO_FLASH, &fixed(1, 60_000)]);
    for load in [0.5, 0.8] {
        let source = Source::Open {
            requests: pages(0.0, 1).into(),
            rate_iops: load * 1e9 / 60_000.0,
            is_poisson: true,
        };
        let streams = [Stream::new("poisson", source)];
        let plan = Plan::counting(100_000, 10_000_000);
        let outcome = prepared.worker().run(&streams, plan, 7, 0).unwrap();
        let wait = outcome.read.latency.mean_ns().unwrap() - 60_000.0;
        let expected = load * 60_000.0 / (2.0 * (1.0 - load));
        assert!((wait / expected - 1.0).abs() < 0.01, "{load}: {wait}");
    }
}

#[test]
fn cores_are_servers_in_order_of_arrival() {
    // Kiefer and Wolfowitz: each page goes to the server that is free first. Sizes differ.
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let mut now = 0;
    let reads: Vec<Command> = (0..3_000)
        .map(|_| {
            now += draw(9_000);
            let pages = 1 + draw(8);
            Command {
                arrival: Nanos(now),
                ..command(CommandKind::Read, 0, draw(100) * 8, pages as u32)
            }
        })
        .collect();
    // Half of the one-page reads are partial; they copy less and cost less.
    let is_in_part =
        |place: usize, read: &Command| place.is_multiple_of(2) && read.size_bytes == PAGE;
    let in_part = reads.iter().enumerate().map(|(place, read)| Command {
        size_bytes: if is_in_part(place, read) {
            PAGE / 8
        } else {
            read.size_bytes
        },
        ..*read
    });
    let trims = reads.iter().map(|read| Command {
        kind: CommandKind::Trim,
        ..*read
    });
    let (in_part, trims) = (in_part.collect::<Vec<_>>(), trims.collect::<Vec<_>>());
    let cores = counted(3, [3_000, 0, 0, 700, 0, 0, 0, 0]);
    // A command of one partial page may finish before an earlier one. Then it waits for the earlier
    // one's operations on its die.
    for (commands, may_overtake) in [(reads, false), (in_part, true), (trims, false)] {
        let plan = Plan {
            log_requests: Some(commands.len() as u64),
            ..Plan::counting(0, commands.len() as u64)
        };
        let mut worker = drive(&[NO_FLASH, &cores]).worker();
        let outcome = worker.run(&timed(commands.clone()), plan, 0, 0).unwrap();
        let mut log = outcome.log.unwrap().requests;
        log.sort_by_key(|request| request.submitted_ns);
        let (mut free_at, mut lanes, mut waits) = ([0_u64; 3], [0_u64; 2], 0);
        for (command, request) in commands.iter().zip(&log) {
            let expected = served(command, &mut free_at, &mut lanes);
            waits += u32::from(expected.0 > expected.1);
            assert_eq!(request.latency_ns(), expected.0 - command.arrival.0);
        }
        assert_eq!(waits > 30, may_overtake, "{waits}");
        assert!(may_overtake || waits == 0, "{waits}");
    }
}

/// When a command enters the flash, and when cores have finished it: 3 us for itself, 700 ns for
/// each KiB. `lanes` holds when the last operation of each die enters the flash.
fn served(command: &Command, free_at: &mut [u64; 3], lanes: &mut [u64; 2]) -> (u64, u64) {
    let is_read = command.kind == CommandKind::Read;
    let pages = match is_read {
        true => u64::from(command.size_bytes.div_ceil(PAGE)),
        false => 1,
    };
    let of_pages = u64::from(is_read) * u64::from(command.size_bytes) * 700 / 1_024;
    let mut done = 0;
    for page in 0..pages {
        let cost = of_pages / pages + if page == 0 { 3_000 } else { 0 };
        let server = free_at.iter_mut().min().unwrap();
        *server = command.arrival.0.max(*server) + cost;
        done = done.max(*server);
    }
    let first = command.offset_bytes / u64::from(PAGE);
    let dies = (first..first + pages * u64::from(is_read)).map(|page| (page % 2) as usize);
    let enters = dies.clone().map(|die| lanes[die]).fold(done, u64::max);
    for die in dies {
        lanes[die] = enters;
    }
    (enters, done)
}

#[test]
fn operations_of_a_die_keep_their_order_whichever_core_is_done_first() {
    // A write takes 100 us, a read 1 us. Pages 0 and 2 lie on one die, page 1 on the other.
    let cores = counted(3, [0, 1_000, 100_000, 0, 0, 0, 0, 0]);
    let commands = vec![write(0, 0), read(1, 2), read(1, 1)];
    let plan = Plan {
        log_requests: Some(3),
        ..Plan::counting(0, 3)
    };
    let mut worker = drive(&[&cores]).worker();
    let outcome = worker.run(&timed(commands), plan, 0, 0).unwrap();
    let log = outcome.log.unwrap().requests;
    // The read of the other die, the write, and the read behind the write.
    let latencies: Vec<u64> = log.iter().map(|request| request.latency_ns()).collect();
    assert_eq!(latencies, [61_000, 410_000, 469_000]);
    let firmware = log.iter().map(|r| r.parts[Part::Firmware as usize]);
    assert_eq!(firmware.collect::<Vec<_>>(), [1_000, 100_000, 99_000]);
}

#[test]
fn work_that_costs_nothing_changes_nothing() {
    let buffered = format!("{LINK}host.interface = \"sata\"\nbuffer.write_buffer_bytes = 65_536\n");
    let gathering = format!("{buffered}buffer.flush_start_bytes = 32_768\n");
    let worn = "condition = \"preconditioned\"\n";
    for settings in ["", &buffered, &gathering] {
        let text_of = |firmware: &str| {
            let prepared = drive(&[settings, worn, firmware]);
            let plan = Plan::counting(100, 4_000);
            let mut worker = prepared.worker();
            let mut outcome = worker.run(&closed(pages(0.6, 8)), plan, 3, 1).unwrap();
            outcome.part_names = &[];
            format!("{outcome:?}")
        };
        assert_eq!(text_of(&counted(1, [0; 8])), text_of(""), "{settings}");
    }
}

#[test]
fn collection_takes_its_share_of_the_cores_when_the_flash_has_moved() {
    let worn = "condition = \"preconditioned\"\n";
    let cores = counted(2, [100, 0, 0, 0, 0, 0, 2_000, 3_000]);
    let prepared = drive(&[worn, &cores]);
    let plan = Plan::counting(0, 5_000);
    let outcome = prepared.worker().run(&closed(pages(1.0, 1)), plan, 3, 1);
    let outcome = outcome.unwrap();
    let counters = flash(&outcome);
    assert!(counters.collection_page_programs > 5_000);
    let work =
        5_000 * 100 + counters.collection_page_programs * 2_000 + counters.block_erases * 3_000;
    // At the end of the window the last piece may still be in progress.
    let busy = counters.core_busy_ns;
    assert!(busy <= work && work - busy < 5_000, "{busy} of {work}");
    // Nobody waits for this work: a write waits only for its own 100 ns, or behind one move.
    let firmware = outcome.split[1].max_ns[Part::Firmware as usize];
    assert!((100..=100 + 3_000).contains(&firmware), "{firmware}");
}

#[test]
fn members_of_an_array_have_cores_of_their_own() {
    let member = drive(&[&fixed(1, 200_000)]);
    let rate_of = |members: u32| {
        let devices = (0..members).map(|_| member.device()).collect();
        let mut runner = Runner::new(Array::new(devices, u64::from(PAGE)), &Arc::default());
        let plan = Plan::counting(1_000, 20_000);
        let outcome = runner.run(&closed(pages(0.0, 64)), plan, 1, 0).unwrap();
        assert!(outcome.part_names.contains(&"firmware"));
        rate(&outcome)
    };
    // 5,000 a second for each member. 64 outstanding requests keep them busy almost always.
    for (members, bound) in [(1, 5_000.0), (2, 10_000.0)] {
        let rate = rate_of(members);
        assert!((0.97..1.001).contains(&(rate / bound)), "{members}: {rate}");
    }
}

#[test]
fn what_has_cost_and_what_has_not_are_called_by_their_names() {
    let free = run(&drive(&[]), vec![read(0, 1)]);
    assert_eq!(free.part_names.last(), Some(&"collection"));
    assert_eq!(flash(&free).core_busy_ns, 0);
    let taking = run(&drive(&[&fixed(1, 10)]), vec![read(0, 1)]);
    assert_eq!(taking.part_names.last(), Some(&"firmware"));
    assert_eq!(flash(&taking).core_busy_ns, 10);
}

#[test]
fn cores_are_recorded_beside_the_operations() {
    let prepared = drive(&[&fixed(2, 1_000)]);
    let mut worker = prepared.worker();
    let commands = timed(vec![read(0, 0), read(0, 1), read(0, 2), read(900, 2)]);
    let plan = Plan::counting(0, 4);
    worker.run_recorded(&commands, plan, 0, 0..50_000).unwrap();
    let work = worker.recorded_work(0);
    let spans: Vec<_> = work.iter().map(|piece| (piece.core, piece.span)).collect();
    assert_eq!(
        spans,
        [(0, (0, 1_000)), (1, (0, 1_000)), (0, (1_000, 2_000))]
    );
    assert!(work.iter().all(|piece| piece.is_for_host));
}
