//! The files of blktrace: one file of events for each processor, merged by time.
//!
//! ```text
//! 48 bytes: u32 magic 0x65617400 + version, u32 sequence, u64 time in ns, u64 sector,
//!           u32 bytes, u32 action, u32 process, u32 device, u32 processor, u16 error,
//!           u16 bytes that follow the record
//! ```
//!
//! Numbers are little-endian, sectors have 512 bytes. The low 16 bits of the action say what
//! happened, the high ones to what kind of request. As in the output of blkparse, Q, D and C form
//! requests, and other events are ignored.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Format, Holds, SECTOR_BYTES};
use crate::block_events::{BlockEvents, Stage};
use crate::blocks::{u16_at, u32_at, u64_at};
use crate::error::{Problem, TraceError};
use crate::input::Input;
use crate::record::{Operation, Record};
use crate::sink::{Sink, Source};

pub(super) const FORMAT: Format = Format {
    name: "blktrace",
    title: "blktrace, binary",
    layout: "records of 48 bytes: time (ns), sector (512 B), size (bytes), action, process, device",
    holds: Holds {
        devices: true,
        response: true,
        queue_events: true,
        process: true,
        other_operations: true,
    },
    place: "byte",
    has_address_unit: false,
    recognise: |head| {
        let first = head.bytes.first_chunk::<4>();
        first.is_some_and(|bytes| {
            let magic = u32::from_le_bytes(*bytes);
            is_magic(magic) || is_magic(magic.swap_bytes())
        })
    },
    open: |inputs, options| {
        for input in &inputs {
            let first = input.bytes().first_chunk::<4>();
            if first.is_some_and(|bytes| is_magic(u32::from_be_bytes(*bytes))) {
                return Err(TraceError::Refused {
                    file: input.name.clone(),
                    format: "blktrace",
                    reason: "it was written by a machine with the highest byte first; read what \
                             blkparse prints of it",
                });
            }
        }
        Ok(vec![Box::new(Blktrace {
            time_unit_ns: options.time_unit_ns.unwrap_or(1),
            processors: inputs
                .into_iter()
                .map(|input| Processor { input, next: None })
                .collect(),
            heads: BinaryHeap::new(),
            has_begun: false,
            events: BlockEvents::default(),
        })])
    },
};

const BYTES: usize = 48;
const MAGIC: u32 = 0x6561_7400;

const fn is_magic(magic: u32) -> bool {
    // The low byte is the version, 7 since 2007.
    magic & 0xffff_ff00 == MAGIC
}

/// The relevant events, in the low byte of an action.
const QUEUE: u32 = 1;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;

/// Kinds of requests, bits in the high half of an action.
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

/// Number of bits of a device number that are its minor number.
const MINOR_BITS: u32 = 20;

/// A relevant event.
#[derive(Clone, Copy)]
struct Event {
    stage: Stage,
    operation: Operation,
    time_ns: u64,
    sector: u64,
    bytes: u32,
    device: u32,
    process: u32,
    position: u64,
}

struct Processor {
    input: Input,
    next: Option<Event>,
}

struct Blktrace {
    time_unit_ns: u64,
    processors: Vec<Processor>,
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    has_begun: bool,
    events: BlockEvents,
}

fn stage_of(action: u32) -> Option<(Stage, Operation)> {
    if action & NOTIFY != 0 {
        return None;
    }
    let stage = match action & 0xff {
        QUEUE => Stage::Queued,
        ISSUE => Stage::Dispatched,
        COMPLETE => Stage::Completed,
        _ => return None,
    };
    let operation = if action & DISCARD != 0 {
        Operation::Trim
    } else if action & WRITE != 0 {
        Operation::Write
    } else if action & READ != 0 {
        Operation::Read
    } else if action & FLUSH != 0 {
        Operation::Flush
    } else {
        return None;
    };
    Some((stage, operation))
}

impl Processor {
    /// The next relevant event; `None` at the end.
    fn event(&mut self, file: u16, sink: &mut Sink) -> Result<Option<Event>, TraceError> {
        loop {
            let Some(record) = self.input.bytes().first_chunk::<BYTES>() else {
                if !self.input.is_at_end() {
                    self.input.fill()?;
                    continue;
                }
                let bytes = self.input.bytes().len();
                if bytes > 0 {
                    (sink.file, sink.position) = (file, self.input.offset());
                    self.input.consume(bytes);
                    sink.bad_here(Problem::CutRecord { bytes }, &[])?;
                }
                return Ok(None);
            };
            if !is_magic(u32_at(record, 0)) {
                (sink.file, sink.position) = (file, self.input.offset());
                sink.bad_here(Problem::Record(NO_MAGIC), &[])?;
                self.seek_magic();
                continue;
            }
            sink.checks.lines += 1;
            let action = u32_at(record, 28);
            let found = stage_of(action).map(|(stage, operation)| Event {
                stage,
                operation,
                time_ns: u64_at(record, 8),
                sector: u64_at(record, 16),
                bytes: u32_at(record, 24),
                process: u32_at(record, 32),
                device: u32_at(record, 36),
                position: self.input.offset(),
            });
            let follow = usize::from(u16_at(record, 46));
            self.pass(BYTES + follow)?;
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    fn pass(&mut self, count: usize) -> Result<(), TraceError> {
        // At most 64 KiB, which fits into the buffer.
        if self.input.bytes().len() < count {
            self.input.fill_to(count)?;
        }
        self.input.consume(count);
        Ok(())
    }

    /// Continues where the next record may begin.
    fn seek_magic(&mut self) {
        let bytes = self.input.bytes();
        let magic = MAGIC.to_le_bytes();
        let marks = |window: &[u8]| window.get(1..) == magic.get(1..);
        let found = bytes.windows(4).skip(1).position(marks);
        let count = found.map_or(bytes.len().saturating_sub(3).max(1), |place| place + 1);
        self.input.consume(count);
    }
}

const NO_MAGIC: &str = "no record of blktrace begins here";

impl Blktrace {
    fn begin(&mut self, sink: &mut Sink) -> Result<(), TraceError> {
        self.has_begun = true;
        for index in 0..self.processors.len() {
            self.offer(index, sink)?;
        }
        Ok(())
    }

    fn offer(&mut self, index: usize, sink: &mut Sink) -> Result<(), TraceError> {
        let Some(processor) = self.processors.get_mut(index) else {
            return Ok(());
        };
        // There are at most as many as files.
        processor.next = processor.event(index as u16, sink)?;
        if let Some(event) = &processor.next {
            self.heads.push(Reverse((event.time_ns, index)));
        }
        Ok(())
    }

    fn next_event(&mut self, sink: &mut Sink) -> Result<Option<Event>, TraceError> {
        if let [only] = self.processors.as_mut_slice() {
            sink.file = 0;
            return only.event(0, sink);
        }
        let Some(Reverse((_, index))) = self.heads.pop() else {
            return Ok(None);
        };
        let event = self
            .processors
            .get_mut(index)
            .and_then(|each| each.next.take());
        self.offer(index, sink)?;
        // There are at most as many as files.
        sink.file = index as u16;
        Ok(event)
    }

    #[inline]
    fn take(&mut self, event: Event, sink: &mut Sink) -> Result<(), Problem> {
        let operation = match event.operation {
            Operation::Write if event.bytes == 0 => Operation::Flush,
            other => other,
        };
        if operation == Operation::Flush && event.stage != Stage::Queued {
            return Ok(());
        }
        let too_large = |field| Problem::TooLarge { field };
        let time_ns = event.time_ns.checked_mul(self.time_unit_ns);
        let time_ns = time_ns.ok_or(too_large("time"))?;
        let sector = if operation == Operation::Flush {
            0
        } else {
            event.sector
        };
        let offset_bytes = sector
            .checked_mul(SECTOR_BYTES)
            .ok_or(too_large("sector"))?;
        let minor = event.device & ((1 << MINOR_BITS) - 1);
        let device = sink.devices.paired(event.device >> MINOR_BITS, minor)?;
        let size_bytes = u64::from(event.bytes);
        let mut record = Record::new(time_ns, device, operation, offset_bytes, size_bytes);
        record.process = event.process;
        self.events.take(event.stage, record, sink)
    }
}

impl Source for Blktrace {
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError> {
        if !self.has_begun && self.processors.len() > 1 {
            self.begin(sink)?;
        }
        while !sink.is_full() {
            let Some(event) = self.next_event(sink)? else {
                self.events.finish(sink);
                return Ok(true);
            };
            sink.position = event.position;
            if let Err(problem) = self.take(event, sink) {
                sink.bad_here(problem, &[])?;
            }
        }
        Ok(false)
    }
}
