//! The settings of a pseudo-SLC region.

use crate::{FlashLayout, LayoutError, Policies};

/// The choices of [`SlcMap`](crate::SlcMap).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlcPolicies {
    /// Those of the underlying page map; static allocation.
    pub pages: Policies,
    /// Blocks of each plane in the region, at least 2.
    pub slc_blocks: u32,
    /// Pages of such a block, at most those of a dense one.
    pub slc_pages: u32,
}

impl SlcPolicies {
    /// Only the dense blocks.
    pub(crate) fn dense(&self, layout: &FlashLayout) -> FlashLayout {
        FlashLayout {
            blocks_per_plane: layout.blocks_per_plane.saturating_sub(self.slc_blocks),
            ..*layout
        }
    }

    /// The policies for the page map of the dense blocks: idle time wins space to fold into.
    pub(crate) fn beneath(&self, layout: &FlashLayout) -> Policies {
        let least = layout.reserve_blocks.saturating_add(1);
        Policies {
            background_blocks: Some(self.pages.background_blocks.unwrap_or(least)),
            ..self.pages
        }
    }

    /// Blocks of each plane that can hold no data, in addition to the SLC region.
    #[must_use]
    pub fn blocks_held_back(&self, layout: &FlashLayout) -> u32 {
        let dense = self.beneath(layout).blocks_held_back(layout.reserve_blocks);
        dense.saturating_add(self.slc_blocks)
    }

    /// Checks that these policies work on `layout`.
    ///
    /// # Errors
    /// [`LayoutError`] naming the count or the largest logical size that works.
    pub fn validate(&self, layout: &FlashLayout) -> Result<(), LayoutError> {
        let count = |what, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(LayoutError::Count {
                what,
                value: value.into(),
                low: low.into(),
                high: high.into(),
            })
        };
        layout.check_counts()?;
        count("SLC blocks", self.slc_blocks, 2, layout.blocks_per_plane)?;
        let pages = layout.pages_per_block;
        count("pages of an SLC block", self.slc_pages, 1, pages)?;
        self.beneath(layout).validate(&self.dense(layout))
    }
}
