//! Training rows in an order of their own. Equal rows are merged, so weights are repetitions.
//!
//! Rows are sorted by a hash of their features, then by features and target. Equal rows become one
//! with the sum of their weights. A fit that sees only these rows gives the same bytes for a row of
//! weight 2 as for the same row twice, and for any order of the rows. Rows with equal features are
//! adjacent, so a fold takes all of them or none.

use std::cmp::Ordering;

use crate::binning::{Binned, Column};
use crate::{Matrix, TreeError};

/// Most categories of a column; one more bin is for missing values.
pub(crate) const MOST_CATEGORIES: usize = 254;

/// The data as the fit sees it.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) binned: Binned,
    /// Whether a column holds categories.
    pub(crate) categorical: Vec<bool>,
    /// The columns of the linear part: those that are numbers.
    pub(crate) numeric: Vec<usize>,
    /// Row-major standardised values of the linear part; 0 where missing.
    linear: Vec<f64>,
    pub(crate) targets: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    /// Rows with equal features have the same number; ascending from 0.
    pub(crate) settings: Vec<u32>,
}

impl Rows {
    /// Merges equal rows and puts their values into bins.
    pub(crate) fn new(
        features: &Matrix<'_>,
        targets: &[f64],
        weights: &[f64],
        categorical: &[bool],
        max_bins: usize,
    ) -> Result<Self, TreeError> {
        let merged = Merged::new(features, targets, weights);
        let matrix = Matrix::new(&merged.values, merged.targets.len(), features.columns())?;
        for column in (0..categorical.len()).filter(|&column| categorical[column]) {
            let categories = categories(&matrix, column);
            if categories > MOST_CATEGORIES {
                return Err(TreeError::Categories {
                    column,
                    categories,
                    most: MOST_CATEGORIES,
                });
            }
        }
        let binned = Binned::new(&matrix, |column| {
            if categorical[column] {
                MOST_CATEGORIES
            } else {
                max_bins
            }
        })?;
        let numeric: Vec<usize> = (0..categorical.len())
            .filter(|&column| !categorical[column])
            .collect();
        let linear = (0..binned.rows())
            .flat_map(|row| {
                let standardised = binned.standardised_of(row);
                numeric.iter().map(|&column| standardised[column])
            })
            .collect();
        Ok(Self {
            linear,
            binned,
            categorical: categorical.to_vec(),
            numeric,
            targets: merged.targets,
            weights: merged.weights,
            settings: merged.settings,
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.targets.len()
    }

    pub(crate) fn columns(&self) -> usize {
        self.categorical.len()
    }

    pub(crate) fn column(&self, column: usize) -> &Column {
        &self.binned.columns[column]
    }

    /// A row's standardised values of the linear part.
    pub(crate) fn linear_of(&self, row: u32) -> &[f64] {
        let width = self.numeric.len();
        &self.linear[row as usize * width..][..width]
    }

    /// A row's bins; a missing value has the column's number of bins.
    pub(crate) fn bins_of(&self, row: u32) -> &[u8] {
        self.binned.bins_of(row as usize)
    }
}

/// Rows of weight above 0, sorted and merged.
struct Merged {
    values: Vec<f64>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    settings: Vec<u32>,
}

impl Merged {
    fn new(features: &Matrix<'_>, targets: &[f64], weights: &[f64]) -> Self {
        let width = features.columns();
        let row_of = |row: u32| &features.values()[row as usize * width..][..width];
        let mut order: Vec<(u64, u32)> = (0..features.rows() as u32)
            .filter(|&row| weights[row as usize] > 0.0)
            .map(|row| (hashed(row_of(row)), row))
            .collect();
        let same_features = |a: (u64, u32), b: (u64, u32)| {
            a.0.cmp(&b.0)
                .then_with(|| compared(row_of(a.1), row_of(b.1)))
        };
        let of_target = |row: u32| bits(targets[row as usize]);
        order.sort_unstable_by(|&a, &b| {
            let weight = |row: u32| weights[row as usize].to_bits();
            same_features(a, b)
                .then_with(|| of_target(a.1).cmp(&of_target(b.1)))
                // So that sums of weights are rounded equally for any order.
                .then_with(|| weight(a.1).cmp(&weight(b.1)))
        });
        let mut made = Self {
            values: Vec::with_capacity(order.len() * width),
            targets: Vec::with_capacity(order.len()),
            weights: Vec::with_capacity(order.len()),
            settings: Vec::with_capacity(order.len()),
        };
        let mut before: Option<(u64, u32)> = None;
        let mut setting = 0;
        for &row in &order {
            let same = before.is_some_and(|before| same_features(before, row) == Ordering::Equal);
            let equal =
                same && before.is_some_and(|before| of_target(before.1) == of_target(row.1));
            if before.is_some() && !same {
                setting += 1;
            }
            before = Some(row);
            if equal && let Some(weight) = made.weights.last_mut() {
                *weight += weights[row.1 as usize];
                continue;
            }
            made.values.extend_from_slice(row_of(row.1));
            made.targets.push(targets[row.1 as usize]);
            made.weights.push(weights[row.1 as usize]);
            made.settings.push(setting);
        }
        made
    }
}

/// The bits of a number. 0 and -0 count as one number, and so do all missing values.
fn bits(value: f64) -> u64 {
    if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        (value + 0.0).to_bits()
    }
}

fn hashed(row: &[f64]) -> u64 {
    row.iter().fold(0x9E37_79B9_7F4A_7C15, |hash, &value| {
        // The finaliser of SplitMix64 (Steele et al. 2014).
        let mut mixed = hash ^ bits(value).wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

fn compared(a: &[f64], b: &[f64]) -> Ordering {
    a.iter()
        .map(|&value| bits(value))
        .cmp(b.iter().map(|&value| bits(value)))
}

fn categories(features: &Matrix<'_>, column: usize) -> usize {
    let mut values: Vec<f64> = features
        .iter()
        .map(|row| row[column])
        .filter(|value| !value.is_nan())
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup_by(|a, b| a == b);
    values.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn rows(values: &[f64], targets: &[f64], weights: &[f64]) -> Rows {
        let columns = values.len() / targets.len();
        let matrix = Matrix::new(values, targets.len(), columns).unwrap();
        Rows::new(&matrix, targets, weights, &vec![false; columns], 16).unwrap()
    }

    #[test]
    fn equal_rows_become_one_and_nothing_weighs_nothing() {
        let values = [1.0, -0.0, 2.0, 0.0, 1.0, f64::NAN, f64::NAN];
        let targets = [5.0, 3.0, 7.0, 3.0, 5.0, 1.0, 1.0];
        let made = rows(&values, &targets, &[1.0, 1.0, 0.0, 2.0, 0.5, 1.0, 1.0]);
        let mut found: Vec<(f64, f64)> = made
            .targets
            .iter()
            .copied()
            .zip(made.weights.iter().copied())
            .collect();
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(found, vec![(1.0, 2.0), (3.0, 3.0), (5.0, 1.5)]);
    }

    #[test]
    fn equal_features_are_one_setting() {
        let made = rows(
            &[1.0, 2.0, 1.0, 2.0, 1.0],
            &[1.0, 2.0, 3.0, 4.0, 5.0],
            &[1.0; 5],
        );
        let mut counts = [0; 2];
        for &setting in &made.settings {
            counts[setting as usize] += 1;
        }
        counts.sort_unstable();
        assert_eq!(counts, [2, 3]);
        assert!(made.settings.is_sorted());
    }
}
