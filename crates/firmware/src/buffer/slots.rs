//! Slots by number: which are free, which page each holds, and the order of use.
//!
//! ```text
//!   hash of the page ──> first slot ──> next slot of the same hash ──> ..
//!   oldest <──> .. <──> .. <──> newest        every slot that is not free
//! ```

/// No slot.
pub const NO_SLOT: u16 = u16::MAX;

/// Who holds what.
#[derive(Clone, Debug)]
pub struct Slots {
    pages: Vec<u32>,
    /// Whether a slot can be found by its page.
    is_found: Vec<bool>,
    heads: Vec<u16>,
    chain: Vec<u16>,
    older: Vec<u16>,
    newer: Vec<u16>,
    oldest: u16,
    newest: u16,
    free: Vec<u16>,
}

impl Slots {
    /// `slots` free slots.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        let none = vec![NO_SLOT; slots];
        Self {
            pages: vec![0; slots],
            is_found: vec![false; slots],
            heads: vec![NO_SLOT; (slots * 2).next_power_of_two()],
            chain: none.clone(),
            older: none.clone(),
            newer: none,
            oldest: NO_SLOT,
            newest: NO_SLOT,
            free: (0..slots as u16).rev().collect(),
        }
    }

    /// The number of free slots.
    #[must_use]
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// The number of slots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The page of a slot.
    #[inline]
    #[must_use]
    pub fn page(&self, slot: u16) -> u32 {
        self.pages[usize::from(slot)]
    }

    #[inline]
    fn hash(&self, page: u32) -> usize {
        // The upper bits of a product with an odd constant (Knuth).
        let mixed = page.wrapping_mul(0x9E37_79B1) >> 16;
        mixed as usize & (self.heads.len() - 1)
    }

    /// The slot that holds `page`.
    #[inline]
    #[must_use]
    pub fn find(&self, page: u32) -> Option<u16> {
        let mut slot = self.heads[self.hash(page)];
        while slot != NO_SLOT {
            if self.pages[usize::from(slot)] == page {
                return Some(slot);
            }
            slot = self.chain[usize::from(slot)];
        }
        None
    }

    /// Gives a free slot to `page`, which no slot holds, as the most recently used.
    #[inline]
    pub fn take(&mut self, page: u32) -> Option<u16> {
        let slot = self.free.pop()?;
        let hash = self.hash(page);
        let place = usize::from(slot);
        self.pages[place] = page;
        self.is_found[place] = true;
        self.chain[place] = self.heads[hash];
        self.heads[hash] = slot;
        self.append(slot);
        Some(slot)
    }

    fn append(&mut self, slot: u16) {
        let place = usize::from(slot);
        self.older[place] = self.newest;
        self.newer[place] = NO_SLOT;
        match self.newest {
            NO_SLOT => self.oldest = slot,
            newest => self.newer[usize::from(newest)] = slot,
        }
        self.newest = slot;
    }

    fn unlink(&mut self, slot: u16) {
        let (older, newer) = (self.older[usize::from(slot)], self.newer[usize::from(slot)]);
        match older {
            NO_SLOT => self.oldest = newer,
            older => self.newer[usize::from(older)] = newer,
        }
        match newer {
            NO_SLOT => self.newest = older,
            newer => self.older[usize::from(newer)] = older,
        }
    }

    /// Records a use of the slot.
    #[inline]
    pub fn touch(&mut self, slot: u16) {
        if self.newest != slot {
            self.unlink(slot);
            self.append(slot);
        }
    }

    /// The slot cannot be found by its page any more, and another may hold the page.
    pub fn hide(&mut self, slot: u16) {
        let place = usize::from(slot);
        if !std::mem::replace(&mut self.is_found[place], false) {
            return;
        }
        let hash = self.hash(self.pages[place]);
        let next = self.chain[place];
        if self.heads[hash] == slot {
            self.heads[hash] = next;
            return;
        }
        let mut at = self.heads[hash];
        while at != NO_SLOT {
            if self.chain[usize::from(at)] == slot {
                self.chain[usize::from(at)] = next;
                return;
            }
            at = self.chain[usize::from(at)];
        }
    }

    /// Whether the slot can be found by its page.
    #[must_use]
    pub fn is_found(&self, slot: u16) -> bool {
        self.is_found[usize::from(slot)]
    }

    /// Frees the slot.
    pub fn release(&mut self, slot: u16) {
        self.hide(slot);
        self.unlink(slot);
        self.free.push(slot);
    }

    /// The least recently used slot among those that `is_wanted`.
    #[inline]
    pub fn oldest(&self, mut is_wanted: impl FnMut(u16) -> bool) -> Option<u16> {
        let mut slot = self.oldest;
        while slot != NO_SLOT && !is_wanted(slot) {
            slot = self.newer[usize::from(slot)];
        }
        (slot != NO_SLOT).then_some(slot)
    }

    /// Every slot in use, the least recently used first.
    pub fn held(&self) -> impl Iterator<Item = u16> + '_ {
        let mut slot = self.oldest;
        std::iter::from_fn(move || {
            let this = slot;
            if this == NO_SLOT {
                return None;
            }
            slot = self.newer[usize::from(this)];
            Some(this)
        })
    }
}
