//! FIU: servers and desktops, with the hash of every block.
//!
//! ```text
//! 0 4892 syslogd 904265560 8 W 6 0 531e779d2b0a1dd4d5a8e5a1e8b7b0d1
//! │ │    │       │         │ │ │ │ └ MD5 of the content
//! │ │    │       │         │ │ └─┴ major and minor number of the device
//! │ │    │       │         │ └ operation
//! │ │    │       └─────────┴ first sector and sectors of 512 bytes
//! │ └────┴ process and its name
//! └ time in ns
//! ```
//!
//! Process names and hashes are not kept.

use super::{Format, Holds, SECTOR_BYTES, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, blank_line};
use crate::lines::LineFormat;
use crate::record::Record;
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "fiu",
    title: "FIU (homes, mail, web)",
    layout: "time (ns) pid process LBA (512 B) blocks (512 B) operation (R or W) major minor md5",
    holds: Holds {
        process: true,
        ..Holds::DEVICES
    },
    place: "line",
    has_address_unit: true,
    recognise: |head| head.most(|line| blank_line(line, &CELLS, More::Allowed)),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(1);
        let sector_bytes = options.sector_bytes.unwrap_or(SECTOR_BYTES);
        Ok(lines_of(inputs, || Fiu {
            time_unit_ns,
            sector_bytes,
        }))
    },
};

const CELLS: [Cell; 8] = [
    Cell::Number,
    Cell::Whole,
    Cell::Any,
    Cell::Whole,
    Cell::Whole,
    Cell::Letter,
    Cell::Whole,
    Cell::Whole,
];

struct Fiu {
    time_unit_ns: u64,
    sector_bytes: u64,
}

impl LineFormat for Fiu {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let mut fields = Fields::new(line);
        fields.blanks();
        let arrival_ns = fields.time("time", self.time_unit_ns)?;
        fields.blank("process number")?;
        let process = fields.small("process number")?;
        fields.blank("process")?;
        fields.word();
        fields.blank("LBA")?;
        let offset_bytes = fields.scaled("LBA", self.sector_bytes)?;
        fields.blank("number of blocks")?;
        let size_bytes = fields.scaled("number of blocks", self.sector_bytes)?;
        fields.blank("operation")?;
        let operation = fields.read_or_write()?;
        fields.blank("major number")?;
        let major = fields.small("major number")?;
        fields.blank("minor number")?;
        let minor = fields.small("minor number")?;
        // The hash, which is missing in some lines.
        if fields.blank("").is_ok() {
            fields.word();
        }
        fields.end()?;
        let device = sink.devices.paired(major, minor)?;
        let mut record = Record::new(arrival_ns, device, operation, offset_bytes, size_bytes);
        record.process = process;
        sink.push(record)
    }
}
