//! The settings of demand-cached mapping.

use crate::{FlashLayout, LayoutError, Policies};

named! {
    /// Which cached entry makes room for a new one.
    Replacement {
        /// The one used least recently.
        Lru = "lru",
        /// The least recently used among entries used once since they came. The others fill at most
        /// half of the cache, and return among the former in the order of their use.
        SegmentedLru = "segmented_lru",
    }
}

/// The choices of [`CachedMap`](crate::CachedMap).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CachedPolicies {
    /// Those of the underlying page map: static allocation, no classes of temperature, no idle work.
    pub pages: Policies,
    /// Entries in the controller's memory, at least 1.
    pub cached_entries: u32,
    /// Which of them make room.
    pub replacement: Replacement,
    /// Entries in a translation page, at least 1.
    pub entries_per_page: u32,
}

impl CachedPolicies {
    /// The number of translation pages for this many logical pages.
    #[must_use]
    pub fn map_pages(&self, logical_pages: u32) -> u32 {
        logical_pages.div_ceil(self.entries_per_page.max(1))
    }

    /// Blocks of a plane that hold neither data nor map: those of the page map, and the one being
    /// filled with translation pages.
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
