//! The linear function that a node predicts, and its error.

use crate::guide::Loss;
use crate::guide::quantile;
use crate::guide::rows::Rows;
use crate::least_squares::{Layout, SQUARES, Solver};

/// A fit over the linear columns, standardised; each is clamped to the node's own range.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fit {
    pub(crate) intercept: f64,
    pub(crate) coefficients: Vec<f64>,
    /// Lowest and highest bin of each linear column in the node; `None` if all are missing.
    pub(crate) bins: Vec<Option<(u8, u8)>>,
}

impl Fit {
    /// The prediction for one of the rows that the function was fitted to.
    pub(crate) fn inside(&self, linear: &[f64]) -> f64 {
        let terms = linear.iter().zip(&self.coefficients);
        terms.fold(self.intercept, |sum, (z, coefficient)| {
            sum + z * coefficient
        })
    }

    /// The prediction for any row.
    pub(crate) fn answer(&self, rows: &Rows, row: u32) -> f64 {
        let (linear, bins) = (rows.linear_of(row), rows.bins_of(row));
        let mut answer = self.intercept;
        for (number, &column) in rows.numeric.iter().enumerate() {
            let binned = rows.column(column);
            let Some((low, high)) = self.bins[number] else {
                continue;
            };
            if usize::from(bins[column]) < binned.bins() {
                let standardised = |value: f64| (value - binned.centre) / binned.scale;
                let low = standardised(binned.reach_down(usize::from(low)));
                let high = standardised(binned.reach_up(usize::from(high)));
                answer += self.coefficients[number] * linear[number].clamp(low, high);
            }
        }
        answer
    }
}

/// A node's fit with the values that the search for its split needs.
pub(crate) struct Fitted {
    pub(crate) fit: Fit,
    pub(crate) weight: f64,
    /// Weighted mean of the targets.
    pub(crate) mean: f64,
    /// Weighted sum of the losses.
    pub(crate) loss: f64,
    /// Weighted sums of the linear columns.
    pub(crate) linear_sums: Vec<f64>,
}

/// Fits nodes, one after another.
pub(crate) struct Fitter<'a> {
    rows: &'a Rows,
    loss: Loss,
    layout: Layout,
    pub(crate) solver: Solver,
    sums: Vec<f64>,
    row_sums: Vec<f64>,
}

impl<'a> Fitter<'a> {
    pub(crate) fn new(rows: &'a Rows, loss: Loss, ridge: f64) -> Self {
        let layout = Layout {
            features: rows.numeric.len(),
        };
        Self {
            rows,
            loss,
            layout,
            solver: Solver::new(layout, ridge),
            sums: vec![0.0; layout.len()],
            row_sums: vec![0.0; layout.len()],
        }
    }

    /// Fits the node of the chosen rows and writes the residual of each.
    pub(crate) fn fit(&mut self, chosen: &[u32], residuals: &mut Vec<f64>) -> Fitted {
        let rows = self.rows;
        let width = self.layout.features;
        self.sums.fill(0.0);
        let mut bins = vec![None; width];
        for &row in chosen {
            let target = rows.targets[row as usize];
            self.layout
                .row_sums(rows.linear_of(row), target, &mut self.row_sums);
            let weight = rows.weights[row as usize];
            self.layout
                .add_weighted(&mut self.sums, &self.row_sums, weight);
            widen(rows, row, &mut bins);
        }
        let (mut intercept, mut coefficients) = self.solver.coefficients(&self.sums);
        if let Loss::Quantile(wanted) = self.loss {
            (intercept, coefficients) =
                quantile::fit(rows, chosen, wanted, (intercept, coefficients));
        }
        let fit = Fit {
            intercept,
            coefficients,
            bins,
        };
        residuals.clear();
        residuals.extend(
            chosen
                .iter()
                .map(|&row| rows.targets[row as usize] - fit.inside(rows.linear_of(row))),
        );
        let losses = chosen.iter().zip(residuals.iter());
        Fitted {
            fit,
            weight: self.sums[0],
            mean: self.sums[2 + width] / self.sums[0],
            loss: losses
                .map(|(&row, &residual)| rows.weights[row as usize] * self.loss.of(residual))
                .sum(),
            linear_sums: self.sums[2..2 + width].to_vec(),
        }
    }

    /// Approximately the loss of the best constant, with which a fit is compared.
    pub(crate) fn spread(&self) -> f64 {
        let total = self.sums[2 + self.layout.features];
        self.sums[SQUARES] - total * total / self.sums[0]
    }
}

fn widen(rows: &Rows, row: u32, bins: &mut [Option<(u8, u8)>]) {
    let of_row = rows.bins_of(row);
    for (&column, known) in rows.numeric.iter().zip(bins) {
        let bin = of_row[column];
        if usize::from(bin) < rows.column(column).bins() {
            *known = Some(known.map_or((bin, bin), |(low, high)| (low.min(bin), high.max(bin))));
        }
    }
}
