//! Invalid lines are refused with their place and the remedy, or skipped and counted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_trace::{Check, EXAMPLES, Given, MOST_LINE_BYTES, Options, TraceError};

use crate::made::*;

/// A line between two valid ones of SPC: the text of the refusal, and the check that counts it.
fn between(line: &str, says: &str, check: Check) {
    let text = format!("0,1,512,r,0.1\n{line}\n0,1,512,r,0.2\n");
    let options = of_format("spc");
    let error = read_with(text.clone(), &options).unwrap_err();
    assert!(matches!(error, TraceError::Bad { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.starts_with("trace, line 2: ") && message.contains(says),
        "{message}"
    );
    assert!(
        message.ends_with("mend it, skip bad lines with --on-bad skip, or name the right --format"),
        "{message}"
    );
    assert!(!message.contains('\n'));
    let read = read_with(
        text,
        &Options {
            format: options.format,
            ..skipping()
        },
    )
    .unwrap();
    assert_eq!(read.records.len(), 2, "{line}");
    assert_eq!(read.checks.skipped(), 1);
    let finding = read.checks.finding(check);
    assert_eq!(
        (finding.count, finding.places[0].position),
        (1, 2),
        "{line}"
    );
}

#[test]
fn each_kind_is_named() {
    between(
        "x",
        "the ASU is not a whole number: \"x\"",
        Check::Malformed,
    );
    between("0,1", "the size is not there", Check::Malformed);
    between("0,1,512", "the operation is not there", Check::Malformed);
    between("0,1,512,r", "the time is not there", Check::Malformed);
    between("0,1,512,r,", "the time is not a time", Check::Malformed);
    between(
        "0,-1,512,r,0.1",
        "the LBA is not a whole number",
        Check::Malformed,
    );
    between("0,1,512,x,0.1", "read (R) or a write (W)", Check::Malformed);
    between(
        "0,1,512,r,0.1 odd",
        "more behind the last field",
        Check::Malformed,
    );
    between("0,1,512,r,nan", "the time is not a time", Check::Malformed);
    between("0,1,5\u{0}12,r,0.1", "a byte of value 0", Check::Malformed);
    between("0,1,0,r,0.1", "a read of 0 bytes", Check::ZeroSize);
    between(
        "0,99999999999999999999,512,r,0.1",
        "larger than 64 bits",
        Check::TooLarge,
    );
    between(
        "0,18446744073709551615,512,r,0.1",
        "larger than 64 bits",
        Check::TooLarge,
    );
    between(
        "0,36028797018963967,1024,r,0.1",
        "the end is larger",
        Check::TooLarge,
    );
    between(
        "0,1,512,r,99999999999999.0",
        "the time is larger",
        Check::TooLarge,
    );
    between(
        "0,1,4294967808,w,0.1",
        "a write of 4294967808 bytes, and a device takes at most 4294967296 at once",
        Check::TooLarge,
    );
    between(
        "0,1,512,r,4611686119.0",
        "the request is 146 years away from one before it",
        Check::TooLarge,
    );
}

/// Also where the later request comes first.
#[test]
fn times_far_apart_are_bad_in_either_order() {
    let lines = |first_s: u64| format!("0,1,512,r,{first_s}.0\n0,1,512,r,1.0\n0,1,512,r,3.0\n");
    assert_eq!(read(lines(4_611_686_018)).unwrap().records.len(), 3);
    let error = read(lines(4_611_686_020)).unwrap_err().to_string();
    assert!(
        error.contains("line 2: the request is 146 years away from one before it"),
        "{error}"
    );
    let skipped = read_with(lines(4_611_686_020), &skipping()).unwrap();
    assert_eq!(skipped.records.len(), 2);
}

/// The longest line is read; one more byte makes it invalid.
#[test]
fn lines_have_a_limit() {
    let padded = |length: usize| {
        let start = "0,1,512,r,0.15,";
        format!(
            "0,1,512,r,0.1\n{start}{}\n0,1,512,r,0.2\n",
            "x".repeat(length - start.len())
        )
    };
    assert_eq!(read(padded(MOST_LINE_BYTES)).unwrap().records.len(), 3);
    let error = read(padded(MOST_LINE_BYTES + 1)).unwrap_err().to_string();
    assert!(
        error.contains("line 2: the line is longer than 65536 bytes"),
        "{error}"
    );
    for length in [MOST_LINE_BYTES + 1, 300_000, 3_000_000] {
        let read = read_with(padded(length), &skipping()).unwrap();
        assert_eq!(read.records.len(), 2);
        let finding = read.checks.finding(Check::LongLine);
        assert_eq!((finding.count, finding.places[0].position), (1, 2));
        // Lines after it keep their numbers.
        assert_eq!(read.records[1].position, 3);
    }
}

/// The clock of a device that is left out says nothing about the others.
#[test]
fn times_of_other_devices_are_not_compared() {
    let far = "1,1,512,r,5000000000.0\n";
    let near = "0,2,512,r,0.1\n";
    for lines in [format!("{far}{near}"), format!("{near}{far}")] {
        for device in ["0", "1"] {
            let options = Options {
                devices: Some(vec![device.to_owned()]),
                ..Options::default()
            };
            assert_eq!(read_with(lines.clone(), &options).unwrap().records.len(), 1);
        }
    }
}

#[test]
fn devices_have_an_end() {
    let options = |device_bytes| Options {
        device_bytes: Some(device_bytes),
        ..Options::default()
    };
    let text = "0,1,512,r,0.1\n0,2,1024,w,0.2\n";
    assert_eq!(read_with(text, &options(2048)).unwrap().records.len(), 2);
    let error = read_with(text, &options(2047)).unwrap_err().to_string();
    let says = "line 2: the request ends at byte 2048, and the device has 2047 bytes";
    assert!(error.contains(says), "{error}");
    assert_eq!(read(text).unwrap().checks.most_end_bytes, 2048);
}

#[test]
fn large_places_are_fine() {
    let read = read("0,1000000000000,512,r,0.1\n4294967295,36028797018963966,512,w,0.2\n").unwrap();
    assert_eq!(read.records[0].offset_bytes, 512_000_000_000_000);
    assert_eq!(read.records[1].offset_bytes + 512, u64::MAX - 511);
}

#[test]
fn examples_are_few() {
    let text: String = (0..20).map(|_| "0,1,512,r,0.1\nbad\n").collect();
    let options = Options {
        format: Some("spc".to_owned()),
        ..skipping()
    };
    let read = read_with(text, &options).unwrap();
    let finding = read.checks.finding(Check::Malformed);
    assert_eq!((finding.count, finding.places.len()), (20, EXAMPLES));
    assert_eq!(read.checks.lines, 40);
}

#[test]
fn words_before_a_trace_are_no_column_names() {
    let trace = "0,1,4096,r,0.1\n0,2,4096,r,0.2\n";
    let error = read(format!("total garbage here\n{trace}")).unwrap_err();
    assert!(error.to_string().contains("line 1"), "{error}");
    assert_eq!(
        read(format!("unit,place,size,operation,time\n{trace}"))
            .unwrap()
            .records
            .len(),
        2
    );
}

#[test]
fn nothing_is_refused_clearly() {
    assert!(matches!(read("").unwrap_err(), TraceError::Empty { .. }));
    assert!(matches!(
        read_files(&[], &Options::default()).unwrap_err(),
        TraceError::NoFiles
    ));
    // A file with only a header is a trace without requests.
    let read = read_with(
        "Timestamp,Response,IOType,LUN,Offset,Size\n",
        &of_format("systor"),
    );
    assert_eq!(read.unwrap().records, []);
    let missing = Given::Path("no/such/trace".into());
    let error = read_files(&[missing], &Options::default()).unwrap_err();
    assert!(matches!(error, TraceError::Open { .. }), "{error}");
    let folder = Given::Path(std::env::temp_dir());
    let error = read_files(&[folder], &Options::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("directory"), "{error}");
    let many = vec![given("t", SPC); drivelab_trace::MOST_FILES + 1];
    let error = read_files(&many, &Options::default()).unwrap_err();
    assert!(matches!(error, TraceError::TooManyFiles { .. }), "{error}");
}

#[test]
fn a_last_line_without_an_end_is_noted() {
    let read = read("0,1,512,r,0.1\n0,1,512,r,0.2").unwrap();
    assert_eq!(read.records.len(), 2);
    let finding = read.checks.finding(Check::NoLineEnd);
    assert_eq!((finding.count, finding.places[0].position), (1, 2));
    assert_eq!(read.checks.skipped(), 0);
}

#[test]
fn binary_records_name_their_byte() {
    let good = vscsi_1(0x28, 512, 0, 1);
    let mut bytes = [good.clone(), good.clone(), good.clone()].concat();
    bytes.truncate(80);
    let error = read(bytes.clone()).unwrap_err().to_string();
    let says = "byte 64: the file ends inside a record, after 16 bytes of it";
    assert!(error.contains(says), "{error}");
    assert_eq!(read_with(bytes, &skipping()).unwrap().records.len(), 2);
    let mut many = good.repeat(100);
    many[32 * 70 + 15] = 9;
    let error = read(many.clone()).unwrap_err().to_string();
    assert!(
        error.contains("byte 2240: the record is of no known version"),
        "{error}"
    );
    let read = read_with(many, &skipping()).unwrap();
    assert_eq!((read.records.len(), read.checks.lines), (99, 100));
}

/// With too many devices reading stops, whatever is skipped.
#[test]
fn too_many_devices_are_fatal() {
    let lines = |count: usize| -> String {
        (0..count)
            .map(|device| format!("{device},1,512,r,{device}\n"))
            .collect()
    };
    assert_eq!(
        read(lines(drivelab_trace::MOST_DEVICES))
            .unwrap()
            .devices
            .len(),
        65_536
    );
    let error = read_with(lines(drivelab_trace::MOST_DEVICES + 1), &skipping()).unwrap_err();
    assert!(
        error.to_string().contains("more than 65536 devices"),
        "{error}"
    );
}

#[test]
fn options_have_limits() {
    let wrong = [
        Options {
            sort_window: (1 << 20) + 1,
            ..Options::default()
        },
        Options {
            time_unit_ns: Some(0),
            ..Options::default()
        },
        Options {
            sector_bytes: Some(0),
            ..Options::default()
        },
        Options {
            device_bytes: Some(0),
            ..Options::default()
        },
    ];
    for options in wrong {
        let error = read_with(SPC, &options).unwrap_err();
        assert!(matches!(error, TraceError::Option { .. }), "{error}");
    }
}
