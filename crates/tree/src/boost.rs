//! Gradient boosting for squared error: each tree is fitted to the residuals.

use crate::binning::Binned;
use crate::grow::Grower;
use crate::sampling::{SplitMix64, draw_rows};
use crate::{Ensemble, EnsembleArrays, Matrix, TreeError};

/// Fraction of the targets' sum of squares below which residuals are rounding.
const NOTHING_LEFT: f64 = 1e-30;

/// What a leaf predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafModel {
    /// The mean of its rows.
    Constant,
    /// A ridge fit over all features.
    Linear,
}

/// How trees are grown and added up.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostParameters {
    /// The most trees; fewer if no residuals are left. At least 1.
    pub rounds: u32,
    /// The fraction of each tree's prediction that is added, in (0, 1].
    pub learning_rate: f64,
    /// The most leaves of a tree. At least 1.
    pub max_leaves: u32,
    /// The least rows on each side of a split. At least 1.
    pub min_samples_leaf: u32,
    /// Penalty on squared coefficients of standardised features, >= 0. A ridge of n counts like n
    /// rows that say "this feature does nothing".
    pub ridge: f64,
    /// Bins of a feature, 2 to 254.
    pub max_bins: u32,
    /// Fraction of the rows that each tree sees, in (0, 1].
    pub row_fraction: f64,
    /// What a leaf predicts.
    pub leaf_model: LeafModel,
    /// Seed of the rows drawn; without effect at a row fraction of 1.
    pub seed: u64,
}

impl Default for BoostParameters {
    fn default() -> Self {
        Self {
            rounds: 150,
            learning_rate: 0.1,
            max_leaves: 8,
            min_samples_leaf: 5,
            ridge: 0.1,
            max_bins: 32,
            row_fraction: 1.0,
            leaf_model: LeafModel::Linear,
            seed: 0,
        }
    }
}

impl BoostParameters {
    fn check(&self) -> Result<(), TreeError> {
        let share = |value: f64| value > 0.0 && value <= 1.0;
        let refuse = |name, value: String, allowed| {
            Err(TreeError::Parameter {
                name,
                value,
                allowed,
            })
        };
        if self.rounds == 0 {
            return refuse("rounds", self.rounds.to_string(), "1 or more");
        }
        if !share(self.learning_rate) {
            let value = self.learning_rate.to_string();
            return refuse("learning_rate", value, "more than 0, at most 1");
        }
        if self.max_leaves == 0 {
            return refuse("max_leaves", self.max_leaves.to_string(), "1 or more");
        }
        if self.min_samples_leaf == 0 {
            let value = self.min_samples_leaf.to_string();
            return refuse("min_samples_leaf", value, "1 or more");
        }
        if !(self.ridge >= 0.0 && self.ridge.is_finite()) {
            return refuse("ridge", self.ridge.to_string(), "0 or more, finite");
        }
        if !(2..=254).contains(&self.max_bins) {
            return refuse("max_bins", self.max_bins.to_string(), "2 to 254");
        }
        if !share(self.row_fraction) {
            let value = self.row_fraction.to_string();
            return refuse("row_fraction", value, "more than 0, at most 1");
        }
        Ok(())
    }
}

/// Fits an ensemble to `targets`, one a row.
///
/// # Errors
/// When shapes do not match, a target is not finite, values spread too widely for
/// squared errors, or a parameter is out of range.
pub fn fit(
    features: &Matrix<'_>,
    targets: &[f64],
    parameters: &BoostParameters,
) -> Result<Ensemble, TreeError> {
    parameters.check()?;
    let rows = check_data(features, targets)?;
    let binned = Binned::new(features, |_| parameters.max_bins as usize)?;
    let base = targets.iter().sum::<f64>() / f64::from(rows);
    let mut left_over: Vec<f64> = targets.iter().map(|target| target - base).collect();
    let initial = sum_of_squares(&left_over);
    if !initial.is_finite() {
        return Err(TreeError::TooWide {
            what: "the targets".to_owned(),
        });
    }
    let mut all = EnsembleArrays {
        columns: features.columns() as u32,
        base,
        ..EnsembleArrays::default()
    };
    let take = (f64::from(rows) * parameters.row_fraction).ceil() as u32;
    let mut random = SplitMix64::new(parameters.seed);
    let mut grower = Grower::new(&binned, parameters);
    for _ in 0..parameters.rounds {
        if sum_of_squares(&left_over) <= NOTHING_LEFT * initial {
            break;
        }
        let drawn = draw_rows(rows, take, &mut random);
        let tree = Ensemble::from_arrays(grower.grow(drawn, &left_over))?;
        for (target, answer) in left_over.iter_mut().zip(tree.predict(features, 1)?) {
            *target -= answer;
        }
        append(&mut all, tree.arrays());
    }
    Ensemble::from_arrays(all)
}

pub(crate) fn check_data(features: &Matrix<'_>, targets: &[f64]) -> Result<u32, TreeError> {
    let rows = features.rows();
    let (Ok(count), Ok(_)) = (u32::try_from(rows), i32::try_from(features.columns())) else {
        return Err(TreeError::TooWide {
            what: "rows or columns beyond 32 bits".to_owned(),
        });
    };
    if rows == 0 {
        return Err(TreeError::Empty {
            rows,
            columns: features.columns(),
        });
    }
    if targets.len() != rows {
        return Err(TreeError::TargetCount {
            targets: targets.len(),
            rows,
        });
    }
    if let Some(row) = targets.iter().position(|target| !target.is_finite()) {
        return Err(TreeError::NonFiniteTarget {
            row,
            value: targets[row],
        });
    }
    Ok(count)
}

fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn append(all: &mut EnsembleArrays, tree: &EnsembleArrays) {
    let offset = all.feature.len() as u32;
    let moved = |children: &[u32]| -> Vec<u32> {
        let children = children.iter().zip(&tree.feature);
        children
            .map(|(&child, &feature)| if feature < 0 { 0 } else { child + offset })
            .collect()
    };
    all.roots.push(offset);
    all.left.extend(moved(&tree.left));
    all.right.extend(moved(&tree.right));
    all.feature.extend_from_slice(&tree.feature);
    all.threshold.extend_from_slice(&tree.threshold);
    all.missing_left.extend_from_slice(&tree.missing_left);
    all.value.extend_from_slice(&tree.value);
    all.terms.extend_from_slice(&tree.terms);
    all.term_feature.extend_from_slice(&tree.term_feature);
    all.term_coefficient
        .extend_from_slice(&tree.term_coefficient);
    all.term_centre.extend_from_slice(&tree.term_centre);
    all.term_low.extend_from_slice(&tree.term_low);
    all.term_high.extend_from_slice(&tree.term_high);
}
