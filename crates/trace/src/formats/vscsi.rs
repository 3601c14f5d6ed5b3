//! CloudPhysics' vscsi traces, versions 1 and 2.
//!
//! ```text
//! version 1, 32 bytes: u32 serial number, u32 size in bytes, u32 elements of the scatter list,
//!                      u16 SCSI command, u16 version, u64 LBN, u64 time in us
//! version 2, 40 bytes: u16 SCSI command, u16 version, u32 serial number, u32 size in bytes,
//!                      u32 elements, u64 LBN, u64 time in us, u64 response time in us
//! ```
//!
//! Numbers are little-endian. The high byte of `version` is 1 or 2. LBNs are sectors of 512 bytes.
//! A command that is neither a read nor a write is kept as another operation.

use super::scsi::operation;
use super::{Format, Holds, MICROSECOND_NS, SECTOR_BYTES};
use crate::blocks::{BlockFormat, Blocks, u16_at, u32_at, u64_at};
use crate::error::Problem;
use crate::input::Input;
use crate::options::Options;
use crate::record::Record;
use crate::sink::{Sink, Source};

pub(super) const FORMAT: Format = Format {
    name: "vscsi",
    title: "CloudPhysics vscsi, binary",
    layout: "records of 32 bytes (version 1) or 40 (version 2): SCSI command, size (bytes), LBN \
             (512 B), time (us), in version 2 response (us)",
    holds: Holds {
        response: true,
        other_operations: true,
        ..Holds::NOTHING_MORE
    },
    place: "byte",
    has_address_unit: true,
    recognise: |head| version(head.bytes).is_some(),
    open: |inputs, options| {
        Ok(inputs
            .into_iter()
            .map(|input| open(input, options))
            .collect())
    },
};

/// The number of records examined to find the version.
const LOOKED_AT: usize = 64;

fn version(bytes: &[u8]) -> Option<u8> {
    let (first, _) = bytes.as_chunks::<32>();
    let (second, _) = bytes.as_chunks::<40>();
    let known = |command: u16| command < 0x100;
    let mut first = first.iter().take(LOOKED_AT).peekable();
    let mut second = second.iter().take(LOOKED_AT).peekable();
    if first.peek().is_some()
        && first.all(|record| u16_at(record, 14) >> 8 == 1 && known(u16_at(record, 12)))
    {
        return Some(1);
    }
    let is_second = second.peek().is_some()
        && second.all(|record| u16_at(record, 2) >> 8 == 2 && known(u16_at(record, 0)));
    is_second.then_some(2)
}

fn open(input: Input, options: &Options) -> Box<dyn Source> {
    let vscsi = Vscsi {
        time_unit_ns: options.time_unit_ns.unwrap_or(MICROSECOND_NS),
        sector_bytes: options.sector_bytes.unwrap_or(SECTOR_BYTES),
    };
    if version(input.bytes()) == Some(2) {
        Box::new(Blocks::<_, 40>::new(input, vscsi))
    } else {
        Box::new(Blocks::<_, 32>::new(input, vscsi))
    }
}

struct Vscsi {
    time_unit_ns: u64,
    sector_bytes: u64,
}

impl Vscsi {
    #[inline]
    fn record(
        &self,
        command: u16,
        (size, sector, time): (u32, u64, u64),
        sink: &mut Sink,
    ) -> Result<Record, Problem> {
        let command = u8::try_from(command).map_err(|_| Problem::Record(COMMAND))?;
        let device = sink.devices.numbered(0)?;
        let arrival_ns = time.checked_mul(self.time_unit_ns);
        let offset_bytes = sector.checked_mul(self.sector_bytes);
        Ok(Record::new(
            arrival_ns.ok_or(Problem::TooLarge { field: "time" })?,
            device,
            operation(command),
            offset_bytes.ok_or(Problem::TooLarge { field: "LBN" })?,
            u64::from(size),
        ))
    }
}

const VERSION: &str = "the record is of no known version of vscsi";
const COMMAND: &str = "the record holds no SCSI command";

impl BlockFormat<32> for Vscsi {
    #[inline]
    fn read(&mut self, record: &[u8; 32], sink: &mut Sink) -> Result<(), Problem> {
        if u16_at(record, 14) >> 8 != 1 {
            return Err(Problem::Record(VERSION));
        }
        let numbers = (u32_at(record, 4), u64_at(record, 16), u64_at(record, 24));
        let request = self.record(u16_at(record, 12), numbers, sink)?;
        sink.push(request)
    }
}

impl BlockFormat<40> for Vscsi {
    #[inline]
    fn read(&mut self, record: &[u8; 40], sink: &mut Sink) -> Result<(), Problem> {
        if u16_at(record, 2) >> 8 != 2 {
            return Err(Problem::Record(VERSION));
        }
        let numbers = (u32_at(record, 8), u64_at(record, 16), u64_at(record, 24));
        let mut request = self.record(u16_at(record, 0), numbers, sink)?;
        let response_ns = u64_at(record, 32).checked_mul(self.time_unit_ns);
        let too_large = Problem::TooLarge {
            field: "response time",
        };
        request.response_ns = response_ns.ok_or(too_large)?;
        sink.push(request)
    }
}
