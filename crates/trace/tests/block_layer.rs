//! Requests from events: dispatches and completions, merged and split requests, several files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_trace::{Check, Operation, Options, Record, UNKNOWN};

use crate::made::*;

/// Arrival, size, Q2D, D2C, response.
type Times = (u64, u64, u64, u64, u64);

fn times(records: &[Record]) -> Vec<Times> {
    let times = |r: &Record| {
        (
            r.arrival_ns,
            r.size_bytes,
            r.queue_ns,
            r.device_ns,
            r.response_ns,
        )
    };
    records.iter().map(times).collect()
}

fn event(time_ns: u64, action: u32, sector: u64, sectors: u32) -> Vec<u8> {
    blktrace(
        time_ns,
        action | WRITE,
        sector,
        sectors * 512,
        (time_ns % 5) as u16,
    )
}

#[test]
fn text_and_binary_tell_the_same() {
    let text = read(BLKPARSE).unwrap();
    assert_eq!(times(&text.records), [(0, 4096, 7_150, 100_000, 107_150)]);
    assert_eq!(
        (text.records[0].process, text.records[0].position),
        (18_615, 2)
    );
    assert_eq!(text.devices, ["8:16"]);
    let events = [
        blktrace(1_850, QUEUE | READ, 100, 4096, 0),
        blktrace(9_000, ISSUE | READ, 100, 4096, 2),
        blktrace(109_000, COMPLETE | READ, 100, 4096, 0),
    ];
    let binary = read(events.concat()).unwrap();
    assert_eq!(times(&binary.records), times(&text.records));
    assert_eq!(binary.devices, text.devices);
    assert_eq!(binary.records[0].offset_bytes, text.records[0].offset_bytes);
}

/// A request counts from when it is queued, not from its completion.
#[test]
fn requests_far_apart_are_bad_though_none_is_complete() {
    const YEARS_147: u64 = 147 * 365 * 86_400 * 1_000_000_000;
    let events = [event(0, QUEUE, 0, 8), event(YEARS_147, QUEUE, 8, 8)];
    let error = read(events.concat()).unwrap_err().to_string();
    assert!(
        error.contains("147 years away from one before it"),
        "{error}"
    );
}

#[test]
fn merged_requests_share_dispatch_and_completion() {
    let events = [
        event(0, QUEUE, 0, 8),
        event(10, QUEUE, 8, 8),
        event(20, QUEUE, 16, 8),
        event(30, ISSUE, 0, 24),
        event(50, QUEUE, 100, 8),
        event(100, COMPLETE, 0, 24),
    ];
    let read = read(events.concat()).unwrap();
    let expected = [
        (0, 4096, 30, 70, 100),
        (10, 4096, 20, 70, 90),
        (20, 4096, 10, 70, 80),
        (50, 4096, UNKNOWN, UNKNOWN, UNKNOWN),
    ];
    assert_eq!(times(&read.records), expected);
    assert_eq!(read.checks.finding(Check::LoneDispatch).count, 0);
}

#[test]
fn split_requests_end_with_their_last_part() {
    for second_part_first in [false, true] {
        let mut ends = [event(60, COMPLETE, 0, 8), event(90, COMPLETE, 8, 8)];
        if second_part_first {
            ends = [event(60, COMPLETE, 8, 8), event(90, COMPLETE, 0, 8)];
        }
        let begin = [
            event(0, QUEUE, 0, 16),
            event(10, ISSUE, 0, 8),
            event(20, ISSUE, 8, 8),
        ];
        let again = [
            event(95, QUEUE, 8, 8),
            event(96, ISSUE, 8, 8),
            event(99, COMPLETE, 8, 8),
        ];
        let read = read([begin.concat(), ends.concat(), again.concat()].concat()).unwrap();
        let expected = [(0, 8192, 10, 80, 90), (95, 4096, 1, 3, 4)];
        assert_eq!(times(&read.records), expected);
        assert_eq!(read.checks.finding(Check::LoneDispatch).count, 0);
        assert_eq!(read.checks.finding(Check::LoneCompletion).count, 0);
    }
}

#[test]
fn requests_to_one_place_take_turns() {
    let events = [
        event(0, QUEUE, 0, 8),
        event(1, QUEUE, 0, 8),
        event(2, ISSUE, 0, 8),
        event(10, COMPLETE, 0, 8),
        event(11, ISSUE, 0, 8),
        event(30, COMPLETE, 0, 8),
    ];
    let read = read(events.concat()).unwrap();
    assert_eq!(
        times(&read.records),
        [(0, 4096, 2, 8, 10), (1, 4096, 10, 19, 29)]
    );
}

/// In a trace without arrivals, requests arrive when they are dispatched.
#[test]
fn dispatches_alone_are_requests() {
    let events = [
        event(5, COMPLETE, 64, 8),
        event(10, ISSUE, 0, 8),
        event(30, COMPLETE, 0, 8),
    ];
    let read = read(events.concat()).unwrap();
    assert_eq!(times(&read.records), [(0, 4096, UNKNOWN, 20, 20)]);
    assert_eq!(read.checks.finding(Check::LoneDispatch).count, 1);
    let lone = read.checks.finding(Check::LoneCompletion);
    assert_eq!((lone.count, lone.places[0].position), (1, 0));
}

#[test]
fn flushes_and_discards_are_named() {
    let text = "8,0 1 1 0.1 7 Q FWS [jbd2]\n8,0 1 2 0.2 7 Q D 8 + 8 [fstrim]\n\
                8,0 1 3 0.3 7 Q WS 16 + 8 [x]\n8,0 1 4 0.4 7 Q FWFS 24 + 8 [x]\n\
                8,0 1 5 0.5 7 D FN [x]\n8,0 1 6 0.6 7 C N 0 [0]\n8,0 1 7 0.7 7 m N cfq odd words\n";
    let read = read(text).unwrap();
    let operations: Vec<_> = read.records.iter().map(|record| record.operation).collect();
    use Operation::{Flush, Trim, Write};
    assert_eq!(operations, [Flush, Trim, Write, Write]);
    assert_eq!(read.checks.skipped(), 0);
}

/// One file for each processor: a request may be queued in one and complete in another.
#[test]
fn files_of_processors_are_merged() {
    let first = [
        event(0, QUEUE, 0, 8),
        event(40, COMPLETE, 8, 8),
        event(50, QUEUE, 16, 8),
    ];
    let second = [
        event(10, QUEUE, 8, 8),
        event(20, ISSUE, 8, 8),
        event(60, ISSUE, 0, 8),
    ];
    let third = [event(70, COMPLETE, 0, 8)];
    let files = [&first[..], &second, &third].map(|events| given("t", events.concat()));
    let read = read_files(&files, &Options::default()).unwrap();
    let expected = [
        (0, 4096, 60, 10, 70),
        (10, 4096, 10, 20, 30),
        (50, 4096, UNKNOWN, UNKNOWN, UNKNOWN),
    ];
    assert_eq!(times(&read.records), expected);
    let files: Vec<u16> = read.records.iter().map(|record| record.file).collect();
    assert_eq!(files, [0, 1, 0]);
    assert_eq!(read.checks.finding(Check::StepBack).count, 0);
}

/// Requests wait for their completions, but not for ever.
#[test]
fn what_never_completes_is_given_out() {
    let mut events = vec![event(0, QUEUE, 1 << 30, 8)];
    for index in 0..20_000_u64 {
        events.push(event(10 + 4 * index, QUEUE, 8 * (index % 7), 8));
        events.push(event(11 + 4 * index, ISSUE, 8 * (index % 7), 8));
        events.push(event(12 + 4 * index, COMPLETE, 8 * (index % 7), 8));
    }
    let read = read(events.concat()).unwrap();
    assert_eq!(read.records.len(), 20_001);
    assert_eq!(read.records[0].response_ns, UNKNOWN);
    assert!(
        read.records[1..]
            .iter()
            .all(|record| record.response_ns == 2)
    );
    assert_eq!(read.checks.finding(Check::LoneCompletion).count, 0);
    // A completion after that many requests is still found.
    events.push(event(900_000, COMPLETE, 1 << 30, 8));
    let read = crate::made::read(events.concat()).unwrap();
    assert_eq!(read.records[0].response_ns, 900_000);
    let hot: Vec<Vec<u8>> = (0..50_000).map(|time| event(time, QUEUE, 0, 8)).collect();
    let read = crate::made::read(hot.concat()).unwrap();
    assert_eq!(read.records.len(), 50_000);
}

#[test]
fn the_other_byte_order_is_refused() {
    let bytes: Vec<u8> = event(0, QUEUE, 0, 8)
        .chunks(4)
        .flat_map(|w| w.iter().rev().copied())
        .collect();
    let error = read(bytes).unwrap_err().to_string();
    assert!(error.contains("highest byte first"), "{error}");
}

/// After a damaged record, reading continues at the next one.
#[test]
fn damage_is_passed() {
    let mut bytes = [
        event(0, QUEUE, 0, 8),
        event(5, QUEUE, 8, 8),
        event(10, QUEUE, 16, 8),
    ]
    .concat();
    bytes[49] = 0xff;
    let error = read(bytes.clone()).unwrap_err().to_string();
    assert!(error.contains("byte 48"), "{error}");
    let read = read_with(bytes, &skipping()).unwrap();
    let offsets: Vec<u64> = read
        .records
        .iter()
        .map(|record| record.offset_bytes)
        .collect();
    assert_eq!(offsets, [0, 8192]);
    assert_eq!(read.checks.finding(Check::Malformed).count, 1);
}
