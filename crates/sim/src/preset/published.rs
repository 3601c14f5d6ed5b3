//! The `[published.NAME]` tables of a preset: figures published for the drive.

use std::collections::BTreeMap;

use drivelab_request::Direction;
use serde::{Serialize, Serializer};

use super::assemble::Keys;
use super::error::PresetError;
use super::schema;

/// A published figure: exactly one of the five values, and the conditions assumed for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// Mean latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<u64>,
    /// Requests a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_iops: Option<u64>,
    /// Bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_bytes_per_second: Option<u64>,
    /// Mean time that a hard disk waits for the sector to come round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational_latency_ns: Option<u64>,
    /// Time of a random pass over a file divided by that of a sequential pass; mean over the
    /// request sizes of Boito et al. 2015.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_to_random_ratio: Option<f64>,
    /// The assumed condition, in words.
    pub condition: String,
    /// Relative difference that still counts as agreement.
    pub tolerance_ratio: f64,
    /// Reads or writes.
    #[serde(serialize_with = "by_name")]
    pub direction: Direction,
    /// Requests in flight.
    pub queue_depth: u32,
    /// Bytes of a request; `None` if many sizes are combined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u32>,
    /// Fraction of requests at random offsets; `None` if two kinds of passes are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_ratio: Option<f64>,
    /// The accessed range; `None` for the whole drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_bytes: Option<u64>,
}

fn by_name<S: Serializer>(direction: &Direction, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(direction.name())
}

fn direction_named(name: &str) -> Option<Direction> {
    Direction::ALL
        .into_iter()
        .find(|direction| direction.name() == name)
}

/// Reads the tables.
pub(super) fn published(keys: &Keys<'_>) -> Result<BTreeMap<String, Published>, PresetError> {
    let mut figures = BTreeMap::new();
    for key in keys.entries.keys() {
        let mut parts = key.split('.');
        let (Some("published"), Some(name)) = (parts.next(), parts.next()) else {
            continue;
        };
        if !figures.contains_key(name) {
            figures.insert(name.to_owned(), figure(keys, name)?);
        }
    }
    Ok(figures)
}

fn figure(keys: &Keys<'_>, name: &str) -> Result<Published, PresetError> {
    let path = |last: &str| format!("published.{name}.{last}");
    let ratio = path("sequential_to_random_ratio");
    let compares_passes = keys.entry(&ratio).is_some();
    let figure = Published {
        latency_ns: keys.optional_integer(&path("latency_ns"))?,
        throughput_iops: keys.optional_integer(&path("throughput_iops"))?,
        bandwidth_bytes_per_second: keys.optional_integer(&path("bandwidth_bytes_per_second"))?,
        rotational_latency_ns: keys.optional_integer(&path("rotational_latency_ns"))?,
        sequential_to_random_ratio: compares_passes.then(|| keys.ratio(&ratio)).transpose()?,
        condition: keys.text(&path("condition"))?,
        tolerance_ratio: keys.ratio(&path("tolerance_ratio"))?,
        direction: keys.word(&path("direction"), direction_named)?,
        queue_depth: keys.integer(&path("queue_depth"))?,
        size_bytes: (!compares_passes)
            .then(|| keys.integer(&path("size_bytes")))
            .transpose()?,
        random_ratio: (!compares_passes)
            .then(|| keys.ratio(&path("random_ratio")))
            .transpose()?,
        range_bytes: keys.optional_integer(&path("range_bytes"))?,
    };
    let values = [
        figure.latency_ns.is_some(),
        figure.throughput_iops.is_some(),
        figure.bandwidth_bytes_per_second.is_some(),
        figure.rotational_latency_ns.is_some(),
        compares_passes,
    ];
    if values.into_iter().filter(|&is_there| is_there).count() != 1 {
        let allowed = "exactly one of latency_ns, throughput_iops, bandwidth_bytes_per_second, \
                       rotational_latency_ns, sequential_to_random_ratio";
        return Err(keys.missing(&format!("published.{name}"), allowed.to_owned()));
    }
    let rotation = path("rotational_latency_ns");
    if let Some(entry) = keys.entry(&rotation)
        && keys.entry("mechanics.rotation_rpm").is_none()
    {
        let allowed = "nothing; only a hard disk rotates".to_owned();
        return Err(schema::wrong_value(&rotation, entry, allowed));
    }
    if compares_passes && figure.range_bytes.is_none() {
        let allowed = "the bytes of the file, as sequential_to_random_ratio is given";
        return Err(keys.missing(&path("range_bytes"), allowed.to_owned()));
    }
    Ok(figure)
}
