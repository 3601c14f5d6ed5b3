//! A single, readable regression tree with linear leaves: GUIDE (Loh 2002).
//!
//! ```text
//!  rows, merged and sorted (rows)
//!    |
//!    +--> node: fit of the linear columns (node_fit, quantile)
//!    |      | signs of its residuals against every column and pair (residual_tests, groups)
//!    |      v
//!    |    column ---> where to split it (split) ---> two nodes, and so on (growth)
//!    v
//!  the tree pruned at the price that cross-validation finds (pruning)
//!    v
//!  arrays of an ensemble, and what a picture says of each node (described)
//! ```
//!
//! Tests choose the column of a split, and only then is the place chosen. Choosing both by the gain
//! would prefer columns with many places. Categories are used for splits but not in linear
//! functions.
//!
//! Left out: the paper's polynomials and stepwise leaves, and its bagging. Its bootstrap is
//! replaced by a formula (`residual_tests`).

mod chi_squared;
mod described;
mod groups;
mod growth;
mod node_fit;
mod pruning;
mod quantile;
mod residual_tests;
mod rows;
mod split;

pub use described::{GuideTree, NodeWords};

use crate::boost::check_data;
use crate::{Matrix, TreeError};

/// What a fit minimises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// Squared residuals: the mean.
    Squared,
    /// The pinball loss: this quantile, above 0 and below 1.
    Quantile(f64),
}

impl Loss {
    /// The loss of a residual.
    pub(crate) fn of(self, residual: f64) -> f64 {
        match self {
            Self::Squared => residual * residual,
            Self::Quantile(quantile) => quantile::pinball(residual, quantile),
        }
    }

    /// The gradient of a residual's loss.
    pub(crate) fn score(self, residual: f64) -> f64 {
        match self {
            Self::Squared => residual,
            Self::Quantile(quantile) => quantile - f64::from(u8::from(residual < 0.0)),
        }
    }

    /// A loss of the size that a residual of this variance has.
    pub(crate) fn of_spread(self, variance: f64) -> f64 {
        match self {
            Self::Squared => variance,
            Self::Quantile(_) => variance.sqrt(),
        }
    }
}

/// How a tree is grown and pruned.
#[derive(Debug, Clone, PartialEq)]
pub struct GuideParameters {
    /// The loss to minimise.
    pub loss: Loss,
    /// The most splits from the root to a leaf.
    pub max_depth: u32,
    /// The least weight of a leaf; if rows are not weighted, the least number of rows. At least 1.
    pub min_samples_leaf: u32,
    /// Penalty on squared coefficients of standardised features, >= 0; only for squared loss.
    pub ridge: f64,
    /// Bins of a number among which splits are searched, 2 to 254.
    pub max_bins: u32,
    /// Folds of the cross-validation that prunes; 0 leaves the tree as grown.
    pub folds: u32,
    /// The smallest tree is taken whose error is at most this many standard errors above the least,
    /// >= 0.
    pub standard_errors: f64,
}

impl Default for GuideParameters {
    fn default() -> Self {
        Self {
            loss: Loss::Squared,
            max_depth: 30,
            min_samples_leaf: 20,
            ridge: 0.0,
            max_bins: 64,
            folds: 10,
            standard_errors: 0.0,
        }
    }
}

impl GuideParameters {
    fn check(&self) -> Result<(), TreeError> {
        let refuse = |name, value: String, allowed| {
            Err(TreeError::Parameter {
                name,
                value,
                allowed,
            })
        };
        if let Loss::Quantile(quantile) = self.loss
            && !(quantile > 0.0 && quantile < 1.0)
        {
            return refuse("quantile", quantile.to_string(), "above 0, below 1");
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
        if self.folds == 1 {
            return refuse("folds", self.folds.to_string(), "0, or 2 or more");
        }
        if !(self.standard_errors >= 0.0 && self.standard_errors.is_finite()) {
            let value = self.standard_errors.to_string();
            return refuse("standard_errors", value, "0 or more, finite");
        }
        Ok(())
    }
}

/// Fits a tree to `targets`, one for each row. Each row counts as often as its weight says.
///
/// A row of weight 2 is the same as the row twice, to the byte. The order of the rows and the
/// number of threads change nothing.
///
/// # Errors
/// If shapes do not match, a target or weight is not finite, all weights are 0, values spread too
/// widely for squared errors, a column has too many categories, or a parameter is out of range.
pub fn fit_guide(
    features: &Matrix<'_>,
    targets: &[f64],
    weights: &[f64],
    categorical: &[bool],
    parameters: &GuideParameters,
    threads: usize,
) -> Result<GuideTree, TreeError> {
    parameters.check()?;
    check_data(features, targets)?;
    check_weights(weights, features.rows())?;
    if categorical.len() != features.columns() {
        return Err(TreeError::ColumnCount {
            expected: categorical.len(),
            columns: features.columns(),
        });
    }
    let max_bins = parameters.max_bins as usize;
    let rows = rows::Rows::new(features, targets, weights, categorical, max_bins)?;
    let total: f64 = rows.weights.iter().sum();
    let squares = rows.targets.iter().zip(&rows.weights);
    let squares: f64 = squares
        .map(|(target, weight)| weight * target * target)
        .sum();
    if !(squares.is_finite() && (total * squares).is_finite()) {
        return Err(TreeError::TooWide {
            what: "the targets".to_owned(),
        });
    }
    let nodes = growth::grow(&rows, (0..rows.count() as u32).collect(), parameters);
    let given_up = pruning::sequence(&nodes);
    let price = pruning::price(&rows, &given_up, parameters, threads);
    let ends = pruning::leaves_at(&nodes, &given_up, price);
    described::describe(&rows, &nodes, &ends, parameters.loss)
}

fn check_weights(weights: &[f64], rows: usize) -> Result<(), TreeError> {
    let refuse = |reason: String| Err(TreeError::Weights { reason });
    if weights.len() != rows {
        return refuse(format!(
            "there are {} weights for {rows} rows",
            weights.len()
        ));
    }
    if let Some(row) = weights
        .iter()
        .position(|weight| !(weight.is_finite() && *weight >= 0.0))
    {
        return refuse(format!("weight {row} is {}", weights[row]));
    }
    if weights.iter().all(|&weight| weight == 0.0) {
        return refuse("all weights are 0".to_owned());
    }
    Ok(())
}
