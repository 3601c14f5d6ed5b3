//! The hard disk compared with times computed by hand. At 6,000 rpm a revolution takes 10 ms, and
//! one of 100 sectors on a track 100 us.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;

use drivelab_request::{Command, CommandKind, Content, Direction, Nanos, ZoneAction};
use drivelab_sim::hdd::Disk;
use drivelab_sim::host::{LoggedRequest, Outcome, Plan};
use drivelab_sim::preset::{DriveConfig, HddConfig};
use drivelab_workload::Characteristics;
use proptest::prelude::*;

use crate::small_drive::{closed, timed};

const REVOLUTION: u64 = 10_000_000;
const SECTOR: u64 = REVOLUTION / 100;
const HEAD_SWITCH: u64 = 500_000;
const NEXT_CYLINDER: u64 = 1_000_000;

/// Indices of the parts.
const SEEK: usize = 3;
const ROTATION: usize = 4;
const TRANSFER: usize = 5;

/// Two heads, 100 cylinders of 100 sectors a track and 100 of 50; no cache, and a link that takes
/// no time.
fn config(changes: &str) -> HddConfig {
    let text = format!(
        "base = \"spinpoint-m7\"\nname = \"small\"\n\
         geometry.heads = 2\ngeometry.zone_cylinders = [100, 100]\n\
         geometry.zone_sectors_per_track = [100, 50]\n\
         geometry.user_capacity_bytes = 15_360_000\n\
         mechanics.rotation_rpm = 6000\nmechanics.single_cylinder_seek_ns = 1_000_000\n\
         mechanics.average_seek_ns = 3_000_000\nmechanics.full_stroke_seek_ns = 6_000_000\n\
         mechanics.head_switch_ns = 500_000\n{changes}"
    );
    let text = [
        "cache.read_segments = 0",
        "cache.write_cache_bytes = 0",
        "host.interface = \"free\"",
    ]
    .iter()
    .filter(|line| !changes.contains(line.split('=').next().unwrap()))
    .fold(text, |text, line| format!("{text}\n{line}"));
    match DriveConfig::from_text(&text) {
        Ok(DriveConfig::Hdd(config)) => *config,
        other => unreachable!("{other:?}"),
    }
}

fn disk(changes: &str) -> Disk {
    Disk::new(&config(changes), &Arc::default())
}

fn access(kind: CommandKind, arrival: u64, sector: u64, count: u64) -> Command {
    Command {
        arrival: Nanos(arrival),
        offset_bytes: sector * 512,
        size_bytes: (count * 512) as u32,
        kind,
        is_forced: false,
        content: Content::Random,
        zone: ZoneAction::None,
    }
}

fn read(arrival: u64, sector: u64, count: u64) -> Command {
    access(CommandKind::Read, arrival, sector, count)
}

/// Runs commands. Returns the outcome, and the latency of each command in order of submission.
fn run(disk: &mut Disk, commands: &[Command]) -> (Outcome, Vec<u64>) {
    let count = commands.len() as u64;
    let plan = Plan {
        log_requests: Some(count),
        ..Plan::counting(0, count)
    };
    let outcome = disk.run(&timed(commands.to_vec()), plan, 1, 0).unwrap();
    let mut requests = outcome.log.clone().unwrap().requests;
    requests.sort_by_key(|request| request.submitted_ns);
    let latencies = requests
        .iter()
        .map(|request| request.latency_ns())
        .collect();
    (outcome, latencies)
}

fn latencies(changes: &str, commands: &[Command]) -> Vec<u64> {
    run(&mut disk(changes), commands).1
}

/// A cylinder of two tracks takes two revolutions, a head switch and, to the next cylinder, a seek.
/// The skews lose nothing else. Ten cylinders, the last without the seek behind it.
#[test]
fn a_long_read_takes_its_revolutions_switches_and_nothing_else() {
    let cylinder = 2 * REVOLUTION + HEAD_SWITCH + NEXT_CYLINDER;
    let (outcome, _) = run(&mut disk(""), &[read(0, 0, 2000)]);
    let parts = outcome.split[0].sum_ns;
    assert_eq!(parts[TRANSFER], 10 * cylinder - NEXT_CYLINDER);
    assert_eq!((parts[SEEK], parts[ROTATION]), (0, 0));
    // Reads of one track each find the next track under the heads, so they are equally fast, to the
    // ns.
    let commands: Vec<_> = (0..20).map(|track| read(0, 100 * track, 100)).collect();
    let (outcome, _) = run(&mut disk("scheduling.order = \"fcfs\""), &commands);
    assert_eq!(outcome.window.0, 10 * cylinder - NEXT_CYLINDER);
}

/// Half as many sectors a track, half the bandwidth.
#[test]
fn the_outer_zone_is_faster_by_its_sectors() {
    let transfer = |first, sectors| {
        let (outcome, _) = run(&mut disk(""), &[read(0, first, sectors)]);
        outcome.split[0].sum_ns[TRANSFER]
    };
    assert_eq!(transfer(0, 2000), transfer(20_000, 1000));
}

fn random_reads(queue_depth: u32) -> Characteristics {
    Characteristics {
        queue_depth,
        read_size: 512,
        ..Characteristics::default()
    }
}

/// One zone, so that cylinders are drawn evenly. The mean seek is that of the curve over all pairs,
/// plus a head switch where the cylinder stays (one in 200) and the head does not (one in two). The
/// mean wait is half a revolution. Four standard errors are allowed for each.
#[test]
fn random_reads_take_the_average_seek_and_half_a_revolution() {
    let requests = 40_000;
    let mut one_zone = config("");
    one_zone.geometry.zone_cylinders = vec![200];
    one_zone.geometry.zone_sectors_per_track = vec![75];
    let mut disk = Disk::new(&one_zone, &Arc::default());
    let plan = Plan::counting(0, requests);
    let outcome = disk.run(&closed(random_reads(1)), plan, 1, 0).unwrap();
    let mean = |part: usize| outcome.split[0].sum_ns[part] as f64 / requests as f64;

    // a = (45 - 10 - 30) / (3 sqrt 200) ms, b = (7 - 45 + 48) / 600 ms.
    let (root, line) = (5e6 / (3.0 * 200_f64.sqrt()), 10e6 / 600.0);
    let curve = |d: f64| 1e6 + root * (d - 1.0).sqrt() + line * (d - 1.0);
    let pairs = |d: u32| 2.0 * f64::from(200 - d) / 40_000.0;
    let (mut expected, mut square) = (0.0025 * 5e5, 0.0);
    for d in 1..200 {
        expected += pairs(d) * curve(d.into());
        square += pairs(d) * curve(d.into()).powi(2);
    }
    let deviation = (square - expected * expected).sqrt();
    let error = |deviation: f64| 4.0 * deviation / (requests as f64).sqrt();
    assert!(
        (mean(SEEK) - expected).abs() < error(deviation),
        "{}",
        mean(SEEK)
    );
    // The data sheet's average, except that 200 cylinders are less even than a continuum.
    assert!((expected / 3e6 - 1.0).abs() < 0.015, "{expected}");
    let half = REVOLUTION as f64 / 2.0;
    let deviation = REVOLUTION as f64 / 12_f64.sqrt();
    assert!(
        (mean(ROTATION) - half).abs() < error(deviation),
        "{}",
        mean(ROTATION)
    );
}

/// First come, first served takes a mean seek and half a revolution, 8 ms. The shortest positioning
/// time of 32 accesses is found among waits spread over a revolution. The shortest wait alone would
/// be a 33rd of it, 0.3 ms, and the shortest seek about 1 ms. Both together are below 3 ms, and
/// above the single-cylinder seek that nearly every access needs. Rules that consider only seeks
/// save at most the seeks, 3 of 8 ms.
#[test]
fn orders_of_service_gain_what_they_look_at() {
    let requests = 20_000;
    let mean_service = |order: &str| {
        let mut disk = disk(&format!("scheduling.order = \"{order}\""));
        let plan = Plan::counting(100, requests);
        let outcome = disk.run(&closed(random_reads(32)), plan, 1, 0).unwrap();
        outcome.window.0 as f64 / requests as f64 / 1e6
    };
    let [fcfs, sstf, sptf, elevator] = ["fcfs", "sstf", "sptf", "elevator"].map(mean_service);
    assert!((7.8..8.3).contains(&fcfs), "{fcfs}");
    assert!((1.0..3.0).contains(&sptf), "{sptf}");
    for (name, each) in [("sstf", sstf), ("elevator", elevator)] {
        assert!((5.0..6.8).contains(&each), "{name}: {each}");
    }
}

const LINK: &str = "host.interface = \"sata\"\nhost.link_bytes_per_second = 100_000_000\n\
                    host.read_command_ns = 1_000\nhost.write_command_ns = 1_000\n\
                    host.write_acknowledge_ns = 2_000\n";

/// A sector takes 5,120 ns on the link. The first read takes the command, the rest of the
/// revolution, the sector, and one sector on the link. The second finds it in the cache: command
/// and link.
#[test]
fn a_hit_costs_command_and_link() {
    let changes = format!("{LINK}cache.read_segments = 2\ncache.segment_bytes = 51_200");
    let commands = [read(0, 3, 1), read(REVOLUTION, 3, 1)];
    let missed = 4 * SECTOR + 5_120;
    assert_eq!(latencies(&changes, &commands), [missed, 1_000 + 5_120]);
    // Without segments it is a miss again and takes a revolution.
    let changes = format!("{LINK}cache.read_segments = 0");
    assert_eq!(latencies(&changes, &commands), [missed, missed]);
}

/// Ten sectors are read by 1 ms, the next ten ahead by 2 ms, and so on until the segment of 100 is
/// full.
#[test]
fn what_was_read_ahead_is_there_when_its_sector_has_passed() {
    let changes = "cache.read_segments = 1\ncache.segment_bytes = 51_200";
    let second = |at: u64| latencies(changes, &[read(0, 0, 10), read(at, 10, 10)])[1];
    assert_eq!(second(20 * SECTOR), 0);
    assert_eq!(second(20 * SECTOR - 1), 1);
    assert_eq!(second(10 * SECTOR), 10 * SECTOR);
    // Without reading ahead, its first sector passed 1 ns ago, so it takes a revolution.
    let changes = format!("{changes}\ncache.read_ahead = false");
    let commands = [read(0, 0, 10), read(10 * SECTOR + 1, 10, 10)];
    let missed = REVOLUTION - 1 + 10 * SECTOR;
    assert_eq!(latencies(&changes, &commands)[1], missed);
    // 100 sectors beyond those requested are kept, and no more.
    let changes = "cache.read_segments = 1\ncache.segment_bytes = 51_200";
    let late = |sector| {
        let commands = [read(0, 0, 10), read(3 * REVOLUTION, sector, 1)];
        latencies(changes, &commands)[1]
    };
    assert_eq!(late(109), 0);
    assert!(late(110) > 0);
}

/// The data is in the cache after command and link, 1,000 + 5,120 ns, and acknowledged 2,000 ns
/// later. Sector 0 passes at 10 ms and is on the platters at 10.1 ms; then the flush ends.
#[test]
fn a_write_is_complete_in_the_cache_and_a_flush_on_the_platters() {
    let back = format!("{LINK}cache.write_cache_bytes = 51_200");
    let write = access(CommandKind::Write, 0, 0, 1);
    let in_cache = 1_000 + 5_120 + 2_000;
    let on_platters = REVOLUTION + SECTOR + 2_000;
    let flush = Command::flush(Nanos(in_cache));
    let found = latencies(&back, &[write, flush]);
    assert_eq!(found, [in_cache, on_platters - in_cache]);
    // Nothing to wait for: only command and acknowledgement.
    assert_eq!(latencies(&back, &[flush]), [1_000 + 2_000]);
    let forced = Command {
        is_forced: true,
        ..write
    };
    assert_eq!(latencies(&back, &[forced]), [on_platters]);
    let through = format!("{back}\ncache.policy = \"write_through\"");
    assert_eq!(latencies(&through, &[write]), [on_platters]);
}

/// Room for one sector: the second write waits until the first is on the platters.
#[test]
fn a_full_write_cache_makes_writes_wait_and_goes_to_the_platters() {
    let changes = format!("{LINK}cache.write_cache_bytes = 512");
    let writes = [0, 50].map(|sector| access(CommandKind::Write, 0, sector, 1));
    let (outcome, found) = run(&mut disk(&changes), &writes);
    let in_cache = 1_000 + 5_120 + 2_000;
    assert_eq!(found, [in_cache, REVOLUTION + SECTOR + in_cache]);
    assert_eq!(outcome.split[1].sum_ns[1], REVOLUTION + SECTOR);
    // A read of data that waits for the platters comes from the cache.
    let changes = format!("{LINK}cache.write_cache_bytes = 51_200");
    let commands = [writes[0], read(20_000, 0, 1)];
    assert_eq!(latencies(&changes, &commands)[1], 1_000 + 5_120);
}

/// Sectors 50 and 10 of a track wait while 0 is read. If both commands are in the disk, 10 goes
/// first and all are done in one revolution. A disk that takes two commands has only 50 to choose.
#[test]
fn only_commands_in_the_disk_are_put_in_order() {
    let commands = [read(0, 0, 1), read(1, 50, 1), read(2, 10, 1)];
    let link = "host.interface = \"sata\"\nhost.link_bytes_per_second = 1_000_000_000_000\n\
                host.read_command_ns = 0\n";
    let window = |count: u32| {
        let changes = format!("{link}host.commands = {count}");
        run(&mut disk(&changes), &commands).0.window.0
    };
    // 512 bytes at a terabyte a second are 1 ns.
    assert_eq!(window(3), 51 * SECTOR + 1);
    assert_eq!(window(2), REVOLUTION + 11 * SECTOR + 1);
}

#[test]
fn every_part_of_a_latency_is_told_and_what_the_disk_did() {
    let changes = "cache.read_segments = 4\ncache.segment_bytes = 51_200\n\
                   cache.write_cache_bytes = 51_200";
    let workload = Characteristics {
        write_ratio: 0.5,
        queue_depth: 8,
        read_random: 0.5,
        ..random_reads(8)
    };
    let mut small = disk(changes);
    let plan = Plan::counting(1000, 5000);
    let outcome = small.run(&closed(workload), plan, 1, 0).unwrap();
    for direction in Direction::ALL {
        let latency = &outcome.of(direction).latency;
        let sum = outcome.split[direction.index()].sum_ns.iter().sum::<u64>() as f64;
        let total = latency.mean_ns().unwrap() * latency.count() as f64;
        assert!((sum / total - 1.0).abs() < 1e-9, "{direction}");
    }
    let work = outcome.media.disk().unwrap();
    // A read is one access or a hit. 8 commands are outstanding at each end of the window.
    let reads = work.media_reads + work.cache_hit_reads;
    assert!(reads.abs_diff(outcome.read.latency.count()) <= 8, "{reads}");
    // Writes of one sector reach the platters singly or merged. The cache holds 100.
    let writes = outcome.write.latency.count();
    assert!(work.media_writes <= writes + 108, "{}", work.media_writes);
    assert!(work.utilisation_ratio > 0.9 && work.utilisation_ratio <= 1.0);
    // A repeated run gives the same result: nothing of the first run is left.
    let again = small.run(&closed(workload), plan, 1, 0).unwrap();
    assert_eq!(format!("{again:?}"), format!("{outcome:?}"));
}

/// Gap to the previous command in ns, first sector, number of sectors, and the kind of command.
type Draw = (u64, u64, u64, u8);

/// Commands and a final flush. Reads are included only if `reads` is set.
fn commands(draws: &[Draw], reads: bool) -> Vec<Command> {
    let mut now = 0;
    let mut all: Vec<_> = draws
        .iter()
        .map(|&(gap, first, count, what)| {
            now += gap;
            match what {
                0..3 if reads => read(now, first, count),
                3 => Command::flush(Nanos(now)),
                _ => Command {
                    is_forced: what == 4,
                    ..access(CommandKind::Write, now, first, count)
                },
            }
        })
        .collect();
    all.push(Command::flush(Nanos(now + 1)));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// For any commands: each completes once, completion times never decrease, and a latency is the
    /// sum of its parts. A forced write includes its time on the platters. When the last flush
    /// completes, everything written is on the platters, except what was overwritten before.
    #[test]
    fn no_command_and_no_sector_is_lost(
        draws in prop::collection::vec((0..30_000_000_u64, 0..400_u64, 1..20_u64, 0..10_u8), 1..60),
        order in prop::sample::select(vec!["fcfs", "sstf", "sptf", "elevator"]),
        policy in prop::sample::select(vec!["write_back", "write_through"]),
        reads in any::<bool>(),
    ) {
        let commands = commands(&draws, reads);
        let mut disk = disk(&format!(
            "scheduling.order = {order:?}\ncache.write_cache_bytes = 51_200\n\
             cache.policy = {policy:?}"
        ));
        let (outcome, _) = run(&mut disk, &commands);
        let requests = outcome.log.clone().unwrap().requests;
        let mut submitted: Vec<_> = requests.iter().map(|request| request.submitted_ns).collect();
        submitted.sort_unstable();
        let arrivals: Vec<_> = commands.iter().map(|command| command.arrival.0).collect();
        prop_assert_eq!(submitted, arrivals);
        let ends = requests.iter().map(|request| request.submitted_ns + request.latency_ns());
        prop_assert!(ends.is_sorted());
        let forced = |request: &&LoggedRequest| {
            commands.iter().any(|command| {
                command.is_forced
                    && command.arrival.0 == request.submitted_ns
                    && command.offset_bytes == request.command.offset_bytes
                    && command.size_bytes == request.command.size_bytes
            })
        };
        for request in requests.iter().filter(forced) {
            prop_assert!(request.latency_ns() >= u64::from(request.command.size_bytes) / 512 * SECTOR);
        }
        if !reads {
            let written: u64 = commands.iter().map(|command| u64::from(command.size_bytes)).sum();
            let work = outcome.media.disk().unwrap();
            prop_assert_eq!(work.media_bytes, written - work.replaced_bytes);
        }
    }
}
