//! Logical and physical page numbers and the shape of the flash they index.

use thiserror::Error;

/// A logical page number: the host's address space in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lpn(pub u32);

/// A physical page number, `(plane x blocks + block) x pages + page`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ppn(pub u32);

/// The part of the flash's shape that the firmware needs: planes, blocks, pages.
///
/// Planes are numbered so that neighbouring numbers lie on different channels (channel fastest,
/// then way, die, plane). Logical page `l` belongs to plane `l mod planes`: the static striping of
/// Yoo et al. 2014, figure 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashLayout {
    /// Planes of the whole drive.
    pub planes: u32,
    /// Erase blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block, at most 32767.
    pub pages_per_block: u32,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Free blocks of a plane that are kept back for collection, at least 2.
    pub reserve_blocks: u32,
}

/// The reason why a [`FlashLayout`] cannot work.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// A count is zero or exceeds what the tables can hold.
    #[error("{what} is {value}: it must lie between {low} and {high}")]
    Count {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
        /// Smallest value allowed.
        low: u64,
        /// Largest value allowed.
        high: u64,
    },
    /// Too few spare blocks to collect garbage.
    #[error(
        "{logical} logical pages on {physical} physical ones leave too little space to collect \
         garbage: at most {most} logical pages work; raise the over-provisioning"
    )]
    Space {
        /// Logical pages requested.
        logical: u64,
        /// Physical pages available.
        physical: u64,
        /// The largest number of logical pages that works.
        most: u64,
    },
    /// Collection would stop before it starts.
    #[error(
        "collection starts at {start} free blocks of a plane and stops at {stop}: let it stop at \
         {} or more, or start at fewer than {stop}",
        start + 1
    )]
    Thresholds {
        /// Free blocks at which it starts.
        start: u32,
        /// Free blocks at which it stops.
        stop: u32,
    },
}

impl FlashLayout {
    /// Checks every count separately.
    pub(crate) fn check_counts(&self) -> Result<(), LayoutError> {
        let count = |what, value: u64, low, high| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(LayoutError::Count {
                    what,
                    value,
                    low,
                    high,
                })
            }
        };
        count("planes", self.planes.into(), 1, 1 << 20)?;
        count("blocks per plane", self.blocks_per_plane.into(), 4, 1 << 24)?;
        count("pages per block", self.pages_per_block.into(), 1, 32_767)?;
        count(
            "physical pages",
            self.physical_pages(),
            1,
            u64::from(u32::MAX) - 1,
        )?;
        count(
            "reserve blocks",
            self.reserve_blocks.into(),
            2,
            u64::from(self.blocks_per_plane),
        )?;
        count(
            "logical pages",
            self.logical_pages.into(),
            1,
            u64::from(u32::MAX) - 1,
        )
    }

    /// Checks that the host's data fits next to `held_back` blocks of every plane.
    pub(crate) fn check_space(&self, held_back: u32) -> Result<(), LayoutError> {
        let usable = u64::from(self.blocks_per_plane.saturating_sub(held_back))
            * u64::from(self.pages_per_block);
        let most = usable * u64::from(self.planes);
        if u64::from(self.logical_pages).div_ceil(self.planes.into()) > usable {
            return Err(LayoutError::Space {
                logical: self.logical_pages.into(),
                physical: self.physical_pages(),
                most,
            });
        }
        Ok(())
    }

    /// Pages of the flash.
    #[must_use]
    pub fn physical_pages(&self) -> u64 {
        u64::from(self.planes) * u64::from(self.blocks_per_plane) * u64::from(self.pages_per_block)
    }

    /// Blocks of the flash.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        self.planes * self.blocks_per_plane
    }

    /// The plane to which a logical page is striped.
    #[inline]
    #[must_use]
    pub fn plane_of(&self, page: Lpn) -> u32 {
        page.0 % self.planes
    }
}
