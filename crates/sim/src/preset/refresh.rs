//! The keys of `[refresh]`: data is moved before it becomes hard to read.

use serde::Serialize;

use super::assemble::Keys;
use super::error::PresetError;
use super::key::{Key, key};
use super::schema::integer;

const READ_LIMIT: &str = "refresh.read_limit";
const RETENTION: &str = "refresh.retention_ns";

/// Longer than any run: simulated time ends after 6.5 days.
const LONGEST_RETENTION_NS: u64 = 1 << 60;

pub(super) const KEYS: &[Key] = &[
    key(READ_LIMIT, integer(1, 1_000_000_000)),
    key(RETENTION, integer(1_000, LONGEST_RETENTION_NS)),
];

/// When the data of a block is moved; at least one of them is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Refresh {
    /// After this many reads since the block was erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_limit: Option<u32>,
    /// This long after the first page of the block was programmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_ns: Option<u64>,
}

/// The section, if any of its keys is given.
pub(super) fn refresh(keys: &Keys<'_>) -> Result<Option<Refresh>, PresetError> {
    let refresh = Refresh {
        read_limit: keys.optional_integer(READ_LIMIT)?,
        retention_ns: keys.optional_integer(RETENTION)?,
    };
    let is_given = refresh.read_limit.is_some() || refresh.retention_ns.is_some();
    Ok(is_given.then_some(refresh))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use crate::preset::DriveConfig;

    #[test]
    fn a_table_without_keys_is_refused_with_its_keys() {
        let of = |table: &str| {
            DriveConfig::from_text(&format!("base = \"x25m\"\nname = \"-\"\n[{table}]\n"))
        };
        let error = of("refresh").unwrap_err().to_string();
        let said = "refresh = (an empty table) is not possible; allowed: with at least one of its \
                    keys: read_limit, retention_ns";
        assert!(error.contains(said), "{error}");
        for (table, key) in [
            ("zones", "size_bytes"),
            ("namespaces", "names, sizes_bytes"),
        ] {
            assert!(of(table).unwrap_err().to_string().contains(key), "{table}");
        }
        // One whose keys all have defaults changes nothing.
        assert!(of("buffer").is_ok());
    }
}
