//! The event queue: a tournament tree with one leaf for each resource.
//!
//! Every resource has at most one pending event. So an event is a leaf, and replacing it is one
//! walk to the root. Units (dies) are leaves of the tree. The few queues of the host are kept
//! outside the tree, at its root: each is first in, first out and has events with every request, so
//! a walk would be wasted.
//!
//! ```text
//!   first = min( tree of units , side[0] , side[1] , ... )
//! ```
//!
//! Keys are `time << LEAF_BITS | leaf`, so they are unique. Events at equal times are served in the
//! order of their leaves, units first, and every run is the same.

const LEAF_BITS: u32 = 14;

/// The number of queues outside the tree.
pub const SIDE_LEAVES: usize = 9;

/// The queues that have an event with every write, or with every request if the firmware takes
/// time. The first event of the other queues is kept separately.
const BUSY_SIDE_LEAVES: [usize; 2] = [2, 7];

/// Largest number of resources, including the queues outside the tree.
pub const MAX_LEAVES: usize = 1 << LEAF_BITS;

/// Simulated time ends here (2^50 ns, 13 days), because later times do not fit into a key.
pub const END_OF_TIME: u64 = (1 << (64 - LEAF_BITS)) - 1;

const NEVER: u64 = u64::MAX;

/// Time and leaf of an event. Keys sort in the order in which events are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventKey(u64);

impl EventKey {
    /// Later than every event.
    pub const NEVER: Self = Self(NEVER);

    /// The event of `leaf` at `time`, or just before [`END_OF_TIME`] if `time` is later.
    #[inline(always)]
    #[must_use]
    pub fn new(time: u64, leaf: usize) -> Self {
        Self(time.min(END_OF_TIME - 1) << LEAF_BITS | leaf as u64)
    }

    /// The time of the event; [`END_OF_TIME`] for [`EventKey::NEVER`].
    #[inline(always)]
    #[must_use]
    pub const fn time(self) -> u64 {
        self.0 >> LEAF_BITS
    }

    /// The event of another leaf at the same time.
    #[inline(always)]
    #[must_use]
    pub const fn with_leaf(self, leaf: usize) -> Self {
        Self(self.0 & !(MAX_LEAVES as u64 - 1) | leaf as u64)
    }

    /// The leaf whose event this is.
    #[inline(always)]
    #[must_use]
    pub const fn leaf(self) -> usize {
        (self.0 & (MAX_LEAVES as u64 - 1)) as usize
    }
}

/// Pending events, the earliest first.
#[derive(Clone, Debug)]
pub struct EventTree {
    /// Node `n` is the earlier of its children `2 n` and `2 n + 1`; the leaves come last. The root
    /// is stored separately.
    nodes: Vec<u64>,
    /// The node of the first leaf, a power of four.
    leaves: usize,
    first_of_units: u64,
    units: usize,
    side: [u64; SIDE_LEAVES],
    first_of_side: u64,
    first_of_rest: u64,
}

impl EventTree {
    /// A tree for `units` resources (leaves 0 to `units - 1`), followed by [`SIDE_LEAVES`] queues.
    /// No leaf has an event.
    #[must_use]
    pub fn new(units: usize) -> Self {
        let power = units.next_power_of_two().max(4);
        // An even number of levels.
        let leaves = power << (power.trailing_zeros() % 2);
        Self {
            nodes: vec![NEVER; 2 * leaves],
            leaves,
            first_of_units: NEVER,
            units: units.max(1),
            side: [NEVER; SIDE_LEAVES],
            first_of_side: NEVER,
            first_of_rest: NEVER,
        }
    }

    /// Forgets every event.
    pub fn clear(&mut self) {
        self.nodes.fill(NEVER);
        self.first_of_units = NEVER;
        self.side.fill(NEVER);
        self.first_of_side = NEVER;
        self.first_of_rest = NEVER;
    }

    /// The earliest event; [`EventKey::NEVER`] if there is none.
    #[inline(always)]
    #[must_use]
    pub fn first(&self) -> EventKey {
        EventKey(self.first_of_units.min(self.first_of_side))
    }

    /// Sets the event of unit `leaf` to `time`, or to just before [`END_OF_TIME`].
    #[inline(always)]
    pub fn set(&mut self, leaf: usize, time: u64) {
        self.replace(leaf, EventKey::new(time, leaf).0);
    }

    /// Postpones the event of unit `leaf` to `time` if that is later. The unit must have an event.
    #[inline(always)]
    pub fn postpone(&mut self, leaf: usize, time: u64) {
        let key = EventKey::new(time, leaf).0;
        if key > self.nodes[self.leaves + leaf] {
            self.replace(leaf, key);
        }
    }

    /// Removes the event of unit `leaf`.
    #[inline(always)]
    pub fn cancel(&mut self, leaf: usize) {
        self.replace(leaf, NEVER);
    }

    /// Sets or removes the event of the queue at `place`, outside the tree.
    #[inline(always)]
    pub fn set_side(&mut self, place: usize, time: Option<u64>) {
        let leaf = self.units + place;
        self.side[place] = time.map_or(NEVER, |time| EventKey::new(time, leaf).0);
        let [a, b, _, c, d, e, f, _, g] = self.side;
        if !BUSY_SIDE_LEAVES.contains(&place) {
            self.first_of_rest = a.min(b).min(c).min(d.min(e)).min(f.min(g));
        }
        let [of_writes, of_cores] = BUSY_SIDE_LEAVES.map(|busy| self.side[busy]);
        self.first_of_side = of_writes.min(of_cores).min(self.first_of_rest);
    }

    #[inline(always)]
    fn replace(&mut self, leaf: usize, key: u64) {
        let mut node = self.leaves + leaf;
        let nodes = &mut self.nodes[..];
        assert!(node < nodes.len());
        let mut least = key;
        let mut climb = || {
            // SAFETY: the first node exists and the number of nodes is even, so its sibling and all
            // nodes before it exist too.
            let sibling = unsafe {
                *nodes.get_unchecked_mut(node) = least;
                *nodes.get_unchecked(node ^ 1)
            };
            least = least.min(sibling);
            node /= 2;
            node
        };
        // Two levels at a time, because their number is even.
        loop {
            climb();
            if climb() <= 1 {
                break;
            }
        }
        self.first_of_units = least;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn first_is_the_earliest_and_ties_go_to_the_lowest_leaf(
            units in 1..300_usize,
            steps in prop::collection::vec((any::<u16>(), prop::option::of(0..50_u64)), 1..200),
        ) {
            let mut tree = EventTree::new(units);
            let leaves = units + SIDE_LEAVES;
            let mut oracle = vec![None; leaves];
            for (leaf, time) in steps {
                let leaf = leaf as usize % leaves;
                match time {
                    _ if leaf >= units => tree.set_side(leaf - units, time),
                    Some(time) => tree.set(leaf, time),
                    None => tree.cancel(leaf),
                }
                oracle[leaf] = time;
                let expected = oracle
                    .iter()
                    .enumerate()
                    .filter_map(|(leaf, time)| time.map(|time| (time, leaf)))
                    .min();
                let first = tree.first();
                let first = (first != EventKey::NEVER).then(|| (first.time(), first.leaf()));
                prop_assert_eq!(first, expected);
            }
        }
    }
}
