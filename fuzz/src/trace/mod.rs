//! Block traces. For any bytes: what is read is in order, complete and counted; skipping bad lines
//! gives the same requests as refusing them does up to the first one; the characteristics add up;
//! and text and Parquet that are written read back.
//!
//! Each format has a reader of its own ([`formats`]), for which the first byte is the sort window and
//! the rest is the file. This one finds the format by content: of any file, and of several formats
//! at once.

pub(crate) mod formats;
mod seeds;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use drivelab_trace::{
    BadLines, Characterizer, Check, Columns, Compression, Given, Options, Record, Trace,
    TraceError, TraceWriter, UNKNOWN, cautions,
};

use crate::{Reader, check_message};

pub(crate) const READER: Reader = Reader {
    name: "trace",
    sources: &[
        "crates/trace/src/blocks.rs",
        "crates/trace/src/cells.rs",
        "crates/trace/src/characterize",
        "crates/trace/src/formats/mod.rs",
        "crates/trace/src/head.rs",
        "crates/trace/src/input.rs",
        "crates/trace/src/lines.rs",
        "crates/trace/src/reader.rs",
        "crates/trace/src/sink.rs",
        "crates/trace/src/write",
    ],
    check: |data| check(data, None),
    seeds: seeds::of_any,
};

/// The most records read of a file that expands when it is decompressed.
const MOST_RECORDS: usize = 200_000;
/// The most records that are characterized, because a request may cover thousands of blocks.
const MOST_CHARACTERIZED: usize = 500;

/// Every request, or those before an error.
fn read(trace: &mut Trace) -> (Vec<Record>, Result<(), TraceError>) {
    let (mut records, mut batch) = (Vec::new(), Vec::new());
    while records.len() < MOST_RECORDS {
        if let Err(error) = trace.next_batch(&mut batch) {
            return (records, Err(error));
        }
        if batch.is_empty() {
            break;
        }
        records.extend_from_slice(&batch);
    }
    (records, Ok(()))
}

fn open(bytes: &[u8], options: &Options) -> Result<Trace, TraceError> {
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    Trace::open(&[Given::Memory("trace".to_owned(), bytes)], options)
}

/// Checks a file whose format is given, or found by content.
fn check(data: &[u8], format: Option<&str>) {
    let &[window, ref bytes @ ..] = data else {
        return;
    };
    let mut options = Options {
        format: format.map(str::to_owned),
        sort_window: usize::from(window),
        ..Options::default()
    };
    let mut strict = match open(bytes, &options) {
        Ok(trace) => trace,
        Err(error) => return check_message(&error),
    };
    let (first, ended) = read(&mut strict);
    sound(&strict, &first);
    options.bad_lines = BadLines::Skip;
    let Ok(mut lenient) = open(bytes, &options) else {
        panic!("what was opened once is opened again");
    };
    let (all, lenient_ended) = read(&mut lenient);
    sound(&lenient, &all);
    match ended {
        // A window may hold back requests before the bad line.
        Err(error) => check_message(&error),
        Ok(()) => {
            assert_eq!(first, all, "skipping changes what is not bad");
            assert!(lenient_ended.is_ok());
            assert_eq!(lenient.checks().skipped(), 0);
        }
    }
    if let Err(error) = lenient_ended {
        check_message(&error);
    }
    characterized(&all);
    written(&lenient, &all);
}

/// Characteristics of a trace, as a whole and by window.
fn characterized(records: &[Record]) {
    let records = records.get(..MOST_CHARACTERIZED).unwrap_or(records);
    let Ok(mut characterizer) = Characterizer::new(Some(1_000_000_000)) else {
        panic!("a second is a window");
    };
    if let Err(error) = characterizer.add(records) {
        return check_message(&error);
    }
    let Ok(found) = characterizer.finish() else {
        panic!("fewer requests than windows are kept");
    };
    let count = records.len() as u64;
    assert_eq!(found.tally.all_requests(), count);
    let of_windows = found
        .windows
        .iter()
        .map(|window| window.tally.all_requests());
    assert_eq!(of_windows.sum::<u64>(), count);
    for (direction, orders) in found.tally.orders.iter().enumerate() {
        let moved = found.tally.requests[direction];
        assert_eq!(orders.requests(), moved);
        let drawn = found
            .heat
            .cells(direction)
            .iter()
            .map(|&cell| u64::from(cell));
        assert_eq!(drawn.sum::<u64>(), moved);
        assert_eq!(found.sizes[direction].histogram().count(), moved);
    }
    let footprint = found.reuse.footprint();
    assert!(footprint.both <= footprint.read.min(footprint.written));
    assert!(footprint.read.max(footprint.written) <= footprint.blocks);
}

/// Properties of everything that was read.
fn sound(trace: &Trace, records: &[Record]) {
    let checks = trace.checks();
    assert_eq!(checks.requests, records.len() as u64);
    assert_eq!(checks.by_operation.iter().sum::<u64>(), checks.requests);
    assert!(records.is_sorted_by_key(|record| record.arrival_ns));
    assert!(records.first().is_none_or(|record| record.arrival_ns == 0));
    let devices = trace.devices().all();
    for record in records {
        assert!((record.device as usize) < devices.len());
        assert!(record.offset_bytes.checked_add(record.size_bytes).is_some());
        assert!(record.size_bytes > 0 || !record.operation.moves_data());
        let both = record.queue_ns != UNKNOWN && record.device_ns != UNKNOWN;
        if both && record.response_ns != UNKNOWN && trace.format().name != "parquet" {
            assert!(record.response_ns <= record.queue_ns.saturating_add(record.device_ns));
        }
    }
    for check in Check::ALL {
        let found = checks.finding(check);
        assert_eq!(found.places.is_empty(), found.count == 0);
        assert!(found.places.len() as u64 <= found.count);
    }
    for caution in cautions(checks) {
        check_message(&caution.text);
    }
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn bytes(&self) -> Vec<u8> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.clone()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes what was read, and reads it again.
fn written(trace: &Trace, records: &[Record]) {
    let devices: Vec<&str> = trace
        .devices()
        .all()
        .iter()
        .map(|each| each.name.as_str())
        .collect();
    let place = |record: &Record| {
        (
            record.arrival_ns,
            record.operation,
            record.offset_bytes,
            record.size_bytes,
        )
    };
    for format in ["spc", "parquet"] {
        let output = Shared::default();
        let kept = output.clone();
        let Ok(mut writer) = TraceWriter::new(Box::new(output), format, Compression::None, true)
        else {
            panic!("{format} is written");
        };
        if let Err(error) = writer.write(records, &devices) {
            panic!("what cannot be held is left out: {error}");
        }
        let Ok(counts) = writer.finish() else {
            panic!("memory takes everything");
        };
        let left_out: u64 = counts.left_out.iter().sum();
        assert_eq!(counts.requests + left_out, records.len() as u64);
        let bytes = kept.bytes();
        if left_out > 0 || bytes.is_empty() {
            continue;
        }
        let options = Options {
            format: Some(format.to_owned()),
            columns: Columns::default(),
            ..Options::default()
        };
        let mut again = match open(&bytes, &options) {
            Ok(trace) => trace,
            Err(error) => panic!("what was written is refused: {error}"),
        };
        let (found, ended) = read(&mut again);
        assert!(ended.is_ok());
        assert!(found.iter().map(place).eq(records.iter().map(place)));
        if format == "parquet" {
            let rest = |record: &Record| {
                (
                    record.response_ns,
                    record.queue_ns,
                    record.device_ns,
                    record.process,
                )
            };
            assert!(found.iter().map(rest).eq(records.iter().map(rest)));
        }
    }
}
