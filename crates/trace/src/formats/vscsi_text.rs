//! CloudPhysics' vscsi traces as text.
//!
//! ```text
//! version,time,op,size,lbn
//! 1,5633898,2a,512,42932745     SCSI command in hexadecimal, size in bytes, sectors of 512 bytes
//! ```
//!
//! Unlike in the binary traces, time is in whole seconds, so all requests of one second seem to
//! arrive at once.

use super::scsi::operation;
use super::{Format, Holds, SECOND_NS, SECTOR_BYTES, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, comma_line};
use crate::lines::LineFormat;
use crate::record::Record;
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "vscsi-text",
    title: "CloudPhysics vscsi as text",
    layout: "version,time (s),SCSI command (hexadecimal),size (bytes),LBN (512 B)",
    holds: Holds {
        other_operations: true,
        ..Holds::NOTHING_MORE
    },
    place: "line",
    has_address_unit: true,
    recognise: |head| head.most(fits),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(SECOND_NS);
        let sector_bytes = options.sector_bytes.unwrap_or(SECTOR_BYTES);
        Ok(lines_of(inputs, || VscsiText {
            time_unit_ns,
            sector_bytes,
        }))
    },
};

const CELLS: [Cell; 5] = [
    Cell::Whole,
    Cell::Number,
    Cell::Hex,
    Cell::Whole,
    Cell::Whole,
];

fn fits(line: &[u8]) -> bool {
    // Lines of Tencent have 0 or 1 where the size is here.
    let version = matches!(line, [b'1' | b'2', b',', ..]);
    version && comma_line(line, &CELLS, More::Refused)
}

struct VscsiText {
    time_unit_ns: u64,
    sector_bytes: u64,
}

impl LineFormat for VscsiText {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let mut fields = Fields::new(line);
        fields.blanks();
        fields.number("version")?;
        fields.comma("time")?;
        let arrival_ns = fields.time("time", self.time_unit_ns)?;
        fields.comma("command")?;
        let text = std::str::from_utf8(fields.word()).ok();
        let command = text.and_then(|text| u8::from_str_radix(text, 16).ok());
        let command = command.ok_or(Problem::Field {
            field: "command",
            expected: "a SCSI command of two hexadecimal digits",
        })?;
        fields.comma("size")?;
        let size_bytes = fields.number("size")?;
        fields.comma("LBN")?;
        let offset_bytes = fields.scaled("LBN", self.sector_bytes)?;
        fields.end()?;
        let device = sink.devices.numbered(0)?;
        let operation = operation(command);
        let record = Record::new(arrival_ns, device, operation, offset_bytes, size_bytes);
        sink.push(record)
    }
}
