//! The segmented read cache: a few runs of consecutive sectors, each following one reader.
//!
//! ```text
//!   segment   [start ........ asked ........ end)      at most a segment's size
//!                  kept for     read ahead
//!                  later reads
//! ```
//!
//! A read is a hit if one segment holds all its sectors. The least recently used segment makes room
//! for a new one. Writes remove their sectors from the segments.

/// A run of sectors in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    start: u64,
    end: u64,
    /// One past the last sector that the host has asked for.
    asked: u64,
    /// When it was last used, counted in uses.
    used: u64,
}

/// How much of a read the cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All of it, in the segment with this number.
    All(usize),
    /// All sectors before this one.
    Until(u64),
    /// Not even the first sector.
    Nothing,
}

/// All segments.
#[derive(Clone, Debug)]
pub struct ReadCache {
    segments: Vec<Segment>,
    segment_sectors: u64,
    uses: u64,
}

impl ReadCache {
    /// An empty cache. Without segments, every read is a miss.
    #[must_use]
    pub fn new(segments: usize, segment_sectors: u64) -> Self {
        Self {
            segments: vec![Segment::default(); segments],
            segment_sectors,
            uses: 0,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.segments.fill(Segment::default());
        self.uses = 0;
    }

    /// Looks for the sectors from `first` to before `end`, which the host asks for.
    #[inline]
    pub fn find(&mut self, first: u64, end: u64) -> Found {
        let holders = self.segments.iter().enumerate().rev();
        let holders = holders.filter(|(_, segment)| (segment.start..segment.end).contains(&first));
        // Segments may overlap. Take the one that holds most of what follows; on a tie, the first.
        let Some((number, _)) = holders.max_by_key(|(_, segment)| segment.end) else {
            return Found::Nothing;
        };
        self.uses += 1;
        let segment = &mut self.segments[number];
        segment.used = self.uses;
        segment.asked = segment.asked.max(end.min(segment.end));
        if end <= segment.end {
            Found::All(number)
        } else {
            Found::Until(segment.end)
        }
    }

    /// Adds the sectors from `first` to before `end`, just read from the disk. They go into the
    /// segment that ends where they begin, or else into the least recently used one. `None` if
    /// there are no segments.
    #[inline]
    pub fn fill(&mut self, first: u64, end: u64) -> Option<usize> {
        let goes_on = |segment: &Segment| segment.end == first && segment.start < segment.end;
        let number = match self.segments.iter().position(goes_on) {
            Some(number) => number,
            None => {
                let oldest = self.segments.iter().enumerate();
                let (number, _) = oldest.min_by_key(|(_, segment)| segment.used)?;
                self.segments[number].start = first;
                number
            }
        };
        self.uses += 1;
        let segment = &mut self.segments[number];
        segment.end = end;
        segment.asked = end;
        segment.used = self.uses;
        segment.start = segment.start.max(end.saturating_sub(self.segment_sectors));
        Some(number)
    }

    /// Records that reading ahead into segment `number` has reached the sector before `end`.
    #[inline]
    pub fn extend(&mut self, number: usize, end: u64) {
        let segment = &mut self.segments[number];
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(end.saturating_sub(self.segment_sectors));
    }

    /// Whether segment `number` holds nothing.
    #[must_use]
    pub fn is_unused(&self, number: usize) -> bool {
        self.segments[number].start == self.segments[number].end
    }

    /// Whether sectors that the host has not asked for fill at most half of segment `number`.
    #[must_use]
    pub fn has_half_room(&self, number: usize) -> bool {
        let segment = &self.segments[number];
        2 * (segment.end - segment.asked) <= self.segment_sectors
    }

    /// The first sector to which segment `number` may not be read ahead, so that sectors the host
    /// has not asked for yet stay in it.
    #[inline]
    #[must_use]
    pub fn ahead_limit(&self, number: usize) -> u64 {
        self.segments[number].asked + self.segment_sectors
    }

    /// Removes the sectors from `first` to before `end`, which were written.
    #[inline]
    pub fn invalidate(&mut self, first: u64, end: u64) {
        for segment in &mut self.segments {
            if segment.start < end && first < segment.end {
                *segment = Segment {
                    used: segment.used,
                    ..Segment::default()
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_segment_used_longest_ago_makes_room_and_reads_in_order_share_one() {
        let mut cache = ReadCache::new(2, 100);
        assert_eq!(cache.fill(0, 10), Some(0));
        assert_eq!(cache.fill(1000, 1010), Some(1));
        assert_eq!(cache.find(0, 10), Found::All(0));
        assert_eq!(cache.find(5, 11), Found::Until(10));
        assert_eq!(cache.find(10, 11), Found::Nothing);
        assert_eq!(cache.fill(10, 20), Some(0));
        assert_eq!(cache.find(0, 20), Found::All(0));
        assert_eq!(cache.fill(5000, 5001), Some(1));
        assert_eq!(cache.find(1000, 1001), Found::Nothing);
    }

    #[test]
    fn a_segment_holds_its_last_sectors_and_is_read_ahead_of_what_was_asked_for() {
        let mut cache = ReadCache::new(1, 100);
        cache.fill(0, 60);
        assert_eq!(cache.ahead_limit(0), 160);
        cache.extend(0, 160);
        assert_eq!(cache.find(59, 60), Found::Nothing);
        assert_eq!(cache.find(60, 90), Found::All(0));
        assert_eq!(cache.ahead_limit(0), 190);
        // Of 150 sectors added at once, the last 100 stay.
        cache.fill(1000, 1150);
        assert_eq!(cache.find(1049, 1050), Found::Nothing);
        assert_eq!(cache.find(1050, 1150), Found::All(0));
    }

    #[test]
    fn of_segments_that_overlap_the_one_that_reaches_furthest_answers() {
        let mut cache = ReadCache::new(3, 100);
        assert_eq!(cache.fill(100, 110), Some(0));
        assert_eq!(cache.fill(95, 120), Some(1));
        assert_eq!(cache.find(100, 118), Found::All(1));
        assert_eq!(cache.find(100, 121), Found::Until(120));
    }

    proptest! {
        #[test]
        fn what_is_found_was_read_and_not_written_since(
            steps in prop::collection::vec((0..4_u8, 0..60_u64, 1..30_u64), 1..80),
        ) {
            let mut cache = ReadCache::new(3, 16);
            // Sectors that were read and not written since.
            let mut known = [false; 100];
            for (step, first, sectors) in steps {
                let end = first + sectors;
                let range = first as usize..end as usize;
                match step {
                    0 => {
                        cache.fill(first, end);
                        known[range].fill(true);
                    }
                    1 => {
                        cache.invalidate(first, end);
                        known[range].fill(false);
                    }
                    _ => {
                        let held = match cache.find(first, end) {
                            Found::Nothing => first,
                            Found::All(_) => end,
                            Found::Until(held) => {
                                prop_assert!((first + 1..end).contains(&held));
                                held
                            }
                        };
                        let range = first as usize..held as usize;
                        prop_assert!(known[range].iter().all(|&is_known| is_known));
                        // If one segment holds the whole read, the read is found whole.
                        let holds = |s: &Segment| s.start <= first && end <= s.end;
                        prop_assert_eq!(held == end, cache.segments.iter().any(holds));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_written_is_not_read_from_a_segment_any_more() {
        let mut cache = ReadCache::new(2, 100);
        cache.fill(0, 10);
        cache.fill(50, 60);
        cache.invalidate(10, 50);
        assert_eq!(cache.find(0, 10), Found::All(0));
        cache.invalidate(9, 51);
        assert_eq!(cache.find(0, 1), Found::Nothing);
        assert_eq!(cache.find(55, 56), Found::Nothing);
    }
}
