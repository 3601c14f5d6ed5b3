//! What predictors can learn, and what no predictor can.

use drivelab_processor::predict::Directions;
use drivelab_processor::predict::pattern::PatternTable;
use drivelab_processor::predict::places::{IndirectPlaces, Returns};
use drivelab_processor::predict::tagged::TaggedTables;

/// Mispredictions in the last half of `count` branches.
fn wrong(predictor: &mut impl Directions, count: usize, way: impl Fn(usize) -> bool) -> usize {
    let right: Vec<bool> = (0..count)
        .map(|number| predictor.meet(0x4000, way(number)))
        .collect();
    right[count / 2..].iter().filter(|right| !**right).count()
}

fn both() -> [(&'static str, Box<dyn Directions>); 2] {
    [
        ("pattern", Box::new(PatternTable::new(3072, 8))),
        (
            "tagged",
            Box::new(TaggedTables::new(8192, 1024, &[4, 10, 25, 62])),
        ),
    ]
}

struct Boxed(Box<dyn Directions>);

impl Directions for Boxed {
    fn meet(&mut self, address: u64, taken: bool) -> bool {
        self.0.meet(address, taken)
    }
}

/// Bits without a rule that a history of some branches could find.
fn drawn(number: usize) -> bool {
    let mut mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) & 1 == 1
}

#[test]
fn rules_are_learnt_and_chance_is_not() {
    for (name, predictor) in both() {
        let mut predictor = Boxed(predictor);
        assert_eq!(wrong(&mut predictor, 2000, |_| true), 0, "{name}: always");
        assert_eq!(
            wrong(&mut predictor, 2000, |number| number.is_multiple_of(2)),
            0,
            "{name}: in turn"
        );
        assert_eq!(
            wrong(&mut predictor, 4000, |number| number.is_multiple_of(5)),
            0,
            "{name}: one in five"
        );
        let of_chance = wrong(&mut predictor, 20_000, drawn);
        assert!(
            (4500..5500).contains(&of_chance),
            "{name}: {of_chance} of 10,000 by chance"
        );
    }
}

/// Host and target differ in kind: a rule of 40 branches is beyond the target's history.
#[test]
fn long_rules_are_learnt_by_the_host_alone() {
    let [(_, pattern), (_, tagged)] = both();
    let rule = |number: usize| number.is_multiple_of(40);
    assert_eq!(wrong(&mut Boxed(tagged), 40_000, rule), 0);
    assert!(wrong(&mut Boxed(pattern), 40_000, rule) >= 400);
}

#[test]
fn returns_are_known_as_deep_as_they_are_kept() {
    let mut returns = Returns::new(8);
    for depth in 1..=8 {
        returns.call(depth);
    }
    assert!((1..=8).rev().all(|depth| returns.meet(depth)));
    for depth in 1..=10 {
        returns.call(depth);
    }
    let right: Vec<bool> = (1..=10).rev().map(|depth| returns.meet(depth)).collect();
    assert_eq!(right.iter().filter(|right| **right).count(), 8);
}

#[test]
fn an_indirect_branch_goes_where_it_went() {
    let mut places = IndirectPlaces::new(256);
    let wrong = |places: &mut IndirectPlaces, to: &[u64]| {
        (0..1000)
            .filter(|number| !places.meet(0x8000, to[number % to.len()]))
            .count()
    };
    assert!(wrong(&mut places, &[0x100]) <= 8);
    assert!(wrong(&mut places, &[0x100, 0x204, 0x30c]) <= 20, "in turn");
}
