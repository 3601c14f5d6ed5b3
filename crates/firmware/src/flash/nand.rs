//! A stub of the flash. It records how far each block is programmed and refuses what a flash could
//! not do. It holds no data and takes no time.

use drivelab_ftl::{Divisor, OperationKind};
use thiserror::Error;

/// Operations that a die refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NandError {
    /// Pages of a block are programmed in order, once.
    #[error("page {page} of block {block} was to be programmed, and {next} is the next one")]
    OutOfOrder {
        /// The block.
        block: u32,
        /// The page of it.
        page: u32,
        /// The page that must be next.
        next: u32,
    },
    /// A page that was not programmed holds no data.
    #[error("page {page} of block {block} was to be read, and only {next} are programmed")]
    Unwritten {
        /// The block.
        block: u32,
        /// The page of it.
        page: u32,
        /// Pages that are programmed.
        next: u32,
    },
    /// The page belongs to another die.
    #[error("page {page} was asked of a die that does not have it")]
    NoSuchPage {
        /// The page.
        page: u32,
    },
}

/// One die.
#[derive(Clone, Debug)]
pub struct Die {
    first_page: u32,
    pages_per_block: u32,
    by_pages: Divisor,
    /// For every block, the number of programmed pages.
    next: Vec<u16>,
}

impl Die {
    /// A die whose pages begin at `first_page`. `next` says how far each block is programmed.
    #[must_use]
    pub fn new(first_page: u32, pages_per_block: u32, next: Vec<u16>) -> Self {
        Self {
            first_page,
            pages_per_block,
            by_pages: Divisor::new(pages_per_block),
            next,
        }
    }

    /// How far each block is programmed.
    #[must_use]
    pub fn programmed(&self) -> &[u16] {
        &self.next
    }

    /// Executes an operation on the page `page` of the drive.
    ///
    /// # Errors
    /// [`NandError`] says what a flash would have refused.
    #[inline]
    pub fn execute(&mut self, kind: OperationKind, page: u32) -> Result<(), NandError> {
        let here = page.wrapping_sub(self.first_page);
        let block = self.by_pages.quotient(here);
        let offset = here - block * self.pages_per_block;
        let Some(next) = self.next.get_mut(block as usize) else {
            return Err(NandError::NoSuchPage { page });
        };
        let programmed = u32::from(*next);
        match kind {
            OperationKind::Read if offset < programmed => {}
            OperationKind::Read => {
                return Err(NandError::Unwritten {
                    block,
                    page: offset,
                    next: programmed,
                });
            }
            OperationKind::Program if offset == programmed => *next += 1,
            OperationKind::Program => {
                return Err(NandError::OutOfOrder {
                    block,
                    page: offset,
                    next: programmed,
                });
            }
            OperationKind::Erase => *next = 0,
        }
        Ok(())
    }
}
