//! The resolved description of one hard disk, and its keys.

use std::collections::BTreeMap;

use drivelab_request::SECTOR_BYTES;
use serde::Serialize;

use super::assemble::Keys;
use super::choices::{BufferPolicy, DriveKind, HostInterface, SeekOrder};
use super::config::Host;
use super::document::Entries;
use super::error::PresetError;
use super::exclusion;
use super::host::{COMMANDS_OF_DISKS, link};
use super::key::{Key, key};
use super::published::{Published, published};
use super::schema::{self, LONGEST_NS, Rule, TIME, integer};
use super::variability::{Variability, variability};
use crate::hdd::{Rotation, SeekTimes};

/// Largest read cache (all segments) or write cache, far above that of any real disk.
const MOST_CACHE_BYTES: u64 = 1 << 32;

/// The interfaces that disks have.
const INTERFACES: &[&str] = &[
    HostInterface::Free.word(),
    HostInterface::Sata.word(),
    HostInterface::Sas.word(),
];

/// The keys of a disk, in addition to those of every drive.
pub(super) const KEYS: &[Key] = &[
    key("geometry.heads", integer(1, 64)),
    key(
        "geometry.zone_cylinders",
        Rule::Integers {
            least: 1,
            most: 1 << 20,
        },
    ),
    key(
        "geometry.zone_sectors_per_track",
        Rule::Integers {
            least: 1,
            most: 1 << 16,
        },
    )
    .fitted_with("media_rate", 4),
    key(
        "geometry.user_capacity_bytes",
        Rule::Sectors {
            least: 512,
            most: 1 << 50,
        },
    )
    .usually_as("all that the zones hold"),
    key("mechanics.rotation_rpm", integer(1000, 50_000)).fitted(2, 1),
    key("mechanics.single_cylinder_seek_ns", integer(0, LONGEST_NS)).fitted_with("seeks", 1),
    key("mechanics.average_seek_ns", integer(0, LONGEST_NS)).fitted_with("seeks", 1),
    key("mechanics.full_stroke_seek_ns", integer(0, LONGEST_NS)).fitted_with("seeks", 1),
    key("mechanics.head_switch_ns", TIME).fitted(3, 1),
    key("mechanics.write_settle_ns", TIME).usually(0),
    key("mechanics.track_skew_ns", TIME).usually_as("`mechanics.head_switch_ns`"),
    key("mechanics.cylinder_skew_ns", TIME).usually_as("`mechanics.single_cylinder_seek_ns`"),
    key("scheduling.order", Rule::Word(SeekOrder::WORDS)),
    key("scheduling.destage_window", integer(1, 1024)).usually(32),
    key("cache.read_segments", integer(0, 256)),
    key(
        "cache.segment_bytes",
        Rule::Sectors {
            least: 512,
            most: MOST_CACHE_BYTES,
        },
    ),
    key("cache.read_ahead", Rule::Boolean).needed(),
    key(
        "cache.write_cache_bytes",
        Rule::Sectors {
            least: 0,
            most: MOST_CACHE_BYTES,
        },
    )
    .fitted(5, 512),
    key("cache.policy", Rule::Word(BufferPolicy::WORDS)).usual_word(BufferPolicy::WriteBack.word()),
    key("host.interface", Rule::Word(INTERFACES)),
    key(
        "host.link_bytes_per_second",
        integer(1_000_000, 1_000_000_000_000),
    )
    .fitted(6, 1),
    key(
        "host.link_gigabits_per_second",
        Rule::Ratio {
            least: 1.5,
            most: 12.0,
        },
    ),
    key("host.commands", integer(1, 65_536)).usually_as(COMMANDS_OF_DISKS),
    key("host.read_command_ns", TIME).fitted(7, 1),
    key("host.write_command_ns", TIME).fitted(8, 1),
    key("host.write_acknowledge_ns", TIME).fitted(9, 1),
    key("host.flush_command_ns", TIME).usually_as("`host.write_command_ns`"),
];

/// One hard disk. All numbers have been checked against one another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HddConfig {
    /// The preset's name.
    pub name: String,
    /// The kind of drive.
    pub kind: DriveKind,
    /// One line for lists of drives.
    pub summary: String,
    /// Where sectors lie.
    pub geometry: DiskGeometry,
    /// How arm and platters move.
    pub mechanics: Mechanics,
    /// In what order accesses are served.
    pub scheduling: DiskScheduling,
    /// The disk's memory.
    pub cache: DiskCache,
    /// The link to the host.
    pub host: Host,
    /// Differences between runs.
    pub variability: Variability,
    /// Figures published for the drive, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, Published>,
}

/// Where sectors lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiskGeometry {
    /// Recorded surfaces, that is tracks of a cylinder.
    pub heads: u32,
    /// Cylinders of each zone, from the outer edge.
    pub zone_cylinders: Vec<u32>,
    /// Sectors of 512 bytes on a track, by zone.
    pub zone_sectors_per_track: Vec<u32>,
    /// Bytes that the host sees. Sectors behind them are spare.
    pub user_capacity_bytes: u64,
}

/// How arm and platters move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mechanics {
    /// Revolutions a minute.
    pub rotation_rpm: u32,
    /// A seek to the next cylinder.
    pub single_cylinder_seek_ns: u64,
    /// A seek between two cylinders drawn at random.
    pub average_seek_ns: u64,
    /// A seek from the outermost cylinder to the innermost.
    pub full_stroke_seek_ns: u64,
    /// A switch to another head of the cylinder.
    pub head_switch_ns: u64,
    /// Extra settling time of a write after a seek or switch.
    pub write_settle_ns: u64,
    /// How much later a track begins than the track before it on its cylinder.
    pub track_skew_ns: u64,
    /// How much later the first track of a cylinder begins than the last track of the cylinder
    /// before.
    pub cylinder_skew_ns: u64,
}

/// In what order accesses are served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiskScheduling {
    /// Which waiting access goes next.
    pub order: SeekOrder,
    /// How many of the oldest extents in the write cache compete with other accesses; `None`
    /// without a write cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destage_window: Option<u32>,
}

/// The disk's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiskCache {
    /// Runs of sectors kept for reads; 0 for none.
    pub read_segments: u32,
    /// The longest such run; `None` without segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_bytes: Option<u64>,
    /// After a read, the disk reads on until another command comes or the segment is full.
    pub read_ahead: bool,
    /// Bytes that may wait for the platters after their write completed; 0 for none.
    pub write_cache_bytes: u64,
    /// When a write completes.
    pub policy: BufferPolicy,
}

impl HddConfig {
    /// Zones from the outer edge, each as (cylinders, sectors of a track).
    #[must_use]
    pub fn zones(&self) -> Vec<(u32, u32)> {
        let cylinders = self.geometry.zone_cylinders.iter().copied();
        cylinders
            .zip(self.geometry.zone_sectors_per_track.iter().copied())
            .collect()
    }

    /// The points through which the seek curve goes.
    #[must_use]
    pub const fn seek_times(&self) -> SeekTimes {
        SeekTimes {
            single_cylinder: self.mechanics.single_cylinder_seek_ns,
            average: self.mechanics.average_seek_ns,
            full_stroke: self.mechanics.full_stroke_seek_ns,
        }
    }

    /// Whether a write completes before it is on the platters.
    #[must_use]
    pub fn writes_back(&self) -> bool {
        self.cache.policy == BufferPolicy::WriteBack && self.cache.write_cache_bytes > 0
    }
}

/// Builds the disk from its keys.
pub(super) fn assemble(entries: &Entries) -> Result<HddConfig, PresetError> {
    let keys = Keys::new(entries, DriveKind::Hdd);
    exclusion::check(&keys)?;
    let cache = cache(&keys)?;
    let keeps_writes = cache.write_cache_bytes > 0;
    let window = keys.integer_or_usual("scheduling.destage_window")?;
    let config = HddConfig {
        name: keys.text("name")?,
        kind: DriveKind::Hdd,
        summary: keys.text("summary")?,
        geometry: geometry(&keys)?,
        mechanics: mechanics(&keys)?,
        scheduling: DiskScheduling {
            order: keys.word("scheduling.order", SeekOrder::from_word)?,
            destage_window: keeps_writes.then_some(window),
        },
        cache,
        host: link(&keys)?,
        variability: variability(&keys)?,
        published: published(&keys)?,
    };
    Ok(config)
}

fn geometry(keys: &Keys<'_>) -> Result<DiskGeometry, PresetError> {
    let (cylinders_key, sectors_key) =
        ("geometry.zone_cylinders", "geometry.zone_sectors_per_track");
    let heads: u32 = keys.integer("geometry.heads")?;
    let zone_cylinders = keys.integers(cylinders_key)?;
    let zone_sectors_per_track = keys.integers(sectors_key)?;
    let (zones, given) = (zone_cylinders.len(), zone_sectors_per_track.len());
    if zones != given {
        let allowed = format!("as many entries as zone_cylinders has zones, {zones}, not {given}");
        return Err(schema::wrong_value(
            sectors_key,
            keys.need(sectors_key)?,
            allowed,
        ));
    }
    let cylinders: u64 = zone_cylinders.iter().copied().map(u64::from).sum();
    const MOST_CYLINDERS: u64 = 1 << 22;
    if cylinders > MOST_CYLINDERS {
        let allowed = format!("at most {MOST_CYLINDERS} cylinders in all, not {cylinders}");
        return Err(schema::wrong_value(
            cylinders_key,
            keys.need(cylinders_key)?,
            allowed,
        ));
    }
    let zone = |(&cylinders, &sectors): (&u32, &u32)| u64::from(cylinders) * u64::from(sectors);
    let tracks = zone_cylinders.iter().zip(&zone_sectors_per_track).map(zone);
    let bytes = tracks.sum::<u64>() * u64::from(heads) * u64::from(SECTOR_BYTES);
    let key = "geometry.user_capacity_bytes";
    let user_capacity_bytes = keys.optional_integer(key)?.unwrap_or(bytes);
    if user_capacity_bytes > bytes {
        let entry = keys.need(key)?;
        let mut allowed = format!("at most what the zones hold, {bytes}");
        if keys.is_inherited(entry) {
            allowed += &format!("; give {key} too, as the heads or zones are others than its");
        }
        return Err(schema::wrong_value(key, entry, allowed));
    }
    Ok(DiskGeometry {
        heads,
        zone_cylinders,
        zone_sectors_per_track,
        user_capacity_bytes,
    })
}

fn mechanics(keys: &Keys<'_>) -> Result<Mechanics, PresetError> {
    let single_cylinder_seek_ns = keys.integer("mechanics.single_cylinder_seek_ns")?;
    let full_stroke_seek_ns = keys.integer("mechanics.full_stroke_seek_ns")?;
    let average_seek_ns = keys.integer("mechanics.average_seek_ns")?;
    let head_switch_ns = keys.integer("mechanics.head_switch_ns")?;
    if full_stroke_seek_ns < single_cylinder_seek_ns {
        let key = "mechanics.full_stroke_seek_ns";
        let allowed = format!("at least single_cylinder_seek_ns, {single_cylinder_seek_ns}");
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    let (least, most) = SeekTimes::possible_averages(single_cylinder_seek_ns, full_stroke_seek_ns);
    if !(least..=most).contains(&average_seek_ns) {
        let key = "mechanics.average_seek_ns";
        let allowed = format!(
            "from {least} to {most}: with single_cylinder_seek_ns and full_stroke_seek_ns a curve \
             that rises and bends down"
        );
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    let rotation_rpm = keys.integer("mechanics.rotation_rpm")?;
    let revolution_ns = u64::from(Rotation::of_rpm(rotation_rpm).revolution());
    // By default the first sector arrives just when the head is there.
    let skew = |key: &str, needed: u64| -> Result<u64, PresetError> {
        match keys.optional_integer(key)? {
            Some(given) if given >= revolution_ns => {
                let allowed = format!("less than a revolution, {revolution_ns}");
                Err(schema::wrong_value(key, keys.need(key)?, allowed))
            }
            given => Ok(given.unwrap_or(needed)),
        }
    };
    Ok(Mechanics {
        rotation_rpm,
        single_cylinder_seek_ns,
        average_seek_ns,
        full_stroke_seek_ns,
        head_switch_ns,
        write_settle_ns: keys.integer_or_usual("mechanics.write_settle_ns")?,
        track_skew_ns: skew("mechanics.track_skew_ns", head_switch_ns)?,
        cylinder_skew_ns: skew("mechanics.cylinder_skew_ns", single_cylinder_seek_ns)?,
    })
}

fn cache(keys: &Keys<'_>) -> Result<DiskCache, PresetError> {
    let read_segments = keys.integer("cache.read_segments")?;
    let segment_bytes = keys.optional_integer("cache.segment_bytes")?;
    if read_segments > 0 {
        let key = "cache.segment_bytes";
        let given = keys.need(key)?;
        let most = MOST_CACHE_BYTES / u64::from(read_segments);
        if segment_bytes.is_some_and(|bytes| bytes > most) {
            let allowed = format!("at most {most}, as cache.read_segments is {read_segments}");
            return Err(schema::wrong_value(key, given, allowed));
        }
    }
    let write_cache_bytes = keys.integer("cache.write_cache_bytes")?;
    let policy = keys.word_or_usual("cache.policy", BufferPolicy::from_word)?;
    // Settings without effect are left out of the result.
    Ok(DiskCache {
        read_segments,
        segment_bytes: segment_bytes.filter(|_| read_segments > 0),
        read_ahead: read_segments > 0 && keys.boolean("cache.read_ahead")?,
        write_cache_bytes,
        policy: match write_cache_bytes {
            0 => BufferPolicy::WriteBack,
            _ => policy,
        },
    })
}
