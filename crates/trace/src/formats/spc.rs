//! SPC, the format of the Storage Performance Council's traces (Financial, WebSearch).
//!
//! ```text
//! 0,303567,3584,w,0.026214        ASU, LBA, size in bytes, operation, time in s
//! ```
//!
//! The unit of LBAs differs between traces: 512 bytes unless another is given. Blanks may follow
//! commas, and more fields may follow the time.

use super::{Format, Holds, SECOND_NS, SECTOR_BYTES, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, comma_line};
use crate::lines::LineFormat;
use crate::record::Record;
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "spc",
    title: "SPC (UMass Financial, WebSearch)",
    layout: "ASU,LBA (512 B),size (bytes),operation (R or W),time (s)[,more]",
    holds: Holds::DEVICES,
    place: "line",
    has_address_unit: true,
    recognise: |head| head.most(|line| comma_line(line, &CELLS, More::Allowed)),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(SECOND_NS);
        let sector_bytes = options.sector_bytes.unwrap_or(SECTOR_BYTES);
        Ok(lines_of(inputs, || Spc {
            time_unit_ns,
            sector_bytes,
        }))
    },
};

const CELLS: [Cell; 5] = [
    Cell::Whole,
    Cell::Whole,
    Cell::Whole,
    Cell::Letter,
    Cell::Number,
];

struct Spc {
    time_unit_ns: u64,
    sector_bytes: u64,
}

impl LineFormat for Spc {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let mut fields = Fields::new(line);
        fields.blanks();
        let unit = fields.number("ASU")?;
        fields.comma("LBA")?;
        let offset_bytes = fields.scaled("LBA", self.sector_bytes)?;
        fields.comma("size")?;
        let size_bytes = fields.number("size")?;
        fields.comma("operation")?;
        let operation = fields.read_or_write()?;
        fields.comma("time")?;
        let arrival_ns = fields.time("time", self.time_unit_ns)?;
        if !fields.rest().is_empty() && !fields.optional_comma() {
            fields.end()?;
        }
        let device = sink.devices.numbered(unit)?;
        sink.push(Record::new(
            arrival_ns,
            device,
            operation,
            offset_bytes,
            size_bytes,
        ))
    }
}
