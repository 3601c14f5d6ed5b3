//! A stream that is drawn window by window: its kinds of requests, gaps, regions and windows.
//!
//! ```text
//! [[stream.kind]]                 # kind 0
//! action = "read"
//! place = "next"
//! sizes_bytes = [65_536]
//!
//! [[stream.gap]]                  # class 0
//! gaps_ns = [0, 100_000]
//!
//! [[stream.region]]               # region 0
//! range_offset_bytes = 0
//! range_bytes = 1_073_741_824
//!
//! [[stream.window]]
//! duration_ns = 60_000_000_000
//! kinds = [0, 250]                # 250 requests of kind 0
//! gaps = [0, 250]
//! ```

use std::sync::Arc;

use drivelab_request::Direction;
use drivelab_workload::{Gap, Kind, Pairs, Place, Region, Train, Window, Windows};
use toml::de::DeTable;

use super::error::{ScenarioError, Spot};
use super::table::{GAP, KIND, REGION, TRAIN, Table, WINDOW, array};

/// The tables that make up such a stream.
pub(super) const TABLES: [&str; 5] = ["kind", "gap", "region", "train", "window"];

pub(super) fn windows_of(
    stream: &DeTable<'_>,
    (text, line): (&str, usize),
) -> Result<Arc<Windows>, ScenarioError> {
    let mut windows = Windows {
        kinds: Vec::new(),
        gaps: Vec::new(),
        regions: Vec::new(),
        trains: Vec::new(),
        windows: Vec::new(),
    };
    for (table, line) in array(stream, "kind", text)? {
        let table = Table::read(table, text, line, KIND, &[])?;
        windows.kinds.push(kind_of(&table)?);
    }
    for (table, line) in array(stream, "gap", text)? {
        let table = Table::read(table, text, line, GAP, &[])?;
        windows.gaps.push(Gap {
            gaps_ns: required(&table, "gaps_ns")?,
            gaps_after: pairs(&table, "gaps_after")?,
            begins_train: table.is_set("begins_train"),
        });
    }
    for (table, line) in array(stream, "region", text)? {
        let table = Table::read(table, text, line, REGION, &[])?;
        let number = |key| table.integer(key).ok_or_else(|| table.missing(key));
        windows.regions.push(Region {
            offset: number("range_offset_bytes")?,
            bytes: number("range_bytes")?,
        });
    }
    for (table, line) in array(stream, "train", text)? {
        let table = Table::read(table, text, line, TRAIN, &[])?;
        let lengths = narrow(required(&table, "lengths")?);
        windows.trains.push(Train { lengths });
    }
    for (table, line) in array(stream, "window", text)? {
        let table = Table::read(table, text, line, WINDOW, &[])?;
        let duration = table.integer("duration_ns");
        windows.windows.push(Window {
            duration_ns: duration.ok_or_else(|| table.missing("duration_ns"))?,
            kinds: pairs(&table, "kinds")?,
            gaps: pairs(&table, "gaps")?,
            regions: pairs(&table, "regions")?,
            trains: pairs(&table, "trains")?,
        });
    }
    windows
        .validate()
        .map_err(|error| ScenarioError::Unfitting {
            spot: Spot { file: None, line },
            reason: error.to_string(),
        })?;
    Ok(Arc::new(windows))
}

fn kind_of(table: &Table<'_>) -> Result<Kind, ScenarioError> {
    let word = |key| table.text(key).ok_or_else(|| table.missing(key));
    let direction = match word("action")? {
        "write" => Direction::Write,
        _ => Direction::Read,
    };
    let place = Place::from_name(word("place")?).ok_or_else(|| table.missing("place"))?;
    let is_apart = matches!(place, Place::Ahead | Place::Behind);
    if is_apart != table.has("distances_bytes") {
        let reason = if is_apart {
            "a request ahead or behind needs distances_bytes; give 2 or more in order"
        } else {
            "distances_bytes is for place = \"ahead\" or \"behind\"; remove it"
        };
        return Err(table.unfitting("distances_bytes", reason.to_owned()));
    }
    Ok(Kind {
        direction,
        place,
        group: table.integer("group").unwrap_or(0) as u32,
        sizes: narrow(required(table, "sizes_bytes")?),
        ranks: table.integers("ranks").map_or_else(|| vec![0], narrow),
        distances: table.integers("distances_bytes").unwrap_or_default(),
        grid: (
            table.integer("grid_bytes").unwrap_or(4096),
            table.integer("grid_offset_bytes").unwrap_or(0),
        ),
        kinds_after: pairs(table, "kinds_after")?,
        gaps_before: pairs(table, "gaps_before")?,
    })
}

/// Converts to 32 bits. The rules of the keys keep the values in range.
fn narrow(values: Vec<u64>) -> Vec<u32> {
    values.into_iter().map(|value| value as u32).collect()
}

fn required(table: &Table<'_>, key: &str) -> Result<Vec<u64>, ScenarioError> {
    table.integers(key).ok_or_else(|| table.missing(key))
}

/// Alternating numbers and counts. Empty if the key is missing.
fn pairs(table: &Table<'_>, key: &str) -> Result<Pairs, ScenarioError> {
    let flat = narrow(table.integers(key).unwrap_or_default());
    Pairs::of_flat(&flat).ok_or_else(|| {
        let reason = format!("{key} has an odd number of values; write which, how often, in turn");
        table.unfitting(key, reason)
    })
}
