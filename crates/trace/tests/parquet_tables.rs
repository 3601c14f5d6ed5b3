//! Parquet files from other programs: columns with other names and types.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use drivelab_trace::{Columns, Compression, Operation, Options, Record, TraceError};
use parquet::basic::Compression as Packed;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::made::*;
use crate::written::write_as;

const SCHEMA: &str = "message trace {
    required double when;
    optional int32 kind;
    required int64 block;
    required int32 length;
    optional binary volume (UTF8);
    optional int64 at (TIMESTAMP(MICROS, true));
}";

fn column<T: DataType>(
    rows: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) {
    let mut column = rows.next_column().unwrap().unwrap();
    column
        .typed::<T>()
        .write_batch(values, levels, None)
        .unwrap();
    column.close().unwrap();
}

/// Three rows in each of two groups; the second row of each has no kind.
fn table(packed: Packed) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let settings = Arc::new(WriterProperties::builder().set_compression(packed).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, settings).unwrap();
    for group in [0.0, 10.0] {
        let mut rows = writer.next_row_group().unwrap();
        column::<DoubleType>(&mut rows, &[group + 0.5, group + 1.25, group + 2.0], None);
        column::<Int32Type>(&mut rows, &[1, 0], Some(&[1, 0, 1]));
        column::<Int64Type>(&mut rows, &[8, 16, 24], None);
        column::<Int32Type>(&mut rows, &[512, 1024, 4096], None);
        let names = ["a", "b"].map(ByteArray::from);
        column::<ByteArrayType>(&mut rows, &names, Some(&[1, 1, 0]));
        column::<Int64Type>(&mut rows, &[7, 8, 9], Some(&[1, 1, 1]));
        rows.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn mapped() -> Options {
    Options {
        columns: Columns {
            arrival: "when".to_owned(),
            offset: "block".to_owned(),
            size: "length".to_owned(),
            operation: "kind".to_owned(),
            device: None,
            response: None,
            queue: None,
            device_time: None,
            process: None,
        },
        columns_given: true,
        time_unit_ns: Some(1_000_000_000),
        sector_bytes: Some(512),
        ..skipping()
    }
}

#[test]
fn columns_are_mapped() {
    for packed in [
        Packed::UNCOMPRESSED,
        Packed::SNAPPY,
        Packed::GZIP(Default::default()),
    ] {
        let read = read_with(table(packed), &mapped()).unwrap();
        let found: Vec<_> = read
            .records
            .iter()
            .map(|r| {
                (
                    r.arrival_ns,
                    r.operation,
                    r.offset_bytes,
                    r.size_bytes,
                    r.position,
                )
            })
            .collect();
        let expected = [
            (0, Operation::Write, 4096, 512, 1),
            (1_500_000_000, Operation::Read, 12_288, 4096, 3),
            (10_000_000_000, Operation::Write, 4096, 512, 4),
            (11_500_000_000, Operation::Read, 12_288, 4096, 6),
        ];
        assert_eq!(found, expected);
        assert_eq!((read.checks.skipped(), read.checks.lines), (2, 6));
    }
    let refusing = Options {
        bad_lines: Default::default(),
        ..mapped()
    };
    let error = read_with(table(Packed::UNCOMPRESSED), &refusing)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("trace, row 2: the operation is not read, write"),
        "{error}"
    );
}

#[test]
fn timestamps_say_their_unit() {
    let mut options = mapped();
    options.columns.arrival = "at".to_owned();
    options.time_unit_ns = None;
    // Both groups have the times 7 and 9.
    let read = read_with(table(Packed::UNCOMPRESSED), &options).unwrap();
    let arrivals: Vec<u64> = read
        .records
        .iter()
        .map(|record| record.arrival_ns)
        .collect();
    assert_eq!(arrivals, [0, 0, 2_000, 2_000]);
}

#[test]
fn a_device_of_texts_must_be_there_in_each_row() {
    let mut options = mapped();
    options.columns.device = Some("volume".to_owned());
    let read = read_with(table(Packed::UNCOMPRESSED), &options).unwrap();
    // In each group, only the first row is complete.
    assert_eq!(read.records.len(), 2);
    assert_eq!(read.devices[0], "a");
}

#[test]
fn missing_columns_are_named() {
    let error = read(table(Packed::UNCOMPRESSED)).unwrap_err().to_string();
    assert!(
        error.contains("no column \"arrival_ns\"; it has when, kind, block"),
        "{error}"
    );
    let mut options = mapped();
    options.columns.response = Some("latency".to_owned());
    let error = read_with(table(Packed::UNCOMPRESSED), &options)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no column \"latency\""), "{error}");
}

#[test]
fn several_groups_are_one_trace() {
    let records: Vec<Record> = (0..300_000)
        .map(|index| Record::new(index * 10, 0, Operation::Read, index * 512, 512))
        .collect();
    let (bytes, _) = write_as("parquet", Compression::None, &records, &["0"], false).unwrap();
    // A few bytes for each request.
    assert!(bytes.len() < 10 * records.len(), "{}", bytes.len());
    let read = read(bytes).unwrap();
    assert!(read.records.iter().zip(&records).all(|(one, other)| {
        (one.arrival_ns, one.offset_bytes) == (other.arrival_ns, other.offset_bytes)
    }));
    assert_eq!(read.records.len(), records.len());
}

/// Cut or damaged anywhere, a file gives an error or a result, but never a panic.
#[test]
fn damage_is_an_error() {
    let whole = table(Packed::SNAPPY);
    for keep in [4, 8, 100, whole.len() - 1] {
        let error = read(whole[..keep].to_vec()).unwrap_err();
        assert!(matches!(error, TraceError::Format { .. }), "{error}");
    }
    for place in 4..whole.len() {
        for flipped in [0x01, 0x80] {
            let mut damaged = whole.clone();
            damaged[place] ^= flipped;
            if let Err(error) = read_with(damaged, &mapped()) {
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
}
