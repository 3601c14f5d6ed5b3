//! Arrays from outside: invalid ones are refused, and valid ones predict as documented.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_tree::{BoostParameters, Ensemble, EnsembleArrays, LEAF, Matrix, TreeError, fit};
use proptest::prelude::*;

/// The documentation of [`EnsembleArrays`], implemented word by word.
fn documented_answer(arrays: &EnsembleArrays, row: &[f64]) -> f64 {
    let mut prediction = arrays.base;
    for &root in &arrays.roots {
        let mut node = root as usize;
        while arrays.feature[node] != LEAF {
            let x = row[arrays.feature[node] as usize];
            let count = arrays
                .categories
                .get(node)
                .map_or(0, |&count| count as usize);
            let below = if count == 0 {
                x <= arrays.threshold[node]
            } else {
                let first: u32 = arrays.categories[..node].iter().sum();
                arrays.category[first as usize..][..count].contains(&x)
            };
            let left = below || (x.is_nan() && arrays.missing_left[node]);
            node = if left {
                arrays.left[node]
            } else {
                arrays.right[node]
            } as usize;
        }
        let first: u32 = arrays.terms[..node].iter().sum();
        let mut answer = arrays.value[node];
        for term in (first..first + arrays.terms[node]).map(|term| term as usize) {
            let x = row[arrays.term_feature[term] as usize];
            if !x.is_nan() {
                let clamped = x.clamp(arrays.term_low[term], arrays.term_high[term]);
                answer += arrays.term_coefficient[term] * (clamped - arrays.term_centre[term]);
            }
        }
        prediction += answer;
    }
    prediction
}

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
        ..EnsembleArrays::default()
    }
}

/// If x0 is 1 or 4 it goes left; all other values and missing ones go right.
fn one_parting() -> EnsembleArrays {
    EnsembleArrays {
        categories: vec![2, 0, 0],
        category: vec![1.0, 4.0],
        ..one_split()
    }
}

#[test]
fn categories_answer_as_documented() {
    let ensemble = Ensemble::from_arrays(one_parting()).unwrap();
    let nan = f64::NAN;
    let rows = [1.0, 9.0, 4.0, nan, 2.0, 3.0, nan, 3.0, -7.0, nan];
    let answers = ensemble
        .predict(&Matrix::new(&rows, 5, 2).unwrap(), 1)
        .unwrap();
    assert_eq!(answers, vec![110.0, 110.0, 126.0, 126.0, 120.0]);
    assert_eq!(ensemble.arrays(), &one_parting());
}

/// Reverses the terms of every leaf.
fn turn_terms(arrays: &mut EnsembleArrays) {
    let mut start = 0;
    for &count in &arrays.terms {
        let end = start + count as usize;
        arrays.term_feature[start..end].reverse();
        arrays.term_coefficient[start..end].reverse();
        arrays.term_centre[start..end].reverse();
        arrays.term_low[start..end].reverse();
        arrays.term_high[start..end].reverse();
        start = end;
    }
}

/// A chain of splits at 0, 1, 2 ..: more thresholds on a column than a byte can count.
#[test]
fn very_many_thresholds_answer_as_documented() {
    let splits = 300;
    let mut arrays = EnsembleArrays {
        columns: 1,
        ..EnsembleArrays::default()
    };
    for split in 0..splits {
        arrays.roots.push(3 * split);
        arrays.feature.extend([0, LEAF, LEAF]);
        arrays.threshold.extend([f64::from(split), 0.0, 0.0]);
        arrays.left.extend([3 * split + 1, 0, 0]);
        arrays.right.extend([3 * split + 2, 0, 0]);
        arrays.missing_left.extend([split % 2 == 0, false, false]);
        arrays.value.extend([0.0, 1.0, 0.0]);
        arrays.terms.extend([0; 3]);
    }
    let rows = [-1.0, 0.0, 100.5, 299.0, 300.0, f64::NAN];
    let features = Matrix::new(&rows, 6, 1).unwrap();
    let answers = Ensemble::from_arrays(arrays)
        .unwrap()
        .predict(&features, 1)
        .unwrap();
    assert_eq!(answers, vec![300.0, 300.0, 199.0, 1.0, 0.0, 150.0]);
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
    let damages: [(&str, Damage); 21] = [
        ("categories has", |a| a.categories.truncate(1)),
        ("state 3 categories", |a| a.categories[0] = 3),
        ("category is not finite", |a| a.category[1] = f64::NAN),
        ("leaf but has categories", |a| a.categories.rotate_right(1)),
        ("threshold has", |a| a.threshold.truncate(1)),
        ("term_low has", |a| a.term_low.clear()),
        ("state 2 terms", |a| a.terms[2] = 2),
        ("base is not finite", |a| a.base = f64::NAN),
        ("no columns", |a| a.columns = 0),
        ("more than 65536 columns", |a| a.columns = u32::MAX),
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
        ("has no parent", |a| {
            a.feature[0] = LEAF;
            a.categories.clear();
            a.category.clear();
        }),
    ];
    for (expected, damage) in damages {
        let mut arrays = one_parting();
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
    /// For any number of leaves, thresholds and rows: the documented prediction, to the bit.
    #[test]
    fn answers_are_the_documented_ones(
        cells in prop::collection::vec((0u32..9, -40i32..40), 40..400),
        leaves in 1u32..14, bins in 2u32..40, columns in 1usize..5, turned in any::<bool>(),
    ) {
        let values: Vec<f64> = cells
            .iter()
            .map(|&(kind, value)| if kind == 0 { f64::NAN } else { f64::from(value) / 7.0 })
            .collect();
        let rows = values.len() / columns;
        let features = Matrix::new(&values[..rows * columns], rows, columns).unwrap();
        let targets: Vec<f64> = cells[..rows].iter().map(|cell| f64::from(cell.1 * cell.1)).collect();
        let parameters = BoostParameters {
            rounds: 6, max_leaves: leaves, max_bins: bins, min_samples_leaf: 1,
            ..BoostParameters::default()
        };
        let mut arrays = fit(&features, &targets, &parameters).unwrap().arrays().clone();
        if turned {
            turn_terms(&mut arrays);
        }
        let answers = Ensemble::from_arrays(arrays.clone()).unwrap().predict(&features, 1).unwrap();
        for (answer, row) in answers.iter().zip(features.iter()) {
            prop_assert_eq!(answer.to_bits(), documented_answer(&arrays, row).to_bits());
        }
    }

    /// Any arrays give an error, or an ensemble that predicts and ends.
    #[test]
    fn any_arrays_are_refused_or_answer(
        roots in prop::collection::vec(0u32..8, 0..3),
        nodes in prop::collection::vec((-2i32..4, 0u32..8, 0u32..8, 0u32..2), 0..8),
        categories in prop::collection::vec(0u32..3, 0..8),
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
            category: vec![0.5; categories.iter().sum::<u32>() as usize],
            categories,
        };
        if let Ok(ensemble) = Ensemble::from_arrays(arrays) {
            let rows = [0.0, 1.0, f64::NAN, 9.0, -9.0, 0.5];
            let answers = ensemble.predict(&Matrix::new(&rows, 2, 3).unwrap(), 2).unwrap();
            prop_assert!(answers.iter().all(|answer| answer.is_finite()));
        }
    }
}
