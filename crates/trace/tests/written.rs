//! What is written is read back, except what a format cannot store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use drivelab_trace::{
    Compression, FIRST_NUMBER, Operation, Record, TraceError, TraceWriter, UNKNOWN,
    UNKNOWN_PROCESS, WRITTEN_FORMATS, Written,
};
use proptest::prelude::*;

use crate::made::*;

/// Memory that can be examined after the writer is gone.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes requests in two batches.
pub fn write_as(
    format: &str,
    compression: Compression,
    records: &[Record],
    devices: &[&str],
    may_leave_out: bool,
) -> Result<(Vec<u8>, Written), TraceError> {
    let output = Shared::default();
    let kept = output.clone();
    let mut writer = TraceWriter::new(Box::new(output), format, compression, may_leave_out)?;
    let (first, second) = records.split_at(records.len() / 2);
    writer.write(first, devices)?;
    writer.write(second, devices)?;
    let written = writer.finish()?;
    let bytes = kept.0.lock().unwrap().clone();
    Ok((bytes, written))
}

/// Records without the place where they were read.
fn placeless(records: &[Record]) -> Vec<Record> {
    let placeless = |record: &Record| Record {
        position: 0,
        file: 0,
        ..*record
    };
    records.iter().map(placeless).collect()
}

/// The largest read or write of a trace.
const MOST_MOVED_BYTES: u64 = 4 << 30;

/// Time step, device, operation, place, and other known values.
type Drawn = (u64, u32, usize, (u64, u64), (u64, u64, u64, u32));

/// Requests in order from time 0 on, with devices in order of appearance.
fn requests(most: u64) -> impl Strategy<Value = Vec<Record>> {
    let known = prop_oneof![Just(UNKNOWN), 0..most];
    let process = prop_oneof![Just(UNKNOWN_PROCESS), 0..UNKNOWN_PROCESS];
    let times = (known.clone(), known.clone(), known, process);
    let place = (0..most / 2, 1..=MOST_MOVED_BYTES);
    let one = (0..1_u64 << 40, 0..4_u32, 0..5_usize, place, times);
    prop::collection::vec(one, 1..60).prop_map(|drawn| {
        let mut arrival_ns = 0;
        let mut seen = Vec::new();
        let record = |(index, drawn): (usize, Drawn)| {
            let (step, device, operation, place, times) = drawn;
            arrival_ns += if index == 0 { 0 } else { step };
            if !seen.contains(&device) {
                seen.push(device);
            }
            let device = seen.iter().position(|each| *each == device).unwrap() as u32;
            let operation = Operation::ALL[operation];
            let mut record = Record::new(arrival_ns, device, operation, place.0, place.1);
            (
                record.response_ns,
                record.queue_ns,
                record.device_ns,
                record.process,
            ) = times;
            record
        };
        drawn.into_iter().enumerate().map(record).collect()
    })
}

/// The part of a request that SPC, MQSim and iologs store.
fn only_place(record: &Record) -> Record {
    let place = (record.offset_bytes, record.size_bytes);
    Record::new(
        record.arrival_ns,
        record.device,
        record.operation,
        place.0,
        place.1,
    )
}

fn names(records: &[Record], names: &[&'static str]) -> Vec<&'static str> {
    let count = records
        .iter()
        .map(|record| record.device + 1)
        .max()
        .unwrap_or(0);
    names[..count as usize].to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn parquet_holds_everything(records in requests(i64::MAX as u64)) {
        let devices = names(&records, &["7", "hm:0", "/dev/sd b", "ü"]);
        let (bytes, written) =
            write_as("parquet", Compression::None, &records, &devices, false).unwrap();
        let expected = Written { requests: records.len() as u64, ..Written::default() };
        prop_assert_eq!(written, expected);
        let read = read(bytes).unwrap();
        prop_assert_eq!(read.format, "parquet");
        prop_assert_eq!(placeless(&read.records), records);
        prop_assert_eq!(read.devices, devices);
    }

    #[test]
    fn spc_and_mqsim_hold_reads_and_writes(drawn in requests(1 << 50), zstd in any::<bool>()) {
        let records: Vec<Record> = drawn.iter().map(|record| {
            let mut record = only_place(record);
            record.operation = Operation::ALL[record.operation.index() % 2];
            record.offset_bytes = record.offset_bytes / 512 * 512;
            record.size_bytes = (record.size_bytes / 512 + 1) * 512;
            record
        }).collect();
        let devices = names(&records, &["7", "0", "18446744073709551615", "1000000"]);
        let compression = if zstd { Compression::Zstd } else { Compression::Gzip };
        for format in ["spc", "mqsim"] {
            let (bytes, _) = write_as(format, compression, &records, &devices, false).unwrap();
            let read = read(bytes).unwrap();
            prop_assert_eq!(read.format, format);
            prop_assert_eq!(placeless(&read.records), records.clone());
            prop_assert_eq!(&read.devices, &devices);
        }
        // Sizes in SPC are bytes.
        let odd: Vec<Record> =
            records.iter().map(|r| Record { size_bytes: r.size_bytes - 1, ..*r }).collect();
        let (bytes, _) = write_as("spc", Compression::None, &odd, &devices, false).unwrap();
        prop_assert_eq!(placeless(&read(bytes).unwrap().records), odd);
    }

    #[test]
    fn iologs_hold_commands_and_microseconds(drawn in requests(1 << 50)) {
        let records: Vec<Record> = drawn.iter().map(|record| {
            let mut record = only_place(record);
            record.operation = Operation::ALL[record.operation.index() % 4];
            record.arrival_ns = record.arrival_ns / 1000 * 1000;
            record
        }).collect();
        let devices = names(&records, &["/dev/sdb", "0", "hm:0", "x"]);
        let (bytes, written) =
            write_as("fio-iolog", Compression::None, &records, &devices, false).unwrap();
        prop_assert_eq!(written.times_rounded, 0);
        let read = read(bytes).unwrap();
        prop_assert_eq!(placeless(&read.records), records);
        prop_assert_eq!(read.devices, devices);
    }
}

fn one(operation: Operation, arrival_ns: u64, offset_bytes: u64, size_bytes: u64) -> Record {
    Record::new(arrival_ns, 0, operation, offset_bytes, size_bytes)
}

#[test]
fn texts_are_as_their_readers_want_them() {
    let records = [
        one(Operation::Write, 1_500, 512, 4096),
        one(Operation::Read, 2_000_000_001, 0, 512),
    ];
    let text = |format| {
        let (bytes, _) = write_as(format, Compression::None, &records, &["3"], false).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!(
        text("spc"),
        "3,1,4096,W,0.000001500\n3,0,512,R,2.000000001\n"
    );
    assert_eq!(text("mqsim"), "1500 3 1 8 0\n2000000001 3 0 1 1\n");
    let iolog = "fio version 3 iolog\n1 3 add\n1 3 open\n1 3 write 512 4096\n\
                 2000000 3 read 0 512\n2000000 3 close\n";
    assert_eq!(text("fio-iolog"), iolog);
}

#[test]
fn what_cannot_be_held_is_refused_or_counted() {
    let cases = [
        ("spc", one(Operation::Trim, 0, 0, 512), "0", "kind trim"),
        (
            "spc",
            one(Operation::Read, 0, 511, 512),
            "0",
            "an offset of 511 bytes",
        ),
        ("mqsim", one(Operation::Flush, 0, 0, 0), "0", "kind flush"),
        (
            "mqsim",
            one(Operation::Read, 0, 512, 513),
            "0",
            "a size of 513 bytes",
        ),
        (
            "fio-iolog",
            one(Operation::Other, 0, 0, 0),
            "0",
            "kind other",
        ),
        (
            "fio-iolog",
            one(Operation::Read, 0, 0, 512),
            "a b",
            "a device called \"a b\"",
        ),
        (
            "fio-iolog",
            one(Operation::Read, 0, 0, 512),
            "",
            "a device called \"\"",
        ),
        (
            "parquet",
            one(Operation::Read, 1 << 63, 0, 512),
            "0",
            "a number above",
        ),
    ];
    for (format, record, device, says) in cases {
        let good = one(Operation::Read, 0, 0, 512);
        let records = [record, Record { device: 1, ..good }];
        let refused = write_as(format, Compression::None, &records, &[device, "9"], false);
        let error = refused.unwrap_err().to_string();
        assert!(
            error.starts_with("request 1: ") && error.contains(says),
            "{error}"
        );
        let (bytes, written) =
            write_as(format, Compression::None, &records, &[device, "9"], true).unwrap();
        assert_eq!(written.requests, 1);
        assert_eq!(written.left_out[record.operation.index()], 1);
        assert_eq!(read(bytes).unwrap().records.len(), 1);
    }
}

#[test]
fn what_has_no_place_is_counted() {
    let mut record = one(Operation::Read, 1_001, 0, 512);
    (record.response_ns, record.queue_ns, record.process) = (5, 3, 1);
    let written = |format| {
        write_as(format, Compression::None, &[record], &["0"], false)
            .unwrap()
            .1
    };
    for format in ["spc", "mqsim", "fio-iolog"] {
        let found = written(format);
        let dropped = (
            found.responses_dropped,
            found.queue_events_dropped,
            found.processes_dropped,
        );
        assert_eq!(dropped, (1, 1, 1), "{format}");
        assert_eq!(found.times_rounded, u64::from(format == "fio-iolog"));
    }
    assert_eq!(
        written("parquet"),
        Written {
            requests: 1,
            ..Written::default()
        }
    );
}

#[test]
fn devices_without_numbers_are_numbered() {
    let devices = ["hm:0", "1000000", "007", "hm:1"];
    let records: Vec<Record> = (0..4)
        .map(|device| Record {
            device,
            ..one(Operation::Read, 0, 0, 512)
        })
        .collect();
    let result = write_as("spc", Compression::None, &records, &devices, false);
    assert!(
        result
            .unwrap_err()
            .to_string()
            .contains("the device 1000000")
    );
    let devices = ["hm:0", "5", "007", "hm:0"];
    let (bytes, written) = write_as("spc", Compression::None, &records, &devices, false).unwrap();
    assert_eq!(written.devices_numbered, 2);
    let expected = [FIRST_NUMBER, 5, FIRST_NUMBER + 1].map(|number| number.to_string());
    assert_eq!(read(bytes).unwrap().devices, expected);
}

#[test]
fn unknown_formats_and_compressed_parquet_are_refused() {
    for (format, compression) in [("msr", Compression::None), ("parquet", Compression::Gzip)] {
        let error = write_as(format, compression, &[], &[], false)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("spc, fio-iolog, mqsim, parquet") || error.contains("none"),
            "{error}"
        );
    }
}

/// An output that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("no space left"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error() {
    for format in WRITTEN_FORMATS {
        let written = TraceWriter::new(Box::new(Full), format, Compression::None, false);
        let ended = written.and_then(|mut writer| {
            writer.write(&[one(Operation::Read, 0, 0, 512)], &["0"])?;
            writer.finish()
        });
        let error = ended.unwrap_err();
        assert!(matches!(error, TraceError::Write(_)), "{format}");
        assert!(error.to_string().contains("no space left"), "{error}");
    }
}
