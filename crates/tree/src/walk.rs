//! Trees walked from their roots, row by row.

use crate::ensemble::{EnsembleArrays, LEAF};

/// A linear term of a leaf, see [`EnsembleArrays`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Term {
    pub(crate) feature: u32,
    pub(crate) coefficient: f64,
    pub(crate) centre: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The nodes of walked trees, numbered as in the arrays.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Walked {
    nodes: Vec<Node>,
    /// A leaf's constant and its range of terms, by node.
    leaves: Vec<(f64, u32, u32)>,
    terms: Vec<Term>,
    /// For each node, the range of the categories that go left; empty if no split has any.
    categories: Vec<(u32, u32)>,
    category: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    threshold: f64,
    feature: u32,
    left: u32,
    right: u32,
    missing_left: bool,
    leaf: bool,
}

impl Walked {
    /// Lays out arrays that `ensemble` has checked.
    pub(crate) fn new(arrays: &EnsembleArrays) -> Self {
        let count = arrays.feature.len();
        let nodes = (0..count)
            .map(|node| Node {
                threshold: arrays.threshold[node],
                feature: arrays.feature[node].max(0) as u32,
                left: arrays.left[node],
                right: arrays.right[node],
                missing_left: arrays.missing_left[node],
                leaf: arrays.feature[node] == LEAF,
            })
            .collect();
        let mut end = 0;
        let categories = arrays.categories.iter().map(|&count| {
            let start = end;
            end += count;
            (start, end)
        });
        let categories = categories.collect();
        let mut end = 0;
        let leaves = (0..count)
            .map(|node| {
                let start = end;
                end += arrays.terms[node];
                (arrays.value[node], start, end)
            })
            .collect();
        let terms = (0..arrays.term_feature.len())
            .map(|term| Term {
                feature: arrays.term_feature[term],
                coefficient: arrays.term_coefficient[term],
                centre: arrays.term_centre[term],
                low: arrays.term_low[term],
                high: arrays.term_high[term],
            })
            .collect();
        Self {
            nodes,
            leaves,
            terms,
            categories,
            category: arrays.category.clone(),
        }
    }

    /// Whether a row goes left at a node by its category; `None` if a threshold decides.
    fn by_category(&self, node: usize, x: f64) -> Option<bool> {
        let &(start, end) = self
            .categories
            .get(node)
            .filter(|range| range.0 < range.1)?;
        Some(self.category[start as usize..end as usize].contains(&x))
    }

    /// The linear terms of a node.
    pub(crate) fn terms_of(&self, node: usize) -> &[Term] {
        let (_, start, end) = self.leaves[node];
        &self.terms[start as usize..end as usize]
    }

    /// The prediction of the tree with this root for a row.
    pub(crate) fn answer(&self, root: usize, row: &[f64]) -> f64 {
        let mut at = root;
        let mut node = &self.nodes[at];
        while !node.leaf {
            let x = row[node.feature as usize];
            let below = self.by_category(at, x).unwrap_or(x <= node.threshold);
            let goes_left = below || (node.missing_left && x.is_nan());
            at = if goes_left { node.left } else { node.right } as usize;
            node = &self.nodes[at];
        }
        let mut answer = self.leaves[at].0;
        for term in self.terms_of(at) {
            let x = row[term.feature as usize];
            if !x.is_nan() {
                answer += term.coefficient * (x.clamp(term.low, term.high) - term.centre);
            }
        }
        answer
    }
}
