//! A queue in a ring whose size is a power of two.
//!
//! Several of them are in the way of every request, where the standard library's, which
//! allows any size, takes two to three times the instructions.

use std::hint::select_unpredictable;

/// Places that a ring begins with.
const FEW: usize = 16;

/// First in, first out; the first is at `first`, and places are counted on modulo the size.
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
        // SAFETY: there are always places, as many as a power of two: the mask is below it.
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

    /// `of` the first, or `otherwise`: without a branch, which would be as good as random.
    #[inline(always)]
    pub fn of_front<U>(&self, of: impl Fn(&T) -> U, otherwise: U) -> U {
        // Whatever lies there where there is no first.
        select_unpredictable(self.len > 0, of(self.at(0)), otherwise)
    }

    /// Every one, the first first.
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

    /// Puts `value` before all others.
    #[inline(always)]
    pub fn push_front(&mut self, value: T) {
        if self.len == self.places.len() {
            self.grow();
        }
        self.first = self.first.wrapping_sub(1);
        self.len += 1;
        *self.at_mut(0) = value;
    }

    /// Takes the first.
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

    /// Puts `value` before all that are larger, the last of which it is seldom far from.
    #[inline(always)]
    pub fn insert_in_order(&mut self, value: T)
    where
        T: Ord,
    {
        if self.len == self.places.len() {
            self.grow();
        }
        let mut index = self.len;
        self.len += 1;
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
            steps in prop::collection::vec((any::<bool>(), 0..100_u32), 0..300),
        ) {
            let (mut ring, mut oracle) = (Ring::default(), Vec::new());
            for (pops, value) in steps {
                if pops {
                    let first = (!oracle.is_empty()).then(|| oracle.remove(0));
                    prop_assert_eq!(ring.pop(), first);
                } else {
                    ring.insert_in_order(value);
                    oracle.push(value);
                    oracle.sort_unstable();
                }
            }
        }
    }
}
