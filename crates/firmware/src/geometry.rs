//! The drive's shape: channels, ways, dies, blocks, pages, and values derived from it.
//!
//! The default drive is that of Lee et al. 2021, section 4.1 and figure 1: 1 TiB logical with 25 %
//! over-provisioning, pages of 16 KiB, 4 channels of 4 ways of 2 dies. Blocks of 512 pages and one
//! plane a die are assumed, because the paper gives neither.

use std::fmt;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use drivelab_ftl::{FlashLayout, LayoutError, Pace, Policies};

use crate::error::RunError;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 16 << 10;
/// Bytes of a sector, the unit of the host's addresses.
pub const SECTOR_BYTES: usize = 512;
/// Sectors of a page.
pub const PAGE_SECTORS: u32 = (PAGE_BYTES / SECTOR_BYTES) as u32;
/// The least blocks of a die. With fewer there is no room for host pages and free blocks.
const LEAST_BLOCKS: u32 = 25;
/// The most dies that queues and marks support.
const MOST_DIES: u32 = 64;

/// Channels x ways x dies a way x blocks a die x pages a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Ways of a channel.
    pub ways: u32,
    /// Dies of a way, of one plane each.
    pub dies: u32,
    /// Blocks of a die.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u32,
}

impl Geometry {
    /// 1 TiB for the host.
    pub const WHOLE: Self = Self {
        channels: 4,
        ways: 4,
        dies: 2,
        blocks: 5120,
        pages: 512,
    };

    /// The number of dies, which are the firmware's planes.
    #[must_use]
    pub fn planes(&self) -> u32 {
        self.channels * self.ways * self.dies
    }

    /// Collection begins below this number of free blocks of a plane: a tenth.
    #[must_use]
    pub fn begin_blocks(&self) -> u32 {
        self.blocks.div_ceil(10)
    }

    /// Collection ends at this number of free blocks of a plane: the first above 15 %.
    #[must_use]
    pub fn end_blocks(&self) -> u32 {
        self.blocks * 15 / 100 + 1
    }

    /// The layout that the firmware manages.
    #[must_use]
    pub fn layout(&self) -> FlashLayout {
        let plane_pages = u64::from(self.blocks) * u64::from(self.pages);
        FlashLayout {
            planes: self.planes(),
            blocks_per_plane: self.blocks,
            pages_per_block: self.pages,
            // 25 % more flash than the host sees.
            logical_pages: (plane_pages * 4 / 5 * u64::from(self.planes())) as u32,
            reserve_blocks: 2,
        }
    }

    /// Its policies: greedy collection in the background, until the end.
    #[must_use]
    pub fn policies(&self) -> Policies {
        Policies {
            pace: Pace::WholeBlock,
            background_blocks: Some(self.end_blocks()),
            ..Policies::USUAL
        }
    }

    /// Sectors that the host can address.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        u64::from(self.layout().logical_pages) * u64::from(PAGE_SECTORS)
    }

    /// The map's refusal of this geometry.
    #[must_use]
    pub fn refused(&self, error: &LayoutError) -> RunError {
        RunError::Geometry {
            given: self.to_string(),
            why: error.to_string(),
        }
    }

    /// Refuses what the firmware cannot manage.
    ///
    /// # Errors
    /// [`RunError::Geometry`] with the reason.
    pub fn check(self) -> Result<Self, RunError> {
        let refuse = |why: String| {
            Err(RunError::Geometry {
                given: self.to_string(),
                why,
            })
        };
        let axes = [self.channels, self.ways, self.dies];
        let Some(planes) = product(axes).filter(|planes| (1..=MOST_DIES).contains(planes)) else {
            return refuse(format!(
                "channels x ways x dies must be from 1 to {MOST_DIES}"
            ));
        };
        if self.blocks < LEAST_BLOCKS {
            let least = Self {
                blocks: LEAST_BLOCKS,
                ..self
            };
            return refuse(format!(
                "a die needs at least {LEAST_BLOCKS} blocks: use more blocks a die, as {least}"
            ));
        }
        if self.pages == 0 {
            return refuse("a block needs at least 1 page: use more pages a block".to_owned());
        }
        // The number 4294967295 means that there is no page.
        if product([planes, self.blocks, self.pages]).is_none_or(|pages| pages == u32::MAX) {
            return refuse(
                "it has more than 4294967294 pages: use fewer blocks a die, or fewer pages a block"
                    .to_owned(),
            );
        }
        match self.policies().validate(&self.layout()) {
            Ok(()) => Ok(self),
            Err(LayoutError::Space { .. }) => refuse(format!(
                "a fifth of {} blocks is too little for collection, which keeps up to 15 % free: \
                 use more blocks a die{}",
                self.blocks,
                self.example()
            )),
            Err(error) => refuse(error.to_string()),
        }
    }

    /// The next larger shape with room for collection, if it is close.
    fn example(self) -> String {
        let larger = (1..=LEAST_BLOCKS).find_map(|more| {
            let larger = Self {
                blocks: self.blocks.checked_add(more)?,
                ..self
            };
            let fits = larger.policies().validate(&larger.layout()).is_ok();
            fits.then_some(larger)
        });
        larger.map_or_else(String::new, |larger| format!(", as {larger}"))
    }
}

/// The product; `None` if it does not fit.
fn product(numbers: [u32; 3]) -> Option<u32> {
    let mut numbers = numbers.into_iter();
    numbers.try_fold(1, u32::checked_mul)
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}x{}x{}x{}x{}",
            self.channels, self.ways, self.dies, self.blocks, self.pages
        )
    }
}

impl FromStr for Geometry {
    type Err = RunError;

    fn from_str(text: &str) -> Result<Self, RunError> {
        let refuse = |why: String| RunError::Geometry {
            given: text.to_owned(),
            why,
        };
        let usual = "write channels x ways x dies x blocks x pages, as 4x4x2x5120x512";
        let count = |part: &str| {
            part.parse().map_err(|error: ParseIntError| {
                refuse(match error.kind() {
                    IntErrorKind::PosOverflow => format!("{part} is too large; {usual}"),
                    _ => usual.to_owned(),
                })
            })
        };
        let counts = text
            .split('x')
            .map(count)
            .collect::<Result<Vec<u32>, _>>()?;
        let &[channels, ways, dies, blocks, pages] = counts.as_slice() else {
            return Err(refuse(usual.to_owned()));
        };
        Self {
            channels,
            ways,
            dies,
            blocks,
            pages,
        }
        .check()
    }
}
