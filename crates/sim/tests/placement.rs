//! Placement handles: times by hand, counts, and who decides where data goes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{Cause, Operation, OperationKind};
use drivelab_request::PlacementId;
use drivelab_sim::host::PlacementCounters;
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};
use drivelab_workload::{Characteristics, Stream};

use crate::small_drive::{self, config, drive, write};

/// Reclaim units of 2 x 16 pages, three handles, fresh.
const HANDLES: &str = "condition = \"fresh\"\nplacement.handles = 3\n\
                       geometry.user_capacity_bytes = 4194304\n";

/// The same with 1,800 of its 2,048 pages for the host.
const SMALL: &str = "condition = \"fresh\"\nplacement.handles = 3\n\
                     geometry.user_capacity_bytes = 7372800\n";

fn to(handle: u8) -> PlacementId {
    PlacementId {
        handle: Some(handle),
        group: None,
    }
}

/// Writes over a range of whole pages, at random or in order.
fn writer(name: &str, pages: std::ops::Range<u64>, random: f64, handle: u8) -> Stream {
    let workload = Characteristics {
        write_ratio: 1.0,
        queue_depth: 1,
        write_random: random,
        ..Characteristics::default()
    };
    Stream {
        placement: to(handle),
        range: Some((pages.start * 4096, (pages.end - pages.start) * 4096)),
        share: Some(0.5),
        ..Stream::closed(name, workload)
    }
}

fn counters(outcome: &Outcome) -> &PlacementCounters {
    outcome.placement.as_ref().unwrap()
}

fn amplification(outcome: &Outcome) -> f64 {
    let flash = outcome.media.flash().unwrap();
    flash.write_amplification_ratio().unwrap()
}

fn run(changes: &[&str], streams: &[Stream], plan: Plan) -> Outcome {
    drive(changes).worker().run(streams, plan, 7, 0).unwrap()
}

/// The pages of a sequential write go to the next die of the handle's unit. This also holds from
/// the buffer, whether they gather there or not. With two streams, each uses its own unit.
#[test]
fn a_stream_writes_into_the_unit_of_its_handle() {
    for buffer in [
        "",
        "buffer.write_buffer_bytes = 65536\n",
        "buffer.write_buffer_bytes = 65536\nbuffer.flush_start_bytes = 32768\n\
         buffer.flush_stop_bytes = 16384\n",
        "buffer.write_buffer_bytes = 65536\nbuffer.policy = \"write_through\"\n",
    ] {
        let streams = [writer("a", 0..256, 0.0, 1), writer("b", 256..512, 0.0, 2)];
        let mut worker = drive(&[HANDLES, buffer]).worker();
        let plan = Plan::counting(0, 128);
        let (outcome, operations) = worker.run_recorded(&streams, plan, 7, 0..u64::MAX).unwrap();
        let unit_of = |page: u32| (page / 16) % 64;
        let units = |first: bool| -> Vec<u32> {
            let all = operations.iter().map(|recorded| recorded.operation);
            let programs = all.filter(|o| o.kind == OperationKind::Program);
            let mine = programs.filter(|o| (o.lpn < 256) == first);
            let mut units: Vec<u32> = mine.map(|o| unit_of(o.ppn.0)).collect();
            units.sort_unstable();
            units.dedup();
            units
        };
        assert!(
            units(true).iter().all(|unit| !units(false).contains(unit)),
            "{buffer}"
        );
        let counted = counters(&outcome);
        assert_eq!(counted.host_pages[0], 0);
        assert_eq!(counted.host_pages, counted.media_pages);
        assert!(counted.host_pages[1] >= 40 && counted.host_pages[2] >= 40);
    }
}

/// A page that collection moves to the other die is programmed after it was read, and nothing of it
/// earlier.
#[test]
fn a_page_is_moved_to_another_die_after_it_was_read() {
    let text = [HANDLES, "collection.pace = \"whole_block\"\n"];
    let streams = [writer("all", 0..900, 1.0, 1)];
    let mut worker = drive(&text).worker();
    let plan = Plan::counting(0, 6_000);
    let (outcome, operations) = worker.run_recorded(&streams, plan, 7, 0..u64::MAX).unwrap();
    assert!(counters(&outcome).moved_units > 20);
    let mut across = 0;
    for (place, program) in operations.iter().enumerate() {
        let Operation {
            kind, cause, lpn, ..
        } = program.operation;
        if (kind, cause) != (OperationKind::Program, Cause::Collection) {
            continue;
        }
        let is_read = |o: &Operation| (o.kind, o.lpn) == (OperationKind::Read, lpn);
        let before = operations[..place].iter();
        let read = before.rev().find(|o| is_read(&o.operation)).unwrap();
        across += u32::from(read.unit != program.unit);
        assert!(read.end() <= program.transfer.0, "{read:?} {program:?}");
    }
    assert!(across > 10, "{across}");
}

/// A host read finds a page that has been programmed, also one that collection has just moved to
/// another die.
#[test]
fn a_moved_page_is_read_after_it_was_programmed() {
    let filled = HANDLES.replace("fresh", "filled");
    let text = [filled.as_str(), "collection.pace = \"whole_block\"\n"];
    let mixed = Characteristics {
        write_ratio: 0.5,
        queue_depth: 32,
        read_random: 1.0,
        write_random: 1.0,
        ..Characteristics::default()
    };
    let streams = [Stream {
        placement: to(1),
        range: Some((0, 900 * 4096)),
        ..Stream::closed("all", mixed)
    }];
    let mut worker = drive(&text).worker();
    let plan = Plan::counting(0, 12_000);
    let (outcome, operations) = worker.run_recorded(&streams, plan, 7, 0..u64::MAX).unwrap();
    assert!(counters(&outcome).moved_units > 20);
    let mut programmed = std::collections::HashMap::new();
    let mut found = 0;
    for each in &operations {
        let Operation {
            kind,
            cause,
            lpn,
            ppn,
            ..
        } = each.operation;
        if kind == OperationKind::Program {
            programmed.insert(ppn.0, (lpn, each.end()));
        } else if (kind, cause) == (OperationKind::Read, Cause::Host)
            && let Some(&(of, end)) = programmed.get(&ppn.0)
        {
            assert_eq!(of, lpn);
            assert!(end <= each.cell.0, "{each:?} before {end}");
            found += 1;
        }
    }
    assert!(found > 1_000, "{found}");
}

/// A log next to random writes. With handles the log takes one program a page, and all spare space
/// serves the rest; without them, pages of both are moved. Handles that the drive does not have are
/// counted.
#[test]
fn handles_keep_a_log_from_being_moved() {
    let streams = [
        writer("log", 0..1_600, 0.0, 1),
        writer("random", 1_600..1_800, 1.0, 2),
    ];
    let plan = Plan::counting(20_000, 20_000);
    let apart = run(&[SMALL], &streams, plan);
    let log = counters(&apart);
    assert_eq!(log.host_pages[1], log.media_pages[1]);
    assert_eq!((log.invalid_pages, log.displaced_pages), (0, 0));
    let off = run(&[SMALL, "placement.disabled = true"], &streams, plan);
    assert_eq!(counters(&off).host_pages.len(), 1);
    assert_eq!(counters(&off).invalid_pages, 0);
    assert!(
        amplification(&off) > 1.5 * amplification(&apart),
        "{}",
        amplification(&off)
    );
    let other = [writer("log", 0..800, 0.0, 3)];
    let invalid = run(&[SMALL], &other, Plan::counting(0, 500));
    let counted = counters(&invalid);
    assert_eq!(counted.invalid_pages, counted.host_pages[0]);
}

/// Counts are those of the window. A drive without handles has none.
#[test]
fn the_window_counts_what_is_decided_in_it() {
    let writes: Vec<_> = (0..100).map(|page| write(page * 1_000, page)).collect();
    let stream = |writes: &[_]| {
        [Stream {
            placement: to(2),
            ..Stream::timed("all", writes.to_vec())
        }]
    };
    let whole = run(&[HANDLES], &stream(&writes), Plan::counting(0, 100));
    assert_eq!(counters(&whole).host_pages, [0, 0, 100]);
    // Four units of 32 pages.
    assert_eq!(counters(&whole).unit_switches, 4);
    let later = run(&[HANDLES], &stream(&writes), Plan::counting(40, 60));
    assert_eq!(counters(&later).host_pages, [0, 0, 60]);
    assert_eq!(counters(&later).unit_switches, 2);
    let plain = small_drive::run(&drive(&[]), writes);
    assert!(plain.placement.is_none());
}

/// A step continues from the state that the last one left, whether it was saved and loaded or not.
#[test]
fn a_state_goes_on_after_it_was_saved() {
    let config: SsdConfig = config(&[HANDLES]);
    let prepared = Prepared::new(config).unwrap();
    let streams = [writer("a", 0..500, 1.0, 1), writer("b", 500..900, 0.0, 2)];
    let plan = Plan::counting(0, 3_000);
    let mut kept = prepared.worker();
    kept.run(&streams, plan, 1, 0).unwrap();
    let saved = kept.save();
    let next = kept.run(&streams, plan, 2, 0).unwrap();
    let mut loaded = prepared.worker();
    loaded.load(&saved).unwrap();
    let other = loaded.run(&streams, plan, 2, 0).unwrap();
    assert_eq!(next.placement, other.placement);
    assert_eq!(next.write.latency.max_ns(), other.write.latency.max_ns());
    assert!(amplification(&next) > 1.0);
}
