//! For any file, the loaders of configurations and scenarios return either what it describes, with
//! every value possible, or a one-line error.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::sync::Arc;

use drivelab_request::{CommandKind, SECTOR_BYTES};
use drivelab_sim::hdd::Disk;
use drivelab_sim::host::Plan;
use drivelab_sim::host::plan::window_of;
use drivelab_sim::preset::{self, DriveConfig, HddConfig};
use drivelab_sim::scenario::Scenario;
use drivelab_workload::{Arrivals, Characteristics, Key, Requests, Source};
use proptest::prelude::*;

use crate::small_drive::closed;

const GIB: u64 = 1 << 30;

const SCENARIO: &str = r#"summary = "everything"
requests = 100
duration_ns = 1_000_000
warmup_requests = 10
warmup_ns = 5
interval_ns = 1_000
[[stream]]
name = "closed"
queue_depth = 16
write_ratio = 0.3
read_size_bytes = 8192
write_size_bytes = 512
read_random = 0.5
write_random = 1
read_stride_bytes = 4096
write_stride_bytes = 0
range_offset_bytes = 4096
range_bytes = 1_048_576
priority = 1
queue_pair = 3
share = 0.5
[[stream]]
name = "open"
rate_iops = 2_000.5
arrivals = "fixed"
[[stream]]
name = "file"
requests_csv = "a.csv"
[[stream]]
name = "listed"
[[stream.request]]
at_ns = 1
action = "write"
offset_bytes = 0
size_bytes = 4096
forced = true
[[stream.request]]
at_ns = 1
action = "flush"
"#;

const CSV: &str = "at_ns,action,offset_bytes,size_bytes,forced\n0,write,0,4096,true\n\
                   10,trim,512,512,0\n10,read,1024,512,\n20,flush,,,\n";

/// Values that somebody, or a program, may have written.
const WRITTEN: &[&str] = &[
    "-1",
    "0",
    "1",
    "2",
    "3",
    "511",
    "512",
    "0.5",
    "1.5",
    "-0.0",
    "1e-320",
    "1e999",
    "nan",
    "-inf",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "0xffff_ffff",
    "0b1",
    "\"\"",
    "\" \"",
    "\"read\"",
    "\"fixed\"",
    "\"fresh\"",
    "\"\\u0000\"",
    "'''a\nb'''",
    "true",
    "[]",
    "[1, 2]",
    "[[]]",
    "{}",
    "{ a = 1 }",
    "1979-05-27",
    "",
    "=",
    ",",
    "\u{feff}",
];

/// A change of one line of a text.
#[derive(Clone, Debug)]
enum Change {
    Value(usize, &'static str),
    Key(usize, String),
    Remove(usize),
    Repeat(usize, usize),
    Cut(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let value = (0_usize..80, prop::sample::select(WRITTEN));
    prop_oneof![
        6 => value.prop_map(|(line, value)| Change::Value(line, value)),
        1 => (0_usize..80, "[a-z_.\\[\\]]{0,12}|\"(\\\\n|[a-z.])*\"")
            .prop_map(|(line, key)| Change::Key(line, key)),
        2 => (0_usize..80).prop_map(Change::Remove),
        1 => (0_usize..80, 0_usize..80).prop_map(|(line, to)| Change::Repeat(line, to)),
        1 => (0_usize..2000).prop_map(Change::Cut),
    ]
}

fn changed(text: &str, changes: &[Change], separator: char) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for change in changes {
        let count = lines.len().max(1);
        match change {
            Change::Value(line, value) if !lines.is_empty() => {
                let line = &mut lines[line % count];
                let key = line.split(separator).next().unwrap_or_default();
                *line = format!("{key}{separator}{value}");
            }
            Change::Key(line, key) if !lines.is_empty() => {
                let line = &mut lines[line % count];
                let value = line.split_once(separator).map_or("", |(_, value)| value);
                *line = format!("{key}{separator}{value}");
            }
            Change::Remove(line) if !lines.is_empty() => drop(lines.remove(line % count)),
            Change::Repeat(line, to) if !lines.is_empty() => {
                let repeated = lines[line % count].clone();
                lines.insert(to % count, repeated);
            }
            Change::Cut(at) => {
                let whole = lines.join("\n");
                let end = (0..=*at).rev().find(|&at| whole.is_char_boundary(at));
                lines = whole[..end.unwrap_or(0)]
                    .lines()
                    .map(str::to_owned)
                    .collect();
            }
            _ => {}
        }
    }
    lines.join("\n")
}

/// The error has one line and says what to do.
fn check_told(error: &dyn std::fmt::Display) {
    let message = error.to_string();
    assert_eq!(message.lines().count(), 1, "{message:?}");
    assert!(message.len() > 10, "{message:?}");
}

fn check_scenario(text: &str, csv: &str) {
    let files = Scenario::files(text);
    let scenario = match Scenario::read(text, &|_| Some(csv.to_owned())) {
        Ok(scenario) => scenario,
        Err(error) => return check_told(&error),
    };
    assert!(files.len() <= scenario.streams.len());
    let names: BTreeSet<_> = scenario.streams.iter().map(|s| &s.name).collect();
    assert_eq!(names.len(), scenario.streams.len());
    assert!(names.iter().all(|name| !name.trim().is_empty()));
    assert!(scenario.requests != Some(0) && scenario.interval.is_none_or(|at| at.0 > 0));
    for stream in &scenario.streams {
        match &stream.source {
            Source::Closed(requests) => check_requests(requests),
            Source::Open {
                requests,
                rate_iops,
                ..
            } => {
                check_requests(requests);
                assert!(Arrivals::RATES.contains(rate_iops));
            }
            Source::Paced(_) => unreachable!("a scenario names no trace"),
            Source::Windows(windows) => assert!(windows.validate().is_ok()),
            Source::Timed(commands) => {
                assert!(!commands.is_empty() && commands.is_sorted_by_key(|c| c.arrival));
                for command in commands.iter() {
                    let is_flush = command.kind == CommandKind::Flush;
                    assert_eq!(is_flush, command.size_bytes == 0);
                    assert!(command.size_bytes.is_multiple_of(SECTOR_BYTES));
                    assert!(!command.is_forced || command.kind == CommandKind::Write);
                }
            }
        }
    }
    let window = window_of(&scenario.streams, scenario.window());
    window.err().iter().for_each(|error| check_told(error));
    for stream in &scenario.streams {
        if let Source::Closed(requests) | Source::Open { requests, .. } = &stream.source {
            let loops = requests.loops(stream.range.unwrap_or((0, GIB)), Key::first(0, 0));
            loops.err().iter().for_each(|error| check_told(error));
        }
    }
}

/// Checks against what a large enough drive could serve.
fn check_requests(requests: &Requests) {
    let Requests::Characteristics(characteristics) = requests else {
        unreachable!("a scenario draws by characteristics");
    };
    assert_eq!(characteristics.validate(1 << 62), Ok(()));
}

fn check_configuration(text: &str) {
    let config = match DriveConfig::from_text(text) {
        Ok(DriveConfig::Ssd(config)) => config,
        Ok(DriveConfig::Hdd(config)) => return check_disk(&config),
        Ok(DriveConfig::Raid(config)) => {
            assert!(config.geometry.user_capacity_bytes > 0 && !config.hash().is_empty());
            return;
        }
        Err(error) => return check_told(&error),
    };
    let geometry = &config.geometry;
    assert!(geometry.page_size_bytes.is_power_of_two() && geometry.page_size_bytes >= 512);
    let pages = u64::from(config.planes())
        * u64::from(geometry.blocks_per_plane)
        * u64::from(geometry.pages_per_block);
    assert!(pages <= 1 << 32, "physical pages are numbered in 32 bits");
    assert!((1..pages).contains(&u64::from(config.logical_pages())));
    assert!(!config.name.trim().is_empty());
    // The resolved form is a valid configuration itself.
    assert!(serde_json::from_str::<serde_json::Value>(&config.resolved_json()).is_ok());
    assert!(!config.hash().is_empty());
}

/// A disk that was accepted can be built and used.
fn check_disk(config: &HddConfig) {
    assert!(!config.name.trim().is_empty() && !config.hash().is_empty());
    let capacity = config.geometry.user_capacity_bytes;
    assert!(capacity.is_multiple_of(SECTOR_BYTES.into()) && capacity > 0);
    let workload = Characteristics {
        write_ratio: 0.5,
        queue_depth: 3,
        read_size: SECTOR_BYTES,
        write_size: SECTOR_BYTES,
        write_random: 0.5,
        ..Characteristics::default()
    };
    let mut disk = Disk::new(config, &Arc::default());
    match disk.run(&closed(workload), Plan::counting(0, 20), 1, 0) {
        Ok(outcome) => assert_eq!(outcome.measured_requests, 20),
        Err(error) => check_told(&error),
    }
}

#[test]
fn the_unchanged_texts_are_accepted() {
    assert!(Scenario::read(SCENARIO, &|_| Some(CSV.to_owned())).is_ok());
    check_scenario(SCENARIO, CSV);
    for name in preset::names() {
        check_configuration(preset::text(name).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_changed_scenario_is_possible_or_refused(
        changes in prop::collection::vec(change(), 1..5),
        of_file in prop::collection::vec(change(), 0..3),
    ) {
        check_scenario(&changed(SCENARIO, &changes, '='), &changed(CSV, &of_file, ','));
    }

    #[test]
    fn a_changed_configuration_is_possible_or_refused(
        place in 0_usize..100,
        changes in prop::collection::vec(change(), 1..5),
    ) {
        let names = preset::names();
        let text = preset::text(names[place % names.len()]).unwrap();
        check_configuration(&changed(text, &changes, '='));
    }

    #[test]
    fn bytes_are_no_scenario_and_no_configuration_but_never_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        csv in ".{0,80}",
    ) {
        let text = String::from_utf8_lossy(&bytes);
        check_scenario(&text, &csv);
        check_scenario(SCENARIO, &text);
        check_configuration(&text);
    }
}
