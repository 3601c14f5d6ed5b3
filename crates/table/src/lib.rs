//! A table of typed columns, written as a Parquet file.
//!
//! Four kinds of columns are enough for measurements: texts, whole numbers, reals, and lists of
//! whole numbers (the bins of a histogram). Every cell may be empty. An empty cell is not zero, and
//! an empty list is not an empty cell. Files are not compressed: tables of measurements are small,
//! and every reader can open them. The same table gives the same bytes.
//!
//! Left out: reading, and everything else that Parquet can store.

mod column;
mod error;
mod write;

pub use column::{Column, Values};
pub use error::TableError;
pub use write::write_parquet;
