//! fio's iolog, version 3: `time file action offset size`, in us and bytes.
//!
//! fio requires that a file is added and opened before its first request, and closed at the end.

use std::collections::BTreeSet;

use super::packed::Packed;
use super::{Cannot, Encoder, Written, decimal};
use crate::error::TraceError;
use crate::record::{Operation, Record};

/// The longest file name that fio reads.
const MOST_NAME_BYTES: usize = 255;
const MICROSECOND_NS: u64 = 1_000;

pub(super) struct Iolog {
    output: Packed,
    /// Files that are open.
    files: BTreeSet<Box<str>>,
    last: Option<Box<str>>,
    last_us: u64,
}

impl Iolog {
    pub fn new(mut output: Packed) -> Self {
        output.text.extend_from_slice(b"fio version 3 iolog\n");
        Self {
            output,
            files: BTreeSet::new(),
            last: None,
            last_us: 0,
        }
    }

    fn action(&mut self, file: &str, action: &[u8]) {
        let text = &mut self.output.text;
        decimal(text, self.last_us);
        text.push(b' ');
        text.extend_from_slice(file.as_bytes());
        text.push(b' ');
        text.extend_from_slice(action);
    }

    fn open(&mut self, file: &str) -> Result<(), Cannot> {
        if self.last.as_deref() == Some(file) {
            return Ok(());
        }
        let fits = (1..=MOST_NAME_BYTES).contains(&file.len());
        if !fits || !file.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!(
                "a device called {file:?}; fio reads names of 1 to {MOST_NAME_BYTES} printable \
                 ASCII characters without blanks"
            ));
        }
        if self.files.insert(file.into()) {
            self.action(file, b"add\n");
            self.action(file, b"open\n");
        }
        self.last = Some(file.into());
        Ok(())
    }
}

impl Encoder for Iolog {
    fn add(&mut self, record: &Record, device: &str, written: &mut Written) -> Result<(), Cannot> {
        let action: &[u8] = match record.operation {
            Operation::Read => b"read ",
            Operation::Write => b"write ",
            Operation::Trim => b"trim ",
            Operation::Flush => b"sync ",
            Operation::Other => return Err("a request of kind other".to_owned()),
        };
        self.last_us = record.arrival_ns / MICROSECOND_NS;
        self.open(device)?;
        written.times_rounded += u64::from(!record.arrival_ns.is_multiple_of(MICROSECOND_NS));
        self.action(device, action);
        let text = &mut self.output.text;
        decimal(text, record.offset_bytes);
        text.push(b' ');
        decimal(text, record.size_bytes);
        text.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        self.output.flush()
    }

    fn finish(mut self: Box<Self>) -> Result<(), TraceError> {
        for file in std::mem::take(&mut self.files) {
            self.action(&file, b"close\n");
        }
        self.output.finish()
    }
}
