//! Bad blocks of a simulated drive, from its preset to the results of a run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::OperationKind;
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, Prepared, SimError};

use crate::counted::flash;
use crate::small_drive::{self, ONE_DIE, drive, run, timed, write};

const FAILING: &str = "ageing.rated_erases = 1_000\nageing.erase_failure_probability = 0.02\n\
                       ageing.program_failure_probability = 0.02";

fn worn(erases: u32) -> String {
    format!("condition = \"worn\"\nwear.worn_erase_count = {erases}")
}

/// `writes` to one die of 64 blocks with 512 pages of data. 5 free or open blocks are held back.
fn written(prepared: &Prepared, writes: u32) -> Result<Outcome, SimError> {
    let writes: Vec<_> = (0..writes)
        .map(|step| write(0, u64::from(step * 197 % 512)))
        .collect();
    let plan = Plan::counting(0, writes.len() as u64);
    prepared.worker().run(&timed(writes), plan, 0, 0)
}

#[test]
fn a_run_tells_its_bad_blocks_and_ends_when_there_are_too_many() {
    let usual = written(&drive(&[ONE_DIE]), 600).unwrap();
    assert_eq!(
        (flash(&usual).bad_blocks, flash(&usual).retired_blocks),
        (None, None)
    );
    let prepared = drive(&[ONE_DIE, FAILING, &worn(100)]);
    let mut before = 0;
    for writes in [600, 3_000, 9_000] {
        let outcome = written(&prepared, writes).unwrap();
        let (bad, grown) = (
            flash(&outcome).bad_blocks.unwrap(),
            flash(&outcome).retired_blocks.unwrap(),
        );
        assert!(bad >= grown && grown >= before);
        before = grown;
    }
    assert!(before > 0);
    // 64 blocks less 4 held back and 32 of data.
    let message = written(&prepared, 2_000_000).unwrap_err().to_string();
    assert!(
        message.contains("of its 64 blocks and could spare 28"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1);
}

/// A failed program takes as long as a successful one, and counts as the firmware's own.
#[test]
fn a_program_that_fails_costs_a_program() {
    let failing = "ageing.rated_erases = 8\nageing.program_failure_probability = 0.5";
    let prepared = drive(&[ONE_DIE, failing]);
    let writes: Vec<_> = (0..900).map(|step| write(0, step * 197 % 512)).collect();
    let mut worker = prepared.worker();
    let plan = Plan::counting(0, 900);
    let (outcome, operations) = worker
        .run_recorded(&timed(writes), plan, 0, 0..u64::MAX)
        .unwrap();
    let failed = operations.iter().filter(|recorded| {
        recorded.operation.kind == OperationKind::Program && recorded.operation.lpn == u32::MAX
    });
    let mut times = 0;
    for recorded in failed {
        let (start, end) = recorded.cell;
        assert_eq!(end - start, 300_000);
        times += 1;
    }
    assert!(times > 0);
    assert_eq!(flash(&outcome).retired_blocks, Some(times));
    assert_eq!(
        flash(&outcome).wear_page_programs,
        flash(&outcome).wear_moves + times
    );
}

#[test]
fn blocks_that_wore_out_before_are_bad_at_first() {
    let bad = |erases: u32| {
        let outcome = run(
            &drive(&[ONE_DIE, FAILING, &worn(erases)]),
            vec![write(0, 0)],
        );
        flash(&outcome).bad_blocks.unwrap()
    };
    // 64 (1 - exp(-0.04 x 140^2 / 2,000)) = 21, with a deviation of 3.7.
    assert_eq!(bad(0), 0);
    assert!(bad(140).abs_diff(21) <= 15, "{}", bad(140));
    let refused = Prepared::new(small_drive::config(&[ONE_DIE, FAILING, &worn(900)]));
    let message = refused.err().unwrap().to_string();
    assert!(message.contains("is worn out"), "{message}");
}

#[test]
fn what_cannot_replace_bad_blocks_refuses_them() {
    for (lines, expected) in [
        (
            "mapping.scheme = \"bast\"",
            "as mapping.scheme = \"bast\" replaces no bad blocks",
        ),
        (
            "mapping.scheme = \"demand_cached_page\"\nmapping.cached_entries = 9",
            "as mapping.scheme = \"demand_cached_page\" replaces",
        ),
        (
            "compression.slot_size_bytes = 1024",
            "as a drive with [compression] packs its pages into blocks that do not fail",
        ),
        (
            "mapping.allocation = \"round_robin\"",
            "as mapping.allocation = \"round_robin\"",
        ),
        (
            "slc.blocks_per_plane = 8\nslc.pages_per_block = 64\nslc.read_cell_ns = 20_000\n\
             slc.program_cell_ns = 200_000",
            "as a drive with [slc] replaces no bad blocks of its region",
        ),
    ] {
        let text = format!("base = \"x25m-yoo2014\"\nname = \"mine\"\n{FAILING}\n{lines}");
        let message = SsdConfig::from_text(&text).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("ageing.program_failure_probability"));
        assert_eq!(message.lines().count(), 1);
    }
}
