//! Arrays from outside: what is no ensemble is refused, what is one answers as it says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_tree::{Ensemble, EnsembleArrays, LEAF, Matrix, TreeError};
use proptest::prelude::*;

/// `x0 <= 2 ? 10 : 20 + 3 * (clamp(x1, 0, 5) - 1)`, missing x0 right, plus 100.
fn one_split() -> EnsembleArrays {
    EnsembleArrays {
        columns: 2,
        base: 100.0,
        roots: vec![0],
        feature: vec![0, LEAF, LEAF],
        threshold: vec![2.0, 0.0, 0.0],
        left: vec![1, 0, 0],
        right: vec![2, 0, 0],
        missing_left: vec![false; 3],
        value: vec![0.0, 10.0, 20.0],
        terms: vec![0, 0, 1],
        term_feature: vec![1],
        term_coefficient: vec![3.0],
        term_centre: vec![1.0],
        term_low: vec![0.0],
        term_high: vec![5.0],
    }
}

#[test]
fn arrays_answer_as_documented() {
    let ensemble = Ensemble::from_arrays(one_split()).unwrap();
    let nan = f64::NAN;
    let rows = [2.0, 9.0, 2.1, 3.0, 2.1, 9.0, nan, -4.0, 5.0, nan];
    let answers = ensemble
        .predict(&Matrix::new(&rows, 5, 2).unwrap(), 1)
        .unwrap();
    assert_eq!(answers, vec![110.0, 126.0, 132.0, 117.0, 120.0]);
    assert_eq!(ensemble.arrays(), &one_split());
}

#[test]
fn another_number_of_columns_is_refused() {
    let ensemble = Ensemble::from_arrays(one_split()).unwrap();
    let refused = ensemble
        .predict(&Matrix::new(&[1.0], 1, 1).unwrap(), 1)
        .unwrap_err();
    assert_eq!(
        refused,
        TreeError::ColumnCount {
            expected: 2,
            columns: 1
        }
    );
}

#[test]
fn an_ensemble_may_have_no_trees() {
    let arrays = EnsembleArrays {
        columns: 1,
        base: 4.0,
        ..EnsembleArrays::default()
    };
    let ensemble = Ensemble::from_arrays(arrays).unwrap();
    assert_eq!(
        ensemble
            .predict(&Matrix::new(&[1.0], 1, 1).unwrap(), 3)
            .unwrap(),
        vec![4.0]
    );
}

#[test]
fn contradictions_are_refused() {
    type Damage = fn(&mut EnsembleArrays);
    let damages: [(&str, Damage); 16] = [
        ("threshold has", |a| a.threshold.truncate(1)),
        ("term_low has", |a| a.term_low.clear()),
        ("state 2 terms", |a| a.terms[2] = 2),
        ("base is not finite", |a| a.base = f64::NAN),
        ("no columns", |a| a.columns = 0),
        ("term 0 is not finite", |a| a.term_high[0] = f64::INFINITY),
        ("has no range", |a| a.term_low[0] = 6.0),
        ("term 0 names a feature", |a| a.term_feature[0] = 2),
        ("roots are not ascending", |a| a.roots = vec![1]),
        ("no roots", |a| a.roots.clear()),
        ("after the last node", |a| a.roots.push(3)),
        ("node 1 is not finite", |a| a.value[1] = f64::NAN),
        ("splits on a feature", |a| a.feature[0] = 2),
        ("child outside its tree", |a| a.left[0] = 0),
        ("two parents", |a| a.right[0] = 1),
        ("has no parent", |a| a.feature[0] = LEAF),
    ];
    for (expected, damage) in damages {
        let mut arrays = one_split();
        damage(&mut arrays);
        match Ensemble::from_arrays(arrays) {
            Err(TreeError::Malformed { reason }) => {
                assert!(
                    reason.contains(expected),
                    "{reason} is not about {expected}"
                );
            }
            other => panic!("{expected}: {other:?}"),
        }
    }
}

proptest! {
    /// Whatever the arrays say: an error, or an ensemble that answers and ends.
    #[test]
    fn any_arrays_are_refused_or_answer(
        roots in prop::collection::vec(0u32..8, 0..3),
        nodes in prop::collection::vec((-2i32..4, 0u32..8, 0u32..8, 0u32..2), 0..8),
        terms in prop::collection::vec(0u32..4, 0..4),
    ) {
        let arrays = EnsembleArrays {
            columns: 3,
            base: 0.0,
            roots,
            feature: nodes.iter().map(|node| node.0).collect(),
            threshold: vec![0.5; nodes.len()],
            left: nodes.iter().map(|node| node.1).collect(),
            right: nodes.iter().map(|node| node.2).collect(),
            missing_left: vec![true; nodes.len()],
            value: vec![1.0; nodes.len()],
            terms: nodes.iter().map(|node| node.3).collect(),
            term_coefficient: vec![1.0; terms.len()],
            term_centre: vec![0.0; terms.len()],
            term_low: vec![-1.0; terms.len()],
            term_high: vec![1.0; terms.len()],
            term_feature: terms,
        };
        if let Ok(ensemble) = Ensemble::from_arrays(arrays) {
            let rows = [0.0, 1.0, f64::NAN, 9.0, -9.0, 0.5];
            let answers = ensemble.predict(&Matrix::new(&rows, 2, 3).unwrap(), 2).unwrap();
            prop_assert!(answers.iter().all(|answer| answer.is_finite()));
        }
    }
}
