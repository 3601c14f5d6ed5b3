//! Zones: times by hand, what waits for a reset, what is refused, and streams that write zone by
//! zone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{Operation, OperationKind};
use drivelab_request::{Command, CommandKind, Nanos, ZoneAction};
use drivelab_sim::host::ZoneCounters;
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::scenario::Scenario;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};
use drivelab_workload::{Characteristics, Requests, Source, Stream, Zoned};
use proptest::prelude::*;

use crate::small_drive::{self, LINK, PAGE, command, drive, read, refused, run, timed, write};

/// Zones of 64 pages, of which 32 can be written: one block of each of the two dies.
const ZONES: &str = "condition = \"fresh\"\nzones.size_bytes = 262144\n\
                     zones.capacity_bytes = 131072\ngeometry.user_capacity_bytes = 2097152\n";
const BUFFER: &str = "buffer.write_buffer_bytes = 65536\n";

/// A command for a whole zone, at a time in us.
fn of_zone(action: ZoneAction, at_us: u64, zone: u64) -> Command {
    Command::of_zone(action, zone * 64 * u64::from(PAGE), Nanos(at_us * 1000))
}

fn append(at_us: u64, zone: u64, pages: u32) -> Command {
    Command {
        zone: ZoneAction::Append,
        ..command(CommandKind::Write, at_us, zone * 64, pages)
    }
}

fn zones(outcome: &Outcome) -> &ZoneCounters {
    outcome.zones.as_ref().unwrap()
}

/// The latency of each command in us, in order.
fn latencies(changes: &[&str], commands: &[Command]) -> Vec<u64> {
    let plan = Plan {
        log_requests: Some(100),
        ..Plan::counting(0, commands.len() as u64)
    };
    let drive = drive(changes);
    let outcome = drive
        .worker()
        .run(&timed(commands.to_vec()), plan, 0, 0)
        .unwrap();
    let log = outcome.log.unwrap();
    let mut found: Vec<_> = (log.requests.iter())
        .map(|each| (each.submitted_ns, each.parts.iter().sum::<u64>() / 1000))
        .collect();
    found.sort_by_key(|&(at, _)| at);
    found.into_iter().map(|(_, latency)| latency).collect()
}

/// A page takes 10 us on the channel of its die and 300 us there. Two pages lie on two dies.
#[test]
fn a_write_an_append_and_a_read_take_what_their_pages_take() {
    let commands = [
        write(0, 0),
        append(1_000, 0, 2),
        read(2_000, 1),
        // Nothing was written there, so no flash is read.
        read(3_000, 5),
        append(4_000, 3, 1),
    ];
    assert_eq!(latencies(&[ZONES], &commands), [310, 310, 60, 0, 310]);
}

/// The controller takes 200 us, plus 5 us for each page that was not written. Erases take 1,000 us.
#[test]
fn resets_and_finishes_take_the_controllers_time_and_that_of_erases() {
    let times =
        "zones.reset_ns = 200_000\nzones.finish_ns = 100_000\nzones.finish_page_ns = 5_000\n";
    let commands = [
        append(0, 0, 2),
        of_zone(ZoneAction::Finish, 1_000, 0),
        of_zone(ZoneAction::Reset, 2_000, 0),
        // The dies erase from 2,200 to 3,200 us.
        append(2_300, 1, 1),
        of_zone(ZoneAction::Reset, 9_000, 5),
        of_zone(ZoneAction::Open, 9_500, 5),
        of_zone(ZoneAction::Close, 9_600, 5),
    ];
    let found = latencies(&[ZONES, times], &commands);
    assert_eq!(found, [310, 250, 200, 900 + 310, 200, 0, 0]);
    let waits = [ZONES, times, "zones.reset_waits = true\n"];
    assert_eq!(latencies(&waits, &commands)[2], 1_200);
    let outcome = run(&drive(&waits), commands.to_vec());
    let counted = zones(&outcome);
    assert_eq!((counted.resets, counted.finishes), (1, 1));
    assert_eq!((counted.opens, counted.closes, counted.appends), (1, 1, 2));
    assert_eq!((counted.most_open, counted.most_active), (2, 2));
    assert_eq!(outcome.media.flash().unwrap().block_erases, 2);
}

/// A reset waits for the writes before it, and later commands wait for the reset. Other zones do
/// not wait.
#[test]
fn a_reset_waits_for_writes_and_writes_for_a_reset() {
    let times = "zones.reset_ns = 200_000\n";
    let commands = [
        append(0, 0, 1),
        of_zone(ZoneAction::Reset, 100, 0),
        // The first write of its zone after the reset: it is judged when the reset is over, at 510
        // us.
        write(200, 0),
        // Its page lies on the die that programs until 310 us. The erase follows there, from 620 to
        // 1,620 us.
        append(250, 1, 1),
    ];
    let found = latencies(&[ZONES, times], &commands);
    assert_eq!(found, [310, 410, 1_620 + 310 - 200, 370]);
}

/// Simultaneous appends to one zone. Each gets its own place, in order of arrival, whether or not
/// there is a buffer, a link, or core time in between.
#[test]
fn appends_in_flight_lie_one_behind_the_other() {
    for changes in [
        vec![ZONES],
        vec![ZONES, BUFFER],
        vec![ZONES, LINK, BUFFER, "host.interface = \"nvme\"\n"],
        vec![ZONES, BUFFER, "buffer.policy = \"write_through\"\n"],
        vec![
            ZONES,
            BUFFER,
            "firmware.time = \"fixed\"\nfirmware.cores = 2\nfirmware.command_ns = 3000\n",
        ],
    ] {
        let commands: Vec<_> = (0..8).map(|_| append(0, 2, 3)).collect();
        let mut worker = drive(&changes).worker();
        let plan = Plan::counting(0, 8);
        let (outcome, operations) = worker
            .run_recorded(&timed(commands), plan, 0, 0..u64::MAX)
            .unwrap();
        let programs = operations.iter().map(|recorded| recorded.operation);
        let pages: Vec<u32> = programs.map(|o: Operation| o.lpn).collect();
        let expected: Vec<u32> = (128..128 + 24).collect();
        assert_eq!(pages, expected, "{changes:?}");
        assert_eq!(zones(&outcome).appends, 8);
        assert_eq!(zones(&outcome).refused_commands(), 0);
        let flash = outcome.media.flash().unwrap();
        assert_eq!(flash.write_amplification_ratio(), Some(1.0));
    }
}

#[test]
fn what_breaks_a_rule_is_refused_counted_and_moves_no_data() {
    let limits = "zones.most_open = 2\nzones.most_active = 3\nzones.most_append_bytes = 8192\n";
    let commands = vec![
        // Not at the zone's write pointer.
        write(0, 5),
        // An append that is too large, and one that is not at the beginning of its zone.
        append(1_000, 0, 3),
        Command {
            offset_bytes: 4096,
            ..append(2_000, 0, 1)
        },
        // Beyond the capacity; from a full zone; across the end of a zone.
        of_zone(ZoneAction::Finish, 3_000, 0),
        append(4_000, 0, 1),
        command(CommandKind::Write, 5_000, 64, 33),
        command(CommandKind::Read, 6_000, 62, 4),
        // Three open zones, one of which the drive closes, and a fourth.
        of_zone(ZoneAction::Open, 7_000, 1),
        of_zone(ZoneAction::Open, 8_000, 2),
        of_zone(ZoneAction::Open, 9_000, 3),
        of_zone(ZoneAction::Close, 10_000, 2),
        append(11_000, 3, 1),
        append(12_000, 4, 1),
        of_zone(ZoneAction::Close, 13_000, 5),
    ];
    let outcome = run(&drive(&[ZONES, limits]), commands);
    let counted = zones(&outcome);
    assert_eq!(counted.refused_not_at_pointer, 1);
    assert_eq!(counted.refused_invalid, 2);
    assert_eq!(counted.refused_full, 1);
    assert_eq!(counted.refused_across_end, 2);
    assert_eq!(counted.refused_too_many_open, 1);
    assert_eq!(counted.refused_too_many_active, 1);
    assert_eq!(counted.refused_transition, 1);
    assert_eq!(counted.refused_commands(), 9);
    // One append was accepted. The others, and the read, moved nothing.
    assert_eq!((outcome.write.bytes, outcome.read.bytes), (4096, 0));
    assert_eq!(outcome.write.latency.count(), 1);
    let trims = &outcome.streams[0].commands[CommandKind::Trim.index()].counted;
    assert_eq!((trims.latency.count(), trims.bytes), (13, 0));
}

/// A misplaced write is refused whether it comes alone or among others. Refused random writes are
/// results: the run does not fail.
#[test]
fn random_writes_are_refused_and_counted() {
    let workload = Characteristics {
        write_ratio: 1.0,
        queue_depth: 4,
        ..Characteristics::default()
    };
    let host = "host.interface = \"nvme\"\nhost.write_command_ns = 1_000\n\
                host.read_command_ns = 1_000\nhost.link_bytes_per_second = 409_600_000\n\
                host.write_acknowledge_ns = 0\n";
    let drive = drive(&[ZONES, BUFFER, host]);
    let streams = small_drive::closed(workload);
    let outcome = drive
        .worker()
        .run(&streams, Plan::counting(0, 500), 1, 0)
        .unwrap();
    let counted = zones(&outcome);
    assert!(counted.refused_commands() > 480);
    // Commands are judged when they enter, and four are in progress when the last is counted.
    let total = outcome.write.latency.count() + counted.refused_commands();
    assert!((500..=504).contains(&total), "{total}");
}

fn zoned(zones: u32, queue_depth: u32, appends: bool, write_ratio: f64) -> Zoned {
    Zoned {
        requests: Characteristics {
            write_ratio,
            queue_depth,
            write_size: 3 * PAGE,
            write_random: 0.0,
            ..Characteristics::default()
        },
        zones_at_once: zones,
        appends,
        zone_bytes: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A stream that keeps the rules is never refused, writes everything once, reads only what
    /// exists, and leaves no more zones open than it writes to.
    #[test]
    fn a_stream_of_zones_breaks_no_rule(
        at_once in 1..4_u32,
        depth in 1..12_u32,
        appends: bool,
        writes in 0.3..1.0_f64,
        buffer in prop::sample::select(vec!["", BUFFER]),
        condition in prop::sample::select(vec!["", "condition = \"filled\"\n"]),
    ) {
        let depth = if appends { depth } else { depth.min(at_once) };
        let pattern = zoned(at_once, depth, appends, writes);
        let limits = format!("zones.most_open = {at_once}\n");
        let zones_text = if condition.is_empty() { ZONES.to_owned() } else {
            ZONES.replace("condition = \"fresh\"\n", condition)
        };
        let drive = drive(&[&zones_text, &limits, buffer, "zones.reset_ns = 10_000\n"]);
        let streams = [Stream::closed("log", pattern)];
        let outcome = drive.worker().run(&streams, Plan::counting(0, 900), 5, 0).unwrap();
        let counted = zones(&outcome);
        prop_assert_eq!(counted.refused_commands(), 0);
        prop_assert!(counted.most_open <= u64::from(at_once));
        prop_assert!(counted.resets > 0);
        prop_assert_eq!(counted.appends > 0, appends);
        let flash = outcome.media.flash().unwrap();
        prop_assert_eq!(flash.write_amplification_ratio(), Some(1.0));
        prop_assert_eq!(flash.collections, 0);
    }
}

/// The same pattern on a drive without zones, in pieces of zone size. Trims take the place of
/// resets.
#[test]
fn a_drive_without_zones_takes_pieces_of_the_same_size() {
    let pattern = Zoned {
        zone_bytes: Some(131_072),
        ..zoned(2, 2, false, 1.0)
    };
    let streams = |pattern: &Zoned| [Stream::closed("log", pattern.clone())];
    let plan = Plan::counting(0, 1_000);
    let outcome = drive(&[])
        .worker()
        .run(&streams(&pattern), plan, 5, 0)
        .unwrap();
    assert!(outcome.zones.is_none());
    let trims = &outcome.streams[0].commands[CommandKind::Trim.index()].counted;
    assert!(trims.latency.count() > 10 && trims.bytes > 0);
    for (change, expected) in [
        (
            zoned(2, 2, false, 1.0),
            "it writes zones, and this drive has none",
        ),
        (
            Zoned {
                appends: true,
                ..pattern.clone()
            },
            "it appends, and this drive has no zones",
        ),
        (
            Zoned {
                zones_at_once: 99,
                ..pattern.clone()
            },
            "zones is 99; allowed: at most the 48",
        ),
        (
            zoned(2, 3, false, 1.0),
            "queue_depth is 3; allowed by writes",
        ),
    ] {
        let error = drive(&[])
            .worker()
            .run(&streams(&change), plan, 5, 0)
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let of_zones = drive(&[ZONES]);
    for (change, expected) in [
        (
            Zoned {
                zone_bytes: Some(4096),
                ..zoned(2, 2, false, 1.0)
            },
            "zone_bytes is 4096; allowed: 131072",
        ),
        (
            zoned(2, 2, false, 0.0),
            "it only reads, and no zone of its range holds anything",
        ),
    ] {
        let error = of_zones
            .worker()
            .run(&streams(&change), plan, 5, 0)
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let trims = Source::Closed(Requests::Characteristics(Characteristics {
        write_ratio: 1.0,
        ..Characteristics::default()
    }));
    let trims = Stream {
        writes: drivelab_workload::WriteMode::Trim,
        ..Stream::new("t", trims)
    };
    let error = of_zones.worker().run(&[trims], plan, 5, 0).unwrap_err();
    assert!(
        error.to_string().contains("this drive knows no TRIM"),
        "{error}"
    );
    let error = drive(&[]).worker().run(
        &timed([of_zone(ZoneAction::Reset, 0, 0)]),
        Plan::counting(0, 1),
        0,
        0,
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("it asks for the reset of a zone")
    );
}

/// Filled drives hold full zones, which can be read. A state is saved and restored.
#[test]
fn conditions_and_states_of_zones() {
    let filled = ZONES.replace("\"fresh\"", "\"preconditioned\"");
    let prepared = drive(&[&filled, "occupancy.filled = 0.5\n"]);
    let commands = vec![
        read(0, 3 * 64 + 31),
        append(1_000, 3, 1),
        append(2_000, 4, 1),
    ];
    let outcome = run(&prepared, commands);
    assert_eq!(zones(&outcome).refused_full, 1);
    assert_eq!(outcome.media.flash().unwrap().page_reads, 1);
    // Preconditioned means twice, so every block of the full zones was erased once.
    let erases = outcome.media.flash().unwrap().erase_counts.unwrap();
    assert_eq!((erases.least, erases.most), (0, 1));
    let mut worker = prepared.worker();
    let step = |worker: &mut drivelab_sim::ssd::Ssd| {
        let streams = [Stream::closed("log", zoned(2, 2, true, 0.7))];
        let outcome = worker.run(&streams, Plan::counting(0, 300), 3, 0).unwrap();
        (outcome.window, outcome.write.bytes, zones(&outcome).resets)
    };
    step(&mut worker);
    let saved = worker.save();
    let then = step(&mut worker);
    let mut other = prepared.worker();
    other.load(&saved).unwrap();
    assert_eq!(step(&mut other), then);
}

/// An erase waits for earlier work of the dies, and programs of the next zone wait for the erase.
#[test]
fn a_reset_of_buffered_writes_gives_their_pages_up() {
    let commands = [
        append(0, 0, 8),
        of_zone(ZoneAction::Reset, 100, 0),
        // Its data was in the buffer when the zone was reset, and is gone.
        read(110, 7),
    ];
    let found = latencies(&[ZONES, BUFFER], &commands);
    assert_eq!(found, [0, 0, 0]);
    let outcome = run(&drive(&[ZONES, BUFFER]), commands.to_vec());
    let flash = outcome.media.flash().unwrap();
    assert_eq!((flash.buffer_hit_pages, flash.page_reads), (0, 0));
    let mut worker = drive(&[ZONES, BUFFER]).worker();
    let plan = Plan::counting(0, 3);
    let (_, operations) = worker
        .run_recorded(&timed(commands), plan, 0, 0..u64::MAX)
        .unwrap();
    let kinds: Vec<_> = operations.iter().map(|o| o.operation.kind).collect();
    assert_eq!(kinds[..8], [OperationKind::Program; 8]);
    assert_eq!(kinds[8..], [OperationKind::Erase; 2]);
}

#[test]
fn a_size_that_is_no_sectors_is_refused() {
    let message = refused("zones.size_bytes = 1000\n");
    assert!(message.contains("zones.size_bytes"), "{message}");
}

/// Three logs that are overwritten sooner or later (`examples/zoned-logs.toml`). Zones need no
/// collection. The same flash without zones moves pages of one log out of the gaps of another.
#[test]
fn logs_cost_moves_without_zones_and_none_with_them() {
    let read = |name: &str| {
        let path = format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    let scenario = Scenario::read(&read("zoned-logs"), &|_| None).unwrap();
    let run = |name: &str| {
        let config = SsdConfig::from_text(&read(name)).unwrap();
        let plan = Plan::of(scenario.window());
        let mut worker = Prepared::new(config).unwrap().worker();
        let outcome = worker.run(&scenario.streams, plan, 0, 0).unwrap();
        let ratio = outcome.media.flash().unwrap().write_amplification_ratio();
        let written = outcome.write.bytes as f64 / outcome.window.0 as f64 * 1e3;
        let of = |latency: &drivelab_request::Histogram| {
            let percentile = latency.percentile_ns(99.0).unwrap() as f64 / 1e3;
            (latency.mean_ns().unwrap() / 1e3, percentile)
        };
        let (writes, reads) = (of(&outcome.write.latency), of(&outcome.read.latency));
        println!("{name}: {ratio:?}, {written:.1} MB/s, writes {writes:?} us, reads {reads:?} us");
        (ratio.unwrap(), written)
    };
    let (with_zones, rate_with) = run("zones");
    let (without, rate_without) = run("zones-off");
    assert!((with_zones - 1.0).abs() < 1e-9);
    assert!(without > 1.05, "{without}");
    assert!(rate_with > rate_without);
}
