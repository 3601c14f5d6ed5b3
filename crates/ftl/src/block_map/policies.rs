//! The settings of block mapping: the scheme, and the number of log blocks.

use crate::{FlashLayout, LayoutError, StripingOrder};

named! {
    /// Where block mapping puts overwrites.
    BlockScheme {
        /// Into a replacement block, at its own offset.
        Block = "block",
        /// Into a log block that belongs to its data block.
        Bast = "bast",
        /// Into log blocks shared by all data blocks.
        Fast = "fast",
    }
}

/// The choices of [`BlockMap`](crate::BlockMap).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPolicies {
    /// Where overwrites go.
    pub scheme: BlockScheme,
    /// Log blocks of each plane: at least 1, with [`BlockScheme::Fast`] 2; without effect with
    /// [`BlockScheme::Block`].
    pub log_blocks: u32,
    /// The order in which planes are used.
    pub order: StripingOrder,
    /// Channels, ways a channel, dies a way and planes a die, for orders other than the
    /// default.
    pub axes: [u32; 4],
}

impl BlockPolicies {
    /// The log blocks of a plane, or its one replacement block.
    #[must_use]
    pub fn logs(&self) -> u32 {
        match self.scheme {
            BlockScheme::Block => 1,
            BlockScheme::Bast | BlockScheme::Fast => self.log_blocks,
        }
    }

    /// Blocks of a plane that are not data blocks: the logs, and one to merge into.
    #[must_use]
    pub fn blocks_held_back(&self) -> u32 {
        self.logs().saturating_add(1)
    }

    /// Logical blocks of a plane.
    pub(crate) fn logical_blocks(&self, layout: &FlashLayout) -> u32 {
        let pages = layout.logical_pages.div_ceil(layout.planes);
        pages.div_ceil(layout.pages_per_block)
    }

    /// Checks that these policies work on `layout`.
    ///
    /// # Errors
    /// [`LayoutError`] naming the count or the largest logical size that works.
    pub fn validate(&self, layout: &FlashLayout) -> Result<(), LayoutError> {
        layout.check_counts()?;
        self.order.check_axes(self.axes, layout.planes)?;
        let least = match self.scheme {
            BlockScheme::Block => 0,
            BlockScheme::Bast => 1,
            // One for sequential writes, one for the rest.
            BlockScheme::Fast => 2,
        };
        if self.log_blocks < least {
            return Err(LayoutError::Count {
                what: "log blocks",
                value: self.log_blocks.into(),
                low: least.into(),
                high: layout.blocks_per_plane.into(),
            });
        }
        layout.check_space(self.blocks_held_back())
    }
}
