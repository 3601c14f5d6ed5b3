//! One tree with linear leaves: the columns that its tests choose, the fits of its leaves, and what
//! its pruning keeps.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_tree::{GuideParameters, GuideTree, LEAF, Loss, Matrix, TreeError, fit_guide};
use proptest::prelude::*;

/// Values of a hash between 0 and 1.
fn noise(seed: u64) -> f64 {
    let hashed = (seed + 1).wrapping_mul(0xD134_2543_DE82_EF95);
    let hashed = (hashed ^ (hashed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let hashed = (hashed ^ (hashed >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((hashed ^ (hashed >> 30)) >> 11) as f64 / (1u64 << 53) as f64
}

/// About normal: the sum of twelve.
fn normal(seed: u64) -> f64 {
    (0..12).map(|part| noise(12 * seed + part)).sum::<f64>() - 6.0
}

#[derive(Clone)]
struct Data {
    values: Vec<f64>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    categorical: Vec<bool>,
}

impl Data {
    fn new(rows: &[Vec<f64>], targets: &[f64]) -> Self {
        Self {
            values: rows.concat(),
            targets: targets.to_vec(),
            weights: vec![1.0; rows.len()],
            categorical: vec![false; rows[0].len()],
        }
    }

    fn fit(&self, parameters: &GuideParameters) -> Result<GuideTree, TreeError> {
        self.fit_on(parameters, 1)
    }

    fn fit_on(&self, parameters: &GuideParameters, threads: usize) -> Result<GuideTree, TreeError> {
        let columns = self.categorical.len();
        let matrix = Matrix::new(&self.values, self.targets.len(), columns)?;
        fit_guide(
            &matrix,
            &self.targets,
            &self.weights,
            &self.categorical,
            parameters,
            threads,
        )
    }
}

fn answers(tree: &GuideTree, rows: &[Vec<f64>]) -> Vec<f64> {
    let values = rows.concat();
    let matrix = Matrix::new(&values, rows.len(), rows[0].len()).unwrap();
    tree.ensemble.predict(&matrix, 1).unwrap()
}

fn leaves(tree: &GuideTree) -> usize {
    let features = &tree.ensemble.arrays().feature;
    features.iter().filter(|&&feature| feature == LEAF).count()
}

fn unpruned(max_depth: u32, min_samples_leaf: u32) -> GuideParameters {
    GuideParameters {
        max_depth,
        min_samples_leaf,
        folds: 0,
        ..GuideParameters::default()
    }
}

/// Two planes that do not meet.
fn plane(x: &[f64]) -> f64 {
    if x[0] <= 0.4 {
        2.0 + 3.0 * x[1]
    } else {
        9.0 - 2.0 * x[0] - x[1]
    }
}

/// Rows from them, with a column that does nothing.
fn two_planes(count: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let rows: Vec<Vec<f64>> = (0..count as u64)
        .map(|row| (0..3).map(|column| noise(3 * row + column)).collect())
        .collect();
    let targets = rows.iter().map(|x| plane(x)).collect();
    (rows, targets)
}

#[test]
fn planes_are_found_and_nothing_else() {
    // Two hundred values of x0, each with its own bin, so that the edge is exact.
    let (mut rows, _) = two_planes(2000);
    rows.iter_mut()
        .for_each(|x| x[0] = (x[0] * 200.0).floor() / 200.0);
    let targets: Vec<f64> = rows.iter().map(|x| plane(x)).collect();
    let parameters = GuideParameters {
        max_bins: 254,
        ..GuideParameters::default()
    };
    let tree = Data::new(&rows, &targets).fit(&parameters).unwrap();
    for (answer, target) in answers(&tree, &rows).iter().zip(&targets) {
        assert!((answer - target).abs() < 1e-8);
    }
    assert_eq!(tree.ensemble.arrays().feature[0], 0);
    assert!(leaves(&tree) <= 4);
    assert!(tree.importances[2] < 1e-9);
    assert!((tree.importances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn a_plane_needs_no_split() {
    let rows: Vec<Vec<f64>> = (0..300)
        .map(|row| vec![noise(row), noise(row + 999)])
        .collect();
    let noisy: Vec<f64> = rows
        .iter()
        .zip(0..)
        .map(|(x, row)| 4.0 + 2.0 * x[0] - 7.0 * x[1] + 0.1 * normal(row))
        .collect();
    let parameters = GuideParameters {
        standard_errors: 0.5,
        ..GuideParameters::default()
    };
    let tree = Data::new(&rows, &noisy).fit(&parameters).unwrap();
    assert_eq!(leaves(&tree), 1);
    let exact: Vec<f64> = rows.iter().map(|x| 4.0 + 2.0 * x[0] - 7.0 * x[1]).collect();
    let tree = Data::new(&rows, &exact).fit(&parameters).unwrap();
    assert_eq!(leaves(&tree), 1);
    for (answer, target) in answers(&tree, &rows).iter().zip(&exact) {
        assert!((answer - target).abs() < 1e-9);
    }
}

/// Neither column is informative alone, but the quadrants are.
#[test]
fn an_interaction_is_seen() {
    let rows: Vec<Vec<f64>> = (0..400)
        .map(|row| vec![noise(row) - 0.5, noise(row + 7777) - 0.5, noise(row + 5555)])
        .collect();
    let targets: Vec<f64> = rows
        .iter()
        .zip(0..)
        .map(|(x, row)| (x[0] * x[1]).signum() + 0.5 * normal(row))
        .collect();
    let tree = Data::new(&rows, &targets)
        .fit(&GuideParameters::default())
        .unwrap();
    assert!(tree.nodes[0].by_interaction);
    assert!([0, 1].contains(&tree.ensemble.arrays().feature[0]));
    assert!(leaves(&tree) >= 4);
}

/// How often each column of pure noise is chosen. `columns` gives the number of values of each.
fn chosen_of_noise(trees: u64, columns: &[(f64, bool)], loss: Loss) -> Vec<f64> {
    let mut chosen = vec![0.0; columns.len()];
    for seed in 0..trees {
        let place = |row: u64, column: usize| (seed * 200 + row) * 7 + column as u64;
        let rows: Vec<Vec<f64>> = (0..200)
            .map(|row| {
                let draw = |(column, &(values, _)): (usize, &(f64, bool))| {
                    (values * noise(place(row, column))).floor()
                };
                columns.iter().enumerate().map(draw).collect()
            })
            .collect();
        let targets: Vec<f64> = (0..200).map(|row| normal(place(row, 6))).collect();
        let mut data = Data::new(&rows, &targets);
        data.categorical = columns.iter().map(|column| column.1).collect();
        let parameters = GuideParameters {
            loss,
            ..unpruned(1, 5)
        };
        let tree = data.fit(&parameters).unwrap();
        let feature = tree.ensemble.arrays().feature[0];
        chosen[usize::try_from(feature).expect("noise is split too")] += 1.0;
    }
    chosen
}

/// Columns of pure noise: two, four, ten and very many values, three and eight categories.
///
/// If none of k columns is preferred, each is chosen n / k times in n trees, with a standard
/// deviation of √(n / k (1 - 1 / k)): 12.9 of 200, 8.8 of 100. Five deviations are allowed. Chance
/// exceeds that for six columns once in 300,000 tries, and a column preferred by a third would not
/// pass.
#[test]
fn columns_of_noise_are_chosen_equally_often() {
    let number = [2.0, 4.0, 10.0, 1e9].map(|values| (values, false));
    let category = [3.0, 8.0].map(|values| (values, true));
    let all = [&number[..], &category].concat();
    // For a column with two values, a quantile fit balances the signs of both, so nothing is left
    // to test.
    let without_two = &all[1..];
    for (columns, trees, loss) in [
        (&all[..], 1200, Loss::Squared),
        (without_two, 500, Loss::Quantile(0.5)),
    ] {
        let chosen = chosen_of_noise(trees, columns, loss);
        let share = 1.0 / columns.len() as f64;
        let expected = trees as f64 * share;
        let deviation = (expected * (1.0 - share)).sqrt();
        for (column, count) in chosen.iter().enumerate() {
            assert!(
                (count - expected).abs() < 5.0 * deviation,
                "column {column} of {chosen:?}"
            );
        }
    }
}

#[test]
fn missing_values_go_where_they_fit() {
    // Missing rows behave like large ones, then like nothing else.
    let mut rows: Vec<Vec<f64>> = (0..60).map(|row| vec![f64::from(row)]).collect();
    let mut targets: Vec<f64> = (0..60)
        .map(|row| if row < 30 { 1.0 } else { 9.0 })
        .collect();
    for row in 0..10 {
        rows.push(vec![f64::NAN]);
        targets.push(9.0 + 0.01 * f64::from(row % 2));
    }
    let tree = Data::new(&rows, &targets).fit(&unpruned(1, 5)).unwrap();
    assert!(!tree.ensemble.arrays().missing_left[0]);
    assert_eq!(tree.ensemble.arrays().threshold[0], 29.5);
    targets[..60].fill(2.0);
    targets[60..].fill(-4.0);
    let apart = Data::new(&rows, &targets).fit(&unpruned(1, 5)).unwrap();
    let probes = [vec![f64::NAN], vec![3.0], vec![1e9]];
    for (answer, expected) in answers(&apart, &probes).iter().zip([-4.0, 2.0, 2.0]) {
        assert!((answer - expected).abs() < 1e-9);
    }
}

#[test]
fn categories_part_and_unknown_ones_go_to_the_heavier_side() {
    // Categories 1, 4 and 9 rise with x, the others fall.
    let rows: Vec<Vec<f64>> = (0..200)
        .map(|row| vec![[1.0, 4.0, 9.0, 2.0, 7.0][row as usize % 5], noise(row)])
        .collect();
    let slope = |category: f64| {
        if [1.0, 4.0, 9.0].contains(&category) {
            5.0
        } else {
            -5.0
        }
    };
    let targets: Vec<f64> = rows.iter().map(|x| slope(x[0]) * x[1]).collect();
    let mut data = Data::new(&rows, &targets);
    data.categorical = vec![true, false];
    let tree = data.fit(&GuideParameters::default()).unwrap();
    let arrays = tree.ensemble.arrays();
    assert_eq!(leaves(&tree), 2);
    assert_eq!((arrays.feature[0], &arrays.category), (0, &vec![2.0, 7.0]));
    assert_eq!(arrays.categories, vec![2, 0, 0]);
    let probes = [
        vec![7.0, 0.5],
        vec![9.0, 0.5],
        vec![5.0, 0.5],
        vec![f64::NAN, 0.5],
    ];
    for (answer, expected) in answers(&tree, &probes).iter().zip([-2.5, 2.5, 2.5, 2.5]) {
        assert!((answer - expected).abs() < 1e-9);
    }
}

#[test]
fn a_quantile_lies_above_its_share_of_the_rows() {
    let rows: Vec<Vec<f64>> = (0..2000).map(|row| vec![noise(row)]).collect();
    // The spread grows with x, so that quantiles are lines of other slopes.
    let targets: Vec<f64> = (0..2000)
        .map(|row| rows[row as usize][0] * (1.0 + normal(row + 50_000)))
        .collect();
    for quantile in [0.1, 0.5, 0.9] {
        let parameters = GuideParameters {
            loss: Loss::Quantile(quantile),
            standard_errors: 0.5,
            ..GuideParameters::default()
        };
        let tree = Data::new(&rows, &targets).fit(&parameters).unwrap();
        let below = answers(&tree, &rows)
            .iter()
            .zip(&targets)
            .filter(|(answer, target)| target < answer)
            .count();
        // A leaf's fit goes through as many rows as it has coefficients.
        let slack = 2 * leaves(&tree);
        assert!(
            below.abs_diff((2000.0 * quantile) as usize) <= slack,
            "{below} at {quantile}"
        );
    }
}

#[test]
fn threads_and_order_change_nothing() {
    let (rows, targets) = two_planes(300);
    let noisy: Vec<f64> = targets
        .iter()
        .zip(0..)
        .map(|(t, row)| t + normal(row))
        .collect();
    let data = Data::new(&rows, &noisy);
    let tree = data.fit(&GuideParameters::default()).unwrap();
    for threads in [2, 3, 16] {
        assert_eq!(
            data.fit_on(&GuideParameters::default(), threads).unwrap(),
            tree
        );
    }
    let turned: Vec<Vec<f64>> = rows.iter().rev().cloned().collect();
    let targets: Vec<f64> = noisy.iter().rev().copied().collect();
    let of_turned = Data::new(&turned, &targets).fit(&GuideParameters::default());
    assert_eq!(of_turned.unwrap(), tree);
}

#[test]
fn odd_data_gives_an_answer() {
    let answer = |rows: &[Vec<f64>], targets: &[f64], probe: f64| {
        let mut parameters = GuideParameters::default();
        let mut found = Vec::new();
        for loss in [Loss::Squared, Loss::Quantile(0.5)] {
            parameters.loss = loss;
            let tree = Data::new(rows, targets).fit(&parameters).unwrap();
            found.push(answers(&tree, &[vec![probe; rows[0].len()]])[0]);
        }
        found
    };
    assert_eq!(answer(&[vec![3.0]], &[7.0], 3.0), [7.0, 7.0]);
    let constant: Vec<Vec<f64>> = (0..100).map(|row| vec![f64::from(row)]).collect();
    assert_eq!(answer(&constant, &[5.0; 100], 3.0), [5.0, 5.0]);
    let missing = vec![vec![f64::NAN, f64::NAN]; 100];
    let halves: Vec<f64> = (0..100).map(|row| f64::from(row % 2)).collect();
    let [mean, median] = answer(&missing, &halves, f64::NAN)[..] else {
        panic!("two losses");
    };
    assert!((mean - 0.5).abs() < 1e-12 && (0.0..=1.0).contains(&median));
    let repeated = vec![vec![1.0, 2.0]; 100];
    assert_eq!(answer(&repeated, &[6.0; 100], 1.0), [6.0, 6.0]);
}

#[test]
fn bad_data_and_parameters_are_named() {
    let (rows, targets) = two_planes(50);
    let named = |change: fn(&mut Data, &mut GuideParameters)| {
        let mut data = Data::new(&rows, &targets);
        let mut parameters = GuideParameters::default();
        change(&mut data, &mut parameters);
        data.fit(&parameters).unwrap_err().to_string()
    };
    type Change = fn(&mut Data, &mut GuideParameters);
    let cases: [(&str, Change); 13] = [
        ("weight 3 is -1", |data, _| data.weights[3] = -1.0),
        ("weight 0 is NaN", |data, _| data.weights[0] = f64::NAN),
        ("all weights are 0", |data, _| data.weights.fill(0.0)),
        ("49 weights", |data, _| data.weights.truncate(49)),
        ("target 2 is inf", |data, _| data.targets[2] = f64::INFINITY),
        ("targets spread", |data, _| data.targets[2] = 1e300),
        ("fitted to 2 columns", |data, _| {
            data.categorical.truncate(2)
        }),
        ("quantile is 1", |_, p| p.loss = Loss::Quantile(1.0)),
        ("quantile is NaN", |_, p| p.loss = Loss::Quantile(f64::NAN)),
        ("min_samples_leaf is 0", |_, p| p.min_samples_leaf = 0),
        ("folds is 1", |_, p| p.folds = 1),
        ("max_bins is 255", |_, p| p.max_bins = 255),
        ("standard_errors is -1", |_, p| p.standard_errors = -1.0),
    ];
    for (expected, change) in cases {
        // `categorical` also gives the number of columns.
        let message = if expected.starts_with("fitted") {
            let matrix = Matrix::new(&[1.0, 2.0, 3.0], 1, 3).unwrap();
            let refused = fit_guide(
                &matrix,
                &[1.0],
                &[1.0],
                &[false; 2],
                &GuideParameters::default(),
                1,
            );
            refused.unwrap_err().to_string()
        } else {
            named(change)
        };
        assert!(message.contains(expected), "{message}");
    }
    let many: Vec<Vec<f64>> = (0..300).map(|row| vec![f64::from(row)]).collect();
    let mut data = Data::new(&many, &vec![1.0; 300]);
    data.categorical = vec![true];
    let refused = data.fit(&GuideParameters::default());
    assert!(matches!(
        refused,
        Err(TreeError::Categories {
            categories: 300,
            ..
        })
    ));
}

proptest! {
    /// A weight is a number of repetitions, to the byte, wherever the repetitions are.
    #[test]
    fn weights_are_repetitions(
        cells in prop::collection::vec((0u32..6, -9i32..9, -20i32..20, 0u32..4), 30..90),
        median in any::<bool>(),
    ) {
        let row = |cell: &(u32, i32, i32, u32)| {
            let number = if cell.0 == 0 { f64::NAN } else { f64::from(cell.1) };
            vec![f64::from(cell.0), number]
        };
        let rows: Vec<Vec<f64>> = cells.iter().map(row).collect();
        let targets: Vec<f64> = cells.iter().map(|cell| f64::from(cell.2)).collect();
        let mut weighted = Data::new(&rows, &targets);
        weighted.weights = cells.iter().map(|cell| f64::from(cell.3)).collect();
        weighted.categorical = vec![true, false];
        let mut repeated = weighted.clone();
        repeated.values.clear();
        repeated.targets.clear();
        repeated.weights.clear();
        for pass in 0..4 {
            for ((row, &target), cell) in rows.iter().zip(&targets).zip(&cells) {
                if pass < cell.3 {
                    repeated.values.extend(row);
                    repeated.targets.push(target);
                    repeated.weights.push(1.0);
                }
            }
        }
        prop_assume!(!repeated.targets.is_empty());
        let parameters = GuideParameters {
            loss: if median { Loss::Quantile(0.5) } else { Loss::Squared },
            min_samples_leaf: 4,
            ..GuideParameters::default()
        };
        prop_assert_eq!(weighted.fit(&parameters).unwrap(), repeated.fit(&parameters).unwrap());
    }

    /// Linear quantile fits compared with every line through two of the rows; one of these is best.
    #[test]
    fn a_quantile_fit_is_the_best_line(
        points in prop::collection::vec((-20i32..20, -50i32..50, 1u32..4), 3..12),
        percent in 5u32..96,
    ) {
        let quantile = f64::from(percent) / 100.0;
        let rows: Vec<Vec<f64>> = points.iter().map(|point| vec![f64::from(point.0)]).collect();
        prop_assume!(rows.iter().any(|row| row != &rows[0]));
        let targets: Vec<f64> = points.iter().map(|point| f64::from(point.1)).collect();
        let mut data = Data::new(&rows, &targets);
        data.weights = points.iter().map(|point| f64::from(point.2)).collect();
        let parameters = GuideParameters {
            loss: Loss::Quantile(quantile),
            ..unpruned(0, 1)
        };
        let loss_of = |answers: &[f64]| -> f64 {
            answers.iter().zip(&targets).zip(&data.weights).map(|((answer, target), weight)| {
                let residual = target - answer;
                weight * (quantile * residual).max((quantile - 1.0) * residual)
            }).sum()
        };
        let tree = data.fit(&parameters).unwrap();
        let found = loss_of(&answers(&tree, &rows));
        let mut best = f64::INFINITY;
        for (number, first) in rows.iter().enumerate() {
            for (second, other) in rows.iter().zip(&targets).skip(number + 1) {
                if first[0] != second[0] {
                    let slope = (other - targets[number]) / (second[0] - first[0]);
                    let line: Vec<f64> = rows.iter()
                        .map(|row| targets[number] + slope * (row[0] - first[0]))
                        .collect();
                    best = best.min(loss_of(&line));
                }
            }
        }
        prop_assert!(found <= best + 1e-6 * best.max(1.0), "{} is more than {}", found, best);
        let total: f64 = data.weights.iter().sum();
        prop_assert!((tree.nodes[0].loss * total - found).abs() <= 1e-6 * found.max(1.0));
    }

    /// For any data: a tree with finite predictions, and importances that add up.
    #[test]
    fn any_data_is_fitted(
        cells in prop::collection::vec((0u32..9, -40i32..40), 4..200),
        columns in 1usize..4, leaf in 1u32..6, median in any::<bool>(), category in any::<bool>(),
    ) {
        let values: Vec<f64> = cells.iter()
            .map(|&(kind, value)| if kind == 0 { f64::NAN } else { f64::from(value) / 7.0 })
            .collect();
        let rows = values.len() / columns;
        let mut data = Data::new(&vec![vec![0.0; columns]; rows], &vec![0.0; rows]);
        data.values = values[..rows * columns].to_vec();
        data.targets = cells[..rows].iter().map(|cell| f64::from(cell.1 * cell.1)).collect();
        data.categorical[0] = category;
        let parameters = GuideParameters {
            loss: if median { Loss::Quantile(0.3) } else { Loss::Squared },
            min_samples_leaf: leaf,
            ..GuideParameters::default()
        };
        let tree = data.fit(&parameters).unwrap();
        let matrix = Matrix::new(&data.values, rows, columns).unwrap();
        let found = tree.ensemble.predict(&matrix, 1).unwrap();
        prop_assert!(found.iter().all(|answer| answer.is_finite()));
        let sum: f64 = tree.importances.iter().sum();
        prop_assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-9);
        prop_assert_eq!(tree.nodes.len(), tree.ensemble.arrays().feature.len());
    }
}
