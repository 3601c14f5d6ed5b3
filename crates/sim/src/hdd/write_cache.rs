//! The data that was written but is not on the platters yet.
//!
//! ```text
//!   write ─> extents, the oldest first ─> one on its way to the platters ─> gone
//!            merged where they touch
//! ```
//!
//! Extents never overlap: data written twice goes to the platters once. The scheduler sees only the
//! oldest few extents.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use super::geometry::Geometry;
use super::schedule::Waiting;

/// Largest extent made by merging adjacent writes, in sectors (1 MiB). A longer one would keep
/// reads waiting.
const MOST_MERGED_SECTORS: u64 = 2048;

/// The write cache of a disk.
#[derive(Clone, Debug)]
pub struct WriteCache {
    most_sectors: u64,
    /// Sectors taken, by what is in the cache or on its way into it.
    taken: u64,
    /// The entry of `extents` for each extent, by its first sector.
    by_start: BTreeMap<u64, u32>,
    extents: Vec<Waiting>,
    vacant: Vec<u32>,
    /// The extents, oldest first.
    order: VecDeque<u32>,
    /// The extent that is being written to the platters.
    under_way: Option<Waiting>,
}

impl WriteCache {
    /// An empty cache. With 0 sectors, the disk has no write cache.
    #[must_use]
    pub fn new(most_sectors: u64) -> Self {
        Self {
            most_sectors,
            taken: 0,
            by_start: BTreeMap::new(),
            extents: Vec::new(),
            vacant: Vec::new(),
            order: VecDeque::new(),
            under_way: None,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::new(self.most_sectors);
    }

    /// Whether this many sectors could ever fit at once.
    #[must_use]
    pub const fn could_hold(&self, sectors: u64) -> bool {
        sectors <= self.most_sectors
    }

    /// Reserves room for this many sectors, if there is room. Returns whether it did.
    pub fn reserve(&mut self, sectors: u64) -> bool {
        let fits = self.taken + sectors <= self.most_sectors;
        if fits {
            self.taken += sectors;
        }
        fits
    }

    /// The sectors taken and the sectors in all.
    #[must_use]
    pub const fn fill(&self) -> (u64, u64) {
        (self.taken, self.most_sectors)
    }

    /// Whether no extent waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The number of the oldest write that is not on the platters.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        let waiting = self.order.front().map(|&id| &self.extents[id as usize]);
        let numbers = [waiting, self.under_way.as_ref()];
        numbers.into_iter().flatten().map(|w| w.number).min()
    }

    /// The oldest `count` extents.
    pub fn candidates(&self, count: usize) -> impl Iterator<Item = (u32, &Waiting)> {
        let ids = self.order.iter().take(count);
        ids.map(|&id| (id, &self.extents[id as usize]))
    }

    /// Whether the cache holds all sectors of a read.
    #[inline]
    #[must_use]
    pub fn holds(&self, first: u64, end: u64) -> bool {
        if self.taken == 0 {
            return false;
        }
        let covers = |extent: &Waiting| extent.sector <= first && end <= extent.end();
        let before = self.by_start.range(..=first).next_back();
        before.is_some_and(|(_, &id)| covers(&self.extents[id as usize]))
            || self.under_way.as_ref().is_some_and(covers)
    }

    /// Adds the sectors from `first` to before `end`, for which room was reserved, as write
    /// `number`. Returns how many of them replace older ones.
    pub fn insert(&mut self, first: u64, end: u64, number: u64, geometry: &Geometry) -> u64 {
        let (mut start, mut stop) = (first, end);
        let mut merged = Vec::new();
        let mut replaced = 0;
        // Visit extents that begin at or before `end`, last first, until one ends before the new
        // one.
        let mut last = Bound::Included(end);
        while let Some((&begins, &id)) = self.by_start.range((Bound::Unbounded, last)).next_back() {
            last = Bound::Excluded(begins);
            let extent = self.extents[id as usize];
            let overlaps = extent.end() > first && begins < end;
            let length = stop.max(extent.end()) - start.min(begins);
            if extent.end() < first {
                break;
            } else if !overlaps && length > MOST_MERGED_SECTORS {
                continue;
            }
            replaced += extent.end().min(end).saturating_sub(begins.max(first));
            start = start.min(begins);
            stop = stop.max(extent.end());
            self.by_start.remove(&begins);
            merged.push(id);
        }
        let place = geometry.place(start);
        let mut extent = Waiting {
            sector: start,
            count: (stop - start) as u32,
            place,
            number,
            slot: 0,
            writes: true,
        };
        let id = match self.join(&merged) {
            Some(id) => {
                extent.number = self.extents[id as usize].number;
                id
            }
            None => {
                let id = self.vacant.pop().unwrap_or(self.extents.len() as u32);
                self.order.push_back(id);
                id
            }
        };
        match self.extents.get_mut(id as usize) {
            Some(entry) => *entry = extent,
            None => self.extents.push(extent),
        }
        self.by_start.insert(start, id);
        self.taken -= replaced;
        replaced
    }

    /// Joins extents into one. The oldest keeps its place in the order and is returned.
    fn join(&mut self, ids: &[u32]) -> Option<u32> {
        let oldest = *ids
            .iter()
            .min_by_key(|&&id| self.extents[id as usize].number)?;
        if ids.len() > 1 {
            // Remove all others at once, so a write over many small extents scans the order once.
            let gone = || ids.iter().copied().filter(|&id| id != oldest);
            for id in gone() {
                self.extents[id as usize].count = 0;
            }
            let extents = &self.extents;
            self.order.retain(|&id| extents[id as usize].count > 0);
            self.vacant.extend(gone());
        }
        Some(oldest)
    }

    /// Starts to write extent `id` to the platters.
    pub fn take(&mut self, id: u32) -> Waiting {
        let extent = self.extents[id as usize];
        self.by_start.remove(&extent.sector);
        if let Some(place) = self.order.iter().position(|&other| other == id) {
            self.order.remove(place);
        }
        self.vacant.push(id);
        self.under_way = Some(extent);
        extent
    }

    /// The extent being written has reached the platters; its room is free.
    pub fn written(&mut self) {
        if let Some(extent) = self.under_way.take() {
            self.taken -= u64::from(extent.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rotation::Rotation;
    use super::*;

    fn geometry() -> Geometry {
        Geometry::new(&[(100, 100)], 2, Rotation::new(1000), (0, 0))
    }

    /// First sector, count and number of every extent, oldest first.
    fn extents(cache: &WriteCache) -> Vec<(u64, u32, u64)> {
        let all = cache.candidates(usize::MAX);
        all.map(|(_, w)| (w.sector, w.count, w.number)).collect()
    }

    fn filled(writes: &[(u64, u64)]) -> WriteCache {
        let (mut cache, geometry) = (WriteCache::new(10_000), geometry());
        for (number, &(first, end)) in (0..).zip(writes) {
            assert!(cache.reserve(end - first));
            cache.insert(first, end, number, &geometry);
        }
        cache
    }

    #[test]
    fn writes_that_touch_are_one_and_the_older_keeps_its_turn() {
        let cache = filled(&[(0, 10), (100, 110), (10, 20), (90, 100)]);
        assert_eq!(extents(&cache), [(0, 20, 0), (90, 20, 1)]);
        // A write that joins two extents: 80 sectors, 20 of them written twice.
        let cache = filled(&[(100, 130), (500, 501), (50, 70), (60, 110)]);
        assert_eq!(extents(&cache), [(50, 80, 0), (500, 1, 1)]);
        assert_eq!(cache.taken, 81);
    }

    #[test]
    fn what_is_written_again_takes_no_more_room() {
        let cache = filled(&[(0, 100), (20, 30), (0, 100)]);
        assert_eq!((extents(&cache), cache.taken), (vec![(0, 100, 0)], 100));
    }

    #[test]
    fn merging_ends_at_a_mebibyte_where_nothing_overlaps() {
        let cache = filled(&[(0, 2000), (2000, 2048), (2048, 2049), (2047, 2060)]);
        // The last write overlaps both extents, so it joins them at any length.
        assert_eq!(extents(&cache), [(0, 2060, 0)]);
        let cache = filled(&[(0, 2048), (2048, 2049)]);
        assert_eq!(extents(&cache), [(0, 2048, 0), (2048, 1, 1)]);
        // Joined with the extent behind it, it would be too long; the extent before it does not
        // matter.
        let cache = filled(&[(100, 2148), (40, 60), (50, 100)]);
        assert_eq!(extents(&cache), [(100, 2048, 0), (40, 60, 1)]);
    }

    #[test]
    fn room_comes_back_when_the_platters_have_it_and_reads_find_it_until_then() {
        let mut cache = filled(&[(0, 10), (50, 60)]);
        assert!(cache.holds(0, 10) && cache.holds(55, 60) && !cache.holds(5, 11));
        let (id, _) = cache.candidates(1).next().unwrap_or_else(|| unreachable!());
        assert_eq!(cache.take(id).sector, 0);
        assert!(cache.holds(0, 10));
        assert_eq!((cache.oldest(), cache.taken), (Some(0), 20));
        cache.written();
        assert!(!cache.holds(0, 10));
        assert_eq!((cache.oldest(), cache.taken), (Some(1), 10));
    }

    /// One pass replaces thousands of single sectors under one large write.
    #[test]
    fn a_write_over_many_small_ones_replaces_them_all() {
        let singles: Vec<_> = (0..1_000).map(|n| (999 - n) * 2).collect();
        let writes: Vec<_> = singles.iter().map(|&first| (first, first + 1)).collect();
        let mut cache = filled(&writes);
        assert!(cache.reserve(2_000));
        assert_eq!(cache.insert(0, 2_000, 1_000, &geometry()), 1_000);
        assert_eq!((extents(&cache), cache.taken), (vec![(0, 2_000, 0)], 2_000));
        assert_eq!(cache.vacant.len(), 999);
    }

    /// The content of the cache, by sector.
    fn sectors(cache: &WriteCache) -> BTreeMap<u64, u64> {
        let mut sectors = BTreeMap::new();
        for (first, count, number) in extents(cache) {
            for sector in first..first + u64::from(count) {
                assert_eq!(
                    sectors.insert(sector, number),
                    None,
                    "{sector} is there twice"
                );
            }
        }
        sectors
    }

    proptest! {
        /// Compares the cache with a map of sectors. Each sector is held once until the platters
        /// have it, in any order of writing and taking. The room taken is the content. A merged
        /// extent has the oldest number, so no flush ends too early.
        #[test]
        fn the_cache_is_a_map_of_sectors(
            steps in prop::collection::vec((0..200_u64, 1..40_u64, 0..8_usize), 1..120)
        ) {
            let (mut cache, geometry) = (WriteCache::new(300), geometry());
            let mut model: BTreeMap<u64, u64> = BTreeMap::new();
            let mut under_way: Vec<u64> = Vec::new();
            for (number, (first, count, what)) in (0..).zip(steps) {
                let waits = sectors(&cache);
                if what < 2 {
                    cache.written();
                    under_way.clear();
                    let chosen = cache.candidates(4).nth(what).map(|(id, _)| id);
                    if let Some(id) = chosen {
                        let extent = cache.take(id);
                        under_way = (extent.sector..extent.end()).collect();
                        model.retain(|sector, _| !under_way.contains(sector));
                    }
                } else if cache.reserve(count) {
                    let end = first + count;
                    let known = waits.range(first..end).count() as u64;
                    prop_assert_eq!(cache.insert(first, end, number, &geometry), known);
                    for sector in first..end {
                        model.entry(sector).or_insert(number);
                    }
                } else {
                    prop_assert!(cache.taken + count > 300);
                }
                let now = sectors(&cache);
                prop_assert!(now.keys().eq(model.keys()), "{:?} {:?}", now, model);
                prop_assert!(now.iter().all(|(sector, &known)| known <= model[sector]));
                prop_assert_eq!(cache.taken, (now.len() + under_way.len()) as u64);
                prop_assert_eq!(cache.is_empty(), now.is_empty());
                for sector in 0..240 {
                    let is_there = now.contains_key(&sector) || under_way.contains(&sector);
                    prop_assert_eq!(cache.holds(sector, sector + 1), is_there);
                }
            }
        }
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let mut cache = WriteCache::new(100);
        assert!(cache.reserve(60) && !cache.reserve(41) && cache.reserve(40));
        assert!(cache.could_hold(100) && !cache.could_hold(101));
    }
}
