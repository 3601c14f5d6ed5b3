//! How the records of each format are read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_trace::{FORMATS, Operation, Options, Record, UNKNOWN, UNKNOWN_PROCESS};

use crate::made::*;
use Operation::{Flush, Other, Read as R, Trim, Write as W};

/// Arrival in ns, device, operation, offset and size in bytes.
type Plain = (u64, u32, Operation, u64, u64);

fn plain(records: &[Record]) -> Vec<Plain> {
    let plain = |record: &Record| {
        let place = (record.offset_bytes, record.size_bytes);
        (
            record.arrival_ns,
            record.device,
            record.operation,
            place.0,
            place.1,
        )
    };
    records.iter().map(plain).collect()
}

/// Reads a text, and checks its requests, its devices, and where they were read.
fn reads(bytes: impl Into<Vec<u8>>, expected: &[Plain], devices: &[&str]) -> Vec<Record> {
    let read = read(bytes).unwrap();
    assert_eq!(plain(&read.records), expected, "{}", read.format);
    assert_eq!(read.devices, devices, "{}", read.format);
    assert_eq!(read.checks.requests, expected.len() as u64);
    assert_eq!(read.checks.skipped(), 0);
    read.records
}

fn responses(records: &[Record]) -> Vec<u64> {
    records.iter().map(|record| record.response_ns).collect()
}

#[test]
fn spc() {
    let expected = [
        (0, 0, W, 51_200, 3584),
        (26_214_000, 1, R, 102_400, 4096),
        (26_214_000, 0, R, 54_784, 512),
    ];
    let records = reads(SPC, &expected, &["0", "1"]);
    let positions: Vec<u64> = records.iter().map(|record| record.position).collect();
    assert_eq!(positions, [1, 2, 3]);
    assert_eq!(responses(&records), [UNKNOWN; 3]);
    assert_eq!(records[0].process, UNKNOWN_PROCESS);
    assert_eq!(records[0].queue_ns, UNKNOWN);
}

#[test]
fn msr_cambridge() {
    let records = reads(
        MSR,
        &[(0, 0, R, 383_496_192, 32_768), (100, 1, W, 1024, 512)],
        &["hm:0", "hm:1"],
    );
    assert_eq!(responses(&records), [41_300, 2_800]);
    let expected = [
        (0, 0, W, 9_056_014_336, 2048),
        (21_500, 1, R, 11_855_351_808, 512),
    ];
    let records = reads(MSR_INDEXED, &expected, &["hm:0", "src:0"]);
    assert_eq!(responses(&records), [283_300, 261_700]);
}

#[test]
fn alibaba() {
    let expected = [
        (0, 0, W, 8_792_731_648, 16_384),
        (46_000, 1, R, 59_110_326_272, 360_448),
    ];
    reads(ALIBABA, &expected, &["419", "725"]);
}

#[test]
fn tencent() {
    let expected = [
        (0, 0, R, 12_910_952 * 512, 65_536),
        (1_000_000_000, 1, W, 6_338_688 * 512, 4096),
    ];
    reads(TENCENT, &expected, &["1063", "1627"]);
}

#[test]
fn systor() {
    let expected = [(0, 0, R, 89_012_224, 4096), (10_000, 1, W, 512, 1024)];
    let records = reads(SYSTOR, &expected, &["3", "4"]);
    assert_eq!(responses(&records), [314_000, UNKNOWN]);
    // Some response times are negative, which means unknown.
    let negative = "1455592200.1,-0.000314,R,3,89012224,4096\n";
    assert_eq!(responses(&read(negative).unwrap().records), [UNKNOWN]);
}

#[test]
fn fiu() {
    let expected = [
        (0, 0, W, 904_265_560 * 512, 4096),
        (38_064, 1, R, 926_858_672 * 512, 4096),
    ];
    let records = reads(FIU, &expected, &["6:0", "6:1"]);
    assert_eq!(records[1].process, 2559);
}

#[test]
fn fio_iologs() {
    let expected = [
        (0, 0, W, 0, 4096),
        (250_056_000, 0, R, 45_056, 8192),
        (250_057_000, 0, Trim, 4096, 4096),
        (250_058_000, 0, Flush, 0, 0),
    ];
    reads(FIO_3, &expected, &["/dev/sdb"]);
    let expected = [
        (0, 0, W, 0, 4096),
        (500_000, 0, R, 4096, 4096),
        (500_000, 0, Flush, 0, 0),
    ];
    reads(FIO_2, &expected, &["/dev/sdb"]);
}

#[test]
fn disksim_and_mqsim() {
    let expected = [(0, 0, R, 0, 2560), (4_638_150, 1, W, 576_560 * 512, 3072)];
    reads(DISKSIM, &expected, &["30", "20"]);
    let expected = [
        (0, 0, W, 264_719_034 * 512, 8192),
        (315_000, 1, R, 197_570_570 * 512, 8192),
    ];
    reads(MQSIM, &expected, &["4", "3"]);
    // Other flags of DiskSim are ignored.
    let flags = "1.5 0 8 8 4\n2.5 0 8 8 5\n";
    let read = read(flags).unwrap();
    assert_eq!(
        plain(&read.records),
        [(0, 0, W, 4096, 4096), (1_000_000, 0, R, 4096, 4096)]
    );
}

#[test]
fn vscsi() {
    let samples = samples();
    let binary = samples.iter().filter(|(name, _)| *name == "vscsi");
    let expected = [(0, 0, W, 5120, 512), (7_000, 0, R, 5632, 1024)];
    let found: Vec<_> = binary
        .map(|(_, bytes)| reads(bytes.clone(), &expected, &["0"]))
        .collect();
    assert_eq!(responses(&found[0]), [UNKNOWN; 2]);
    assert_eq!(responses(&found[1]), [99_000, 120_000]);
    assert_eq!((found[0][1].position, found[1][1].position), (32, 40));
    let expected = [
        (0, 0, W, 42_932_745 * 512, 512),
        (1_000_000_000, 0, R, 42_932_746 * 512, 1024),
    ];
    reads(VSCSI_TEXT, &expected, &["0"]);
}

#[test]
fn scsi_commands_are_named() {
    let commands = [
        (0x42, Trim),
        (0x35, Flush),
        (0x12, Other),
        (0x88, R),
        (0x8a, W),
        (0x00, Other),
    ];
    for (command, operation) in commands {
        let bytes = [vscsi_1(0x28, 512, 0, 1), vscsi_1(command, 512, 1, 2)].concat();
        assert_eq!(
            read(bytes).unwrap().records[1].operation,
            operation,
            "{command:x}"
        );
    }
}

#[test]
fn flashnet() {
    let expected = [
        (0, 0, W, 90_648_576, 4096),
        (250_000, 0, R, 31_408_128, 8192),
    ];
    let records = reads(FLASHNET, &expected, &["0"]);
    assert_eq!(responses(&records), [84_000, 71_000]);
}

/// Objects get the next free place of their tier and keep it.
#[test]
fn kv_cache() {
    let expected = [
        (0, 0, W, 0, 131_072),
        (500_000, 1, W, 0, 5000),
        (569_000, 1, R, 0, 5000),
        (579_000, 1, W, 8192, 4096),
    ];
    reads(KV_CACHE, &expected, &["Tier-0", "Tier-2"]);
    let grown = "1.5,Write,4096,T,a,P\n1.6,Write,1,T,b,P\n1.7,Write,4097,T,a,P\n1.8,Read,9,T,a,P\n";
    let offsets: Vec<u64> = read(grown)
        .unwrap()
        .records
        .iter()
        .map(|r| r.offset_bytes)
        .collect();
    assert_eq!(offsets, [0, 4096, 8192, 8192]);
    reads(
        KV_CACHE_JSON,
        &[(0, 0, W, 0, 5000), (69_000, 0, R, 0, 5000)],
        &["Tier-2"],
    );
}

#[test]
fn units_can_be_given() {
    let options = Options {
        time_unit_ns: Some(1_000),
        sector_bytes: Some(4096),
        ..Options::default()
    };
    let read = read_with("0,1,512,r,0\n0,2,512,w,7.5\n", &options).unwrap();
    assert_eq!(
        plain(&read.records),
        [(0, 0, R, 4096, 512), (7_500, 0, W, 8192, 512)]
    );
}

#[test]
fn devices_can_be_chosen() {
    let options = Options {
        devices: Some(vec!["1".to_owned(), "9".to_owned()]),
        ..Options::default()
    };
    let read = read_with(SPC, &options).unwrap();
    assert_eq!(plain(&read.records), [(0, 1, R, 102_400, 4096)]);
    assert_eq!((read.checks.requests, read.checks.filtered), (1, 2));
}

#[test]
fn a_thousand_devices_keep_their_numbers() {
    let lines: String = (0..3000)
        .map(|i| format!("{},1,512,r,{i}\n", i % 1000))
        .collect();
    let read = read(lines).unwrap();
    assert_eq!(read.devices.len(), 1000);
    assert!(
        read.records
            .iter()
            .enumerate()
            .all(|(i, r)| r.device as usize == i % 1000)
    );
}

/// A format's sample shows exactly what the format says that its records contain.
#[test]
fn formats_say_what_they_hold() {
    for (name, bytes) in samples() {
        let format = FORMATS.iter().find(|format| format.name == name).unwrap();
        let records = read(bytes).unwrap().records;
        let any = |tells: fn(&Record) -> bool| records.iter().any(tells);
        let holds = format.holds;
        // Version 1 of vscsi has no response times, version 2 has.
        if any(|record| record.response_ns != UNKNOWN) {
            assert!(holds.response, "{name}");
        } else {
            assert!(!holds.response || name == "vscsi", "{name}");
        }
        assert_eq!(
            any(|record| record.queue_ns != UNKNOWN),
            holds.queue_events,
            "{name}"
        );
        assert_eq!(
            any(|record| record.process != UNKNOWN_PROCESS),
            holds.process,
            "{name}"
        );
        assert!(!format.layout.is_empty() && !format.title.is_empty());
    }
}

/// docs/traces.md has a row for each format, and the row agrees with the format.
#[test]
fn documents_say_what_formats_hold() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/traces.md");
    let text = std::fs::read_to_string(path).unwrap();
    for format in FORMATS {
        let begin = format!("| `{}` |", format.name);
        let row = text
            .lines()
            .find(|line| line.starts_with(&begin))
            .expect(&begin);
        let cells: Vec<bool> = row.split('|').map(|cell| !cell.trim().is_empty()).collect();
        let holds = format.holds;
        let expected = [
            holds.devices,
            holds.response,
            holds.queue_events,
            holds.process,
            holds.other_operations,
        ];
        assert_eq!(cells[4..9], expected, "{row}");
    }
}
