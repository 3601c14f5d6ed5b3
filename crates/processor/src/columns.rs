//! The numbers of a record: what they are called, and how each comes about.

use serde::Serialize;

/// How a number comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Exactly what the program did.
    Counted,
    /// What a model of a cache or a predictor did with what the program did.
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
    /// How it comes about.
    pub how: How,
    /// What Lee et al. 2021, table 5, calls it, if it is there.
    pub table_5: Option<&'static str>,
    /// What it is, in words.
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
