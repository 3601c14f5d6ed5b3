//! Refreshes: what lies in a block is moved elsewhere in its plane, and the block is erased.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{
    Action, Cause, Checked, Exclusive, Firmware, FlashLayout, IdleTime, Lpn, OperationBuffer,
    OperationKind, Pace, PageMap, PageRun, Policies, Restorable, Undo,
};

const LAYOUT: FlashLayout = FlashLayout {
    planes: 2,
    blocks_per_plane: 10,
    pages_per_block: 4,
    logical_pages: 40,
    reserve_blocks: 2,
};

type Drive = Checked<PageMap<Exclusive>>;

fn drive(pace: Pace) -> Drive {
    resting(pace, None)
}

/// A drive that also collects in idle time until this many blocks of a plane are free.
fn resting(pace: Pace, background_blocks: Option<u32>) -> Drive {
    let policies = Policies {
        pace,
        background_blocks,
        ..Policies::USUAL
    };
    Checked::fresh(PageMap::erased(LAYOUT, policies).unwrap())
}

fn write(drive: &mut Drive, page: u32, out: &mut OperationBuffer) {
    let run = PageRun::whole(Action::Write, Lpn(page), 1);
    drive.submit(&[run], out).unwrap();
}

#[test]
fn the_valid_pages_of_a_block_are_moved_and_then_it_is_erased() {
    let mut drive = drive(Pace::WholeBlock);
    let mut out = OperationBuffer::default();
    // Even pages lie in plane 0: pages 0, 2, 4 and 6 in its first block, of which 2 is overwritten.
    for page in (0..20).chain([2]) {
        write(&mut drive, page, &mut out);
    }
    out.clear();
    let before = out.counts;
    assert_eq!(drive.refresh(0, &mut out), Ok(true));
    let operations: Vec<_> = (out.operations().iter())
        .map(|each| (each.kind, each.cause, each.lpn))
        .collect();
    let mut expected = Vec::new();
    for page in [0, 4, 6] {
        expected.push((OperationKind::Read, Cause::Refresh, page));
        expected.push((OperationKind::Program, Cause::Refresh, page));
    }
    expected.push((OperationKind::Erase, Cause::Refresh, drivelab_ftl::NOTHING));
    assert_eq!(operations, expected);
    assert_eq!(out.counts.refresh_moves - before.refresh_moves, 3);
    assert_eq!((out.counts.refreshes, out.counts.moves), (1, 0));
    assert_eq!(drive.firmware().erase_count(0), 1);
    // It is empty now, and so is one that was never written: neither can be refreshed.
    out.clear();
    assert_eq!(drive.refresh(0, &mut out), Ok(false));
    assert_eq!(drive.refresh(7, &mut out), Ok(false));
    assert!(out.operations().is_empty());
}

#[test]
fn a_block_that_is_being_filled_is_left_alone() {
    let mut drive = drive(Pace::WholeBlock);
    let mut out = OperationBuffer::default();
    for page in [0, 2] {
        write(&mut drive, page, &mut out);
    }
    out.clear();
    assert_eq!(drive.refresh(0, &mut out), Ok(false));
    assert!(out.operations().is_empty());
}

#[test]
fn a_state_after_a_refresh_is_written_and_read() {
    let mut start = PageMap::<Undo>::erased(LAYOUT, Policies::USUAL).unwrap();
    start.checkpoint();
    let mut drive = start.clone();
    let mut out = OperationBuffer::default();
    let writes = PageRun::whole(Action::Write, Lpn(0), 20);
    drive.submit(&[writes], &mut out).unwrap();
    assert_eq!(drive.refresh(0, &mut out), Ok(true));
    let bytes = drive.changes_since(&start);
    let mut other = start.clone();
    other.apply_changes(&bytes).unwrap();
    assert_eq!(other.changes_since(&start), bytes);
}

/// The next number below `limit` of a sequence.
fn drawn(state: &mut u64, limit: u32) -> u32 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    ((*state >> 33) % u64::from(limit)) as u32
}

/// Writes, trims, refreshes and, on some drives, steps of idle time at random: the checker follows
/// every page, and a refreshed block is empty, whatever its plane was doing.
#[test]
fn nothing_is_lost_whatever_is_refreshed_when() {
    for (pace, background) in [
        (Pace::WholeBlock, None),
        (Pace::Paced, None),
        (Pace::WholeBlock, Some(4)),
        (Pace::Paced, Some(3)),
    ] {
        let mut drive = resting(pace, background);
        let mut rested = 0;
        let mut out = OperationBuffer::default();
        let mut state = 7;
        let (mut refreshed, mut refused) = (0, 0);
        for _ in 0..20_000 {
            if background.is_some() {
                out.clear();
                let offer = IdleTime::on_all_planes(drawn(&mut state, 3));
                drive.background(&offer, &mut out).unwrap();
                rested += out.operations().len();
            }
            out.clear();
            match drawn(&mut state, 4) {
                0 => {
                    let block = drawn(&mut state, 20);
                    let wear = drive.firmware().erase_count(block);
                    if drive.refresh(block, &mut out).unwrap() {
                        refreshed += 1;
                        assert_eq!(drive.firmware().valid_pages(block), 0);
                        assert_eq!(drive.firmware().erase_count(block), wear + 1);
                    } else {
                        refused += 1;
                    }
                }
                1 => {
                    let trim = PageRun::whole(Action::Trim, Lpn(drawn(&mut state, 40)), 1);
                    drive.submit(&[trim], &mut out).unwrap();
                }
                _ => write(&mut drive, drawn(&mut state, 40), &mut out),
            }
        }
        assert!(refreshed > 500 && refused > 500, "{refreshed} {refused}");
        assert_eq!(rested > 1_000, background.is_some(), "{rested}");
        // Every page that was written is where the map says.
        for page in 0..40 {
            let read = PageRun::whole(Action::Read, Lpn(page), 1);
            out.clear();
            drive.submit(&[read], &mut out).unwrap();
        }
    }
}
