//! Wear levelling, hot data and worn drives, from the preset to the results of a run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};
use drivelab_workload::{Characteristics, Stream};

use crate::counted::flash;

/// Random 4 KiB writes to the first quarter of a drive of 8 planes x 24 blocks.
fn outcome(changes: &str) -> Outcome {
    let text = format!(
        "base = \"bench-64gib\"\nname = \"wear\"\ngeometry.channels = 2\n\
         geometry.ways_per_channel = 1\ngeometry.blocks_per_plane = 24\n{changes}"
    );
    let prepared = Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap();
    let workload = Characteristics {
        write_ratio: 1.0,
        queue_depth: 8,
        ..Characteristics::default()
    };
    let mut drive = prepared.worker();
    let quarter = Stream {
        range: Some((0, drive.capacity_bytes() / 4 / 4096 * 4096)),
        ..Stream::closed("quarter", workload)
    };
    let plan = Plan::counting(0, 200_000);
    drive.run(&[quarter], plan, 1, 0).unwrap()
}

#[test]
fn a_worn_drive_starts_with_the_erases_stated() {
    let fresher = flash(&outcome("")).erase_counts.unwrap();
    let worn = outcome("condition = \"worn\"\nwear.worn_erase_count = 3_000\n");
    let worn = flash(&worn).erase_counts.unwrap();
    // The same writes erase as many blocks, but without the erases of preconditioning.
    let none = outcome("condition = \"worn\"\nwear.worn_erase_count = 0\n");
    let none = flash(&none).erase_counts.unwrap();
    assert!((worn.mean - none.mean - 3_000.0).abs() < 1e-9);
    assert_eq!(worn.most - none.most, 3_000);
    assert!(fresher.mean > none.mean);
}

#[test]
fn levelling_costs_programs_of_its_own_and_narrows_the_spread() {
    let without = outcome("");
    let with = outcome("wear.static_spread = 4\nwear.least_worn_first = true\n");
    assert_eq!(flash(&without).wear_page_programs, 0);
    assert!(flash(&with).wear_page_programs > 0);
    let spread = |outcome: &Outcome| {
        let counts = flash(outcome).erase_counts.unwrap();
        counts.most - counts.least
    };
    // Three quarters of the data are cold, so their blocks are never erased.
    assert!(spread(&without) > 12, "{}", spread(&without));
    assert!(spread(&with) <= 8, "{}", spread(&with));
    let programs = flash(&with).host_page_programs
        + flash(&with).collection_page_programs
        + flash(&with).wear_page_programs;
    let expected = programs as f64 / flash(&with).host_page_programs as f64;
    assert_eq!(flash(&with).write_amplification_ratio(), Some(expected));
}
