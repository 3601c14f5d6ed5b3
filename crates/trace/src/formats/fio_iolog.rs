//! fio's iolog, versions 2 and 3.
//!
//! ```text
//! fio version 3 iolog
//! 28 /dev/sdb add                         time in us, file, action
//! 250320 /dev/sdb write 45056 4096        time in us, file, action, offset and size in bytes
//!
//! fio version 2 iolog
//! /dev/sdb write 45056 4096               no times but those of waits
//! /dev/sdb wait 500 0                     so many us after the last wait
//! ```
//!
//! Each file is a device. `add`, `open` and `close` are not requests; `sync` and `datasync` are
//! flushes.

use super::{Format, Holds, MICROSECOND_NS, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::lines::LineFormat;
use crate::record::{Operation, Record};
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "fio-iolog",
    title: "fio iolog 2 and 3",
    layout: "[time (us) ]file action[ offset (bytes) size (bytes)]; version 2 has no times but \
             waits",
    holds: Holds {
        other_operations: true,
        ..Holds::DEVICES
    },
    place: "line",
    has_address_unit: false,
    recognise: |head| version(head.first_line()).is_some(),
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(MICROSECOND_NS);
        Ok(lines_of(inputs, || Iolog {
            time_unit_ns,
            version: None,
            waited_ns: 0,
            last: None,
        }))
    },
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

fn version(line: &[u8]) -> Option<Version> {
    match line.trim_ascii() {
        b"fio version 2 iolog" => Some(Version::Two),
        b"fio version 3 iolog" => Some(Version::Three),
        _ => None,
    }
}

struct Iolog {
    time_unit_ns: u64,
    version: Option<Version>,
    /// The sum of the waits so far.
    waited_ns: u64,
    /// The file of the last line, and its device.
    last: Option<(Vec<u8>, u32)>,
}

impl Iolog {
    fn device(&mut self, file: &[u8], sink: &mut Sink) -> Result<u32, Problem> {
        match &self.last {
            Some((name, device)) if name == file => Ok(*device),
            _ => {
                let device = sink.devices.named(file)?;
                self.last = Some((file.to_vec(), device));
                Ok(device)
            }
        }
    }
}

impl LineFormat for Iolog {
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        let Some(kind) = self.version else {
            self.version = Some(version(line).ok_or(Problem::Field {
                field: "first line",
                expected: "\"fio version 2 iolog\" or \"fio version 3 iolog\"",
            })?);
            return Ok(());
        };
        let mut fields = Fields::new(line);
        fields.blanks();
        let mut arrival_ns = self.waited_ns;
        if kind == Version::Three {
            arrival_ns = fields.time("time", self.time_unit_ns)?;
            fields.blank("file")?;
        }
        let file = fields.word();
        fields.blank("action")?;
        let operation = match fields.word() {
            b"add" | b"open" | b"close" => return Ok(()),
            b"read" => Operation::Read,
            b"write" => Operation::Write,
            b"trim" => Operation::Trim,
            b"sync" | b"datasync" => Operation::Flush,
            b"wait" => {
                fields.blank("time to wait")?;
                let wait_ns = fields.scaled("time to wait", MICROSECOND_NS)?;
                let waited_ns = self.waited_ns.checked_add(wait_ns);
                self.waited_ns = waited_ns.ok_or(Problem::TooLarge {
                    field: "sum of waits",
                })?;
                return Ok(());
            }
            _ => {
                return Err(Problem::Field {
                    field: "action",
                    expected: "add, open, close, read, write, trim, sync, datasync or wait",
                });
            }
        };
        let (mut offset_bytes, mut size_bytes) = (0, 0);
        if operation == Operation::Flush && fields.blank("").is_err() {
            fields.end()?;
        } else {
            fields.blanks();
            offset_bytes = fields.number("offset")?;
            fields.blank("size")?;
            size_bytes = fields.number("size")?;
            fields.end()?;
        }
        let device = self.device(file, sink)?;
        let record = Record::new(arrival_ns, device, operation, offset_bytes, size_bytes);
        sink.push(record)
    }
}
