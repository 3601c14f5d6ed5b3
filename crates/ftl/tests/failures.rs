//! Blocks that fail: what happens to their data, how often they fail, and when there are too many
//! of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{
    Action, Cause, Checked, Exclusive, Failures, Firmware, FirmwareError, FlashLayout, IdleTime,
    Lpn, OperationBuffer, OperationKind, Pace, PageMap, PageRun, Policies, Restorable, Undo,
    VictimPolicy,
};
use proptest::prelude::*;

use crate::damage;
use crate::requests::{self, Draw, draws, run};

const NONE: Failures = Failures {
    seed: 0,
    rated_erases: 1,
    factory_bad: 0.0,
    program: 0.0,
    erase: 0.0,
    worn: (0, 0),
};

const SMALL: FlashLayout = FlashLayout {
    planes: 1,
    blocks_per_plane: 8,
    pages_per_block: 4,
    logical_pages: 8,
    reserve_blocks: 2,
};

fn at_once(failures: Failures) -> Policies {
    Policies {
        pace: Pace::WholeBlock,
        victim: VictimPolicy::Fifo,
        failures: Some(failures),
        ..Policies::USUAL
    }
}

fn write(page: u32) -> PageRun {
    PageRun::whole(Action::Write, Lpn(page), 1)
}

/// Eight pages in order on eight blocks of four. From the 25th write on, every fourth erases the
/// next block. The first erase of a block never fails, and the second always does: the ninth erase,
/// for the 57th write, and those made in its place. Four blocks are free or open and two hold data,
/// so two can be spared; the third is too many.
#[test]
fn a_drive_ends_with_the_block_that_it_cannot_spare() {
    let failures = Failures { erase: 1.0, ..NONE };
    let firmware = PageMap::<Exclusive>::erased(SMALL, at_once(failures)).unwrap();
    let mut checked = Checked::fresh(firmware);
    let mut out = OperationBuffer::default();
    for step in 0..56 {
        checked.submit(&[write(step % 8)], &mut out).unwrap();
    }
    assert_eq!(out.counts.retired_blocks, 0);
    let error = checked.submit(&[write(0)], &mut out).unwrap_err();
    assert_eq!(out.counts.retired_blocks, 3);
    assert_eq!(checked.firmware().bad_blocks(), Some(3));
    let message = error.to_string();
    assert!(
        message.contains("plane 0 has lost 3 of its 8 blocks and could spare 2"),
        "{message}"
    );
    // Written data is still there.
    for page in 0..8 {
        assert!(checked.firmware().physical(Lpn(page)).is_some());
    }
}

/// Block 0 fails at its third page. The third write finds this: both pages of the block are moved,
/// the failed program comes last, and nothing is erased.
#[test]
fn what_a_failing_block_holds_is_moved_before_the_next_write() {
    let third_write = |seed| {
        let failures = Failures {
            seed,
            rated_erases: 2,
            program: 1.0,
            ..NONE
        };
        let mut firmware = PageMap::<Exclusive>::erased(SMALL, at_once(failures)).unwrap();
        firmware.set_worn(1, 0);
        let mut checked = Checked::fresh(firmware);
        let mut out = OperationBuffer::default();
        for page in 0..3 {
            out.clear();
            checked.submit(&[write(page)], &mut out).unwrap();
        }
        let emitted = out.operations().iter();
        let emitted: Vec<_> = emitted.map(|o| (o.kind, o.cause, o.ppn.0, o.lpn)).collect();
        (
            emitted,
            checked.firmware().bad_blocks(),
            out.counts.wear_moves,
        )
    };
    // Half of the blocks fail, at one of three pages: one drive in six at this one.
    let found = (0..100)
        .map(third_write)
        .find(|(emitted, ..)| emitted.len() == 6);
    let (read, program) = (OperationKind::Read, OperationKind::Program);
    let expected = vec![
        (read, Cause::Wear, 0, 0),
        (program, Cause::Wear, 4, 0),
        (read, Cause::Wear, 1, 1),
        (program, Cause::Wear, 5, 1),
        (program, Cause::Wear, 2, u32::MAX),
        (program, Cause::Host, 8, 2),
    ];
    assert_eq!(found.unwrap(), (expected, Some(1), 2));
}

/// For 4,000 blocks, a count with probability p has the deviation sqrt(4,000 p (1 - p)); four
/// deviations are allowed.
#[test]
fn as_many_blocks_are_bad_as_was_said() {
    let layout = FlashLayout {
        blocks_per_plane: 4_000,
        ..SMALL
    };
    let bad = |failures: Failures| {
        let firmware = PageMap::<Exclusive>::erased(layout, at_once(failures)).unwrap();
        (0..4_000).filter(|&block| firmware.is_bad(block)).count() as f64
    };
    let assert_near = |found: f64, share: f64| {
        let deviation = (4_000.0 * share * (1.0 - share)).sqrt();
        let expected = 4_000.0 * share;
        assert!(
            (found - expected).abs() < 4.0 * deviation,
            "{found} {expected}"
        );
    };
    let factory_bad = 0.02;
    assert_near(
        bad(Failures {
            factory_bad,
            ..NONE
        }),
        0.02,
    );
    // After k erases an erase fails with 1e-4 k / 1,000. All of 1,000 are survived with nearly
    // exp(-sum) = exp(-0.05).
    let worn = Failures {
        rated_erases: 1_000,
        erase: 1e-4,
        worn: (1_000, 0),
        ..NONE
    };
    assert_near(bad(worn), 1.0 - (-0.05_f64).exp());
    let twice = Failures {
        program: 1e-4,
        ..worn
    };
    assert_near(bad(twice), 1.0 - (-0.1_f64).exp());
}

/// Blocks with 500 to 520 of 1,000 rated erases fail at 1 in 20 erases (0.1 x 0.5) and 1 in 10
/// fillings. A count n with probability p has a deviation of sqrt(n p (1 - p)); four are allowed,
/// and 2 % because erases exceed 500.
#[test]
fn blocks_fail_as_often_as_their_erases_say() {
    let layout = FlashLayout {
        blocks_per_plane: 2_000,
        pages_per_block: 8,
        logical_pages: 4_000,
        ..SMALL
    };
    let grown = |failures: Failures| {
        let policies = at_once(failures);
        let mut firmware = PageMap::<Exclusive>::erased(layout, policies).unwrap();
        firmware.set_worn(500, 0);
        let mut out = OperationBuffer::default();
        let mut erases = 0;
        for step in 0..36_000 {
            out.clear();
            firmware.submit(&[write(step % 4_000)], &mut out).unwrap();
            let made = out.operations().iter();
            erases += made.filter(|o| o.kind == OperationKind::Erase).count();
        }
        (out.counts.retired_blocks as f64, erases as f64)
    };
    let rated = Failures {
        rated_erases: 1_000,
        ..NONE
    };
    let (lost, erases) = grown(Failures {
        erase: 0.1,
        ..rated
    });
    assert!(erases > 2_400.0, "{erases}");
    let expected = 0.05 * erases;
    let bound = 4.0 * (expected * 0.95).sqrt() + 0.02 * expected;
    assert!((lost - expected).abs() < bound, "{lost} {expected}");
    let (lost, erases) = grown(Failures {
        program: 0.2,
        ..rated
    });
    // Each filling ended in an erase, a bad block or a closed one; 4 are free or open.
    let filled = erases + 2_000.0 - 4.0;
    let expected = 0.1 * filled;
    let bound = 4.0 * (expected * 0.9).sqrt() + 0.02 * expected;
    assert!((lost - expected).abs() < bound, "{lost} {expected}");
}

/// Drives with blocks that fail often, up to the fullest that their policies allow.
fn drives() -> impl Strategy<Value = (FlashLayout, Policies)> {
    let shape = (
        1..4_u32,
        2..8_u32,
        0..12_u32,
        prop_oneof![Just(1_u32), Just(5), Just(64), Just(65)],
    );
    let failures = (
        any::<u64>(),
        1..8_u32,
        prop_oneof![Just(0.0), Just(0.05)],
        0.0..0.4_f64,
        0.0..0.4_f64,
    );
    let choices = (
        prop::sample::select(Pace::ALL),
        prop::sample::select(VictimPolicy::ALL),
        prop::option::of(0..4_u32),
        prop::option::of(3..5_u32),
        prop::option::of(4..6_u32),
    );
    (shape, failures, choices).prop_map(|(shape, failures, choices)| {
        let (planes, used, spare, pages) = shape;
        let (pace, victim, wear_spread, temperature_classes, background_blocks) = choices;
        let policies = Policies {
            pace,
            victim,
            wear_spread,
            temperature_classes,
            background_blocks,
            failures: Some(Failures {
                seed: failures.0,
                rated_erases: failures.1,
                factory_bad: failures.2,
                program: failures.3,
                erase: failures.4,
                worn: (0, 0),
            }),
            ..Policies::USUAL
        };
        let layout = FlashLayout {
            planes,
            blocks_per_plane: used + spare + policies.blocks_held_back(2),
            pages_per_block: pages,
            logical_pages: planes * used * pages,
            reserve_blocks: 2,
        };
        (layout, policies)
    })
}

/// Every mapped page is mapped once, valid, and in no bad block; no other page is valid.
fn assert_consistent(firmware: &PageMap<impl drivelab_ftl::Memory>) {
    let layout = *firmware.layout();
    let mut places: Vec<u32> = (0..layout.logical_pages)
        .filter_map(|page| firmware.physical(Lpn(page)).map(|ppn| ppn.0))
        .collect();
    places.sort_unstable();
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
    for &place in &places {
        assert!(firmware.is_valid(drivelab_ftl::Ppn(place)));
        assert!(!firmware.is_bad(place / layout.pages_per_block));
    }
    let valid: u32 = (0..layout.blocks())
        .map(|block| firmware.valid_pages(block))
        .sum();
    assert_eq!(valid as usize, places.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Until a drive is worn out, the contract holds and bad blocks are left alone.
    #[test]
    fn no_page_lies_in_a_bad_block(((layout, policies), draws) in (drives(), draws(400))) {
        let mut checked = Checked::fresh(PageMap::<Exclusive>::erased(layout, policies).unwrap());
        let mut out = OperationBuffer::default();
        let mut bad = vec![false; layout.blocks() as usize];
        for draw in draws {
            out.clear();
            let submitted = checked.submit(&[run(&layout, draw)], &mut out);
            for operation in out.operations() {
                prop_assert!(!bad[(operation.ppn.0 / layout.pages_per_block) as usize]);
            }
            for (block, bad) in (0..).zip(&mut bad) {
                let is_bad = checked.firmware().is_bad(block);
                prop_assert!(is_bad || !*bad, "a bad block became good");
                *bad = is_bad;
            }
            if let Err(error) = submitted {
                let message = error.to_string();
                prop_assert!(message.contains("worn out"), "{}", message);
                return Ok(());
            }
            assert_consistent(checked.firmware());
            out.clear();
            checked.background(&IdleTime::on_all_planes(3), &mut out).unwrap();
        }
    }

    #[test]
    fn states_return_and_read_back(
        ((layout, policies), before, after) in (drives(), draws(80), draws(80)),
    ) {
        let mut firmware = PageMap::<Undo>::erased(layout, policies).unwrap();
        let mut out = OperationBuffer::default();
        let all = |firmware: &mut PageMap<Undo>, draws: &[requests::Draw]| {
            let mut out = OperationBuffer::default();
            let submit = |&draw| firmware.submit(&[run(&layout, draw)], &mut out);
            let result: Result<Vec<()>, FirmwareError> = draws.iter().map(submit).collect();
            (result, out.operations().to_vec())
        };
        for draw in before {
            if firmware.submit(&[run(&layout, draw)], &mut out).is_err() {
                return Ok(());
            }
        }
        firmware.checkpoint();
        let then = firmware.clone();
        let first = all(&mut firmware, &after);
        if first.0.is_err() {
            return Ok(());
        }
        let changes = firmware.changes_since(&then);
        firmware.rollback(&then);
        prop_assert_eq!(&first, &all(&mut firmware, &after));
        prop_assert_eq!(&changes, &firmware.changes_since(&then));
        let mut read = then.without_derived(0).complete();
        read.apply_changes(&changes).unwrap();
        prop_assert_eq!(all(&mut firmware, &after), all(&mut read, &after));
    }

    /// Any single changed byte is refused, or gives a state that works.
    #[test]
    fn damaged_states_do_no_harm(
        ((layout, policies), before) in (drives(), draws(60)),
        damage in (any::<prop::sample::Index>(), any::<u8>()),
        after in draws(60),
    ) {
        let firmware = PageMap::<Undo>::erased(layout, policies).unwrap();
        let runs = |draws: Vec<Draw>| draws.into_iter().map(|draw| run(&layout, draw));
        damage::does_no_harm(firmware, runs(before), damage, runs(after));
    }
}
