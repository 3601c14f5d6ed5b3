//! Arrays with copies or parity whose members are single servers: closed forms, times to the
//! nanosecond, and which member receives what.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};
use drivelab_sim::host::{Device, Outcome, Plan, Runner};
use drivelab_sim::raid::{Level, ParityTimes, Redundancy, Redundant};
use drivelab_workload::{Characteristics, Stream};

use crate::ideal::{Asked, Ideal, Log};
use crate::small_drive::{closed, timed};

pub const CHUNK: u64 = 16_384;
pub const SMALL: u32 = 4_096;
/// Least size of a member.
pub const BYTES: u64 = 64 << 20;
/// A member serves 10,000 commands a second.
pub const SERVICE_NS: u64 = 100_000;

const FREE: ParityTimes = ParityTimes {
    row_ns: 0,
    bytes_per_second: u64::MAX,
    gather_ns: 0,
    cache_bytes: 1 << 30,
};

pub fn redundancy(level: Level) -> Redundancy {
    Redundancy {
        level,
        chunk_bytes: if level == Level::Raid1 { 0 } else { CHUNK },
        failed: 0,
        rebuilding: None,
        parity: FREE,
    }
}

pub struct Tried {
    pub runner: Runner<Redundant>,
    log: Log,
}

pub fn tried(redundancy: &Redundancy, members: u32, bytes: u64, times: (u64, u64)) -> Tried {
    let log = Log::default();
    let devices = (0..members).map(|member| -> Box<dyn Device + Send> {
        Box::new(Ideal::new(member, bytes, times, &log))
    });
    let array = Redundant::new(devices.collect(), redundancy);
    Tried {
        runner: Runner::new(array, &Arc::default()),
        log,
    }
}

impl Tried {
    pub fn run(&mut self, streams: &[Stream], plan: Plan) -> Outcome {
        self.log.lock().unwrap().clear();
        self.runner.run(streams, plan, 1, 0).unwrap()
    }

    /// The latencies of commands that arrive at their own times.
    fn latencies(&mut self, commands: &[Command]) -> Vec<u64> {
        let count = commands.len() as u64;
        let plan = Plan {
            log_requests: Some(count),
            ..Plan::counting(0, count)
        };
        let outcome = self.run(&timed(commands.iter().copied()), plan);
        let mut requests = outcome.log.unwrap().requests;
        for request in &requests {
            assert_eq!(request.parts.iter().sum::<u64>(), request.latency_ns());
        }
        requests.sort_by_key(|r| (r.submitted_ns, r.command.offset_bytes));
        requests.iter().map(|r| r.latency_ns()).collect()
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.log.lock().unwrap().clone()
    }
}

pub fn at(kind: CommandKind, arrival: u64, offset_bytes: u64, size_bytes: u64) -> Command {
    Command {
        arrival: Nanos(arrival),
        offset_bytes,
        size_bytes: size_bytes as u32,
        kind,
        is_forced: false,
        content: Content::Random,
        zone: ZoneAction::None,
    }
}

pub fn read(arrival: u64, offset: u64, size: u64) -> Command {
    at(CommandKind::Read, arrival, offset, size)
}

fn write(arrival: u64, offset: u64, size: u64) -> Command {
    at(CommandKind::Write, arrival, offset, size)
}

pub fn workload(write_ratio: f64, queue_depth: u32, size: u32, random: f64) -> Characteristics {
    Characteristics {
        write_ratio,
        queue_depth,
        read_size: size,
        write_size: size,
        read_random: random,
        write_random: random,
        ..Characteristics::default()
    }
}

/// Requests a second, relative to one member.
fn gain(level: Level, members: u32, write_ratio: f64) -> f64 {
    let mut array = tried(&redundancy(level), members, 16 * BYTES, (SERVICE_NS, 0));
    let small = workload(write_ratio, 256, SMALL, 1.0);
    let outcome = array.run(&closed(small), Plan::counting(2_000, 20_000));
    20_000.0 * SERVICE_NS as f64 / outcome.window.0 as f64
}

/// Patterson et al. 1988, tables 3 and 6: the gain of small requests on arrays of ideal, always
/// busy members. Even at depth 256 a member is idle now and then: up to 4 % less.
#[test]
fn small_requests_gain_what_the_level_promises() {
    let nearly = |gain: f64, expected: f64| {
        let ratio = gain / expected;
        assert!(
            (0.96..1.005).contains(&ratio),
            "{gain} instead of {expected}"
        );
    };
    nearly(gain(Level::Raid1, 2, 0.0), 2.0);
    nearly(gain(Level::Raid1, 2, 1.0), 1.0);
    nearly(gain(Level::Raid10, 4, 0.0), 4.0);
    nearly(gain(Level::Raid10, 4, 1.0), 2.0);
    nearly(gain(Level::Raid5, 5, 0.0), 5.0);
    nearly(gain(Level::Raid5, 5, 1.0), 5.0 / 4.0);
    nearly(gain(Level::Raid5, 8, 1.0), 8.0 / 4.0);
    nearly(gain(Level::Raid6, 8, 1.0), 8.0 / 6.0);
}

#[test]
fn whole_rows_are_written_at_the_speed_of_the_data_members() {
    // 1 ns a byte and no time for a command: each member writes one chunk of each row.
    for (level, members, data) in [(Level::Raid5, 5, 4_u64), (Level::Raid6, 6, 4)] {
        let mut array = tried(&redundancy(level), members, BYTES, (0, 1));
        let row = data * CHUNK;
        let rows = workload(1.0, 4, row as u32, 0.0);
        let outcome = array.run(&closed(rows), Plan::counting(10, 500));
        assert_eq!(outcome.window.0, 500 * CHUNK);
        let counters = outcome.array.unwrap();
        assert_eq!(counters.full_stripe_writes, 500);
        assert_eq!((counters.member_reads, counters.parity_read_bytes), (0, 0));
        let parity = u64::from(level.parities());
        assert_eq!(counters.parity_write_bytes, 500 * parity * CHUNK);
    }
}

#[test]
fn a_small_write_reads_then_computes_then_writes() {
    let parity = ParityTimes {
        row_ns: 7_000,
        bytes_per_second: 1_000_000_000,
        ..FREE
    };
    for (level, members, each) in [(Level::Raid5, 5, 2_u64), (Level::Raid6, 8, 3)] {
        let redundancy = Redundancy {
            parity,
            ..redundancy(level)
        };
        let mut array = tried(&redundancy, members, BYTES, (SERVICE_NS, 0));
        let latencies = array.latencies(&[write(50, CHUNK, SMALL.into())]);
        // New and old data, and old parity, at 1 ns a byte.
        let computing = 7_000 + (1 + each) * u64::from(SMALL);
        assert_eq!(latencies, [2 * SERVICE_NS + computing]);
        let asked = array.asked();
        let written_at = 50 + SERVICE_NS + computing;
        let (reads, writes): (Vec<&Asked>, Vec<&Asked>) =
            asked.iter().partition(|a| a.kind == CommandKind::Read);
        assert_eq!((reads.len(), writes.len()), (each as usize, each as usize));
        assert!(reads.iter().all(|a| a.submitted == 50));
        assert!(writes.iter().all(|a| a.submitted == written_at));
        // The same places are read and written.
        let places =
            |of: &[&Asked]| -> Vec<_> { of.iter().map(|a| (a.member, a.offset)).collect() };
        assert_eq!(places(&reads), places(&writes));
    }
}

#[test]
fn a_row_is_updated_once_at_a_time_and_what_comes_meanwhile_gathers() {
    let mut array = tried(&redundancy(Level::Raid5), 5, BYTES, (SERVICE_NS, 0));
    // The first takes 200 us. The others wait for it, and are then one update of 200 us.
    let small = u64::from(SMALL);
    let three = [
        write(0, 0, small),
        write(10_000, small, small),
        write(20_000, 2 * small, small),
    ];
    assert_eq!(array.latencies(&three), [200_000, 390_000, 380_000]);
    assert_eq!(array.asked().len(), 8);
    // Another row waits only for the members: its reads are behind those of the first row.
    let two = [write(0, 0, small), write(0, 4 * CHUNK, small)];
    let latencies = array.latencies(&two);
    assert!(latencies.iter().all(|&latency| latency <= 400_000));
}

#[test]
fn what_is_submitted_at_one_moment_is_one_update() {
    let mut array = tried(&redundancy(Level::Raid5), 5, BYTES, (SERVICE_NS, 0));
    let small = u64::from(SMALL);
    let device = array.runner.device_mut();
    device.begin(1, 0);
    for place in 0..16 {
        device.submit(&write(0, place * small, small), 0).unwrap();
    }
    let mut completions = Vec::new();
    while device.next_event().is_some() {
        device.serve_until(u64::MAX, &mut completions).unwrap();
    }
    assert_eq!(completions.len(), 16);
    assert!(completions.iter().all(|one| one.at == SERVICE_NS));
    assert_eq!(array.asked().len(), 5);
}

#[test]
fn a_row_waits_for_its_rest_as_long_as_a_preset_says() {
    let gathering = Redundancy {
        parity: ParityTimes {
            gather_ns: 30_000,
            ..FREE
        },
        ..redundancy(Level::Raid5)
    };
    let mut array = tried(&gathering, 5, BYTES, (SERVICE_NS, 0));
    let half = 2 * CHUNK;
    // Alone it waits 30 us. Together they begin when the row is complete, not earlier.
    assert_eq!(array.latencies(&[write(0, 0, half)]), [230_000]);
    let whole = [write(0, 0, half), write(29_999, half, half)];
    assert_eq!(array.latencies(&whole), [129_999, 100_000]);
    let late = [write(0, 0, half), write(30_001, half, half)];
    assert_eq!(array.latencies(&late), [230_000, 399_999]);
    // If the cache has no room for more, nothing waits.
    let full = Redundancy {
        parity: ParityTimes {
            cache_bytes: CHUNK,
            ..gathering.parity
        },
        ..gathering
    };
    let mut array = tried(&full, 5, BYTES, (SERVICE_NS, 0));
    let rows = [write(0, 0, half), write(0, 8 * CHUNK, half)];
    assert_eq!(array.latencies(&rows)[0], 200_000);
}

#[test]
fn a_full_cache_lets_writes_wait_in_order() {
    let redundancy = Redundancy {
        parity: ParityTimes {
            cache_bytes: u64::from(SMALL),
            ..FREE
        },
        ..redundancy(Level::Raid5)
    };
    let mut array = tried(&redundancy, 5, BYTES, (SERVICE_NS, 0));
    let small = u64::from(SMALL);
    let rows = 0..4;
    let writes: Vec<_> = rows.map(|row| write(0, row * 4 * CHUNK, small)).collect();
    let latencies = array.latencies(&writes);
    assert_eq!(latencies, [200_000, 400_000, 600_000, 800_000]);
}

#[test]
fn reads_of_a_missing_member_are_computed_of_the_others() {
    let redundancy = Redundancy {
        failed: 1 << 1,
        parity: ParityTimes {
            row_ns: 3_000,
            ..FREE
        },
        ..redundancy(Level::Raid5)
    };
    let mut array = tried(&redundancy, 5, BYTES, (SERVICE_NS, 0));
    let small = u64::from(SMALL);
    // Chunk 0 is on member 0, which exists; chunk 1 is on the missing one.
    assert_eq!(array.latencies(&[read(0, 0, small)]), [SERVICE_NS]);
    assert_eq!(array.asked().len(), 1);
    assert_eq!(
        array.latencies(&[read(0, CHUNK, small)]),
        [SERVICE_NS + 3_000]
    );
    let asked = array.asked();
    let members: Vec<_> = asked.iter().map(|a| a.member).collect();
    assert_eq!(members, [0, 2, 3, 4]);
    assert!(asked.iter().all(|a| (a.offset, a.size) == (0, small)));
    // For the whole row everything is read once.
    array.latencies(&[read(0, 0, 4 * CHUNK)]);
    let asked = array.asked();
    assert_eq!(asked.iter().map(|a| a.size).sum::<u64>(), 4 * CHUNK);
    // A write to the missing chunk: the rest of the row is read, and only parity is written.
    array.latencies(&[write(0, CHUNK, small)]);
    let of = |kind| -> Vec<_> {
        let asked = array.asked().into_iter().filter(|a| a.kind == kind);
        asked.map(|a| a.member).collect()
    };
    assert_eq!(of(CommandKind::Read), [0, 2, 3]);
    assert_eq!(of(CommandKind::Write), [4]);
}

#[test]
fn sequential_reads_stay_on_a_copy_and_others_go_where_least_waits() {
    let mut array = tried(&redundancy(Level::Raid1), 2, BYTES, (SERVICE_NS, 0));
    let small = u64::from(SMALL);
    let members = |array: &Tried| -> Vec<_> { array.asked().iter().map(|a| a.member).collect() };
    let far = |place: u64| place * 37 * CHUNK;
    array.latencies(&[
        read(0, far(1), small),
        read(1, far(2), small),
        read(2, far(3), small),
    ]);
    assert_eq!(members(&array), [0, 1, 0]);
    array.latencies(&[
        read(0, 0, small),
        read(1, small, small),
        read(2, 2 * small, small),
    ]);
    assert_eq!(members(&array), [0, 0, 0]);
    // A write goes to both and completes with the later one.
    let both = array.latencies(&[read(0, 0, small), write(1, far(5), small)]);
    assert_eq!(both, [SERVICE_NS, 2 * SERVICE_NS - 1]);
    // Without one of them all reads go to the other.
    let mut one = tried(
        &Redundancy {
            failed: 1,
            ..redundancy(Level::Raid1)
        },
        2,
        BYTES,
        (SERVICE_NS, 0),
    );
    one.latencies(&[
        read(0, far(1), small),
        read(1, far(2), small),
        write(2, 0, small),
    ]);
    assert_eq!(members(&one), [1, 1, 1]);
}

#[test]
fn a_range_is_trimmed_by_whole_rows() {
    let mut array = tried(&redundancy(Level::Raid5), 5, BYTES, (SERVICE_NS, 0));
    let row = 4 * CHUNK;
    let trim = |offset, size| at(CommandKind::Trim, 0, offset, size);
    assert_eq!(array.latencies(&[trim(CHUNK, row)]), [0]);
    assert!(array.asked().is_empty());
    assert_eq!(array.latencies(&[trim(CHUNK, 2 * row)]), [SERVICE_NS]);
    let asked = array.asked();
    assert_eq!(asked.len(), 5);
    assert!(asked.iter().all(|a| (a.offset, a.size) == (CHUNK, CHUNK)));
}

#[test]
fn a_flush_goes_to_every_member_that_is_there() {
    for level in [Level::Raid1, Level::Raid5, Level::Raid6, Level::Raid10] {
        let redundancy = Redundancy {
            failed: 1 << 3,
            ..redundancy(level)
        };
        let mut array = tried(&redundancy, 4, BYTES, (SERVICE_NS, 0));
        let flush = Command::flush(Nanos(5));
        assert_eq!(array.latencies(&[flush]), [SERVICE_NS]);
        let members: Vec<_> = array.asked().iter().map(|a| a.member).collect();
        assert_eq!(members, [0, 1, 2]);
    }
}
