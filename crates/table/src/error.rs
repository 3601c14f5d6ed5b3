//! Reasons why a table cannot be written.

use parquet::errors::ParquetError;

/// An error in a table, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// There is nothing to write.
    #[error("a table has at least one column")]
    NoColumns,
    /// Two columns have the same name.
    #[error("two columns are named {0}: give each a name of its own")]
    RepeatedName(String),
    /// A cell is missing or superfluous.
    #[error("column {name} has {found} rows and the first one has {expected}: give it as many")]
    DifferentLengths {
        /// The column.
        name: String,
        /// Its rows.
        found: usize,
        /// The first column's rows.
        expected: usize,
    },
    /// The format refuses the data.
    #[error("the table cannot be written as Parquet: {0}")]
    Format(#[from] ParquetError),
}
