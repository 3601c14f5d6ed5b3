//! Alibaba's block traces of 2020: a month of a thousand virtual disks.
//!
//! ```text
//! 419,W,8792731648,16384,1577808144360767     device, operation, offset, size, time
//! ```
//!
//! Offset and size are bytes, time is in us.

use super::{Format, Holds, MICROSECOND_NS, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, comma_line};
use crate::lines::LineFormat;
use crate::record::Record;
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "alibaba",
    title: "Alibaba block traces 2020",
    layout: "device,operation (R or W),offset (bytes),size (bytes),time (us)",
    holds: Holds::DEVICES,
    place: "line",
    has_address_unit: false,
    recognise: |head| head.most(|line| comma_line(line, &CELLS, More::Refused)),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(MICROSECOND_NS);
        Ok(lines_of(inputs, || Alibaba { time_unit_ns }))
    },
};

const CELLS: [Cell; 5] = [
    Cell::Whole,
    Cell::Letter,
    Cell::Whole,
    Cell::Whole,
    Cell::Whole,
];

struct Alibaba {
    time_unit_ns: u64,
}

impl LineFormat for Alibaba {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let mut fields = Fields::new(line);
        fields.blanks();
        let number = fields.number("device")?;
        fields.comma("operation")?;
        let operation = fields.read_or_write()?;
        fields.comma("offset")?;
        let offset_bytes = fields.number("offset")?;
        fields.comma("size")?;
        let size_bytes = fields.number("size")?;
        fields.comma("time")?;
        let arrival_ns = fields.scaled("time", self.time_unit_ns)?;
        fields.end()?;
        let device = sink.devices.numbered(number)?;
        let record = Record::new(arrival_ns, device, operation, offset_bytes, size_bytes);
        sink.push(record)
    }
}
