//! Trees as flat arrays: validated once, evaluated in batches.
//!
//! The arrays describe any sum of binary trees with constant or linear leaves. So a CART model
//! grown elsewhere is an ensemble of one tree with base 0.

use crate::evaluate::{BLOCK_ROWS, Evaluator};
use crate::{Matrix, TreeError};

/// The feature number that marks a leaf.
pub const LEAF: i32 = -1;

/// Most features of a row.
const MOST_COLUMNS: u32 = 65_536;

/// An ensemble in plain arrays, with one entry for each node (or term), trees one after another.
///
/// A row x goes left at a node when `x[feature] <= threshold`. At a node with categories it goes
/// left when `x[feature]` is one of them. A missing (NaN) value goes where `missing_left` says. A
/// leaf predicts `value + Σ coefficient * (clamp(x[f], low, high) - centre)` over its terms. A term
/// whose feature is missing adds nothing. The prediction is `base` plus every tree's leaf.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EnsembleArrays {
    /// Number of features a row has.
    pub columns: u32,
    /// The value to which the trees are added.
    pub base: f64,
    /// The first node of each tree, its root.
    pub roots: Vec<u32>,
    /// Feature that a node splits on; [`LEAF`] for a leaf.
    pub feature: Vec<i32>,
    /// Threshold of a split; 0 for a leaf.
    pub threshold: Vec<f64>,
    /// Node for smaller or equal values; 0 for a leaf.
    pub left: Vec<u32>,
    /// Node for larger values; 0 for a leaf.
    pub right: Vec<u32>,
    /// Whether missing values go left.
    pub missing_left: Vec<bool>,
    /// A leaf's constant; 0 for a split.
    pub value: Vec<f64>,
    /// Number of linear terms of a node, in the order of the term arrays.
    pub terms: Vec<u32>,
    /// Feature of a term.
    pub term_feature: Vec<u32>,
    /// Change of the prediction per unit of the feature.
    pub term_coefficient: Vec<f64>,
    /// The value at which the feature's contribution is 0.
    pub term_centre: Vec<f64>,
    /// Lower values count as this.
    pub term_low: Vec<f64>,
    /// Higher values count as this.
    pub term_high: Vec<f64>,
    /// Number of categories that go left at a node, in the order of `category`; empty if every
    /// split is by a threshold.
    pub categories: Vec<u32>,
    /// The values of these categories.
    pub category: Vec<f64>,
}

/// A validated ensemble, ready to predict.
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    arrays: EnsembleArrays,
    evaluator: Evaluator,
}

impl Ensemble {
    /// Checks the arrays and prepares them.
    ///
    /// # Errors
    /// [`TreeError::Malformed`] in these cases: lengths contradict each other, a value is not
    /// finite, an index is out of range, a node has two parents, or a child does not come after its
    /// parent inside its own tree. The last rule guarantees that evaluation ends.
    pub fn from_arrays(arrays: EnsembleArrays) -> Result<Self, TreeError> {
        check_lengths(&arrays)?;
        check_terms(&arrays)?;
        check_categories(&arrays)?;
        check_nodes(&arrays)?;
        let evaluator = Evaluator::new(&arrays);
        Ok(Self { arrays, evaluator })
    }

    /// The arrays that describe this ensemble completely.
    #[must_use]
    pub fn arrays(&self) -> &EnsembleArrays {
        &self.arrays
    }

    /// Number of trees.
    #[must_use]
    pub fn trees(&self) -> usize {
        self.arrays.roots.len()
    }

    /// One prediction for each row, the same bytes for any number of threads (at least 1).
    ///
    /// # Errors
    /// If the features have another number of columns.
    pub fn predict(&self, features: &Matrix<'_>, threads: usize) -> Result<Vec<f64>, TreeError> {
        let columns = features.columns();
        if columns != self.arrays.columns as usize {
            return Err(TreeError::ColumnCount {
                expected: self.arrays.columns as usize,
                columns,
            });
        }
        let mut predictions = vec![0.0; features.rows()];
        let blocks = features.rows().div_ceil(BLOCK_ROWS);
        let share = blocks.div_ceil(threads.max(1)).max(1) * BLOCK_ROWS;
        let parts = features
            .values()
            .chunks(share * columns)
            .zip(predictions.chunks_mut(share));
        if threads <= 1 || blocks <= 1 {
            parts.for_each(|(rows, into)| self.evaluator.predict(rows, into));
        } else {
            std::thread::scope(|scope| {
                for (rows, into) in parts {
                    scope.spawn(move || self.evaluator.predict(rows, into));
                }
            });
        }
        Ok(predictions)
    }
}

fn malformed(reason: impl Into<String>) -> TreeError {
    TreeError::Malformed {
        reason: reason.into(),
    }
}

fn check_lengths(arrays: &EnsembleArrays) -> Result<(), TreeError> {
    if arrays.columns == 0 {
        return Err(malformed("there are no columns"));
    }
    // Every leaf has room for a term of each column.
    if arrays.columns > MOST_COLUMNS {
        return Err(malformed("there are more than 65536 columns"));
    }
    if !arrays.base.is_finite() {
        return Err(malformed("the base is not finite"));
    }
    let nodes = arrays.feature.len();
    if u32::try_from(nodes).is_err() {
        return Err(malformed("there are too many nodes"));
    }
    let node_lengths = [
        ("threshold", arrays.threshold.len()),
        ("left", arrays.left.len()),
        ("right", arrays.right.len()),
        ("missing_left", arrays.missing_left.len()),
        ("value", arrays.value.len()),
        ("terms", arrays.terms.len()),
    ];
    let terms = arrays.term_feature.len();
    let term_lengths = [
        ("term_coefficient", arrays.term_coefficient.len()),
        ("term_centre", arrays.term_centre.len()),
        ("term_low", arrays.term_low.len()),
        ("term_high", arrays.term_high.len()),
    ];
    let wrong_node = node_lengths.iter().find(|(_, length)| *length != nodes);
    let wrong_term = term_lengths.iter().find(|(_, length)| *length != terms);
    if let Some((name, length)) = wrong_node {
        return Err(malformed(format!(
            "{name} has {length} entries for {nodes} nodes"
        )));
    }
    if let Some((name, length)) = wrong_term {
        return Err(malformed(format!(
            "{name} has {length} entries for {terms} terms"
        )));
    }
    let stated: u64 = arrays.terms.iter().map(|&count| u64::from(count)).sum();
    if stated != terms as u64 {
        return Err(malformed(format!(
            "the nodes state {stated} terms, there are {terms}"
        )));
    }
    Ok(())
}

fn check_terms(arrays: &EnsembleArrays) -> Result<(), TreeError> {
    for term in 0..arrays.term_feature.len() {
        let (low, high) = (arrays.term_low[term], arrays.term_high[term]);
        let numbers = [
            arrays.term_coefficient[term],
            arrays.term_centre[term],
            low,
            high,
        ];
        if numbers.iter().any(|number| !number.is_finite()) || low > high {
            return Err(malformed(format!(
                "term {term} is not finite or has no range"
            )));
        }
        if arrays.term_feature[term] >= arrays.columns {
            return Err(malformed(format!(
                "term {term} names a feature that is not there"
            )));
        }
    }
    Ok(())
}

fn check_categories(arrays: &EnsembleArrays) -> Result<(), TreeError> {
    let (counts, nodes) = (&arrays.categories, arrays.feature.len());
    if !counts.is_empty() && counts.len() != nodes {
        return Err(malformed(format!(
            "categories has {} entries for {nodes} nodes",
            counts.len()
        )));
    }
    let stated: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if stated != arrays.category.len() as u64 {
        return Err(malformed(format!(
            "the nodes state {stated} categories, there are {}",
            arrays.category.len()
        )));
    }
    if arrays.category.iter().any(|value| !value.is_finite()) {
        return Err(malformed("a category is not finite"));
    }
    let leaf_with = |(&count, &feature): (&u32, &i32)| count > 0 && feature == LEAF;
    if let Some(node) = counts.iter().zip(&arrays.feature).position(leaf_with) {
        return Err(malformed(format!(
            "node {node} is a leaf but has categories"
        )));
    }
    Ok(())
}

fn check_nodes(arrays: &EnsembleArrays) -> Result<(), TreeError> {
    let count = arrays.feature.len();
    if !arrays.roots.is_sorted_by(|a, b| a < b) || arrays.roots.first().is_some_and(|&r| r != 0) {
        return Err(malformed("the roots are not ascending from 0"));
    }
    if arrays.roots.is_empty() && count > 0 {
        return Err(malformed("there are nodes but no roots"));
    }
    let mut has_parent = vec![false; count];
    for (tree, &root) in arrays.roots.iter().enumerate() {
        let end = arrays
            .roots
            .get(tree + 1)
            .map_or(count, |&next| next as usize);
        let root = root as usize;
        if root >= count || end > count {
            return Err(malformed(format!("tree {tree} starts after the last node")));
        }
        for node in root..end {
            check_node(arrays, node, end, &mut has_parent)?;
        }
        if has_parent[root] || has_parent[root + 1..end].contains(&false) {
            return Err(malformed(format!("a node of tree {tree} has no parent")));
        }
    }
    Ok(())
}

fn check_node(
    arrays: &EnsembleArrays,
    node: usize,
    end: usize,
    has_parent: &mut [bool],
) -> Result<(), TreeError> {
    if !(arrays.threshold[node].is_finite() && arrays.value[node].is_finite()) {
        return Err(malformed(format!("node {node} is not finite")));
    }
    let feature = arrays.feature[node];
    if feature == LEAF {
        return Ok(());
    }
    if u32::try_from(feature).map_or(true, |feature| feature >= arrays.columns) {
        return Err(malformed(format!(
            "node {node} splits on a feature that is not there"
        )));
    }
    if arrays.terms[node] != 0 {
        return Err(malformed(format!("node {node} is no leaf but has terms")));
    }
    for child in [arrays.left[node] as usize, arrays.right[node] as usize] {
        if child <= node || child >= end {
            return Err(malformed(format!(
                "node {node} has a child outside its tree"
            )));
        }
        if std::mem::replace(&mut has_parent[child], true) {
            return Err(malformed(format!("node {child} has two parents")));
        }
    }
    Ok(())
}
