//! Ridge regression from sums, so that the sums of bins can be added and taken apart.
//!
//! For features z (standardised; 0 where missing) and target y the sums are
//! `[n, Σy, Σy², Σz (d), Σzy (d), Σzz' (lower triangle, row by row)]`. Centring inside
//! the node leaves the intercept unpenalised and makes the fit independent of where
//! the features' zero lies. Solved by Cholesky; a column that does not vary, or that the
//! columns before it explain, gets the coefficient 0.

/// Share of a column's own sum of squares below which its pivot counts as rounding.
const NEGLIGIBLE: f64 = 1e-11;

/// Where each sum lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Features in the linear part; 0 for a constant.
    pub(crate) features: usize,
}

impl Layout {
    pub(crate) fn len(self) -> usize {
        3 + 2 * self.features + self.features * (self.features + 1) / 2
    }

    /// Adds one row to the sums.
    pub(crate) fn add(self, sums: &mut [f64], row: &[f64]) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }

    /// The row's own sums: what `add` adds.
    pub(crate) fn row_sums(self, z: &[f64], target: f64, into: &mut [f64]) {
        let d = self.features;
        into[0] = 1.0;
        into[1] = target;
        into[2] = target * target;
        let mut at = 3 + 2 * d;
        for i in 0..d {
            into[3 + i] = z[i];
            into[3 + d + i] = z[i] * target;
            for j in 0..=i {
                into[at] = z[i] * z[j];
                at += 1;
            }
        }
    }
}

/// Space for one solution, kept between calls.
pub(crate) struct Solver {
    layout: Layout,
    ridge: f64,
    /// Rows of the lower triangle, packed.
    lower: Vec<f64>,
    inverse_diagonal: Vec<f64>,
    reduced: Vec<f64>,
}

impl Solver {
    pub(crate) fn new(layout: Layout, ridge: f64) -> Self {
        let d = layout.features;
        Self {
            layout,
            ridge,
            lower: vec![0.0; d * (d + 1) / 2],
            inverse_diagonal: vec![0.0; d],
            reduced: vec![0.0; d],
        }
    }

    /// The least penalised sum of squares; 0 where there are no rows.
    pub(crate) fn loss(&mut self, sums: &[f64]) -> f64 {
        let d = self.layout.features;
        let count = sums[0];
        if count <= 0.0 {
            return 0.0;
        }
        let mean = sums[1] / count;
        let mut loss = sums[2] - sums[1] * mean;
        let (sum_z, rest) = sums[3..].split_at(d);
        let (sum_zy, sum_zz) = rest.split_at(d);
        let mut start = 0;
        for i in 0..d {
            let mean_i = sum_z[i] / count;
            let (above, from_i) = self.lower.split_at_mut(start);
            let row = &mut from_i[..=i];
            let products = &sum_zz[start..=start + i];
            let mut reduced = sum_zy[i] - mean_i * sums[1];
            let mut explained = 0.0;
            let mut other = 0;
            for j in 0..i {
                let mut entry = products[j] - mean_i * sum_z[j];
                for k in 0..j {
                    entry -= row[k] * above[other + k];
                }
                entry *= self.inverse_diagonal[j];
                row[j] = entry;
                explained += entry * entry;
                reduced -= entry * self.reduced[j];
                other += j + 1;
            }
            let own = products[i] - mean_i * sum_z[i];
            let pivot = own + self.ridge - explained;
            let varies = own > NEGLIGIBLE * products[i] && pivot > NEGLIGIBLE * own;
            let inverse = if varies { 1.0 / pivot.sqrt() } else { 0.0 };
            self.inverse_diagonal[i] = inverse;
            self.reduced[i] = reduced * inverse;
            loss -= self.reduced[i] * self.reduced[i];
            start += i + 1;
        }
        loss.max(0.0)
    }

    /// Intercept (at z = 0) and coefficients of the fit with the least loss.
    pub(crate) fn coefficients(&mut self, sums: &[f64]) -> (f64, Vec<f64>) {
        let d = self.layout.features;
        if sums[0] <= 0.0 {
            return (0.0, vec![0.0; d]);
        }
        self.loss(sums);
        let mut coefficients = vec![0.0; d];
        for i in (0..d).rev() {
            let mut value = self.reduced[i];
            for (k, coefficient) in coefficients.iter().enumerate().skip(i + 1) {
                value -= self.lower[k * (k + 1) / 2 + i] * coefficient;
            }
            coefficients[i] = value * self.inverse_diagonal[i];
        }
        let mut intercept = sums[1];
        for (coefficient, sum) in coefficients.iter().zip(&sums[3..3 + d]) {
            intercept -= coefficient * sum;
        }
        (intercept / sums[0], coefficients)
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
