//! Pages in the write buffer that gather before they go to the flash.
//!
//! ```text
//!   put ─> | p p p p p p | ─> the oldest go when `start` wait, until `stop` are left
//!               ^ written again: replaced where it stands, one program less
//! ```

use std::collections::VecDeque;

use drivelab_request::{Content, PlacementId};
use rustc_hash::FxHashMap;

/// When gathered pages go to the flash.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// Start when this many pages wait; 0 if none ever waits.
    pub start: u32,
    /// Stop when this many are left.
    pub stop: u32,
}

/// The content of a page, and where it should be placed.
pub type Data = (Content, PlacementId);

#[derive(Clone, Copy, Debug)]
struct Page {
    /// The number of its place in the line. Places of pages that have left are stale.
    place: u64,
    /// Data was written to the whole page.
    is_whole: bool,
    /// The data of the last write.
    data: Data,
}

/// The waiting pages, by age.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    /// Only looked up, never iterated, so its order cannot matter.
    pages: FxHashMap<u32, Page>,
    /// Logical pages in order of first write, each with the number of its place.
    line: VecDeque<(u32, u64)>,
    next_place: u64,
}

impl Gathered {
    pub fn len(&self) -> u32 {
        self.pages.len() as u32
    }

    /// Adds data of logical page `page`. Returns whether it replaces waiting data.
    pub fn put(&mut self, page: u32, is_whole: bool, data: Data) -> bool {
        if let Some(held) = self.pages.get_mut(&page) {
            held.is_whole |= is_whole;
            held.data = data;
            return true;
        }
        let place = self.next_place;
        self.next_place += 1;
        let held = Page {
            place,
            is_whole,
            data,
        };
        self.pages.insert(page, held);
        if self.line.len() > 2 * self.pages.len() + 64 {
            let pages = &self.pages;
            self.line
                .retain(|(page, place)| pages.get(page).is_some_and(|held| held.place == *place));
        }
        self.line.push_back((page, place));
        false
    }

    /// Removes `page`. If it was there, returns whether it was whole.
    pub fn remove(&mut self, page: u32) -> Option<bool> {
        self.pages.remove(&page).map(|held| held.is_whole)
    }

    /// Takes the oldest page: its number, whether it is whole, and its data.
    pub fn oldest(&mut self) -> Option<(u32, bool, Data)> {
        while let Some((page, place)) = self.line.pop_front() {
            if let Some(held) = self.pages.get(&page)
                && held.place == place
            {
                let oldest = (page, held.is_whole, held.data);
                self.pages.remove(&page);
                return Some(oldest);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Gathered;
    use drivelab_request::{Content, PlacementId};
    use proptest::prelude::*;

    const DATA: super::Data = (
        Content::Zero,
        PlacementId {
            handle: None,
            group: None,
        },
    );

    proptest! {
        #[test]
        fn pages_leave_in_the_order_of_their_first_write(
            steps in prop::collection::vec((0..4_u8, 0..8_u32, any::<bool>()), 0..600),
        ) {
            let mut gathered = Gathered::default();
            let mut list: Vec<(u32, bool)> = Vec::new();
            for (step, page, is_whole) in steps {
                let place = list.iter().position(|&(held, _)| held == page);
                match (step, place) {
                    (0, _) => {
                        let oldest = (!list.is_empty()).then(|| list.remove(0));
                        let taken = gathered.oldest().map(|(page, is_whole, _)| (page, is_whole));
                        prop_assert_eq!(taken, oldest);
                    }
                    (1, place) => {
                        let removed = place.map(|place| list.remove(place).1);
                        prop_assert_eq!(gathered.remove(page), removed);
                    }
                    (_, Some(place)) => {
                        list[place].1 |= is_whole;
                        prop_assert!(gathered.put(page, is_whole, DATA));
                    }
                    (_, None) => {
                        list.push((page, is_whole));
                        prop_assert!(!gathered.put(page, is_whole, DATA));
                    }
                }
                prop_assert_eq!(gathered.len() as usize, list.len());
                prop_assert!(gathered.line.len() <= 2 * list.len() + 67);
            }
        }
    }
}
