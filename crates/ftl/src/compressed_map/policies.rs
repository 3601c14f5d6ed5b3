//! The settings of a firmware that compresses.

use super::MOST_SLOTS;
use crate::{FlashLayout, LayoutError, Policies};

/// The choices of [`CompressedMap`](crate::CompressedMap).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressedPolicies {
    /// Those of the page map: static allocation, no idle work, no classes of temperature.
    pub pages: Policies,
    /// Bytes of a page, a power of two.
    pub page_bytes: u32,
    /// Parts of a flash page that compressed pages share, a power of two up to 16; 1 for a drive
    /// that does not compress.
    pub slots_per_page: u32,
    /// Pages of zeroes take no space.
    pub deduplicates_zeros: bool,
}

impl CompressedPolicies {
    /// The flash as the blocks' records count it, in slots instead of pages.
    pub(super) fn slots(&self, layout: &FlashLayout) -> FlashLayout {
        FlashLayout {
            pages_per_block: layout.pages_per_block.saturating_mul(self.slots_per_page),
            ..*layout
        }
    }

    /// Whether `error` is about the slots.
    #[must_use]
    pub const fn is_of_slots(error: &LayoutError) -> bool {
        matches!(error, LayoutError::Count { .. })
    }

    /// Checks that these policies work on `layout`.
    ///
    /// # Errors
    /// [`LayoutError`] naming the count or the largest logical size that works.
    pub fn validate(&self, layout: &FlashLayout) -> Result<(), LayoutError> {
        self.pages.validate(layout)?;
        let slots = self.slots(layout);
        slots.check_counts()?;
        if slots.physical_pages() > u64::from(MOST_SLOTS) {
            return Err(LayoutError::Count {
                what: "slots of all flash pages",
                value: slots.physical_pages(),
                low: 1,
                high: MOST_SLOTS.into(),
            });
        }
        Ok(())
    }
}
