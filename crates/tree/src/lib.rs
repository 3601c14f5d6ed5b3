//! Regression trees with linear leaves, boosted, and their array form.
//!
//! A tree splits the rows by thresholds on single features. A leaf answers with a
//! constant or with a ridge-regularised linear function; trees are added up, each
//! fitted to what the ones before it left over (gradient boosting for squared error).
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
//! Beside boosting, [`fit_guide`] grows one tree to be read: its columns chosen by tests, least
//! squares or quantiles in its leaves, weights, categories, pruned by cross-validation. And
//! [`any_within`]: whether a question lies near what was trained on.
//!
//! Modelled: missing values, any number of threads with the same bytes.
//! Left out: row weights, other losses than squares and categories in boosting.

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
