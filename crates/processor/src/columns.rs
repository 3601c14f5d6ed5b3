//! The numbers of a record: their names, and how each is obtained.

use serde::Serialize;

/// How a number is obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Counted exactly as the program did it.
    Counted,
    /// What a model of a cache or a predictor did on the program's accesses and branches.
    Simulated,
    /// Computed from the others, with parameters.
    Derived,
}

/// A number that every record has.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Column {
    /// Its key.
    pub name: &'static str,
    /// Its unit: `count`, `cycles` or `ns`.
    pub unit: &'static str,
    /// How it is obtained.
    pub how: How,
    /// Its name in Lee et al. 2021, table 5, if it is there.
    pub table_5: Option<&'static str>,
    /// What it means, in words.
    pub meaning: &'static str,
}

impl Column {
    pub(crate) const fn new(
        name: &'static str,
        unit: &'static str,
        how: How,
        meaning: &'static str,
    ) -> Self {
        Self {
            name,
            unit,
            how,
            table_5: None,
            meaning,
        }
    }

    pub(crate) const fn in_table_5(mut self, name: &'static str) -> Self {
        self.table_5 = Some(name);
        self
    }
}
