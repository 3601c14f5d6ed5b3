//! Cost-complexity pruning (Breiman et al. 1984, chapter 3), with a price found by
//! cross-validation.
//!
//! A subtree costs its mean loss plus a price for each leaf. As the price rises from 0, branches
//! are given up one after another, beginning with the one whose leaves save least. This gives a
//! nested sequence of subtrees. Trees grown without a fold are pruned at the same prices (the
//! geometric means of the whole tree's neighbouring prices) and tested on the fold. The smallest
//! subtree wins whose error is at most some standard errors above the least.

use crate::guide::growth::{Node, grow};
use crate::guide::rows::Rows;
use crate::guide::{GuideParameters, Loss};

/// A branch that was given up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GivenUp {
    /// The price from which on it does not pay.
    pub(crate) price: f64,
    pub(crate) node: usize,
}

/// The branches of a tree in the order in which they are given up; prices ascend from 0.
pub(crate) fn sequence(nodes: &[Node]) -> Vec<GivenUp> {
    let total = nodes[0].weight;
    let mut links: Vec<Link> = vec![Link::default(); nodes.len()];
    for number in (0..nodes.len()).rev() {
        links[number].own = nodes[number].loss / total;
        if let Some(branch) = &nodes[number].branch {
            for child in [branch.left, branch.right] {
                links[child].parent = Some(number);
            }
            links[number].children = Some((branch.left, branch.right));
        }
        weigh(&mut links, number);
    }
    let mut given_up = Vec::new();
    let mut price = 0.0f64;
    while links[0].children.is_some() {
        price = price.max(links[0].weakest);
        let mut node = 0;
        while let Some((left, right)) = links[node].children {
            if links[node].worth() <= links[node].weakest {
                break;
            }
            let weaker_left = links[left].weakest <= links[right].weakest;
            node = if weaker_left { left } else { right };
        }
        links[node].children = None;
        given_up.push(GivenUp { price, node });
        let mut changed = Some(node);
        while let Some(number) = changed {
            weigh(&mut links, number);
            changed = links[number].parent;
        }
    }
    given_up
}

#[derive(Debug, Clone, Default)]
struct Link {
    parent: Option<usize>,
    children: Option<(usize, usize)>,
    /// Loss as a leaf, and the loss of the leaves below.
    own: f64,
    below: f64,
    leaves: f64,
    /// The least worth of any branch from here down.
    weakest: f64,
}

impl Link {
    /// What each leaf of this branch saves.
    fn worth(&self) -> f64 {
        (self.own - self.below) / (self.leaves - 1.0)
    }
}

fn weigh(links: &mut [Link], number: usize) {
    let Some((left, right)) = links[number].children else {
        let link = &mut links[number];
        (link.below, link.leaves, link.weakest) = (link.own, 1.0, f64::INFINITY);
        return;
    };
    let below = links[left].below + links[right].below;
    let leaves = links[left].leaves + links[right].leaves;
    let of_children = links[left].weakest.min(links[right].weakest);
    let link = &mut links[number];
    (link.below, link.leaves) = (below, leaves);
    link.weakest = link.worth().min(of_children);
}

/// The nodes at which a tree ends when it is pruned at a price.
pub(crate) fn leaves_at(nodes: &[Node], given_up: &[GivenUp], price: f64) -> Vec<bool> {
    let mut ends: Vec<bool> = nodes.iter().map(|node| node.branch.is_none()).collect();
    for branch in given_up.iter().take_while(|branch| branch.price <= price) {
        ends[branch.node] = true;
    }
    ends
}

/// The price at which a tree is pruned, chosen by its error on unseen rows.
pub(crate) fn price(
    rows: &Rows,
    given_up: &[GivenUp],
    parameters: &GuideParameters,
    threads: usize,
) -> f64 {
    let settings = rows.settings.last().map_or(0, |&last| last + 1);
    let folds = parameters.folds.min(settings);
    if folds < 2 || given_up.is_empty() {
        return 0.0;
    }
    let prices = prices(given_up);
    let mut errors = vec![Errors::default(); prices.len()];
    let weight: f64 = rows.weights.iter().sum();
    for of_fold in each_fold(folds, threads, |fold| {
        fold_errors(rows, fold, folds, &prices, parameters)
    }) {
        for (sum, of_fold) in errors.iter_mut().zip(of_fold) {
            sum.losses += of_fold.losses;
            sum.squares += of_fold.squares;
        }
    }
    let mut best = 0;
    for (number, error) in errors.iter().enumerate() {
        if error.losses < errors[best].losses {
            best = number;
        }
    }
    let mean = errors[best].losses / weight;
    let variance = (errors[best].squares / weight - mean * mean).max(0.0);
    let allowed = mean + parameters.standard_errors * (variance / weight).sqrt();
    let fits = |error: &Errors| error.losses / weight <= allowed;
    let chosen = errors.iter().rposition(fits).unwrap_or(best).max(best);
    prices[chosen]
}

/// A price between each two at which a branch is given up: 0 for the whole tree, the last for the
/// root alone.
fn prices(given_up: &[GivenUp]) -> Vec<f64> {
    let mut at: Vec<f64> = given_up.iter().map(|branch| branch.price).collect();
    at.dedup();
    let between = at.windows(2).map(|pair| (pair[0] * pair[1]).sqrt());
    let first = (at[0] > 0.0).then_some(0.0);
    first
        .into_iter()
        .chain(between)
        .chain([f64::INFINITY])
        .collect()
}

/// Losses on unseen rows at one price.
#[derive(Debug, Clone, Copy, Default)]
struct Errors {
    losses: f64,
    squares: f64,
}

/// Runs the folds on several threads. Results are in order.
fn each_fold(
    folds: u32,
    threads: usize,
    work: impl Fn(u32) -> Vec<Errors> + Sync,
) -> Vec<Vec<Errors>> {
    if threads <= 1 {
        return (0..folds).map(work).collect();
    }
    let mut results: Vec<Vec<Errors>> = vec![Vec::new(); folds as usize];
    let share = results.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (part, into) in results.chunks_mut(share).enumerate() {
            let work = &work;
            scope.spawn(move || {
                for (position, result) in into.iter_mut().enumerate() {
                    *result = work((part * share + position) as u32);
                }
            });
        }
    });
    results
}

/// Errors on the rows of a fold, for a tree fitted to the other folds, at each price.
fn fold_errors(
    rows: &Rows,
    fold: u32,
    folds: u32,
    prices: &[f64],
    parameters: &GuideParameters,
) -> Vec<Errors> {
    // Rows are in the order of a hash of their features, so folds are as good as random.
    let (unseen, seen): (Vec<u32>, Vec<u32>) =
        (0..rows.count() as u32).partition(|&row| rows.settings[row as usize] % folds == fold);
    let nodes = grow(rows, seen, parameters);
    let given_up = sequence(&nodes);
    let mut below = unseen_losses(rows, &unseen, &nodes, parameters.loss);
    let as_leaf = below.clone();
    let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
    for number in (0..nodes.len()).rev() {
        if let Some(branch) = &nodes[number].branch {
            let (left, right) = (below[branch.left], below[branch.right]);
            below[number].losses = left.losses + right.losses;
            below[number].squares = left.squares + right.squares;
            parents[branch.left] = Some(number);
            parents[branch.right] = Some(number);
        }
    }
    let mut next = given_up.iter().peekable();
    let mut at_prices = Vec::with_capacity(prices.len());
    for &price in prices {
        while let Some(branch) = next.next_if(|branch| branch.price <= price) {
            let leaf = as_leaf[branch.node];
            let losses = leaf.losses - below[branch.node].losses;
            let squares = leaf.squares - below[branch.node].squares;
            let mut changed = Some(branch.node);
            while let Some(number) = changed {
                below[number].losses += losses;
                below[number].squares += squares;
                changed = parents[number];
            }
        }
        at_prices.push(below[0]);
    }
    at_prices
}

/// What each node of a tree would lose on unseen rows as a leaf.
fn unseen_losses(rows: &Rows, unseen: &[u32], nodes: &[Node], loss: Loss) -> Vec<Errors> {
    let mut errors = vec![Errors::default(); nodes.len()];
    for &row in unseen {
        let weight = rows.weights[row as usize];
        let mut number = 0;
        loop {
            let node = &nodes[number];
            let residual = rows.targets[row as usize] - node.fit.answer(rows, row);
            let lost = loss.of(residual);
            errors[number].losses += weight * lost;
            errors[number].squares += weight * lost * lost;
            let Some(branch) = &node.branch else { break };
            number = if branch.split.goes_left(rows, row) {
                branch.left
            } else {
                branch.right
            };
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Matrix;
    use proptest::prelude::*;

    fn grown(cells: &[(i32, i32, i32)]) -> (Rows, Vec<Node>) {
        let features: Vec<f64> = cells
            .iter()
            .flat_map(|cell| [f64::from(cell.0), f64::from(cell.1)])
            .collect();
        let targets: Vec<f64> = cells.iter().map(|cell| f64::from(cell.2)).collect();
        let matrix = Matrix::new(&features, cells.len(), 2).unwrap();
        let weights = vec![1.0; cells.len()];
        let rows = Rows::new(&matrix, &targets, &weights, &[false; 2], 32).unwrap();
        let parameters = GuideParameters {
            min_samples_leaf: 4,
            max_depth: 4,
            ..GuideParameters::default()
        };
        let nodes = grow(&rows, (0..rows.count() as u32).collect(), &parameters);
        (rows, nodes)
    }

    /// The least cost of any subtree from a node down, found by trying both choices at every node.
    fn least_cost(nodes: &[Node], number: usize, price: f64) -> f64 {
        let as_leaf = nodes[number].loss / nodes[0].weight + price;
        nodes[number].branch.as_ref().map_or(as_leaf, |branch| {
            let below =
                least_cost(nodes, branch.left, price) + least_cost(nodes, branch.right, price);
            as_leaf.min(below)
        })
    }

    fn cost(nodes: &[Node], ends: &[bool], number: usize, price: f64) -> f64 {
        match &nodes[number].branch {
            Some(branch) if !ends[number] => {
                cost(nodes, ends, branch.left, price) + cost(nodes, ends, branch.right, price)
            }
            _ => nodes[number].loss / nodes[0].weight + price,
        }
    }

    proptest! {
        /// At every price no subtree costs less than the pruned one, and each pruned tree is part
        /// of the previous one.
        #[test]
        fn pruned_trees_are_nested_and_cheapest(
            cells in prop::collection::vec((0i32..12, 0i32..12, -30i32..30), 20..120),
        ) {
            let (_, nodes) = grown(&cells);
            let given_up = sequence(&nodes);
            prop_assert!(given_up.is_sorted_by(|a, b| a.price <= b.price));
            let mut before = leaves_at(&nodes, &given_up, 0.0);
            let prices = given_up.iter().flat_map(|branch| [branch.price, branch.price * 1.5]);
            let mut prices: Vec<f64> = prices.collect();
            prices.sort_by(f64::total_cmp);
            for price in prices {
                let ends = leaves_at(&nodes, &given_up, price);
                prop_assert!(before.iter().zip(&ends).all(|(before, now)| *now || !before));
                let (found, least) = (cost(&nodes, &ends, 0, price), least_cost(&nodes, 0, price));
                prop_assert!(found <= least * (1.0 + 1e-9) + 1e-12, "{} is more than {}", found, least);
                before = ends;
            }
            prop_assert!(before[0] || nodes[0].branch.is_none());
        }
    }

    #[test]
    fn prices_lie_between_those_at_which_branches_go() {
        let at = |price| GivenUp { price, node: 0 };
        let found = prices(&[at(1.0), at(4.0), at(4.0), at(9.0)]);
        assert_eq!(found, vec![0.0, 2.0, 6.0, f64::INFINITY]);
        assert_eq!(prices(&[at(0.0), at(5.0)]), vec![0.0, f64::INFINITY]);
    }
}
