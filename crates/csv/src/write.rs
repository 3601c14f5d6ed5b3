//! Columns of numbers to lines of comma-separated cells.

use std::io::Write;

/// A column, one number a row; NaN is an empty cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Column<'a> {
    /// With enough digits to distinguish it from every other number.
    Exact(&'a [f64]),
    /// Rounded to six significant digits, or to a whole number above a million.
    Rounded(&'a [f64]),
    /// `false` for 0, `true` for anything else.
    Flag(&'a [f64]),
}

/// Significant digits of a rounded number.
const DIGITS: i32 = 6;

/// Writes as many lines as the shortest column has numbers.
#[must_use]
pub fn write(columns: &[Column<'_>]) -> Vec<u8> {
    let rows = columns.iter().map(|column| column.numbers().len()).min();
    let rows = rows.unwrap_or(0);
    let mut text = Vec::with_capacity(rows * columns.len() * 10);
    for row in 0..rows {
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                text.push(b',');
            }
            column.write_cell(column.numbers()[row], &mut text);
        }
        text.push(b'\n');
    }
    text
}

impl Column<'_> {
    fn numbers(&self) -> &[f64] {
        match self {
            Self::Exact(numbers) | Self::Rounded(numbers) | Self::Flag(numbers) => numbers,
        }
    }

    fn write_cell(&self, number: f64, into: &mut Vec<u8>) {
        if number.is_nan() {
            return;
        }
        // Writing into memory does not fail.
        let _ = match self {
            Self::Exact(_) => write!(into, "{number}"),
            Self::Rounded(_) => write!(into, "{number:.*}", decimals(number)),
            Self::Flag(_) => write!(into, "{}", number != 0.0),
        };
    }
}

/// Decimals that leave `DIGITS` significant digits.
fn decimals(number: f64) -> usize {
    if number == 0.0 || !number.is_finite() {
        return 0;
    }
    // At most 330: the smallest number is above 1e-324.
    (DIGITS - 1 - number.abs().log10().floor() as i32).max(0) as usize
}
