//! Errors in presets, each with its remedy in one line.

use std::fmt;

use thiserror::Error;

/// The preset and the line that a message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The preset's name, as far as it was known at this point of reading.
    pub preset: String,
    /// Line in the preset's text, from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "preset {}, line {}", self.preset, self.line)
    }
}

/// The reason why a preset was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PresetError {
    /// The text is not TOML.
    #[error("{place}: not valid TOML: {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// The message of the TOML reader.
        message: String,
    },
    /// A key that no preset has.
    #[error("{place}: unknown key {key}; {meant}valid here: {valid}")]
    UnknownKey {
        /// The key, with its table.
        key: String,
        /// Where.
        place: Place,
        /// The nearest valid key, as a question; empty if none is near.
        meant: String,
        /// The keys that the table allows.
        valid: String,
    },
    /// A table that belongs to the members of an array, not to the array.
    #[error(
        "{place}: an array has no table [{table}], its members have it: write it in a preset of \
         yours that has base = {member:?}, and name that one as member"
    )]
    OfMember {
        /// The table.
        table: String,
        /// Where.
        place: Place,
        /// The preset of the members.
        member: String,
    },
    /// A required key is missing.
    #[error("preset {preset}: {key} is missing; give {allowed}")]
    MissingKey {
        /// The key, with its table.
        key: String,
        /// The preset's name.
        preset: String,
        /// The allowed values.
        allowed: String,
    },
    /// A value of the wrong type or out of range.
    #[error("{place}: {key} = {value} is not possible; allowed: {allowed}")]
    WrongValue {
        /// The key, with its table.
        key: String,
        /// The value as written.
        value: String,
        /// Where.
        place: Place,
        /// The allowed values.
        allowed: String,
    },
    /// `base` names a preset that does not exist.
    #[error("{place}: base = {base:?} is not a known preset; known: {known}")]
    UnknownBase {
        /// The given name.
        base: String,
        /// Where.
        place: Place,
        /// The names that the package contains.
        known: String,
    },
    /// A preset inherits from itself.
    #[error(
        "presets start from each other in a circle: {}; remove one of the base lines",
        chain.join(" -> ")
    )]
    BaseCycle {
        /// The names along the circle. The first name is repeated at the end.
        chain: Vec<String>,
    },
    /// Not enough spare space for collection.
    #[error(transparent)]
    TooLittleSpare(Box<SpareShortage>),
}

impl PresetError {
    /// The key whose value is not possible, if that is the error.
    #[must_use]
    pub fn wrong_key(&self) -> Option<&str> {
        match self {
            Self::WrongValue { key, .. } => Some(key),
            Self::TooLittleSpare(shortage) => Some(&shortage.key),
            _ => None,
        }
    }

    /// The message without preset and line, for a generated text.
    #[must_use]
    pub fn without_place(&self) -> String {
        let message = self.to_string();
        let place = match self {
            Self::Syntax { place, .. }
            | Self::UnknownKey { place, .. }
            | Self::OfMember { place, .. }
            | Self::WrongValue { place, .. }
            | Self::UnknownBase { place, .. } => place,
            Self::TooLittleSpare(shortage) => &shortage.place,
            Self::MissingKey { .. } | Self::BaseCycle { .. } => return message,
        };
        let said = message.strip_prefix(&format!("{place}: "));
        said.map_or_else(|| message.clone(), str::to_owned)
    }
}

/// How far a capacity is from leaving enough space for collection.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{place}: {key} = {value} leaves {spare_pages} spare pages but collection needs {needed_pages}; \
     allowed: {allowed}"
)]
pub struct SpareShortage {
    /// `geometry.user_capacity_bytes` or `geometry.over_provisioning_ratio`.
    pub key: String,
    /// Its value as written.
    pub value: String,
    /// Where.
    pub place: Place,
    /// Physical pages beyond the user's capacity; 0 if the capacity exceeds the flash.
    pub spare_pages: u64,
    /// Physical pages that must be spare.
    pub needed_pages: u64,
    /// The capacities that leave enough.
    pub allowed: String,
}
