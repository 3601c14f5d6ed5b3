//! A queue in a ring whose size is a power of two.
//!
//! Every request passes several of these queues. The standard library's queue allows any size and
//! takes two to three times as many instructions.

use std::hint::select_unpredictable;

/// Initial size of a ring.
const FEW: usize = 16;

/// A queue, first in, first out. The first entry is at `first`; places are numbered modulo the
/// size.
#[derive(Clone, Debug)]
pub(super) struct Ring<T> {
    places: Vec<T>,
    first: usize,
    len: usize,
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self {
            places: vec![T::default(); FEW],
            first: 0,
            len: 0,
        }
    }
}

impl<T: Copy + Default> Ring<T> {
    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        self.first.wrapping_add(index) & (self.places.len() - 1)
    }

    #[inline(always)]
    fn at(&self, index: usize) -> &T {
        let place = self.place(index);
        // SAFETY: the number of places is a power of two and never 0, and the mask is below it.
        unsafe { self.places.get_unchecked(place) }
    }

    #[inline(always)]
    fn at_mut(&mut self, index: usize) -> &mut T {
        let place = self.place(index);
        // SAFETY: as above.
        unsafe { self.places.get_unchecked_mut(place) }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        (self.len > 0).then(|| self.at(0))
    }

    /// `of` the first entry, or `otherwise` if there is none. Branchless, because a branch would be
    /// mispredicted half the time.
    #[inline(always)]
    pub fn of_front<U>(&self, of: impl Fn(&T) -> U, otherwise: U) -> U {
        // An arbitrary value if the ring is empty.
        select_unpredictable(self.len > 0, of(self.at(0)), otherwise)
    }

    /// All entries, beginning with the first.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|index| self.at(index))
    }

    #[inline(always)]
    pub fn push(&mut self, value: T) {
        if self.len == self.places.len() {
            self.grow();
        }
        *self.at_mut(self.len) = value;
        self.len += 1;
    }

    /// Puts `value` before all other entries.
    #[inline(always)]
    pub fn push_front(&mut self, value: T) {
        if self.len == self.places.len() {
            self.grow();
        }
        self.first = self.first.wrapping_sub(1);
        self.len += 1;
        *self.at_mut(0) = value;
    }

    /// Takes the first entry.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let value = *self.at(0);
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
        Some(value)
    }

    /// Inserts `value` before all larger entries. Its place is usually near the end.
    #[inline(always)]
    pub fn insert_in_order(&mut self, value: T)
    where
        T: Ord,
    {
        if self.len == self.places.len() {
            self.grow();
        }
        self.len += 1;
        self.move_last_into_order(value);
    }

    /// Replaces the first entry: it leaves, and `value` is inserted before all larger entries. The
    /// ring must not be empty.
    #[inline(always)]
    pub fn replace_first_in_order(&mut self, value: T)
    where
        T: Ord,
    {
        self.first = self.first.wrapping_add(1);
        self.move_last_into_order(value);
    }

    /// The last place is vacant: moves larger entries towards it until `value` has its place.
    #[inline(always)]
    fn move_last_into_order(&mut self, value: T)
    where
        T: Ord,
    {
        let mut index = self.len - 1;
        while index > 0 {
            let before = *self.at(index - 1);
            if before <= value {
                break;
            }
            *self.at_mut(index) = before;
            index -= 1;
        }
        *self.at_mut(index) = value;
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let start = self.place(0);
        self.places.rotate_left(start);
        self.first = 0;
        self.places.resize(2 * self.places.len(), T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(steps in prop::collection::vec((0..5_u8, 0..100_u32), 0..300)) {
            let (mut ring, mut oracle) = (Ring::default(), VecDeque::new());
            for (step, value) in steps {
                if step < 2 {
                    prop_assert_eq!(ring.pop(), oracle.pop_front());
                } else if step == 2 {
                    ring.push_front(value);
                    oracle.push_front(value);
                } else {
                    ring.push(value);
                    oracle.push_back(value);
                }
                prop_assert_eq!(ring.front(), oracle.front());
                let first = oracle.front().copied().unwrap_or(100);
                prop_assert_eq!(ring.of_front(|&value| value, 100), first);
                prop_assert_eq!((ring.len(), ring.is_empty()), (oracle.len(), oracle.is_empty()));
            }
        }

        #[test]
        fn what_is_inserted_in_order_comes_out_in_order(
            steps in prop::collection::vec((0..4_u8, 0..100_u32), 0..300),
        ) {
            let (mut ring, mut oracle) = (Ring::default(), Vec::new());
            for (step, value) in steps {
                if step == 0 {
                    let first = (!oracle.is_empty()).then(|| oracle.remove(0));
                    prop_assert_eq!(ring.pop(), first);
                    continue;
                }
                if step == 1 && !oracle.is_empty() {
                    oracle.remove(0);
                    ring.replace_first_in_order(value);
                } else {
                    ring.insert_in_order(value);
                }
                oracle.push(value);
                oracle.sort_unstable();
                prop_assert!(ring.values().eq(&oracle));
            }
        }
    }
}
