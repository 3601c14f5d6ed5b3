//! A map of compressed pages: programs counted by hand, and no page is ever lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{
    Action, Cause, CompressedMap, CompressedPolicies, Exclusive, Firmware, FlashLayout, Lpn,
    NOTHING, OperationBuffer, OperationKind, Pace, PageRun, Policies, Restorable, Undo,
};
use drivelab_request::Content;
use proptest::prelude::*;

use crate::requests::{draws, run};

/// Two planes of 12 blocks of 8 pages.
const LAYOUT: FlashLayout = FlashLayout {
    planes: 2,
    blocks_per_plane: 12,
    pages_per_block: 8,
    logical_pages: 96,
    reserve_blocks: 2,
};

const POLICIES: CompressedPolicies = CompressedPolicies {
    pages: Policies {
        pace: Pace::WholeBlock,
        ..Policies::USUAL
    },
    page_bytes: 4096,
    slots_per_page: 4,
    deduplicates_zeros: true,
};

type Map = CompressedMap<Exclusive>;

fn fresh(policies: CompressedPolicies) -> Map {
    CompressedMap::erased(LAYOUT, policies).unwrap()
}

fn of(action: Action, first: u32, pages: u32, content: Content) -> PageRun {
    PageRun {
        content,
        ..PageRun::whole(action, Lpn(first), pages)
    }
}

/// Non-empty database pages of one plane, in order.
fn filled_pages(plane: u32) -> Vec<u32> {
    let pages = (0..LAYOUT.logical_pages).filter(|page| page % 2 == plane);
    let pages = pages.filter(|&page| !Content::Database.of_page(page, 4096).is_zero);
    pages.collect()
}

/// Two pages that shrink to one half share a flash page. Zeroes take none, random data one
/// each.
#[test]
fn a_write_costs_the_share_of_a_page_that_compression_leaves() {
    let mut out = OperationBuffer::default();
    let mut drive = fresh(POLICIES);
    let pages = 0..LAYOUT.logical_pages;
    let empty = pages.filter(|&page| Content::Database.of_page(page, 4096).is_zero);
    let empty = empty.count();
    let all = [of(Action::Write, 0, 96, Content::Database)];
    drive.submit(&all, &mut out).unwrap();
    let halves = filled_pages(0).len() / 2 + filled_pages(1).len() / 2;
    assert_eq!(out.operations().len(), halves);
    assert_eq!(out.counts.zero_pages, empty as u64);
    assert_eq!(out.counts.packed_pages, (96 - empty - halves) as u64);

    out.clear();
    let all = [of(Action::Write, 0, 96, Content::Zero)];
    drive.submit(&all, &mut out).unwrap();
    assert_eq!(out.operations(), []);
    let all = [of(Action::Write, 0, 96, Content::Random)];
    drive.submit(&all, &mut out).unwrap();
    assert!(
        out.operations()
            .iter()
            .all(|o| o.kind == OperationKind::Program)
    );
    assert_eq!(out.operations().len(), 96);
}

/// Without deduplication a page of zeroes compresses well: four to a flash page.
#[test]
fn zeroes_are_compressed_where_they_are_not_deduplicated() {
    let policies = CompressedPolicies {
        deduplicates_zeros: false,
        ..POLICIES
    };
    let mut out = OperationBuffer::default();
    let all = [of(Action::Write, 0, 96, Content::Zero)];
    fresh(policies).submit(&all, &mut out).unwrap();
    assert_eq!(out.operations().len(), 24);
    assert_eq!((out.counts.packed_pages, out.counts.zero_pages), (72, 0));
}

/// One request reads pages that were packed together once, and waiting pages and zeroes not at
/// all.
#[test]
fn a_read_reads_each_flash_page_once() {
    let mut out = OperationBuffer::default();
    let mut drive = fresh(POLICIES);
    let pages = filled_pages(0);
    for &page in &pages[..3] {
        let write = of(Action::Write, page, 1, Content::Database);
        drive.submit(&[write], &mut out).unwrap();
    }
    let program = out.operations()[0];
    assert_eq!((program.lpn, out.operations().len()), (pages[1], 1));
    assert_eq!(drive.physical(Lpn(pages[0])), Some((program.ppn, 0, 2)));
    assert_eq!(drive.physical(Lpn(pages[1])), Some((program.ppn, 2, 2)));
    out.clear();
    let read = |page| of(Action::Read, page, 1, Content::Random);
    drive.submit(&[read(pages[0])], &mut out).unwrap();
    drive.submit(&[read(pages[1])], &mut out).unwrap();
    assert_eq!(out.operations().len(), 2);
    assert_eq!(out.operations()[1].ppn, program.ppn);
    out.clear();
    drive.submit(&[read(pages[2])], &mut out).unwrap();
    assert_eq!(out.operations(), []);
    assert_eq!(out.counts.unmapped_reads, 0);

    // One request for both, two pages apart in striping order.
    let mut drive = fresh(POLICIES);
    let first = pages[0];
    assert_eq!(pages[1], first + 2);
    drive
        .submit(&[of(Action::Write, first, 3, Content::Database)], &mut out)
        .unwrap();
    out.clear();
    let reads = of(Action::Read, first, 3, Content::Random);
    drive.submit(&[reads], &mut out).unwrap();
    assert_eq!(out.operations().len(), 1);
}

/// Collection packs remaining pages again: two moves of halves are one program, except for pages
/// rewritten while they wait for their other half.
#[test]
fn what_collection_moves_is_packed_again() {
    // Full of data that shrinks to one half: 76 flash pages of live data on 144.
    let layout = FlashLayout {
        planes: 1,
        blocks_per_plane: 18,
        logical_pages: 112,
        ..LAYOUT
    };
    let mut drive: Map = CompressedMap::erased(layout, POLICIES).unwrap();
    let mut out = OperationBuffer::default();
    let filled = |&page: &u32| !Content::Database.of_page(page, 4096).is_zero;
    let pages: Vec<u32> = (0..112).filter(filled).collect();
    let mut write = |page: u32, content: Content| {
        drive
            .submit(&[of(Action::Write, page, 1, content)], &mut out)
            .unwrap();
    };
    // Data that does not change takes whole pages, and leaves little space to the rest.
    let (still, busy) = pages.split_at(pages.len() / 2);
    still.iter().for_each(|&page| write(page, Content::Random));
    let mut state = 1_u64;
    for _ in 0..20_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let page = busy[(state >> 33) as usize % busy.len()];
        write(page, Content::Database);
    }
    let moves = out.counts.moves as usize;
    let programs = out.operations().iter().filter(|operation| {
        (operation.kind, operation.cause) == (OperationKind::Program, Cause::Collection)
    });
    let programs = programs.count();
    let whole = out.operations().iter().filter(|o| {
        o.cause == Cause::Collection && o.kind == OperationKind::Program && still.contains(&o.lpn)
    });
    let whole = whole.count();
    let halves = moves - whole;
    assert!(halves > 500, "{halves}");
    assert!(2 * (programs - whole) <= halves);
    assert!(
        2 * (programs - whole) > halves * 8 / 10,
        "{programs} {whole} {halves}"
    );
}

/// What the operations of one submission say about the flash.
struct Flash {
    programmed: Vec<bool>,
    next: Vec<u32>,
}

impl Flash {
    fn replay(&mut self, layout: &FlashLayout, out: &OperationBuffer) -> Vec<u32> {
        let mut erased = Vec::new();
        for (index, operation) in out.operations().iter().enumerate() {
            let page = operation.ppn.0;
            let block = page / layout.pages_per_block;
            assert_eq!(block / layout.blocks_per_plane, operation.plane);
            assert!(operation.after == NOTHING || (operation.after as usize) < index);
            match operation.kind {
                OperationKind::Read => assert!(self.programmed[page as usize]),
                OperationKind::Program => {
                    assert_eq!(self.next[block as usize], page % layout.pages_per_block);
                    self.next[block as usize] += 1;
                    self.programmed[page as usize] = true;
                }
                OperationKind::Erase => {
                    assert_eq!(page % layout.pages_per_block, 0);
                    self.next[block as usize] = 0;
                    let pages = page as usize..(page + layout.pages_per_block) as usize;
                    self.programmed[pages].fill(false);
                    erased.push(block);
                }
            }
        }
        erased
    }
}

/// Each page lies where something was programmed, no two in the same slots. Moved pages were read
/// before.
fn check_places(drive: &Map, flash: &Flash, slots: u32) {
    let mut taken = std::collections::BTreeSet::new();
    for page in 0..drive.layout().logical_pages {
        if let Some((ppn, first, length)) = drive.physical(Lpn(page)) {
            assert!(flash.programmed[ppn.0 as usize], "page {page}");
            assert!(first % length == 0 && first + length <= slots);
            for slot in first..first + length {
                assert!(taken.insert((ppn.0, slot)), "page {page}");
            }
        }
    }
}

fn drives() -> impl Strategy<Value = (FlashLayout, CompressedPolicies)> {
    let shape = (1..4_u32, 8..14_u32, 1..7_u32, 0..5_u32, 1..100_u32);
    let choices = (any::<bool>(), any::<bool>(), any::<bool>());
    (shape, choices).prop_map(|((planes, blocks, pages, slots, share), choices)| {
        let (is_paced, deduplicates_zeros, levels) = choices;
        let most = planes * (blocks - 4) * pages;
        let layout = FlashLayout {
            planes,
            blocks_per_plane: blocks,
            pages_per_block: pages,
            logical_pages: (most * share / 100)
                .max(1)
                .next_multiple_of(planes)
                .min(most),
            reserve_blocks: 2,
        };
        let pace = if is_paced {
            Pace::Paced
        } else {
            Pace::WholeBlock
        };
        let pages = Policies {
            wear_spread: levels.then_some(3),
            ..Policies::from(pace)
        };
        let policies = CompressedPolicies {
            pages,
            page_bytes: 4096,
            slots_per_page: 1 << slots,
            deduplicates_zeros,
        };
        (layout, policies)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_page_has_one_place_and_none_is_lost(
        (layout, policies) in drives(),
        contents in prop::collection::vec(0..3_usize, 300),
        draws in draws(300),
    ) {
        let start: Map = CompressedMap::erased(layout, policies).unwrap();
        let mut drive = start.clone();
        let pages = layout.physical_pages() as usize;
        let mut flash = Flash {
            programmed: vec![false; pages],
            next: vec![0; layout.blocks() as usize],
        };
        let mut is_written = vec![None; layout.logical_pages as usize];
        let mut out = OperationBuffer::default();
        let before: Vec<_> = (0..layout.logical_pages).map(|page| drive.physical(Lpn(page))).collect();
        let mut before = before;
        for (draw, content) in draws.into_iter().zip(contents) {
            let run = PageRun { content: Content::ALL[content], ..run(&layout, draw) };
            if run.action == Action::Read {
                let pages = run.first.0..run.first.0 + run.pages;
                if pages.clone().any(|page| is_written[page as usize].is_none()) {
                    continue;
                }
            }
            out.clear();
            let unmapped = out.counts.unmapped_reads;
            drive.submit(&[run], &mut out).unwrap();
            prop_assert_eq!(out.counts.unmapped_reads, unmapped);
            let erased = flash.replay(&layout, &out);
            check_places(&drive, &flash, policies.slots_per_page);
            let changed = match run.action {
                Action::Read => 0..0,
                Action::Write => run.first.0..run.first.0 + run.pages,
                Action::Trim => run.whole_pages(),
            };
            for page in 0..layout.logical_pages {
                let (was, is) = (before[page as usize], drive.physical(Lpn(page)));
                if changed.contains(&page) {
                    is_written[page as usize] = Some(run.action == Action::Write);
                } else if let Some((old, ..)) = was {
                    // It stays where it is, or was read there and moved.
                    let was_read = out.operations().iter().any(|o| {
                        (o.kind, o.ppn) == (OperationKind::Read, old)
                            && matches!(o.cause, Cause::Collection | Cause::Wear)
                    });
                    let was_erased = erased.contains(&(old.0 / layout.pages_per_block));
                    prop_assert!(was_read || (is == was && !was_erased));
                }
                before[page as usize] = is;
            }
        }
        // A written state is checked when it is read back: places, blocks, waiting pages.
        let bytes = drive.changes_since(&start);
        let mut other = start.clone();
        other.apply_changes(&bytes).unwrap();
        prop_assert_eq!(other.changes_since(&start), bytes);
        for page in 0..layout.logical_pages {
            prop_assert_eq!(other.physical(Lpn(page)), drive.physical(Lpn(page)));
        }
    }

    #[test]
    fn a_state_is_returned_to_and_damaged_ones_are_refused(
        (layout, policies) in drives(),
        contents in prop::collection::vec(0..3_usize, 100),
        draws in draws(100),
        damage in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let mut start = CompressedMap::<Undo>::erased(layout, policies).unwrap();
        start.checkpoint();
        let mut drive = start.clone();
        let runs: Vec<_> = draws.into_iter().zip(contents).map(|(draw, content)| {
            let run = run(&layout, draw);
            // Writes only: data that does not exist cannot be read.
            let action = if run.action == Action::Read { Action::Write } else { run.action };
            PageRun { action, content: Content::ALL[content], ..run }
        }).collect();
        let work = |drive: &mut CompressedMap<Undo>| {
            let mut out = OperationBuffer::default();
            drive.submit(&runs, &mut out).unwrap();
            out.operations().to_vec()
        };
        let first = work(&mut drive);
        let bytes = drive.changes_since(&start);
        drive.rollback(&start);
        prop_assert_eq!(drive.changes_since(&start), start.changes_since(&start));
        prop_assert_eq!(work(&mut drive), first);
        drive.rollback(&start);
        let mut damaged = bytes.clone();
        let place = damage.0.index(damaged.len());
        damaged[place] = damage.1;
        // It is refused, or is a state with which work continues.
        if drive.apply_changes(&damaged).is_ok() {
            let mut out = OperationBuffer::default();
            let all = PageRun::whole(Action::Write, Lpn(0), layout.logical_pages);
            for _ in 0..4 {
                let _ = drive.submit(&[all], &mut out);
            }
        }
    }
}
