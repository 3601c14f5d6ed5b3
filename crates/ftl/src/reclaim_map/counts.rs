//! The counts of a firmware with placement handles.

/// Counts by handle, and events of handles and units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedCounts {
    /// By handle, pages that the host wrote under it.
    pub host_pages: Vec<u64>,
    /// By handle, programmed pages of its data: written ones, and those that collection moved out
    /// of units holding only its data.
    pub media_pages: Vec<u64>,
    /// Times that a handle moved on to another reclaim unit.
    pub unit_switches: u64,
    /// Reclaim units whose valid pages collection began to move.
    pub moved_units: u64,
    /// Reclaim units without any valid page when they were collected.
    pub empty_units: u64,
    /// Pages written under a handle or into a group that does not exist.
    pub invalid_pages: u64,
    /// Pages written into another group than requested, because that was full.
    pub displaced_pages: u64,
}

impl PlacedCounts {
    /// Zero counts for this many handles.
    #[must_use]
    pub fn of(handles: u32) -> Self {
        Self {
            host_pages: vec![0; handles as usize],
            media_pages: vec![0; handles as usize],
            ..Self::default()
        }
    }

    /// What was counted since `before`, an earlier count or nothing.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let each = |now: &[u64], before: &[u64]| {
            let before = before.iter().copied().chain(std::iter::repeat(0));
            now.iter()
                .zip(before)
                .map(|(now, then)| now - then)
                .collect()
        };
        Self {
            host_pages: each(&self.host_pages, &before.host_pages),
            media_pages: each(&self.media_pages, &before.media_pages),
            unit_switches: self.unit_switches - before.unit_switches,
            moved_units: self.moved_units - before.moved_units,
            empty_units: self.empty_units - before.empty_units,
            invalid_pages: self.invalid_pages - before.invalid_pages,
            displaced_pages: self.displaced_pages - before.displaced_pages,
        }
    }
}
