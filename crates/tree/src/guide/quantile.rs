//! Linear quantile regression (Koenker and Bassett 1978) by an interior point method.
//!
//! The fit minimises the pinball loss `Σ w ρ(y - b0 - b'z)` with `ρ(r) = r (q - [r < 0])`. Its dual
//! is a linear program with one bounded unknown a row,
//!
//! ```text
//! maximise y'a   subject to   X'a = (1 - q) X'w,   0 <= a <= w
//! ```
//!
//! solved along its central path with a predictor and a corrector a step (Mehrotra 1992;
//! Portnoy and Koenker 1997). Each of the two is a weighted least-squares fit, so that the
//! solver of the least squares is the only one.

use crate::guide::rows::Rows;
use crate::least_squares::{Layout, Solver};

/// The fraction of the loss that may remain between a fit and its bound.
const GAP: f64 = 1e-10;
const MOST_STEPS: usize = 60;
/// The fraction of the way to the bounds that a step takes.
const SHORT_OF_BOUNDS: f64 = 0.9995;

/// The pinball loss of a residual.
pub(crate) fn pinball(residual: f64, quantile: f64) -> f64 {
    residual * (quantile - f64::from(u8::from(residual < 0.0)))
}

/// A row's unknowns, and their changes in a step.
#[derive(Clone, Copy, Default)]
struct Unknown {
    a: f64,
    s: f64,
    z: f64,
    w: f64,
    da: f64,
    dz: f64,
    dw: f64,
    /// What remains of the predictor in the corrector's target.
    correction: f64,
}

impl Unknown {
    fn scale(&self) -> f64 {
        1.0 / (self.z / self.a + self.w / self.s)
    }
}

/// Intercept and coefficients of the linear part, starting from a least-squares fit.
pub(crate) fn fit(
    rows: &Rows,
    chosen: &[u32],
    quantile: f64,
    start: (f64, Vec<f64>),
) -> (f64, Vec<f64>) {
    let mut path = Path::new(rows, chosen, quantile, start);
    let mut best = path.fit.clone();
    let mut least = path.loss();
    for _ in 0..MOST_STEPS {
        if path.gap() <= GAP * least || !path.step() {
            break;
        }
        let loss = path.loss();
        if loss < least {
            least = loss;
            best.clone_from(&path.fit);
        }
    }
    best
}

/// The central path of one fit.
struct Path<'a> {
    rows: &'a Rows,
    chosen: &'a [u32],
    quantile: f64,
    layout: Layout,
    solver: Solver,
    fit: (f64, Vec<f64>),
    unknowns: Vec<Unknown>,
}

impl<'a> Path<'a> {
    fn new(rows: &'a Rows, chosen: &'a [u32], quantile: f64, fit: (f64, Vec<f64>)) -> Self {
        let layout = Layout {
            features: rows.numeric.len(),
        };
        let mut made = Self {
            rows,
            chosen,
            quantile,
            layout,
            solver: Solver::new(layout, 0.0),
            fit,
            unknowns: Vec::new(),
        };
        let residuals: Vec<f64> = chosen.iter().map(|&row| made.residual(row)).collect();
        let mean = residuals.iter().map(|r| r.abs()).sum::<f64>() / residuals.len() as f64;
        // Away from the bounds, by a part of the usual residual.
        let away = 0.1 * mean;
        made.unknowns = chosen
            .iter()
            .zip(residuals)
            .map(|(&row, residual)| {
                let weight = rows.weights[row as usize];
                // The dual is a minimum of -y'a, so its slack is minus the residual.
                Unknown {
                    a: (1.0 - quantile) * weight,
                    s: quantile * weight,
                    z: (-residual).max(0.0) + away,
                    w: residual.max(0.0) + away,
                    ..Unknown::default()
                }
            })
            .collect();
        made
    }

    fn residual(&self, row: u32) -> f64 {
        let linear = self.rows.linear_of(row).iter().zip(&self.fit.1);
        linear.fold(
            self.rows.targets[row as usize] - self.fit.0,
            |left, (z, coefficient)| left - z * coefficient,
        )
    }

    fn loss(&self) -> f64 {
        self.chosen
            .iter()
            .map(|&row| {
                self.rows.weights[row as usize] * pinball(self.residual(row), self.quantile)
            })
            .sum()
    }

    /// The gap between both programs.
    fn gap(&self) -> f64 {
        self.unknowns.iter().map(|u| u.z * u.a + u.w * u.s).sum()
    }

    /// One step along the path; false when steps have become too short for f64.
    fn step(&mut self) -> bool {
        let gap = self.gap();
        let count = self.unknowns.len() as f64;
        // Rows' multipliers balance the residual: z - w = -(y - b0 - b'z).
        let change = self.solve(|unknown| unknown.z - unknown.w);
        self.direct(&change, 0.0);
        let (primal, dual) = self.lengths();
        if primal.min(dual) < 1.0 {
            let after: f64 = self
                .unknowns
                .iter()
                .map(|u| {
                    (u.z + dual * u.dz) * (u.a + primal * u.da)
                        + (u.w + dual * u.dw) * (u.s - primal * u.da)
                })
                .sum();
            let centre = (after / gap).powi(3) * gap / (2.0 * count);
            for u in &mut self.unknowns {
                u.correction = u.da * u.dz / u.a + u.da * u.dw / u.s - centre / u.a + centre / u.s;
            }
            let change = self.solve(|unknown| unknown.z - unknown.w + unknown.correction);
            self.direct(&change, centre);
            return self.advance(&change);
        }
        self.advance(&change)
    }

    /// How the fit changes: weighted least squares of a target made of the unknowns.
    fn solve(&mut self, target: impl Fn(&Unknown) -> f64) -> (f64, Vec<f64>) {
        let mut sums = vec![0.0; self.layout.len()];
        let mut row_sums = sums.clone();
        for (&row, unknown) in self.chosen.iter().zip(&self.unknowns) {
            self.layout
                .row_sums(self.rows.linear_of(row), target(unknown), &mut row_sums);
            self.layout
                .add_weighted(&mut sums, &row_sums, unknown.scale());
        }
        self.solver.coefficients(&sums)
    }

    /// Turns a change of the fit into changes of the unknowns.
    fn direct(&mut self, change: &(f64, Vec<f64>), centre: f64) {
        for (&row, u) in self.chosen.iter().zip(&mut self.unknowns) {
            let linear = self.rows.linear_of(row).iter().zip(&change.1);
            let of_fit = linear.fold(change.0, |sum, (z, coefficient)| sum + z * coefficient);
            // With the predictor still in da, dz and dw.
            let (lower, upper) = if centre > 0.0 {
                (u.da * u.dz, -u.da * u.dw)
            } else {
                (0.0, 0.0)
            };
            let correction = if centre > 0.0 { u.correction } else { 0.0 };
            u.da = u.scale() * (of_fit - (u.z - u.w) - correction);
            u.dz = (centre - lower - u.z * u.da) / u.a - u.z;
            u.dw = (centre - upper + u.w * u.da) / u.s - u.w;
        }
    }

    /// How far the unknowns and their multipliers may go, at most 1.
    fn lengths(&self) -> (f64, f64) {
        let (mut primal, mut dual) = (f64::INFINITY, f64::INFINITY);
        let room = |value: f64, change: f64| {
            if change < 0.0 {
                -value / change
            } else {
                f64::INFINITY
            }
        };
        for u in &self.unknowns {
            primal = primal.min(room(u.a, u.da)).min(room(u.s, -u.da));
            dual = dual.min(room(u.z, u.dz)).min(room(u.w, u.dw));
        }
        (
            (SHORT_OF_BOUNDS * primal).min(1.0),
            (SHORT_OF_BOUNDS * dual).min(1.0),
        )
    }

    fn advance(&mut self, change: &(f64, Vec<f64>)) -> bool {
        let (primal, dual) = self.lengths();
        let numbers = [change.0, primal, dual];
        if numbers
            .iter()
            .chain(&change.1)
            .any(|number| !number.is_finite())
        {
            return false;
        }
        for u in &mut self.unknowns {
            u.a += primal * u.da;
            u.s -= primal * u.da;
            u.z += dual * u.dz;
            u.w += dual * u.dw;
        }
        // The multiplier of the dual's equations is minus the fit.
        self.fit.0 -= dual * change.0;
        for (coefficient, change) in self.fit.1.iter_mut().zip(&change.1) {
            *coefficient -= dual * change;
        }
        primal.max(dual) > 1e-12
    }
}
