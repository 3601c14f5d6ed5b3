//! A map on the flash with recently used entries cached: the contract, and hits and misses counted
//! independently.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::VecDeque;

use drivelab_ftl::{
    Action, CachedMap, CachedPolicies, Cause, Checked, Exclusive, Firmware, FlashLayout, Lpn,
    NOTHING, OperationBuffer, OperationKind, Pace, PageMap, PageRun, Policies, Replacement,
    Restorable, Undo,
};
use proptest::prelude::*;

use crate::damage;
use crate::requests::{Draw, draws, run};

/// 4 planes, 1024 logical pages in 16 translation pages of 64 entries.
const LAYOUT: FlashLayout = FlashLayout {
    planes: 4,
    blocks_per_plane: 26,
    pages_per_block: 16,
    logical_pages: 1024,
    reserve_blocks: 2,
};

fn policies(cached_entries: u32, replacement: Replacement) -> CachedPolicies {
    CachedPolicies {
        pages: Policies::default(),
        cached_entries,
        replacement,
        entries_per_page: 64,
    }
}

fn one(action: Action, page: u32) -> PageRun {
    PageRun::whole(action, Lpn(page), 1)
}

/// Written once in order.
fn filled(cached_entries: u32, replacement: Replacement) -> Checked<CachedMap<Exclusive>> {
    let policies = policies(cached_entries, replacement);
    let mut checked = Checked::fresh(CachedMap::erased(LAYOUT, policies).unwrap());
    let mut out = OperationBuffer::default();
    for page in 0..LAYOUT.logical_pages {
        out.clear();
        checked
            .submit(&[one(Action::Write, page)], &mut out)
            .unwrap();
    }
    checked
}

/// Random pages by xorshift.
fn draw(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state % LAYOUT.logical_pages
}

/// Uniform reads find an entry with the probability that it is cached, for any replacement rule.
/// For 40,000 reads at 1/4, three standard deviations are 0.0065.
#[test]
fn uniform_reads_hit_with_the_share_that_is_cached() {
    for &replacement in Replacement::ALL {
        let mut drive = filled(256, replacement);
        let mut out = OperationBuffer::default();
        let mut state = 0x9E37_79B9;
        for step in 0..44_000 {
            if step == 4_000 {
                out = OperationBuffer::default();
            }
            out.clear();
            drive
                .submit(&[one(Action::Read, draw(&mut state))], &mut out)
                .unwrap();
        }
        let counts = out.counts;
        assert_eq!(counts.map_hits + counts.map_misses, 40_000);
        let ratio = counts.map_hits as f64 / 40_000.0;
        assert!((ratio - 0.25).abs() < 0.0065, "{replacement:?}: {ratio}");
    }
}

/// Hits of a separately kept list, in the order of use.
#[test]
fn the_entry_unused_longest_makes_room() {
    let mut drive = filled(64, Replacement::Lru);
    let mut list: VecDeque<u32> = (960..1024).rev().collect();
    let mut out = OperationBuffer::default();
    let mut state = 7;
    for step in 0..5_000 {
        // Every other page is one of 100.
        let page = draw(&mut state);
        let page = if state & 1024 == 0 { page % 100 } else { page };
        let place = list.iter().position(|&held| held == page);
        list.remove(place.unwrap_or(63));
        list.push_front(page);
        let before = out.counts.map_hits;
        out.clear();
        drive.submit(&[one(Action::Read, page)], &mut out).unwrap();
        assert_eq!(out.counts.map_hits - before, u64::from(place.is_some()));
        // A miss reads one translation page, and the data waits for it.
        let waits = out.operations().last().unwrap().after;
        assert_eq!(waits == NOTHING, place.is_some());
        let operations = 1 + usize::from(place.is_none());
        // The first miss finds dirty entries of writes, all of one page.
        assert_eq!(out.operations().len(), operations + usize::from(step == 0));
    }
}

/// A scan does not push out entries that are used again and again.
#[test]
fn segments_keep_what_is_used_again() {
    let hits = |replacement| {
        let mut drive = filled(64, replacement);
        let mut out = OperationBuffer::default();
        for scan in 0..10 {
            for page in (0..24).chain(0..24).chain(100 + scan * 64..164 + scan * 64) {
                out.clear();
                drive.submit(&[one(Action::Read, page)], &mut out).unwrap();
            }
        }
        out.counts.map_hits
    };
    // Both hit on the second of each two readings. The scan of 64 empties one list, but not the
    // other one's half of 32.
    assert_eq!(hits(Replacement::Lru), 10 * 24);
    assert_eq!(hits(Replacement::SegmentedLru), 10 * 24 + 9 * 24);
}

/// Writing 64 entries of one translation page makes all of them dirty. The first that makes room
/// takes all of them to the flash, and the others then cost nothing.
#[test]
fn one_write_of_a_translation_page_takes_all_its_dirty_entries() {
    let mut drive = filled(64, Replacement::Lru);
    let mut out = OperationBuffer::default();
    let mut map_programs = 0;
    for page in (0..64).chain(512..576) {
        out.clear();
        let action = if page < 64 {
            Action::Write
        } else {
            Action::Read
        };
        drive.submit(&[one(action, page)], &mut out).unwrap();
        let of_map = out.operations().iter().filter(|operation| {
            operation.cause == Cause::Map
                && operation.kind == OperationKind::Program
                && operation.lpn == LAYOUT.logical_pages
        });
        map_programs += of_map.count();
    }
    assert_eq!(map_programs, 1);
}

fn assert_as_the_page_map(layout: FlashLayout, pages: Policies, draws: &[Draw]) {
    let policies = CachedPolicies {
        pages,
        ..policies(layout.logical_pages, Replacement::Lru)
    };
    let mut cached = CachedMap::<Exclusive>::erased(layout, policies).unwrap();
    let mut page = PageMap::<Exclusive>::erased(layout, pages).unwrap();
    let (mut a, mut b) = (OperationBuffer::default(), OperationBuffer::default());
    for batch in draws.chunks(3) {
        let batch: Vec<_> = batch.iter().map(|&draw| run(&layout, draw)).collect();
        cached.submit(&batch, &mut a).unwrap();
        page.submit(&batch, &mut b).unwrap();
    }
    assert_eq!(a.operations(), b.operations());
    assert_eq!((a.counts.moves, a.counts.map_misses), (b.counts.moves, 0));
}

fn drives() -> impl Strategy<Value = (FlashLayout, CachedPolicies)> {
    let shape = (
        1..5_u32,
        prop_oneof![Just(4_u32), Just(16), Just(33)],
        3..8_u32,
    );
    let map = (
        1..200_u32,
        prop::sample::select(Replacement::ALL),
        prop_oneof![Just(8_u32), Just(40), Just(128)],
    );
    let pages = (
        prop::sample::select(Pace::ALL),
        prop::option::of(2..9_u32),
        any::<bool>(),
    );
    (shape, map, pages, 0.1..1.0_f64).prop_map(
        |((planes, pages_per_block, data), map, pages, share)| {
            let policies = CachedPolicies {
                pages: Policies {
                    wear_spread: pages.1,
                    least_worn_first: pages.2,
                    ..Policies::from(pages.0)
                },
                cached_entries: map.0,
                replacement: map.1,
                entries_per_page: map.2,
            };
            let most = planes * data * pages_per_block;
            // What is left of it next to the translation pages.
            let logical = most - most.div_ceil(map.2 + 1);
            let layout = FlashLayout {
                planes,
                blocks_per_plane: data + policies.blocks_held_back(2),
                pages_per_block,
                logical_pages: ((f64::from(logical) * share) as u32).max(1),
                reserve_blocks: 2,
            };
            (layout, policies)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_contract_holds_and_no_page_is_lost(
        ((layout, policies), draws) in (drives(), draws(300))
    ) {
        let firmware = CachedMap::<Exclusive>::erased(layout, policies).unwrap();
        let mut checked = Checked::fresh(firmware);
        let mut out = OperationBuffer::default();
        for batch in draws.chunks(3) {
            out.clear();
            let batch: Vec<_> = batch.iter().map(|&draw| run(&layout, draw)).collect();
            checked.submit(&batch, &mut out).unwrap();
        }
        for page in 0..layout.logical_pages {
            let place = checked.firmware().physical(Lpn(page));
            prop_assert_eq!(place.map_or(u32::MAX, |p| p.0), checked.newest()[page as usize]);
        }
    }

    #[test]
    fn a_cache_as_large_as_the_map_is_the_page_map(draws in draws(300), pace in prop::sample::select(Pace::ALL)) {
        assert_as_the_page_map(LAYOUT, Policies::from(pace), &draws);
    }

    #[test]
    fn states_return_and_read_back(
        ((layout, policies), before, after) in (drives(), draws(100), draws(100)),
    ) {
        let mut firmware = CachedMap::<Undo>::erased(layout, policies).unwrap();
        let mut out = OperationBuffer::default();
        for draw in before {
            firmware.submit(&[run(&layout, draw)], &mut out).unwrap();
        }
        firmware.checkpoint();
        let then = firmware.clone();
        let play = |firmware: &mut CachedMap<Undo>| {
            let mut out = OperationBuffer::default();
            for &draw in &after {
                firmware.submit(&[run(&layout, draw)], &mut out).unwrap();
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
        let firmware = CachedMap::<Undo>::erased(layout, policies).unwrap();
        let runs = |draws: Vec<Draw>| draws.into_iter().map(|draw| run(&layout, draw));
        damage::does_no_harm(firmware, runs(before), damage, runs(after));
    }
}
