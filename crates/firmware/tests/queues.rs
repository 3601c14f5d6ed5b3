//! Rings keep order and lose nothing, locks exclude others, descriptors survive the ring.
#![allow(clippy::unwrap_used)]

use drivelab_firmware::flash::{FlashCommand, Purpose};
use drivelab_firmware::handoff::{Descriptor, PlaneLock, Ring};
use drivelab_firmware::nvme::Status;
use drivelab_firmware::records::{Counter, Counters};
use drivelab_firmware::segment::{Segment, SegmentDone, Work};
use drivelab_ftl::OperationKind;
use proptest::prelude::*;

fn done(context: u16) -> SegmentDone {
    SegmentDone {
        context,
        status: Status::SUCCESS,
    }
}

#[test]
fn a_full_ring_refuses_and_goes_on_when_one_is_taken() {
    let (ring, counters) = (Ring::new(4, 0), Counters::default());
    for context in 0..4 {
        assert!(ring.put(done(context), &counters));
    }
    assert!(!ring.put(done(4), &counters));
    assert_eq!((ring.waiting(), ring.room()), (4, 0));
    assert_eq!(ring.take(), Some(done(0)));
    assert!(ring.put(done(5), &counters));
    let rest: Vec<_> = std::iter::from_fn(|| ring.take()).collect();
    assert_eq!(rest, [1, 2, 3, 5].map(done));
    assert_eq!(counters.get(Counter::HandOffs), 5);
}

#[test]
fn threads_hand_on_everything_in_order() {
    const ITEMS: u16 = 60_000;
    let ring = Ring::new(64, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let counters = Counters::default();
            for context in 0..ITEMS {
                while !ring.put(done(context), &counters) {
                    std::thread::yield_now();
                }
            }
        });
        for context in 0..ITEMS {
            let item = loop {
                match ring.take() {
                    Some(item) => break item,
                    None => std::thread::yield_now(),
                }
            };
            assert_eq!(item, done(context));
        }
    });
}

#[test]
fn who_looks_on_never_counts_less_than_nothing() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    const ITEMS: u32 = 20_000_000;
    let (ring, is_over) = (Ring::new(4, 0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let counters = Counters::default();
            for _ in 0..ITEMS {
                // The ring is empty again before the next item.
                while !ring.put(done(0), &counters) || ring.take().is_none() {}
            }
            is_over.store(true, Relaxed);
        });
        // Between two loads any number of items may pass, but the result is never negative.
        while !is_over.load(Relaxed) {
            let waiting = ring.waiting();
            assert!(waiting <= ITEMS as usize, "{waiting}");
        }
    });
}

#[test]
fn a_lock_lets_one_in_at_a_time() {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    let (lock, sum) = (PlaneLock::default(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let counters = Counters::default();
                for _ in 0..20_000 {
                    let _guard = lock.take(7, &counters);
                    // No addition is lost, although it is not atomic.
                    sum.store(sum.load(Relaxed) + 1, Relaxed);
                }
                assert_eq!(counters.get(Counter::LockAcquisitions), 20_000);
            });
        }
    });
    assert_eq!(sum.load(Relaxed), 60_000);
}

proptest! {
    #[test]
    fn segments_survive_the_ring(
        work in prop::sample::select(vec![
            Work::Read, Work::Write, Work::WriteForced, Work::Trim, Work::Flush,
        ]),
        (context, logical, first, sectors, transfer, pages) in any::<(u16, u32, u8, u8, u16, u32)>(),
    ) {
        let segment = Segment { work, context, logical, first, sectors, transfer, pages };
        prop_assert_eq!(Segment::unpack(segment.pack()), segment);
    }

    #[test]
    fn flash_commands_survive_the_ring(
        kind in prop::sample::select(vec![
            OperationKind::Read, OperationKind::Program, OperationKind::Erase,
        ]),
        purpose in prop::sample::select(vec![Purpose::Fill, Purpose::Flush, Purpose::Move]),
        (worker, slot, page, logical) in any::<(u8, u16, u32, u32)>(),
    ) {
        let command = FlashCommand { kind, purpose, worker, slot, page, logical };
        prop_assert_eq!(FlashCommand::unpack(command.pack()), command);
    }

    #[test]
    fn masks_have_a_bit_a_sector(first in 0_u8..32, sectors in 1_u8..=32) {
        prop_assume!(first + sectors <= 32);
        let segment = Segment {
            work: Work::Read, context: 0, logical: 0, first, sectors, transfer: 0, pages: 0,
        };
        let expected: u64 = (first..first + sectors).map(|sector| 1_u64 << sector).sum();
        prop_assert_eq!(u64::from(segment.mask()), expected);
    }
}
