//! Streams that write zone by zone.
//!
//! ```text
//!   zones = 4                   write to four zones in turn, each in order, the next when one is full
//!   writes_as = "append"        and let the drive say where in the zone each write goes
//! ```

use drivelab_workload::{Characteristics, Zoned};

use super::error::ScenarioError;
use super::table::Table;

pub(super) const ZONES: &str = "zones";
pub(super) const ZONE_BYTES: &str = "zone_bytes";
/// Just below four GiB: a request's size has 32 bits.
pub(super) const LARGEST_ZONE: u64 = (1 << 32) - 512;

/// Keys that say where requests go. For these streams the zones decide that.
const NOT_BESIDE: [&str; 7] = [
    "write_random",
    "read_stride_bytes",
    "write_stride_bytes",
    "each_place_once",
    super::mixed::SIZES,
    super::mixed::HOT_RANGE,
    super::mixed::HOT_ACCESSES,
];

/// The requests of a stream with these keys.
pub(super) fn zoned_of(
    table: &Table<'_>,
    characteristics: &Characteristics,
) -> Result<Option<Zoned>, ScenarioError> {
    let appends = table.text("writes_as") == Some("append");
    let Some(zones) = table.integer(ZONES) else {
        if table.has(ZONE_BYTES) {
            return Err(table.missing(ZONES));
        }
        if appends {
            let reason = format!(
                "writes_as is \"append\"; allowed beside {ZONES}, which says how many \
                                  zones are written to at once"
            );
            return Err(table.unfitting("writes_as", reason));
        }
        return Ok(None);
    };
    if let Some(other) = NOT_BESIDE.into_iter().find(|other| table.has(other)) {
        let reason =
            format!("{other} has no effect beside {ZONES}, which are written in order; remove it");
        return Err(table.unfitting(other, reason));
    }
    if let Some(word @ ("trim" | "write_zeroes")) = table.text("writes_as") {
        let reason = format!(
            "writes_as is {word:?}; allowed beside {ZONES}: \"write\", \"forced_write\" or \"append\""
        );
        return Err(table.unfitting("writes_as", reason));
    }
    Ok(Some(Zoned {
        requests: Characteristics {
            write_random: 0.0,
            ..*characteristics
        },
        // Its rule keeps it within 32 bits.
        zones_at_once: zones as u32,
        appends,
        zone_bytes: table.integer(ZONE_BYTES),
    }))
}
