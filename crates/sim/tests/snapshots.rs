//! A drive's state between two runs: written, restored and refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Direction, Nanos, Request};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Plan, Prepared, SnapshotError, Ssd};
use drivelab_workload::Characteristics;
use proptest::prelude::*;

use crate::counted::flash;
use crate::drives::{draws, placed, small_drives};
use crate::small_drive::{closed, timed};

fn small(changes: &str) -> Prepared {
    named("snapshot", changes)
}

fn named(name: &str, changes: &str) -> Prepared {
    let text = format!(
        "base = \"bench-64gib\"\nname = \"{name}\"\ngeometry.channels = 2\n\
         geometry.ways_per_channel = 1\ngeometry.blocks_per_plane = 24\n{changes}"
    );
    Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap()
}

/// Runs `requests` random writes. Returns the outcome as text.
fn written(drive: &mut Ssd, requests: u64, index: u64) -> String {
    let workload = Characteristics {
        write_ratio: 1.0,
        queue_depth: 16,
        ..Characteristics::default()
    };
    let load = closed(workload);
    format!(
        "{:?}",
        drive
            .run(&load, Plan::counting(0, requests), 3, index)
            .unwrap()
    )
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    sum.to_le_bytes()
}

#[test]
fn a_run_goes_on_from_a_snapshot_as_if_there_had_been_none() {
    for changes in [
        "",
        "ageing.rated_erases = 30\nageing.erase_failure_probability = 0.005\n\
         ageing.program_failure_probability = 0.005\nageing.factory_bad_ratio = 0.01\n\
         geometry.over_provisioning_ratio = 0.7\n",
        "mapping.allocation = \"least_loaded\"\nmapping.order = \"pdwc\"\n",
        "mapping.scheme = \"bast\"\nmapping.log_blocks_per_plane = 4\n\
         ageing.rated_erases = 9\nageing.read_retry_probability = 0.5\n\
         ageing.erase_time_ratio = 3.0\nageing.program_time_ratio = 0.5\n",
        "mapping.scheme = \"demand_cached_page\"\nmapping.cached_entries = 3000\n\
         collection.reserve_blocks_per_plane = 3\n",
        "mapping.scheme = \"fast\"\nmapping.log_blocks_per_plane = 4\n",
    ] {
        let prepared = small(changes);
        let mut drive = prepared.worker();
        written(&mut drive, 70_000, 0);
        let snapshot = drive.save();
        let expected = written(&mut drive, 30_000, 1);
        let end = drive.save();
        let mut other = prepared.worker();
        // The earlier content does not matter.
        written(&mut other, 5_000, 2);
        other.load(&snapshot).unwrap();
        assert_eq!(other.save(), snapshot);
        assert_eq!(written(&mut other, 30_000, 1), expected);
        assert_eq!(other.save(), end);
        // And back: nothing of the snapshot is left.
        other.reset();
        assert_eq!(other.save(), prepared.worker().save());
    }
}

/// One run whose second half comes long after the first is done, compared with the second half
/// alone from a snapshot after the first.
#[test]
fn splitting_a_run_by_a_snapshot_changes_nothing() {
    const PAUSE: u64 = 1_000_000_000_000;
    let prepared = small("");
    let request = |place: u64, start: u64| Request {
        arrival: Nanos(start + place * 1_000),
        offset_bytes: place.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 20_000 * 4096,
        size_bytes: 4096,
        direction: Direction::ALL[usize::from(!place.is_multiple_of(4))],
    };
    let first: Vec<Request> = (0..20_000).map(|place| request(place, 0)).collect();
    let second = |start: u64| (20_000..30_000).map(move |place| request(place, start));
    let whole: Vec<Request> = first.iter().copied().chain(second(PAUSE)).collect();
    let mut drive = prepared.worker();
    let whole = drive
        .run(&timed(whole), Plan::counting(20_000, 10_000), 0, 0)
        .unwrap();
    let end = drive.save();
    drive.reset();
    drive
        .run(&timed(first), Plan::counting(0, 20_000), 0, 0)
        .unwrap();
    let snapshot = drive.save();
    let mut other = prepared.worker();
    other.load(&snapshot).unwrap();
    let parts = other
        .run(&timed(second(0)), Plan::counting(0, 10_000), 0, 0)
        .unwrap();
    assert_eq!(parts.read.latency, whole.read.latency);
    assert_eq!(parts.write.latency, whole.write.latency);
    assert_eq!(
        flash(&parts).collection_page_programs,
        flash(&whole).collection_page_programs
    );
    assert_eq!(flash(&parts).block_erases, flash(&whole).block_erases);
    assert!(flash(&whole).collection_page_programs > 0);
    assert_eq!(other.save(), end);
}

#[test]
fn snapshots_of_something_else_are_refused() {
    let prepared = small("");
    let mut drive = prepared.worker();
    written(&mut drive, 1_000, 0);
    let good = drive.save();
    let mut refuse = |bytes: &[u8]| drive.load(bytes).unwrap_err();
    assert_eq!(refuse(b"a,b\n1,2\n"), SnapshotError::NoSnapshot);
    assert_eq!(refuse(&good[..good.len() - 1]), SnapshotError::Checksum);
    let mut other = good.clone();
    other[14] = 1;
    let message = refuse(&other).to_string();
    assert!(
        message.contains("version 1, this program reads version 2"),
        "{message}"
    );
    let mut elsewhere = small("geometry.over_provisioning_ratio = 0.4\n").worker();
    let message = elsewhere.load(&good).unwrap_err().to_string();
    // Same name, but its preset was changed.
    assert_eq!(
        message,
        "the snapshot is of \"snapshot\", of other values than its preset has now, or filled \
         otherwise than [occupancy] of the scenario says: make it anew"
    );
    let mut elsewhere = named("elsewhere", "collection.policy = \"fifo\"\n").worker();
    let message = elsewhere.load(&good).unwrap_err().to_string();
    assert_eq!(
        message,
        "the snapshot is of \"snapshot\", not of \"elsewhere\": load it into the drive that it \
         was made of"
    );
    // After a refusal the drive is in its prepared state.
    assert_eq!(drive.save(), prepared.worker().save());
}

/// At most 16 bytes for each changed page, plus the records of planes and blocks (12 bytes each).
#[test]
fn a_snapshot_is_as_small_as_what_changed() {
    let prepared = small("");
    let planes = u64::from(prepared.config().planes());
    let blocks = planes * 24;
    let mut drive = prepared.worker();
    let none = drive.save().len() as u64;
    assert!(none < 100, "{none}");
    for requests in [1_000, 10_000] {
        written(&mut drive, requests, requests);
        let outcome = drive.save().len() as u64;
        // Every write changes at most one page, and collection moves others.
        let moved = 2 * requests;
        assert!(
            outcome <= 16 * moved + planes * 160 + blocks * 15,
            "{requests}: {outcome}"
        );
        drive.reset();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Any drive and load. Then random bytes are changed, and the checksum with them. The result is
    /// an error, or a drive that still serves, but never a panic.
    #[test]
    fn damaged_snapshots_never_make_the_drive_fail(
        (config, draws, damage) in (
            small_drives(),
            draws(60),
            prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        )
    ) {
        let prepared = Prepared::new(config).unwrap();
        let mut drive = prepared.worker();
        let requests = placed(&draws, drive.capacity_bytes());
        let plan = Plan::counting(0, requests.len() as u64);
        drive.run(&timed(requests.clone()), plan, 0, 0).unwrap();
        let good = drive.save();
        let mut other = prepared.worker();
        other.load(&good).unwrap();
        prop_assert_eq!(other.save(), good.clone());
        let mut bytes = good.clone();
        for (place, value) in damage {
            let place = place.index(good.len());
            bytes[place] ^= value;
        }
        if bytes != good {
            prop_assert!(other.load(&bytes).is_err());
        }
        let content = bytes.len() - 8;
        let sum = checksum(&bytes[..content]);
        bytes[content..].copy_from_slice(&sum);
        if other.load(&bytes).is_ok() {
            // It may run out of space, as any firmware may, but must not panic.
            let _ = other.run(&timed(requests), plan, 0, 0);
        }
    }
}
