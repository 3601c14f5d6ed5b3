//! A column and its cells.

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, ending in the unit.
    pub name: String,
    /// One value a row.
    pub values: Values,
}

/// The cells of a column; `None` is an empty one.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// UTF-8 texts.
    Texts(Vec<Option<String>>),
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers in double precision.
    Reals(Vec<Option<f64>>),
    /// Lists of whole numbers; an empty list is a value.
    IntegerLists(Vec<Option<Vec<i64>>>),
}

impl Values {
    /// How many rows the column has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Texts(cells) => cells.len(),
            Self::Integers(cells) => cells.len(),
            Self::Reals(cells) => cells.len(),
            Self::IntegerLists(cells) => cells.len(),
        }
    }

    /// Whether the column has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
