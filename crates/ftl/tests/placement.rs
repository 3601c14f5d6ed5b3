//! Which planes pages are written on: orders of striping and dynamic allocation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use drivelab_ftl::{
    Action, Allocation, Checked, Exclusive, Firmware, FlashLayout, Lpn, Operation, OperationBuffer,
    Pace, PageMap, PageRun, Policies, StripingOrder,
};

/// Two channels, three ways, one die each of two planes.
const AXES: [u32; 4] = [2, 3, 1, 2];

const LAYOUT: FlashLayout = FlashLayout {
    planes: 12,
    blocks_per_plane: 8,
    pages_per_block: 4,
    logical_pages: 12 * 16,
    reserve_blocks: 2,
};

fn policies(allocation: Allocation, order: StripingOrder) -> Policies {
    Policies {
        allocation,
        order,
        axes: AXES,
        ..Policies::from(Pace::WholeBlock)
    }
}

fn drive(policies: Policies) -> Checked<PageMap<Exclusive>> {
    Checked::fresh(PageMap::erased(LAYOUT, policies).unwrap())
}

fn submit(
    drive: &mut Checked<PageMap<Exclusive>>,
    action: Action,
    first: u32,
    pages: u32,
) -> Vec<Operation> {
    let mut out = OperationBuffer::default();
    let run = PageRun::whole(action, Lpn(first), pages);
    drive.submit(&[run], &mut out).unwrap();
    out.operations().to_vec()
}

fn planes(operations: &[Operation]) -> Vec<u32> {
    operations.iter().map(|operation| operation.plane).collect()
}

/// Channel, way, die and plane in the die, of planes numbered channel fastest.
fn place(plane: u32) -> [u32; 4] {
    [plane % 2, plane / 2 % 3, 0, plane / 6]
}

/// Reports of completions have no effect if the load of planes is not counted.
#[test]
fn a_checked_firmware_heeds_completions_as_it_does_unchecked() {
    for (allocation, heeds) in [(Allocation::Static, false), (Allocation::LeastLoaded, true)] {
        let drive = drive(policies(allocation, StripingOrder::ALL[0]));
        assert_eq!(drive.firmware().heeds_completions(), heeds);
        assert_eq!(drive.heeds_completions(), heeds);
    }
}

#[test]
fn every_order_walks_its_letters_from_the_fastest_on() {
    assert_eq!(StripingOrder::ALL.len(), 24);
    let distinct: BTreeSet<&str> = StripingOrder::WORDS.iter().copied().collect();
    assert_eq!(distinct.len(), 24);
    for &order in StripingOrder::ALL {
        let mut drive = drive(policies(Allocation::Static, order));
        let written = planes(&submit(&mut drive, Action::Write, 0, 24));
        assert_eq!(planes(&submit(&mut drive, Action::Read, 0, 24)), written);
        // An odometer whose first wheel is the first letter.
        let mut wheels = [0; 4];
        for plane in written {
            let digits: Vec<u32> = order
                .word()
                .chars()
                .map(|letter| place(plane)["cwdp".find(letter).unwrap()])
                .collect();
            assert_eq!(digits, wheels, "{}", order.word());
            for (wheel, letter) in wheels.iter_mut().zip(order.word().chars()) {
                *wheel += 1;
                if *wheel < AXES["cwdp".find(letter).unwrap()] {
                    break;
                }
                *wheel = 0;
            }
        }
    }
}

#[test]
fn an_order_needs_all_the_planes_there_are() {
    let few = Policies {
        axes: [2, 3, 1, 1],
        ..policies(Allocation::Static, StripingOrder::Pdwc)
    };
    let error = PageMap::<Exclusive>::erased(LAYOUT, few).err().unwrap();
    assert!(
        error
            .to_string()
            .contains("is 6: it must lie between 12 and 12"),
        "{error}"
    );
}

/// Pages 0, 12, 24 .. belong to plane 0; with turns, they go round.
#[test]
fn planes_take_turns_whatever_the_pages_are() {
    let pages = (0..12).map(|step| step * 12);
    let mut fixed = drive(policies(Allocation::Static, StripingOrder::Cwdp));
    let mut turns = drive(policies(Allocation::RoundRobin, StripingOrder::Wcdp));
    let (mut on, mut round) = (Vec::new(), Vec::new());
    for page in pages.clone() {
        on.extend(planes(&submit(&mut fixed, Action::Write, page, 1)));
        round.extend(planes(&submit(&mut turns, Action::Write, page, 1)));
    }
    assert_eq!(on, [0; 12]);
    // Way fastest, then channel, then plane.
    assert_eq!(round, [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11]);
    let read: Vec<u32> = pages
        .flat_map(|page| planes(&submit(&mut turns, Action::Read, page, 1)))
        .collect();
    assert_eq!(read, round);
}

/// Three writes are outstanding on planes 0, 1 and 2. When the one on plane 1 completes, it is as
/// free as planes 3 to 11, and comes after them in turn.
#[test]
fn the_least_loaded_plane_is_next() {
    let mut drive = drive(policies(Allocation::LeastLoaded, StripingOrder::Cwdp));
    let first = submit(&mut drive, Action::Write, 0, 3);
    assert_eq!(planes(&first), [0, 1, 2]);
    drive.completed(&first[1]);
    let mut next = Vec::new();
    for page in 3..13 {
        next.extend(planes(&submit(&mut drive, Action::Write, page, 1)));
    }
    assert_eq!(next, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1]);
}
