//! Flash operations and the buffer a firmware writes them into.

use crate::{Lpn, Ppn};

/// "No operation" in [`Operation::after`], "no page" in [`Operation::lpn`].
pub const NOTHING: u32 = u32::MAX;

/// Map entry: the host has given up the page.
pub(crate) const TRIMMED: u32 = NOTHING - 1;

/// The action of the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OperationKind {
    /// Read one page.
    Read,
    /// Program one page.
    Program,
    /// Erase the block whose first page is given.
    Erase,
}

/// The cause of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Cause {
    /// The host's request.
    Host,
    /// Garbage collection.
    Collection,
    /// Wear levelling.
    Wear,
    /// The map on the flash.
    Map,
    /// Folding from pseudo-SLC blocks to dense ones.
    Fold,
    /// Data that has become hard to read: old, or in a block that was read often.
    Refresh,
}

impl Cause {
    /// Every cause, in numerical order.
    pub const ALL: [Self; 6] = [
        Self::Host,
        Self::Collection,
        Self::Wear,
        Self::Map,
        Self::Fold,
        Self::Refresh,
    ];

    /// Whether data moves to another place, rather than being served or looked up.
    #[inline(always)]
    #[must_use]
    pub const fn moves_data(self) -> bool {
        !matches!(self, Self::Host | Self::Map)
    }
}

/// One flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Read, program or erase.
    pub kind: OperationKind,
    /// Its cause.
    pub cause: Cause,
    /// The plane it runs on.
    pub plane: u32,
    /// The page. For an erase, the block's first page.
    pub ppn: Ppn,
    /// The logical page, stored out of band with the data; [`NOTHING`] for an erase.
    pub lpn: u32,
    /// Index in the same buffer of the operation that must complete first, or
    /// [`NOTHING`].
    pub after: u32,
    /// Index in the submitted batch of the request it serves. For collection, of the request that
    /// made it necessary.
    pub request: u32,
}

impl Operation {
    /// The logical page whose data it moves, if any.
    #[must_use]
    pub fn logical(&self) -> Option<Lpn> {
        (self.lpn != NOTHING).then_some(Lpn(self.lpn))
    }
}

/// What a firmware counted during its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Map look-ups.
    pub lookups: u64,
    /// Valid pages moved by collection.
    pub moves: u64,
    /// Valid pages moved by wear levelling.
    pub wear_moves: u64,
    /// Valid pages moved by refreshes.
    pub refresh_moves: u64,
    /// Refreshed blocks.
    pub refreshes: u64,
    /// Blocks collected, not including those of wear levelling and refreshes.
    pub collections: u64,
    /// Blocks that became bad.
    pub retired_blocks: u64,
    /// Reads of pages that were never written; they need no flash operation.
    pub unmapped_reads: u64,
    /// Reads of trimmed pages: they give zeroes and need no flash operation.
    pub trimmed_reads: u64,
    /// Pages whose data was trimmed.
    pub trims: u64,
    /// Merges of block mapping in which the log became the data block unchanged.
    pub switch_merges: u64,
    /// Merges in which the rest of the block was copied behind the log.
    pub partial_merges: u64,
    /// Merges in which pages were copied together.
    pub full_merges: u64,
    /// Requested entries of a map on the flash that were in the controller's memory.
    pub map_hits: u64,
    /// Requested entries that were not.
    pub map_misses: u64,
    /// Pages written without a program of their own, if several share a flash page: they wait for
    /// others to fill one ...
    pub packed_pages: u64,
    /// ... or are all zeroes and need no space.
    pub zero_pages: u64,
}

impl Counts {
    /// The counter for a move.
    #[inline]
    pub(crate) fn moves_for(&mut self, cause: Cause) -> &mut u64 {
        match cause {
            Cause::Wear => &mut self.wear_moves,
            Cause::Refresh => &mut self.refresh_moves,
            _ => &mut self.moves,
        }
    }
}

/// The own counts of the user's firmware since it was made, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnCounts(pub Vec<(String, u64)>);

impl OwnCounts {
    /// The difference from `before`, which has the same names or none.
    ///
    /// # Errors
    /// [`crate::FirmwareError::Contract`] names the first count that decreased.
    pub fn since(&self, before: &Self) -> Result<Self, crate::FirmwareError> {
        let mut left = self.clone();
        for ((name, now), (_, before)) in left.0.iter_mut().zip(&before.0) {
            *now = now
                .checked_sub(*before)
                .ok_or_else(|| crate::external::became_less(name, *before, *now))?;
        }
        Ok(left)
    }
}

/// The caller's buffer: operations in order of emission, and the counts.
#[derive(Clone, Debug, Default)]
pub struct OperationBuffer {
    operations: Vec<Operation>,
    /// The last page of a map that was read for its entries, and the operation that did it.
    map_read: (u32, u32),
    /// Counted since the buffer was made; [`OperationBuffer::clear`] keeps them.
    pub counts: Counts,
}

impl OperationBuffer {
    /// An empty buffer with room for `capacity` operations.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            operations: Vec::with_capacity(capacity),
            map_read: (0, 0),
            counts: Counts::default(),
        }
    }

    /// Appends an operation and returns its index.
    #[inline]
    pub fn push(&mut self, operation: Operation) -> u32 {
        let index = self.operations.len() as u32;
        self.operations.push(operation);
        index
    }

    /// Appends the read of a page of the map, for its entries.
    pub(crate) fn push_map_read(&mut self, operation: Operation) -> u32 {
        let index = self.push(operation);
        self.map_read = (operation.lpn, index);
        index
    }

    /// The last such operation, if it reads the page `map_page`.
    pub(crate) fn map_read(&self, map_page: u32) -> Option<u32> {
        let (page, index) = self.map_read;
        (page == map_page && map_page != 0).then_some(index)
    }

    /// The operations from the one with index `from` on.
    pub(crate) fn operations_mut(&mut self, from: usize) -> &mut [Operation] {
        self.operations.get_mut(from..).unwrap_or_default()
    }

    /// Makes room for `more` operations.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) {
        self.operations.reserve(more);
    }

    /// The operations, in order of emission.
    #[inline]
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Takes the operations out, for a caller that changes the owner of the counts while it
    /// iterates over them. [`OperationBuffer::put_back`] returns their memory.
    #[inline]
    #[must_use]
    pub fn take(&mut self) -> Vec<Operation> {
        std::mem::take(&mut self.operations)
    }

    /// Puts back what [`OperationBuffer::take`] took out.
    #[inline]
    pub fn put_back(&mut self, operations: Vec<Operation>) {
        self.operations = operations;
    }

    /// Forgets the operations but keeps their memory and the counts.
    #[inline]
    pub fn clear(&mut self) {
        self.operations.clear();
        self.map_read.0 = 0;
    }
}
