//! Drives of which only a part holds data.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use drivelab_sim::preset::{DriveConfig, FillOrder, Occupancy, SsdConfig};
use drivelab_sim::ssd::{Outcome, Plan, Prepared};
use drivelab_workload::Characteristics;

use crate::counted::flash;
use crate::scenario;
use crate::small_drive::{PAGE, closed, config, drive, read, refused, run};

/// Of the 1,536 pages of the small drive.
const PAGES: u64 = 1536;

fn filled(share: f64, more: &str) -> String {
    format!("occupancy.filled = {share:?}\n{more}")
}

const RANDOM: &str = "occupancy.order = \"random\"\n";
const STEADY: &str = "occupancy.steady = true\n";

fn pages_read(outcome: &Outcome) -> u64 {
    flash(outcome).page_reads
}

/// The pages that hold data: reading them uses the flash.
fn holding(drive: &Prepared) -> Vec<u64> {
    let holds = |&page: &u64| pages_read(&run(drive, vec![read(0, page)])) > 0;
    (0..PAGES).filter(holds).collect()
}

#[test]
fn the_first_pages_hold_data() {
    let half = drive(&[&filled(0.5, "")]);
    assert_eq!(holding(&half), (0..PAGES / 2).collect::<Vec<_>>());
    assert_eq!(
        half.config().filled_words(),
        "pages 0 to 767 of 1536 hold data"
    );
    // Preconditioning writes the same pages twice.
    let twice = drive(&["condition = \"preconditioned\"", &filled(0.5, "")]);
    assert_eq!(holding(&twice), holding(&half));
}

#[test]
fn pages_drawn_at_random_hold_data() {
    let quarter = drive(&[&filled(0.25, RANDOM)]);
    let pages = holding(&quarter);
    assert_eq!(pages.len() as u64, PAGES / 4);
    let words = "384 of 1536 pages, drawn at random, hold data";
    assert_eq!(quarter.config().filled_words(), words);
    // They are spread over the whole drive: 48 are expected in each eighth, with a standard
    // deviation of 6.
    for eighth in 0..8 {
        let part = eighth * PAGES / 8..(eighth + 1) * PAGES / 8;
        let there = pages.iter().filter(|page| part.contains(page)).count();
        assert!((18..=78).contains(&there), "{there} of eighth {eighth}");
    }
    assert_eq!(
        holding(&drive(&[&filled(0.25, &format!("{RANDOM}{STEADY}"))])),
        pages
    );
    assert_eq!(holding(&drive(&[&filled(1.0, RANDOM)])).len() as u64, PAGES);
}

#[test]
fn what_is_usual_is_no_occupancy() {
    let usual = config(&["occupancy.filled = 1.0\noccupancy.order = \"in_order\""]);
    assert_eq!(usual.hash(), config(&[]).hash());
    assert_ne!(config(&[&filled(0.5, "")]).hash(), usual.hash());
    assert_eq!(usual.filled_words(), "all 1536 pages hold data");
}

#[test]
fn a_fresh_drive_holds_nothing() {
    let base = "base = \"bench-64gib\"\nname = \"a\"\ncondition = \"fresh\"\n";
    let text = format!("{base}[occupancy]\nsteady = true\n");
    let refused = SsdConfig::from_text(&text).unwrap_err();
    let message = refused.to_string();
    assert!(
        message.contains("as condition = \"fresh\" leaves every page empty"),
        "{message}"
    );
}

/// One plane of 512 blocks of 64 pages, of which the host sees 28,000 pages.
const LARGE: &str = "geometry.channels = 1\ngeometry.blocks_per_plane = 512\n\
                     geometry.pages_per_block = 64\n\
                     geometry.user_capacity_bytes = 114_688_000\n";

/// Programs per host page for random writes to the first `pages`.
fn amplification(prepared: &Prepared, pages: u64, (warmup, counted): (u64, u64)) -> f64 {
    let workload = Characteristics {
        write_ratio: 1.0,
        write_size: PAGE,
        write_random: 1.0,
        ..Characteristics::default()
    };
    let mut streams = closed(workload);
    streams[0].range = Some((0, pages * u64::from(PAGE)));
    let plan = Plan::counting(warmup, counted);
    let outcome = prepared.worker().run(&streams, plan, 3, 0).unwrap();
    let counters = flash(&outcome);
    1.0 + counters.collection_page_programs as f64 / counters.host_page_programs as f64
}

#[test]
fn a_steady_part_amplifies_as_if_it_were_the_drive() {
    // 25 % more flash than data: greedy collection takes 2.645 programs a page in the limit of
    // large blocks (Desnoyers' closed form, docs/simulator.md). Small blocks, and those kept free
    // here, change it by a few per cent.
    let pages = 512 * 64 * 4 / 5;
    let share = pages as f64 / 28_000.0;
    let steady = drive(&[LARGE, &filled(share, STEADY)]);
    assert_eq!(u64::from(steady.config().filled_pages().0), pages);
    let at_once = amplification(&steady, pages, (0, 60_000));
    let after_long = amplification(
        &drive(&[LARGE, &filled(share, "")]),
        pages,
        (150_000, 60_000),
    );
    assert!(
        (at_once / after_long - 1.0).abs() < 0.03,
        "{at_once} {after_long}"
    );
    assert!((at_once / 2.645 - 1.0).abs() < 0.06, "{at_once}");
    // Without `steady` collection has hardly begun.
    let not_steady = amplification(&drive(&[LARGE, &filled(share, "")]), pages, (0, 5_000));
    assert!(not_steady < 1.2, "{not_steady}");
}

#[test]
fn what_is_no_part_is_refused() {
    for (changes, said) in [
        ("occupancy.filled = 0.0", "a number from 0.000001 to 1"),
        (
            "occupancy.order = \"shuffled\"",
            "\"in_order\" or \"random\"",
        ),
    ] {
        let message = refused(changes);
        assert!(
            message.contains(said) && !message.contains('\n'),
            "{message}"
        );
    }
}

const PART: Occupancy = Occupancy {
    filled: 0.25,
    order: FillOrder::Random,
    steady: true,
};

#[test]
fn a_drive_is_filled_otherwise_as_if_its_preset_said_so() {
    let usual = DriveConfig::Ssd(Box::new(config(&[])));
    let part = usual.clone().with_occupancy(PART).unwrap();
    let said = config(&[&filled(0.25, &format!("{RANDOM}{STEADY}"))]);
    assert_eq!(part, DriveConfig::Ssd(Box::new(said)));
    assert_eq!(part.with_occupancy(Occupancy::USUAL).unwrap(), usual);
}

#[test]
fn every_member_of_an_array_is_filled_otherwise_and_a_disk_is_as_it_is() {
    let named = |name: &str| DriveConfig::from_text(drivelab_sim::preset::text(name).unwrap());
    let array = named("array-x25m").unwrap().with_occupancy(PART).unwrap();
    let words = array.filled_words().unwrap();
    assert!(words.ends_with("drawn at random, hold data on each member"));
    let disk = named("sas-15k").unwrap();
    assert_eq!(disk.clone().with_occupancy(PART).unwrap(), disk);
}

#[test]
fn a_drive_that_cannot_be_filled_so_says_why() {
    let fresh = DriveConfig::Ssd(Box::new(config(&["condition = \"fresh\""])));
    let refused = fresh.with_occupancy(PART).unwrap_err();
    assert!(
        refused.contains("is fresh and no page holds data; choose"),
        "{refused}"
    );
    let zones = "zones.size_bytes = 262144\nzones.capacity_bytes = 131072\n\
                 geometry.user_capacity_bytes = 2097152\n";
    let zoned = DriveConfig::Ssd(Box::new(config(&[zones])));
    let refused = zoned.with_occupancy(PART).unwrap_err();
    assert!(refused.contains("occupancy.order on"), "{refused}");
}

#[test]
fn a_scenario_may_say_which_pages_hold_data() {
    let one = scenario::stream("queue_depth = 1");
    assert_eq!(scenario::read(&one).unwrap().occupancy, None);
    let said = |lines: &str| {
        scenario::read(&format!("{one}[occupancy]\n{lines}"))
            .unwrap()
            .occupancy
    };
    assert_eq!(said(""), Some(Occupancy::USUAL));
    let part = Occupancy {
        filled: 0.75,
        order: FillOrder::Random,
        steady: true,
    };
    assert_eq!(
        said("filled = 0.75\norder = \"random\"\nsteady = true"),
        Some(part)
    );
}
