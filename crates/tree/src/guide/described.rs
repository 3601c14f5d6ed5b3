//! A pruned tree as the arrays of an ensemble, with facts about its nodes for a reader.

use crate::TreeError;
use crate::ensemble::{Ensemble, EnsembleArrays, LEAF};
use crate::guide::Loss;
use crate::guide::growth::Node;
use crate::guide::rows::Rows;

/// The largest fraction of a leaf's mean by which a term may move its predictions and still count
/// as rounding.
const ROUNDING: f64 = 1e-13;

/// A fitted tree.
#[derive(Debug, Clone, PartialEq)]
pub struct GuideTree {
    /// The predictor: one tree, its nodes from left to right, each before those below it.
    pub ensemble: Ensemble,
    /// For each node, in the order of the ensemble.
    pub nodes: Vec<NodeWords>,
    /// How much of what the tree explains is due to each column. They add up to 1, or are all 0 if
    /// nothing is explained.
    pub importances: Vec<f64>,
}

/// Facts about a node in addition to its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeWords {
    /// Weight of its rows.
    pub weight: f64,
    /// Weighted mean of their targets.
    pub mean: f64,
    /// Weighted mean of the losses of its own linear function.
    pub loss: f64,
    /// Whether an interaction, not a curvature, chose its split column.
    pub by_interaction: bool,
}

/// Lays out the tree that ends at the marked nodes.
pub(crate) fn describe(
    rows: &Rows,
    nodes: &[Node],
    ends: &[bool],
    loss: Loss,
) -> Result<GuideTree, TreeError> {
    let mut made = Description {
        rows,
        nodes,
        ends,
        loss,
        arrays: EnsembleArrays {
            columns: rows.columns() as u32,
            roots: vec![0],
            ..EnsembleArrays::default()
        },
        words: Vec::new(),
        importances: vec![0.0; rows.columns()],
    };
    made.add_all();
    if made.arrays.category.is_empty() {
        made.arrays.categories.clear();
    }
    let total: f64 = made.importances.iter().sum();
    if total > 0.0 {
        made.importances.iter_mut().for_each(|part| *part /= total);
    }
    Ok(GuideTree {
        ensemble: Ensemble::from_arrays(made.arrays)?,
        nodes: made.words,
        importances: made.importances,
    })
}

struct Description<'a> {
    rows: &'a Rows,
    nodes: &'a [Node],
    ends: &'a [bool],
    loss: Loss,
    arrays: EnsembleArrays,
    words: Vec<NodeWords>,
    importances: Vec<f64>,
}

impl Description<'_> {
    /// Adds the root and everything below it, from left to right.
    fn add_all(&mut self) {
        let mut open: Vec<(usize, Option<(usize, bool)>)> = vec![(0, None)];
        while let Some((number, parent)) = open.pop() {
            let place = self.words.len();
            if let Some((parent, is_left)) = parent {
                let children = if is_left {
                    &mut self.arrays.left
                } else {
                    &mut self.arrays.right
                };
                children[parent] = place as u32;
            }
            let node = &self.nodes[number];
            self.push(node);
            match node.branch.as_ref().filter(|_| !self.ends[number]) {
                Some(branch) => {
                    self.part(number);
                    open.push((branch.right, Some((place, false))));
                    open.push((branch.left, Some((place, true))));
                }
                None => self.close(node),
            }
        }
    }

    fn push(&mut self, node: &Node) {
        self.words.push(NodeWords {
            weight: node.weight,
            mean: node.mean,
            loss: node.loss / node.weight,
            by_interaction: false,
        });
        let arrays = &mut self.arrays;
        arrays.feature.push(LEAF);
        arrays.threshold.push(0.0);
        arrays.left.push(0);
        arrays.right.push(0);
        arrays.missing_left.push(false);
        arrays.value.push(0.0);
        arrays.terms.push(0);
        arrays.categories.push(0);
    }

    fn part(&mut self, number: usize) {
        let node = &self.nodes[number];
        let Some(branch) = &node.branch else { return };
        let place = self.words.len() - 1;
        let split = &branch.split;
        let column = self.rows.column(split.column);
        self.words[place].by_interaction = branch.by_interaction;
        let arrays = &mut self.arrays;
        arrays.feature[place] = split.column as i32;
        arrays.missing_left[place] = split.left.holds(column.bins());
        if self.rows.categorical[split.column] {
            let left = (0..column.bins()).filter(|&bin| split.left.holds(bin));
            let before = arrays.category.len();
            arrays.category.extend(left.map(|bin| column.lowest[bin]));
            arrays.categories[place] = (arrays.category.len() - before) as u32;
            if arrays.category.len() == before {
                // Only missing values go left: no number is that small.
                arrays.threshold[place] = -f64::MAX;
            }
        } else {
            arrays.threshold[place] = split.threshold;
        }
        let below = self.nodes[branch.left].loss + self.nodes[branch.right].loss;
        self.importances[split.column] += (node.loss - below).max(0.0);
    }

    fn close(&mut self, node: &Node) {
        let place = self.words.len() - 1;
        self.arrays.value[place] = node.fit.intercept;
        for (number, &column) in self.rows.numeric.iter().enumerate() {
            let coefficient = node.fit.coefficients[number];
            let Some((lowest, highest)) = node.fit.bins[number] else {
                continue;
            };
            let binned = self.rows.column(column);
            let low = binned.reach_down(usize::from(lowest));
            let high = binned.reach_up(usize::from(highest));
            let moved = coefficient.abs() * (high - low) / binned.scale;
            if moved <= ROUNDING * node.mean.abs() {
                continue;
            }
            self.importances[column] += self.moved(node, number, coefficient);
            let arrays = &mut self.arrays;
            arrays.terms[place] += 1;
            arrays.term_feature.push(column as u32);
            arrays.term_coefficient.push(coefficient / binned.scale);
            arrays.term_centre.push(binned.centre);
            arrays.term_low.push(low);
            arrays.term_high.push(high);
        }
    }

    /// How far a term moves the predictions of its leaf from its own mean, as a loss.
    fn moved(&self, node: &Node, number: usize, coefficient: f64) -> f64 {
        let weighted = || {
            node.rows.iter().map(|&row| {
                let z = self.rows.linear_of(row)[number];
                (self.rows.weights[row as usize], z)
            })
        };
        let mean = weighted().map(|(weight, z)| weight * z).sum::<f64>() / node.weight;
        let losses = weighted().map(|(weight, z)| {
            let moved = coefficient * (z - mean);
            weight
                * match self.loss {
                    Loss::Squared => moved * moved,
                    Loss::Quantile(_) => moved.abs(),
                }
        });
        losses.sum()
    }
}
