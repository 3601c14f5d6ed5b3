//! Processors as TOML: what both kinds share. Unknown keys and impossible values are errors that
//! say what is allowed.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, LINE_BYTES};

/// The host's parameters that come with the package.
pub const HOST: &str = include_str!("../../../processors/xeon-e5-2650v4-like.toml");
/// The target's parameters that come with the package.
pub const TARGET: &str = include_str!("../../../processors/a53-like.toml");

/// Why a text gives no processor.
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
        /// The allowed values.
        allowed: String,
    },
}

/// Reads a processor's text into parameters, and does not check their values yet.
pub(crate) fn read<T: DeserializeOwned>(text: &str, kind: &str) -> Result<T, ParameterError> {
    // Checked before its keys, because the other kind has other keys.
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
            // One line, like every message.
            message: error.message().replace(['\n', '\r'], " "),
        }
    })
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// Refuses a value outside two limits.
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

/// Refuses a value that is no power of two or is above a limit.
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

/// The largest size of a core's own cache.
pub(crate) const MOST_OWN_BYTES: u64 = 16 << 20;
/// The largest size of the last cache.
pub(crate) const MOST_BYTES: u64 = 256 << 20;
/// The largest number of entries in a table of a predictor.
pub(crate) const MOST_ENTRIES: usize = 1 << 20;

/// A cache.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSize {
    /// Bytes of all its lines.
    pub size_bytes: u64,
    /// Lines in a set.
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

/// Which misses the prefetcher foresees.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// Runs of lines that are followed at a time.
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
