//! Times of the cell array that depend on the type of the page.

use serde::{Serialize, Serializer};

/// Most bits of a cell (QLC), and so most types of pages.
pub(crate) const MOST_PAGE_TYPES: usize = 4;

/// The cell-array time of one operation: one for all pages, or one for each bit of a cell.
///
/// The page with index i in its block has type i modulo the number of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellTimes {
    /// One entry for each type; the rest is 0.
    nanos: [u64; MOST_PAGE_TYPES],
    types: usize,
}

impl CellTimes {
    /// One time for each type. `None` if there are none or more than four.
    #[must_use]
    pub fn new(nanos: &[u64]) -> Option<Self> {
        let mut times = Self {
            nanos: [0; MOST_PAGE_TYPES],
            types: nanos.len(),
        };
        let places = times.nanos.get_mut(..nanos.len())?;
        places.copy_from_slice(nanos);
        (!nanos.is_empty()).then_some(times)
    }

    /// The number of types: 1 if all pages take the same time.
    #[must_use]
    pub fn types(&self) -> usize {
        self.types
    }

    /// The time of the page with this index in its block.
    #[must_use]
    pub fn of_page(&self, index_in_block: u32) -> u64 {
        self.nanos[index_in_block as usize % self.types]
    }
}

/// Written as a number, or as an array of several.
impl Serialize for CellTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.nanos[..self.types] {
            [nanos] => nanos.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}
