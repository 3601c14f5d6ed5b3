//! One tree: grown leaf by leaf, by the gain of ridge fits on the two sides.
//!
//! A split's gain is the loss (penalised sum of squares) of the node's own linear fit less the
//! losses of the fits on either side. So a trend needs no splits, and a kink or a change of slope
//! is found where it is. Missing values are tried on both sides; a split that separates missing
//! from present values is tried too.
//!
//! Sums by bin make the search fast, and most of them need no addition of rows. The part of a row's
//! sums that does not depend on its target is the same for every tree, so the root's sums are kept
//! from tree to tree. Of two children only the smaller is added up; the larger is the parent's sums
//! less those. Children that cannot become leaves any more are not searched.
//!
//! A leaf's linear part is clamped to the range of its own training rows, extended half-way to the
//! next training value outside. Without a clamp, a slope learned on a narrow range would run away
//! on inputs that the leaf has never seen. Without the half step, a grid of values (queue depths 1,
//! 4, 16, 64) would be predicted as a staircase, although the neighbouring leaf only takes over
//! half-way. Beyond all training values the prediction stays that of the outermost one.

use crate::binning::Binned;
use crate::boost::{BoostParameters, LeafModel};
use crate::ensemble::{EnsembleArrays, LEAF};
use crate::least_squares::{Layout, SIDES, SQUARES, Solver};

/// Fraction of the root's loss that a split must save; anything less is rounding.
const LEAST_GAIN: f64 = 1e-12;

#[derive(Debug, Clone, Copy)]
struct Split {
    gain: f64,
    column: usize,
    /// Bins up to this one go left.
    last_left_bin: usize,
    threshold: f64,
    missing_left: bool,
}

/// A node that may still be split.
struct Open {
    node: usize,
    rows: Vec<u32>,
    sums: Vec<f64>,
    /// Sums of each column's bins: column, bin, sum. Empty if no split is searched.
    histogram: Vec<f64>,
    split: Option<Split>,
}

/// Grows trees over the same rows for changing targets.
pub(crate) struct Grower<'a> {
    binned: &'a Binned,
    parameters: &'a BoostParameters,
    layout: Layout,
    solver: Solver,
    /// The histogram of all rows, without the parts that depend on targets.
    without_targets: Vec<f64>,
    /// Histograms that are no longer needed.
    spare: Vec<Vec<f64>>,
    /// The two sides' sums of the split being tried.
    sides: Vec<[f64; SIDES]>,
    /// Number of sums of a column. Its missing rows are the bin after its last.
    stride: usize,
}

impl<'a> Grower<'a> {
    pub(crate) fn new(binned: &'a Binned, parameters: &'a BoostParameters) -> Self {
        let features = match parameters.leaf_model {
            LeafModel::Constant => 0,
            LeafModel::Linear => binned.width(),
        };
        let layout = Layout { features };
        let stride = binned.most_bins() * layout.len();
        let mut made = Self {
            binned,
            parameters,
            layout,
            solver: Solver::new(layout, parameters.ridge),
            without_targets: Vec::new(),
            spare: Vec::new(),
            sides: vec![[0.0; SIDES]; layout.len()],
            stride,
        };
        let rows: Vec<u32> = (0..binned.rows() as u32).collect();
        made.without_targets = made.histogram(&rows, |_| 0.0);
        made
    }

    /// A tree fitted to the targets of `rows`, with leaves shrunk by the learning rate.
    pub(crate) fn grow(&mut self, rows: Vec<u32>, targets: &[f64]) -> EnsembleArrays {
        let mut tree = EnsembleArrays {
            columns: self.binned.width() as u32,
            roots: vec![0],
            ..EnsembleArrays::default()
        };
        let into = &mut tree;
        push_node(into);
        let histogram = self.root_histogram(&rows, targets);
        let mut leaves = vec![self.open(0, rows, targets, histogram, 0.0)];
        let least_gain = LEAST_GAIN * leaves[0].sums[SQUARES];
        if leaves[0]
            .split
            .is_some_and(|split| split.gain <= least_gain)
        {
            leaves[0].split = None;
        }
        while leaves.len() < self.parameters.max_leaves as usize {
            // The first of equal gains, so that the order is the same everywhere.
            let mut best: Option<(usize, Split)> = None;
            for (position, leaf) in leaves.iter().enumerate() {
                if let Some(split) = leaf.split
                    && best.is_none_or(|(_, known)| split.gain > known.gain)
                {
                    best = Some((position, split));
                }
            }
            let Some((position, split)) = best else { break };
            let leaf = leaves.swap_remove(position);
            let (left, right) = self.part(&leaf.rows, &split);
            let child = into.feature.len();
            into.feature[leaf.node] = split.column as i32;
            into.threshold[leaf.node] = split.threshold;
            into.missing_left[leaf.node] = split.missing_left;
            into.left[leaf.node] = child as u32;
            into.right[leaf.node] = child as u32 + 1;
            push_node(into);
            push_node(into);
            let searched = leaves.len() + 2 < self.parameters.max_leaves as usize;
            let of_children =
                self.part_histogram(leaf.histogram, [&left, &right], targets, searched);
            for ((rows, histogram), node) in [left, right].into_iter().zip(of_children).zip(child..)
            {
                leaves.push(self.open(node, rows, targets, histogram, least_gain));
            }
        }
        leaves.sort_unstable_by_key(|leaf| leaf.node);
        for leaf in leaves {
            self.close(&leaf, into);
            self.spare.push(leaf.histogram);
        }
        tree
    }

    fn part(&self, rows: &[u32], split: &Split) -> (Vec<u32>, Vec<u32>) {
        let missing = self.binned.columns[split.column].bins();
        rows.iter().partition(|&&row| {
            let bin = usize::from(self.binned.bins_of(row as usize)[split.column]);
            bin <= split.last_left_bin && bin != missing || bin == missing && split.missing_left
        })
    }

    /// Adds up rows by column and bin.
    fn histogram(&mut self, rows: &[u32], target: impl Fn(usize) -> f64) -> Vec<f64> {
        let length = self.layout.len();
        let mut histogram = self.spare.pop().unwrap_or_default();
        histogram.clear();
        histogram.resize(self.stride * self.binned.width(), 0.0);
        let mut row_sums = vec![0.0; length];
        for row in rows.iter().map(|&row| row as usize) {
            let z = self.binned.standardised_of(row);
            self.layout.row_sums(z, target(row), &mut row_sums);
            for (column, &bin) in self.binned.bins_of(row).iter().enumerate() {
                let at = column * self.stride + usize::from(bin) * length;
                self.layout.add(&mut histogram[at..at + length], &row_sums);
            }
        }
        histogram
    }

    fn root_histogram(&mut self, rows: &[u32], targets: &[f64]) -> Vec<f64> {
        if rows.len() < self.binned.rows() {
            return self.histogram(rows, |row| targets[row]);
        }
        let length = self.layout.len();
        let mut histogram = self.spare.pop().unwrap_or_default();
        histogram.clone_from(&self.without_targets);
        for (row, &target) in targets.iter().enumerate() {
            let z = self.binned.standardised_of(row);
            for (column, &bin) in self.binned.bins_of(row).iter().enumerate() {
                let at = column * self.stride + usize::from(bin) * length;
                self.layout
                    .add_target(&mut histogram[at..at + length], z, target);
            }
        }
        histogram
    }

    /// The histograms of the children, derived from their parent's; empty for children that are not
    /// searched.
    fn part_histogram(
        &mut self,
        parent: Vec<f64>,
        children: [&[u32]; 2],
        targets: &[f64],
        searched: bool,
    ) -> [Vec<f64>; 2] {
        if !searched {
            self.spare.push(parent);
            return [Vec::new(), Vec::new()];
        }
        let left_is_smaller = children[0].len() <= children[1].len();
        let smaller = children[usize::from(!left_is_smaller)];
        let added = self.histogram(smaller, |row| targets[row]);
        let mut rest = parent;
        for (left_over, taken) in rest.iter_mut().zip(&added) {
            *left_over -= taken;
        }
        if left_is_smaller {
            [added, rest]
        } else {
            [rest, added]
        }
    }

    /// Adds up the rows of a node and searches for its split.
    fn open(
        &mut self,
        node: usize,
        rows: Vec<u32>,
        targets: &[f64],
        histogram: Vec<f64>,
        least_gain: f64,
    ) -> Open {
        let mut sums = vec![0.0; self.layout.len()];
        let mut row_sums = sums.clone();
        for row in rows.iter().map(|&row| row as usize) {
            let z = self.binned.standardised_of(row);
            self.layout.row_sums(z, targets[row], &mut row_sums);
            self.layout.add(&mut sums, &row_sums);
        }
        let searched = rows.len() >= 2 * self.parameters.min_samples_leaf as usize
            && self.parameters.max_leaves > 1
            && !histogram.is_empty();
        let split = searched
            .then(|| self.best_split(&sums, &histogram))
            .flatten()
            .filter(|split| split.gain > least_gain);
        Open {
            node,
            rows,
            sums,
            histogram,
            split,
        }
    }

    fn best_split(&mut self, sums: &[f64], histogram: &[f64]) -> Option<Split> {
        let own_loss = self.solver.loss(sums);
        let mut best: Option<Split> = None;
        for column in 0..self.binned.width() {
            let of_column = &histogram[column * self.stride..][..self.stride];
            self.best_split_on(column, of_column, sums, own_loss, &mut best);
        }
        best
    }

    fn best_split_on(
        &mut self,
        column: usize,
        histogram: &[f64],
        sums: &[f64],
        own_loss: f64,
        best: &mut Option<Split>,
    ) {
        let length = self.layout.len();
        let bins = self.binned.columns[column].bins();
        let of_bin = |bin: usize| &histogram[bin * length..][..length];
        let missing = of_bin(bins);
        // Counts are whole numbers, so a bin without rows has exactly none.
        let occupied: Vec<usize> = (0..bins).filter(|&bin| of_bin(bin)[0] > 0.0).collect();
        let mut left = vec![0.0; length];
        for (position, &bin) in occupied.iter().enumerate() {
            self.layout.add(&mut left, of_bin(bin));
            let next = occupied.get(position + 1);
            let candidates: &[bool] = match (next, missing[0] > 0.0) {
                (None, false) => &[],
                (None, true) => &[false],
                (Some(_), false) => &[left[0] >= sums[0] - left[0]],
                (Some(_), true) => &[true, false],
            };
            for &missing_left in candidates {
                let Some(loss) = self.parted_loss(&left, missing, missing_left, sums) else {
                    continue;
                };
                let gain = own_loss - loss;
                if best.is_none_or(|known| gain > known.gain) {
                    let column_bins = &self.binned.columns[column];
                    *best = Some(Split {
                        gain,
                        column,
                        last_left_bin: bin,
                        threshold: next
                            .map_or(f64::MAX, |&above| column_bins.threshold(bin, above)),
                        missing_left,
                    });
                }
            }
        }
    }

    /// The sum of the two sides' losses; `None` if one side has too few rows.
    fn parted_loss(
        &mut self,
        present_left: &[f64],
        missing: &[f64],
        missing_left: bool,
        sums: &[f64],
    ) -> Option<f64> {
        let with_missing = if missing_left { missing[0] } else { 0.0 };
        let left_count = present_left[0] + with_missing;
        let least = f64::from(self.parameters.min_samples_leaf);
        if left_count < least || sums[0] - left_count < least {
            return None;
        }
        let all = sums.iter().zip(present_left);
        if with_missing > 0.0 {
            for ((side, (sum, left)), missing) in self.sides.iter_mut().zip(all).zip(missing) {
                let left = left + missing;
                *side = [left, sum - left];
            }
        } else {
            for (side, (sum, left)) in self.sides.iter_mut().zip(all) {
                *side = [*left, sum - left];
            }
        }
        let [left, right] = self.solver.losses(&self.sides);
        Some(left + right)
    }

    /// Turns an open node into a leaf with its shrunk fit, clamped to the leaf's range.
    fn close(&mut self, leaf: &Open, into: &mut EnsembleArrays) {
        let rate = self.parameters.learning_rate;
        let (intercept, coefficients) = self.solver.coefficients(&leaf.sums);
        into.value[leaf.node] = rate * intercept;
        for (number, &coefficient) in coefficients.iter().enumerate() {
            let column = &self.binned.columns[number];
            let seen = leaf
                .rows
                .iter()
                .map(|&row| usize::from(self.binned.bins_of(row as usize)[number]))
                .filter(|&bin| bin < column.bins());
            let (Some(lowest), Some(highest)) = (seen.clone().min(), seen.max()) else {
                continue;
            };
            if coefficient == 0.0 {
                continue;
            }
            into.terms[leaf.node] += 1;
            into.term_feature.push(number as u32);
            into.term_coefficient
                .push(rate * coefficient / column.scale);
            into.term_centre.push(column.centre);
            into.term_low.push(column.reach_down(lowest));
            into.term_high.push(column.reach_up(highest));
        }
    }
}

fn push_node(into: &mut EnsembleArrays) {
    into.feature.push(LEAF);
    into.threshold.push(0.0);
    into.left.push(0);
    into.right.push(0);
    into.missing_left.push(false);
    into.value.push(0.0);
    into.terms.push(0);
}
