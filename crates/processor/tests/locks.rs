//! Locks and queues in virtual time, by hand and against a list of all holds.

use drivelab_processor::handed::{Handed, Times};
use proptest::prelude::*;

fn at(time: u64) -> Times<3> {
    [time; 3]
}

/// Takes a lock at `asked` and holds it for `length`. Returns when it was had and when released.
fn held(handed: &mut Handed<3>, asked: u64, length: u64) -> (u64, u64) {
    let had = handed.take(3, at(asked))[1];
    let released = handed.release(3, at(had + length))[1];
    (had, released)
}

/// Asked for at 90, put in at 140, released at 190, while another held the lock from 100 to 200: it
/// was had at 200, and the item is there at 250.
#[test]
fn what_is_put_in_under_a_lock_moves_with_it() {
    let mut handed = Handed::<3>::default();
    assert_eq!(held(&mut handed, 100, 100), (100, 200));
    handed.put(5, at(1));
    assert_eq!(handed.take(3, at(90)), at(90));
    handed.put(5, at(140));
    assert_eq!(handed.release(3, at(190)), at(300));
    handed.put(5, at(310));
    let had: Vec<u64> = (0..3).map(|_| handed.get(5, at(0))[1]).collect();
    assert_eq!(had, [1, 250, 310]);
}

#[test]
fn one_that_comes_later_waits_for_the_release() {
    let mut handed = Handed::<3>::default();
    assert_eq!(held(&mut handed, 100, 50), (100, 150));
    assert_eq!(held(&mut handed, 120, 50), (150, 200));
    assert_eq!(
        held(&mut handed, 200, 10),
        (200, 210),
        "free at the very time"
    );
    assert_eq!(held(&mut handed, 1000, 10), (1000, 1010));
}

#[test]
fn one_that_ran_later_but_asked_earlier_waits_only_where_it_must() {
    let mut handed = Handed::<3>::default();
    assert_eq!(held(&mut handed, 100, 50), (100, 150));
    assert_eq!(held(&mut handed, 300, 50), (300, 350));
    assert_eq!(held(&mut handed, 20, 80), (20, 100), "it fits before");
    assert_eq!(held(&mut handed, 160, 100), (160, 260), "and between");
    assert_eq!(
        held(&mut handed, 10, 60),
        (10, 410),
        "nowhere before the end for as long"
    );
}

#[test]
fn other_locks_are_other_locks() {
    let mut handed = Handed::<3>::default();
    handed.take(1, at(0));
    handed.release(1, at(100));
    assert_eq!(handed.take(2, at(50)), at(50));
    assert_eq!(handed.take(1, at(50)), at(100));
}

#[test]
fn the_band_is_kept_apart() {
    let mut handed = Handed::<3>::default();
    handed.take(1, [0, 0, 0]);
    handed.release(1, [100, 200, 300]);
    assert_eq!(handed.take(1, [150, 150, 150]), [150, 200, 300]);
}

#[test]
fn items_are_had_in_their_order_and_not_before_they_are_put() {
    let mut handed = Handed::<3>::default();
    handed.put(0, at(10));
    handed.put(0, at(500));
    assert_eq!(handed.get(0, at(200)), at(200));
    assert_eq!(handed.get(0, at(200)), at(500));
    assert_eq!(
        handed.get(0, at(200)),
        at(200),
        "it was there before measuring began"
    );
}

proptest! {
    /// No two holds overlap, and no wait is longer than all holds together.
    #[test]
    fn holds_never_overlap(asks in prop::collection::vec((0_u64..1000, 1_u64..40), 1..80)) {
        let mut handed = Handed::<3>::default();
        let mut holds: Vec<(u64, u64)> = Vec::new();
        let mut sum = 0;
        for (asked, length) in asks {
            let (_, released) = held(&mut handed, asked, length);
            let start = released - length;
            prop_assert!(start >= asked);
            prop_assert!(holds.iter().all(|(other, end)| released <= *other || *end <= start));
            // A gap that is too short is skipped as a whole.
            prop_assert!(start - asked <= sum + holds.len() as u64 * length);
            holds.push((start, released));
            sum += length;
        }
    }
}
