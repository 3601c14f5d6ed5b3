//! Processors as TOML: what both kinds share. Unknown keys and impossible values are errors that
//! say what is allowed.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, LINE_BYTES};

/// The host's parameters as they come with the package.
pub const HOST: &str = include_str!("../../../processors/xeon-e5-2650v4-like.toml");
/// The target's.
pub const TARGET: &str = include_str!("../../../processors/a53-like.toml");

/// Why a processor cannot be had from a text.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// The text is no such processor.
    #[error("line {line}: {message}")]
    Text {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value is impossible.
    #[error("{key} is {value}: {allowed}")]
    Value {
        /// The key, with its table.
        key: String,
        /// Its value.
        value: String,
        /// What it may be.
        allowed: String,
    },
}

/// Reads a processor's text into parameters, whose values are not yet looked at.
pub(crate) fn read<T: DeserializeOwned>(text: &str, kind: &str) -> Result<T, ParameterError> {
    // Before its keys, of which the other kind has others.
    if let Ok(Kind { kind: Some(found) }) = toml::from_str(text)
        && found != kind
    {
        return Err(ParameterError::Value {
            key: "kind".to_string(),
            value: format!("\"{found}\""),
            allowed: format!("it must be \"{kind}\" for what qemu emulates here"),
        });
    }
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.bytes().take(start);
        ParameterError::Text {
            line: 1 + before.filter(|byte| *byte == b'\n').count(),
            // One line, as every message.
            message: error.message().replace(['\n', '\r'], " "),
        }
    })
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// Refuses what is not between two values.
pub(crate) fn within(key: &str, value: u64, least: u64, most: u64) -> Result<(), ParameterError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(ParameterError::Value {
        key: key.to_string(),
        value: value.to_string(),
        allowed: format!("it may be {least} to {most}"),
    })
}

/// Refuses what is no power of two up to a limit.
pub(crate) fn power_of_two(key: &str, value: usize, most: usize) -> Result<(), ParameterError> {
    if value.is_power_of_two() && (2..=most).contains(&value) {
        return Ok(());
    }
    Err(ParameterError::Value {
        key: key.to_string(),
        value: value.to_string(),
        allowed: format!("it may be a power of two from 2 to {most}"),
    })
}

/// The most that a core's own cache may hold.
pub(crate) const MOST_OWN_BYTES: u64 = 16 << 20;
/// The most that the last cache may hold.
pub(crate) const MOST_BYTES: u64 = 256 << 20;
/// The most entries of a table of a predictor.
pub(crate) const MOST_ENTRIES: usize = 1 << 20;

/// A cache.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSize {
    /// Bytes of lines in all.
    pub size_bytes: u64,
    /// Lines that may stand in each other's place.
    pub ways: usize,
}

impl CacheSize {
    pub(crate) fn check(&self, key: &str, most_bytes: u64) -> Result<(), ParameterError> {
        within(&format!("{key}.ways"), self.ways as u64, 1, 64)?;
        let way_bytes = LINE_BYTES * self.ways as u64;
        let sets = self.size_bytes / way_bytes;
        let whole = sets.is_power_of_two() && sets * way_bytes == self.size_bytes;
        if !whole || self.size_bytes > most_bytes {
            return Err(ParameterError::Value {
                key: format!("{key}.size_bytes"),
                value: self.size_bytes.to_string(),
                allowed: format!(
                    "with {} ways it may be {way_bytes} bytes times a power of two, {most_bytes} at most",
                    self.ways
                ),
            });
        }
        Ok(())
    }

    pub(crate) fn cache(&self) -> Cache {
        Cache::new(
            (self.size_bytes / LINE_BYTES) as usize / self.ways,
            self.ways,
        )
    }
}

/// Which misses are seen coming.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// Runs of lines at a time.
    pub streams: usize,
    /// Lines in a row that miss before a run is followed.
    pub lines_before: u32,
}

impl Prefetch {
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        within("prefetch.streams", self.streams as u64, 0, 64)?;
        within(
            "prefetch.lines_before",
            u64::from(self.lines_before),
            1,
            1024,
        )
    }
}
