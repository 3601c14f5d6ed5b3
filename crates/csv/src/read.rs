//! Lines of comma-separated cells to numbers.

use thiserror::Error;

/// The content of a block of lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    /// Number of rows; blank lines do not count.
    pub rows: usize,
    /// The wanted columns, row after row. An empty cell is NaN, and so is an odd one.
    pub values: Vec<f64>,
    /// Cells that are not plain numbers, in the order of the rows.
    pub odd: Vec<Odd>,
}

/// A cell that is neither empty nor a plain number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Odd {
    /// Row in the block, from 0.
    pub row: usize,
    /// Index among the wanted columns.
    pub column: usize,
    /// Its text, without surrounding space.
    pub text: String,
}

/// A line that is not a row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct RowError {
    /// Row in the block, from 0.
    pub row: usize,
    /// The error.
    pub problem: RowProblem,
}

/// An error in a line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowProblem {
    /// More or fewer cells than columns.
    #[error(
        "{found} cells where {width} columns are named; write a cell, which may be empty, for each"
    )]
    Cells {
        /// Cells of the line.
        found: usize,
        /// Columns of the table.
        width: usize,
    },
    /// A quoted cell without an end, or with text after its end.
    #[error("a quoted cell does not end; write plain numbers separated by commas")]
    Quote,
}

/// Reads whole lines of `width` cells. The `wanted` ones are numbers.
///
/// A plain number is digits, with an optional point among or after them: `64`, `0.25`, `64.`.
///
/// # Errors
/// [`RowError`] for the first line that is not a row.
pub fn read(text: &[u8], width: usize, wanted: &[usize]) -> Result<Block, RowError> {
    let mut block = Block::default();
    let mut cells: Vec<&[u8]> = Vec::with_capacity(width);
    for line in text.split(|&byte| byte == b'\n') {
        cells.clear();
        let split = split_cells(line, &mut cells);
        if cells.iter().all(|cell| cell.is_empty()) && split.is_ok() {
            continue;
        }
        let row = block.rows;
        let problem = match split {
            Err(problem) => Some(problem),
            Ok(()) if cells.len() != width => Some(RowProblem::Cells {
                found: cells.len(),
                width,
            }),
            Ok(()) => None,
        };
        if let Some(problem) = problem {
            return Err(RowError { row, problem });
        }
        block.rows += 1;
        for (column, &place) in wanted.iter().enumerate() {
            // A place beyond the width is a missing cell.
            let cell = cells.get(place).copied().unwrap_or_default();
            let number = plain_number(cell);
            if number.is_none() && !cell.is_empty() {
                let text = String::from_utf8_lossy(cell).into_owned();
                block.odd.push(Odd { row, column, text });
            }
            block.values.push(number.unwrap_or(f64::NAN));
        }
    }
    Ok(block)
}

fn split_cells<'a>(line: &'a [u8], cells: &mut Vec<&'a [u8]>) -> Result<(), RowProblem> {
    let mut rest = line;
    loop {
        let start = rest.trim_ascii_start();
        let (cell, after) = if let Some(quoted) = start.strip_prefix(b"\"") {
            quoted_cell(quoted)?
        } else {
            match rest.iter().position(|&byte| byte == b',') {
                Some(comma) => (&rest[..comma], Some(&rest[comma + 1..])),
                None => (rest, None),
            }
        };
        cells.push(cell.trim_ascii());
        match after {
            Some(after) => rest = after,
            None => return Ok(()),
        }
    }
}

/// The inside of a quoted cell, with doubled quotes unchanged, and the text after its comma.
fn quoted_cell(quoted: &[u8]) -> Result<(&[u8], Option<&[u8]>), RowProblem> {
    let mut at = 0;
    while let Some(found) = quoted[at..].iter().position(|&byte| byte == b'"') {
        let end = at + found;
        if quoted.get(end + 1) == Some(&b'"') {
            at = end + 2;
            continue;
        }
        let behind = quoted[end + 1..].trim_ascii_start();
        return match behind.split_first() {
            None => Ok((&quoted[..end], None)),
            Some((b',', after)) => Ok((&quoted[..end], Some(after))),
            Some(_) => Err(RowProblem::Quote),
        };
    }
    Err(RowProblem::Quote)
}

fn plain_number(cell: &[u8]) -> Option<f64> {
    let mut points = 0;
    for &byte in cell {
        match byte {
            b'0'..=b'9' => {}
            b'.' => points += 1,
            _ => return None,
        }
    }
    if points > 1 || !cell.first()?.is_ascii_digit() {
        return None;
    }
    std::str::from_utf8(cell).ok()?.parse().ok()
}
