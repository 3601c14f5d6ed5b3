//! Caches and runs of lines against closed forms and a simpler second cache.

use drivelab_processor::cache::{AtHand, Cache, lines_of};
use drivelab_processor::streams::Streams;
use proptest::prelude::*;

#[test]
fn as_many_lines_as_fit_stay() {
    let mut cache = Cache::new(4, 2);
    let mut meet = |line| {
        let held = cache.use_line(line).is_some();
        if !held {
            cache.insert(line, false);
        }
        held
    };
    assert!((0..8).all(|line| !meet(line)));
    assert!((0..8).all(&mut meet));
    // One line more than fits in each set: each access removes the line used longest ago.
    for turn in 0..3 {
        let held = (0..12).filter(|&line| meet(line)).count();
        assert_eq!(held, if turn == 0 { 8 } else { 0 });
    }
}

#[test]
fn an_access_may_touch_two_lines() {
    assert_eq!(lines_of(60, 4), (0, 0));
    assert_eq!(lines_of(60, 5), (0, 1));
    assert_eq!(
        lines_of(0x5500_0000_0000_0040, 8),
        (1, 1),
        "the top byte is a tag"
    );
}

#[test]
fn another_writer_takes_a_line() {
    let mut cache = Cache::new(1, 2);
    cache.insert(5, true);
    cache.insert(6, false);
    assert!(cache.look(5).is_some_and(|held| held.exclusive));
    assert!(cache.look(6).is_some_and(|held| !held.exclusive));
    cache.set_exclusive(5, false);
    assert!(cache.look(5).is_some_and(|held| !held.exclusive));
    cache.remove(5);
    assert_eq!(cache.look(5), None);
    // Its place is taken first.
    cache.insert(7, false);
    assert!(cache.look(6).is_some());
}

#[test]
fn lines_in_a_row_are_seen_coming() {
    let mut streams = Streams::new(2, 3);
    let met: Vec<bool> = (100..106).map(|line| streams.meet(line)).collect();
    assert_eq!(met, [false, false, false, true, true, true]);
    let down: Vec<bool> = (90..94).rev().map(|line| streams.meet(line)).collect();
    assert_eq!(down, [false, false, false, true]);
    assert!(!streams.meet(91), "it does not turn");
    let mut streams = Streams::new(2, 3);
    assert!((100..106).filter(|&line| streams.meet(line)).count() == 3);
    // Two at a time; a third takes the place of the one used longest ago.
    assert!(!streams.meet(200));
    assert!(!streams.meet(300));
    assert!(!streams.meet(106));
}

/// A set as a list with the most recently used line first.
fn plain(ways: usize, sets: u64, lines: &[u64]) -> Vec<bool> {
    let mut held = vec![Vec::new(); sets as usize];
    let mut meet = |&line: &u64| {
        let set: &mut Vec<u64> = &mut held[(line % sets) as usize];
        let found = set.iter().position(|held| *held == line);
        if let Some(found) = found {
            set.remove(found);
        }
        set.insert(0, line);
        set.truncate(ways);
        found.is_some()
    };
    lines.iter().map(&mut meet).collect()
}

proptest! {
    #[test]
    fn as_a_list(ways in 1_usize..6, sets in 0_u32..4, lines in prop::collection::vec(0_u64..64, 1..300)) {
        let sets = 1_u64 << sets;
        let mut cache = Cache::new(sets as usize, ways);
        let met: Vec<bool> = lines.iter().map(|&line| {
            let held = cache.use_line(line).is_some();
            if !held {
                cache.insert(line, line.is_multiple_of(2));
            }
            held
        }).collect();
        prop_assert_eq!(met, plain(ways, sets, &lines));
    }

    /// Lines at hand are not looked up, and misses and contents stay the same.
    #[test]
    fn what_is_at_hand_changes_nothing(
        accesses in prop::collection::vec((0_u64..24, any::<bool>()), 1..400)
    ) {
        let mut cache = Cache::new(4, 2);
        let mut at_hand = AtHand::default();
        let lines: Vec<u64> = accesses.iter().map(|(line, _)| *line).collect();
        let met: Vec<bool> = accesses.iter().map(|&(line, store)| {
            if at_hand.is(line, store) {
                return true;
            }
            at_hand.take(line, store, &cache);
            let held = cache.use_line(line).is_some();
            if !held {
                cache.insert(line, false);
            }
            held
        }).collect();
        prop_assert_eq!(met, plain(2, 4, &lines));
    }
}
