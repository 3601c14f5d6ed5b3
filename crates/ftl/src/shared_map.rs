//! A page map that several workers share: operations on one plane, and the tables as a whole, to be
//! stored and mapped again.
//!
//! If there are several handles, a caller holds a lock of the plane from the call until the plane's
//! operations are in its queue. The operations of a plane are executed in the order of emission, so
//! the mapping may change before the flash does anything.

use thiserror::Error;

use crate::memory::Memory;
use crate::page_map::PageMap;
use crate::shared::{Shared, SharedCells, Word};
use crate::space::Frontier;
use crate::{FlashLayout, LayoutError, OperationBuffer, Policies};

/// One of the tables of a page map: the number of cells, and the bytes of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// The number of cells.
    pub cells: usize,
    /// Bytes of a cell: 2, 4 or 8.
    pub cell_bytes: usize,
}

impl Table {
    /// Bytes of the table.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.cells * self.cell_bytes
    }
}

/// The reason why tables do not form a page map.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TablesError {
    /// The layout or the policies do not work, at all or when shared.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Only static striping keeps everything that a page needs on one plane.
    #[error(
        "workers can only share a map whose pages are striped statically: set allocation to static"
    )]
    NotStatic,
}

impl<M: Memory> PageMap<M> {
    /// The same map with other policies and another reserve. Whether blocks fail does not
    /// change.
    ///
    /// # Errors
    /// [`LayoutError`] if the policies cannot work on the layout.
    pub fn managed(self, reserve_blocks: u32, policies: Policies) -> Result<Self, LayoutError> {
        let layout = FlashLayout {
            reserve_blocks,
            ..self.layout
        };
        let policies = Policies {
            failures: self.policies.failures,
            ..policies
        };
        policies.validate(&layout)?;
        let mut managed = Self::without_tables(layout, policies);
        managed.map = self.map;
        managed.owner = self.owner;
        let space = &mut managed.space;
        space.planes = self.space.planes;
        space.free = self.space.free;
        space.valid = self.space.valid;
        space.closed_at = self.space.closed_at;
        space.erases = self.space.erases;
        space.registers = self.space.registers;
        space.health = self.space.health;
        Ok(managed)
    }

    /// Collects only on `plane`, in idle time or together with host requests: up to `budget`
    /// operations, while a victim is left or fewer blocks are free than idle collection wants.
    /// Returns how many operations were appended.
    pub fn collect_in_background(
        &mut self,
        plane: u32,
        budget: u32,
        out: &mut OperationBuffer,
    ) -> u32 {
        let Some(target) = self.policies.background_blocks else {
            return 0;
        };
        for step in 0..budget {
            let Some(operation) = self.background_step(plane, target, out) else {
                return step;
            };
            out.push(operation);
        }
        budget
    }

    /// Whether the host's next page of `plane` finds room without waiting for a
    /// collection.
    #[inline]
    #[must_use]
    pub fn has_room_for_host(&self, plane: u32) -> bool {
        self.space.pages_left(plane, Frontier::Host) > 0
            || self.space.free_blocks(plane) > self.layout.reserve_blocks
    }
}

impl PageMap<Shared> {
    /// Changes when the meaning of a table does; stored tables are then
    /// unusable.
    pub const TABLES_VERSION: u32 = 1;

    /// The tables of a map of `layout`, in the order of [`PageMap::table_contents`].
    #[must_use]
    pub fn tables(layout: &FlashLayout) -> Vec<Table> {
        let table = |cells, cell_bytes| Table { cells, cell_bytes };
        let blocks = layout.blocks() as usize;
        let words = layout.pages_per_block.div_ceil(64) as usize;
        vec![
            table(layout.logical_pages as usize, 4),
            table(layout.physical_pages() as usize, 4),
            table(crate::space::record_words(layout), 4),
            table(blocks, 4),
            table(blocks, 4),
            table(blocks, 4),
            table(crate::space::REGISTERS, 4),
            table(blocks * words, 8),
            table(blocks, 2),
        ]
    }

    /// Passes the bytes of every table to `write`, in order. Nothing may be changing them.
    ///
    /// # Errors
    /// Errors of `write`.
    pub fn table_contents<E>(
        &self,
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let space = &self.space;
        for wide in [
            &self.map,
            &self.owner,
            &space.planes,
            &space.free,
            &space.closed_at,
            &space.erases,
            &space.registers,
        ] {
            write(&wide.bytes())?;
        }
        let (bits, counts) = space.valid.tables();
        write(&bits.bytes())?;
        write(&counts.bytes())
    }

    /// A map over tables that `place` has laid out. It returns the address of each table, in order,
    /// and an object that keeps the memory.
    ///
    /// # Errors
    /// [`TablesError`] if the policies cannot work on the layout, or not when shared.
    ///
    /// # Safety
    /// Each address is aligned for its table's cells. Their bytes stay readable and writable as
    /// long as the keeping object lives, and nobody else accesses them.
    pub unsafe fn over_tables(
        layout: FlashLayout,
        policies: Policies,
        mut place: impl FnMut(usize, Table) -> (*const u8, std::sync::Arc<dyn Send + Sync>),
    ) -> Result<Self, TablesError> {
        policies.validate(&layout)?;
        let mut map = Self::without_tables(layout, policies);
        if map.placement.is_dynamic() || policies.failures.is_some() {
            return Err(TablesError::NotStatic);
        }
        let tables = Self::tables(&layout);
        fn cells<T: Word>(
            (address, owner): (*const u8, std::sync::Arc<dyn Send + Sync>),
            table: Table,
        ) -> SharedCells<T> {
            // SAFETY: `over_tables` requires the same of its caller.
            unsafe { SharedCells::over(address.cast(), table.cells, owner) }
        }
        let space = &mut map.space;
        for (index, wide) in [
            &mut map.map,
            &mut map.owner,
            &mut space.planes,
            &mut space.free,
            &mut space.closed_at,
            &mut space.erases,
            &mut space.registers,
        ]
        .into_iter()
        .enumerate()
        {
            *wide = cells(place(index, tables[index]), tables[index]);
        }
        space.valid.set_tables(
            cells(place(7, tables[7]), tables[7]),
            cells(place(8, tables[8]), tables[8]),
        );
        Ok(map)
    }
}
