//! The targets of returns and of indirect branches.

/// The last calls, up to a limit: a further one overwrites the oldest.
#[derive(Clone, Debug)]
pub struct Returns {
    places: Vec<u64>,
    top: usize,
}

impl Returns {
    /// Room for `entries` calls.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self {
            places: vec![0; entries],
            top: 0,
        }
    }

    /// A call that will return to `place`.
    #[inline]
    pub fn call(&mut self, place: u64) {
        self.top = if self.top + 1 == self.places.len() {
            0
        } else {
            self.top + 1
        };
        self.places[self.top] = place;
    }

    /// A return that went to `place`. True if it was predicted.
    #[inline]
    pub fn meet(&mut self, place: u64) -> bool {
        let right = self.places[self.top] == place;
        self.top = self.top.checked_sub(1).unwrap_or(self.places.len() - 1);
        right
    }
}

/// The last target of each indirect branch, after the same few indirect branches.
#[derive(Clone, Debug)]
pub struct IndirectPlaces {
    places: Vec<u64>,
    history: u64,
}

impl IndirectPlaces {
    /// A table of `entries` places, a power of two.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self {
            places: vec![0; entries],
            history: 0,
        }
    }

    /// An indirect branch at `address` that went to `place`. True if it was predicted.
    #[inline]
    pub fn meet(&mut self, address: u64, place: u64) -> bool {
        let mixed = (address ^ self.history).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let index = mixed as usize & (self.places.len() - 1);
        let right = self.places[index] == place;
        self.places[index] = place;
        self.history = (self.history << 5 ^ place >> 2) & 0xffff;
        right
    }
}
