//! How a column groups a node's rows: at quarters for a single column, at the median for pairs.
//!
//! Groups consist of whole bins, so equal values stay together. A column with at most four values
//! has a group for each. Categories always have a group each, and so do missing values.

use crate::guide::rows::Rows;

const QUARTERS: usize = 4;
/// The half of missing values.
const MISSING_HALF: usize = 2;

/// Groups of every column, for one node at a time.
pub(crate) struct Groups {
    stride: usize,
    categorical: Vec<bool>,
    /// Weight of each column's bins.
    weights: Vec<f64>,
    /// Group of each column's bins, by quarters and by halves.
    quarter: Vec<u8>,
    half: Vec<u8>,
    columns: Vec<OfColumn>,
}

#[derive(Debug, Clone, Copy, Default)]
struct OfColumn {
    quarters: usize,
    halves: usize,
    filled_halves: usize,
    last_low_bin: usize,
}

impl Groups {
    pub(crate) fn new(rows: &Rows) -> Self {
        let stride = rows.binned.most_bins();
        let size = stride * rows.columns();
        Self {
            stride,
            categorical: rows.categorical.clone(),
            weights: vec![0.0; size],
            quarter: vec![0; size],
            half: vec![0; size],
            columns: vec![OfColumn::default(); rows.columns()],
        }
    }

    /// Groups of a column by quarters; 1 where it does not vary.
    pub(crate) fn quarters(&self, column: usize) -> usize {
        self.columns[column].quarters
    }

    /// Number of groups of a column in pairs, including empty ones.
    pub(crate) fn halves(&self, column: usize) -> usize {
        self.columns[column].halves
    }

    pub(crate) fn filled_halves(&self, column: usize) -> usize {
        self.columns[column].filled_halves
    }

    pub(crate) fn last_low_bin(&self, column: usize) -> usize {
        self.columns[column].last_low_bin
    }

    pub(crate) fn quarter_of(&self, column: usize, bin: u8) -> usize {
        usize::from(self.quarter[column * self.stride + usize::from(bin)])
    }

    pub(crate) fn half_of(&self, column: usize, bin: u8) -> usize {
        usize::from(self.half[column * self.stride + usize::from(bin)])
    }

    /// Groups the rows of a node.
    pub(crate) fn cut(&mut self, rows: &Rows, chosen: &[u32]) {
        self.weights.fill(0.0);
        for &row in chosen {
            let weight = rows.weights[row as usize];
            let of_columns = self.weights.chunks_exact_mut(self.stride);
            for (of_column, &bin) in of_columns.zip(rows.bins_of(row)) {
                of_column[usize::from(bin)] += weight;
            }
        }
        for column in 0..rows.columns() {
            let bins = rows.column(column).bins();
            self.columns[column] = if self.categorical[column] {
                self.by_category(column, bins)
            } else {
                self.by_size(column, bins)
            };
        }
    }

    fn by_category(&mut self, column: usize, bins: usize) -> OfColumn {
        let start = column * self.stride;
        let mut found = 0;
        // Missing values are one more category.
        for bin in start..=start + bins {
            if self.weights[bin] > 0.0 {
                self.quarter[bin] = found;
                self.half[bin] = found;
                // At most 255: 254 categories and one for missing values.
                found += 1;
            }
        }
        let found = usize::from(found);
        OfColumn {
            quarters: found,
            halves: found,
            filled_halves: found,
            last_low_bin: 0,
        }
    }

    fn by_size(&mut self, column: usize, bins: usize) -> OfColumn {
        let start = column * self.stride;
        let weights = &self.weights[start..start + bins];
        let missing = self.weights[start + bins] > 0.0;
        let filled: Vec<usize> = (0..bins).filter(|&bin| weights[bin] > 0.0).collect();
        let present: f64 = weights.iter().sum();
        let mut made = OfColumn::default();
        let mut below = 0.0;
        let mut nearest_to_median = f64::INFINITY;
        let mut last_quarter = None;
        for (position, &bin) in filled.iter().enumerate() {
            let middle = (below + weights[bin] / 2.0) / present;
            let quarter = if filled.len() <= QUARTERS {
                position
            } else {
                ((QUARTERS as f64 * middle) as usize).min(QUARTERS - 1)
            };
            if last_quarter.replace(quarter) != Some(quarter) {
                made.quarters += 1;
            }
            self.quarter[start + bin] = (made.quarters - 1) as u8;
            below += weights[bin];
            let from_median = (below - present / 2.0).abs();
            if from_median < nearest_to_median && position + 1 < filled.len() {
                nearest_to_median = from_median;
                made.last_low_bin = bin;
            }
        }
        for &bin in &filled {
            self.half[start + bin] = u8::from(filled.len() > 1 && bin > made.last_low_bin);
        }
        made.filled_halves = filled.len().min(2) + usize::from(missing);
        made.halves = if missing { MISSING_HALF + 1 } else { 2 };
        if missing {
            self.quarter[start + bins] = made.quarters as u8;
            self.half[start + bins] = MISSING_HALF as u8;
            made.quarters += 1;
        }
        made
    }
}
