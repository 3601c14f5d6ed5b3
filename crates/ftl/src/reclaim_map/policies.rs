//! The settings of a firmware with placement handles.

use crate::{FlashLayout, LayoutError, Pace};

/// The most handles of a drive, as in NVMe.
pub const MOST_HANDLES: u32 = 128;

named! {
    /// What happens to a handle's data when it is collected.
    Isolation {
        /// It is written separately, but moved into units shared by all handles.
        Initial = "initial",
        /// It stays separate: every handle also has its own units for moved data.
        Persistent = "persistent",
    }
}

/// The choices of [`ReclaimMap`](crate::ReclaimMap).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReclaimPolicies {
    /// Handles, each of which has a reclaim unit open in every group.
    pub handles: u32,
    /// Groups of planes that share no reclaim unit. Their number divides that of the planes.
    pub groups: u32,
    /// What happens to a handle's data when it is collected.
    pub isolation: Isolation,
    /// When the valid pages of a victim are moved.
    pub pace: Pace,
    /// Free units of a group at which its collection stops; `None` means one more than where it
    /// starts.
    pub stop_units: Option<u32>,
}

impl ReclaimPolicies {
    /// The free units of a group at which its collection stops.
    #[must_use]
    pub fn stop_units(&self, reserve: u32) -> u32 {
        self.stop_units.unwrap_or(reserve.saturating_add(1))
    }

    /// Units of a group that may be open at once, for the host and for collection.
    #[must_use]
    pub const fn lanes(&self) -> u32 {
        match self.isolation {
            Isolation::Initial => self.handles + 1,
            Isolation::Persistent => 2 * self.handles,
        }
    }

    /// Units of a group that can hold no host data. With one free unit fewer than collection stops
    /// at, and all open, one must be left from which a page can be won.
    #[must_use]
    pub fn units_held_back(&self, reserve: u32) -> u32 {
        let free = self.stop_units(reserve).saturating_sub(1);
        free.saturating_add(self.lanes())
    }

    /// The pages that a group can hold.
    pub(crate) fn most_valid(&self, layout: &FlashLayout) -> u32 {
        let held_back = self.units_held_back(layout.reserve_blocks);
        let usable = layout.blocks_per_plane.saturating_sub(held_back);
        usable * (layout.planes / self.groups) * layout.pages_per_block
    }

    /// Checks that these policies work on `layout`.
    ///
    /// # Errors
    /// [`LayoutError`] naming the count or the largest logical size that works.
    pub fn validate(&self, layout: &FlashLayout) -> Result<(), LayoutError> {
        layout.check_counts()?;
        let count = |what, value: u32, high: u32| {
            if (1..=high).contains(&value) {
                return Ok(());
            }
            Err(LayoutError::Count {
                what,
                value: value.into(),
                low: 1,
                high: high.into(),
            })
        };
        count("placement handles", self.handles, MOST_HANDLES)?;
        count("reclaim groups", self.groups, layout.planes)?;
        if !layout.planes.is_multiple_of(self.groups) {
            return Err(LayoutError::Count {
                what: "planes left over by the reclaim groups",
                value: (layout.planes % self.groups).into(),
                low: 0,
                high: 0,
            });
        }
        let reserve = layout.reserve_blocks;
        if self.stop_units(reserve) <= reserve {
            return Err(LayoutError::Thresholds {
                start: reserve,
                stop: self.stop_units(reserve),
            });
        }
        layout.check_space(self.units_held_back(reserve))
    }
}
