//! Tencent's Cloud Block Storage: days of thousands of volumes.
//!
//! ```text
//! 1538323200,12910952,128,0,1063     time, offset, size, 0 = read and 1 = write, volume
//! ```
//!
//! Offset and size are sectors of 512 bytes. Time is in whole seconds, so all requests of one
//! second seem to arrive at once.

use super::{Format, Holds, SECOND_NS, SECTOR_BYTES, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, comma_line};
use crate::lines::LineFormat;
use crate::record::{Operation, Record};
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "tencent",
    title: "Tencent Cloud Block Storage",
    layout: "time (s),offset (512 B),size (512 B),type (0 read, 1 write),volume",
    holds: Holds::DEVICES,
    place: "line",
    has_address_unit: true,
    recognise: |head| head.most(|line| comma_line(line, &CELLS, More::Refused)),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(SECOND_NS);
        let sector_bytes = options.sector_bytes.unwrap_or(SECTOR_BYTES);
        Ok(lines_of(inputs, || Tencent {
            time_unit_ns,
            sector_bytes,
        }))
    },
};

const CELLS: [Cell; 5] = [
    Cell::Number,
    Cell::Whole,
    Cell::Whole,
    Cell::Bit,
    Cell::Whole,
];

struct Tencent {
    time_unit_ns: u64,
    sector_bytes: u64,
}

impl LineFormat for Tencent {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let mut fields = Fields::new(line);
        fields.blanks();
        let arrival_ns = fields.time("time", self.time_unit_ns)?;
        fields.comma("offset")?;
        let offset_bytes = fields.scaled("offset", self.sector_bytes)?;
        fields.comma("size")?;
        let size_bytes = fields.scaled("size", self.sector_bytes)?;
        fields.comma("type")?;
        let operation = match fields.number("type")? {
            0 => Operation::Read,
            1 => Operation::Write,
            _ => {
                return Err(Problem::Field {
                    field: "type",
                    expected: "0 (read) or 1 (write)",
                });
            }
        };
        fields.comma("volume")?;
        let volume = fields.number("volume")?;
        fields.end()?;
        let device = sink.devices.numbered(volume)?;
        let record = Record::new(arrival_ns, device, operation, offset_bytes, size_bytes);
        sink.push(record)
    }
}
