//! Impossible units and clocks are noticed; tests on both sides of the limits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_trace::{Options, cautions};

use crate::made::*;

fn names_with(text: String, options: &Options) -> Vec<&'static str> {
    let found = cautions(&read_with(text, options).unwrap().checks);
    assert!(found.iter().all(|caution| !caution.text.is_empty()));
    found.iter().map(|caution| caution.name).collect()
}

fn names(text: String) -> Vec<&'static str> {
    names_with(text, &Options::default())
}

fn lines(count: u64, line: impl Fn(u64) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn a_sound_trace_has_none() {
    assert_eq!(
        names(lines(200, |i| format!(
            "0,{i},4096,r,{}.{:06}\n",
            i / 9,
            1000 * (i % 9)
        ))),
        [""; 0]
    );
}

#[test]
fn times_in_another_unit_are_noticed() {
    let milliseconds = lines(200, |i| format!("0,{i},4096,r,{}\n", i * 10));
    let unit = |time_unit_ns| Options {
        time_unit_ns: Some(time_unit_ns),
        ..Options::default()
    };
    assert_eq!(names_with(milliseconds.clone(), &unit(1_000_000)), [""; 0]);
    assert_eq!(
        names_with(milliseconds.clone(), &unit(100_000_000_000)),
        ["span"]
    );
    assert_eq!(
        names_with(lines(200, |i| format!("0,{i},4096,r,{i}\n")), &unit(1)),
        ["rate"]
    );
    assert_eq!(
        names_with(lines(200, |i| format!("0,{i},65536,r,{i}\n")), &unit(50)),
        ["bandwidth"]
    );
    // A mean gap of ten minutes is the limit.
    assert_eq!(
        names(lines(200, |i| format!("0,{i},4096,r,{}\n", i * 600))),
        [""; 0]
    );
    assert_eq!(
        names(lines(200, |i| format!("0,{i},4096,r,{}\n", i * 610))),
        ["span"]
    );
}

#[test]
fn coarse_clocks_are_noticed() {
    let bursts = |step| {
        lines(200, |i| {
            format!("0,{i},4096,r,{:.6}\n", (i / 20) as f64 * step)
        })
    };
    assert_eq!(names(bursts(1.0)), ["coarse_clock"]);
    assert_eq!(names(bursts(0.001)), ["coarse_clock"]);
    assert_eq!(names(bursts(0.0009)), [""; 0]);
    assert_eq!(names(bursts(0.0)), ["no_clock"]);
    let text = &cautions(&read(bursts(1.0)).unwrap().checks)[0].text;
    assert!(text.starts_with("95 % of the requests"), "{text}");
    assert!(text.contains("smallest step is 1000 ms"), "{text}");
}

#[test]
fn places_sizes_and_responses_are_looked_at() {
    let line = |offset: u64, size: u64| format!("0,R,{offset},{size},5\n1,R,0,512,1000\n");
    assert_eq!(names(line(1_000_000_000_000_000 - 512, 512)), [""; 0]);
    assert_eq!(names(line(1_000_000_000_000_000, 512)), ["offset"]);
    assert_eq!(names(line(0, 1 << 30)), [""; 0]);
    assert_eq!(names(line(0, (1 << 30) + 1)), ["size"]);
    // On average 511.5 bytes: sectors, most likely.
    assert_eq!(names(line(0, 511)), ["size"]);
    let response = |seconds: u64| format!("1.0,{seconds},R,3,512,4096\n2.0,0,R,3,512,4096\n");
    assert_eq!(names(response(600)), [""; 0]);
    assert_eq!(names(response(601)), ["response"]);
    assert_eq!(names(response(0)), ["response"]);
}
