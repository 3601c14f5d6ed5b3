//! What can be wrong with a scenario, each case with its remedy in one line.

use std::fmt;

use thiserror::Error;

/// Where in a scenario, or in a file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file that the scenario names; none for the scenario itself.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: usize,
}

impl fmt::Display for Spot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(formatter, "{file}, ")?;
        }
        write!(formatter, "line {}", self.line)
    }
}

/// Why a scenario was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScenarioError {
    /// The text is not TOML.
    #[error("{spot}: not valid TOML: {message}")]
    Syntax {
        /// Where.
        spot: Spot,
        /// What the TOML reader says.
        message: String,
    },
    /// A key that no scenario has there.
    #[error("{spot}: unknown key {key}; valid here: {valid}")]
    UnknownKey {
        /// Where.
        spot: Spot,
        /// The key.
        key: String,
        /// The keys that may stand there.
        valid: String,
    },
    /// A value of the wrong type or out of range.
    #[error("{spot}: {key} = {value} is not possible; allowed: {allowed}")]
    WrongValue {
        /// Where.
        spot: Spot,
        /// The key.
        key: String,
        /// The value as written.
        value: String,
        /// What it may be.
        allowed: String,
    },
    /// A key without which something is not described.
    #[error("{spot}: {key} is missing; give {allowed}")]
    MissingKey {
        /// Where what lacks it begins.
        spot: Spot,
        /// The key.
        key: String,
        /// What it may be.
        allowed: String,
    },
    /// Keys that do not go together, or something that does not fit the rest.
    #[error("{spot}: {reason}")]
    Unfitting {
        /// Where.
        spot: Spot,
        /// Why, and what to do.
        reason: String,
    },
    /// Something that is missing from the whole.
    #[error("{0}")]
    Incomplete(String),
}
