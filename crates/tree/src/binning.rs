//! Training rows, prepared once: standardised columns, with a limited number of bins each.
//!
//! If a column has no more distinct values than bins, every value has its own bin, and the search
//! over bins is the exact search over all thresholds. Otherwise bins hold about equally many rows.

use crate::{Matrix, TreeError};

/// The bins of one column, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Smallest value in each bin.
    pub(crate) lowest: Vec<f64>,
    /// Largest value in each bin.
    pub(crate) highest: Vec<f64>,
    /// Mean of the values that are not missing.
    pub(crate) centre: f64,
    /// Their standard deviation; 1 if they do not vary.
    pub(crate) scale: f64,
}

/// Training rows in the form that the search needs.
#[derive(Debug, Clone)]
pub(crate) struct Binned {
    pub(crate) columns: Vec<Column>,
    /// Row-major bin numbers; a missing value has the column's number of bins.
    pub(crate) bins: Vec<u8>,
    /// Row-major standardised values; 0 where missing.
    pub(crate) standardised: Vec<f64>,
}

impl Binned {
    /// Puts rows into at most `max_bins(column)` bins of each column.
    pub(crate) fn new(
        features: &Matrix<'_>,
        max_bins: impl Fn(usize) -> usize,
    ) -> Result<Self, TreeError> {
        let (rows, width) = (features.rows(), features.columns());
        let columns = (0..width)
            .map(|column| Column::new(features, column, max_bins(column)))
            .collect::<Result<Vec<_>, _>>()?;
        let mut bins = Vec::with_capacity(rows * width);
        let mut standardised = Vec::with_capacity(rows * width);
        for row in features.iter() {
            for (column, &value) in columns.iter().zip(row) {
                bins.push(column.bin(value));
                standardised.push(column.standardise(value));
            }
        }
        Ok(Self {
            columns,
            bins,
            standardised,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.bins.len() / self.columns.len()
    }

    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn bins_of(&self, row: usize) -> &[u8] {
        &self.bins[row * self.width()..][..self.width()]
    }

    pub(crate) fn standardised_of(&self, row: usize) -> &[f64] {
        &self.standardised[row * self.width()..][..self.width()]
    }

    /// The most bins of any column, including the one for missing values.
    pub(crate) fn most_bins(&self) -> usize {
        self.columns.iter().map(Column::bins).max().unwrap_or(0) + 1
    }
}

impl Column {
    fn new(features: &Matrix<'_>, column: usize, max_bins: usize) -> Result<Self, TreeError> {
        let mut sorted: Vec<f64> = features
            .iter()
            .map(|row| row[column])
            .filter(|value| !value.is_nan())
            .collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (centre, scale) = centre_and_scale(&sorted);
        if !(centre.is_finite() && scale.is_finite()) {
            return Err(TreeError::TooWide {
                what: format!("the values of column {column}"),
            });
        }
        let (lowest, highest) = edges(&sorted, max_bins);
        Ok(Self {
            lowest,
            highest,
            centre,
            scale,
        })
    }

    pub(crate) fn bins(&self) -> usize {
        self.lowest.len()
    }

    fn bin(&self, value: f64) -> u8 {
        let bin = if value.is_nan() {
            self.bins()
        } else {
            self.highest.partition_point(|&highest| highest < value)
        };
        // At most 254 bins and one for missing values (`BoostParameters::check`).
        bin as u8
    }

    fn standardise(&self, value: f64) -> f64 {
        if value.is_nan() {
            0.0
        } else {
            (value - self.centre) / self.scale
        }
    }

    /// A threshold t with `highest[below] <= t < lowest[above]`, in the middle.
    pub(crate) fn threshold(&self, below: usize, above: usize) -> f64 {
        let (low, high) = (self.highest[below], self.lowest[above]);
        let middle = low + (high - low) / 2.0;
        if middle >= low && middle < high {
            middle
        } else {
            low
        }
    }

    /// The lower limit of a linear part whose lowest bin is this one.
    pub(crate) fn reach_down(&self, bin: usize) -> f64 {
        match bin.checked_sub(1) {
            Some(below) => self.threshold(below, bin),
            None => self.lowest[bin],
        }
    }

    /// The upper limit of a linear part whose highest bin is this one.
    pub(crate) fn reach_up(&self, bin: usize) -> f64 {
        if bin + 1 < self.bins() {
            self.threshold(bin, bin + 1)
        } else {
            self.highest[bin]
        }
    }
}

fn centre_and_scale(sorted: &[f64]) -> (f64, f64) {
    if sorted.is_empty() {
        return (0.0, 1.0);
    }
    let count = sorted.len() as f64;
    let centre = sorted.iter().sum::<f64>() / count;
    let variance = sorted
        .iter()
        .map(|value| (value - centre).powi(2))
        .sum::<f64>()
        / count;
    let scale = variance.sqrt();
    // A column whose spread is only rounding does not vary.
    if scale <= 1e-12 * centre.abs() || scale == 0.0 {
        (centre, 1.0)
    } else {
        (centre, scale)
    }
}

fn edges(sorted: &[f64], max_bins: usize) -> (Vec<f64>, Vec<f64>) {
    let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let (mut lowest, mut highest) = (Vec::new(), Vec::new());
    let mut start = 0;
    while start < sorted.len() {
        let wanted = if distinct <= max_bins {
            1
        } else {
            (sorted.len() - start).div_ceil(max_bins - lowest.len())
        };
        let last = sorted[start + wanted - 1];
        let end = sorted.partition_point(|&value| value <= last);
        lowest.push(sorted[start]);
        highest.push(last);
        start = end;
    }
    (lowest, highest)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_values_have_a_bin_each() {
        let values = [4.0, 1.0, f64::NAN, 4.0, 2.0];
        let binned = Binned::new(&Matrix::new(&values, 5, 1).unwrap(), |_| 8).unwrap();
        assert_eq!(binned.columns[0].lowest, vec![1.0, 2.0, 4.0]);
        assert_eq!(binned.bins, vec![2, 0, 3, 2, 1]);
        assert_eq!(binned.standardised[2], 0.0);
        assert_eq!(binned.columns[0].threshold(0, 1), 1.5);
        let reach = |bin| {
            (
                binned.columns[0].reach_down(bin),
                binned.columns[0].reach_up(bin),
            )
        };
        assert_eq!(
            (reach(0), reach(1), reach(2)),
            ((1.0, 1.5), (1.5, 3.0), (3.0, 4.0))
        );
    }

    #[test]
    fn neighbours_in_f64_are_still_parted() {
        let next = f64::from_bits(1.0f64.to_bits() + 1);
        let values = [1.0, next];
        let binned = Binned::new(&Matrix::new(&values, 2, 1).unwrap(), |_| 8).unwrap();
        let threshold = binned.columns[0].threshold(0, 1);
        assert!(1.0 <= threshold && next > threshold);
    }

    proptest! {
        #[test]
        fn bins_keep_the_order_and_the_limit(
            values in prop::collection::vec(-50i32..50, 1..300), max_bins in 2usize..40,
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let matrix = Matrix::new(&values, values.len(), 1).unwrap();
            let binned = Binned::new(&matrix, |_| max_bins).unwrap();
            let column = &binned.columns[0];
            prop_assert!(column.bins() <= max_bins);
            for (value, &bin) in values.iter().zip(&binned.bins) {
                let bin = usize::from(bin);
                prop_assert!(column.lowest[bin] <= *value && *value <= column.highest[bin]);
            }
            for bin in 1..column.bins() {
                prop_assert!(column.highest[bin - 1] < column.lowest[bin]);
            }
        }
    }
}
