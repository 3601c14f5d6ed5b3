//! Passes over a file compared with times computed by hand.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_request::Direction;
use drivelab_sim::drive::{Measuring, Prepared, State, States, Work};
use drivelab_sim::host::{Outcome, Plan};
use drivelab_sim::preset::DriveConfig;
use drivelab_workload::{Generator, Stream, WholePass};

use crate::small_drive;

/// 6,000 rpm and 100 sectors on each of two tracks a cylinder: a revolution is 10 ms.
const DISK: &str = "
base = \"spinpoint-m7\"
name = \"small\"
geometry.heads = 2
geometry.zone_cylinders = [100]
geometry.zone_sectors_per_track = [100]
geometry.user_capacity_bytes = 10_240_000
mechanics.rotation_rpm = 6000
mechanics.single_cylinder_seek_ns = 1_000_000
mechanics.average_seek_ns = 3_000_000
mechanics.full_stroke_seek_ns = 6_000_000
mechanics.head_switch_ns = 500_000
cache.read_segments = 0
";
const SECTOR_NS: u64 = 100_000;

fn prepared(text: &str) -> Prepared {
    let config = DriveConfig::from_text(text).unwrap();
    Prepared::stoppable(config, &AtomicBool::new(false)).unwrap()
}

fn pass(direction: Direction, is_random: bool, sectors: u32, file_sectors: u64) -> WholePass {
    WholePass {
        first_requests: None,
        direction,
        is_random,
        request_bytes: sectors * 512,
        start_bytes: 0,
        file_bytes: file_sectors * 512,
    }
}

/// A measurement of a pass.
fn work(index: u64, pass: WholePass) -> Work {
    Work {
        index,
        streams: vec![Stream::closed("pass", pass)],
        plan: Plan::counting(0, pass.sent_requests()),
        settling: None,
    }
}

fn outcomes(prepared: &Prepared, passes: &[WholePass], workers: usize) -> Vec<Outcome> {
    let work = (0..).zip(passes).map(|(index, pass)| work(index, *pass));
    let states = Arc::new(States::of(prepared.clone()));
    let measuring = Measuring::start(&states, work.collect(), 7, workers);
    measuring.map(Result::unwrap).collect()
}

fn times(prepared: &Prepared, passes: &[WholePass], workers: usize) -> Vec<u64> {
    let outcomes = outcomes(prepared, passes, workers);
    outcomes.iter().map(|outcome| outcome.window.0).collect()
}

/// 40 reads of one page, 60 us each, one after another; 20 of two pages, on two dies at once; 13 of
/// three pages, two of which share a die that transfers 10 us each, with one page left over. A
/// write of a page takes 310 us.
#[test]
fn a_pass_takes_its_requests_one_after_the_other() {
    let drive = Prepared::Ssd(small_drive::drive(&[]));
    let read = |is_random, pages: u32| pass(Direction::Read, is_random, 8 * pages, 320);
    let write = pass(Direction::Write, true, 8, 320);
    let passes = [
        read(false, 1),
        read(true, 1),
        read(true, 2),
        read(false, 3),
        write,
    ];
    let three = 50_000 + 10_000 + 50_000 + 10_000;
    assert_eq!(
        times(&drive, &passes, 1),
        [
            40 * 60_000,
            40 * 60_000,
            20 * 60_000,
            13 * three,
            40 * 310_000
        ]
    );
    let counted = outcomes(&drive, &passes, 2);
    assert_eq!(
        counted.iter().map(|o| o.read.bytes).sum::<u64>(),
        (3 * 40 + 39) * 4096
    );
    assert_eq!(counted[4].write.bytes, 40 * 4096);
}

/// In order, two tracks pass below the heads, and the skew hides the switch between them. In random
/// order the disk waits for each sector of one track.
#[test]
fn a_disk_reads_on_or_waits_for_each_sector() {
    let drive = prepared(&format!("{DISK}host.interface = \"free\"\n"));
    let in_order = pass(Direction::Read, false, 1, 200);
    let random = pass(Direction::Read, true, 1, 100);
    let order = Generator::of_pass(&random, 7, 1).unwrap().take(100);
    let mut head = 0;
    let mut waited = 0;
    for request in order {
        let sector = request.offset_bytes / 512;
        waited += (sector + 100 - head) % 100 + 1;
        head = (sector + 1) % 100;
    }
    assert_eq!(
        times(&drive, &[in_order, random], 1),
        [200 * SECTOR_NS + 500_000, waited * SECTOR_NS]
    );
}

/// 100 writes in the cache: each takes a command of 100 us and 1707 ns on the link, far less than
/// the platters need.
#[test]
fn a_write_counts_when_the_drive_has_it() {
    let drive = prepared(DISK);
    let writes = pass(Direction::Write, true, 1, 100);
    assert_eq!(times(&drive, &[writes], 1), [100 * 101_707]);
}

#[test]
fn times_depend_neither_on_other_passes_nor_on_workers() {
    let array = "name = \"array\"\nkind = \"raid0\"\nsummary = \"two\"\nmember = \"spinpoint-m7\"\n\
                 members = 2\nstripe_bytes = 4096\nvariability.sigma = 0.0\n";
    let ssd = Prepared::Ssd(small_drive::drive(&["buffer.write_buffer_bytes = 16384"]));
    for drive in [ssd, prepared(DISK), prepared(array)] {
        let passes: Vec<WholePass> = [(Direction::Write, true), (Direction::Read, false)]
            .into_iter()
            .cycle()
            .take(8)
            .map(|(direction, is_random)| pass(direction, is_random, 24, 4000))
            .collect();
        let found = times(&drive, &passes, 1);
        assert_eq!(found, times(&drive, &passes, 3));
        // Each starts from the prepared state; only the order differs.
        assert!(
            found
                .iter()
                .skip(1)
                .step_by(2)
                .all(|&time| time == found[1])
        );
        let mut worker = drive.worker(&Arc::default());
        let Work { streams, plan, .. } = work(6, passes[6]);
        let alone = worker.run(&streams, plan, (7, 6), State::Returned);
        assert_eq!(alone.unwrap().window.0, found[6]);
    }
}

#[test]
fn a_file_beyond_the_drive_is_refused() {
    let drive = prepared(DISK);
    let beyond = WholePass {
        start_bytes: 512,
        ..pass(Direction::Read, false, 1, 20_000)
    };
    let mut worker = drive.worker(&Arc::default());
    let Work { streams, plan, .. } = work(0, beyond);
    let error = worker.run(&streams, plan, (0, 0), State::Returned);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("the file ends at 10240512 bytes; allowed: at most the drive's 10240000"),
        "{error}"
    );
}
