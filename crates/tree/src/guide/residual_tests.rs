//! Chooses the column on which a node is split: the one whose values the signs of the residuals
//! follow most.
//!
//! Loh (2002), algorithms 1 to 3. A curvature test is the chi-squared of a table. Its two rows are
//! the signs of the residuals; its columns are the quarters of a column (or its categories, and
//! missing values). An interaction test uses the quadrants of a pair of columns, each cut at its
//! median. The smallest tail wins. The number of thresholds of a column does not matter, so no
//! column is preferred for having many.
//!
//! ```text
//!               quarter 1   2   3   4   missing        column b low   high
//! residual > 0         31  12  14  33    5      column a low     18     44
//! residual <= 0        12  30  28  11    4               high    41     17
//! ```
//!
//! **Bias.** Residuals of a fit are smaller along the columns that it used. So tables of these
//! columns are too even, the more so the fewer groups they have. The paper scales such tails with a
//! bootstrap. Here the table's mean and variance without any effect are computed. With G the
//! groups, orthonormal, and H the fit's projection, signs vary like I - cH. The statistic is then a
//! sum of squares weighted by the eigenvalues of I - cG'HG,
//!
//! ```text
//! mean m = df - c tr M,   variance v = 2 (df - 2c tr M + c² tr M²),   M = G'HG
//! ```
//!
//! and is compared with v / 2m times a chi-squared of 2m²/v degrees (Satterthwaite 1946). c says
//! how much of a residual's sign depends on its size: 2/π for normal residuals, 1 for those of a
//! quantile fit, whose signs are balanced exactly. Nothing is drawn at random, and every node has
//! its own correction.

use crate::guide::Loss;
use crate::guide::chi_squared::ln_tail;
use crate::guide::groups::Groups;
use crate::guide::node_fit::Fitted;
use crate::guide::rows::Rows;
use crate::least_squares::Solver;

/// The least average rows in a cell of an interaction's table. With fewer, its statistic is not
/// chi-squared.
const LEAST_IN_CELL: f64 = 5.0;
/// Most cells of an interaction's table.
const MOST_CELLS: usize = 1024;
/// Least mean of a statistic without effect. Below it, the fit leaves nothing to test.
const LEAST_MEAN: f64 = 1e-3;

/// The least fraction of signs that a fit is assumed to explain. Below 0 it adds to their spread.
const LEAST_TAKEN: f64 = -20.0;

/// The result of the tests for a node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    /// Columns that vary, the strongest curvature first.
    pub(crate) ranked: Vec<usize>,
    /// The pair whose interaction is stronger than any curvature.
    pub(crate) pair: Option<(usize, usize)>,
}

/// The results of the tables, as ln of the probability that tables are as uneven without any
/// effect.
#[derive(Debug, Default)]
struct Tails {
    /// For columns, the smallest first.
    curvatures: Vec<(f64, usize)>,
    pairs: Vec<(f64, (usize, usize))>,
}

/// One table: a column's groups, or those of a pair.
struct Table {
    columns: (usize, usize),
    /// Groups of the second column; 1 for a curvature.
    across: usize,
    /// Index of its first cell.
    start: usize,
    cells: usize,
}

/// Tests node after node.
pub(crate) struct Tests<'a> {
    rows: &'a Rows,
    loss: Loss,
    groups: Groups,
    tables: Vec<Table>,
    /// For each cell: weight, weight of positive residuals, weighted linear columns.
    cells: Vec<f64>,
    /// The same for the current row.
    of_row: Vec<f64>,
    /// For the cells of a table, what the fit explains of them.
    whitened: Vec<f64>,
}

impl<'a> Tests<'a> {
    pub(crate) fn new(rows: &'a Rows, loss: Loss) -> Self {
        Self {
            rows,
            loss,
            groups: Groups::new(rows),
            tables: Vec::new(),
            cells: Vec::new(),
            of_row: vec![0.0; rows.numeric.len() + 2],
            whitened: Vec::new(),
        }
    }

    /// The last bin of a column's lower half, as cut by the last tests.
    pub(crate) fn median_bin(&self, column: usize) -> usize {
        self.groups.last_low_bin(column)
    }

    /// Tests every column and pair of a node. `solver` has just fitted it.
    pub(crate) fn verdict(
        &mut self,
        chosen: &[u32],
        residuals: &[f64],
        fitted: &Fitted,
        solver: &Solver,
    ) -> Verdict {
        let Tails { curvatures, pairs } = self.tails(chosen, residuals, fitted, solver);
        let least = curvatures.first().map_or(0.0, |&(tail, _)| tail);
        let pair = pairs.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        Verdict {
            pair: pair
                .filter(|&(tail, _)| tail < least)
                .map(|(_, columns)| columns),
            ranked: curvatures.into_iter().map(|(_, column)| column).collect(),
        }
    }

    fn tails(
        &mut self,
        chosen: &[u32],
        residuals: &[f64],
        fitted: &Fitted,
        solver: &Solver,
    ) -> Tails {
        self.groups.cut(self.rows, chosen);
        self.lay_out(fitted.weight);
        self.count(chosen, residuals);
        let above = |&(_, &residual): &(&u32, &f64)| residual > 0.0;
        let positive = chosen.iter().zip(residuals).filter(above);
        let positive: f64 = positive
            .map(|(&row, _)| self.rows.weights[row as usize])
            .sum();
        let positive = positive / fitted.weight;
        let taken = match self.loss {
            Loss::Squared => self.taken(chosen, residuals, fitted, positive),
            Loss::Quantile(_) => 1.0,
        };
        let mut tails = Tails::default();
        for number in 0..self.tables.len() {
            let tail = self.tail(number, fitted, positive, taken, solver);
            let Table {
                columns, across, ..
            } = self.tables[number];
            if across == 1 {
                tails.curvatures.push((tail, columns.0));
            } else {
                tails.pairs.push((tail, columns));
            }
        }
        tails
            .curvatures
            .sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        tails
    }

    fn lay_out(&mut self, weight: f64) {
        let width = self.of_row.len();
        self.tables.clear();
        let mut start = 0;
        let mut add = |columns, cells: usize, across| {
            self.tables.push(Table {
                columns,
                across,
                start,
                cells,
            });
            start += cells * width;
        };
        let varying: Vec<usize> = (0..self.rows.columns())
            .filter(|&column| self.groups.quarters(column) > 1)
            .collect();
        for (position, &first) in varying.iter().enumerate() {
            add((first, first), self.groups.quarters(first), 1);
            for &second in &varying[position + 1..] {
                let across = self.groups.halves(second);
                let cells = self.groups.halves(first) * across;
                let filled = self.groups.filled_halves(first) * self.groups.filled_halves(second);
                if cells <= MOST_CELLS && weight >= LEAST_IN_CELL * filled as f64 {
                    add((first, second), cells, across);
                }
            }
        }
        self.cells.clear();
        self.cells.resize(start, 0.0);
    }

    fn count(&mut self, chosen: &[u32], residuals: &[f64]) {
        let width = self.of_row.len();
        for (&row, &residual) in chosen.iter().zip(residuals) {
            let weight = self.rows.weights[row as usize];
            self.of_row[0] = weight;
            self.of_row[1] = if residual > 0.0 { weight } else { 0.0 };
            for (entry, z) in self.of_row[2..].iter_mut().zip(self.rows.linear_of(row)) {
                *entry = weight * z;
            }
            let bins = self.rows.bins_of(row);
            for table in &self.tables {
                let (first, second) = table.columns;
                let cell = if table.across == 1 {
                    self.groups.quarter_of(first, bins[first])
                } else {
                    self.groups.half_of(first, bins[first]) * table.across
                        + self.groups.half_of(second, bins[second])
                };
                let into = &mut self.cells[table.start + cell * width..][..width];
                for (sum, entry) in into.iter_mut().zip(&self.of_row) {
                    *sum += entry;
                }
            }
        }
    }

    /// ln of the probability that a table without any effect would be as uneven.
    fn tail(
        &mut self,
        number: usize,
        fitted: &Fitted,
        positive: f64,
        taken: f64,
        solver: &Solver,
    ) -> f64 {
        let width = self.of_row.len();
        let table = &self.tables[number];
        let cells = self.cells[table.start..][..table.cells * width].chunks_exact(width);
        let (mut statistic, mut filled) = (0.0, 0);
        self.whitened.clear();
        for cell in cells.filter(|cell| cell[0] > 0.0) {
            let weight = cell[0];
            let expected = weight * positive;
            statistic += (cell[1] - expected).powi(2) / (expected * (1.0 - positive));
            filled += 1;
            let start = self.whitened.len();
            let means = fitted.linear_sums.iter().map(|sum| sum / fitted.weight);
            let centred = cell[2..].iter().zip(means);
            self.whitened
                .extend(centred.map(|(sum, mean)| sum - weight * mean));
            let of_cell = &mut self.whitened[start..];
            solver.whiten(of_cell);
            let scale = 1.0 / weight.sqrt();
            of_cell.iter_mut().for_each(|entry| *entry *= scale);
        }
        if filled < 2 {
            return 0.0;
        }
        let freedom = f64::from(filled - 1);
        let (trace, of_square) = self.traces(width - 2);
        let mean = freedom - taken * trace;
        let variance = 2.0 * (freedom - 2.0 * taken * trace + taken * taken * of_square);
        if !(mean > LEAST_MEAN && variance > LEAST_MEAN) {
            return 0.0;
        }
        ln_tail(
            statistic * 2.0 * mean / variance,
            2.0 * mean * mean / variance,
        )
    }

    /// The traces of M and of its square.
    fn traces(&self, width: usize) -> (f64, f64) {
        if width == 0 {
            return (0.0, 0.0);
        }
        let cells = || self.whitened.chunks_exact(width);
        let (mut trace, mut of_square) = (0.0, 0.0);
        for (number, first) in cells().enumerate() {
            for (other, second) in cells().take(number + 1).enumerate() {
                let product: f64 = first.iter().zip(second).map(|(a, b)| a * b).sum();
                if other == number {
                    trace += product;
                    of_square += product * product;
                } else {
                    of_square += 2.0 * product * product;
                }
            }
        }
        (trace, of_square)
    }

    /// How much of a residual's sign its size explains, along the fitted directions: c above.
    ///
    /// With f the density of residuals at 0 and m the mean of their positive parts, (2 f m - f² σ²)
    /// / (p (1 - p)).
    fn taken(&self, chosen: &[u32], residuals: &[f64], fitted: &Fitted, positive: f64) -> f64 {
        let weights = chosen.iter().map(|&row| self.rows.weights[row as usize]);
        let (mut above, mut absolute) = (0.0, 0.0);
        for (weight, &residual) in weights.clone().zip(residuals) {
            above += weight * residual.max(0.0);
            absolute += weight * residual.abs();
        }
        let near = 0.5 * absolute / fitted.weight;
        let within: f64 = weights
            .zip(residuals)
            .filter(|(_, residual)| residual.abs() <= near)
            .map(|(weight, _)| weight)
            .sum();
        let density = within / (2.0 * near * fitted.weight);
        let variance = fitted.loss / fitted.weight;
        let taken = (2.0 * density * above / fitted.weight - density * density * variance)
            / (positive * (1.0 - positive));
        // Below 0 if a fit that follows distant residuals moves the signs of near ones. Without
        // residuals nothing is known.
        if taken.is_finite() {
            taken.clamp(LEAST_TAKEN, 1.0)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Matrix;
    use crate::guide::node_fit::Fitter;
    use crate::sampling::SplitMix64;

    /// Tails of columns without effect are uniform from 0 to 1, however often they were fitted.
    ///
    /// The test takes the fraction of tails below a tenth, for a binary number, one of five values,
    /// one of very many, and a category. 2,000 draws of 300 rows each have a standard deviation of
    /// √(0.1 · 0.9 / 2000) = 0.0067, and 0.02 is allowed for the approximation by two moments.
    #[test]
    fn tails_without_effect_are_even() {
        const DRAWS: usize = 2000;
        const ROWS: usize = 300;
        for tailed in [false, true] {
            let mut random = SplitMix64::new(7);
            let mut draw = || f64::from(random.below(1 << 30)) / f64::from(1 << 30);
            let mut below = [0usize; 4];
            for _ in 0..DRAWS {
                let features: Vec<f64> = (0..ROWS)
                    .flat_map(|_| [2.0, 5.0, 1e6, 3.0].map(|levels| (levels * draw()).floor()))
                    .collect();
                let targets: Vec<f64> = (0..ROWS)
                    .map(|_| {
                        let normal = (0..12).map(|_| draw()).sum::<f64>() - 6.0;
                        // One in twenty reaches six times as far.
                        if tailed && draw() < 0.05 {
                            6.0 * normal
                        } else {
                            normal
                        }
                    })
                    .collect();
                let matrix = Matrix::new(&features, ROWS, 4).unwrap();
                let kinds = [false, false, false, true];
                let rows = Rows::new(&matrix, &targets, &[1.0; ROWS], &kinds, 64).unwrap();
                let chosen: Vec<u32> = (0..ROWS as u32).collect();
                let mut residuals = Vec::new();
                let mut fitter = Fitter::new(&rows, Loss::Squared, 0.0);
                let fitted = fitter.fit(&chosen, &mut residuals);
                let mut tests = Tests::new(&rows, Loss::Squared);
                let tails = tests.tails(&chosen, &residuals, &fitted, &fitter.solver);
                for (tail, column) in tails.curvatures {
                    below[column] += usize::from(tail < 0.1f64.ln());
                }
            }
            for (column, &count) in below.iter().enumerate() {
                let share = count as f64 / DRAWS as f64;
                assert!(
                    (share - 0.1).abs() < 0.02 + 3.0 * 0.0067,
                    "column {column}: {share}"
                );
            }
        }
    }
}
