//! A tree grown until its leaves are as small as allowed, with a fit in every node.

use crate::guide::GuideParameters;
use crate::guide::node_fit::{Fit, Fitter};
use crate::guide::residual_tests::Tests;
use crate::guide::rows::Rows;
use crate::guide::split::{Scored, Search, Split};

/// Fraction of the root's spread below which a node's residuals are rounding.
const NOTHING_LEFT: f64 = 1e-20;

/// A node of a grown tree; children come after their parent.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) fit: Fit,
    pub(crate) weight: f64,
    pub(crate) mean: f64,
    /// Weighted sum of the losses of its fit.
    pub(crate) loss: f64,
    pub(crate) branch: Option<Branch>,
    /// The rows it was fitted to.
    pub(crate) rows: Vec<u32>,
}

/// A split, how it was found, and where it leads.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) split: Split,
    /// Whether an interaction, not a curvature, chose the column.
    pub(crate) by_interaction: bool,
    pub(crate) left: usize,
    pub(crate) right: usize,
}

/// Grows a tree over the chosen rows; there must be some.
pub(crate) fn grow(rows: &Rows, chosen: Vec<u32>, parameters: &GuideParameters) -> Vec<Node> {
    let mut growth = Growth {
        parameters,
        fitter: Fitter::new(rows, parameters.loss, parameters.ridge),
        tests: Tests::new(rows, parameters.loss),
        search: Search::new(
            rows,
            parameters.loss,
            parameters.ridge,
            f64::from(parameters.min_samples_leaf),
        ),
        residuals: Vec::new(),
        nothing: None,
    };
    let mut nodes: Vec<Node> = Vec::new();
    let mut open = vec![Open {
        rows: chosen,
        depth: 0,
        parent: None,
    }];
    while let Some(Open {
        rows: chosen,
        depth,
        parent,
    }) = open.pop()
    {
        let number = nodes.len();
        if let Some((parent, is_left)) = parent
            && let Some(branch) = &mut nodes[parent].branch
        {
            *(if is_left {
                &mut branch.left
            } else {
                &mut branch.right
            }) = number;
        }
        let (mut node, split) = growth.node(chosen, depth);
        if let Some((split, by_interaction)) = split {
            let (left, right) = node
                .rows
                .iter()
                .partition(|&&row| split.goes_left(rows, row));
            node.branch = Some(Branch {
                split,
                by_interaction,
                left: 0,
                right: 0,
            });
            for (rows, is_left) in [(right, false), (left, true)] {
                open.push(Open {
                    rows,
                    depth: depth + 1,
                    parent: Some((number, is_left)),
                });
            }
        }
        nodes.push(node);
    }
    nodes
}

/// A node still to be made.
struct Open {
    rows: Vec<u32>,
    depth: u32,
    /// Its parent, and whether it is the left child.
    parent: Option<(usize, bool)>,
}

struct Growth<'a> {
    parameters: &'a GuideParameters,
    fitter: Fitter<'a>,
    tests: Tests<'a>,
    search: Search<'a>,
    residuals: Vec<f64>,
    /// Loss per row below which a node is not split; known once the root was fitted.
    nothing: Option<f64>,
}

impl Growth<'_> {
    /// A node without a branch, and the split it would have.
    fn node(&mut self, chosen: Vec<u32>, depth: u32) -> (Node, Option<(Split, bool)>) {
        let fitted = self.fitter.fit(&chosen, &mut self.residuals);
        let spread = self.fitter.spread();
        let loss = self.parameters.loss;
        let nothing = *self
            .nothing
            .get_or_insert_with(|| loss.of_spread(NOTHING_LEFT * spread.max(0.0) / fitted.weight));
        let least = 2.0 * f64::from(self.parameters.min_samples_leaf);
        let may_split = depth < self.parameters.max_depth
            && fitted.weight >= least * (1.0 - 1e-9)
            && fitted.loss > nothing * fitted.weight;
        let split = may_split
            .then(|| {
                let verdict =
                    self.tests
                        .verdict(&chosen, &self.residuals, &fitted, &self.fitter.solver);
                let scored = Scored {
                    chosen: &chosen,
                    residuals: &self.residuals,
                };
                let split = self
                    .search
                    .split(&scored, &verdict, |column| self.tests.median_bin(column))?;
                let by_interaction = verdict
                    .pair
                    .is_some_and(|(a, b)| split.column == a || split.column == b);
                Some((split, by_interaction))
            })
            .flatten();
        let node = Node {
            fit: fitted.fit,
            weight: fitted.weight,
            mean: fitted.mean,
            loss: fitted.loss,
            branch: None,
            rows: chosen,
        };
        (node, split)
    }
}
