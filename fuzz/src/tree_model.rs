//! Trees of models: an accepted one ends, and predicts the same as a simple walk down the trees.
//!
//! The bytes are records of a fixed length, so that a changed byte changes one number:
//!
//! ```text
//!   columns, trees, nodes, terms (1 each) | which array is cut short (1)
//!   a tree  root (1)
//!   a node  feature (1, signed), left, right, missing left, terms (1 each), threshold, value (4 each)
//!   a term  feature (1), coefficient, centre, low, high (4 each)
//!   categories (1), and where there are any: their number at each node (1), a category (4)
//! ```

use drivelab_tree::{Ensemble, EnsembleArrays, LEAF, Matrix};

use crate::{Reader, check_message};

pub(crate) const READER: Reader = Reader {
    name: "tree_model",
    sources: &[
        "crates/tree/src/ensemble.rs",
        "crates/tree/src/evaluate.rs",
        "crates/tree/src/walk.rs",
    ],
    check,
    seeds,
};

/// Takes bytes from the front; missing bytes are 0.
struct Front<'a>(&'a [u8]);

impl Front<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn real(&mut self) -> f64 {
        f32::from_le_bytes(std::array::from_fn(|_| self.byte())).into()
    }
}

fn arrays(data: &[u8]) -> EnsembleArrays {
    let mut front = Front(data);
    let columns = front.byte() % 12;
    let [trees, nodes, terms] = [0; 3].map(|_: u8| front.byte() % 32);
    let cut = front.byte();
    let mut made = EnsembleArrays {
        columns: columns.into(),
        base: 0.5,
        roots: (0..trees).map(|_| front.byte().into()).collect(),
        ..EnsembleArrays::default()
    };
    for _ in 0..nodes {
        made.feature.push(i8::from_le_bytes([front.byte()]).into());
        made.left.push(front.byte().into());
        made.right.push(front.byte().into());
        made.missing_left.push(front.byte() & 1 == 1);
        made.terms.push(front.byte().into());
        made.threshold.push(front.real());
        made.value.push(front.real());
    }
    for _ in 0..terms {
        made.term_feature.push(front.byte().into());
        made.term_coefficient.push(front.real());
        made.term_centre.push(front.real());
        made.term_low.push(front.real());
        made.term_high.push(front.real());
    }
    let categories = front.byte() % 32;
    if categories > 0 {
        made.categories = (0..nodes).map(|_| front.byte().into()).collect();
        made.category = (0..categories).map(|_| front.real()).collect();
    }
    match cut {
        8 => drop(made.categories.pop()),
        1 => drop(made.threshold.pop()),
        2 => drop(made.left.pop()),
        3 => drop(made.missing_left.pop()),
        4 => drop(made.terms.pop()),
        5 => drop(made.term_high.pop()),
        6 => made.base = f64::NAN,
        7 => made.left.iter_mut().for_each(|left| *left |= 1 << 31),
        _ => {}
    }
    made
}

/// The prediction of one tree for a row, and the magnitude of the numbers that it added up.
fn walked(arrays: &EnsembleArrays, root: u32, row: &[f64]) -> (f64, f64) {
    let mut at = root as usize;
    let mut steps = 0;
    while arrays.feature[at] != LEAF {
        let x = row[usize::try_from(arrays.feature[at]).expect("a column")];
        let of_node = |node: usize| {
            arrays
                .categories
                .get(node)
                .map_or(0, |&count| count as usize)
        };
        let below = if of_node(at) > 0 {
            let before: usize = (0..at).map(of_node).sum();
            arrays.category[before..before + of_node(at)].contains(&x)
        } else {
            x <= arrays.threshold[at]
        };
        let left = below || (x.is_nan() && arrays.missing_left[at]);
        at = if left {
            arrays.left[at]
        } else {
            arrays.right[at]
        } as usize;
        steps += 1;
        assert!(steps <= arrays.feature.len(), "a tree without end");
    }
    let first: u32 = arrays.terms[..at].iter().sum();
    let mut answer = (arrays.value[at], arrays.value[at].abs());
    for term in first as usize..(first + arrays.terms[at]) as usize {
        let x = row[arrays.term_feature[term] as usize];
        if x.is_nan() {
            continue;
        }
        let inside = x.max(arrays.term_low[term]).min(arrays.term_high[term]);
        let coefficient = arrays.term_coefficient[term];
        answer.0 += coefficient * (inside - arrays.term_centre[term]);
        answer.1 += coefficient.abs() * (inside.abs() + arrays.term_centre[term].abs());
    }
    answer
}

fn check(data: &[u8]) {
    let given = arrays(data);
    let ensemble = match Ensemble::from_arrays(given.clone()) {
        Ok(ensemble) => ensemble,
        Err(error) => return check_message(&error),
    };
    assert_eq!(ensemble.arrays(), &given);
    let columns = given.columns as usize;
    let rows = [0.0, -1.5, f64::NAN, f64::MAX, f64::MIN, 3.0];
    let values: Vec<f64> = (0..rows.len() * columns)
        .map(|place| rows[(place / columns + place % 2) % rows.len()])
        .collect();
    let features = Matrix::new(&values, rows.len(), columns).expect("a table");
    let predicted = ensemble.predict(&features, 1).expect("as many columns");
    assert_eq!(predicted.len(), rows.len());
    for (row, answer) in values.chunks(columns).zip(predicted) {
        let (mut sum, mut size) = (given.base, given.base.abs());
        for &root in &given.roots {
            let (one, large) = walked(&given, root, row);
            sum += one;
            size += large;
        }
        // Both add up the same numbers, possibly in another order.
        let near = (answer - sum).abs() <= size * 1e-12 || !size.is_finite();
        assert!(near, "{answer} where a walk gives {sum}");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let real = |value: f32| value.to_le_bytes().to_vec();
    let node = |[feature, left, right, missing, terms]: [u8; 5], threshold, value| {
        [
            vec![feature, left, right, missing, terms],
            real(threshold),
            real(value),
        ]
        .concat()
    };
    const NO_FEATURE: u8 = u8::MAX;
    let leaf = |terms, value| node([NO_FEATURE, 0, 0, 0, terms], 0.0, value);
    let term = |feature: u8| [vec![feature], real(2.0), real(0.5), real(-1.0), real(4.0)].concat();
    let stump = [vec![3, 1, 1, 0, 0, 0], leaf(0, 7.0)].concat();
    let one = [
        vec![3, 1, 3, 2, 0, 0],
        node([1, 1, 2, 1, 0], 0.25, 0.0),
        leaf(0, 1.0),
        leaf(2, -3.0),
        term(0),
        term(2),
    ];
    let two = [
        vec![2, 2, 6, 1, 0, 0, 3],
        node([0, 1, 2, 0, 0], 1.0, 0.0),
        leaf(0, 1.0),
        leaf(1, 2.0),
        node([1, 4, 5, 1, 0], -2.0, 0.0),
        leaf(0, 3.0),
        leaf(0, 4.0),
        term(1),
    ];
    let parted = [
        vec![2, 1, 3, 0, 0, 0],
        node([0, 1, 2, 1, 0], 0.0, 0.0),
        leaf(0, 1.0),
        leaf(0, 2.0),
        vec![2, 2, 0, 0],
        real(3.0),
        real(-1.5),
    ];
    vec![stump, one.concat(), two.concat(), parted.concat()]
}
