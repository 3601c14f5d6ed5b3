//! A key of a preset: one row of the tables that define everything about keys.
//!
//! | part of a row | what it defines |
//! |---|---|
//! | name, type and range | which values are refused, and the words of errors, templates and docs/preset-keys.md |
//! | unit | the last word of the name |
//! | usual value | the default, in parsing and in docs; words if the default follows from other keys |
//! | fit | whether `drivelab fit` searches for it, with which other keys and in what steps |

use super::schema::Rule;

/// The default of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Usual {
    /// No default: the key is required, or the drive lacks the feature.
    Nothing,
    Integer(u64),
    Ratio(f64),
    Integers(&'static [u32]),
    Word(&'static str),
    /// `false`.
    Off,
    /// Follows from something else, in the words of docs/preset-keys.md.
    As(&'static str),
}

impl Usual {
    /// The default in Markdown: as it would be written in a preset, or in words.
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
    /// Parameters are searched in this order.
    pub place: u32,
    /// Values are multiples of this.
    pub step: u32,
    /// The parameter shared by several keys that keep their ratio; `None` means the parameter has
    /// the name of the key.
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

/// A row without default: required, or the drive lacks the feature.
pub(crate) const fn key(name: &'static str, rule: Rule) -> Key {
    Key {
        name,
        rule,
        usual: match rule {
            // Switches are off by default.
            Rule::Boolean => Usual::Off,
            _ => Usual::Nothing,
        },
        fit: None,
    }
}

impl Key {
    /// Sets the default.
    pub const fn usually(mut self, number: u64) -> Self {
        self.usual = Usual::Integer(number);
        self
    }

    /// Sets the default of a number that need not be whole.
    pub const fn usually_ratio(mut self, number: f64) -> Self {
        self.usual = Usual::Ratio(number);
        self
    }

    /// Sets the default of an array.
    pub const fn usually_integers(mut self, numbers: &'static [u32]) -> Self {
        self.usual = Usual::Integers(numbers);
        self
    }

    /// Sets the default of a word.
    pub const fn usual_word(mut self, word: &'static str) -> Self {
        self.usual = Usual::Word(word);
        self
    }

    /// The default follows from something else, which `words` name.
    pub const fn usually_as(mut self, words: &'static str) -> Self {
        self.usual = Usual::As(words);
        self
    }

    /// Marks the key as required.
    pub const fn needed(mut self) -> Self {
        self.usual = Usual::Nothing;
        self
    }

    /// Fits search for it.
    pub const fn fitted(mut self, place: u32, step: u32) -> Self {
        self.fit = Some(Fit {
            place,
            step,
            parameter: None,
        });
        self
    }

    /// Fits search for it together with other keys of the same `parameter`.
    pub const fn fitted_with(mut self, parameter: &'static str, place: u32) -> Self {
        self.fit = Some(Fit {
            place,
            step: 1,
            parameter: Some(parameter),
        });
        self
    }

    /// The unit: the last word of its name, if that is a unit.
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

/// A key as documentation and Python see it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyRow {
    /// The key with its table; `*` stands for the name of a published figure.
    pub name: &'static str,
    /// The allowed values, in words.
    pub allowed: String,
    /// The unit, if it has one.
    pub unit: Option<&'static str>,
    /// The default in Markdown: a value as it would be written in a preset, or words.
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
