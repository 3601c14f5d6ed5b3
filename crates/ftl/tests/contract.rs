//! The page map keeps the firmware contract under any sequence of requests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{
    Action, Allocation, Cause, Checked, Exclusive, Firmware, FlashLayout, IdleTime, Lpn, Memory,
    Operation, OperationBuffer, OperationKind, Pace, PageMap, PageRun, Policies, Restorable,
    StripingOrder, Undo, VictimPolicy,
};
use drivelab_request::Content;
use proptest::prelude::*;

fn policies() -> impl Strategy<Value = Policies> {
    let pace = prop::sample::select(Pace::ALL);
    let victim = prop::sample::select(VictimPolicy::ALL);
    let placement = (
        prop::sample::select(Allocation::ALL),
        prop::sample::select(StripingOrder::ALL),
        [1..3_u32, 1..3_u32, 1..3_u32, 1..3_u32],
    );
    let wear = (
        any::<bool>(),
        prop::option::of(0..3_u32),
        prop::option::of(3..5_u32),
        prop::option::of(1..4_u32),
    );
    (pace, victim, 1..5_u32, 0..4_u32, placement, wear).prop_map(
        |(
            pace,
            victim,
            victim_choices,
            more,
            (allocation, order, axes),
            (least_worn_first, wear_spread, temperature_classes, background),
        )| Policies {
            pace,
            victim,
            victim_choices,
            // As far above the reserve, which is 2 or 3; none means the default.
            stop_blocks: (more > 0).then_some(3 + more),
            least_worn_first,
            wear_spread,
            temperature_classes,
            // Above the reserve, like the stop.
            background_blocks: background.map(|more| 3 + more),
            failures: None,
            allocation,
            order,
            axes,
        },
    )
}

/// Small drives, up to the fullest that their policies allow.
fn drives() -> impl Strategy<Value = (FlashLayout, Policies)> {
    let pages = prop_oneof![Just(1_u32), Just(4), Just(7), Just(64), Just(65)];
    (policies(), 1..13_u32, pages, 2..4_u32).prop_flat_map(|(policies, usable, pages, reserve)| {
        let planes: u32 = policies.axes.iter().product();
        let most = planes * usable * pages;
        (1..=most).prop_map(move |logical_pages| {
            let layout = FlashLayout {
                planes,
                blocks_per_plane: usable + policies.blocks_held_back(reserve),
                pages_per_block: pages,
                logical_pages,
                reserve_blocks: reserve,
            };
            (layout, policies)
        })
    })
}

/// (what, start, length, partial ends), scaled to the layout when used.
type Draw = (Action, u32, u32, bool, bool);

fn draws(count: usize) -> impl Strategy<Value = Vec<Draw>> {
    let partial = any::<bool>;
    let action = prop_oneof![
        16 => Just(Action::Write), 3 => Just(Action::Read), 1 => Just(Action::Trim),
    ];
    prop::collection::vec(
        (action, any::<u32>(), 1..9_u32, partial(), partial()),
        count,
    )
}

fn run(layout: &FlashLayout, draw: Draw) -> PageRun {
    let (action, start, length, first_partial, last_partial) = draw;
    let first = start % layout.logical_pages;
    PageRun {
        action,
        first: Lpn(first),
        pages: length.min(layout.logical_pages - first),
        first_partial,
        last_partial,
        content: Content::Random,
    }
}

/// Every mapped page is valid exactly once, by map, bitmap and counts, and agrees with what the
/// operations alone say.
fn assert_consistent<M: Memory>(checked: &Checked<PageMap<M>>) {
    let firmware = checked.firmware();
    let layout = *checked.layout();
    let mut valid_of_block = vec![0; layout.blocks() as usize];
    let mut mapped = 0_u64;
    for page in 0..layout.logical_pages {
        let newest = checked.newest()[page as usize];
        match firmware.physical(Lpn(page)) {
            Some(ppn) => {
                assert_eq!(ppn.0, newest);
                assert!(firmware.is_valid(ppn));
                valid_of_block[(ppn.0 / layout.pages_per_block) as usize] += 1;
                mapped += 1;
            }
            None => assert_eq!(newest, u32::MAX),
        }
    }
    let bits = (0..layout.physical_pages() as u32)
        .filter(|&page| firmware.is_valid(drivelab_ftl::Ppn(page)))
        .count() as u64;
    assert_eq!(bits, mapped, "a page is valid without being mapped");
    for (block, &valid) in valid_of_block.iter().enumerate() {
        assert_eq!(
            firmware.valid_pages(block as u32),
            valid,
            "count of block {block}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn contract_holds_and_no_page_is_lost(
        ((layout, policies), draws) in (drives(), draws(400))
    ) {
        let mut checked = Checked::fresh(PageMap::<Exclusive>::erased(layout, policies).unwrap());
        let mut out = OperationBuffer::default();
        for batch in draws.chunks(3) {
            out.clear();
            let batch: Vec<_> = batch.iter().map(|&draw| run(&layout, draw)).collect();
            checked.submit(&batch, &mut out).unwrap();
            for operation in out.operations().iter().skip(1) {
                checked.completed(operation);
            }
            out.clear();
            // None if planes do not collect in idle time.
            checked.background(&IdleTime::on_all_planes(batch[0].pages), &mut out).unwrap();
        }
        assert_consistent(&checked);
    }

    #[test]
    fn idle_time_in_one_piece_or_in_many_gives_the_same_state(
        ((layout, policies), draws, budget) in (drives(), draws(150), 1..200_u32)
    ) {
        let erased = PageMap::<Exclusive>::erased(layout, policies).unwrap();
        let mut whole = erased.clone();
        let mut out = OperationBuffer::default();
        for &draw in &draws {
            whole.submit(&[run(&layout, draw)], &mut out).unwrap();
        }
        let mut parts = whole.clone();
        let (mut at_once, mut in_turn) = (OperationBuffer::default(), OperationBuffer::default());
        whole.background(&IdleTime::on_all_planes(budget), &mut at_once).unwrap();
        for _ in 0..budget {
            parts.background(&IdleTime::on_all_planes(1), &mut in_turn).unwrap();
        }
        prop_assert_eq!(at_once.operations(), in_turn.operations());
        prop_assert_eq!(at_once.counts, in_turn.counts);
        prop_assert_eq!(whole.changes_since(&erased), parts.changes_since(&erased));
        // With enough of it every plane has the requested free blocks, or nothing to win.
        whole.background(&IdleTime::on_all_planes(u32::MAX / 2), &mut at_once).unwrap();
        let target = policies.background_blocks.unwrap_or(0);
        for plane in 0..layout.planes {
            let first = plane * layout.blocks_per_plane;
            let valid = |block: u32| whole.valid_pages(first + block);
            let invalid = (0..layout.blocks_per_plane).map(valid);
            let invalid = invalid.filter(|&pages| pages > 0 && pages < layout.pages_per_block);
            prop_assert!(whole.free_blocks(plane) >= target || invalid.count() <= 4);
        }
    }

    #[test]
    fn overwriting_a_full_drive_never_runs_out_of_space(
        ((layout, policies), seed) in (drives(), any::<u32>())
    ) {
        let mut checked = Checked::fresh(PageMap::<Exclusive>::erased(layout, policies).unwrap());
        let mut out = OperationBuffer::default();
        let mut state = seed | 1;
        for step in 0..layout.logical_pages + 6 * layout.pages_per_block * layout.blocks() {
            // Fill once, then random overwrites by a small xorshift generator.
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let page = if step < layout.logical_pages { step } else { state % layout.logical_pages };
            out.clear();
            let write = PageRun::whole(Action::Write, Lpn(page), 1);
            checked.submit(&[write], &mut out).unwrap();
        }
        assert_consistent(&checked);
    }

    #[test]
    fn rollback_makes_the_future_repeat_itself(
        ((layout, policies), before, after) in (drives(), draws(150), draws(150)),
        has_reverse_map in any::<bool>(),
    ) {
        let mut firmware = PageMap::<Undo>::erased(layout, policies).unwrap();
        let mut out = OperationBuffer::default();
        for draw in before {
            firmware.submit(&[run(&layout, draw)], &mut out).unwrap();
        }
        firmware.checkpoint();
        let (mut firmware, then) = match has_reverse_map {
            true => (firmware.clone(), firmware),
            false => {
                let then = firmware.without_derived(0);
                (then.complete(), then)
            }
        };
        let play = |firmware: &mut PageMap<Undo>| {
            let mut out = OperationBuffer::default();
            for &draw in &after {
                firmware.submit(&[run(&layout, draw)], &mut out).unwrap();
            }
            out.operations().to_vec()
        };
        let first = play(&mut firmware);
        firmware.rollback(&then);
        let second = play(&mut firmware);
        prop_assert_eq!(first, second);
    }

    #[test]
    fn both_memories_behave_alike(((layout, policies), draws) in (drives(), draws(200))) {
        let mut plain = PageMap::<Exclusive>::erased(layout, policies).unwrap();
        let mut undo = PageMap::<Undo>::erased(layout, policies).unwrap();
        let (mut a, mut b) = (OperationBuffer::default(), OperationBuffer::default());
        for draw in draws {
            plain.submit(&[run(&layout, draw)], &mut a).unwrap();
            undo.submit(&[run(&layout, draw)], &mut b).unwrap();
        }
        prop_assert_eq!(a.operations(), b.operations());
        prop_assert_eq!(a.counts, b.counts);
    }
}

/// Counts of valid pages have 15 bits: blocks of 32767 pages use all of them.
#[test]
fn the_largest_blocks_keep_the_contract() {
    let layout = FlashLayout {
        planes: 1,
        blocks_per_plane: 6,
        pages_per_block: 32_767,
        logical_pages: 2 * 32_767,
        reserve_blocks: 2,
    };
    for pace in [Pace::Paced, Pace::WholeBlock] {
        let mut checked = Checked::fresh(PageMap::<Undo>::erased(layout, pace).unwrap());
        let mut out = OperationBuffer::default();
        for step in 0..6 * 32_767_u32 {
            let page = if step < layout.logical_pages {
                step
            } else {
                step.wrapping_mul(0x9E37_79B1) % layout.logical_pages
            };
            out.clear();
            checked.submit(&[write(page)], &mut out).unwrap();
        }
        assert!(out.counts.collections > 0);
        assert_consistent(&checked);
    }
}

const SMALL: FlashLayout = FlashLayout {
    planes: 1,
    blocks_per_plane: 8,
    pages_per_block: 4,
    logical_pages: 8,
    reserve_blocks: 2,
};

fn write(page: u32) -> PageRun {
    PageRun::whole(Action::Write, Lpn(page), 1)
}

#[test]
fn a_partial_write_reads_the_old_page_first() {
    let mut firmware = PageMap::<Exclusive>::erased(SMALL, Pace::WholeBlock).unwrap();
    let mut out = OperationBuffer::default();
    firmware.submit(&[write(3)], &mut out).unwrap();
    out.clear();
    firmware
        .submit(
            &[PageRun {
                first_partial: true,
                ..write(3)
            }],
            &mut out,
        )
        .unwrap();
    let kinds: Vec<_> = out
        .operations()
        .iter()
        .map(|o| (o.kind, o.cause, o.after))
        .collect();
    assert_eq!(
        kinds,
        [
            (OperationKind::Read, Cause::Host, u32::MAX),
            (OperationKind::Program, Cause::Host, 0),
        ]
    );
}

/// A trim of pages 2 to 5 whose ends are covered partly gives up 3 and 4.
#[test]
fn trimmed_pages_read_as_zeroes_without_the_flash() {
    let firmware = PageMap::<Exclusive>::erased(SMALL, Pace::WholeBlock).unwrap();
    let mut checked = Checked::fresh(firmware);
    let mut out = OperationBuffer::default();
    let run = |action, first, pages| PageRun::whole(action, Lpn(first), pages);
    checked
        .submit(&[run(Action::Write, 0, 7)], &mut out)
        .unwrap();
    let ragged = PageRun {
        first_partial: true,
        last_partial: true,
        ..run(Action::Trim, 2, 4)
    };
    out.clear();
    checked
        .submit(&[ragged, run(Action::Read, 0, 7)], &mut out)
        .unwrap();
    let read: Vec<u32> = out.operations().iter().map(|read| read.lpn).collect();
    assert_eq!(read, [0, 1, 2, 5, 6]);
    let counts = out.counts;
    assert_eq!(
        (counts.trims, counts.trimmed_reads, counts.unmapped_reads),
        (2, 2, 0)
    );
    // Nothing is left to read before a partial write, and a page that was never written is not read
    // as zeroes.
    let part = PageRun {
        last_partial: true,
        ..write(4)
    };
    out.clear();
    checked
        .submit(&[part, run(Action::Read, 7, 1)], &mut out)
        .unwrap();
    assert_eq!(out.operations().len(), 1);
    assert_eq!(out.counts.unmapped_reads, 1);
}

#[test]
fn a_request_beyond_the_end_is_refused_and_emits_nothing() {
    let mut firmware = PageMap::<Exclusive>::erased(SMALL, Pace::Paced).unwrap();
    let mut out = OperationBuffer::default();
    let error = firmware
        .submit(&[PageRun::whole(Action::Write, Lpn(7), 2)], &mut out)
        .unwrap_err();
    assert!(error.to_string().contains("8 logical pages"), "{error}");
    assert!(out.operations().is_empty());
}

#[test]
fn too_little_space_names_what_would_work() {
    let refusal = |logical_pages: u32, policies: Policies| {
        let layout = FlashLayout {
            logical_pages,
            ..SMALL
        };
        let refused = PageMap::<Exclusive>::erased(layout, policies).err();
        refused.map(|error| error.to_string())
    };
    let usual = Policies::default();
    let message = refusal(17, usual).unwrap();
    assert!(
        message.contains("at most 16 logical pages work"),
        "{message}"
    );
    assert_eq!(refusal(16, usual), None);
    // Two more blocks are free when collection stops: 2 x 4 pages fewer.
    let later = Policies {
        stop_blocks: Some(5),
        ..usual
    };
    let message = refusal(9, later).unwrap();
    assert!(
        message.contains("at most 8 logical pages work"),
        "{message}"
    );
    assert_eq!(refusal(8, later), None);
    let crossed = Policies {
        stop_blocks: Some(2),
        ..usual
    };
    let message = refusal(8, crossed).unwrap();
    assert!(message.contains("stop at 3 or more"), "{message}");
}

/// A firmware that answers every write with the same page breaks the contract.
struct Stuck(FlashLayout);

impl Firmware for Stuck {
    fn layout(&self) -> &FlashLayout {
        &self.0
    }

    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), drivelab_ftl::FirmwareError> {
        for run in batch {
            operations.push(Operation {
                kind: OperationKind::Program,
                cause: Cause::Host,
                plane: 0,
                ppn: drivelab_ftl::Ppn(0),
                lpn: run.first.0,
                after: u32::MAX,
                request: 0,
            });
        }
        Ok(())
    }
}

#[test]
fn the_checker_notices_a_page_programmed_twice() {
    let mut checked = Checked::fresh(Stuck(SMALL));
    let mut out = OperationBuffer::default();
    checked.submit(&[write(1)], &mut out).unwrap();
    out.clear();
    let error = checked.submit(&[write(1)], &mut out).unwrap_err();
    assert!(
        error.to_string().contains("next page to program"),
        "{error}"
    );
}
