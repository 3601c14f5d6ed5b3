//! The default output of blkparse.
//!
//! ```text
//!   8,16   5        2     0.000001850 18615  Q   R 1444645666 + 256 [java]
//!   │      │        │     │           │      │   │ │            │
//!   │      │        │     │           │      │   │ └────────────┴ sectors of 512 bytes
//!   │      │        │     │           │      │   └ R, W, D discard, F flush, ...
//!   │      │        │     │           │      └ what happened
//!   │      │        │     │           └ process
//!   │      └────────┴─────┴ processor, number, time in s
//!   └ major and minor number of the device
//! ```
//!
//! Q (queued), D (dispatched) and C (completed) form requests. Other events are ignored, and so is
//! the summary at the end. A trace that includes a partition shows both the partition and its disk:
//! choose a device.

use super::{Format, Holds, SECOND_NS, SECTOR_BYTES, lines_of};
use crate::block_events::{BlockEvents, Stage, operation_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, blank_line};
use crate::lines::LineFormat;
use crate::record::{Operation, Record};
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "blkparse",
    title: "blkparse text",
    layout: "major,minor cpu sequence time (s) pid action RWBS sector (512 B) + sectors [process]",
    holds: Holds {
        devices: true,
        response: true,
        queue_events: true,
        process: true,
        other_operations: true,
    },
    place: "line",
    has_address_unit: false,
    recognise: |head| head.most(fits),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(SECOND_NS);
        Ok(lines_of(inputs, || Blkparse {
            time_unit_ns,
            events: BlockEvents::default(),
            is_summary: false,
        }))
    },
};

const CELLS: [Cell; 7] = [
    Cell::Any,
    Cell::Whole,
    Cell::Whole,
    Cell::Number,
    Cell::Whole,
    Cell::Any,
    Cell::Any,
];

fn fits(line: &[u8]) -> bool {
    let mut fields = Fields::new(line);
    let begins = fields.number("").is_ok()
        && fields.byte(b',', "").is_ok()
        && fields.number("").is_ok()
        && fields.blank("").is_ok();
    begins && blank_line(line, &CELLS, More::Allowed)
}

struct Blkparse {
    time_unit_ns: u64,
    events: BlockEvents,
    /// Whether the summary has begun.
    is_summary: bool,
}

impl LineFormat for Blkparse {
    #[inline]
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        if self.is_summary {
            return Ok(());
        }
        if line.starts_with(b"CPU") || line.starts_with(b"Total (") {
            self.is_summary = true;
            return Ok(());
        }
        let mut fields = Fields::new(line);
        fields.blanks();
        let major = fields.small("major number")?;
        fields.byte(b',', "minor number")?;
        let minor = fields.small("minor number")?;
        fields.blank("processor")?;
        fields.number("processor")?;
        fields.blank("sequence number")?;
        fields.number("sequence number")?;
        fields.blank("time")?;
        let time_ns = fields.time("time", self.time_unit_ns)?;
        fields.blank("process")?;
        let process = fields.small("process")?;
        fields.blank("action")?;
        let stage = match fields.word() {
            b"Q" => Stage::Queued,
            b"D" => Stage::Dispatched,
            b"C" => Stage::Completed,
            _ => return Ok(()),
        };
        fields.blank("RWBS")?;
        let Some(operation) = operation_of(fields.word()) else {
            return Ok(());
        };
        let (mut offset_bytes, mut size_bytes) = (0, 0);
        fields.blanks();
        if matches!(fields.rest(), [b'0'..=b'9', ..]) {
            offset_bytes = fields.scaled("sector", SECTOR_BYTES)?;
            fields.blanks();
            if fields.byte(b'+', "").is_ok() {
                fields.blanks();
                size_bytes = fields.scaled("number of sectors", SECTOR_BYTES)?;
            }
        }
        // A flush before a write without data of its own is a flush.
        let operation = match operation {
            Operation::Write if size_bytes == 0 => Operation::Flush,
            other => other,
        };
        if operation == Operation::Flush && stage != Stage::Queued {
            return Ok(());
        }
        let device = sink.devices.paired(major, minor)?;
        let mut event = Record::new(time_ns, device, operation, offset_bytes, size_bytes);
        event.process = process;
        self.events.take(stage, event, sink)
    }

    fn finish(&mut self, sink: &mut Sink) {
        self.events.finish(sink);
    }
}
