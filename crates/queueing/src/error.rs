//! What is wrong about a question.

use thiserror::Error;

/// Why a loop cannot be replayed.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum QueueingError {
    /// A number of the layout.
    #[error("{name} is {value}; allowed: {allowed}")]
    Layout {
        /// Which.
        name: &'static str,
        /// What it is.
        value: usize,
        /// What it may be.
        allowed: &'static str,
    },
    /// A cost that is no time.
    #[error("cost {place} is {value} ns; allowed: 0 or more")]
    Cost {
        /// Which.
        place: usize,
        /// What it is.
        value: f64,
    },
    /// A workload that is none.
    #[error("row {row} is no workload: shares are 0 to 1, depths 1 and sizes 512 or more")]
    Workload {
        /// Which.
        row: usize,
    },
    /// The table or the costs have another length.
    #[error("{values} values; expected {expected}")]
    Length {
        /// How many there are.
        values: usize,
        /// What there should be.
        expected: &'static str,
    },
}
