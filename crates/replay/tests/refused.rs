//! Traces that cannot be replayed, with one line for each.

use bytes::Bytes;
use drivelab_replay::{Fit, Pace, ReplayError};
use drivelab_trace::{BadLines, Given, Options};
use drivelab_workload::PacedSource;

use crate::written::{RECORDED, Row, msr, origin, read, replay, spc, survey, with};

const CLOSED: Pace = Pace::Closed { depth: None };

fn refusal(text: impl Into<Bytes>, fit: Fit, needs_depth: bool) -> String {
    let error = survey(&origin(text), fit, needs_depth)
        .unwrap_err()
        .to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn nothing_to_send_is_said() {
    assert!(refusal("", Fit::Keep, false).contains("empty"));
    let options = Options {
        bad_lines: BadLines::Skip,
        format: Some("spc".to_owned()),
        ..Options::default()
    };
    let error = survey(&with("0,x\n0,y\n", options), Fit::Keep, false).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no request that can be sent (0 other requests, 2 bad lines)"),
        "{error}"
    );
}

#[test]
fn a_device_that_is_not_there_is_refused_with_those_that_are() {
    let options = Options {
        devices: Some(vec!["0".to_owned(), "x".to_owned()]),
        ..Options::default()
    };
    let rows: Vec<Row> = (0..30).map(|at| (at, at as u32, 0, 512, false)).collect();
    let error = survey(&with(spc(&rows), options), Fit::Keep, false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no device \"x\"; it has 0, 1, 2"), "{error}");
    assert!(error.ends_with("19 and 10 more"), "{error}");
}

#[test]
fn a_depth_that_nobody_recorded_is_asked_for() {
    let rows: Vec<Row> = (0..9).map(|at| (at, 0, 0, 512, false)).collect();
    let error = refusal(spc(&rows), Fit::Keep, true);
    assert!(
        error.contains("9 of 9 requests have no response time; give one with --depth"),
        "{error}"
    );
    let many: Vec<(Row, u64)> = (0..70_000)
        .map(|at| ((at, 0, 0, 512, false), 1 << 40))
        .collect();
    let error = refusal(msr(&many), Fit::Keep, true);
    assert!(
        error.contains("more than 65536 requests outstanding"),
        "{error}"
    );
}

#[test]
fn addresses_that_no_drive_has_are_refused() {
    let options = Options {
        sector_bytes: Some(1),
        ..Options::default()
    };
    let last = u64::MAX - 1;
    let text = format!("0,{},2,R,0\n", last - 1);
    let error = survey(&with(text, options.clone()), Fit::Keep, false).unwrap_err();
    assert!(matches!(error, ReplayError::TooFar { .. }), "{error}");
    // Two devices, each of which would fit alone.
    let half = 1_u64 << 63;
    let text = format!("0,{half},512,R,0\n1,{half},512,R,0\n");
    let error = survey(&with(text, options), Fit::Keep, false).unwrap_err();
    assert!(matches!(error, ReplayError::TooFar { .. }), "{error}");
}

#[test]
fn requests_larger_than_the_drive_do_not_wrap() {
    let replay = replay(&origin("0,0,8192,R,0\n"), Fit::Wrap, RECORDED);
    assert!(read(&replay, 8192).is_ok());
    let error = read(&replay, 8192 - 512).unwrap_err();
    assert!(error.contains("8192 bytes, more than the 7680"), "{error}");
}

#[test]
fn a_file_that_changes_between_the_readings_is_noticed() {
    let folder = std::env::temp_dir().join(format!("drivelab-replay-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("trace.spc");
    let rows: Vec<Row> = (0..9_000).map(|at| (at, 0, at * 8, 4096, false)).collect();
    std::fs::write(&path, spc(&rows)).unwrap();
    let on_disk = drivelab_replay::Origin::Files {
        files: vec![Given::Path(path.clone())],
        options: Box::default(),
    };
    let replay = replay(&on_disk, Fit::Scale, RECORDED);
    assert_eq!(read(&replay, 1 << 30).unwrap().len(), 9_000);

    let message = |rows: &[Row]| {
        std::fs::write(&path, spc(rows)).unwrap();
        read(&replay, 1 << 30).unwrap_err()
    };
    assert!(message(&rows[..8_000]).contains("8000 requests instead of 9000"));
    let mut others = rows.clone();
    others[4_321].4 = true;
    assert!(message(&others).contains("not what it was when it was looked at (other requests)"));
    others[4_321].2 = 1 << 40;
    assert!(message(&others).contains("it addresses something else"));
    let mut broken = spc(&rows);
    let middle = broken.len() / 2;
    broken[middle] = 0;
    std::fs::write(&path, broken).unwrap();
    let error = read(&replay, 1 << 30).unwrap_err();
    assert!(
        error.contains("line 4") && error.lines().count() == 1,
        "{error}"
    );
    std::fs::remove_file(&path).unwrap();
    assert!(
        replay
            .open((0, 1 << 30))
            .err()
            .unwrap()
            .contains("trace.spc")
    );
    std::fs::remove_dir(&folder).unwrap();
}

#[test]
fn a_recorded_depth_needs_the_survey_that_looked_for_it() {
    let rows: Vec<(Row, u64)> = (0..9)
        .map(|at| ((at * 10, 0, at, 512, false), 25))
        .collect();
    let replay = replay(&origin(msr(&rows)), Fit::Keep, CLOSED);
    assert_eq!(
        replay.surveyed.facts.depth,
        Some(((1 + 2 + 3 * 7) as f64 / 9.0, 3))
    );
}
