//! SYSTOR '17: virtual desktops on a storage array (Lee et al. 2017).
//!
//! ```text
//! Timestamp,Response,IOType,LUN,Offset,Size
//! 1455592200.102930000,0.000314,R,3,89012224,4096
//! ```
//!
//! Times are seconds, offset and size bytes. The response time may be missing.

use super::{Format, Holds, SECOND_NS, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, comma_line};
use crate::lines::LineFormat;
use crate::record::{Record, UNKNOWN};
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "systor",
    title: "SYSTOR '17 virtual desktops",
    layout: "time (s),response (s),operation (R or W),LUN,offset (bytes),size (bytes)",
    holds: Holds {
        response: true,
        ..Holds::DEVICES
    },
    place: "line",
    has_address_unit: false,
    recognise: |head| head.most(|line| comma_line(line, &CELLS, More::Refused)),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(SECOND_NS);
        Ok(lines_of(inputs, || Systor { time_unit_ns }))
    },
};

const CELLS: [Cell; 6] = [
    Cell::Number,
    Cell::Optional,
    Cell::Letter,
    Cell::Whole,
    Cell::Whole,
    Cell::Whole,
];

struct Systor {
    time_unit_ns: u64,
}

impl LineFormat for Systor {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let mut fields = Fields::new(line);
        fields.blanks();
        let arrival_ns = fields.time("time", self.time_unit_ns)?;
        fields.comma("response time")?;
        let response_ns = fields.optional_time(self.time_unit_ns)?;
        fields.comma("operation")?;
        let operation = fields.read_or_write()?;
        fields.comma("LUN")?;
        let unit = fields.number("LUN")?;
        fields.comma("offset")?;
        let offset_bytes = fields.number("offset")?;
        fields.comma("size")?;
        let size_bytes = fields.number("size")?;
        fields.end()?;
        let device = sink.devices.numbered(unit)?;
        let mut record = Record::new(arrival_ns, device, operation, offset_bytes, size_bytes);
        record.response_ns = response_ns.unwrap_or(UNKNOWN);
        sink.push(record)
    }
}
