//! Whose turn it is among queue pairs: weighted round robin, with classes as NVMe has them.
//!
//! ```text
//!   urgent pairs ──────────────── before all others ───┐
//!   high pairs    ─ in turn ─┐ so many commands each   ├─> a free command slot
//!   medium pairs  ─ in turn ─┼ a round, by the weights ┘
//!   low pairs     ─ in turn ─┘ of the classes
//! ```
//!
//! A pair in turn is taken as many commands from as its own weight says: its burst. Without classes
//! all pairs are in one, and nothing but bursts counts.

/// Classes below urgent: high, medium, low.
const WEIGHED: usize = 3;

/// Pairs that take turns.
#[derive(Clone, Debug, Default)]
struct Rotation {
    /// The pairs, each with its burst.
    pairs: Vec<(u16, u32)>,
    /// Whose turn it is, and for how many commands more.
    turn: usize,
    credit: u32,
}

impl Rotation {
    fn of(pairs: Vec<(u16, u32)>) -> Self {
        Self {
            credit: pairs.first().map_or(1, |&(_, burst)| burst),
            pairs,
            turn: 0,
        }
    }

    /// The pair that is taken a command from, of those for which `has_one`.
    fn next(&mut self, has_one: impl Fn(u16) -> bool) -> Option<u16> {
        // The pair in turn, then each of the others, then it again with a new turn.
        for _ in 0..=self.pairs.len() {
            let &(pair, _) = self.pairs.get(self.turn)?;
            if self.credit > 0 && has_one(pair) {
                self.credit -= 1;
                return Some(pair);
            }
            self.turn = (self.turn + 1) % self.pairs.len();
            self.credit = self.pairs[self.turn].1;
        }
        None
    }
}

/// Whose turn it is.
#[derive(Clone, Debug)]
pub struct Arbitration {
    /// Pairs that go before all others.
    urgent: Rotation,
    /// The other classes.
    classes: [Rotation; WEIGHED],
    weights: [u32; WEIGHED],
    /// Which of these is in turn, and for how many commands more.
    turn: usize,
    credit: u32,
}

impl Arbitration {
    /// Among pairs with these bursts, each of a class from 0, urgent, to 3, low; of none without
    /// classes.
    pub fn new(bursts: &[u32], classes: &[u32], weights: &[u32]) -> Self {
        let of_class = |class: u32| {
            let pairs = (0_u16..).zip(bursts.iter().copied());
            let is_mine = |&(pair, _): &(u16, u32)| {
                classes.get(usize::from(pair)).copied().unwrap_or(1) == class
            };
            Rotation::of(pairs.filter(is_mine).collect())
        };
        let weight = |class: usize| weights.get(class).copied().unwrap_or(u32::MAX);
        Self {
            urgent: of_class(0),
            classes: [of_class(1), of_class(2), of_class(3)],
            weights: [weight(0), weight(1), weight(2)],
            turn: 0,
            credit: weight(0),
        }
    }

    /// The pair from which the next command is taken, of those for which `has_one`.
    pub fn next(&mut self, has_one: impl Fn(u16) -> bool) -> Option<u16> {
        if let Some(pair) = self.urgent.next(&has_one) {
            return Some(pair);
        }
        for _ in 0..=self.classes.len() {
            if self.credit > 0
                && let Some(pair) = self.classes[self.turn].next(&has_one)
            {
                self.credit -= 1;
                return Some(pair);
            }
            self.turn = (self.turn + 1) % self.classes.len();
            self.credit = self.weights[self.turn];
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Arbitration;

    /// From which pairs so many commands are taken, of pairs that always have some, but for those
    /// left out.
    fn taken(arbitration: &mut Arbitration, count: usize, out: &[u16]) -> Vec<u16> {
        let has_one = |pair: u16| !out.contains(&pair);
        (0..count)
            .filter_map(|_| arbitration.next(has_one))
            .collect()
    }

    #[test]
    fn without_classes_bursts_alone_count() {
        let mut turns = Arbitration::new(&[3, 1], &[], &[]);
        assert_eq!(taken(&mut turns, 9, &[]), [0, 0, 0, 1, 0, 0, 0, 1, 0]);
        assert_eq!(taken(&mut turns, 2, &[0]), [1, 1]);
        assert!(taken(&mut turns, 2, &[0, 1]).is_empty());
    }

    #[test]
    fn urgent_pairs_go_first_and_classes_share_by_weight() {
        let mut turns = Arbitration::new(&[1, 1, 1, 2, 1], &[0, 1, 2, 3, 3], &[3, 2, 2]);
        assert_eq!(taken(&mut turns, 3, &[]), [0, 0, 0]);
        // Three of the high pair, two of the medium one, two of the low ones, which take turns of
        // two and one.
        let round = taken(&mut turns, 21, &[0]);
        assert_eq!(
            round,
            [
                1, 1, 1, 2, 2, 3, 3, 1, 1, 1, 2, 2, 4, 3, 1, 1, 1, 2, 2, 3, 4
            ]
        );
        // A class without commands leaves its turn to the others.
        assert_eq!(taken(&mut turns, 4, &[0, 1, 2]), [3, 3, 4, 3]);
    }
}
