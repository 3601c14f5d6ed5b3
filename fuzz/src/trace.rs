//! Block traces. For any bytes: what is read is in order, complete and counted; skipping bad lines
//! gives the same requests as refusing them does up to the first one; the characteristics add up;
//! and text and Parquet that are written read back.
//!
//! The first byte chooses a format, or detection by content, and the second the sort window. The
//! rest is the file.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use drivelab_trace::{
    BadLines, Characterizer, Check, Columns, Compression, FORMATS, Given, Options, Record, Trace,
    TraceError, TraceWriter, UNKNOWN, UNKNOWN_PROCESS, cautions,
};

use crate::{Reader, check_message};

pub(crate) const READER: Reader = Reader {
    name: "trace",
    sources: &[
        "crates/trace/src/formats",
        "crates/trace/src/block_events.rs",
        "crates/trace/src/blocks.rs",
        "crates/trace/src/cells.rs",
        "crates/trace/src/characterize",
        "crates/trace/src/fields.rs",
        "crates/trace/src/head.rs",
        "crates/trace/src/input.rs",
        "crates/trace/src/lines.rs",
        "crates/trace/src/reader.rs",
        "crates/trace/src/sink.rs",
        "crates/trace/src/write",
    ],
    check,
    seeds,
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

fn check(data: &[u8]) {
    let &[format, window, ref bytes @ ..] = data else {
        return;
    };
    let named = FORMATS.get(usize::from(format) % (FORMATS.len() + 1));
    let mut options = Options {
        format: named.map(|format| format.name.to_owned()),
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
        let bytes = kept
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
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

const TEXTS: [(&str, &str); 17] = [
    (
        "spc",
        "0,100,3584,w,0.000000\n1,200, 4096, R,0.026214,more\n0,107,512,r,0.02\n",
    ),
    (
        "msr",
        "128166372003061629,hm,0,Read,383496192,32768,413\n1 128166372003061630,a,1,Write,1024,512,28\n",
    ),
    (
        "alibaba",
        "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n",
    ),
    (
        "tencent",
        "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n",
    ),
    (
        "systor",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1455592200.102930000,0.000314,R,3,89012224,4096\n1455592200.1,-1.5,W,4,512,1024\n",
    ),
    (
        "fiu",
        "1000 4892 syslogd 904265560 8 W 6 0 531e\n39064 2559 kjournald 926858672 8 R 6 1 4fd0\n",
    ),
    (
        "blkparse",
        "  8,16   5        2     0.000001850 18615  Q   R 100 + 16 [java]\n  8,16   5        5     0.000009000 18615  D   R 100 + 8 [java]\n  8,16   5        5     0.000009100 18615  D   R 108 + 8 [java]\n  8,16   5        6     0.000109000     0  C   R 108 + 8 [0]\n  8,16   5        6     0.000119000     0  C   R 100 + 8 [0]\n8,16 1 7 0.2 7 Q FWS [jbd2]\nCPU5 (8,16):\n",
    ),
    (
        "fio-iolog",
        "fio version 3 iolog\n28 /dev/sdb add\n258 /dev/sdb open\n264 /dev/sdb write 0 4096\n250320 /dev/sdb read 45056 8192\n250321 /dev/sdb trim 4096 4096\n250322 /dev/sdb sync 0 0\n",
    ),
    (
        "fio-iolog",
        "fio version 2 iolog\na add\na open\na write 0 4096\na wait 500 0\na read 4096 4096\na sync\n",
    ),
    (
        "disksim",
        "13.191135\t30\t0\t5\t1\n17.829285\t20\t576560\t6\t0\n",
    ),
    (
        "mqsim",
        "938513000 4 264719034 16 0\n938828000 3 197570570 16 1\n938820000 3 8 16 1\n",
    ),
    (
        "vscsi-text",
        "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,1024,42932746\n",
    ),
    (
        "flashnet",
        "0.000,84,0,4096,90648576,0.101,4096\n0.250,71,1,8192,31408128,0.300,8192\n",
    ),
    (
        "kv-cache",
        "Timestamp,Operation,Object_Size_Bytes,Tier,Key,Phase\n1740553426.194021,Write,131072,Tier-0,a/b,Prefill\n1740553426.194521,Read,5000,Tier-2,a/b,Evict\n",
    ),
    (
        "kv-cache",
        "{\"Timestamp\": 1.5, \"Operation\": \"Write\", \"Object_Size_Bytes\": 5000, \"Tier\": \"T\", \"Key\": \"a\"}\n",
    ),
    (
        "spc",
        "0,0,4096,R,18446744073.709551615\n0,36028797018963966,512,w,0\n0,1,0,r,1\n\0\n",
    ),
    (
        "spc",
        "0,1,512,R,0.5\n0,1,512,R,0.4\n0,1,512,R,0.5\n0,1,512,R,0.1\n0,1,512,R,0.6",
    ),
];

fn record_of_blktrace(time_ns: u64, action: u32, sector: u64, size: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0x6561_7407, 1] {
        bytes.extend(u32::to_le_bytes(word));
    }
    for wide in [time_ns, sector] {
        bytes.extend(wide.to_le_bytes());
    }
    for word in [size, action, 42, (8 << 20) | 16, 0, 2 << 16] {
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes.extend([1, 2]);
    bytes
}

fn seeds() -> Vec<Vec<u8>> {
    let with_format = |name: &str, bytes: &[u8]| {
        let place = FORMATS.iter().position(|format| format.name == name);
        let begin = [place.unwrap_or(FORMATS.len()) as u8, 4];
        [&begin, bytes].concat()
    };
    let mut all: Vec<Vec<u8>> = Vec::new();
    for (name, text) in TEXTS {
        all.push(with_format(name, text.as_bytes()));
        all.push(with_format("", text.as_bytes()));
    }
    let write = 1 << 17;
    let events = [
        record_of_blktrace(0, write | 1, 0, 8192),
        record_of_blktrace(5, write | 1, 16, 4096),
        record_of_blktrace(10, write | 7, 0, 4096),
        record_of_blktrace(20, write | 7, 8, 8192),
        record_of_blktrace(90, write | 8, 8, 8192),
        record_of_blktrace(95, write | 8, 0, 4096),
    ];
    all.push(with_format("blktrace", &events.concat()));
    let mut first = [0_u8; 32];
    (first[5], first[12], first[15], first[16], first[24]) = (2, 0x2a, 1, 9, 7);
    let mut second = [0_u8; 40];
    (
        second[0], second[3], second[9], second[16], second[24], second[32],
    ) = (0x28, 2, 2, 9, 7, 5);
    all.push(with_format("vscsi", &first.repeat(3)));
    all.push(with_format("vscsi", &second.repeat(3)));
    let mut oracle = [0_u8; 24];
    (oracle[0], oracle[12]) = (1, 9);
    oracle[16..].fill(255);
    all.push(with_format("", &oracle));
    let mut table = Record::new(0, 0, drivelab_trace::Operation::Write, 512, 4096);
    (table.response_ns, table.process) = (77, UNKNOWN_PROCESS - 1);
    let output = Shared::default();
    let kept = output.clone();
    let writer = TraceWriter::new(Box::new(output), "parquet", Compression::None, false);
    if let Ok(mut writer) = writer
        && writer
            .write(
                &[
                    table,
                    Record {
                        arrival_ns: 9,
                        ..table
                    },
                ],
                &["a"],
            )
            .is_ok()
        && writer.finish().is_ok()
    {
        let bytes = kept
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        all.push(with_format("parquet", &bytes));
    }
    let packed = Shared::default();
    let kept = packed.clone();
    if let Ok(mut writer) = TraceWriter::new(Box::new(packed), "spc", Compression::Gzip, false)
        && writer.write(&[table; 3], &["1"]).is_ok()
        && writer.finish().is_ok()
    {
        all.push(with_format(
            "",
            &kept
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        ));
    }
    all
}
