//! A replayed file compared with the same requests in memory.

use std::sync::Arc;

use drivelab_replay::{Fit, Origin, Pace};
use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};
use drivelab_sim::drive::{Drive, Prepared, State};
use drivelab_sim::host::{Outcome, Plan};
use drivelab_sim::preset::DriveConfig;
use drivelab_trace::{Operation, Record};
use drivelab_workload::{PacedSource, SharedSource, Source, Stream};
use proptest::prelude::*;

use crate::written::{RECORDED, Row, msr, origin, read, replay, spc};

const GIB: u64 = 1 << 30;

fn drive(text: &str) -> Drive {
    let config = DriveConfig::from_text(text).unwrap();
    let prepared = Prepared::stoppable(config, &false.into()).unwrap();
    prepared.worker(&Arc::default())
}

/// A drive behind SATA with a write buffer, and a disk.
fn drives() -> [Drive; 2] {
    [
        drive(
            "base = \"x25m\"\nname = \"small\"\ngeometry.blocks_per_plane = 192\n\
             geometry.user_capacity_bytes = 2_147_483_648\n",
        ),
        drive("base = \"spinpoint-m7\"\nname = \"disk\"\n"),
    ]
}

fn run(drive: &mut Drive, stream: Stream) -> Outcome {
    let plan = Plan::counting(0, stream.commands().unwrap());
    drive.run(&[stream], plan, (1, 0), State::Returned).unwrap()
}

fn command(&(us, _, sector, size, writes): &Row) -> Command {
    Command {
        arrival: Nanos(us * 1000),
        offset_bytes: sector * 512,
        size_bytes: size as u32,
        kind: if writes {
            CommandKind::Write
        } else {
            CommandKind::Read
        },
        is_forced: false,
        content: Content::Random,
        zone: ZoneAction::None,
    }
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let sectors = 2 * GIB / 512 - 64;
    let one = (0_u64..5_000, 0..sectors, 1_u64..64, any::<bool>());
    proptest::collection::vec(one, 1..most).prop_map(|drawn| {
        let mut now = 0;
        let row = |(gap, sector, sectors, writes)| {
            now += gap;
            (now, 0, sector, sectors * 512, writes)
        };
        let mut rows: Vec<Row> = drawn.into_iter().map(row).collect();
        // Times are relative to the first request.
        let first = rows[0].0;
        rows.iter_mut().for_each(|row| row.0 -= first);
        rows
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_file_is_replayed_to_the_byte_as_the_same_requests_in_memory(rows in rows(300)) {
        let stream = |origin: &Origin| {
            let source: Arc<dyn PacedSource> = Arc::new(replay(origin, Fit::Keep, RECORDED));
            Stream::new("all", Source::Paced(SharedSource(source)))
        };
        let record = |&(us, device, sector, size, writes): &Row| {
            let operation = if writes { Operation::Write } else { Operation::Read };
            Record::new(us * 1000, device, operation, sector * 512, size)
        };
        let listed = Origin::Listed(rows.iter().map(record).collect());
        let text = spc(&rows);
        for mut drive in drives() {
            let mut from_file = run(&mut drive, stream(&origin(text.clone())));
            let of_list = run(&mut drive, stream(&listed));
            prop_assert_eq!(format!("{:?}", &from_file), format!("{of_list:?}"));
            // And as requests that nobody holds back.
            let timed = run(&mut drive, Stream::timed("all", rows.iter().map(command)));
            from_file.streams[0].lateness = None;
            prop_assert_eq!(format!("{from_file:?}"), format!("{timed:?}"));
        }
    }

    #[test]
    fn the_recorded_depth_is_how_many_had_arrived_and_not_completed(
        rows in rows(60), responses in proptest::collection::vec(0_u64..20_000, 60)
    ) {
        let rows: Vec<(Row, u64)> = rows.into_iter().zip(responses).collect();
        let closed = Pace::Closed { depth: None };
        let replay = replay(&origin(msr(&rows)), Fit::Keep, closed);
        let read = read(&replay, 2 * GIB).unwrap();
        let depths: Vec<u32> = (0..rows.len())
            .map(|place| {
                let now = rows[place].0.0;
                let before = rows[..place].iter();
                1 + before.filter(|((at, ..), response)| at + response > now).count() as u32
            })
            .collect();
        prop_assert_eq!(read.iter().map(|each| each.depth).collect::<Vec<_>>(), depths.clone());
        prop_assert!(read.iter().all(|each| each.command.arrival.0 == 0));
        let (mean, most) = replay.surveyed.facts.depth.unwrap();
        prop_assert_eq!(Some(&most), depths.iter().max());
        let sum: u32 = depths.iter().sum();
        prop_assert!((mean - f64::from(sum) / depths.len() as f64).abs() < 1e-9);
    }
}

#[test]
fn a_trace_may_be_replayed_twice_by_one_source_at_the_same_time() {
    let rows: Vec<Row> = (0..10_000).map(|at| (at, 0, at * 8, 4096, false)).collect();
    let replay = replay(&origin(spc(&rows)), Fit::Keep, RECORDED);
    let mut readers = [0, 1].map(|_| replay.open((0, GIB)).unwrap());
    let (mut batch, mut counts) = (Vec::new(), [0, 0]);
    for _ in 0..4 {
        for (reader, count) in readers.iter_mut().zip(&mut counts) {
            reader.next_batch(&mut batch).unwrap();
            *count += batch.len();
        }
    }
    assert_eq!(counts, [10_000, 10_000]);
}

#[test]
fn who_stops_taking_ends_the_reading() {
    let rows: Vec<Row> = (0..200_000)
        .map(|at| (at, 0, at * 8, 4096, false))
        .collect();
    let replay = replay(&origin(spc(&rows)), Fit::Keep, RECORDED);
    let mut batch = Vec::new();
    for _ in 0..3 {
        let mut reader = replay.open((0, GIB)).unwrap();
        reader.next_batch(&mut batch).unwrap();
        assert!(!batch.is_empty());
        // Dropping waits for its thread, which would wait for ever if it were not informed.
        drop(reader);
    }
}

#[test]
fn twice_the_speed_halves_times_and_leaves_the_rest() {
    let rows: Vec<Row> = (0..100)
        .map(|at| (at * 1001, 0, at * 8, 4096, at % 3 == 0))
        .collect();
    let at = |speed| {
        let pace = Pace::Recorded { speed, depth: 7 };
        read(&replay(&origin(spc(&rows)), Fit::Keep, pace), GIB).unwrap()
    };
    let (recorded, twice) = (at(1.0), at(2.0));
    for (slow, fast) in recorded.iter().zip(&twice) {
        assert_eq!(slow.command.arrival.0 / 2, fast.command.arrival.0);
        assert_eq!((slow.depth, fast.depth), (7, 7));
        let moved = Command {
            arrival: slow.command.arrival,
            ..fast.command
        };
        assert_eq!(moved, slow.command);
    }
}
