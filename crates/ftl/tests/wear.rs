//! Erase counts, wear levelling, and separate hot and cold data, on drives small enough to follow
//! by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{
    Action, Cause, Checked, Counts, Exclusive, FlashLayout, Lpn, OperationBuffer, OperationKind,
    Pace, PageMap, PageRun, Policies, Restorable, VictimPolicy,
};

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

type Drive = Checked<PageMap<Exclusive>>;

fn drive(layout: FlashLayout, policies: Policies, worn: (u32, u32)) -> Drive {
    let mut firmware = PageMap::erased(layout, policies).unwrap();
    firmware.set_worn(worn.0, worn.1);
    Checked::fresh(firmware)
}

/// Writes `pages` one by one under the checker. Returns the counts, and the blocks in which a page
/// was programmed for the host, each when it was opened.
fn written(drive: &mut Drive, pages: impl Iterator<Item = u32>) -> (Counts, Vec<u32>) {
    let mut out = OperationBuffer::default();
    let mut opened = Vec::new();
    for page in pages {
        out.clear();
        let run = PageRun::whole(Action::Write, Lpn(page), 1);
        drive.submit(&[run], &mut out).unwrap();
        let program = out.operations().iter().find(|operation| {
            operation.kind == OperationKind::Program && operation.cause == Cause::Host
        });
        let block = program.unwrap().ppn.0 / drive.layout().pages_per_block;
        if opened.last() != Some(&block) {
            opened.push(block);
        }
    }
    (out.counts, opened)
}

/// Eight logical pages in order leave victims without valid pages. From the 25th write on every
/// fourth erases one block, 18 in 96, and blocks take turns.
#[test]
fn erase_counts_are_told_with_their_spread() {
    let policies = Policies {
        victim: VictimPolicy::Fifo,
        ..AT_ONCE
    };
    let mut drive = drive(LAYOUT, policies, (0, 0));
    written(&mut drive, (0..96).map(|step| step % 8));
    let counts = drive.firmware().erase_counts();
    assert_eq!((counts.least, counts.most), (2, 3));
    assert!((counts.mean - 18.0 / 8.0).abs() < 1e-12);
    assert!((counts.standard_deviation - (0.25_f64 * 0.75).sqrt()).abs() < 1e-12);
}

#[test]
fn a_worn_drive_has_counts_around_those_stated() {
    let layout = FlashLayout {
        blocks_per_plane: 4_000,
        ..LAYOUT
    };
    let counts = |mean, spread| {
        let drive = drive(layout, AT_ONCE, (mean, spread));
        drive.firmware().erase_counts()
    };
    let same = counts(700, 0);
    assert_eq!((same.least, same.most), (700, 700));
    let spread = counts(700, 20);
    assert_eq!((spread.least, spread.most), (680, 720));
    // A uniform choice of 41 numbers has the deviation sqrt((41^2 - 1) / 12) = 11.83, and the mean
    // of 4,000 of them 0.19.
    assert!((spread.mean - 700.0).abs() < 1.0, "{}", spread.mean);
    let expected = (f64::from(41 * 41 - 1) / 12.0).sqrt();
    assert!((spread.standard_deviation - expected).abs() < 0.3);
}

#[test]
fn the_least_worn_free_block_is_filled_first() {
    let order = |least_worn_first| {
        let policies = Policies {
            least_worn_first,
            ..AT_ONCE
        };
        let mut drive = drive(LAYOUT, policies, (1_000, 500));
        let (_, opened) = written(&mut drive, 0..16);
        let erases = |&block: &u32| drive.firmware().erase_count(block);
        let erases: Vec<u32> = opened.iter().map(erases).collect();
        (opened, erases)
    };
    let (in_order, erases) = order(false);
    assert_eq!(in_order, [0, 1, 2, 3]);
    assert!(!erases.is_sorted(), "{erases:?} shows nothing");
    let (_, mut of_all) = order(true);
    assert!(of_all.is_sorted());
    // The four smallest of all eight.
    let drive = drive(LAYOUT, AT_ONCE, (1_000, 500));
    let mut every: Vec<u32> = (0..8)
        .map(|block| drive.firmware().erase_count(block))
        .collect();
    every.sort_unstable();
    of_all.sort_unstable();
    assert_eq!(of_all, every[..4]);
}

/// Eight pages written once lie on two blocks that nothing else would ever erase.
#[test]
fn data_that_nobody_overwrites_is_moved_when_its_block_lags() {
    let run = |wear_spread| {
        let policies = Policies {
            wear_spread,
            ..AT_ONCE
        };
        let mut drive = drive(LAYOUT, policies, (0, 0));
        let cold = 0..8;
        let (counts, _) = written(&mut drive, cold.chain((0..400).map(|step| 8 + step % 8)));
        (counts, drive.firmware().erase_counts())
    };
    let (counts, erases) = run(None);
    assert_eq!(counts.wear_moves, 0);
    // Some 100 erases on the other six blocks.
    assert!(erases.least == 0 && erases.most >= 15, "{erases:?}");
    let (counts, erases) = run(Some(3));
    // Blocks lag by 4 when they are emptied; one or two more come while they wait.
    assert!(erases.most - erases.least <= 6, "{erases:?}");
    // Whole blocks of four valid pages, each time both lag again.
    assert!(
        counts.wear_moves > 0 && counts.wear_moves.is_multiple_of(4),
        "{counts:?}"
    );
    let (later, _) = run(Some(8));
    assert!(later.wear_moves < counts.wear_moves, "{later:?} {counts:?}");
}
