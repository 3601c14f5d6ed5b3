//! The effect of each choice of collection, on drives small enough to follow by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{
    Action, Checked, Exclusive, FlashLayout, Lpn, OperationBuffer, OperationKind, Pace, PageMap,
    PageRun, Policies, VictimPolicy,
};

/// Collection starts at two free blocks: when blocks 0 to 5 are written.
const LAYOUT: FlashLayout = FlashLayout {
    planes: 1,
    blocks_per_plane: 8,
    pages_per_block: 4,
    logical_pages: 16,
    reserve_blocks: 2,
};

const AT_ONCE: Policies = Policies {
    pace: Pace::WholeBlock,
    ..Policies::USUAL
};

fn write(page: u32) -> PageRun {
    PageRun::whole(Action::Write, Lpn(page), 1)
}

/// Writes `pages` one by one under the checker. Returns what each write erased.
fn erased_by(layout: FlashLayout, policies: Policies, pages: &[u32]) -> Vec<Vec<u32>> {
    let firmware = PageMap::<Exclusive>::erased(layout, policies).unwrap();
    let mut checked = Checked::fresh(firmware);
    let mut out = OperationBuffer::default();
    let mut erased = Vec::new();
    for &page in pages {
        out.clear();
        checked.submit(&[write(page)], &mut out).unwrap();
        let erases = out.operations().iter();
        let erases = erases.filter(|operation| operation.kind == OperationKind::Erase);
        erased.push(
            erases
                .map(|erase| erase.ppn.0 / layout.pages_per_block)
                .collect(),
        );
    }
    erased
}

/// ```text
///   block      0           1          2            3             4           5
///   written    0 1 2 3     4 5 6 7    8 9 10 11    12 .. 15      0 1 8 12    0 0 0 0
///   valid      2           4          3            3             3           1
///   age + 1    6           5          4            3             2           1
/// ```
/// The next write needs a block, finds two free and collects one first. The rule
/// of cost and benefit, (age + 1) (4 - valid) / valid, gives 6, 0, 4/3, 1, 2/3, 3.
#[test]
fn each_rule_chooses_its_block() {
    let writes = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 8, 12, 0, 0, 0, 0, 0,
    ];
    let victim = |victim, victim_choices| {
        let policies = Policies {
            victim,
            victim_choices,
            ..AT_ONCE
        };
        let erased = erased_by(LAYOUT, policies, &writes);
        assert!(erased[..24].iter().all(Vec::is_empty));
        // This one makes up for the block that the moves have opened.
        erased[24][0]
    };
    assert_eq!(victim(VictimPolicy::Greedy, 1), 5);
    assert_eq!(victim(VictimPolicy::CostBenefit, 1), 0);
    assert_eq!(victim(VictimPolicy::Fifo, 1), 0);
    // This many draws meet every block.
    assert_eq!(victim(VictimPolicy::DChoices, 1000), 5);
}

/// Sequential overwriting leaves victims without valid pages, so each collection
/// wins a block. Blocks are opened at every fourth write. With a stop at three free
/// blocks each opening collects one; with a stop at five every third collects
/// three.
#[test]
fn a_higher_stop_collects_in_larger_lots() {
    let pages: Vec<u32> = (0..96).map(|step| step % 8).collect();
    let lots = |stop_blocks| -> Vec<(usize, usize)> {
        let policies = Policies {
            stop_blocks,
            ..AT_ONCE
        };
        let layout = FlashLayout {
            logical_pages: 8,
            ..LAYOUT
        };
        let erased = erased_by(layout, policies, &pages);
        let lots = erased.iter().enumerate();
        lots.filter(|(_, erased)| !erased.is_empty())
            .map(|(step, erased)| (step, erased.len()))
            .collect()
    };
    let every: Vec<(usize, usize)> = (24..96).step_by(4).map(|step| (step, 1)).collect();
    assert_eq!(lots(None), every);
    let third: Vec<(usize, usize)> = (24..96).step_by(12).map(|step| (step, 3)).collect();
    assert_eq!(lots(Some(5)), third);
}
