//! A pseudo-SLC region in front of a page map: the contract, and folds counted by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{
    Action, Cause, Checked, Exclusive, Firmware, FlashLayout, IdleTime, Lpn, OperationBuffer,
    OperationKind, Pace, PageRun, Policies, Restorable, SlcMap, SlcPolicies, Undo,
};
use proptest::prelude::*;

use crate::damage;
use crate::requests::{Draw, draws, run};

/// One plane: 4 SLC blocks of 4 pages, 20 dense ones of 12 pages.
const LAYOUT: FlashLayout = FlashLayout {
    planes: 1,
    blocks_per_plane: 24,
    pages_per_block: 12,
    logical_pages: 120,
    reserve_blocks: 2,
};

const POLICIES: SlcPolicies = SlcPolicies {
    pages: Policies {
        pace: Pace::WholeBlock,
        ..Policies::USUAL
    },
    slc_blocks: 4,
    slc_pages: 4,
};

/// Operations by kind and cause.
#[derive(Debug, Default, PartialEq)]
struct Cost {
    host: usize,
    fold_reads: usize,
    fold_programs: usize,
    fold_erases: usize,
}

fn cost(out: &OperationBuffer) -> Cost {
    let count = |kind, cause| {
        let operations = out.operations().iter();
        operations
            .filter(|o| (o.kind, o.cause) == (kind, cause))
            .count()
    };
    Cost {
        host: count(OperationKind::Program, Cause::Host),
        fold_reads: count(OperationKind::Read, Cause::Fold),
        fold_programs: count(OperationKind::Program, Cause::Fold),
        fold_erases: count(OperationKind::Erase, Cause::Fold),
    }
}

fn fresh() -> Checked<SlcMap<Exclusive>> {
    Checked::fresh(SlcMap::erased(LAYOUT, POLICIES).unwrap())
}

fn write(drive: &mut Checked<SlcMap<Exclusive>>, pages: impl IntoIterator<Item = u32>) -> Cost {
    let mut out = OperationBuffer::default();
    for page in pages {
        let run = PageRun::whole(Action::Write, Lpn(page), 1);
        drive.submit(&[run], &mut out).unwrap();
    }
    cost(&out)
}

/// 16 pages fit. Every further block's worth folds the oldest block, 4 pages.
#[test]
fn a_full_region_folds_a_block_for_each_that_is_written() {
    let mut drive = fresh();
    let expected = Cost {
        host: 16,
        ..Cost::default()
    };
    assert_eq!(write(&mut drive, 0..16), expected);
    let expected = Cost {
        host: 8,
        fold_reads: 8,
        fold_programs: 8,
        fold_erases: 2,
    };
    assert_eq!(write(&mut drive, 16..24), expected);
}

/// From the fourteenth page on, less than a block is free. Of every four writes, one folds two pages,
/// two fold one (the last of these erases the block), and one folds none: it has a block's worth.
#[test]
fn paced_folds_are_spread_over_the_writes_that_fill_a_block() {
    let policies = SlcPolicies {
        pages: Policies::USUAL,
        ..POLICIES
    };
    let mut drive = Checked::fresh(SlcMap::erased(LAYOUT, policies).unwrap());
    assert_eq!(write(&mut drive, 0..13).fold_reads, 0);
    for first in [13, 17, 21] {
        let costs = [0, 1, 2, 3].map(|page| write(&mut drive, [first + page]));
        assert_eq!(
            costs.each_ref().map(|cost| cost.fold_programs),
            [2, 1, 1, 0]
        );
        assert_eq!(costs.each_ref().map(|cost| cost.fold_reads), [2, 1, 1, 0]);
        assert_eq!(costs.map(|cost| cost.fold_erases), [0, 0, 1, 0]);
    }
}

/// Pages that are rewritten before they are folded are not folded.
#[test]
fn pages_written_again_are_not_folded() {
    let mut drive = fresh();
    write(&mut drive, 0..12);
    // In the first block pages 0 and 1 are old now, in the second all pages.
    write(&mut drive, [0, 1, 4, 5]);
    let cost = write(&mut drive, [6, 7, 20, 21, 22]);
    assert_eq!((cost.fold_programs, cost.fold_erases), (2, 2));
}

/// Idle time folds every full block, one operation at a time, and leaves the one being filled. A
/// command in between changes nothing.
#[test]
fn idle_time_empties_the_region_of_full_blocks() {
    let mut drive = fresh();
    write(&mut drive, 0..14);
    let mut out = OperationBuffer::default();
    for step in 0..200 {
        drive
            .background(&IdleTime::on_all_planes(1), &mut out)
            .unwrap();
        if step == 2 {
            // It was read, and need not be folded any more.
            let page = out.operations().last().unwrap();
            assert_eq!((page.kind, page.lpn), (OperationKind::Read, 1));
            write(&mut drive, [1]);
        }
        out.clear();
    }
    // 15 pages were written, 12 of them in full blocks. There is room for 13.
    assert_eq!(write(&mut drive, 30..43).fold_programs, 0);
    assert_eq!(write(&mut drive, [43]).fold_programs, 4);
}

fn drives() -> impl Strategy<Value = (FlashLayout, SlcPolicies)> {
    let shape = (1..4_u32, 1..14_u32, 2..7_u32, 2..5_u32);
    let pages = (
        prop::sample::select(Pace::ALL),
        prop::option::of(2..9_u32),
        0.1..1.0_f64,
    );
    (shape, pages, any::<prop::sample::Index>()).prop_map(|(shape, pages, slc)| {
        let (planes, pages_per_block, data, slc_blocks) = shape;
        let policies = SlcPolicies {
            pages: Policies {
                wear_spread: pages.1,
                ..Policies::from(pages.0)
            },
            slc_blocks,
            slc_pages: 1 + slc.index(pages_per_block as usize) as u32,
        };
        let mut layout = FlashLayout {
            planes,
            blocks_per_plane: 0,
            pages_per_block,
            logical_pages: (f64::from(planes * data * pages_per_block) * pages.2).max(1.0) as u32,
            reserve_blocks: 2,
        };
        layout.blocks_per_plane = data + policies.blocks_held_back(&layout);
        (layout, policies)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_contract_holds_and_no_page_is_lost(
        ((layout, policies), draws) in (drives(), draws(300))
    ) {
        let mut checked = Checked::fresh(SlcMap::<Exclusive>::erased(layout, policies).unwrap());
        let mut out = OperationBuffer::default();
        for batch in draws.chunks(3) {
            out.clear();
            let batch: Vec<_> = batch.iter().map(|&draw| run(&layout, draw)).collect();
            checked.submit(&batch, &mut out).unwrap();
            out.clear();
            checked.background(&IdleTime::on_all_planes(batch[0].pages), &mut out).unwrap();
        }
        for page in 0..layout.logical_pages {
            let place = checked.firmware().physical(Lpn(page));
            prop_assert_eq!(place.map_or(u32::MAX, |p| p.0), checked.newest()[page as usize]);
        }
        prop_assert!(checked.erase_counts().unwrap().is_some());
    }

    #[test]
    fn states_return_and_read_back(
        ((layout, policies), before, after) in (drives(), draws(100), draws(100)),
    ) {
        let mut firmware = SlcMap::<Undo>::erased(layout, policies).unwrap();
        let mut out = OperationBuffer::default();
        for draw in before {
            firmware.submit(&[run(&layout, draw)], &mut out).unwrap();
        }
        firmware.rest();
        firmware.checkpoint();
        let then = firmware.clone();
        let play = |firmware: &mut SlcMap<Undo>| {
            let mut out = OperationBuffer::default();
            for &draw in &after {
                firmware.submit(&[run(&layout, draw)], &mut out).unwrap();
                firmware.background(&IdleTime::on_all_planes(1), &mut out).unwrap();
            }
            out.operations().to_vec()
        };
        let first = play(&mut firmware);
        let changes = firmware.changes_since(&then);
        firmware.rollback(&then);
        prop_assert_eq!(&first, &play(&mut firmware));
        prop_assert_eq!(&changes, &firmware.changes_since(&then));
        let mut read = then.without_derived(0).complete();
        read.apply_changes(&changes).unwrap();
        prop_assert_eq!(play(&mut firmware), play(&mut read));
    }

    /// Any single changed byte is refused, or gives a state that works.
    #[test]
    fn damaged_states_do_no_harm(
        ((layout, policies), before) in (drives(), draws(60)),
        damage in (any::<prop::sample::Index>(), any::<u8>()),
        after in draws(60),
    ) {
        let firmware = SlcMap::<Undo>::erased(layout, policies).unwrap();
        let runs = |draws: Vec<Draw>| draws.into_iter().map(|draw| run(&layout, draw));
        damage::does_no_harm(firmware, runs(before), damage, runs(after));
    }
}
