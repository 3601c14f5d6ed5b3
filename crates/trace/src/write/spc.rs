//! SPC: `ASU,LBA,size,operation,time`, in sectors of 512 bytes and seconds with nine decimals.

use super::packed::Packed;
use super::{Cannot, Encoder, Numbers, Written, decimal, sectors};
use crate::error::TraceError;
use crate::record::{Operation, Record};

const SECOND_NS: u64 = 1_000_000_000;

pub(super) struct Spc {
    output: Packed,
    numbers: Numbers,
}

impl Spc {
    pub fn new(output: Packed) -> Self {
        let numbers = Numbers::default();
        Self { output, numbers }
    }
}

impl Encoder for Spc {
    fn add(&mut self, record: &Record, device: &str, written: &mut Written) -> Result<(), Cannot> {
        let operation = match record.operation {
            Operation::Read => b",R,",
            Operation::Write => b",W,",
            other => return Err(format!("a request of kind {other}")),
        };
        let sector = sectors(record.offset_bytes, "an offset")?;
        let unit = self.numbers.of(device, written)?;
        let text = &mut self.output.text;
        decimal(text, unit);
        text.push(b',');
        decimal(text, sector);
        text.push(b',');
        decimal(text, record.size_bytes);
        text.extend_from_slice(operation);
        decimal(text, record.arrival_ns / SECOND_NS);
        text.push(b'.');
        let part = record.arrival_ns % SECOND_NS;
        let mut scale = SECOND_NS / 10;
        while scale > 0 {
            text.push(b'0' + (part / scale % 10) as u8);
            scale /= 10;
        }
        text.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        self.output.flush()
    }

    fn finish(self: Box<Self>) -> Result<(), TraceError> {
        self.output.finish()
    }
}
