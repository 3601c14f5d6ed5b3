//! Time, device, first sector, sectors and flags: the common part of DiskSim and MQSim.

use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, blank_line};
use crate::lines::LineFormat;
use crate::record::{Operation, Record};
use crate::sink::Sink;

const CELLS: [Cell; 5] = [
    Cell::Number,
    Cell::Whole,
    Cell::Whole,
    Cell::Whole,
    Cell::Whole,
];

pub(super) fn fits(line: &[u8]) -> bool {
    blank_line(line, &CELLS, More::Refused)
}

pub(super) struct FiveColumns {
    pub time_unit_ns: u64,
    pub sector_bytes: u64,
    /// The largest value allowed in the last column.
    pub most_flags: u64,
    /// Its description, for messages.
    pub flags: &'static str,
}

impl LineFormat for FiveColumns {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let mut fields = Fields::new(line);
        fields.blanks();
        let arrival_ns = fields.time("time", self.time_unit_ns)?;
        fields.blank("device")?;
        let number = fields.number("device")?;
        fields.blank("first sector")?;
        let offset_bytes = fields.scaled("first sector", self.sector_bytes)?;
        fields.blank("number of sectors")?;
        let size_bytes = fields.scaled("number of sectors", self.sector_bytes)?;
        fields.blank("type")?;
        let flags = fields.number("type")?;
        if flags > self.most_flags {
            return Err(Problem::Field {
                field: "type",
                expected: self.flags,
            });
        }
        fields.end()?;
        let operation = if flags & 1 == 1 {
            Operation::Read
        } else {
            Operation::Write
        };
        let device = sink.devices.numbered(number)?;
        let record = Record::new(arrival_ns, device, operation, offset_bytes, size_bytes);
        sink.push(record)
    }
}
