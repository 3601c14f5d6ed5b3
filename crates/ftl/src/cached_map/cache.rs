//! The cached entries, in order of use.
//!
//! ```text
//!   used once:      newest ─ ... ─ oldest ─> makes room
//!      │ used again    ^
//!      v               │ too many
//!   used again:     newest ─ ... ─ oldest         segmented LRU only
//! ```

use crate::NOTHING;
use crate::memory::{Cells, Memory};
use crate::snapshot::{StateError, check};

use super::Replacement;

/// Words of a slot.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Slot {
    /// The next slot used later, and the next used earlier.
    Newer,
    Older,
    /// The page whose entry it holds.
    Page,
    /// The list it is in.
    List,
}

const SLOT_WORDS: usize = 4;

/// Words of a list.
#[derive(Clone, Copy)]
#[repr(usize)]
enum End {
    Newest,
    Oldest,
    Length,
}

const LIST_WORDS: usize = 3;

/// How many entries ahead of the one that makes room are prefetched.
const AHEAD: u32 = 8;

const ONCE: u32 = 0;
const AGAIN: u32 = 1;

/// Cached entries. Their content is in the page map.
pub(super) struct Cache<M: Memory> {
    /// One more than the slot of each page's entry, 0 if it is not cached.
    slot_of: M::Wide,
    slots: M::Wide,
    /// Both lists.
    pub lists: M::Wide,
    capacity: u32,
    /// The most entries of the second list.
    most_again: u32,
}

impl<M: Memory> Clone for Cache<M> {
    fn clone(&self) -> Self {
        Self {
            slot_of: self.slot_of.clone(),
            slots: self.slots.clone(),
            lists: self.lists.clone(),
            capacity: self.capacity,
            most_again: self.most_again,
        }
    }
}

impl<M: Memory> Cache<M> {
    pub fn empty(logical_pages: u32, capacity: u32, replacement: Replacement) -> Self {
        let mut lists = M::Wide::filled(2 * LIST_WORDS, NOTHING);
        for list in [ONCE, AGAIN] {
            lists.set(list as usize * LIST_WORDS + End::Length as usize, 0);
        }
        Self {
            slot_of: M::Wide::filled(logical_pages as usize, 0),
            slots: M::Wide::filled(capacity as usize * SLOT_WORDS, NOTHING),
            lists,
            capacity,
            most_again: match replacement {
                Replacement::Lru => 0,
                Replacement::SegmentedLru => capacity / 2,
            },
        }
    }

    #[inline]
    pub fn holds(&self, page: u32) -> bool {
        self.slot_of.get(page as usize) != 0
    }

    /// Prefetches for a look-up of the entry of `page`.
    #[inline]
    pub fn prefetch(&self, page: u32) {
        self.slot_of.prefetch(page as usize);
    }

    /// Prefetches for a use of the entry of `page`, after [`Cache::prefetch`], if it is cached.
    #[inline]
    pub fn prefetch_use(&self, page: u32) {
        if self.slot_of.size() > 0
            && let Some(slot) = self.slot_of.get(page as usize).checked_sub(1)
        {
            self.slots.prefetch(slot as usize * SLOT_WORDS);
        }
    }

    /// Who probably makes room soon after `victim`, so that its data can be prefetched. If nothing
    /// is used again, slots make room in their order.
    #[inline]
    pub fn later_victim(&self, victim: u32) -> Option<u32> {
        let slot = self.slot_of.get(victim as usize).checked_sub(1)?;
        if self.capacity <= 2 * AHEAD {
            return None;
        }
        let later = |slots: u32| {
            let slot = slot + slots;
            if slot < self.capacity {
                slot
            } else {
                slot - self.capacity
            }
        };
        self.slots.prefetch(later(2 * AHEAD) as usize * SLOT_WORDS);
        let page = self.slot(later(AHEAD), Slot::Page);
        self.slot_of.prefetch(page as usize);
        (page != NOTHING).then_some(page)
    }

    fn slot(&self, slot: u32, word: Slot) -> u32 {
        self.slots.get(slot as usize * SLOT_WORDS + word as usize)
    }

    fn set_slot(&mut self, slot: u32, word: Slot, value: u32) {
        self.slots
            .set(slot as usize * SLOT_WORDS + word as usize, value);
    }

    fn list(&self, list: u32, end: End) -> u32 {
        self.lists.get(list as usize * LIST_WORDS + end as usize)
    }

    fn set_list(&mut self, list: u32, end: End, value: u32) {
        self.lists
            .set(list as usize * LIST_WORDS + end as usize, value);
    }

    fn used(&self) -> u32 {
        self.list(ONCE, End::Length) + self.list(AGAIN, End::Length)
    }

    fn unlink(&mut self, slot: u32) {
        let (newer, older) = (self.slot(slot, Slot::Newer), self.slot(slot, Slot::Older));
        let list = self.slot(slot, Slot::List);
        match newer {
            NOTHING => self.set_list(list, End::Newest, older),
            newer => self.set_slot(newer, Slot::Older, older),
        }
        match older {
            NOTHING => self.set_list(list, End::Oldest, newer),
            older => self.set_slot(older, Slot::Newer, newer),
        }
        let length = self.list(list, End::Length);
        self.set_list(list, End::Length, length - 1);
    }

    /// `slot` becomes the newest of a list.
    fn link(&mut self, slot: u32, list: u32) {
        let newest = self.list(list, End::Newest);
        self.set_slot(slot, Slot::Newer, NOTHING);
        self.set_slot(slot, Slot::Older, newest);
        self.set_slot(slot, Slot::List, list);
        match newest {
            NOTHING => self.set_list(list, End::Oldest, slot),
            newest => self.set_slot(newest, Slot::Newer, slot),
        }
        self.set_list(list, End::Newest, slot);
        let length = self.list(list, End::Length);
        self.set_list(list, End::Length, length + 1);
    }

    /// Uses the entry of `page`, if it is cached.
    #[inline]
    pub fn touch(&mut self, page: u32) -> bool {
        let Some(slot) = self.slot_of.get(page as usize).checked_sub(1) else {
            return false;
        };
        let list = if self.most_again > 0 { AGAIN } else { ONCE };
        if self.list(list, End::Newest) == slot {
            return true;
        }
        self.unlink(slot);
        self.link(slot, list);
        if list == AGAIN && self.list(AGAIN, End::Length) > self.most_again {
            let oldest = self.list(AGAIN, End::Oldest);
            self.unlink(oldest);
            self.link(oldest, ONCE);
        }
        true
    }

    /// The page whose entry makes room for the next; `None` while there is room.
    pub fn victim(&self) -> Option<u32> {
        let oldest = self.list(ONCE, End::Oldest);
        (self.used() == self.capacity).then(|| self.slot(oldest, Slot::Page))
    }

    /// Caches the entry of `page` in an unused slot.
    pub fn insert(&mut self, page: u32) {
        self.take(self.used(), page);
    }

    /// Caches the entry of `page` in the slot of `victim`.
    pub fn replace(&mut self, victim: u32, page: u32) {
        if let Some(slot) = self.slot_of.get(victim as usize).checked_sub(1) {
            self.slot_of.set(victim as usize, 0);
            self.unlink(slot);
            self.take(slot, page);
        }
    }

    fn take(&mut self, slot: u32, page: u32) {
        self.set_slot(slot, Slot::Page, page);
        self.slot_of.set(page as usize, slot + 1);
        self.link(slot, ONCE);
    }

    /// The tables that are written: what each slot holds and how slots are linked.
    pub fn tables(&self) -> [&M::Wide; 2] {
        [&self.slots, &self.lists]
    }

    /// The same for writing, and the table derived from them.
    pub fn every_table(&mut self) -> [&mut M::Wide; 3] {
        [&mut self.slots, &mut self.lists, &mut self.slot_of]
    }

    pub fn derived(&self) -> &M::Wide {
        &self.slot_of
    }

    /// Checks the lists, and finds the slots of pages anew.
    pub fn check_lists(&mut self) -> Result<(), StateError> {
        for page in 0..self.slot_of.size() {
            self.slot_of.set(page, 0);
        }
        let lengths = [ONCE, AGAIN].map(|list| u64::from(self.list(list, End::Length)));
        let used = lengths.iter().sum::<u64>();
        let fits = used <= u64::from(self.capacity) && lengths[1] <= u64::from(self.most_again);
        check(fits, "more entries are cached than fit")?;
        for list in [ONCE, AGAIN] {
            let (mut newer, mut slot) = (NOTHING, self.list(list, End::Newest));
            for _ in 0..self.list(list, End::Length) {
                let is_linked = u64::from(slot) < used
                    && self.slot(slot, Slot::List) == list
                    && self.slot(slot, Slot::Newer) == newer;
                check(is_linked, "a cached entry is in another list")?;
                let page = self.slot(slot, Slot::Page) as usize;
                let is_new = page < self.slot_of.size() && self.slot_of.get(page) == 0;
                check(is_new, "an entry is cached twice, or of no page")?;
                self.slot_of.set(page, slot + 1);
                newer = slot;
                slot = self.slot(slot, Slot::Older);
            }
            let has_ended = slot == NOTHING && newer == self.list(list, End::Oldest);
            check(has_ended, "a list of cached entries goes on after its end")?;
        }
        Ok(())
    }
}
