//! Times of the cell array that depend on the type of the page.

use serde::{Serialize, Serializer};

/// Bits of a cell at most (QLC), and so types of pages.
pub(crate) const MOST_PAGE_TYPES: usize = 4;

/// The time of one operation in the cell array: one for all pages, or one for each bit of a cell.
///
/// The page with index i of its block is of type i modulo the number of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellTimes {
    /// The first as many as there are types; the rest is 0.
    nanos: [u64; MOST_PAGE_TYPES],
    types: usize,
}

impl CellTimes {
    /// One time for each type; nothing for none or more than four.
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

    /// How many types are told apart: 1 where all pages take the same time.
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

/// A number, or an array where there are several.
impl Serialize for CellTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.nanos[..self.types] {
            [nanos] => nanos.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}
