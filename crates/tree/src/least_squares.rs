//! Ridge regression from sums, so that the sums of bins can be added and subtracted.
//!
//! For features z (standardised; 0 where missing) and target y the sums are
//!
//! ```text
//! n  Σy²  Σz_0 .. Σz_d-1  Σy  |  column 0: Σz_0z_0 .. Σz_0z_d-1  Σz_0y  |  column 1: Σz_1z_1 ..
//! ```
//!
//! Centring inside the node leaves the intercept unpenalised and makes the fit independent of the
//! features' zero. It is solved by LDLᵀ, column by column, with the target as one more row. A
//! column that does not vary, or that earlier columns explain, gets the coefficient 0.

/// Fraction of a column's own sum of squares below which its pivot counts as rounding.
const NEGLIGIBLE: f64 = 1e-11;

/// The index of the targets' sum of squares.
pub(crate) const SQUARES: usize = 1;

/// The index of each sum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Features in the linear part; 0 for a constant.
    pub(crate) features: usize,
}

impl Layout {
    pub(crate) fn len(self) -> usize {
        self.columns_start() + self.features * (self.features + 3) / 2
    }

    fn columns_start(self) -> usize {
        3 + self.features
    }

    /// Adds one row, or other sums, to the sums.
    pub(crate) fn add(self, sums: &mut [f64], others: &[f64]) {
        for (sum, other) in sums.iter_mut().zip(others) {
            *sum += other;
        }
    }

    /// Adds the sums of one row, as often as its weight says.
    pub(crate) fn add_weighted(self, sums: &mut [f64], row_sums: &[f64], weight: f64) {
        for (sum, of_row) in sums.iter_mut().zip(row_sums) {
            *sum += weight * of_row;
        }
    }

    /// Adds the part of a row's sums that depends on its target, at the same places as `row_sums`.
    pub(crate) fn add_target(self, sums: &mut [f64], z: &[f64], target: f64) {
        let d = self.features;
        sums[SQUARES] += target * target;
        sums[2 + d] += target;
        let mut at = self.columns_start();
        for (j, z) in z[..d].iter().enumerate() {
            // The target ends each column, and each column is one shorter than the one before.
            at += d + 1 - j;
            sums[at - 1] += z * target;
        }
    }

    /// A row's own sums, as `add` adds them.
    pub(crate) fn row_sums(self, z: &[f64], target: f64, into: &mut [f64]) {
        let d = self.features;
        into[0] = 1.0;
        into[SQUARES] = target * target;
        let (firsts, columns) = into[2..].split_at_mut(d + 1);
        firsts[..d].copy_from_slice(&z[..d]);
        firsts[d] = target;
        let mut products = columns.iter_mut();
        for j in 0..d {
            for first in &firsts[j..] {
                if let Some(product) = products.next() {
                    *product = firsts[j] * first;
                }
            }
        }
    }
}

/// Number of fits solved at once: one sum each, for the two sides.
pub(crate) const SIDES: usize = 2;

/// Space for the solutions of two fits, kept between calls.
///
/// Two are solved at once because that takes as long as one. Each step is done to both, with the
/// same rounding as alone.
pub(crate) struct Solver {
    layout: Layout,
    ridge: f64,
    /// Columns from the diagonal down to the target, centred, then eliminated in place.
    columns: Vec<[f64; SIDES]>,
    /// 1 over each pivot; 0 for a column that does not count.
    inverse: Vec<[f64; SIDES]>,
}

impl Solver {
    pub(crate) fn new(layout: Layout, ridge: f64) -> Self {
        Self {
            layout,
            ridge,
            columns: vec![[0.0; SIDES]; layout.len() - layout.columns_start()],
            inverse: vec![[0.0; SIDES]; layout.features],
        }
    }

    /// The least penalised sum of squares of one fit; 0 without rows.
    pub(crate) fn loss(&mut self, sums: &[f64]) -> f64 {
        let both: Vec<[f64; SIDES]> = sums.iter().map(|&sum| [sum; SIDES]).collect();
        self.losses(&both)[0]
    }

    /// The least penalised sums of squares; 0 without rows.
    pub(crate) fn losses(&mut self, sums: &[[f64; SIDES]]) -> [f64; SIDES] {
        let d = self.layout.features;
        let count = sums[0];
        let firsts = &sums[2..=2 + d];
        let raw = &sums[self.layout.columns_start()..];
        self.centre(firsts, raw, count);
        let mut losses = [0.0; SIDES];
        for side in 0..SIDES {
            let total = firsts[d][side];
            losses[side] = sums[SQUARES][side] - total * total / count[side];
        }
        let mut start = 0;
        let mut rest = self.columns.as_mut_slice();
        for j in 0..d {
            let (column, after) = rest.split_at_mut(d + 1 - j);
            let to_target = column[d - j];
            for side in 0..SIDES {
                let first = firsts[j][side];
                let own = raw[start][side] - first * first / count[side];
                let pivot = column[0][side] + self.ridge;
                let varies = own > NEGLIGIBLE * raw[start][side] && pivot > NEGLIGIBLE * own;
                self.inverse[j][side] = if varies { 1.0 / pivot } else { 0.0 };
                losses[side] -= to_target[side] * to_target[side] * self.inverse[j][side];
            }
            eliminate(&column[1..], self.inverse[j], after);
            start += column.len();
            rest = after;
        }
        for side in 0..SIDES {
            let has_rows = count[side] > 0.0;
            losses[side] = if has_rows { losses[side].max(0.0) } else { 0.0 };
        }
        losses
    }

    fn centre(&mut self, firsts: &[[f64; SIDES]], raw: &[[f64; SIDES]], count: [f64; SIDES]) {
        let mut start = 0;
        for (j, first) in firsts[..self.layout.features].iter().enumerate() {
            let mean = [first[0] / count[0], first[1] / count[1]];
            let column = start..start + firsts.len() - j;
            let entries = self.columns[column.clone()]
                .iter_mut()
                .zip(&raw[column.clone()]);
            for ((entry, raw), first) in entries.zip(&firsts[j..]) {
                for side in 0..SIDES {
                    entry[side] = raw[side] - mean[side] * first[side];
                }
            }
            start = column.end;
        }
    }

    /// Intercept (at z = 0) and coefficients of the fit with the least loss.
    pub(crate) fn coefficients(&mut self, sums: &[f64]) -> (f64, Vec<f64>) {
        let d = self.layout.features;
        let mut coefficients = vec![0.0; d];
        if sums[0] <= 0.0 {
            return (0.0, coefficients);
        }
        self.loss(sums);
        let mut end = self.columns.len();
        for j in (0..d).rev() {
            let column = &self.columns[end - (d + 1 - j)..end];
            let mut value = column[d - j][0];
            for (entry, coefficient) in column[1..].iter().zip(&coefficients[j + 1..]) {
                value -= entry[0] * coefficient;
            }
            coefficients[j] = value * self.inverse[j][0];
            end -= column.len();
        }
        let mut intercept = sums[2 + d];
        for (coefficient, sum) in coefficients.iter().zip(&sums[2..2 + d]) {
            intercept -= coefficient * sum;
        }
        (intercept / sums[0], coefficients)
    }

    /// Columns that count in each of the fits solved last.
    pub(crate) fn ranks(&self) -> [usize; SIDES] {
        let counted = |side: usize| {
            let counts = |of_column: &&[f64; SIDES]| of_column[side] > 0.0;
            self.inverse.iter().filter(counts).count()
        };
        [counted(0), counted(1)]
    }

    /// Scales sums of centred features so that their squares add up to what the last fit explains
    /// by them: half of the inverse of its matrix, times `sums`.
    pub(crate) fn whiten(&self, sums: &mut [f64]) {
        let d = self.layout.features;
        let mut rest = self.columns.as_slice();
        for j in 0..d {
            let (column, after) = rest.split_at(d + 1 - j);
            let own = sums[j] * self.inverse[j][0];
            for (later, entry) in sums[j + 1..].iter_mut().zip(&column[1..]) {
                *later -= own * entry[0];
            }
            sums[j] *= self.inverse[j][0].sqrt();
            rest = after;
        }
    }
}

/// Removes from the columns after it what a column (below its diagonal) explains.
fn eliminate(below: &[[f64; SIDES]], inverse: [f64; SIDES], mut after: &mut [[f64; SIDES]]) {
    for first in 0..below.len() - 1 {
        let factor = [below[first][0] * inverse[0], below[first][1] * inverse[1]];
        let (column, rest) = after.split_at_mut(below.len() - first);
        for (entry, other) in column.iter_mut().zip(&below[first..]) {
            for side in 0..SIDES {
                entry[side] -= factor[side] * other[side];
            }
        }
        after = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums_of(rows: &[(Vec<f64>, f64)]) -> (Layout, Vec<f64>) {
        let layout = Layout {
            features: rows[0].0.len(),
        };
        let mut sums = vec![0.0; layout.len()];
        let mut one = sums.clone();
        for (z, target) in rows {
            layout.row_sums(z, *target, &mut one);
            layout.add(&mut sums, &one);
        }
        (layout, sums)
    }

    #[test]
    fn one_feature_has_the_textbook_slope() {
        // Σ(x-x̄)(y-ȳ) / (Σ(x-x̄)² + ridge), by hand: 11 / (5 + ridge).
        let rows: Vec<_> = [(1.0, 2.0), (2.0, 3.0), (3.0, 7.0), (4.0, 8.0)]
            .iter()
            .map(|&(x, y)| (vec![x], y))
            .collect();
        let (layout, sums) = sums_of(&rows);
        for ridge in [0.0, 6.0] {
            let (intercept, slopes) = Solver::new(layout, ridge).coefficients(&sums);
            assert!((slopes[0] - 11.0 / (5.0 + ridge)).abs() < 1e-12);
            assert!((intercept - (5.0 - 2.5 * slopes[0])).abs() < 1e-12);
        }
    }

    #[test]
    fn whitened_sums_give_what_the_fit_explains() {
        let rows: Vec<_> = (0..20)
            .map(|i| {
                let x = f64::from(i % 6) - 2.0;
                let w = f64::from(i * i % 7);
                (vec![x, w], x * w + 0.3 * x)
            })
            .collect();
        let (layout, sums) = sums_of(&rows);
        let mut solver = Solver::new(layout, 0.0);
        let mean = sums[4] / sums[0];
        let left = solver.loss(&sums);
        // For the centred features and the target.
        let mut products = [0.0; 2];
        for (z, y) in &rows {
            for (product, z) in products.iter_mut().zip(z) {
                *product += z * (y - mean);
            }
        }
        solver.whiten(&mut products);
        let explained = products[0].powi(2) + products[1].powi(2);
        let total = sums[SQUARES] - sums[0] * mean * mean;
        assert!((total - left - explained).abs() < 1e-9 * total);
    }

    #[test]
    fn constant_and_repeated_columns_get_nothing() {
        let rows: Vec<_> = (0..10)
            .map(|i| {
                let x = f64::from(i);
                (vec![x, 3.0, 2.0 * x], 5.0 + 4.0 * x)
            })
            .collect();
        let (layout, sums) = sums_of(&rows);
        let mut solver = Solver::new(layout, 0.0);
        let (intercept, slopes) = solver.coefficients(&sums);
        assert!((intercept - 5.0).abs() < 1e-9);
        assert!((slopes[0] - 4.0).abs() < 1e-9);
        assert_eq!((slopes[1], slopes[2]), (0.0, 0.0));
        assert!(solver.loss(&sums) < 1e-9);
    }

    #[test]
    fn the_loss_is_that_of_the_coefficients() {
        let rows: Vec<_> = (0..30)
            .map(|i| {
                let x = f64::from(i % 7) - 3.0;
                let w = f64::from(i % 5);
                (vec![x, w], x * w + 0.3 * x)
            })
            .collect();
        let (layout, sums) = sums_of(&rows);
        let ridge = 0.7;
        let mut solver = Solver::new(layout, ridge);
        let (intercept, slopes) = solver.coefficients(&sums);
        let penalised = rows
            .iter()
            .map(|(z, y)| (y - intercept - slopes[0] * z[0] - slopes[1] * z[1]).powi(2))
            .sum::<f64>()
            + ridge * (slopes[0].powi(2) + slopes[1].powi(2));
        assert!((solver.loss(&sums) - penalised).abs() < 1e-10 * penalised);
    }
}
