//! FlashNet's replayer: what was replayed on a drive, with its latency.
//!
//! ```text
//! 0.000,84,0,4096,90648576,0.101,4096
//! │     │  │ │    │        │     └ bytes that were moved
//! │     │  │ │    │        └ when it was sent in the replay, ms
//! │     │  │ └────┴ size and offset in bytes
//! │     │  └ 1 = read, 0 = write
//! │     └ latency in us
//! └ when it arrived in the trace that was replayed, ms
//! ```
//!
//! The arrival is that in the original trace, not in the replay.

use super::{Format, Holds, MICROSECOND_NS, MILLISECOND_NS, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, comma_line};
use crate::lines::LineFormat;
use crate::record::{Operation, Record, UNKNOWN};
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "flashnet",
    title: "FlashNet replay",
    layout: "arrival (ms),latency (us),type (1 read, 0 write),size (bytes),offset (bytes),\
             sent (ms),moved (bytes)",
    holds: Holds {
        response: true,
        ..Holds::NOTHING_MORE
    },
    place: "line",
    has_address_unit: false,
    recognise: |head| head.most(|line| comma_line(line, &CELLS, More::Refused)),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(MILLISECOND_NS);
        Ok(lines_of(inputs, || FlashNet { time_unit_ns }))
    },
};

const CELLS: [Cell; 7] = [
    Cell::Number,
    Cell::Optional,
    Cell::Bit,
    Cell::Whole,
    Cell::Whole,
    Cell::Number,
    Cell::Whole,
];

struct FlashNet {
    time_unit_ns: u64,
}

impl LineFormat for FlashNet {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let mut fields = Fields::new(line);
        fields.blanks();
        let arrival_ns = fields.time("arrival", self.time_unit_ns)?;
        fields.comma("latency")?;
        let response_ns = fields.optional_time(MICROSECOND_NS)?;
        fields.comma("type")?;
        let operation = match fields.number("type")? {
            0 => Operation::Write,
            1 => Operation::Read,
            _ => {
                return Err(Problem::Field {
                    field: "type",
                    expected: "1 (read) or 0 (write)",
                });
            }
        };
        fields.comma("size")?;
        let size_bytes = fields.number("size")?;
        fields.comma("offset")?;
        let offset_bytes = fields.number("offset")?;
        fields.comma("time of sending")?;
        fields.time("time of sending", self.time_unit_ns)?;
        fields.comma("bytes that were moved")?;
        fields.number("bytes that were moved")?;
        fields.end()?;
        let device = sink.devices.numbered(0)?;
        let mut record = Record::new(arrival_ns, device, operation, offset_bytes, size_bytes);
        record.response_ns = response_ns.unwrap_or(UNKNOWN);
        sink.push(record)
    }
}
