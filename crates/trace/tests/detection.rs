//! Formats are recognised by content.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_trace::{
    Compression, FORMATS, Operation, Options, Record, Trace, TraceError, format_named,
};

use crate::made::*;
use crate::written::write_as;

/// Each sample matches its own format and no other; two matches would be an error.
#[test]
fn formats_are_told_from_each_other() {
    let mut samples = samples();
    let record = Record::new(0, 0, Operation::Read, 0, 512);
    let (table, _) = write_as("parquet", Compression::None, &[record], &["0"], false).unwrap();
    samples.push(("parquet", table));
    for (name, bytes) in &samples {
        let trace = Trace::open(&[given("t", bytes.clone())], &Options::default()).unwrap();
        assert_eq!(trace.format().name, *name);
    }
    let sampled = |name: &str| samples.iter().any(|(sample, _)| *sample == name);
    let missing: Vec<_> = FORMATS
        .iter()
        .map(|f| f.name)
        .filter(|name| !sampled(name))
        .collect();
    assert_eq!(missing, ["oracle-general"]);
}

/// One line is enough, even without a line feed, with a header before it, or with a bad line among
/// others.
#[test]
fn little_is_enough() {
    for (name, bytes) in samples() {
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        if ["fio-iolog", "systor", "vscsi-text", "kv-cache"].contains(&name) || text.contains('\0')
        {
            continue;
        }
        let first = text.lines().next().unwrap();
        for few in [
            first.to_owned(),
            format!("# a comment\n\n{first}\r\n{first}\nodd\n{first}\n"),
        ] {
            let trace = Trace::open(&[given("t", few)], &Options::default()).unwrap();
            assert_eq!(trace.format().name, name);
        }
    }
}

#[test]
fn libcachesim_is_recognised_and_refused() {
    let records = [
        oracle_general(0, 77, 4096, 3),
        oracle_general(0, 78, 512, -1),
        oracle_general(1, 79, 4096, -1),
        oracle_general(1, 77, 4096, -1),
    ];
    let error = read(records.concat()).unwrap_err();
    assert!(matches!(error, TraceError::Refused { .. }));
    let text = error.to_string();
    assert!(
        text.contains("oracleGeneral") && text.contains("reads"),
        "{text}"
    );
}

#[test]
fn what_is_none_is_refused_with_what_there_is() {
    for bytes in [
        &b"hello world\n"[..],
        b"\0\0\0\0\0\0\0\0\0",
        b"\xff\xfe",
        b"1,2,3\n",
        b"\n\n",
    ] {
        let error = read(bytes).unwrap_err();
        assert!(matches!(error, TraceError::NotRecognised { .. }), "{error}");
        assert!(error.to_string().contains("spc, msr"), "{error}");
    }
    let error = read_with(SPC, &of_format("spx")).unwrap_err();
    assert!(matches!(error, TraceError::UnknownFormat { .. }));
    assert!(error.to_string().contains("spc"), "{error}");
    assert_eq!(format_named("msr").unwrap().name, "msr");
}

#[test]
fn a_format_can_be_given() {
    // Whole times mean MQSim, unless DiskSim is requested.
    let text = "10 0 8 8 1\n20 0 8 8 0\n";
    assert_eq!(read(text).unwrap().records[1].arrival_ns, 10);
    let read = read_with(text, &of_format("disksim")).unwrap();
    assert_eq!(read.records[1].arrival_ns, 10_000_000);
}
