//! The event queue: a tournament tree with one leaf a resource.
//!
//! Every resource (a die, a channel, the host link) has at most one pending
//! event, so an event is a leaf and replacing it is one walk to the root.
//! Keys are `time << LEAF_BITS | leaf`: unique, so equal times are served in
//! the order of the leaves and every run is the same.

const LEAF_BITS: u32 = 14;

/// Largest number of resources.
pub const MAX_LEAVES: usize = 1 << LEAF_BITS;

/// Simulated time ends here (2^50 ns, 13 days): later times do not fit a key.
pub const END_OF_TIME: u64 = (1 << (64 - LEAF_BITS)) - 1;

const NEVER: u64 = u64::MAX;

/// Pending events, the earliest first.
#[derive(Clone, Debug)]
pub struct EventTree {
    /// Node 1 is the root; node `i` holds the smaller of `2i` and `2i + 1`.
    keys: Vec<u64>,
    first_leaf: usize,
}

impl EventTree {
    /// A tree for `leaves` resources, none with an event.
    #[must_use]
    pub fn new(leaves: usize) -> Self {
        let first_leaf = leaves.next_power_of_two().max(2);
        Self {
            keys: vec![NEVER; 2 * first_leaf],
            first_leaf,
        }
    }

    /// Forgets every event.
    pub fn clear(&mut self) {
        self.keys.fill(NEVER);
    }

    /// The earliest event: its time and leaf.
    #[inline(always)]
    #[must_use]
    pub fn first(&self) -> Option<(u64, usize)> {
        let key = self.keys[1];
        (key != NEVER).then_some((key >> LEAF_BITS, (key & (MAX_LEAVES as u64 - 1)) as usize))
    }

    /// Sets the event of `leaf` to `time`, or to just before [`END_OF_TIME`].
    #[inline(always)]
    pub fn set(&mut self, leaf: usize, time: u64) {
        let time = time.min(END_OF_TIME - 1);
        self.replace(leaf, time << LEAF_BITS | leaf as u64);
    }

    /// Removes the event of `leaf`.
    #[inline(always)]
    pub fn cancel(&mut self, leaf: usize) {
        self.replace(leaf, NEVER);
    }

    #[inline(always)]
    fn replace(&mut self, leaf: usize, key: u64) {
        let keys = self.keys.as_mut_slice();
        let mut node = self.first_leaf + leaf;
        keys[node] = key;
        let mut least = key;
        while node > 1 {
            least = least.min(keys[node ^ 1]);
            node >>= 1;
            keys[node] = least;
        }
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
            leaves in 1..70_usize,
            steps in prop::collection::vec((any::<u16>(), prop::option::of(0..50_u64)), 1..200),
        ) {
            let mut tree = EventTree::new(leaves);
            let mut oracle = vec![None; leaves];
            for (leaf, time) in steps {
                let leaf = leaf as usize % leaves;
                match time {
                    Some(time) => tree.set(leaf, time),
                    None => tree.cancel(leaf),
                }
                oracle[leaf] = time;
                let expected = oracle
                    .iter()
                    .enumerate()
                    .filter_map(|(leaf, time)| time.map(|time| (time, leaf)))
                    .min();
                prop_assert_eq!(tree.first(), expected);
            }
        }
    }
}
