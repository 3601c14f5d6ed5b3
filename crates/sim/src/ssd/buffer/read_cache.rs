//! The read cache, and reading ahead into it.
//!
//! ```text
//!   read ─┬─ page held ──────────────> memory ─────────┐
//!         ├─ page coming ─> waits for it ──────────────┤─> link
//!         └─ miss ────────> flash, page is coming ─────┘
//!   the second read in a row ─> flash: so many pages behind its end are coming
//! ```
//!
//! Pages are replaced in order of their last use. A page that is written or trimmed leaves the
//! cache, even while it is being fetched. Sequential reads are recognised by their first byte: it
//! follows the last byte of an earlier read.

use rustc_hash::FxHashMap;

use crate::preset::SsdConfig;

const NONE: u32 = u32::MAX;

/// The number of sequential readers tracked at once.
const READERS: usize = 16;

/// A page being fetched from the flash.
#[derive(Clone, Debug, Default)]
struct Coming {
    /// The slots of the requests that wait for it.
    waiting: Vec<u32>,
    /// It was written or trimmed in the meantime.
    is_stale: bool,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    page: u32,
    newer: u32,
    older: u32,
}

/// Where a sequential reader continues.
#[derive(Clone, Copy, Debug)]
struct Reader {
    next_byte: u64,
    /// One past the last page that was read ahead.
    ahead: u32,
}

#[derive(Clone, Copy, Debug)]
struct CacheSettings {
    pages: u32,
    ahead_pages: u32,
}

#[derive(Clone, Debug)]
pub struct ReadCache {
    settings: CacheSettings,
    /// Only looked up, never iterated, so its order cannot matter.
    held: FxHashMap<u32, u32>,
    nodes: Vec<Node>,
    newest: u32,
    oldest: u32,
    vacant: Vec<u32>,
    /// Only looked up, never iterated.
    coming: FxHashMap<u32, Coming>,
    readers: [Reader; READERS],
    next_reader: usize,
}

impl ReadCache {
    pub fn new(config: &SsdConfig) -> Self {
        let page_bytes = u64::from(config.geometry.page_size_bytes);
        let buffer = &config.buffer;
        Self::empty(CacheSettings {
            pages: (buffer.read_cache_bytes / page_bytes) as u32,
            ahead_pages: (buffer.read_ahead_bytes / page_bytes) as u32,
        })
    }

    fn empty(settings: CacheSettings) -> Self {
        Self {
            settings,
            held: FxHashMap::default(),
            nodes: Vec::new(),
            newest: NONE,
            oldest: NONE,
            vacant: Vec::new(),
            coming: FxHashMap::default(),
            readers: [Reader {
                next_byte: u64::MAX,
                ahead: 0,
            }; READERS],
            next_reader: 0,
        }
    }

    pub fn reset(&mut self) {
        *self = Self::empty(self.settings);
    }

    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.settings.pages > 0
    }

    /// If `page` is being fetched and was not written since, `slot` waits for it. Returns whether
    /// it does.
    pub fn wait(&mut self, page: u32, slot: u32) -> bool {
        let coming = self.coming.get_mut(&page).filter(|coming| !coming.is_stale);
        coming.map(|coming| coming.waiting.push(slot)).is_some()
    }

    /// Whether a copy of `page` is being fetched.
    pub fn is_coming(&self, page: u32) -> bool {
        self.coming.contains_key(&page)
    }

    /// `page` is being fetched from the flash, for `slot` or ahead.
    pub fn expect(&mut self, page: u32, slot: Option<u32>) {
        self.coming.entry(page).or_default().waiting.extend(slot);
    }

    /// `page` has been fetched, and is held unless it was written in the meantime. Returns the
    /// slots that waited.
    pub fn come(&mut self, page: u32) -> Vec<u32> {
        let Some(coming) = self.coming.remove(&page) else {
            return Vec::new();
        };
        if !coming.is_stale {
            self.hold(page);
        }
        coming.waiting
    }

    /// The first slot that asked for a page being fetched; `None` for a page that is read ahead.
    pub fn first_waiting(&self, page: u32) -> Option<u32> {
        self.coming.get(&page)?.waiting.first().copied()
    }

    fn unlink(&mut self, node: u32) {
        let Node { newer, older, .. } = self.nodes[node as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.nodes[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.nodes[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, node: u32) {
        self.nodes[node as usize].newer = NONE;
        self.nodes[node as usize].older = self.newest;
        match self.newest {
            NONE => self.oldest = node,
            newest => self.nodes[newest as usize].newer = node,
        }
        self.newest = node;
    }

    /// Whether the cache holds `page`; this counts as its last use.
    pub fn touch(&mut self, page: u32) -> bool {
        let Some(&node) = self.held.get(&page) else {
            return false;
        };
        self.unlink(node);
        self.link_newest(node);
        true
    }

    /// Adds `page`, replacing the least recently used page if necessary.
    fn hold(&mut self, page: u32) {
        if !self.is_on() || self.touch(page) {
            return;
        }
        if self.held.len() as u32 == self.settings.pages {
            let oldest = self.nodes[self.oldest as usize].page;
            self.forget(oldest);
        }
        let entry = Node {
            page,
            newer: NONE,
            older: NONE,
        };
        let node = match self.vacant.pop() {
            Some(node) => {
                self.nodes[node as usize] = entry;
                node
            }
            None => {
                self.nodes.push(entry);
                (self.nodes.len() - 1) as u32
            }
        };
        self.held.insert(page, node);
        self.link_newest(node);
    }

    /// Removes `page`, which is written or trimmed.
    pub fn forget(&mut self, page: u32) {
        if let Some(node) = self.held.remove(&page) {
            self.unlink(node);
            self.vacant.push(node);
        }
        if let Some(coming) = self.coming.get_mut(&page) {
            coming.is_stale = true;
        }
    }

    /// A read of the bytes from `start` to `end`, which ends before page `end_page`. If it
    /// continues an earlier read, returns the pages to read ahead, all before page `limit`.
    pub fn follow(&mut self, start: u64, end: u64, end_page: u32, limit: u32) -> (u32, u32) {
        let ahead_pages = self.settings.ahead_pages;
        if ahead_pages == 0 {
            return (0, 0);
        }
        if let Some(reader) = self.readers.iter_mut().find(|r| r.next_byte == start) {
            let until = end_page.saturating_add(ahead_pages).min(limit);
            let from = reader.ahead.max(end_page).min(until);
            *reader = Reader {
                next_byte: end,
                ahead: until,
            };
            return (from, until);
        }
        self.readers[self.next_reader] = Reader {
            next_byte: end,
            ahead: end_page,
        };
        self.next_reader = (self.next_reader + 1) % READERS;
        (0, 0)
    }

    /// Whether `page` is neither held nor being fetched.
    pub fn lacks(&self, page: u32) -> bool {
        !self.held.contains_key(&page) && !self.coming.contains_key(&page)
    }
}

#[cfg(test)]
mod tests {
    use super::{CacheSettings, ReadCache};
    use proptest::prelude::*;

    fn cache(pages: u32) -> ReadCache {
        ReadCache::empty(CacheSettings {
            pages,
            ahead_pages: 4,
        })
    }

    proptest! {
        #[test]
        fn the_page_unused_longest_makes_room(
            pages in 1..6_u32,
            steps in prop::collection::vec((0..4_u8, 0..10_u32), 0..300),
        ) {
            let mut cache = cache(pages);
            let mut list: Vec<u32> = Vec::new();
            for (step, page) in steps {
                let place = list.iter().position(|&held| held == page);
                if let Some(place) = place {
                    list.remove(place);
                }
                match step {
                    0 => cache.forget(page),
                    1 => {
                        prop_assert_eq!(cache.touch(page), place.is_some());
                        list.extend(place.map(|_| page));
                    }
                    _ => {
                        cache.hold(page);
                        list.push(page);
                        if list.len() > pages as usize {
                            list.remove(0);
                        }
                    }
                }
                for page in 0..10 {
                    prop_assert_eq!(cache.lacks(page), !list.contains(&page));
                }
            }
        }
    }

    #[test]
    fn the_second_read_in_a_row_is_followed_and_no_page_is_read_ahead_twice() {
        let mut cache = cache(100);
        let page = |n: u64| n * 4096;
        assert_eq!(cache.follow(page(7), page(9), 9, 50), (0, 0));
        assert_eq!(cache.follow(page(20), page(21), 21, 50), (0, 0));
        assert_eq!(cache.follow(page(9), page(11), 11, 50), (11, 15));
        assert_eq!(cache.follow(page(11), page(13), 13, 50), (15, 17));
        assert_eq!(cache.follow(page(21), page(48), 48, 50), (48, 50));
    }
}
