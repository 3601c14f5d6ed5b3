//! Where requests go over time: counts on a grid whose cells grow with the trace.
//!
//! When a request lies beyond the grid, neighbouring cells are merged in pairs and become twice as
//! long or as high. So one pass is enough, and at the end the trace fills more than half of the
//! grid in each direction.

/// Columns: time.
pub const COLUMNS: usize = 256;
/// Rows: addresses.
pub const ROWS: usize = 128;

/// Where the reads and writes of a device begin, or those of all devices together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatMap {
    /// The time span of a column.
    pub column_ns: u64,
    /// The byte range of a row.
    pub row_bytes: u64,
    /// Reads, then writes; within each, column by column, with the rows of a column together.
    cells: Vec<u32>,
}

impl Default for HeatMap {
    fn default() -> Self {
        Self {
            column_ns: 1_000,
            row_bytes: 4096,
            cells: vec![0; 2 * COLUMNS * ROWS],
        }
    }
}

impl HeatMap {
    #[inline]
    pub(crate) fn count(&mut self, at_ns: u64, offset_bytes: u64, direction: usize) {
        while at_ns / self.column_ns >= COLUMNS as u64 {
            self.fold(ROWS, COLUMNS);
            self.column_ns *= 2;
        }
        while offset_bytes / self.row_bytes >= ROWS as u64 {
            self.fold(1, ROWS);
            self.row_bytes *= 2;
        }
        // Both are within the grid by now.
        let column = (at_ns / self.column_ns) as usize;
        let row = (offset_bytes / self.row_bytes) as usize;
        let cell = &mut self.cells[(direction * COLUMNS + column) * ROWS + row];
        *cell = cell.saturating_add(1);
    }

    /// Merges neighbours in one direction. They lie `step` apart, and there are `count` of them.
    fn fold(&mut self, step: usize, count: usize) {
        for line in self.cells.chunks_exact_mut(step * count) {
            for place in 0..step {
                for half in 0..count / 2 {
                    let first = line[2 * half * step + place];
                    let second = line[(2 * half + 1) * step + place];
                    line[half * step + place] = first.saturating_add(second);
                }
                for gone in count / 2..count {
                    line[gone * step + place] = 0;
                }
            }
        }
    }

    /// How many reads (0) or writes (1) begin in each cell: column by column, with rows ascending.
    #[must_use]
    pub fn cells(&self, direction: usize) -> &[u32] {
        let mut directions = self.cells.chunks_exact(COLUMNS * ROWS);
        directions.nth(direction).unwrap_or_default()
    }
}
