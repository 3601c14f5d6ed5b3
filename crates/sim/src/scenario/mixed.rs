//! Streams with requests of several sizes, or with a part of their range that is accessed more
//! often.
//!
//! ```text
//!   sizes_bytes = [4096, 4096, 8192]      two requests in three are of 4 KiB
//!   hot_range_ratio = 0.2                 the first fifth of the range ...
//!   hot_access_ratio = 0.8                ... gets four requests in five
//! ```

use std::collections::BTreeMap;

use drivelab_request::SECTOR_BYTES;
use drivelab_workload::{Characteristics, Stimulus};

use super::error::ScenarioError;
use super::table::Table;
use crate::preset::schema::Rule;

pub(super) const SIZES: &str = "sizes_bytes";
pub(super) const HOT_RANGE: &str = "hot_range_ratio";
pub(super) const HOT_ACCESSES: &str = "hot_access_ratio";
/// The most sizes of one stream.
pub(super) const MOST_SIZES: usize = 64;

/// A fraction that is neither nothing nor everything.
pub(super) const SHARE: Rule = Rule::Ratio {
    least: 0.000_001,
    most: 0.999_999,
};

/// Keys that contradict the keys of such a stream, or that need places in order.
const NOT_BESIDE: [&str; 3] = ["read_stride_bytes", "write_stride_bytes", "each_place_once"];

/// The requests of a stream with one of these keys.
pub(super) fn mixture_of(
    table: &Table<'_>,
    characteristics: &Characteristics,
) -> Result<Option<Stimulus>, ScenarioError> {
    let all = [SIZES, HOT_RANGE, HOT_ACCESSES];
    let Some(key) = all.into_iter().find(|key| table.has(key)) else {
        return Ok(None);
    };
    if let Some(other) = NOT_BESIDE.into_iter().find(|other| table.has(other)) {
        let reason = format!("{other} has no effect beside {key}; remove one of them");
        return Err(table.unfitting(other, reason));
    }
    let is_random = is_random(table, key, characteristics)?;
    let Some(range_bytes) = table.integer("range_bytes") else {
        return Err(table.missing("range_bytes"));
    };
    Ok(Some(Stimulus {
        read_ratio: 1.0 - characteristics.write_ratio,
        is_random,
        sizes: sizes_of(table, characteristics)?,
        zones: zones_of(table, is_random)?,
        threads: 1,
        queue_depth: characteristics.queue_depth,
        range_start: table.integer("range_offset_bytes").unwrap_or(0),
        range_bytes,
        begin_bytes: 0,
    }))
}

/// Fractions of the accesses and of the range.
fn zones_of(table: &Table<'_>, is_random: bool) -> Result<Vec<(f64, f64)>, ScenarioError> {
    match (table.number(HOT_RANGE), table.number(HOT_ACCESSES)) {
        (Some(_), Some(_)) if !is_random => {
            let reason = format!("{HOT_RANGE} is for requests at random; set read_random to 1");
            Err(table.unfitting(HOT_RANGE, reason))
        }
        (Some(range), Some(accesses)) => Ok(vec![(accesses, range), (1.0 - accesses, 1.0 - range)]),
        (None, None) => Ok(vec![(1.0, 1.0)]),
        (Some(_), None) => Err(table.missing(HOT_ACCESSES)),
        (None, Some(_)) => Err(table.missing(HOT_RANGE)),
    }
}

/// Whether requests go to random places. Either all do or none.
fn is_random(
    table: &Table<'_>,
    key: &str,
    characteristics: &Characteristics,
) -> Result<bool, ScenarioError> {
    let writes = characteristics.write_ratio;
    let shares = [
        ("read_random", 1.0 - writes, characteristics.read_random),
        ("write_random", writes, characteristics.write_random),
    ];
    // The setting for a direction that is never sent has no effect.
    let asked: Vec<_> = shares.iter().filter(|(_, share, _)| *share > 0.0).collect();
    for (name, _, random) in &asked {
        if *random > 0.0 && *random < 1.0 {
            let reason =
                format!("{name} is {random}; allowed beside {key}: 0 (in order) or 1 (random)");
            return Err(table.unfitting(name, reason));
        }
    }
    if asked.len() == 2 && asked[0].2 != asked[1].2 {
        let reason =
            format!("read_random differs from write_random; allowed beside {key}: the same");
        return Err(table.unfitting("read_random", reason));
    }
    Ok(asked.iter().any(|(_, _, random)| *random > 0.0))
}

/// Each size with its fraction of the requests.
fn sizes_of(
    table: &Table<'_>,
    characteristics: &Characteristics,
) -> Result<Vec<(u32, f64)>, ScenarioError> {
    let Some(listed) = table.integers(SIZES) else {
        let (read, write) = (characteristics.read_size, characteristics.write_size);
        if read == write {
            return Ok(vec![(read, 1.0)]);
        }
        let reason = format!(
            "reads have {read} bytes and writes {write}; allowed beside {HOT_RANGE}: the same"
        );
        return Err(table.unfitting(HOT_RANGE, reason));
    };
    for key in ["read_size_bytes", "write_size_bytes"] {
        if table.has(key) {
            let reason = format!("{key} has no effect beside {SIZES}; remove one of them");
            return Err(table.unfitting(key, reason));
        }
    }
    if listed.is_empty() {
        let reason = format!("{SIZES} is empty; allowed: 1 to {MOST_SIZES} sizes");
        return Err(table.unfitting(SIZES, reason));
    }
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for &size in &listed {
        if !size.is_multiple_of(u64::from(SECTOR_BYTES)) {
            let reason = format!("{SIZES} has {size}; allowed: multiples of {SECTOR_BYTES}");
            return Err(table.unfitting(SIZES, reason));
        }
        // Its rule keeps it within 32 bits.
        *counts.entry(size as u32).or_default() += 1;
    }
    let all = listed.len() as f64;
    let share = |(size, count): (u32, u32)| (size, f64::from(count) / all);
    Ok(counts.into_iter().map(share).collect())
}
