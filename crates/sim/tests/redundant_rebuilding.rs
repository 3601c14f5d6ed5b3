//! Rebuilding members, locks, and proof that nothing is lost: arrays with copies or parity whose
//! members are single servers.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use drivelab_request::CommandKind;
use drivelab_sim::host::{Outcome, Plan};
use drivelab_sim::raid::{Level, Rebuilding, Redundancy};
use drivelab_workload::Stream;

use crate::ideal::Asked;
use crate::redundant::{
    BYTES, CHUNK, SERVICE_NS, SMALL, Tried, at, read, redundancy, tried, workload,
};
use crate::small_drive::{closed, timed};

fn rebuilding(level: Level, min: u64, max: u64) -> Redundancy {
    Redundancy {
        rebuilding: Some(Rebuilding {
            member: 1,
            done_ratio: 0.0,
            min_bytes_per_second: min,
            max_bytes_per_second: max,
        }),
        ..redundancy(level)
    }
}

const LEVELS: [(Level, u32); 5] = [
    (Level::Raid1, 2),
    (Level::Raid5, 4),
    (Level::Raid6, 5),
    (Level::Raid10, 4),
    (Level::Raid10, 3),
];

#[test]
fn an_idle_array_is_rebuilt_at_its_greatest_speed_and_each_byte_once() {
    let bytes = 4 << 20;
    for (level, members) in LEVELS {
        let mut array = tried(
            &rebuilding(level, 1_000_000, 40_000_000),
            members,
            bytes,
            (1_000, 0),
        );
        // One read, long before the end of the rebuild. The window closes long after it.
        let reads = [read(0, 0, 512), read(2_000_000_000, 0, 512)];
        let counters = array
            .run(&timed(reads), Plan::counting(0, 2))
            .array
            .unwrap();
        assert_eq!(
            (counters.rebuilt_bytes, counters.rebuild_left_bytes),
            (bytes, Some(0))
        );
        // The piece after the first read comes at the minimum speed. Each piece begins 1 / 40 s per
        // MB after the one before, and takes 2 us.
        let piece = if level == Level::Raid1 { 65_536 } else { CHUNK };
        let expected = piece * 1_000 + (bytes - 2 * piece) * 25 + 2_000;
        let ended = counters.rebuild_ended_ns.unwrap();
        assert!(
            ended.abs_diff(expected) <= 3_000,
            "{level:?}: {ended} {expected}"
        );
        let written: Vec<_> = array
            .asked()
            .into_iter()
            .filter(|a| a.kind == CommandKind::Write)
            .collect();
        assert!(written.iter().all(|a| a.member == 1));
        let mut ranges: Vec<_> = written
            .iter()
            .map(|a| (a.offset, a.offset + a.size))
            .collect();
        ranges.sort_unstable();
        let end = ranges.iter().fold(0, |end, range| {
            assert_eq!(range.0, end);
            range.1
        });
        // With an odd number of members the last half of a pair may hold nothing.
        assert!(
            end == bytes || (members == 3 && end + CHUNK == bytes),
            "{end}"
        );
    }
}

#[test]
fn a_busy_array_is_rebuilt_at_its_least_speed_and_reads_what_is_done() {
    for (level, members) in LEVELS {
        let mut array = tried(
            &rebuilding(level, 2_000_000, 500_000_000),
            members,
            BYTES,
            (SERVICE_NS, 0),
        );
        let mixed = workload(0.5, 4, SMALL, 1.0);
        let outcome = array.run(&closed(mixed), Plan::counting(0, 50_000));
        let counters = outcome.array.unwrap();
        let expected = 2_000_000.0 * outcome.window.0 as f64 / 1e9;
        let ratio = counters.rebuilt_bytes as f64 / expected;
        // A piece or two may be begun or unfinished at the edges.
        let slack = 4.0 * 65_536.0 / expected;
        assert!((ratio - 1.0).abs() < slack + 0.01, "{level:?}: {ratio}");
        assert!(counters.degraded_reads > 0);
        let left = counters.rebuild_left_seconds().unwrap();
        let speed = counters.rebuild_bytes_per_second().unwrap();
        assert!((left * speed - (BYTES - counters.rebuilt_bytes) as f64).abs() < 1.0);
    }
}

#[test]
fn a_rebuild_goes_on_from_run_to_run_and_from_a_snapshot() {
    let mut array = tried(
        &rebuilding(Level::Raid5, 2_000_000, 500_000_000),
        4,
        BYTES,
        (SERVICE_NS, 0),
    );
    let before = array.runner.changes();
    let mixed = closed(workload(0.5, 4, SMALL, 1.0));
    let plan = Plan::counting(0, 5_000);
    let left = |outcome: Outcome| outcome.array.unwrap().rebuild_left_bytes.unwrap();
    let first = left(array.run(&mixed, plan));
    let state = array.runner.changes();
    let second = left(array.run(&mixed, plan));
    assert!(second < first && first < BYTES);
    let end = array.runner.changes();
    array.runner.take_up(&state).unwrap();
    assert_eq!(left(array.run(&mixed, plan)), second);
    assert_eq!(array.runner.changes(), end);
    array.runner.reset();
    assert_eq!(array.runner.changes(), before);
    assert!(array.runner.take_up(&state[1..]).is_err());
}

#[test]
fn the_same_run_is_the_same_to_the_last_digit() {
    for (level, members) in LEVELS {
        let mut once = tried(
            &rebuilding(level, 2_000_000, 500_000_000),
            members,
            BYTES,
            (900, 1),
        );
        let mixed = closed(workload(0.6, 9, 3 * SMALL, 0.7));
        let plan = Plan::counting(100, 5_000);
        let text_of = |array: &mut Tried| {
            let outcome = array.run(&mixed, plan);
            array.runner.reset();
            format!("{outcome:?}")
        };
        let first = text_of(&mut once);
        assert_eq!(text_of(&mut once), first);
    }
}

/// Whatever comes, no command of a row begins while one of the previous update is in progress:
/// reads first, then writes.
#[test]
fn updates_of_a_row_never_overlap() {
    for rebuild in [false, true] {
        let redundancy = if rebuild {
            rebuilding(Level::Raid5, 50_000_000, 50_000_000)
        } else {
            redundancy(Level::Raid5)
        };
        let mut array = tried(&redundancy, 4, 64 * CHUNK, (SERVICE_NS, 1));
        let writes = workload(1.0, 16, 3 * SMALL, 0.8);
        array.run(&closed(writes), Plan::counting(0, 4_000));
        let mut rows: BTreeMap<u64, Vec<Asked>> = BTreeMap::new();
        for asked in array.asked() {
            assert_eq!(
                asked.offset / CHUNK,
                (asked.offset + asked.size - 1) / CHUNK
            );
            rows.entry(asked.offset / CHUNK).or_default().push(asked);
        }
        for asked in rows.values_mut() {
            asked.sort_by_key(|a| a.submitted);
            let (mut kind, mut submitted, mut until) = (CommandKind::Read, 0, 0);
            for one in asked {
                if (one.kind, one.submitted) != (kind, submitted) {
                    assert!(one.submitted >= until, "{one:?} before {until}");
                    (kind, submitted) = (one.kind, one.submitted);
                }
                until = until.max(one.complete);
            }
        }
    }
}

/// A piece of a copy being rebuilt, and host writes to it, never overlap. Otherwise the member
/// could end with old data.
#[test]
fn writes_and_rebuilding_of_copies_never_overlap() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid10, 4), (Level::Raid10, 3)] {
        let mut array = tried(
            &rebuilding(level, 20_000_000, 20_000_000),
            members,
            1 << 20,
            (20_000, 1),
        );
        let writes = workload(1.0, 16, 3 * SMALL, 0.8);
        let outcome = array.run(&closed(writes), Plan::counting(0, 8_000));
        assert_eq!(outcome.array.unwrap().rebuild_left_bytes, Some(0));
        let asked = array.asked();
        // The array's own reads serve only the rebuild.
        let pieces: Vec<_> = asked
            .iter()
            .filter(|a| a.kind == CommandKind::Read)
            .map(|source| {
                let target = asked.iter().find(|a| {
                    let is_it = (a.member, a.kind, a.size) == (1, CommandKind::Write, source.size);
                    is_it && a.submitted == source.complete
                });
                (source.submitted, *target.unwrap())
            })
            .collect();
        let mut meetings = 0;
        for write in asked
            .iter()
            .filter(|a| a.kind == CommandKind::Write && a.member == 1)
        {
            for (begun, target) in pieces.iter().filter(|(_, target)| target != write) {
                let is_same_place = write.offset < target.offset + target.size
                    && target.offset < write.offset + write.size;
                let is_same_time = write.submitted < target.complete && *begun < write.complete;
                assert!(
                    !(is_same_place && is_same_time),
                    "{write:?} {begun} {target:?}"
                );
                meetings += u32::from(is_same_place);
            }
        }
        assert!(meetings > 100, "{meetings}");
    }
}

#[test]
fn no_command_is_lost_whatever_is_asked() {
    for (level, members) in LEVELS {
        for failed in [0, 1 << 2] {
            if !level.bears(members, |m| m == 1 || failed >> m & 1 == 1) {
                continue;
            }
            let redundancy = Redundancy {
                failed,
                ..rebuilding(level, 10_000_000, 90_000_000)
            };
            let mut array = tried(&redundancy, members, BYTES / 8, (SERVICE_NS, 1));
            let mut streams: Vec<Stream> = closed(workload(0.5, 20, 70 * 1024, 0.5)).into();
            streams[0].writes_per_flush = 7;
            streams.extend(timed(
                (0..300).map(|n| at(CommandKind::Trim, n * 40_000, n * 12_288, 5 * CHUNK)),
            ));
            let outcome = array.run(&streams, Plan::counting(10, 3_000));
            let asked = array.asked();
            assert!(asked.iter().all(|a| failed >> a.member & 1 == 0));
            assert_eq!(outcome.measured_requests, 3_000);
        }
    }
}
