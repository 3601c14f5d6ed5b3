//! A key of a preset: one row of the tables from which everything about keys comes.
//!
//! | of a row | comes |
//! |---|---|
//! | name, type and range | what is refused, and the words of errors, templates and docs/preset-keys.md |
//! | unit | the last word of the name, which says it |
//! | usual value | what holds where a preset does not say it, in parsing and in docs; where that follows from other keys, the words for it |
//! | fit | whether `drivelab fit` looks for it, with which others and in what steps |

use super::schema::Rule;

/// What holds where a preset does not say a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Usual {
    /// Nothing: it must be said, or the drive does without.
    Nothing,
    Integer(u64),
    Ratio(f64),
    Integers(&'static [u32]),
    Word(&'static str),
    /// `false`.
    Off,
    /// What follows from something else, in the words of docs/preset-keys.md.
    As(&'static str),
}

impl Usual {
    /// It in Markdown: as it would be written, or in words.
    pub fn told(self) -> Option<String> {
        let written = match self {
            Self::Nothing => return None,
            Self::As(words) => return Some(words.to_owned()),
            Self::Integer(number) => number.to_string(),
            Self::Ratio(number) => format!("{number:?}"),
            Self::Integers(numbers) => format!("{numbers:?}"),
            Self::Word(word) => format!("{word:?}"),
            Self::Off => "false".to_owned(),
        };
        Some(format!("`{written}`"))
    }
}

/// How a value is fitted to measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Parameters are looked for in this order.
    pub place: u32,
    /// Values are multiples of it.
    pub step: u32,
    /// The parameter of several keys that keep their ratio; of one alone it is called as the key.
    pub parameter: Option<&'static str>,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub rule: Rule,
    pub usual: Usual,
    pub fit: Option<Fit>,
}

/// A row of which the drive does without, or that must be said.
pub(crate) const fn key(name: &'static str, rule: Rule) -> Key {
    Key {
        name,
        rule,
        usual: match rule {
            // A switch that nobody turned is off.
            Rule::Boolean => Usual::Off,
            _ => Usual::Nothing,
        },
        fit: None,
    }
}

impl Key {
    /// Where it is not said it is so much.
    pub const fn usually(mut self, number: u64) -> Self {
        self.usual = Usual::Integer(number);
        self
    }

    /// Likewise of a number that need not be whole.
    pub const fn usually_ratio(mut self, number: f64) -> Self {
        self.usual = Usual::Ratio(number);
        self
    }

    /// Likewise of an array.
    pub const fn usually_integers(mut self, numbers: &'static [u32]) -> Self {
        self.usual = Usual::Integers(numbers);
        self
    }

    /// Likewise of a word.
    pub const fn usual_word(mut self, word: &'static str) -> Self {
        self.usual = Usual::Word(word);
        self
    }

    /// Where it is not said it follows from something else, which `words` name.
    pub const fn usually_as(mut self, words: &'static str) -> Self {
        self.usual = Usual::As(words);
        self
    }

    /// It must be said.
    pub const fn needed(mut self) -> Self {
        self.usual = Usual::Nothing;
        self
    }

    /// Fits look for it.
    pub const fn fitted(mut self, place: u32, step: u32) -> Self {
        self.fit = Some(Fit {
            place,
            step,
            parameter: None,
        });
        self
    }

    /// Fits look for it and others of the same `parameter` together.
    pub const fn fitted_with(mut self, parameter: &'static str, place: u32) -> Self {
        self.fit = Some(Fit {
            place,
            step: 1,
            parameter: Some(parameter),
        });
        self
    }

    /// In what it is measured: the last word of its name, where that is a unit.
    pub fn unit(&self) -> Option<&'static str> {
        const UNITS: &[(&str, &str)] = &[
            ("_bytes_per_second", "bytes/s"),
            ("_gigabits_per_second", "Gb/s"),
            ("_sectors_per_track", "sectors"),
            ("_per_plane", "blocks"),
            ("_per_block", "pages"),
            ("_bytes", "bytes"),
            ("_ns", "ns"),
            ("_nj", "nJ"),
            ("_pj", "pJ"),
            ("_mw", "mW"),
            ("_mhz", "MHz"),
            ("_rpm", "turns/min"),
            ("_cycles", "cycles"),
            ("_iops", "IOPS"),
        ];
        let unit = UNITS.iter().find(|(end, _)| self.name.ends_with(end));
        unit.map(|&(_, unit)| unit)
    }
}

/// What is told of a key outside.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyRow {
    /// The key with its table; `*` stands for the name of a published figure.
    pub name: &'static str,
    /// What it may hold, in words.
    pub allowed: String,
    /// In what it is measured, if in anything.
    pub unit: Option<&'static str>,
    /// What holds where a preset does not say it, in Markdown: a value as it would be written, or
    /// words.
    pub usual: Option<String>,
    /// How it is fitted to measurements, if it is.
    pub fit: Option<Fit>,
}

impl From<&Key> for KeyRow {
    fn from(key: &Key) -> Self {
        Self {
            name: key.name,
            allowed: key.rule.allowed(),
            unit: key.unit(),
            usual: key.usual.told(),
            fit: key.fit,
        }
    }
}
