//! The kinds of numbers that counters hold.

use drivelab_ftl::EraseCounts;

/// The value of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A whole number; `None` if the drive does not count it.
    Count(Option<u64>),
    /// A real number; `None` if the drive does not count it.
    Real(Option<f64>),
    /// A number for each channel or unit.
    Reals(&'a [f64]),
    /// A list of whole numbers.
    Counts(&'a [u64]),
    /// Statistics of erases per block; `None` if the firmware does not report them.
    Erases(Option<EraseCounts>),
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Self::Count(Some(count))
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::Real(Some(value))
    }
}

impl From<Option<f64>> for Value<'_> {
    fn from(value: Option<f64>) -> Self {
        Self::Real(value)
    }
}

impl Value<'_> {
    /// As one number: the mean of a list, 0 for an empty one. `None` if the drive does not count
    /// it.
    #[must_use]
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Count(count) => count.map(|count| count as f64),
            Self::Real(value) => value,
            Self::Reals(values) => Some(values.iter().sum::<f64>() / values.len().max(1) as f64),
            Self::Counts(values) => {
                Some(values.iter().sum::<u64>() as f64 / values.len().max(1) as f64)
            }
            Self::Erases(counts) => counts.map(|counts| counts.mean),
        }
    }
}

/// A type in which something can be counted.
pub trait Countable {
    /// What follows the name in a key.
    const SUFFIX: &'static str = "";
    /// If it holds several numbers, the name and meaning of each.
    const PARTS: &'static [(&'static str, &'static str)] = &[];

    /// Its value.
    fn value(&self) -> Value<'_>;
}

impl Countable for u64 {
    fn value(&self) -> Value<'_> {
        Value::Count(Some(*self))
    }
}

impl Countable for Option<u64> {
    fn value(&self) -> Value<'_> {
        Value::Count(*self)
    }
}

impl Countable for f64 {
    fn value(&self) -> Value<'_> {
        Value::from(*self)
    }
}

impl Countable for Vec<f64> {
    const SUFFIX: &'static str = "[]";

    fn value(&self) -> Value<'_> {
        Value::Reals(self)
    }
}

impl Countable for Vec<u64> {
    const SUFFIX: &'static str = "[]";

    fn value(&self) -> Value<'_> {
        Value::Counts(self)
    }
}

impl Countable for Option<EraseCounts> {
    const PARTS: &'static [(&'static str, &'static str)] = &[
        (
            "least",
            "erases so far of the block that was erased least often; `flash.erase_counts` is \
             `null` where the firmware does not tell",
        ),
        ("mean", "erases so far of all blocks, the mean"),
        (
            "most",
            "erases so far of the block that was erased most often",
        ),
        (
            "standard_deviation",
            "erases so far of all blocks, their standard deviation",
        ),
    ];

    fn value(&self) -> Value<'_> {
        Value::Erases(*self)
    }
}
