//! A preset with changes, as a drive small enough for a page.
//!
//! ```text
//!   the whole drive      channels x chips x dies x planes, each of B blocks of so many pages
//!   the one simulated    the same, each plane of b blocks: every time and every queue stays,
//!                        and what collection can use of the flash stays the same share
//! ```
//!
//! Values that count blocks of a plane shrink with the planes, but not below what a drive needs. So
//! blocks that are kept back or being filled take a larger part of a small plane. To compensate,
//! the host gets less of it, until
//!
//! ```text
//!   logical / (blocks - kept back - half of those being filled)
//! ```
//!
//! is the same as for the whole drive. Write amplification follows that ratio. A block that is
//! being filled is half full on average. `tests/unit/what_if` measures the remaining effects of
//! scaling.

use drivelab_sim::drive::Prepared;
use drivelab_sim::preset::{self, DriveConfig, MappingScheme, SsdConfig};
use toml::{Table, Value};

use crate::questions::Changed;

/// The least number of blocks of a plane. With fewer, most of it would be kept back or open.
const LEAST_BLOCKS: u32 = 32;
/// Keys of a preset that count blocks of a plane: table, key, and the least that a drive needs.
const BLOCK_COUNTS: [(&str, &str, i64); 4] = [
    ("collection", "reserve_blocks_per_plane", 2),
    ("collection", "stop_blocks_per_plane", 3),
    ("collection", "background_blocks_per_plane", 3),
    ("slc", "blocks_per_plane", 2),
];
/// The name of a changed drive.
const NAME: &str = "what-if";

/// A drive to be simulated, and the drive that it represents.
pub struct Scaled {
    /// The preset of the simulated drive; it reads back as the same drive.
    pub toml: String,
    /// The simulated drive.
    pub config: SsdConfig,
    /// The whole drive.
    pub whole: SsdConfig,
}

impl Scaled {
    /// Makes both.
    ///
    /// # Errors
    /// In a sentence: the preset does not exist or is not an SSD, the values are impossible
    /// together, or the drive cannot be scaled.
    pub fn of(changed: &Changed) -> Result<Self, String> {
        let preset = named(&changed.preset)?;
        let whole = with_changes(&preset, changed)?;
        let blocks = scaled_blocks(&whole, changed.most_pages);
        if blocks == whole.geometry.blocks_per_plane {
            return Ok(Self {
                toml: whole.resolved_toml(),
                config: whole.clone(),
                whole,
            });
        }
        if let Some(reason) = obstacle(&whole) {
            return Err(format!("{}: {reason}", changed.preset));
        }
        let config = shrunk(&whole, blocks)?;
        Ok(Self {
            toml: config.resolved_toml(),
            config,
            whole,
        })
    }

    /// Bytes that its state takes in a worker.
    pub fn state_bytes(&self) -> u64 {
        Prepared::state_bytes(&DriveConfig::Ssd(Box::new(self.config.clone())))
    }
}

/// The reason why the page does not offer an existing preset.
pub fn refusal(name: &str) -> Option<String> {
    match named(name) {
        Ok(config) => obstacle(&config),
        Err(reason) => Some(reason),
    }
}

/// The SSD with this name, without variability between runs.
pub fn named(name: &str) -> Result<SsdConfig, String> {
    let text = preset::text(name).ok_or_else(|| format!("there is no preset {name:?}"))?;
    let config = DriveConfig::from_text(text).map_err(|error| error.to_string())?;
    match config.without_variability() {
        DriveConfig::Ssd(config) => Ok(*config),
        DriveConfig::Hdd(_) => Err("a hard disk has no channels and no flash to change".to_owned()),
        DriveConfig::Raid(_) => Err("an array: choose the drive that it is made of".to_owned()),
    }
}

/// The reason why a drive cannot be scaled down without changing its behaviour.
fn obstacle(config: &SsdConfig) -> Option<String> {
    let scheme = config.mapping.scheme;
    (scheme != MappingScheme::Page).then(|| {
        format!(
            "its map (mapping.scheme = \"{}\") works in numbers of blocks or entries that a smaller \
             drive does not have in proportion",
            scheme.word()
        )
    })
}

/// The whole drive, with the changes.
fn with_changes(preset: &SsdConfig, changed: &Changed) -> Result<SsdConfig, String> {
    let mut table = table_of(preset)?;
    let mut geometry = |key: &str, value: Value| set(&mut table, ("geometry", key), value);
    if let Some(channels) = changed.channels {
        geometry("channels", Value::from(channels));
    }
    if let Some(ways) = changed.ways_per_channel {
        geometry("ways_per_channel", Value::from(ways));
    }
    // If the number of chips changes, the fraction that the host sees stays.
    let spare = changed
        .over_provisioning_ratio
        .unwrap_or_else(|| preset.over_provisioning_ratio());
    let changes_size = changed.channels.is_some() || changed.ways_per_channel.is_some();
    if changes_size || changed.over_provisioning_ratio.is_some() {
        remove(&mut table, ("geometry", "user_capacity_bytes"));
        set(
            &mut table,
            ("geometry", "over_provisioning_ratio"),
            Value::Float(spare),
        );
    }
    for (key, mean) in [
        ("read_cell_ns", changed.read_cell_ns),
        ("program_cell_ns", changed.program_cell_ns),
    ] {
        if let Some(mean) = mean {
            let times = times_of(&table, key)?;
            set(&mut table, ("timing", key), with_mean(&times, mean));
        }
    }
    table.insert("name".to_owned(), Value::from(NAME));
    table.remove("published");
    table.remove("rated_endurance_bytes");
    table.remove("closed_form");
    read_back(&table)
}

/// The number of blocks of a plane that are simulated.
fn scaled_blocks(whole: &SsdConfig, most_pages: u32) -> u32 {
    let blocks = whole.geometry.blocks_per_plane;
    let row = row_pages(whole);
    let wanted = u64::from(most_pages) / row.max(1);
    (wanted.min(u64::from(blocks)) as u32).max(LEAST_BLOCKS.min(blocks))
}

/// Pages in one block of every plane.
fn row_pages(config: &SsdConfig) -> u64 {
    let geometry = &config.geometry;
    [
        geometry.channels,
        geometry.ways_per_channel,
        geometry.dies_per_way,
        geometry.planes_per_die,
        geometry.pages_per_block,
    ]
    .into_iter()
    .map(u64::from)
    .product()
}

/// The drive with `blocks` blocks in each plane.
fn shrunk(whole: &SsdConfig, blocks: u32) -> Result<SsdConfig, String> {
    let mut table = table_of(whole)?;
    let all = whole.geometry.blocks_per_plane;
    let ratio = f64::from(blocks) / f64::from(all);
    let filling = f64::from(whole.policies().open_blocks()) / 2.0;
    let lost = |table: &Table| kept_back(table) as f64 + filling;
    let lost_before = lost(&table);
    for (room, key, least) in BLOCK_COUNTS {
        if let Some(count) = integer(&table, (room, key)) {
            let fewer = (count as f64 * ratio).round() as i64;
            set(&mut table, (room, key), Value::from(fewer.max(least)));
        }
    }
    keep_order(&mut table);
    let geometry = &whole.geometry;
    let page_bytes = u64::from(geometry.page_size_bytes);
    let row = row_pages(whole) as f64;
    let logical = (geometry.user_capacity_bytes / page_bytes) as f64 / row;
    let share = logical / (f64::from(all) - lost_before);
    let pages = (share * (f64::from(blocks) - lost(&table)) * row).floor() as u64;
    let bytes = i64::try_from(pages * page_bytes).map_err(|error| error.to_string())?;
    set(&mut table, ("geometry", "blocks_per_plane"), blocks.into());
    set(
        &mut table,
        ("geometry", "user_capacity_bytes"),
        bytes.into(),
    );
    read_back(&table)
}

/// Blocks of a plane that hold no data in the long run: kept back for collection, or SLC.
fn kept_back(table: &Table) -> i64 {
    [
        ("collection", "reserve_blocks_per_plane"),
        ("slc", "blocks_per_plane"),
    ]
    .into_iter()
    .filter_map(|place| integer(table, place))
    .sum()
}

/// Collection must end above where it begins, even with few blocks in between.
fn keep_order(table: &mut Table) {
    let reserve = integer(table, ("collection", "reserve_blocks_per_plane"));
    for key in ["stop_blocks_per_plane", "background_blocks_per_plane"] {
        let place = ("collection", key);
        if let (Some(reserve), Some(count)) = (reserve, integer(table, place)) {
            set(table, place, Value::from(count.max(reserve + 1)));
        }
    }
}

fn table_of(config: &SsdConfig) -> Result<Table, String> {
    config
        .resolved_toml()
        .parse()
        .map_err(|error| format!("{error}"))
}

fn read_back(table: &Table) -> Result<SsdConfig, String> {
    let text = toml::to_string(table).map_err(|error| error.to_string())?;
    SsdConfig::from_text(&text).map_err(|error| error.without_place())
}

fn set(table: &mut Table, (room, key): (&str, &str), value: Value) {
    let rows = table
        .entry(room)
        .or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(rows) = rows {
        rows.insert(key.to_owned(), value);
    }
}

fn remove(table: &mut Table, (room, key): (&str, &str)) {
    if let Some(Value::Table(rows)) = table.get_mut(room) {
        rows.remove(key);
    }
}

fn integer(table: &Table, (room, key): (&str, &str)) -> Option<i64> {
    table.get(room)?.get(key)?.as_integer()
}

/// The times of each type of page.
fn times_of(table: &Table, key: &str) -> Result<Vec<i64>, String> {
    let value = table.get("timing").and_then(|timing| timing.get(key));
    let times: Vec<i64> = match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_integer).collect(),
        Some(value) => value.as_integer().into_iter().collect(),
        None => Vec::new(),
    };
    if times.is_empty() {
        return Err(format!("the preset has no timing.{key}"));
    }
    Ok(times)
}

/// Their mean, ns.
pub fn mean_ns(config: &SsdConfig, key: &str) -> Result<u64, String> {
    let times = times_of(&table_of(config)?, key)?;
    let sum: i64 = times.iter().sum();
    Ok((sum as f64 / times.len() as f64).round() as u64)
}

/// The same times with another mean.
fn with_mean(times: &[i64], mean: u64) -> Value {
    let before = times.iter().sum::<i64>() as f64 / times.len() as f64;
    let of = |&time: &i64| {
        let scaled = if before > 0.0 {
            time as f64 * mean as f64 / before
        } else {
            mean as f64
        };
        Value::from(scaled.round() as i64)
    };
    match times {
        [one] => of(one),
        several => Value::Array(several.iter().map(of).collect()),
    }
}
