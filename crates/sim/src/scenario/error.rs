//! Errors in scenarios, each with its remedy in one line.

use std::fmt;

use thiserror::Error;

/// A place in a scenario, or in a file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file that the scenario names; `None` for the scenario itself.
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

/// The reason why a scenario was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScenarioError {
    /// The text is not TOML.
    #[error("{spot}: not valid TOML: {message}")]
    Syntax {
        /// Where.
        spot: Spot,
        /// The message of the TOML reader.
        message: String,
    },
    /// A key that is unknown in its table.
    #[error("{spot}: unknown key {key}; {meant}valid here: {valid}")]
    UnknownKey {
        /// Where.
        spot: Spot,
        /// The key.
        key: String,
        /// The nearest allowed key, as a question; empty if none is near.
        meant: String,
        /// The allowed keys.
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
        /// The allowed values.
        allowed: String,
    },
    /// A required key is missing.
    #[error("{spot}: {key} is missing; give {allowed}")]
    MissingKey {
        /// Where the incomplete table begins.
        spot: Spot,
        /// The key.
        key: String,
        /// The allowed values.
        allowed: String,
    },
    /// Keys that exclude one another, or a value that does not fit the rest.
    #[error("{spot}: {reason}")]
    Unfitting {
        /// Where.
        spot: Spot,
        /// The reason, and what to do.
        reason: String,
    },
    /// Something is missing from the scenario as a whole.
    #[error("{0}")]
    Incomplete(String),
}
