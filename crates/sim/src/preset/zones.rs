//! The keys of `[zones]`: the zoned namespaces of NVMe, where the host writes the drive zone by
//! zone.

use drivelab_ftl::ZonePolicies;
use drivelab_request::SECTOR_BYTES;
use serde::Serialize;

use super::assemble::Keys;
use super::config::SsdConfig;
use super::error::PresetError;
use super::key::{Key, key};
use super::schema::{self, Rule, TIME, integer};

const SIZE: &str = "zones.size_bytes";
const CAPACITY: &str = "zones.capacity_bytes";
const PLANES: &str = "zones.planes";
const OPEN: &str = "zones.most_open";
const ACTIVE: &str = "zones.most_active";
const APPEND: &str = "zones.most_append_bytes";
const RESET: &str = "zones.reset_ns";
const WAITS: &str = "zones.reset_waits";
const FINISH: &str = "zones.finish_ns";
const FINISH_PAGE: &str = "zones.finish_page_ns";

/// Four GiB: a request's size has 32 bits.
const LARGEST: u64 = 1 << 32;

const ZONE_BYTES: Rule = Rule::Sectors {
    least: SECTOR_BYTES as u64,
    most: LARGEST - SECTOR_BYTES as u64,
};

pub(super) const KEYS: &[Key] = &[
    key(SIZE, ZONE_BYTES),
    key(CAPACITY, ZONE_BYTES).usually_as("`zones.size_bytes`"),
    key(PLANES, integer(1, 1 << 20)).usually_as("every plane"),
    key(OPEN, integer(1, 1 << 20)).usually_as("`zones.most_active`"),
    key(ACTIVE, integer(1, 1 << 20)).usually_as("every zone"),
    key(APPEND, ZONE_BYTES).usually_as("`zones.capacity_bytes`"),
    key(RESET, TIME).usually(0),
    key(WAITS, Rule::Boolean),
    key(FINISH, TIME).usually(0),
    key(FINISH_PAGE, TIME).usually(0),
];

/// Zones that a host writes in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Zones {
    /// Distance from the beginning of one zone to the next.
    pub size_bytes: u64,
    /// The part of a zone that can be written, from its beginning on.
    pub capacity_bytes: u64,
    /// Number of planes over which a zone is spread.
    pub planes: u32,
    /// The most zones that may be open at once.
    pub most_open: u32,
    /// The most zones that may be partly written (active) at once.
    pub most_active: u32,
    /// The largest append.
    pub most_append_bytes: u64,
    /// Controller time of a reset, without its erases.
    pub reset_ns: u64,
    /// Whether a reset completes only when the blocks are erased.
    #[serde(skip_serializing_if = "is_off")]
    pub reset_waits: bool,
    /// Controller time to finish a zone.
    pub finish_ns: u64,
    /// Additional time for each page that was not written.
    pub finish_page_ns: u64,
}

fn is_off(value: &bool) -> bool {
    !*value
}

/// The section, if any of its keys is given. The size is then required.
pub(super) fn zones(keys: &Keys<'_>) -> Result<Option<Zones>, PresetError> {
    if KEYS.iter().all(|row| keys.entry(row.name).is_none()) {
        return Ok(None);
    }
    let size_bytes: u64 = keys.integer(SIZE)?;
    let capacity_bytes = keys.optional_integer(CAPACITY)?.unwrap_or(size_bytes);
    let planes = [
        "geometry.channels",
        "geometry.ways_per_channel",
        "geometry.dies_per_way",
        "geometry.planes_per_die",
    ];
    let mut all_planes = 1_u32;
    for factor in planes {
        all_planes = all_planes.saturating_mul(keys.integer(factor)?);
    }
    let [bytes_key, _] = super::document::CAPACITY_KEYS;
    let user_bytes: u64 = keys.integer(bytes_key)?;
    if !user_bytes.is_multiple_of(size_bytes) {
        let allowed = format!("a multiple of {SIZE}, {size_bytes}: whole zones");
        return Err(schema::wrong_value(
            bytes_key,
            keys.need(bytes_key)?,
            allowed,
        ));
    }
    let zones = u32::try_from(user_bytes / size_bytes).unwrap_or(u32::MAX);
    let most_active = keys.optional_integer(ACTIVE)?.unwrap_or(zones);
    Ok(Some(Zones {
        size_bytes,
        capacity_bytes,
        planes: keys.optional_integer(PLANES)?.unwrap_or(all_planes),
        most_open: keys.optional_integer(OPEN)?.unwrap_or(most_active),
        most_active,
        most_append_bytes: keys.optional_integer(APPEND)?.unwrap_or(capacity_bytes),
        reset_ns: keys.integer_or_usual(RESET)?,
        reset_waits: keys.switch(WAITS)?,
        finish_ns: keys.integer_or_usual(FINISH)?,
        finish_page_ns: keys.integer_or_usual(FINISH_PAGE)?,
    }))
}

/// Refuses what a drive with zones cannot do.
pub(super) fn check(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    match &config.zones {
        Some(zones) => check_sizes(config, zones, keys),
        None => Ok(()),
    }
}

/// Refuses zones that do not consist of whole blocks and pages, and limits that contradict one
/// another.
fn check_sizes(config: &SsdConfig, zones: &Zones, keys: &Keys<'_>) -> Result<(), PresetError> {
    let wrong = |key: &str, allowed: String| {
        // If the key is not given, its value follows from the size.
        let named = if keys.entry(key).is_some() { key } else { SIZE };
        Err(schema::wrong_value(named, keys.need(named)?, allowed))
    };
    let page = u64::from(config.geometry.page_size_bytes);
    if !zones.size_bytes.is_multiple_of(page) {
        return wrong(SIZE, format!("a multiple of the page size, {page}"));
    }
    let planes = config.planes();
    if !planes.is_multiple_of(zones.planes) {
        return wrong(PLANES, format!("a divisor of the drive's {planes} planes"));
    }
    let pages = u64::from(config.geometry.pages_per_block);
    let row = u64::from(zones.planes) * pages * page;
    if !zones.capacity_bytes.is_multiple_of(row) || zones.capacity_bytes > zones.size_bytes {
        let allowed = format!(
            "a multiple of {row}, a block on each of the {} planes of a zone, up to {SIZE}, {}",
            zones.planes, zones.size_bytes
        );
        return wrong(CAPACITY, allowed);
    }
    if !zones.most_append_bytes.is_multiple_of(page) {
        return wrong(APPEND, format!("a multiple of the page size, {page}"));
    }
    if zones.most_open > zones.most_active {
        let allowed = format!(
            "at most {ACTIVE}, {}, as every open zone is active",
            zones.most_active
        );
        return wrong(OPEN, allowed);
    }
    Ok(())
}

/// Refuses more zones than the flash holds.
pub(super) fn check_fit(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    let Some(policies) = config.zone_policies() else {
        return Ok(());
    };
    let groups = config.planes() / policies.planes;
    let most = u64::from(policies.slots_per_group(&config.layout())) * u64::from(groups);
    if u64::from(config.zone_count()) <= most {
        return Ok(());
    }
    let key = "geometry.user_capacity_bytes";
    let size = u64::from(policies.zone_pages) * u64::from(config.geometry.page_size_bytes);
    let allowed = match most {
        0 => "more geometry.blocks_per_plane, or a smaller zones.capacity_bytes: the flash does \
              not hold one zone"
            .to_owned(),
        _ => format!("at most {}: the flash holds {most} zones", most * size),
    };
    Err(schema::wrong_value(key, keys.need(key)?, allowed))
}

impl SsdConfig {
    /// The policies of a firmware with zones; `None` for any other.
    #[must_use]
    pub fn zone_policies(&self) -> Option<ZonePolicies> {
        let zones = self.zones?;
        let page = u64::from(self.geometry.page_size_bytes);
        let pages = |bytes: u64| u32::try_from(bytes / page).unwrap_or(u32::MAX);
        Some(ZonePolicies {
            zone_pages: pages(zones.size_bytes),
            capacity_pages: pages(zones.capacity_bytes),
            planes: zones.planes,
            most_open: zones.most_open,
            most_active: zones.most_active,
            most_append_pages: pages(zones.most_append_bytes),
        })
    }

    /// The number of zones; 0 for a drive without zones.
    #[must_use]
    pub fn zone_count(&self) -> u32 {
        let count = |zones: &Zones| self.geometry.user_capacity_bytes / zones.size_bytes;
        self.zones.as_ref().map_or(0, |zones| count(zones) as u32)
    }

    /// How many zones are full when this many pages of the drive are filled. Only whole zones
    /// count, but at least one if any page is filled.
    pub(crate) fn full_zones(&self, pages: u32) -> u32 {
        let Some(policies) = self.zone_policies().filter(|_| pages > 0) else {
            return 0;
        };
        let zones = f64::from(pages) / f64::from(policies.zone_pages);
        (zones.round() as u32).clamp(1, self.zone_count())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use crate::preset::{PresetError, SsdConfig};

    /// Two planes of 64 blocks of 16 pages: a row of blocks has 131,072 bytes.
    const ZONES: &str = "zones.size_bytes = 262144\nzones.capacity_bytes = 131072\n\
                         geometry.user_capacity_bytes = 2097152\n";

    fn derived(lines: &str) -> Result<SsdConfig, PresetError> {
        let base = "name = \"base\"\nkind = \"ssd\"\nsummary = \"s\"\ncondition = \"filled\"\n\
            geometry.channels = 2\ngeometry.ways_per_channel = 1\ngeometry.dies_per_way = 1\n\
            geometry.planes_per_die = 1\ngeometry.blocks_per_plane = 64\n\
            geometry.pages_per_block = 16\ngeometry.page_size_bytes = 4096\n\
            geometry.plane_mode = false\ntiming.read_dispatch_ns = 0\n\
            timing.write_dispatch_ns = 0\ntiming.erase_dispatch_ns = 0\n\
            timing.read_register_ns = 1\ntiming.write_register_ns = 1\n\
            timing.read_cell_ns = 1\ntiming.program_cell_ns = 1\ntiming.erase_cell_ns = 1\n\
            scheduling.dispatch = \"per_die\"\ncollection.policy = \"greedy\"\n\
            collection.pace = \"paced\"\nhost.interface = \"free\"\n\
            buffer.write_buffer_bytes = 65536\nvariability.sigma = 0.0\n";
        let text = format!("base = \"base\"\nname = \"mine\"\n{lines}\n");
        SsdConfig::from_toml(&text, |name| (name == "base").then(|| base.to_owned()))
    }

    #[test]
    fn zones_are_part_of_the_drive_and_read_back() {
        let drive = derived(ZONES).unwrap();
        let policies = drive.zone_policies().unwrap();
        assert_eq!((policies.zone_pages, policies.capacity_pages), (64, 32));
        assert_eq!((policies.planes, policies.most_open), (2, 8));
        assert_eq!(drive.zone_count(), 8);
        assert_eq!(SsdConfig::from_text(&drive.resolved_toml()).unwrap(), drive);
        let other = derived(&format!("{ZONES}zones.most_open = 3\n")).unwrap();
        assert_ne!(drive.hash(), other.hash());
        let waits = derived(&format!("{ZONES}zones.reset_waits = true\n")).unwrap();
        assert_eq!(SsdConfig::from_text(&waits.resolved_toml()).unwrap(), waits);
        // 8 zones of 128 KiB on 8 MiB.
        assert!((drive.over_provisioning_ratio() - 7.0).abs() < 1e-9);
        let half = derived(&format!("{ZONES}occupancy.filled = 0.5\n")).unwrap();
        assert_eq!(
            half.filled_words(),
            "4 of 8 zones are full, the others empty"
        );
    }

    #[test]
    fn it_refuses_what_cannot_be_or_has_no_effect() {
        for (lines, expected) in [
            (
                "zones.most_open = 5\nzones.most_active = 4",
                "allowed: at most zones.most_active, 4",
            ),
            (
                "zones.planes = 3",
                "allowed: a divisor of the drive's 2 planes",
            ),
            (
                "zones.most_append_bytes = 512",
                "a multiple of the page size, 4096",
            ),
            (
                "mapping.scheme = \"bast\"",
                "allowed: \"page\", as a drive with [zones] maps zones",
            ),
            (
                "mapping.allocation = \"round_robin\"",
                "\"static\", as a drive with [zones] writes",
            ),
            (
                "placement.handles = 2",
                "allowed: none, as a drive with [zones] learns from its zones",
            ),
            ("wear.static_spread = 3", "moves nothing"),
            ("wear.least_worn_first = true", "does so anyway"),
            ("collection.temperature_classes = 3", "collects nothing"),
            (
                "buffer.read_cache_bytes = 4096",
                "allowed: 0, as a drive with [zones] keeps",
            ),
            (
                "buffer.flush_start_bytes = 4096",
                "allowed: 0, as a drive with [zones] programs",
            ),
            ("occupancy.order = \"random\"", "allowed: \"in_order\""),
            ("occupancy.steady = true", "every state is steady"),
        ] {
            let message = derived(&format!("{ZONES}{lines}")).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
            assert_eq!(message.lines().count(), 1);
        }
        for (lines, expected) in [
            (
                "zones.size_bytes = 200704\ngeometry.user_capacity_bytes = 2007040",
                "a multiple of 131072, a block on each of the 2 planes",
            ),
            (
                "zones.size_bytes = 133120\ngeometry.user_capacity_bytes = 1331200",
                "a multiple of the page size, 4096",
            ),
            (
                "zones.size_bytes = 262144\ngeometry.user_capacity_bytes = 2101248",
                "a multiple of zones.size_bytes, 262144: whole zones",
            ),
            (
                "zones.size_bytes = 262144\ngeometry.over_provisioning_ratio = 0.1",
                "give geometry.user_capacity_bytes, the zones times",
            ),
            (
                "zones.size_bytes = 131072\ngeometry.user_capacity_bytes = 9437184",
                "allowed: at most 8388608: the flash holds 64 zones",
            ),
            (
                "zones.size_bytes = 16777216\ngeometry.user_capacity_bytes = 16777216",
                "the flash does not hold one zone",
            ),
            (
                "zones.most_open = 2\ngeometry.user_capacity_bytes = 2097152",
                "zones.size_bytes is missing",
            ),
        ] {
            let message = derived(lines).unwrap_err().to_string();
            assert!(message.contains(expected), "{lines}: {message}");
            assert_eq!(message.lines().count(), 1);
        }
    }
}
