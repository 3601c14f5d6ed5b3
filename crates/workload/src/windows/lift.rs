//! Sparse rows of counts, and how much more likely than by chance one item follows another.

use super::WindowsError;

/// Counts by item number: `(which, how often)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs(Vec<(u32, u32)>);

impl Pairs {
    /// From a flat list: which, how often, which, how often. `None` if it is not a list of pairs.
    #[must_use]
    pub fn of_flat(flat: &[u32]) -> Option<Self> {
        let pairs = flat.chunks_exact(2);
        if !pairs.remainder().is_empty() {
            return None;
        }
        Some(Self(pairs.map(|pair| (pair[0], pair[1])).collect()))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.0.iter().copied()
    }

    /// The sum of all counts.
    pub(super) fn sum(&self) -> u64 {
        self.iter().map(|(_, count)| u64::from(count)).sum()
    }

    /// The counts of `length` items, one after another.
    pub(super) fn dense(&self, length: usize) -> Vec<f64> {
        let mut dense = vec![0.0; length];
        for (which, count) in self.iter() {
            if let Some(place) = dense.get_mut(which as usize) {
                *place += f64::from(count);
            }
        }
        dense
    }

    /// Checks that it names only existing items.
    pub(super) fn within(
        &self,
        table: impl FnOnce() -> String,
        what: &'static str,
        length: usize,
    ) -> Result<(), WindowsError> {
        match self.iter().find(|&(which, _)| which as usize >= length) {
            None => Ok(()),
            Some((value, _)) => Err(WindowsError::Unknown {
                table: table(),
                what,
                value,
                last: length.saturating_sub(1),
            }),
        }
    }
}

/// How much more likely than by chance a column goes with a row. Near 1 where counts are small.
#[derive(Clone, Debug)]
pub(super) struct Lift {
    columns: usize,
    values: Vec<f64>,
}

impl Lift {
    /// From rows of counts. Half a count is added both to the observed and to the expected count.
    pub fn new<'a>(rows: impl Iterator<Item = &'a Pairs>, columns: usize) -> Self {
        let rows: Vec<Vec<f64>> = rows.map(|row| row.dense(columns)).collect();
        let sums: Vec<f64> = rows.iter().map(|row| row.iter().sum()).collect();
        let mut of_columns = vec![0.0; columns];
        for row in &rows {
            for (sum, count) in of_columns.iter_mut().zip(row) {
                *sum += count;
            }
        }
        let total: f64 = f64::max(sums.iter().sum(), 1.0);
        let mut values = Vec::with_capacity(rows.len() * columns);
        for (row, sum) in rows.iter().zip(&sums) {
            for (count, of_column) in row.iter().zip(&of_columns) {
                values.push((count + 0.5) / (sum * of_column / total + 0.5));
            }
        }
        Self { columns, values }
    }

    /// The row of an item.
    pub fn row(&self, which: usize) -> &[f64] {
        let begin = which * self.columns;
        self.values
            .get(begin..begin + self.columns)
            .unwrap_or_default()
    }
}
