//! MQSim's and SSDsim's format.
//!
//! ```text
//! 938513000 4 264719034 16 0     time in ns, device, first sector, sectors of 512 bytes, type
//! ```
//!
//! Type 0 is a write, 1 a read.

use super::five_columns::{FiveColumns, fits};
use super::{Format, Holds, SECTOR_BYTES, lines_of};

pub(super) const FORMAT: Format = Format {
    name: "mqsim",
    title: "MQSim, SSDsim",
    layout: "time (ns) device LBA (512 B) sectors (512 B) type (0 write, 1 read)",
    holds: Holds::DEVICES,
    place: "line",
    has_address_unit: true,
    recognise: |head| !head.any_holds(b'.') && head.most(fits),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(1);
        let sector_bytes = options.sector_bytes.unwrap_or(SECTOR_BYTES);
        Ok(lines_of(inputs, || FiveColumns {
            time_unit_ns,
            sector_bytes,
            most_flags: 1,
            flags: "0 (write) or 1 (read)",
        }))
    },
};
