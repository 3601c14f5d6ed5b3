//! A table of a scenario with checked keys.

use std::collections::BTreeMap;

use drivelab_request::{Content, SECTOR_BYTES};
use drivelab_workload::{
    Arrivals, MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES, MOST_REGIONS, MOST_VALUES, Place,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ScenarioError, Spot};
use super::mixed;
use super::timed::ACTIONS;
use super::zoned;
use crate::near_names::meant;
use crate::preset::document::{Value, line_at};
use crate::preset::schema::{Rule, integer};
use crate::preset::{FillOrder, occupancy};

/// 2^50: a drive of a pebibyte.
const LARGEST_BYTES: u64 = 1 << 50;
const MOST_REQUESTS: u64 = 10_000_000_000;
/// Simulated time ends after 6.5 days.
const LONGEST_NS: u64 = 1 << 49;

const RATIO: Rule = Rule::Ratio {
    least: 0.0,
    most: 1.0,
};
const REQUEST_SIZE: Rule = Rule::Sectors {
    least: SECTOR_BYTES as u64,
    most: MAX_REQUEST_BYTES as u64,
};
const GAP_BYTES: Rule = Rule::Sectors {
    least: 0,
    most: LARGEST_BYTES,
};

pub(super) const RANGES_PER_TRIM: &str = "ranges_per_trim";

/// What one command of NVMe holds.
const MOST_RANGES: u64 = 256;

/// The commands as which a stream's generated writes may be sent.
pub(super) const WRITES_AS: &[&str] = &["write", "forced_write", "trim", "write_zeroes", "append"];

/// Keys of the scenario itself.
pub(super) const SCENARIO: &[(&str, Rule)] = &[
    ("summary", Rule::Text),
    ("requests", integer(1, MOST_REQUESTS)),
    ("duration_ns", integer(1, LONGEST_NS)),
    ("warmup_requests", integer(0, MOST_REQUESTS)),
    ("warmup_ns", integer(0, LONGEST_NS)),
    ("interval_ns", integer(1, LONGEST_NS)),
];

/// Keys of the table `[occupancy]`.
pub(super) const OCCUPANCY: &[(&str, Rule)] = &[
    ("filled", occupancy::SHARE),
    ("order", Rule::Word(FillOrder::WORDS)),
    ("steady", Rule::Boolean),
];

/// Keys of a stream.
pub(super) const STREAM: &[(&str, Rule)] = &[
    ("name", Rule::Text),
    ("queue_depth", integer(1, MAX_QUEUE_DEPTH as u64)),
    (
        "rate_iops",
        Rule::Ratio {
            least: *Arrivals::RATES.start(),
            most: *Arrivals::RATES.end(),
        },
    ),
    ("arrivals", Rule::Word(&["poisson", "fixed"])),
    ("requests_csv", Rule::Text),
    ("write_ratio", RATIO),
    ("read_size_bytes", REQUEST_SIZE),
    ("write_size_bytes", REQUEST_SIZE),
    ("read_random", RATIO),
    ("write_random", RATIO),
    ("read_stride_bytes", GAP_BYTES),
    ("write_stride_bytes", GAP_BYTES),
    ("writes_as", Rule::Word(WRITES_AS)),
    ("writes_per_flush", integer(1, u32::MAX as u64)),
    (RANGES_PER_TRIM, integer(1, MOST_RANGES)),
    ("range_offset_bytes", GAP_BYTES),
    (
        "range_bytes",
        Rule::Sectors {
            least: SECTOR_BYTES as u64,
            most: LARGEST_BYTES,
        },
    ),
    (
        mixed::SIZES,
        Rule::Several {
            most_entries: mixed::MOST_SIZES,
            least: SECTOR_BYTES as u64,
            most: MAX_REQUEST_BYTES as u64,
        },
    ),
    (mixed::HOT_RANGE, mixed::SHARE),
    (mixed::HOT_ACCESSES, mixed::SHARE),
    ("priority", integer(0, u8::MAX as u64)),
    ("queue_pair", integer(0, u16::MAX as u64)),
    ("namespace", Rule::Text),
    ("content", Rule::Word(Content::NAMES)),
    ("placement", integer(0, u8::MAX as u64)),
    ("reclaim_group", integer(0, u8::MAX as u64)),
    ("burst_requests", integer(1, 1_048_576)),
    ("each_place_once", Rule::Boolean),
    (zoned::ZONES, integer(1, 1 << 20)),
    (
        zoned::ZONE_BYTES,
        Rule::Sectors {
            least: SECTOR_BYTES as u64,
            most: zoned::LARGEST_ZONE,
        },
    ),
    (
        "share",
        Rule::Ratio {
            least: 0.000_001,
            most: 1.0,
        },
    ),
];

/// Alternating numbers and counts: one pair for each of at most this many regions.
const PAIRS: Rule = Rule::Several {
    most_entries: 2 * MOST_REGIONS,
    least: 0,
    most: u32::MAX as u64,
};
const fn several(least: u64, most: u64) -> Rule {
    Rule::Several {
        most_entries: MOST_VALUES,
        least,
        most,
    }
}

/// Keys of a kind of requests.
pub(super) const KIND: &[(&str, Rule)] = &[
    ("action", Rule::Word(&["read", "write"])),
    ("place", Rule::Word(Place::NAMES)),
    ("group", integer(0, 1023)),
    (
        "sizes_bytes",
        several(SECTOR_BYTES as u64, MAX_REQUEST_BYTES as u64),
    ),
    ("ranks", several(0, 8191)),
    ("distances_bytes", several(0, LARGEST_BYTES)),
    (
        "grid_bytes",
        Rule::Sectors {
            least: SECTOR_BYTES as u64,
            most: MAX_REQUEST_BYTES as u64,
        },
    ),
    ("grid_offset_bytes", GAP_BYTES),
    ("kinds_after", PAIRS),
    ("gaps_before", PAIRS),
];

/// Keys of a class of gaps.
pub(super) const GAP: &[(&str, Rule)] = &[
    ("gaps_ns", several(0, LONGEST_NS)),
    ("gaps_after", PAIRS),
    ("begins_train", Rule::Boolean),
];

/// Keys of a class of trains.
pub(super) const TRAIN: &[(&str, Rule)] = &[("lengths", several(1, 4_000_000))];

/// Keys of a region.
pub(super) const REGION: &[(&str, Rule)] = &[
    ("range_offset_bytes", GAP_BYTES),
    ("range_bytes", GAP_BYTES),
];

/// Keys of a window.
pub(super) const WINDOW: &[(&str, Rule)] = &[
    ("duration_ns", integer(1, LONGEST_NS)),
    ("kinds", PAIRS),
    ("gaps", PAIRS),
    ("regions", PAIRS),
    ("trains", PAIRS),
];

/// Keys of a timed request; also the columns of a file of them.
pub(super) const REQUEST: &[(&str, Rule)] = &[
    ("at_ns", integer(0, LONGEST_NS)),
    ("action", Rule::Word(ACTIONS)),
    ("offset_bytes", GAP_BYTES),
    ("size_bytes", REQUEST_SIZE),
    ("forced", Rule::Boolean),
];

/// Checked keys of one table.
pub(super) struct Table<'a> {
    pub keys: &'static [(&'static str, Rule)],
    pub values: BTreeMap<&'a str, (Value, usize)>,
    /// Where the table begins.
    pub spot: Spot,
}

impl<'a> Table<'a> {
    /// Checks every key except `nested`, the tables that may be inside, with their brackets.
    pub fn read(
        table: &'a DeTable<'_>,
        text: &str,
        line: usize,
        keys: &'static [(&'static str, Rule)],
        nested: &[&str],
    ) -> Result<Self, ScenarioError> {
        let mut values = BTreeMap::new();
        for (key, value) in table {
            let name: &str = key.get_ref();
            if nested
                .iter()
                .any(|table| table.trim_matches(['[', ']']) == name)
            {
                continue;
            }
            let line = line_at(text, key.span().start);
            let value = match value.get_ref() {
                DeValue::Table(_) => Value::Other("(a table)".to_owned()),
                scalar => Value::of(scalar),
            };
            check(keys, name, &value, &Spot { file: None, line }, nested)?;
            values.insert(name, (value, line));
        }
        let spot = Spot { file: None, line };
        Ok(Self { keys, values, spot })
    }

    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    pub fn integer(&self, key: &str) -> Option<u64> {
        match self.values.get(key) {
            Some((Value::Integer(value), _)) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    pub fn integers(&self, key: &str) -> Option<Vec<u64>> {
        match self.values.get(key) {
            // Their rule keeps them at or above 0.
            Some((Value::Integers(values), _)) => {
                Some(values.iter().map(|&value| value as u64).collect())
            }
            _ => None,
        }
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        match self.values.get(key) {
            Some((Value::Integer(value), _)) => Some(*value as f64),
            Some((Value::Float(value), _)) => Some(*value),
            _ => None,
        }
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        match self.values.get(key) {
            Some((Value::Text(value), _)) => Some(value),
            _ => None,
        }
    }

    pub fn is_set(&self, key: &str) -> bool {
        matches!(self.values.get(key), Some((Value::Boolean(true), _)))
    }

    /// Where a key is, or where the table without it begins.
    pub fn spot_of(&self, key: &str) -> Spot {
        let line = self.values.get(key).map(|&(_, line)| line);
        Spot {
            line: line.unwrap_or(self.spot.line),
            ..self.spot.clone()
        }
    }

    pub fn missing(&self, key: &str) -> ScenarioError {
        let rule = self.keys.iter().find(|(name, _)| *name == key);
        ScenarioError::MissingKey {
            spot: self.spot.clone(),
            key: key.to_owned(),
            allowed: rule.map_or_else(String::new, |(_, rule)| rule.allowed()),
        }
    }

    pub fn unfitting(&self, key: &str, reason: String) -> ScenarioError {
        ScenarioError::Unfitting {
            spot: self.spot_of(key),
            reason,
        }
    }
}

/// Checks that `keys` contain `key` and allow `value`.
pub(super) fn check(
    keys: &[(&str, Rule)],
    key: &str,
    value: &Value,
    spot: &Spot,
    nested: &[&str],
) -> Result<(), ScenarioError> {
    let Some((_, rule)) = keys.iter().find(|(name, _)| *name == key) else {
        let names = keys.iter().map(|(name, _)| (*name).to_owned());
        let tables = nested.iter().map(|&table| table.to_owned());
        return Err(ScenarioError::UnknownKey {
            spot: spot.clone(),
            key: key.escape_debug().to_string(),
            meant: meant(
                key,
                keys.iter()
                    .map(|(name, _)| *name)
                    .chain(nested.iter().copied()),
            ),
            valid: names.chain(tables).collect::<Vec<_>>().join(", "),
        });
    };
    if rule.admits(value) {
        return Ok(());
    }
    Err(ScenarioError::WrongValue {
        spot: spot.clone(),
        key: key.to_owned(),
        value: value.to_string(),
        allowed: rule.allowed(),
    })
}

/// The tables of an array of tables, each with the line in which it begins. Empty if the key is
/// missing.
pub(super) fn array<'a, 'b>(
    table: &'a DeTable<'b>,
    key: &str,
    text: &str,
) -> Result<Vec<(&'a DeTable<'b>, usize)>, ScenarioError> {
    let Some(value) = table.get(key) else {
        return Ok(Vec::new());
    };
    let wrong = |value: &Spanned<DeValue<'_>>| ScenarioError::Unfitting {
        spot: Spot {
            file: None,
            line: line_at(text, value.span().start),
        },
        reason: format!("{key} is an array of tables: begin each with [[{key}]]"),
    };
    let DeValue::Array(entries) = value.get_ref() else {
        return Err(wrong(value));
    };
    let of_entry = |entry: &'a Spanned<DeValue<'b>>| match entry.get_ref() {
        DeValue::Table(table) => Ok((table, line_at(text, entry.span().start))),
        _ => Err(wrong(entry)),
    };
    entries.iter().map(of_entry).collect()
}

/// A table by itself, with the line in which it begins. `None` if the key is missing.
pub(super) fn single<'a, 'b>(
    table: &'a DeTable<'b>,
    key: &str,
    text: &str,
) -> Result<Option<(&'a DeTable<'b>, usize)>, ScenarioError> {
    let Some(value) = table.get(key) else {
        return Ok(None);
    };
    let line = line_at(text, value.span().start);
    match value.get_ref() {
        DeValue::Table(table) => Ok(Some((table, line))),
        _ => Err(ScenarioError::Unfitting {
            spot: Spot { file: None, line },
            reason: format!("{key} is a table: begin it with [{key}]"),
        }),
    }
}
