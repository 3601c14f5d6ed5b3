//! An ensemble laid out to predict many rows.
//!
//! Rows are handled in blocks, so that a tree stays in the CPU's cache for a whole block. A value
//! matters only by how many of the thresholds on its column lie below it. That count, one byte, is
//! looked up once for each row and column.
//!
//! Every split of a tree is then tried on every row of the block, without branches. Each leaf has a
//! bit, from left to right. A row that goes right at a split loses the leaves on the left of it,
//! and the lowest remaining bit is the row's leaf (Lucchese et al. 2015, "QuickScorer"). The linear
//! terms of a leaf are stored by column, in pairs, so that two are computed at once; they are added
//! in the order of the columns. Rows do not depend on one another, so blocks and threads do not
//! affect a prediction.
//!
//! Some trees are walked from their root instead: a tree with more than 8 leaves, one whose terms
//! are not in the order of the columns, one that splits by categories, and every tree of an
//! ensemble with more than 254 thresholds on a column.

use crate::ensemble::{EnsembleArrays, LEAF};
use crate::walk::Walked;

/// Rows evaluated together.
pub(crate) const BLOCK_ROWS: usize = 256;

/// The most leaves of a tree whose splits are tried all at once: the bits of a byte.
const MOST_LEAVES: usize = 8;

/// The count for a missing value; counts of others are lower.
const MISSING: u8 = u8::MAX;

/// Terms computed at once.
const LANES: usize = 2;
/// Coefficient, centre, low and high of each lane.
const PAIR: usize = 4 * LANES;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Split {
    feature: usize,
    /// Number of the feature's thresholds below this one. Values above it have more below them.
    below: u8,
    missing_left: bool,
    /// The leaves that remain for a row that goes right.
    right: u8,
}

#[derive(Debug, Clone, PartialEq)]
enum Tree {
    /// Splits are tried all at once. Also where the leaves' values and terms begin.
    Small {
        splits: std::ops::Range<usize>,
        first_leaf: usize,
        linear: bool,
    },
    /// Walked from this node.
    Walked { root: usize },
}

/// The trees of a checked ensemble.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evaluator {
    base: f64,
    columns: usize,
    trees: Vec<Tree>,
    /// Distinct thresholds on each column, ascending.
    thresholds: Vec<Vec<f64>>,
    splits: Vec<Split>,
    /// Values of the small trees' leaves, from left to right.
    values: Vec<f64>,
    /// Their terms, one for each column: `pairs * PAIR` numbers for each leaf.
    pairs_of_leaf: usize,
    pairs: Vec<f64>,
    walked: Walked,
}

/// The rows of a block: for splits, columns of counts; for terms, rows.
struct Block {
    rows: usize,
    counts: Vec<u8>,
    padded: Vec<f64>,
    /// All bits set if `padded` has a value, none if it is missing.
    present: Vec<u64>,
    remaining: Vec<u8>,
}

impl Evaluator {
    /// Lays out arrays that `ensemble` has checked.
    pub(crate) fn new(arrays: &EnsembleArrays) -> Self {
        let columns = arrays.columns as usize;
        let mut made = Self {
            base: arrays.base,
            columns,
            trees: Vec::with_capacity(arrays.roots.len()),
            thresholds: thresholds(arrays),
            splits: Vec::new(),
            values: Vec::new(),
            pairs_of_leaf: columns.div_ceil(LANES),
            pairs: Vec::new(),
            walked: Walked::new(arrays),
        };
        let nodes = arrays.feature.len();
        let ends = arrays.roots.iter().skip(1).map(|&root| root as usize);
        for (&root, end) in arrays.roots.iter().zip(ends.chain([nodes])) {
            let tree = made.lay_out(arrays, root as usize, end);
            made.trees.push(tree);
        }
        if made
            .trees
            .iter()
            .all(|tree| matches!(tree, Tree::Small { .. }))
        {
            made.walked = Walked::default();
        }
        made
    }

    fn lay_out(&mut self, arrays: &EnsembleArrays, root: usize, end: usize) -> Tree {
        let leaves = arrays.feature[root..end]
            .iter()
            .filter(|&&feature| feature == LEAF)
            .count();
        let ordered = (root..end).all(|node| {
            let terms = self.walked.terms_of(node);
            terms.is_sorted_by(|a, b| a.feature < b.feature)
        });
        let countable = self
            .thresholds
            .iter()
            .all(|of_column| of_column.len() < usize::from(MISSING));
        let by_category = arrays
            .categories
            .get(root..end)
            .is_some_and(|counts| counts.iter().any(|&count| count > 0));
        if leaves > MOST_LEAVES || !ordered || !countable || by_category {
            return Tree::Walked { root };
        }
        let first_split = self.splits.len();
        let first_leaf = self.values.len();
        self.add_node(arrays, root, first_leaf);
        Tree::Small {
            splits: first_split..self.splits.len(),
            first_leaf,
            linear: (root..end).any(|node| arrays.terms[node] > 0),
        }
    }

    /// Adds a node and everything below it, leaves from left to right.
    fn add_node(&mut self, arrays: &EnsembleArrays, node: usize, first_leaf: usize) {
        if arrays.feature[node] == LEAF {
            self.values.push(arrays.value[node]);
            let start = self.pairs.len();
            // A column without a term keeps zeros, which add nothing.
            self.pairs.resize(start + self.pairs_of_leaf * PAIR, 0.0);
            for term in self.walked.terms_of(node) {
                let column = term.feature as usize;
                let at = start + column / LANES * PAIR + column % LANES;
                let numbers = [term.coefficient, term.centre, term.low, term.high];
                for (number, value) in numbers.into_iter().enumerate() {
                    self.pairs[at + number * LANES] = value;
                }
            }
            return;
        }
        let split = self.splits.len();
        let feature = arrays.feature[node] as usize;
        self.splits.push(Split {
            feature,
            below: below(&self.thresholds[feature], arrays.threshold[node]),
            missing_left: arrays.missing_left[node],
            right: 0,
        });
        let before = self.values.len() - first_leaf;
        self.add_node(arrays, arrays.left[node] as usize, first_leaf);
        let after = self.values.len() - first_leaf;
        self.splits[split].right = !(leaves_below(after) & !leaves_below(before));
        self.add_node(arrays, arrays.right[node] as usize, first_leaf);
    }

    /// Writes one prediction for each row; `rows` is row-major.
    pub(crate) fn predict(&self, rows: &[f64], predictions: &mut [f64]) {
        let mut block = Block {
            rows: 0,
            counts: vec![0; BLOCK_ROWS * self.columns],
            padded: vec![0.0; BLOCK_ROWS * self.pairs_of_leaf * LANES],
            present: vec![0; BLOCK_ROWS * self.pairs_of_leaf * LANES],
            remaining: vec![0; BLOCK_ROWS],
        };
        let blocks = rows
            .chunks(BLOCK_ROWS * self.columns)
            .zip(predictions.chunks_mut(BLOCK_ROWS));
        for (rows, predictions) in blocks {
            block.fill(rows, &self.thresholds, self.pairs_of_leaf * LANES);
            predictions.fill(self.base);
            for tree in &self.trees {
                match tree {
                    Tree::Small {
                        splits,
                        first_leaf,
                        linear,
                    } => {
                        block.try_splits(&self.splits[splits.clone()]);
                        if *linear {
                            self.add_linear(&block, *first_leaf, predictions);
                        } else {
                            self.add_constant(&block, *first_leaf, predictions);
                        }
                    }
                    Tree::Walked { root } => {
                        for (row, prediction) in
                            rows.chunks_exact(self.columns).zip(predictions.iter_mut())
                        {
                            *prediction += self.walked.answer(*root, row);
                        }
                    }
                }
            }
        }
    }

    fn add_constant(&self, block: &Block, first_leaf: usize, predictions: &mut [f64]) {
        for (remaining, prediction) in block.remaining.iter().zip(predictions) {
            *prediction += self.values[first_leaf + remaining.trailing_zeros() as usize];
        }
    }

    fn add_linear(&self, block: &Block, first_leaf: usize, predictions: &mut [f64]) {
        let width = self.pairs_of_leaf * LANES;
        let of_leaf = self.pairs_of_leaf * PAIR;
        let rows = block.padded.chunks_exact(width);
        let rows = rows
            .zip(block.present.chunks_exact(width))
            .zip(&block.remaining);
        for (((row, present), remaining), prediction) in rows.zip(predictions) {
            let leaf = first_leaf + remaining.trailing_zeros() as usize;
            let pairs = self.pairs[leaf * of_leaf..][..of_leaf]
                .as_chunks::<PAIR>()
                .0;
            let mut answer = self.values[leaf];
            let row = row.as_chunks::<LANES>().0.iter();
            for ((pair, x), present) in pairs.iter().zip(row).zip(present.as_chunks().0) {
                let [first, second] = pair_terms(pair, x, present);
                answer += first;
                answer += second;
            }
            *prediction += answer;
        }
    }
}

/// The sum that two terms add; 0 for a missing feature.
#[inline]
fn pair_terms(pair: &[f64; PAIR], x: &[f64; LANES], present: &[u64; LANES]) -> [f64; LANES] {
    let mut terms = [0.0; LANES];
    for lane in 0..LANES {
        let (coefficient, centre) = (pair[lane], pair[LANES + lane]);
        let (low, high) = (pair[2 * LANES + lane], pair[3 * LANES + lane]);
        let raised = if low > x[lane] { low } else { x[lane] };
        let clamped = if high < raised { high } else { raised };
        let term = coefficient * (clamped - centre);
        terms[lane] = f64::from_bits(term.to_bits() & present[lane]);
    }
    terms
}

/// The lowest `count` bits.
fn leaves_below(count: usize) -> u8 {
    if count >= MOST_LEAVES {
        u8::MAX
    } else {
        (1 << count) - 1
    }
}

fn thresholds(arrays: &EnsembleArrays) -> Vec<Vec<f64>> {
    let mut found = vec![Vec::new(); arrays.columns as usize];
    for (&feature, &threshold) in arrays.feature.iter().zip(&arrays.threshold) {
        if feature != LEAF {
            found[feature as usize].push(threshold);
        }
    }
    for of_column in &mut found {
        of_column.sort_unstable_by(f64::total_cmp);
        // Compared numerically: 0.0 and -0.0 separate the same values.
        of_column.dedup_by(|a, b| a == b);
    }
    found
}

/// How many of some ascending thresholds lie below a value; `MISSING` for a missing value.
fn below(thresholds: &[f64], value: f64) -> u8 {
    if value.is_nan() {
        return MISSING;
    }
    // Fewer than 255, otherwise the tree would be walked.
    thresholds.partition_point(|&threshold| threshold < value) as u8
}

impl Block {
    fn fill(&mut self, rows: &[f64], thresholds: &[Vec<f64>], width: usize) {
        let columns = thresholds.len();
        self.rows = rows.len() / columns;
        let padded = self.padded.chunks_exact_mut(width);
        for (number, (row, padded)) in rows.chunks_exact(columns).zip(padded).enumerate() {
            padded[..columns].copy_from_slice(row);
            for (column, (&value, of_column)) in row.iter().zip(thresholds).enumerate() {
                self.counts[column * BLOCK_ROWS + number] = below(of_column, value);
                self.present[number * width + column] = u64::from(value.is_nan()).wrapping_sub(1);
            }
        }
        self.remaining.resize(self.rows, 0);
    }

    fn try_splits(&mut self, splits: &[Split]) {
        self.remaining.fill(u8::MAX);
        for split in splits {
            let counts = &self.counts[split.feature * BLOCK_ROWS..][..self.rows];
            let (below, right) = (split.below, split.right);
            let remaining = self.remaining.iter_mut().zip(counts);
            if split.missing_left {
                for (bits, &count) in remaining {
                    let goes_right = (count > below) & (count != MISSING);
                    *bits &= if goes_right { right } else { u8::MAX };
                }
            } else {
                for (bits, &count) in remaining {
                    *bits &= if count > below { right } else { u8::MAX };
                }
            }
        }
    }
}
