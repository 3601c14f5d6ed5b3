//! Presets of arrays of any level: SSDs and disks as members, and what is refused.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_request::{CommandKind, Nanos};
use drivelab_sim::drive::{self, State};
use drivelab_sim::host::{Outcome, Plan};
use drivelab_sim::preset::DriveConfig;
use drivelab_workload::{Characteristics, Stream};

use crate::small_drive::{BASE, LINK, PAGE, closed, command, timed};

/// A small disk, so that a rebuild ends.
const DISK: &str = "base = \"spinpoint-m7\"\nname = \"disk\"\n";

fn resolve(name: &str) -> Option<String> {
    match name {
        "base" => Some(BASE.to_owned()),
        "flash" => Some(format!("base = \"base\"\nname = \"flash\"\n{LINK}")),
        "buffered" => Some(format!(
            "base = \"base\"\nname = \"buffered\"\nbuffer.write_buffer_bytes = 65_536\n\
             host.interface = \"sata\"\n{LINK}"
        )),
        "larger" => Some(
            "base = \"base\"\nname = \"larger\"\ngeometry.blocks_per_plane = 96\n\
             geometry.user_capacity_bytes = 9437184\n"
                .to_owned(),
        ),
        "fresh" => Some("base = \"base\"\nname = \"fresh\"\ncondition = \"fresh\"\n".to_owned()),
        "disk" => Some(DISK.to_owned()),
        _ => drivelab_sim::preset::text(name).map(str::to_owned),
    }
}

fn read(lines: &str) -> Result<DriveConfig, String> {
    let text = format!(
        "name = \"array\"\nkind = \"raid\"\nsummary = \"-\"\nvariability.sigma = 0.0\n{lines}\n"
    );
    DriveConfig::from_toml(&text, resolve).map_err(|error| error.to_string())
}

fn prepared(lines: &str) -> drive::Prepared {
    drive::Prepared::stoppable(read(lines).unwrap(), &AtomicBool::new(false)).unwrap()
}

fn mixed(write_ratio: f64, queue_depth: u32, size: u32) -> Vec<Stream> {
    let characteristics = Characteristics {
        write_ratio,
        queue_depth,
        read_size: size,
        write_size: size,
        read_random: 0.7,
        write_random: 0.7,
        ..Characteristics::default()
    };
    closed(characteristics).into()
}

fn run(lines: &str, streams: &[Stream], requests: u64) -> Outcome {
    let plan = Plan {
        log_requests: Some(requests),
        ..Plan::counting(0, requests)
    };
    let mut worker = prepared(lines).worker(&Arc::default());
    worker.run(streams, plan, (1, 0), State::Returned).unwrap()
}

#[test]
fn every_level_works_on_every_kind_of_member() {
    for members in [
        "member = \"flash\"\nmembers = 4",
        "member = \"buffered\"\nmembers = 5",
        "member = \"disk\"\nmembers = 4",
        "member = [\"flash\", \"disk\", \"buffered\", \"larger\"]",
    ] {
        for (level, chunk) in [
            ("level = 0", "chunk_bytes = 16_384"),
            ("level = 1", ""),
            ("level = 5", "chunk_bytes = 16_384"),
            ("level = 6", "chunk_bytes = 4_096"),
            ("level = 10", "chunk_bytes = 16_384"),
        ] {
            for broken in ["", "failed = [2]", "rebuild.member = 2"] {
                if level == "level = 0" && !broken.is_empty() {
                    continue;
                }
                let lines = format!("{level}\n{members}\n{chunk}\n{broken}");
                let mut streams = mixed(0.5, 6, 5 * PAGE);
                streams[0].writes_per_flush = 20;
                let outcome = run(&lines, &streams, 400);
                assert_eq!(outcome.measured_requests, 400, "{lines}");
                // The parts of each latency add up to it.
                for request in outcome.log.unwrap().requests {
                    assert_eq!(
                        request.parts.iter().sum::<u64>(),
                        request.latency_ns(),
                        "{lines}"
                    );
                }
                assert_eq!(outcome.array.is_some(), level != "level = 0");
                let count = outcome.media.members().len();
                assert_eq!(count, if members.contains("= 5") { 5 } else { 4 });
            }
        }
    }
}

#[test]
fn level_0_is_what_raid0_is() {
    let lines = "level = 0\nmember = \"flash\"\nmembers = 2\nchunk_bytes = 16_384";
    let config = read(lines).unwrap();
    let text = "name = \"array\"\nkind = \"raid0\"\nsummary = \"-\"\nvariability.sigma = 0.0\n\
                member = \"flash\"\nmembers = 2\nstripe_bytes = 16_384\n";
    let striped = DriveConfig::from_toml(text, resolve).unwrap();
    assert_eq!(config.hash(), striped.hash());
    assert_eq!(config.capacity_bytes(), striped.capacity_bytes());
    let text_of = |config: DriveConfig| {
        let prepared = drive::Prepared::stoppable(config, &AtomicBool::new(false)).unwrap();
        let mut worker = prepared.worker(&Arc::default());
        let outcome = worker.run(
            &mixed(0.4, 9, PAGE),
            Plan::counting(0, 900),
            (1, 0),
            State::Kept,
        );
        format!("{:?}", outcome.unwrap())
    };
    assert_eq!(text_of(config), text_of(striped));
}

#[test]
fn a_drive_without_users_does_what_a_run_does() {
    // Each command is sent when the one before is complete.
    for lines in [
        "level = 5\nmember = \"flash\"\nmembers = 4\nchunk_bytes = 16_384\nfailed = [0]",
        "level = 10\nmember = \"flash\"\nmembers = 3\nchunk_bytes = 16_384",
    ] {
        let streams = mixed(0.5, 1, 3 * PAGE);
        let expected = run(lines, &streams, 200).log.unwrap().requests;
        let mut device = prepared(lines).device(None).unwrap();
        device.begin(1, 0);
        let mut now = 0;
        for request in expected {
            assert_eq!(request.submitted_ns, now);
            let tag = device.submit(&request.command, now).unwrap();
            let mut completions = Vec::new();
            while completions.is_empty() {
                device.serve_until(u64::MAX, &mut completions).unwrap();
            }
            assert_eq!((completions.len(), completions[0].tag), (1, tag));
            now = completions[0].at;
            assert_eq!(now - request.submitted_ns, request.latency_ns());
        }
    }
}

#[test]
fn trims_of_whole_rows_reach_the_members() {
    let lines = "level = 5\nmember = \"flash\"\nmembers = 3\nchunk_bytes = 8_192";
    let trims = |page, pages| vec![command(CommandKind::Trim, 10, page, pages)];
    let run = |commands: Vec<_>| {
        let count = commands.len() as u64;
        run(lines, &timed(commands), count)
    };
    // A row is two chunks of two pages. A later read covers a trimmed chunk.
    assert_eq!(run(trims(4, 4)).array.unwrap().member_writes, 0);
    let mut twice = trims(4, 4);
    twice.push(command(CommandKind::Write, 5_000, 4, 1));
    let outcome = run(twice);
    assert_eq!(outcome.log.unwrap().requests.len(), 2);
    assert_eq!(outcome.array.unwrap().member_reads, 1);
}

#[test]
fn a_run_of_an_array_that_is_rebuilt_goes_on_from_a_snapshot() {
    let lines = "level = 6\nmember = \"flash\"\nmembers = 5\nchunk_bytes = 16_384\n\
                 rebuild.member = 4\nrebuild.min_bytes_per_second = 5_000_000\n";
    let array = prepared(lines);
    let written = |drive: &mut drive::Drive, index: u64| {
        let plan = Plan::counting(0, 300);
        let outcome = drive.run(&mixed(1.0, 8, PAGE), plan, (1, index), State::Kept);
        outcome.unwrap()
    };
    let mut first = array.worker(&Arc::default());
    let rebuilt = |outcome: &Outcome| outcome.array.as_ref().unwrap().rebuild_left_bytes;
    let left = rebuilt(&written(&mut first, 0));
    let state = first.save();
    let expected = written(&mut first, 1);
    assert!(rebuilt(&expected) < left);
    let mut other = array.worker(&Arc::default());
    written(&mut other, 2);
    other.load(&state).unwrap();
    assert_eq!(other.save(), state);
    assert_eq!(
        format!("{:?}", written(&mut other, 1)),
        format!("{expected:?}")
    );
    assert_eq!(other.save(), first.save());
    // A device restores the same state.
    let mut device = array.device(Some(&state)).unwrap();
    device.begin(1, 1);
    assert!(device.next_event().is_some());
    let slower = lines.replace("5_000_000", "4_900_000");
    assert!(
        prepared(&slower)
            .worker(&Arc::default())
            .load(&state)
            .is_err()
    );
}

#[test]
fn the_smallest_member_decides() {
    let config = |members: &str, level: &str| read(&format!("{level}\n{members}")).unwrap();
    let five = "level = 5\nchunk_bytes = 16_384";
    let alike = config("member = \"base\"\nmembers = 3", five);
    let unlike = config("member = [\"larger\", \"base\", \"larger\"]", five);
    assert_eq!(unlike.capacity_bytes(), 2 * 6_291_456);
    assert_eq!(unlike.capacity_bytes(), alike.capacity_bytes());
    assert!(unlike.resolved_json().contains("\"unused_bytes\":6291456"));
    assert!(!alike.resolved_json().contains("unused_bytes"));
    assert_ne!(unlike.hash(), alike.hash());
    let one = config("member = [\"larger\", \"base\"]", "level = 1");
    assert_eq!(one.capacity_bytes(), 6_291_456);
}

#[test]
fn a_preset_reads_back_from_its_values() {
    for lines in [
        "level = 0\nmember = \"base\"\nmembers = 2\nchunk_bytes = 16_384",
        "level = 1\nmember = [\"base\", \"larger\"]\nfailed = [1]",
        "level = 6\nmember = \"base\"\nmembers = 5\nchunk_bytes = 16_384\nparity.gather_ns = 7\n\
         rebuild.member = 1\nrebuild.done_ratio = 0.5\nfailed = [0]",
        "level = 10\nmember = \"base\"\nmembers = 5\nchunk_bytes = 16_384",
    ] {
        let config = read(lines).unwrap();
        let again = DriveConfig::from_toml(&config.resolved_toml(), resolve).unwrap();
        assert_eq!(again, config);
        assert_eq!(again.hash(), config.hash());
    }
}

#[test]
fn a_wrong_array_is_one_line_that_says_what_is_allowed() {
    let right = "level = 5\nmember = \"base\"\nmembers = 4\nchunk_bytes = 65_536";
    assert!(read(right).is_ok());
    for (from, to, said) in [
        ("level = 5", "level = 4", "0 or 1 or 5 or 6 or 10"),
        ("level = 5", "", "level is missing"),
        (
            "members = 4",
            "members = 2",
            "at least 3 members, as RAID-5 has",
        ),
        (
            "\"base\"",
            "[\"base\", \"base\"]",
            "2, as many as member names, or absent",
        ),
        ("65_536", "65_000", "a power of two from 4096"),
        (
            "65_536",
            "67_108_864",
            "at most the 6291456 bytes of a member",
        ),
        ("chunk_bytes = 65_536", "", "chunk_bytes is missing"),
        ("level = 5", "level = 1", "as level = 1 has no chunks"),
        (
            "level = 5",
            "level = 5\nfailed = [4]",
            "different members, 0 to 3",
        ),
        (
            "level = 5",
            "level = 5\nfailed = [1, 1]",
            "different members, 0 to 3",
        ),
        (
            "level = 5",
            "level = 5\nfailed = [0, 1]",
            "RAID-5 bears the loss of one member",
        ),
        (
            "level = 5",
            "level = 6\nfailed = [0, 1, 2]",
            "RAID-6 bears the loss of two members",
        ),
        (
            "level = 5",
            "level = 10\nfailed = [2, 3]",
            "this array has lost data",
        ),
        (
            "level = 5",
            "level = 0\nfailed = [2]",
            "RAID-0 bears the loss of none",
        ),
        (
            "level = 5",
            "level = 5\nfailed = [1]\nrebuild.member = 2",
            "while member 2 is rebuilt",
        ),
        (
            "level = 5",
            "level = 6\nfailed = [1]\nrebuild.member = 1",
            "not among those that failed",
        ),
        (
            "level = 5",
            "level = 5\nrebuild.member = 4",
            "a member, 0 to 3",
        ),
        (
            "level = 5",
            "level = 0\nrebuild.member = 1",
            "as level = 0 has nothing to rebuild from",
        ),
        (
            "level = 5",
            "level = 5\nrebuild.done_ratio = 0.5",
            "rebuild.member is missing",
        ),
        (
            "level = 5",
            "level = 5\nrebuild.member = 1\nrebuild.min_bytes_per_second = 900_000_000",
            "the least speed, 900000000, is at most the greatest, 204800000",
        ),
        (
            "level = 5",
            "level = 10\nparity.row_ns = 1",
            "as level = 10 has no parity",
        ),
        (
            "\"base\"",
            "\"fresh\"",
            "a drive whose condition is not fresh",
        ),
        ("\"base\"", "\"array-x25m\"", "not another array"),
        (
            "\"base\"",
            "[\"base\", \"nothing\", \"base\", \"base\"]",
            "the name of a preset",
        ),
        (
            "members = 4",
            "geometry.channels = 2",
            "an array has no table [geometry]",
        ),
        (
            "level = 5",
            "level = 5\nstripe_bytes = 4096",
            "unknown key stripe_bytes",
        ),
    ] {
        let error = read(&right.replace(from, to)).unwrap_err();
        assert!(error.contains(said), "{to}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

/// A rebuild on disks uses the time that the host leaves, and its duration is part of the outcome.
#[test]
fn a_rebuild_of_a_disk_takes_longer_beside_a_busy_host() {
    let lines = "level = 1\nmember = \"disk\"\nmembers = 2\nrebuild.member = 0\n\
                 rebuild.min_bytes_per_second = 10_000_000\n";
    let left = |queue_depth, arrivals: Option<u64>| {
        let streams: Vec<Stream> = match arrivals {
            None => mixed(0.0, queue_depth, PAGE),
            Some(apart) => {
                let one = |place: u64| drivelab_request::Command {
                    arrival: Nanos(place * apart),
                    ..command(CommandKind::Read, 0, place * 100, 1)
                };
                timed((0..40).map(one)).into()
            }
        };
        let counters = run(lines, &streams, 40).array.unwrap();
        counters.rebuild_bytes_per_second().unwrap()
    };
    let (busy, idle) = (left(8, None), left(1, Some(500_000_000)));
    assert!(idle > 4.0 * busy && busy < 10_500_000.0, "{idle} {busy}");
}
