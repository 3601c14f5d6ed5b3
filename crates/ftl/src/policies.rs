//! The choices of a firmware.

use crate::placement::{Allocation, Placement, StripingOrder};
use crate::temperature::CLASSES;
use crate::{Failures, FlashLayout, LayoutError, VictimPolicy};

named! {
    /// When the valid pages of a victim are moved.
    Pace {
        /// A few moves with every host write, enough that the victim is free when its space is
        /// needed.
        Paced = "paced",
        /// A few moves with every host write. How many follows from the space that is left and the
        /// valid pages of the last victims. Maps that do not collect like the page map take it as
        /// paced.
        Adaptive = "adaptive",
        /// The whole victim at once, when the host needs the next block.
        WholeBlock = "whole_block",
    }
}

impl Pace {
    /// Whether moves are spread over the writes.
    #[must_use]
    pub const fn is_spread(self) -> bool {
        matches!(self, Self::Paced | Self::Adaptive)
    }
}

/// The choices of [`PageMap`](crate::PageMap). The default is greedy collection, a few moves with
/// every write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policies {
    /// When the valid pages of a victim are moved.
    pub pace: Pace,
    /// How a victim is chosen.
    pub victim: VictimPolicy,
    /// How many blocks a random victim rule compares, at least 1.
    pub victim_choices: u32,
    /// Once collection has begun on a plane (at the layout's `reserve_blocks`), it continues until
    /// this many of its blocks are free; `None` means one more than the reserve.
    pub stop_blocks: Option<u32>,
    /// The free block with the fewest erases is filled first: dynamic wear
    /// levelling.
    pub least_worn_first: bool,
    /// A block that is more than this many erases behind another of its plane is emptied and
    /// erased, whatever it holds: static wear levelling.
    pub wear_spread: Option<u32>,
    /// Data are kept apart in this many classes of temperature, 3 or 4; `None` means that only
    /// what collection moves is kept apart.
    pub temperature_classes: Option<u32>,
    /// In idle time planes collect until this many of their blocks are free; `None` means no
    /// collection then.
    pub background_blocks: Option<u32>,
    /// How blocks fail; `None` means that they do not.
    pub failures: Option<Failures>,
    /// What decides on which plane a page is written.
    pub allocation: Allocation,
    /// The order in which planes are used.
    pub order: StripingOrder,
    /// Channels, ways a channel, dies a way and planes a die, for orders other than the
    /// default.
    pub axes: [u32; 4],
}

impl Default for Policies {
    fn default() -> Self {
        Self::USUAL
    }
}

impl From<Pace> for Policies {
    fn from(pace: Pace) -> Self {
        Self {
            pace,
            ..Self::default()
        }
    }
}

impl Policies {
    /// The default.
    pub const USUAL: Self = Self {
        pace: Pace::Paced,
        victim: VictimPolicy::Greedy,
        victim_choices: 10,
        stop_blocks: None,
        least_worn_first: false,
        wear_spread: None,
        temperature_classes: None,
        background_blocks: None,
        failures: None,
        allocation: Allocation::Static,
        order: StripingOrder::Cwdp,
        axes: [1; 4],
    };

    /// The number of free blocks of a plane at which its collection stops.
    #[must_use]
    pub fn stop_blocks(&self, reserve_blocks: u32) -> u32 {
        self.stop_blocks.unwrap_or(reserve_blocks.saturating_add(1))
    }

    /// Blocks of a plane that are open at the same time.
    #[must_use]
    pub fn open_blocks(&self) -> u32 {
        // One for the host and one for collection, or one for each class.
        self.temperature_classes.unwrap_or(2)
    }

    /// Blocks of a plane that can hold no host data. With one free block fewer than collection
    /// stops at, and every frontier open, one closed block with an invalid page must exist, or
    /// collection could not win anything.
    #[must_use]
    pub fn blocks_held_back(&self, reserve_blocks: u32) -> u32 {
        let stop = self.stop_blocks(reserve_blocks);
        let free = stop
            .max(self.background_blocks.unwrap_or(0))
            .saturating_sub(1);
        free.saturating_add(self.open_blocks())
    }

    pub(crate) fn placement(&self, layout: &FlashLayout) -> Placement {
        let held_back = self.blocks_held_back(layout.reserve_blocks);
        let usable = layout.blocks_per_plane.saturating_sub(held_back);
        Placement::new(
            self.allocation,
            self.order,
            self.axes,
            layout.planes,
            usable * layout.pages_per_block,
        )
    }

    /// Checks that these policies work on `layout`.
    ///
    /// # Errors
    /// [`LayoutError`] naming the count or the largest logical size that works.
    pub fn validate(&self, layout: &FlashLayout) -> Result<(), LayoutError> {
        layout.check_counts()?;
        let reserve = layout.reserve_blocks;
        if self.stop_blocks(reserve) <= reserve {
            return Err(LayoutError::Thresholds {
                start: reserve,
                stop: self.stop_blocks(reserve),
            });
        }
        self.order.check_axes(self.axes, layout.planes)?;
        if let Some(blocks) = self.background_blocks
            && blocks <= reserve
        {
            return Err(LayoutError::Count {
                what: "free blocks at which collection in idle time stops",
                value: blocks.into(),
                low: u64::from(reserve) + 1,
                high: layout.blocks_per_plane.into(),
            });
        }
        if let Some(classes) = self.temperature_classes
            && !CLASSES.contains(&classes)
        {
            return Err(LayoutError::Count {
                what: "classes of temperature",
                value: classes.into(),
                low: (*CLASSES.start()).into(),
                high: (*CLASSES.end()).into(),
            });
        }
        if self.victim_choices == 0 {
            return Err(LayoutError::Count {
                what: "victim choices",
                value: 0,
                low: 1,
                high: u32::MAX.into(),
            });
        }
        layout.check_space(self.blocks_held_back(reserve))
    }
}
