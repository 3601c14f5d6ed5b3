//! MQSim: `time device sector sectors type`, in ns and sectors of 512 bytes.

use super::packed::Packed;
use super::{Cannot, Encoder, Numbers, Written, decimal, sectors};
use crate::error::TraceError;
use crate::record::{Operation, Record};

pub(super) struct Mqsim {
    output: Packed,
    numbers: Numbers,
}

impl Mqsim {
    pub fn new(output: Packed) -> Self {
        let numbers = Numbers::default();
        Self { output, numbers }
    }
}

impl Encoder for Mqsim {
    fn add(&mut self, record: &Record, device: &str, written: &mut Written) -> Result<(), Cannot> {
        let kind = match record.operation {
            Operation::Read => 1,
            Operation::Write => 0,
            other => return Err(format!("a request of kind {other}")),
        };
        let first = sectors(record.offset_bytes, "an offset")?;
        let count = sectors(record.size_bytes, "a size")?;
        let device = self.numbers.of(device, written)?;
        let text = &mut self.output.text;
        for number in [record.arrival_ns, device, first, count] {
            decimal(text, number);
            text.push(b' ');
        }
        decimal(text, kind);
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
