//! Errors in a question.

use thiserror::Error;

/// The reason why a loop cannot be replayed.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum QueueingError {
    /// An invalid number in the layout.
    #[error("{name} is {value}; allowed: {allowed}")]
    Layout {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: usize,
        /// The allowed values.
        allowed: &'static str,
    },
    /// A cost that is not a valid time.
    #[error("cost {place} is {value} ns; allowed: 0 or more")]
    Cost {
        /// Its index.
        place: usize,
        /// Its value.
        value: f64,
    },
    /// An invalid workload.
    #[error("row {row} is no workload: shares are 0 to 1, depths 1 and sizes 512 or more")]
    Workload {
        /// Its row.
        row: usize,
    },
    /// The table or the costs have the wrong length.
    #[error("{values} values; expected {expected}")]
    Length {
        /// The length.
        values: usize,
        /// The expected length.
        expected: &'static str,
    },
}
