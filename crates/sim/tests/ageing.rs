//! How wear changes the times of the flash, compared with times and fractions computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use drivelab_ftl::OperationKind;
use drivelab_request::CommandKind;
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};

use crate::counted::flash;
use crate::small_drive::{self, ONE_DIE, config, drive, read, run, timed, write};

/// Over 3,000 erases, programs become a third faster and erases twice as slow.
const CELLS: &str = "ageing.rated_erases = 3_000\nageing.program_time_ratio = 0.7\n\
                     ageing.erase_time_ratio = 2.0";

fn worn(erases: u32) -> String {
    format!("condition = \"worn\"\nwear.worn_erase_count = {erases}")
}

fn latency_ns(outcome: &Outcome, kind: CommandKind) -> u64 {
    let counted = &outcome.streams[0].commands[kind.index()].counted;
    counted.latency.max_ns().unwrap()
}

/// A program takes 300 us x (1 - 0.3 x erases / 3,000), from 3,000 erases on 210 us, plus 10 us for
/// its transfer. The time of a read does not change.
#[test]
fn programs_change_in_proportion_to_the_erases_of_their_block() {
    for (erases, program) in [
        (0, 300_000),
        (1_500, 255_000),
        (2_999, 210_030),
        (3_000, 210_000),
        (9_000, 210_000),
    ] {
        let drive = drive(&[CELLS, &worn(erases)]);
        let outcome = run(&drive, vec![write(0, 0)]);
        assert_eq!(latency_ns(&outcome, CommandKind::Write), program + 10_000);
        let outcome = run(&drive, vec![read(0, 0)]);
        assert_eq!(latency_ns(&outcome, CommandKind::Read), 60_000);
        assert_eq!(flash(&outcome).read_retries, Some(0));
    }
}

/// 800 writes to one die whose blocks began with 600 erases each. The time of every operation
/// follows from the earlier erases of its block.
#[test]
fn an_operation_has_the_time_of_its_blocks_erases_until_then() {
    let prepared = drive(&[ONE_DIE, CELLS, &worn(600)]);
    let writes: Vec<_> = (0..800)
        .map(|step| write(0, u64::from(step * 197_u32 % 512)))
        .collect();
    let plan = Plan::counting(0, 800);
    let mut worker = prepared.worker();
    let (_, operations) = worker
        .run_recorded(&timed(writes), plan, 0, 0..u64::MAX)
        .unwrap();
    let mut erases: BTreeMap<u32, u32> = BTreeMap::new();
    let mut most = 0;
    for recorded in &operations {
        let block = recorded.operation.ppn.0 / 16;
        let before = erases.entry(block).or_insert(600);
        let wear = f64::from(*before) / 3_000.0;
        let expected = match recorded.operation.kind {
            OperationKind::Read => 50_000.0,
            OperationKind::Program => 300_000.0 * (1.0 - 0.3 * wear),
            OperationKind::Erase => 1_000_000.0 * (1.0 + wear),
        };
        let (start, end) = recorded.cell;
        assert_eq!(end - start, expected.round() as u64, "{recorded:?}");
        if recorded.operation.kind == OperationKind::Erase {
            *before += 1;
            most = most.max(*before);
        }
    }
    assert!(most > 601, "no block was erased twice");
}

/// At the rated count every page is wrong every time, so it is sensed three more times.
#[test]
fn each_retry_costs_another_read_of_the_cells() {
    let always = "ageing.rated_erases = 1_000\nageing.read_retry_probability = 1.0\n\
                  ageing.read_retries = 3";
    for (more, expected) in [("", 4 * 50_000), ("ageing.read_retry_ns = 20_000", 110_000)] {
        let drive = drive(&[always, more, &worn(1_000)]);
        let outcome = run(&drive, vec![read(0, 0), read(1_000, 4)]);
        assert_eq!(latency_ns(&outcome, CommandKind::Read), expected + 10_000);
        assert_eq!(flash(&outcome).read_retries, Some(6));
        let new = run(&small_drive::drive(&[always, more]), vec![read(0, 0)]);
        assert_eq!(latency_ns(&new, CommandKind::Read), 60_000);
    }
}

/// A probability of 0.5 at 3,000 erases is p = 0.25 at 1,500. Each of 12,288 pages is sensed again
/// k times or more with probability p^k, at most four times. The retries of a page have a mean of
/// `p + p^2 + p^3 + p^4` = 0.332 and a deviation of 0.661; those of all pages together have a
/// deviation of 73. Four deviations are allowed.
#[test]
fn retries_are_as_frequent_as_wear_says() {
    let prepared = drive(&[
        "geometry.blocks_per_plane = 1024\ngeometry.user_capacity_bytes = 50331648",
        "ageing.rated_erases = 3_000\nageing.read_retry_probability = 0.5",
        "ageing.read_retries = 4",
        &worn(1_500),
    ]);
    let reads = |seed: u64| -> u64 {
        let again: Vec<_> = (0..12_288)
            .map(|page| read(seed + 200 * page, page))
            .collect();
        flash(&run(&prepared, again)).read_retries.unwrap()
    };
    let expected = 12_288.0 * (0.25 + 0.25_f64.powi(2) + 0.25_f64.powi(3) + 0.25_f64.powi(4));
    let found = reads(0);
    assert!(
        (found as f64 - expected).abs() < 4.0 * 73.3,
        "{found}, expected {expected}"
    );
    // Retries belong to the drive, not to a run.
    assert_eq!(reads(77), found);
    let mut config = prepared.config().clone();
    if let Some(ageing) = &mut config.ageing {
        ageing.seed = 1;
    }
    let other = Prepared::new(config).unwrap();
    let pages: Vec<_> = (0..12_288).map(|page| read(200 * page, page)).collect();
    assert_ne!(flash(&run(&other, pages)).read_retries, Some(found));
}

#[test]
fn what_has_no_effect_leaves_no_trace_and_what_cannot_be_is_told() {
    let usual = config(&[]);
    let none = config(&["ageing.rated_erases = 9\nageing.program_time_ratio = 1.0"]);
    assert_eq!(none.hash(), usual.hash());
    let aged = config(&[CELLS]);
    assert_ne!(aged.hash(), usual.hash());
    assert_eq!(SsdConfig::from_text(&aged.resolved_toml()).unwrap(), aged);
    let refusal = |lines: &str| {
        let text = format!("base = \"x25m\"\nname = \"mine\"\n{lines}");
        SsdConfig::from_text(&text).unwrap_err().to_string()
    };
    for (lines, expected) in [
        (
            "ageing.program_time_ratio = 0.5",
            "ageing.rated_erases is missing",
        ),
        (
            "ageing.rated_erases = 9\nageing.erase_time_ratio = 11.0",
            "allowed: a number from 0.1 to 10",
        ),
        (
            "ageing.rated_erases = 9\nageing.read_retries = 3",
            "allowed: none, as ageing.read_retry_probability = 0",
        ),
        ("ageing.wear = 9", "rated_erases, seed, program_time_ratio"),
    ] {
        let message = refusal(lines);
        assert!(message.contains(expected), "{message}");
        assert_eq!(message.lines().count(), 1);
    }
}
