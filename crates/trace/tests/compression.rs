//! Plain, gzip and zstd files, complete and cut.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write;

use drivelab_trace::{Check, TraceError};

use crate::made::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn lines(count: usize) -> String {
    (0..count)
        .map(|i| {
            format!(
                "0,{},4096,r,{}.{:06}\n",
                i * 7919 % 100_003,
                i / 999,
                i % 999
            )
        })
        .collect()
}

#[test]
fn every_format_is_read_compressed() {
    for (name, bytes) in samples() {
        let plain = read(bytes.clone()).unwrap();
        for packed in [gzip(&bytes), zstd(&bytes)] {
            let found = read(packed).unwrap();
            assert_eq!((found.format, found.records), (name, plain.records.clone()));
        }
    }
}

/// Separately compressed parts that were joined are one trace.
#[test]
fn joined_files_are_one() {
    let whole = lines(2000);
    let (first, second) = whole.split_at(lines(900).len());
    let plain = read(whole.clone()).unwrap().records;
    for pack in [gzip, zstd] {
        let joined = [pack(first.as_bytes()), pack(second.as_bytes())].concat();
        assert_eq!(read(joined).unwrap().records, plain);
    }
}

#[test]
fn a_cut_file_is_an_error() {
    let text = lines(50_000);
    for packed in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
        for keep in [5, 20, packed.len() / 2, packed.len() - 1] {
            let error = read(packed[..keep].to_vec()).unwrap_err();
            let text = error.to_string();
            assert!(
                matches!(error, TraceError::Read { .. } | TraceError::Empty { .. }),
                "{text}"
            );
            assert!(text.starts_with("trace "), "{text}");
        }
    }
}

/// A megabyte that expands to gigabytes of nothing: one line without an end, and no memory for it.
#[test]
fn a_small_file_that_swells_is_one_bad_line() {
    let mut bomb = SPC.as_bytes().to_vec();
    let mut encoder = zstd::Encoder::new(&mut bomb, 1).unwrap();
    encoder.write_all(SPC.as_bytes()).unwrap();
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..300 {
        encoder.write_all(&zeros).unwrap();
    }
    encoder.finish().unwrap();
    let packed = bomb.split_off(SPC.len());
    assert!(packed.len() < 1 << 18);
    let error = read(packed.clone()).unwrap_err().to_string();
    assert!(
        error.contains("line 4: the line is longer than 65536 bytes"),
        "{error}"
    );
    let read = read_with(packed, &skipping()).unwrap();
    assert_eq!(read.records.len(), 3);
    assert_eq!(read.checks.finding(Check::LongLine).count, 1);
}

#[test]
fn other_compressions_are_named() {
    let begins: [(&[u8], &str); 4] = [
        (b"\xfd7zXZ\0\0\0", "xz"),
        (b"BZh91AY&", "bzip2"),
        (b"PK\x03\x04\0\0\0\0", "zip"),
        (b"\x04\x22\x4d\x18\0\0\0\0", "lz4"),
    ];
    for (bytes, name) in begins {
        let error = read(bytes).unwrap_err().to_string();
        assert!(
            error.contains(name) && error.contains("decompress it first"),
            "{error}"
        );
    }
}
