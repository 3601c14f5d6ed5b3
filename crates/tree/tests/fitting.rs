//! Fits compared with oracles that share no code with them: brute force, closed forms, and known
//! functions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_tree::{BoostParameters, Ensemble, LEAF, LeafModel, Matrix, TreeError, fit};
use proptest::prelude::*;

/// One tree that predicts without shrinking.
fn single_tree(max_leaves: u32, leaf_model: LeafModel) -> BoostParameters {
    BoostParameters {
        rounds: 1,
        learning_rate: 1.0,
        max_leaves,
        min_samples_leaf: 1,
        ridge: 0.0,
        max_bins: 254,
        leaf_model,
        ..BoostParameters::default()
    }
}

fn fitted(rows: &[Vec<f64>], targets: &[f64], parameters: &BoostParameters) -> Ensemble {
    let values: Vec<f64> = rows.concat();
    let matrix = Matrix::new(&values, rows.len(), rows[0].len()).unwrap();
    fit(&matrix, targets, parameters).unwrap()
}

fn answers(ensemble: &Ensemble, rows: &[Vec<f64>]) -> Vec<f64> {
    let values: Vec<f64> = rows.concat();
    let matrix = Matrix::new(&values, rows.len(), rows[0].len()).unwrap();
    ensemble.predict(&matrix, 1).unwrap()
}

fn squared_error(answers: &[f64], targets: &[f64]) -> f64 {
    answers
        .iter()
        .zip(targets)
        .map(|(a, t)| (a - t).powi(2))
        .sum()
}

/// A pseudo-random value in [0, 1), computed without the crate's own code.
fn noise(number: usize) -> f64 {
    let hashed = (number as u64 + 1).wrapping_mul(0xD134_2543_DE82_EF95);
    ((hashed ^ (hashed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 11) as f64
        / (1u64 << 53) as f64
}

/// Sum of squares around the mean.
fn spread(targets: &[f64]) -> f64 {
    let mean = targets.iter().sum::<f64>() / targets.len() as f64;
    targets.iter().map(|target| (target - mean).powi(2)).sum()
}

/// Sum of squares around the straight line through (x, y), by the textbook formulas.
fn spread_around_line(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let xx: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
    let xy: f64 = points
        .iter()
        .map(|point| (point.0 - mean_x) * (point.1 - mean_y))
        .sum();
    let slope = if xx > 0.0 { xy / xx } else { 0.0 };
    let error = |point: &(f64, f64)| point.1 - mean_y - slope * (point.0 - mean_x);
    points.iter().map(|point| error(point).powi(2)).sum()
}

proptest! {
    #[test]
    fn a_stump_is_the_best_of_all_stumps(
        rows in prop::collection::vec((0i32..8, 0i32..8, -20i32..20), 2..40),
    ) {
        let features: Vec<Vec<f64>> =
            rows.iter().map(|row| vec![f64::from(row.0), f64::from(row.1)]).collect();
        let targets: Vec<f64> = rows.iter().map(|row| f64::from(row.2)).collect();
        let mut best = spread(&targets);
        for column in [0, 1] {
            for threshold in 0..8 {
                let side = |left: bool| -> Vec<f64> {
                    (0..rows.len())
                        .filter(|&row| (features[row][column] <= f64::from(threshold)) == left)
                        .map(|row| targets[row])
                        .collect()
                };
                let (left, right) = (side(true), side(false));
                if !left.is_empty() && !right.is_empty() {
                    best = best.min(spread(&left) + spread(&right));
                }
            }
        }
        let stump = fitted(&features, &targets, &single_tree(2, LeafModel::Constant));
        let error = squared_error(&answers(&stump, &features), &targets);
        prop_assert!((error - best).abs() <= 1e-9 * (1.0 + best), "{error} {best}");
    }

    #[test]
    fn a_linear_stump_is_the_best_of_all_linear_stumps(
        rows in prop::collection::vec((0i32..12, -20i32..20), 6..40),
    ) {
        let features: Vec<Vec<f64>> = rows.iter().map(|row| vec![f64::from(row.0)]).collect();
        let points: Vec<(f64, f64)> =
            rows.iter().map(|row| (f64::from(row.0), f64::from(row.1))).collect();
        let targets: Vec<f64> = points.iter().map(|point| point.1).collect();
        let best = (0..12)
            .map(|threshold| {
                let (left, right): (Vec<_>, Vec<_>) =
                    points.iter().partition(|point| point.0 <= f64::from(threshold));
                let of = |side: &[(f64, f64)]| {
                    if side.is_empty() { 0.0 } else { spread_around_line(side) }
                };
                of(&left) + of(&right)
            })
            .fold(f64::INFINITY, f64::min);
        let stump = fitted(&features, &targets, &single_tree(2, LeafModel::Linear));
        let error = squared_error(&answers(&stump, &features), &targets);
        prop_assert!((error - best).abs() <= 1e-7 * (1.0 + best), "{error} {best}");
    }

    #[test]
    fn threads_and_batches_do_not_change_a_bit(
        seed in 0usize..1000, count in 1usize..2000, threads in 1usize..5,
    ) {
        let rows: Vec<Vec<f64>> = (0..count)
            .map(|row| {
                let value = |column| match noise(seed + 7 * row + column) {
                    missing if missing < 0.1 => f64::NAN,
                    value => value,
                };
                vec![value(0), value(1), value(2)]
            })
            .collect();
        let targets: Vec<f64> = (0..count).map(|row| noise(seed + 13 * row)).collect();
        let parameters = BoostParameters { rounds: 5, ..BoostParameters::default() };
        let ensemble = fitted(&rows, &targets, &parameters);
        let values = rows.concat();
        let matrix = Matrix::new(&values, count, 3).unwrap();
        let together = ensemble.predict(&matrix, threads).unwrap();
        let one_by_one: Vec<f64> =
            rows.iter().flat_map(|row| answers(&ensemble, std::slice::from_ref(row))).collect();
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&together), bits(&one_by_one));
        prop_assert_eq!(&fitted(&rows, &targets, &parameters), &ensemble);
    }

    #[test]
    fn leaves_keep_their_least_rows_and_their_number(
        seed in 0usize..1000, least in 1u32..30, most in 1u32..10,
    ) {
        let rows: Vec<Vec<f64>> = (0..120)
            .map(|row| vec![noise(seed + row), (noise(seed + 5 * row) * 4.0).floor()])
            .collect();
        let targets: Vec<f64> = rows.iter().map(|row| (6.0 * row[0]).sin() * row[1]).collect();
        let parameters = BoostParameters {
            min_samples_leaf: least,
            ..single_tree(most, LeafModel::Constant)
        };
        let ensemble = fitted(&rows, &targets, &parameters);
        let leaves = ensemble.arrays().feature.iter().filter(|&&feature| feature == LEAF).count();
        prop_assert!(leaves <= most as usize);
        let found = answers(&ensemble, &rows);
        for answer in &found {
            let same = found.iter().filter(|other| other.to_bits() == answer.to_bits()).count();
            prop_assert!(same >= least as usize);
        }
    }

    #[test]
    fn inputs_far_outside_answer_like_the_edge(seed in 0usize..500, far in 1.0f64..1e12) {
        let rows: Vec<Vec<f64>> =
            (0..60).map(|row| vec![noise(seed + row), noise(seed + 1000 + row)]).collect();
        let targets: Vec<f64> = rows.iter().map(|row| 5.0 * row[0] - row[1] * row[0]).collect();
        let ensemble = fitted(&rows, &targets, &BoostParameters::default());
        let highest = rows.iter().map(|row| row[0]).fold(f64::MIN, f64::max);
        let lowest = rows.iter().map(|row| row[0]).fold(f64::MAX, f64::min);
        prop_assert_eq!(
            answers(&ensemble, &[vec![highest + far, 0.5], vec![lowest - far, 0.5]]),
            answers(&ensemble, &[vec![highest, 0.5], vec![lowest, 0.5]])
        );
    }
}

#[test]
fn one_linear_leaf_is_ordinary_least_squares() {
    // y = 3 + 2 a - 0.5 b exactly, so least squares must find exactly these.
    let rows: Vec<Vec<f64>> = (0..50)
        .map(|row| vec![noise(row) * 1e3, noise(99 + row) * 1e-3 + 7.0])
        .collect();
    let targets: Vec<f64> = rows
        .iter()
        .map(|row| 3.0 + 2.0 * row[0] - 0.5 * row[1])
        .collect();
    let ensemble = fitted(&rows, &targets, &single_tree(1, LeafModel::Linear));
    let arrays = ensemble.arrays();
    assert_eq!(arrays.term_feature, vec![0, 1]);
    assert!((arrays.term_coefficient[0] - 2.0).abs() < 1e-9);
    assert!((arrays.term_coefficient[1] + 0.5).abs() < 1e-6);
    assert!(squared_error(&answers(&ensemble, &rows), &targets) < 1e-18 * spread(&targets));
}

#[test]
fn a_piecewise_linear_function_is_recovered() {
    // Kinks at values of the grid, four pieces in all. The change of slope outweighs the kink, so
    // greedy growth finds the slope first and the kink exactly.
    let truth = |row: &[f64]| {
        let slope = if row[1] <= 3.0 { 1.0 } else { -20.0 };
        slope * row[0]
            + 0.25 * row[1]
            + if row[0] <= 10.0 {
                0.0
            } else {
                4.0 * (row[0] - 10.0)
            }
    };
    let rows: Vec<Vec<f64>> = (0..20)
        .flat_map(|a| (0..8).map(move |b| vec![f64::from(a), f64::from(b)]))
        .collect();
    let targets: Vec<f64> = rows.iter().map(|row| truth(row)).collect();
    let tree = fitted(&rows, &targets, &single_tree(4, LeafModel::Linear));
    // Between grid values of one piece as well as on them. Whether the row at the kink itself goes
    // left or right is a tie.
    let between: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| vec![row[0] * 0.98 + 0.05, row[1]])
        .filter(|row| row[0] < 9.0)
        .collect();
    for (answer, row) in answers(&tree, &rows).iter().zip(&rows) {
        assert!(
            (answer - truth(row)).abs() < 1e-6,
            "{row:?}: {answer} is not {}",
            truth(row)
        );
    }
    for (answer, row) in answers(&tree, &between).iter().zip(&between) {
        assert!(
            (answer - truth(row)).abs() < 1e-6,
            "{row:?}: {answer} is not {}",
            truth(row)
        );
    }
}

#[test]
fn boosting_recovers_what_one_tree_does_and_stops() {
    let rows: Vec<Vec<f64>> = (0..40).map(|row| vec![f64::from(row)]).collect();
    let targets: Vec<f64> = rows.iter().map(|row| (row[0] - 17.0).abs()).collect();
    let parameters = BoostParameters {
        rounds: 500,
        ridge: 0.0,
        max_bins: 64,
        ..BoostParameters::default()
    };
    let ensemble = fitted(&rows, &targets, &parameters);
    assert!(ensemble.trees() < 500);
    for (answer, target) in answers(&ensemble, &rows).iter().zip(&targets) {
        assert!((answer - target).abs() < 1e-6);
    }
}

#[test]
fn missing_values_go_where_they_fit() {
    // Missing rows behave like large ones; one of them has no place of its own.
    let mut rows: Vec<Vec<f64>> = (0..30).map(|row| vec![f64::from(row)]).collect();
    let mut targets: Vec<f64> = (0..30)
        .map(|row| if row < 15 { 1.0 } else { 9.0 })
        .collect();
    for _ in 0..5 {
        rows.push(vec![f64::NAN]);
        targets.push(9.0);
    }
    let right = fitted(&rows, &targets, &single_tree(2, LeafModel::Constant));
    for (answer, expected) in answers(&right, &[vec![f64::NAN], vec![3.0]])
        .iter()
        .zip([9.0, 1.0])
    {
        assert!((answer - expected).abs() < 1e-12);
    }
    // Missing rows get a value of their own if that fits better.
    targets.iter_mut().for_each(|target| *target = 2.0);
    targets[30..].fill(-4.0);
    let apart = fitted(&rows, &targets, &single_tree(2, LeafModel::Constant));
    let probes = [vec![f64::NAN], vec![3.0], vec![1e9]];
    for (answer, expected) in answers(&apart, &probes).iter().zip([-4.0, 2.0, 2.0]) {
        assert!((answer - expected).abs() < 1e-12);
    }
}

#[test]
fn a_column_of_missing_values_changes_nothing() {
    let with: Vec<Vec<f64>> = (0..40).map(|row| vec![f64::from(row), f64::NAN]).collect();
    let without: Vec<Vec<f64>> = with.iter().map(|row| vec![row[0]]).collect();
    let targets: Vec<f64> = (0..40).map(|row| noise(row) + row as f64).collect();
    let parameters = BoostParameters::default();
    assert_eq!(
        answers(&fitted(&with, &targets, &parameters), &with),
        answers(&fitted(&without, &targets, &parameters), &without)
    );
}

#[test]
fn the_seed_draws_the_rows() {
    let rows: Vec<Vec<f64>> = (0..100).map(|row| vec![noise(row)]).collect();
    let targets: Vec<f64> = (0..100).map(|row| noise(500 + row)).collect();
    let with = |seed| {
        let parameters = BoostParameters {
            row_fraction: 0.5,
            seed,
            ..BoostParameters::default()
        };
        fitted(&rows, &targets, &parameters)
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

#[test]
fn constant_targets_need_no_tree() {
    let ensemble = fitted(
        &[vec![1.0], vec![2.0]],
        &[5.0, 5.0],
        &BoostParameters::default(),
    );
    assert_eq!((ensemble.trees(), ensemble.arrays().base), (0, 5.0));
}

#[test]
fn bad_data_is_named() {
    let values = [1.0, 2.0, f64::INFINITY, 4.0];
    let refused = Matrix::new(&values, 2, 2).unwrap_err();
    assert_eq!(refused, TreeError::InfiniteFeature { row: 1, column: 0 });
    assert!(matches!(
        Matrix::new(&values[..2], 2, 2),
        Err(TreeError::Shape { .. })
    ));
    assert!(matches!(
        Matrix::new(&[], 3, 0),
        Err(TreeError::Empty { .. })
    ));
    let matrix = Matrix::new(&values[..2], 2, 1).unwrap();
    let refuse = |targets: &[f64]| fit(&matrix, targets, &BoostParameters::default()).unwrap_err();
    assert_eq!(
        refuse(&[1.0]),
        TreeError::TargetCount {
            targets: 1,
            rows: 2
        }
    );
    assert!(matches!(
        refuse(&[1.0, f64::NAN]),
        TreeError::NonFiniteTarget { row: 1, .. }
    ));
    assert!(matches!(
        refuse(&[1e300, -1e300]),
        TreeError::TooWide { .. }
    ));
    let none = Matrix::new(&[], 0, 1).unwrap();
    assert!(matches!(
        fit(&none, &[], &BoostParameters::default()),
        Err(TreeError::Empty { .. })
    ));
    let wide = Matrix::new(&[1e308, -1e308], 2, 1).unwrap();
    let refused = fit(&wide, &[1.0, 2.0], &BoostParameters::default());
    assert!(matches!(refused, Err(TreeError::TooWide { .. })));
}

#[test]
fn bad_parameters_are_named() {
    let good = BoostParameters::default();
    let bad = [
        (
            "rounds",
            BoostParameters {
                rounds: 0,
                ..good.clone()
            },
        ),
        (
            "learning_rate",
            BoostParameters {
                learning_rate: 1.5,
                ..good.clone()
            },
        ),
        (
            "max_leaves",
            BoostParameters {
                max_leaves: 0,
                ..good.clone()
            },
        ),
        (
            "min_samples_leaf",
            BoostParameters {
                min_samples_leaf: 0,
                ..good.clone()
            },
        ),
        (
            "ridge",
            BoostParameters {
                ridge: f64::NAN,
                ..good.clone()
            },
        ),
        (
            "max_bins",
            BoostParameters {
                max_bins: 255,
                ..good.clone()
            },
        ),
        (
            "row_fraction",
            BoostParameters {
                row_fraction: 0.0,
                ..good
            },
        ),
    ];
    let matrix = Matrix::new(&[1.0, 2.0], 2, 1).unwrap();
    for (expected, parameters) in bad {
        match fit(&matrix, &[1.0, 2.0], &parameters) {
            Err(TreeError::Parameter { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}
