//! Tables of numbers as CSV, a block of rows at a time.
//!
//! ```text
//!   bytes of whole lines ── read ──> numbers, row after row; cells that are none
//!   columns of numbers ──── write ─> bytes of whole lines
//! ```
//!
//! Modelled: plain decimal numbers, empty cells, quoted cells, blank lines, LF and CR LF. Left out:
//! names of columns, units, the allowed range of a number (the caller knows it), and cells that
//! extend over several lines.

mod read;
mod write;

pub use read::{Block, Odd, RowError, RowProblem, read};
pub use write::{Column, write};
