//! A borrowed row-major matrix whose shape and values were checked once.

use crate::TreeError;

/// Rows of finite or missing (NaN) features, row-major.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    values: &'a [f64],
    rows: usize,
    columns: usize,
}

impl<'a> Matrix<'a> {
    /// Views `values` as `rows` times `columns`.
    ///
    /// # Errors
    /// If the length does not match, there are no columns, or a value is infinite.
    pub fn new(values: &'a [f64], rows: usize, columns: usize) -> Result<Self, TreeError> {
        if columns == 0 {
            return Err(TreeError::Empty { rows, columns });
        }
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(TreeError::Shape {
                values: values.len(),
                rows,
                columns,
            });
        }
        if let Some(at) = values.iter().position(|value| value.is_infinite()) {
            return Err(TreeError::InfiniteFeature {
                row: at / columns,
                column: at % columns,
            });
        }
        Ok(Self {
            values,
            rows,
            columns,
        })
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row after row.
    #[must_use]
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// The rows one after another.
    pub fn iter(&self) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        self.values.chunks_exact(self.columns)
    }
}
