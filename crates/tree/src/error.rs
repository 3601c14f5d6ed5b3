//! Errors in data, parameters and stored trees.

use thiserror::Error;

/// The reason why a fit, a prediction or a stored ensemble is refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TreeError {
    /// A buffer's length is not rows times columns.
    #[error("the features hold {values} values, which is not {rows} rows of {columns} columns")]
    Shape {
        /// Values in the buffer.
        values: usize,
        /// Rows stated.
        rows: usize,
        /// Columns stated.
        columns: usize,
    },
    /// There is nothing to learn from.
    #[error("at least one row and one column are needed; there are {rows} rows, {columns} columns")]
    Empty {
        /// Rows given.
        rows: usize,
        /// Columns given.
        columns: usize,
    },
    /// The numbers of features and targets differ.
    #[error("{targets} targets do not match {rows} rows of features; give one target a row")]
    TargetCount {
        /// Targets given.
        targets: usize,
        /// Rows given.
        rows: usize,
    },
    /// The ensemble was fitted to another number of columns.
    #[error("the trees were fitted to {expected} columns, the features have {columns}")]
    ColumnCount {
        /// Columns the ensemble knows.
        expected: usize,
        /// Columns given.
        columns: usize,
    },
    /// A feature is infinite; only NaN has a meaning (not in effect).
    #[error(
        "row {row}, column {column} is infinite; features are finite, or NaN where not in effect"
    )]
    InfiniteFeature {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// A target is NaN or infinite.
    #[error("target {row} is {value}; targets must be finite")]
    NonFiniteTarget {
        /// The row.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// Values whose squares leave the range of f64.
    #[error("{what} spread too widely for squared errors in f64; rescale them")]
    TooWide {
        /// The targets or a column.
        what: String,
    },
    /// A parameter is out of its range.
    #[error("{name} is {value}; allowed: {allowed}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A weight is negative, NaN or infinite, or all are 0.
    #[error("{reason}; weights are finite, 0 or more, and one is above 0")]
    Weights {
        /// What is wrong with them.
        reason: String,
    },
    /// A column of categories with too many of them.
    #[error("column {column} holds {categories} categories; at most {most} are allowed")]
    Categories {
        /// The column.
        column: usize,
        /// Different values found.
        categories: usize,
        /// The largest number allowed.
        most: usize,
    },
    /// Stored trees that do not describe an ensemble.
    #[error("these arrays are no tree ensemble: {reason}")]
    Malformed {
        /// The contradiction.
        reason: String,
    },
}
