//! Collections and their moves, as the firmware counts them, in the results of a run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};
use drivelab_workload::Characteristics;

use crate::small_drive::closed;

use crate::counted::flash;

const PLANES: u64 = 8;
const BLOCK_PAGES: u64 = 64;

/// 8 planes of 24 blocks of 64 pages, 16 of which hold the host's data; whole victims.
fn drive() -> Prepared {
    let text = "base = \"bench-64gib\"\nname = \"collections\"\ngeometry.channels = 2\n\
                geometry.ways_per_channel = 1\ngeometry.blocks_per_plane = 24\n\
                geometry.pages_per_block = 64\ngeometry.user_capacity_bytes = 33_554_432\n\
                collection.pace = \"whole_block\"\n";
    Prepared::new(SsdConfig::from_text(text).unwrap()).unwrap()
}

/// Writes of one page.
fn writes(drive: &Prepared, (write_random, queue_depth): (f64, u32), plan: Plan) -> Outcome {
    let workload = Characteristics {
        write_ratio: 1.0,
        queue_depth,
        write_random,
        ..Characteristics::default()
    };
    let mut worker = drive.worker();
    worker.run(&closed(workload), plan, 3, 0).unwrap()
}

/// With writes in order, every block that is opened costs one block with data older than a round,
/// and nothing in that block is still valid: one collection, no move.
#[test]
fn writes_in_order_collect_a_block_for_each_that_they_fill() {
    let blocks = 5;
    let outcome = writes(
        &drive(),
        (0.0, 1),
        Plan::counting(0, blocks * PLANES * BLOCK_PAGES),
    );
    assert_eq!(flash(&outcome).collections, blocks * PLANES);
    assert_eq!(flash(&outcome).block_erases, blocks * PLANES);
    assert_eq!(flash(&outcome).collection_moves, 0);
    assert_eq!(flash(&outcome).wear_moves, 0);
}

/// Every programmed page was written or moved. Two consecutive windows together count the same as
/// one window of their total length.
#[test]
fn moves_are_the_programs_that_nobody_wrote() {
    let drive = drive();
    let whole = writes(&drive, (1.0, 16), Plan::counting(0, 30_000));
    assert!(
        flash(&whole).collection_moves > 10_000,
        "{}",
        flash(&whole).collection_moves
    );
    let written = whole.streams[0].submitted;
    assert_eq!(
        flash(&whole).page_programs,
        written + flash(&whole).collection_moves
    );
    let first = writes(&drive, (1.0, 16), Plan::counting(0, 12_000));
    let second = writes(&drive, (1.0, 16), Plan::counting(12_000, 18_000));
    assert_eq!(
        flash(&first).collections + flash(&second).collections,
        flash(&whole).collections
    );
    assert_eq!(
        flash(&first).collection_moves + flash(&second).collection_moves,
        flash(&whole).collection_moves
    );
}
