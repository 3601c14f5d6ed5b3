//! Whose turn it is among queue pairs: weighted round robin, with the classes of NVMe.
//!
//! ```text
//!   urgent pairs ──────────────── before all others ───┐
//!   high pairs    ─ in turn ─┐ so many commands each   ├─> a free command slot
//!   medium pairs  ─ in turn ─┼ a round, by the weights ┘
//!   low pairs     ─ in turn ─┘ of the classes
//! ```
//!
//! In its turn a pair gives as many commands as its own weight: its burst. Without classes all
//! pairs belong to one, and only the bursts count.

/// Classes below urgent: high, medium, low.
const WEIGHED: usize = 3;

/// Pairs that take turns.
#[derive(Clone, Debug, Default)]
struct Rotation {
    /// The pairs, each with its burst.
    pairs: Vec<(u16, u32)>,
    /// Whose turn it is, and how many more commands it may give.
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

    /// The pair to take the next command from, among those for which `has_one` is true.
    fn next(&mut self, has_one: impl Fn(u16) -> bool) -> Option<u16> {
        // First the pair in turn, then each of the others, then the first pair again with a new
        // turn.
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
    /// Which of these has its turn, and how many more commands it may give.
    turn: usize,
    credit: u32,
}

impl Arbitration {
    /// Arbitration among pairs with these bursts. Each pair has a class from 0 (urgent) to 3 (low);
    /// `classes` is empty without classes.
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

    /// The pair to take the next command from, among those for which `has_one` is true.
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

    /// The pairs from which `count` commands are taken. All pairs always have commands, except
    /// those in `out`.
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
        // Three from the high pair, two from the medium one, two from the low ones, which take
        // turns of two and one.
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
