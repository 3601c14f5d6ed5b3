//! Binary formats with records of a fixed size.

use crate::error::{Problem, TraceError};
use crate::input::Input;
use crate::sink::{Sink, Source};

/// Reads records of `BYTES` bytes.
pub(crate) trait BlockFormat<const BYTES: usize>: Send {
    /// Puts the content of a record into the sink.
    fn read(&mut self, record: &[u8; BYTES], sink: &mut Sink) -> Result<(), Problem>;
}

/// A file of records.
pub(crate) struct Blocks<F, const BYTES: usize> {
    input: Input,
    format: F,
}

impl<F: BlockFormat<BYTES>, const BYTES: usize> Blocks<F, BYTES> {
    pub const fn new(input: Input, format: F) -> Self {
        Self { input, format }
    }

    fn whole_records(&mut self, sink: &mut Sink) -> Result<usize, TraceError> {
        let (records, _) = self.input.bytes().as_chunks::<BYTES>();
        let begin = self.input.offset();
        let mut used = 0;
        for record in records {
            if sink.is_full() {
                break;
            }
            sink.position = begin + used as u64;
            used += BYTES;
            if let Err(problem) = self.format.read(record, sink) {
                sink.bad_here(problem, &[])?;
            }
        }
        sink.checks.lines += (used / BYTES) as u64;
        Ok(used)
    }
}

impl<F: BlockFormat<BYTES>, const BYTES: usize> Source for Blocks<F, BYTES> {
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError> {
        loop {
            let used = self.whole_records(sink)?;
            self.input.consume(used);
            if sink.is_full() {
                return Ok(false);
            }
            if self.input.is_at_end() {
                let bytes = self.input.bytes().len();
                if bytes > 0 {
                    sink.position = self.input.offset();
                    self.input.consume(bytes);
                    sink.bad_here(Problem::CutRecord { bytes }, &[])?;
                }
                return Ok(true);
            }
            self.input.fill()?;
        }
    }
}

/// Reads a little-endian number at a place in `record`.
#[inline]
pub(crate) fn u16_at<const BYTES: usize>(record: &[u8; BYTES], at: usize) -> u16 {
    record
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// Reads a little-endian number at a place in `record`.
#[inline]
pub(crate) fn u32_at<const BYTES: usize>(record: &[u8; BYTES], at: usize) -> u32 {
    record
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Reads a little-endian number at a place in `record`.
#[inline]
pub(crate) fn u64_at<const BYTES: usize>(record: &[u8; BYTES], at: usize) -> u64 {
    record
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
