//! What demand-cached mapping is told.

use crate::{FlashLayout, LayoutError, Policies};

named! {
    /// Which cached entry makes room for another.
    Replacement {
        /// The one used least recently.
        Lru = "lru",
        /// The same among those used once since they came; the others fill at most half of
        /// the cache, and return among them in the order of their use.
        SegmentedLru = "segmented_lru",
    }
}

/// The choices of [`CachedMap`](crate::CachedMap).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CachedPolicies {
    /// Those of the page map beneath: static allocation, no hot blocks, nothing in idle time.
    pub pages: Policies,
    /// Entries that the controller's memory holds, at least 1.
    pub cached_entries: u32,
    /// Which of them make room.
    pub replacement: Replacement,
    /// Entries of a translation page, at least 1.
    pub entries_per_page: u32,
}

impl CachedPolicies {
    /// Translation pages of so many logical pages.
    #[must_use]
    pub fn map_pages(&self, logical_pages: u32) -> u32 {
        logical_pages.div_ceil(self.entries_per_page.max(1))
    }

    /// Blocks of a plane that hold neither data nor map: those of the page map, and the one
    /// that is filled with translation pages.
    #[must_use]
    pub fn blocks_held_back(&self, reserve_blocks: u32) -> u32 {
        self.pages
            .blocks_held_back(reserve_blocks)
            .saturating_add(1)
    }

    /// The layout with the translation pages behind the logical ones.
    pub(crate) fn with_map(&self, layout: &FlashLayout) -> FlashLayout {
        let map_pages = self.map_pages(layout.logical_pages);
        FlashLayout {
            logical_pages: layout.logical_pages.saturating_add(map_pages),
            ..*layout
        }
    }

    /// Checks that these policies work on `layout`.
    ///
    /// # Errors
    /// [`LayoutError`] naming the count or the largest size, of data and map, that works.
    pub fn validate(&self, layout: &FlashLayout) -> Result<(), LayoutError> {
        let count = |what, value: u32| match value {
            0 => Err(LayoutError::Count {
                what,
                value: 0,
                low: 1,
                high: u32::MAX.into(),
            }),
            _ => Ok(()),
        };
        count("cached entries", self.cached_entries)?;
        count("entries of a translation page", self.entries_per_page)?;
        let with_map = self.with_map(layout);
        self.pages.validate(&with_map)?;
        with_map.check_space(self.blocks_held_back(layout.reserve_blocks))
    }
}
