//! DiskSim's ASCII format.
//!
//! ```text
//! 13.191135 30 576560 5 1     time in ms, device, first sector, sectors of 512 bytes, flags
//! ```
//!
//! Bit 0 of the flags is set for a read. MQSim has the same columns. So a trace whose times have no
//! decimal point is taken as MQSim's, unless DiskSim's format is requested.

use super::five_columns::{FiveColumns, fits};
use super::{Format, Holds, MILLISECOND_NS, SECTOR_BYTES, lines_of};

pub(super) const FORMAT: Format = Format {
    name: "disksim",
    title: "DiskSim ASCII",
    layout: "time (ms, with a point) device LBA (512 B) sectors (512 B) flags (bit 0: read)",
    holds: Holds::DEVICES,
    place: "line",
    has_address_unit: true,
    recognise: |head| head.any_holds(b'.') && head.most(fits),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(MILLISECOND_NS);
        let sector_bytes = options.sector_bytes.unwrap_or(SECTOR_BYTES);
        Ok(lines_of(inputs, || FiveColumns {
            time_unit_ns,
            sector_bytes,
            most_flags: u64::MAX,
            flags: "a number of flags",
        }))
    },
};
