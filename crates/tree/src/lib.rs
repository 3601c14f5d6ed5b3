//! Regression trees with linear leaves, boosted, and their array form.
//!
//! A tree splits the rows by thresholds on single features. A leaf predicts a constant or a
//! ridge-regularised linear function. Trees are added up, each fitted to the residuals of the ones
//! before it (gradient boosting for squared error).
//!
//! ```text
//!   features (row-major f64, NaN = not in effect)        targets
//!        |                                                  |
//!    Binned: <= max_bins bins a column, standardised     residuals <---+
//!        |                                                  |          |
//!        +--> grow one tree: best split by the gain of the two         |
//!             sides' ridge fits; leaves hold the fits ------ shrink ---+
//!        |
//!    Ensemble: flat arrays, validated, evaluated in batches
//! ```
//!
//! In addition to boosting, [`fit_guide`] grows one readable tree. Tests choose its columns, its
//! leaves hold least-squares or quantile fits, and cross-validation prunes it; it supports weights
//! and categories. [`any_within`] says whether a question lies near the training data.
//!
//! Modelled: missing values, any number of threads with the same bytes. Left out in boosting: row
//! weights, losses other than squares, and categories.

mod binning;
mod boost;
mod ensemble;
mod error;
mod evaluate;
mod grow;
mod guide;
mod least_squares;
mod matrix;
mod near;
mod sampling;
mod walk;

pub use boost::{BoostParameters, LeafModel, fit};
pub use ensemble::{Ensemble, EnsembleArrays, LEAF};
pub use error::TreeError;
pub use guide::{GuideParameters, GuideTree, Loss, NodeWords, fit_guide};
pub use matrix::Matrix;
pub use near::any_within;
