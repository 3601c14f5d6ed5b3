//! MSR Cambridge: a week of 36 volumes of servers.
//!
//! ```text
//! 128166372003061629,hm,0,Read,383496192,32768,413      as published
//! 0 128166385295514663,hm,0,Write,9056014336,2048,2833  with a line's number before it
//! ```
//!
//! Time is a Windows file time, in ticks of 100 ns since 1601. The response time is in such ticks
//! too. Offset and size are bytes. A device is called `host:disk`.

use super::{Format, Holds, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, comma_line};
use crate::lines::LineFormat;
use crate::record::{Record, UNKNOWN};
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "msr",
    title: "MSR Cambridge",
    layout: "[index ]time (100 ns),host,disk,Read or Write,offset (bytes),size (bytes),\
             response (100 ns)",
    holds: Holds {
        response: true,
        ..Holds::DEVICES
    },
    place: "line",
    has_address_unit: false,
    recognise: |head| head.most(fits),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(TICK_NS);
        Ok(lines_of(inputs, || Msr {
            time_unit_ns,
            last: None,
        }))
    },
};

const TICK_NS: u64 = 100;

const CELLS: [Cell; 7] = [
    Cell::Whole,
    Cell::Any,
    Cell::Whole,
    Cell::Word,
    Cell::Whole,
    Cell::Whole,
    Cell::Optional,
];

fn fits(line: &[u8]) -> bool {
    let mut fields = Fields::new(line);
    let has_index = fields.number("").is_ok() && fields.blank("").is_ok();
    let line = if has_index { fields.rest() } else { line };
    comma_line(line, &CELLS, More::Refused)
}

struct Msr {
    time_unit_ns: u64,
    /// Host and disk of the last line, and their device.
    last: Option<(Vec<u8>, u64, u32)>,
}

impl Msr {
    fn device(&mut self, host: &[u8], disk: u64, sink: &mut Sink) -> Result<u32, Problem> {
        match &self.last {
            Some((name, number, device)) if name == host && *number == disk => Ok(*device),
            _ => {
                let mut name = host.to_vec();
                name.extend_from_slice(format!(":{disk}").as_bytes());
                let device = sink.devices.named(&name)?;
                self.last = Some((host.to_vec(), disk, device));
                Ok(device)
            }
        }
    }
}

impl LineFormat for Msr {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let mut fields = Fields::new(line);
        fields.blanks();
        let mut arrival_ns = fields.scaled("time", self.time_unit_ns)?;
        if fields.blank("time").is_ok() && !matches!(fields.rest(), [b',', ..]) {
            arrival_ns = fields.scaled("time", self.time_unit_ns)?;
        }
        fields.comma("host")?;
        let host = fields.word();
        fields.comma("disk")?;
        let disk = fields.number("disk")?;
        fields.comma("operation")?;
        let operation = fields.read_or_write()?;
        fields.comma("offset")?;
        let offset_bytes = fields.number("offset")?;
        fields.comma("size")?;
        let size_bytes = fields.number("size")?;
        fields.comma("response time")?;
        let response_ns = fields.optional_time(self.time_unit_ns)?;
        fields.end()?;
        let device = self.device(host, disk, sink)?;
        let mut record = Record::new(arrival_ns, device, operation, offset_bytes, size_bytes);
        record.response_ns = response_ns.unwrap_or(UNKNOWN);
        sink.push(record)
    }
}
