//! Where a column is split: at the place where linear fits on the two sides explain most of the
//! scores.
//!
//! The score of a row is the gradient of its loss: its residual for squares, `q - [r < 0]` for a
//! quantile. For squares the gain is exactly the loss saved. For a quantile it is the test whether
//! one fit will do. So both need one weighted least-squares fit on each side.
//!
//! Numbers are cut between any two bins, categories into any two sets: all sets up to ten
//! categories, beyond that along their mean scores (Fisher 1958). Missing values go to the side
//! where they fit better, or form a side of their own. If a node has none, missing values go to the
//! heavier side.

use crate::guide::Loss;
use crate::guide::chi_squared::ln_tail;
use crate::guide::residual_tests::Verdict;
use crate::guide::rows::Rows;
use crate::least_squares::{Layout, SIDES, Solver};

/// The most categories, including missing values, for which every partition is tried.
const MOST_PARTED: usize = 10;

/// The bins that go left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Bins([u64; 4]);

impl Bins {
    pub(crate) fn insert(&mut self, bin: usize) {
        self.0[bin / 64] |= 1 << (bin % 64);
    }

    pub(crate) fn holds(&self, bin: usize) -> bool {
        self.0[bin / 64] >> (bin % 64) & 1 == 1
    }
}

/// How a node divides its rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Split {
    pub(crate) column: usize,
    pub(crate) left: Bins,
    /// Of numbers: values up to this one go left.
    pub(crate) threshold: f64,
    gain: f64,
}

impl Split {
    pub(crate) fn goes_left(&self, rows: &Rows, row: u32) -> bool {
        self.left.holds(usize::from(rows.bins_of(row)[self.column]))
    }
}

/// Searches splits, one node after another.
pub(crate) struct Search<'a> {
    rows: &'a Rows,
    loss: Loss,
    least_weight: f64,
    layout: Layout,
    solver: Solver,
    row_sums: Vec<f64>,
    /// Sums of the bins of the current column, missing values last.
    bins: Vec<f64>,
    total: Vec<f64>,
    left: Vec<f64>,
    sides: Vec<[f64; SIDES]>,
}

/// A node's rows with their scores.
pub(crate) struct Scored<'a> {
    pub(crate) chosen: &'a [u32],
    pub(crate) residuals: &'a [f64],
}

impl<'a> Search<'a> {
    pub(crate) fn new(rows: &'a Rows, loss: Loss, ridge: f64, least_weight: f64) -> Self {
        let layout = Layout {
            features: rows.numeric.len(),
        };
        Self {
            rows,
            loss,
            least_weight,
            layout,
            solver: Solver::new(layout, ridge),
            row_sums: vec![0.0; layout.len()],
            bins: Vec::new(),
            total: Vec::new(),
            left: Vec::new(),
            sides: vec![[0.0; SIDES]; layout.len()],
        }
    }

    /// The best split of the column that the tests chose, or of the next column that has one.
    pub(crate) fn split(
        &mut self,
        node: &Scored<'_>,
        verdict: &Verdict,
        median_bin: impl Fn(usize) -> usize,
    ) -> Option<Split> {
        let first = verdict
            .pair
            .and_then(|(a, b)| self.of_pair(node, verdict, a, b, median_bin));
        first
            .into_iter()
            .chain(verdict.ranked.iter().copied())
            .find_map(|column| self.on(node, column))
    }

    /// Of two number columns, the one whose cut at the median is stronger; otherwise the one with
    /// the stronger curvature.
    ///
    /// The paper compares the gains of the cuts. Here it is how unlikely the gains are, because a
    /// cut of a column with only two values leaves its fits fewer coefficients.
    fn of_pair(
        &mut self,
        node: &Scored<'_>,
        verdict: &Verdict,
        a: usize,
        b: usize,
        median_bin: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        if self.rows.categorical[a] || self.rows.categorical[b] {
            return verdict
                .ranked
                .iter()
                .copied()
                .find(|&column| column == a || column == b);
        }
        let of_first = self.median_tail(node, a, median_bin(a));
        let of_second = self.median_tail(node, b, median_bin(b));
        Some(if of_second < of_first { b } else { a })
    }

    /// ln of the probability that a cut at the median gains as much without any effect.
    fn median_tail(&mut self, node: &Scored<'_>, column: usize, last_left: usize) -> f64 {
        self.add_up(node, column);
        self.clear_left();
        (0..=last_left).for_each(|bin| self.add_to_left(bin));
        let one = self.solver.loss(&self.total);
        let [of_one, _] = self.solver.ranks();
        let Some(two) = self.gain(None).map(|gain| -gain) else {
            return 0.0;
        };
        // Each side has its own intercept.
        let [left, right] = self.solver.ranks();
        let freedom = (left + right + 1).saturating_sub(of_one);
        ln_tail((one - two) / one * self.total[0], freedom as f64)
    }

    /// The best split on a column, if both sides can be heavy enough.
    pub(crate) fn on(&mut self, node: &Scored<'_>, column: usize) -> Option<Split> {
        self.add_up(node, column);
        if self.rows.categorical[column] {
            self.on_categories(column)
        } else {
            self.on_numbers(column)
        }
    }

    fn add_up(&mut self, node: &Scored<'_>, column: usize) {
        let length = self.layout.len();
        self.bins.clear();
        self.bins
            .resize((self.rows.column(column).bins() + 1) * length, 0.0);
        for (&row, &residual) in node.chosen.iter().zip(node.residuals) {
            self.layout.row_sums(
                self.rows.linear_of(row),
                self.loss.score(residual),
                &mut self.row_sums,
            );
            let bin = usize::from(self.rows.bins_of(row)[column]);
            self.layout.add_weighted(
                &mut self.bins[bin * length..][..length],
                &self.row_sums,
                self.rows.weights[row as usize],
            );
        }
        self.total.clear();
        self.total.resize(length, 0.0);
        for bin in self.bins.chunks_exact(length) {
            self.layout.add(&mut self.total, bin);
        }
    }

    fn filled(&self, bins: usize) -> Vec<usize> {
        let length = self.layout.len();
        (0..bins)
            .filter(|&bin| self.bins[bin * length] > 0.0)
            .collect()
    }

    fn on_numbers(&mut self, column: usize) -> Option<Split> {
        let missing = self.rows.column(column).bins();
        let mut best: Option<Split> = None;
        self.clear_left();
        for last_left in self.filled(missing) {
            self.add_to_left(last_left);
            if let Some(split) = self.after(column, last_left)
                && best.is_none_or(|known| split.gain > known.gain)
            {
                best = Some(split);
            }
        }
        best
    }

    fn clear_left(&mut self) {
        self.left.clear();
        self.left.resize(self.layout.len(), 0.0);
    }

    fn add_to_left(&mut self, bin: usize) {
        let length = self.layout.len();
        self.layout
            .add(&mut self.left, &self.bins[bin * length..][..length]);
    }

    /// The split after a bin. `left` holds the bins up to it; missing values go where they fit
    /// better.
    fn after(&mut self, column: usize, last_left: usize) -> Option<Split> {
        let length = self.layout.len();
        let column_bins = self.rows.column(column);
        let missing = column_bins.bins();
        let has_missing = self.bins[missing * length] > 0.0;
        let next = (last_left + 1..missing).find(|&bin| self.bins[bin * length] > 0.0);
        let heavier_left = self.left[0] >= self.total[0] - self.left[0];
        let choices: &[bool] = match (next, has_missing) {
            (None, false) => &[],
            (None, true) => &[false],
            (Some(_), false) => &[heavier_left],
            (Some(_), true) => &[true, false],
        };
        let threshold = next.map_or(f64::MAX, |above| column_bins.threshold(last_left, above));
        let mut best: Option<(f64, bool)> = None;
        for &missing_left in choices {
            let gain = self.gain((missing_left && has_missing).then_some(missing));
            if let Some(gain) = gain
                && best.is_none_or(|(known, _)| gain > known)
            {
                best = Some((gain, missing_left));
            }
        }
        best.map(|(gain, missing_left)| {
            let mut left = Bins::default();
            for bin in (0..missing).filter(|&bin| column_bins.highest[bin] <= threshold) {
                left.insert(bin);
            }
            if missing_left {
                left.insert(missing);
            }
            Split {
                column,
                left,
                threshold,
                gain,
            }
        })
    }

    fn on_categories(&mut self, column: usize) -> Option<Split> {
        let length = self.layout.len();
        let mut filled = self.filled(self.rows.column(column).bins() + 1);
        if filled.len() < 2 {
            return None;
        }
        let target = 2 + self.layout.features;
        let mean = |bin: usize| self.bins[bin * length + target] / self.bins[bin * length];
        filled.sort_by(|&a, &b| mean(a).total_cmp(&mean(b)).then(a.cmp(&b)));
        // The last category always stays right, so no partition comes twice.
        let partings: Vec<u32> = if filled.len() <= MOST_PARTED {
            (1..1 << (filled.len() - 1)).collect()
        } else {
            Vec::new()
        };
        let mut best: Option<Split> = None;
        let mut keep = |search: &mut Self, members: &[usize]| {
            search.clear_left();
            members.iter().for_each(|&bin| search.add_to_left(bin));
            if let Some(gain) = search.gain(None)
                && best.is_none_or(|known| gain > known.gain)
            {
                best = Some(search.parting(column, &filled, members, gain));
            }
        };
        for parting in &partings {
            let members: Vec<usize> = (0..filled.len())
                .filter(|&place| parting >> place & 1 == 1)
                .map(|place| filled[place])
                .collect();
            keep(self, &members);
        }
        if partings.is_empty() {
            for count in 1..filled.len() {
                keep(self, &filled[..count]);
            }
        }
        best
    }

    /// The lighter side is left, because unseen categories go right.
    fn parting(&self, column: usize, filled: &[usize], members: &[usize], gain: f64) -> Split {
        let swapped = self.left[0] > self.total[0] - self.left[0];
        let mut left = Bins::default();
        for &bin in filled.iter().filter(|bin| members.contains(bin) != swapped) {
            left.insert(bin);
        }
        Split {
            column,
            left,
            threshold: 0.0,
            gain,
        }
    }

    /// How much more of the scores fits on the two sides explain than none, except for a part that
    /// is the same for every split of the node. `None` if a side is too light.
    fn gain(&mut self, also_left: Option<usize>) -> Option<f64> {
        let length = self.layout.len();
        let also = also_left.map(|bin| &self.bins[bin * length..][..length]);
        let weight = self.left[0] + also.map_or(0.0, |sums| sums[0]);
        let total = self.total[0];
        // Sums of weights that are not whole numbers are rounded.
        let least = self.least_weight * (1.0 - 1e-9);
        if weight < least || total - weight < least || weight <= 0.0 || weight >= total {
            return None;
        }
        for (number, (left, total)) in self.left.iter().zip(&self.total).enumerate() {
            let left = left + also.map_or(0.0, |sums| sums[number]);
            self.sides[number] = [left, total - left];
        }
        let [left, right] = self.solver.losses(&self.sides);
        Some(-(left + right))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Matrix;
    use crate::guide::node_fit::Fitter;
    use proptest::prelude::*;

    /// Rows of a column to split on (numbers or categories), and a number column.
    fn rows_of(cells: &[(u32, i32, i32)], category: bool) -> Rows {
        let features: Vec<f64> = cells
            .iter()
            .flat_map(|&(kind, x, _)| {
                let first = if kind == 0 { f64::NAN } else { f64::from(kind) };
                [first, f64::from(x)]
            })
            .collect();
        let targets: Vec<f64> = cells.iter().map(|cell| f64::from(cell.2)).collect();
        let matrix = Matrix::new(&features, cells.len(), 2).unwrap();
        let weights = vec![1.0; cells.len()];
        Rows::new(&matrix, &targets, &weights, &[category, false], 32).unwrap()
    }

    fn loss_of(rows: &Rows, chosen: &[u32]) -> f64 {
        Fitter::new(rows, Loss::Squared, 0.0)
            .fit(chosen, &mut Vec::new())
            .loss
    }

    fn weight_of(rows: &Rows, chosen: &[u32]) -> f64 {
        chosen.iter().map(|&row| rows.weights[row as usize]).sum()
    }

    proptest! {
        /// Compared with every way to partition the groups of a column, each side fitted
        /// separately.
        #[test]
        fn no_parting_is_better(
            cells in prop::collection::vec((0u32..6, -9i32..9, -30i32..30), 12..60),
            category in any::<bool>(),
        ) {
            let rows = rows_of(&cells, category);
            let chosen: Vec<u32> = (0..rows.count() as u32).collect();
            let missing = rows.column(0).bins();
            let allowed = |left: u32| {
                // For numbers: bins up to some bin, with or without missing values.
                category || (0..=missing).any(|end| left & !(1 << missing) == (1 << end) - 1)
            };
            let mut best = f64::INFINITY;
            for left in (0u32..1 << (missing + 1)).filter(|&left| allowed(left)) {
                let (a, b): (Vec<u32>, Vec<u32>) = chosen
                    .iter()
                    .partition(|&&row| left >> rows.bins_of(row)[0] & 1 == 1);
                if weight_of(&rows, &a) >= 4.0 && weight_of(&rows, &b) >= 4.0 {
                    best = best.min(loss_of(&rows, &a) + loss_of(&rows, &b));
                }
            }
            let mut residuals = Vec::new();
            Fitter::new(&rows, Loss::Squared, 0.0).fit(&chosen, &mut residuals);
            let node = Scored { chosen: &chosen, residuals: &residuals };
            match Search::new(&rows, Loss::Squared, 0.0, 4.0).on(&node, 0) {
                None => prop_assert!(best.is_infinite()),
                Some(split) => {
                    let (a, b): (Vec<u32>, Vec<u32>) =
                        chosen.iter().partition(|&&row| split.goes_left(&rows, row));
                    let found = loss_of(&rows, &a) + loss_of(&rows, &b);
                    prop_assert!(found <= best + 1e-7 * best.max(1.0), "{} is more than {}", found, best);
                    prop_assert!(!category || weight_of(&rows, &a) <= weight_of(&rows, &b));
                }
            }
        }
    }

    /// With too many categories to try every partition, those whose scores differ are still
    /// separated.
    #[test]
    fn many_categories_are_parted_along_their_means() {
        let cells: Vec<(u32, i32, i32)> = (0..300)
            .map(|row| {
                (
                    1 + row % 15,
                    0,
                    if row % 15 % 3 == 0 {
                        50
                    } else {
                        (row % 7) as i32
                    },
                )
            })
            .collect();
        let rows = rows_of(&cells, true);
        let chosen: Vec<u32> = (0..rows.count() as u32).collect();
        let mut residuals = Vec::new();
        Fitter::new(&rows, Loss::Squared, 0.0).fit(&chosen, &mut residuals);
        let node = Scored {
            chosen: &chosen,
            residuals: &residuals,
        };
        let split = Search::new(&rows, Loss::Squared, 0.0, 4.0)
            .on(&node, 0)
            .unwrap();
        for bin in 0..15 {
            assert_eq!(split.left.holds(bin), bin % 3 == 0);
        }
    }
}
