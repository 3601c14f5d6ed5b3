//! The program as a user meets it: help, error lines, exit codes.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use drivelab_firmware::requests::{Kind, Request};

const GEOMETRY: &str = "2x2x1x64x64";

fn program(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drivelab-firmware"))
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Its one line on standard error when it refuses `words`.
fn refusal(words: &[&str]) -> String {
    let output = program(words);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("drivelab-firmware-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn snapshot(&self) -> String {
        let snapshot = self.file("state");
        let made = program(&["snapshot", "--out", &snapshot, "--geometry", GEOMETRY]);
        assert!(made.status.success());
        snapshot
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn writes(count: u64) -> Vec<u8> {
    let request = |number: u64| Request {
        sector: number * 32 % 400_000,
        sectors: 32,
        kind: if number.is_multiple_of(3) {
            Kind::Read
        } else {
            Kind::Write
        },
    };
    (0..count)
        .flat_map(|number| request(number).to_bytes())
        .collect()
}

#[test]
fn help_names_every_option() {
    let output = program(&["--help"]);
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    for option in [
        "--requests",
        "--snapshot",
        "--records",
        "--workers",
        "--depth",
        "--seed",
        "--threads",
        "--check",
        "--out",
        "--geometry",
        "--overwrite",
    ] {
        assert!(help.contains(option), "{option}");
    }
    assert_eq!(program(&["snapshot", "-h"]).stdout, help.as_bytes());
}

#[test]
fn records_are_written_a_line_each() {
    let folder = Folder::new("records");
    let snapshot = folder.snapshot();
    let (list, records) = (folder.file("list"), folder.file("records"));
    std::fs::write(&list, writes(2_500)).unwrap();
    let words = [
        "--requests",
        &list,
        "--snapshot",
        &snapshot,
        "--records",
        &records,
        "--check",
    ];
    let output = program(&words);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.starts_with("2500 requests in "), "{said}");
    assert!(said.contains("each valid once"), "{said}");
    let lines = std::fs::read_to_string(&records).unwrap();
    assert_eq!(lines.lines().count(), 2);
    // The same from standard input to standard output.
    let mut child = Command::new(env!("CARGO_BIN_EXE_drivelab-firmware"))
        .args(["--requests=-", "--records=-", "--snapshot", &snapshot])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&writes(2_500))
        .unwrap();
    let piped = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let counts = |lines: &str| -> Vec<String> {
        let lines = lines.lines();
        lines
            .map(|line| line.split(",\"wall_ns\"").next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(counts(&piped), counts(&lines));
}

#[test]
fn no_file_is_emptied_for_records() {
    let folder = Folder::new("kept");
    let (snapshot, list) = (folder.snapshot(), folder.file("list"));
    std::fs::write(&list, writes(1_500)).unwrap();
    let run = ["--requests", &list, "--snapshot", &snapshot];
    for file in [&list, &snapshot] {
        let before = std::fs::read(file).unwrap();
        let said = refusal(&[&run[..], &["--records", file]].concat());
        let why = "it exists and is not empty: choose another file for --records";
        assert!(said.contains(why), "{said}");
        assert!(std::fs::read(file).unwrap() == before);
    }
    // An empty file is filled, and output may go to something that is not a file.
    let empty = folder.file("empty");
    std::fs::write(&empty, "").unwrap();
    for file in [empty.as_str(), "/dev/null"] {
        let output = program(&[&run[..], &["--records", file]].concat());
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(whole_lines(&empty), 1);
}

/// Lines of a file of records, all of them complete.
fn whole_lines(records: &str) -> usize {
    let text = std::fs::read_to_string(records).unwrap();
    let is_whole = |line: &str| line.starts_with("{\"record\":") && line.ends_with("}\n");
    assert!(text.split_inclusive('\n').all(is_whole), "{text}");
    text.lines().count()
}

#[test]
fn a_bad_last_request_loses_no_record() {
    let folder = Folder::new("last");
    let (snapshot, list) = (folder.snapshot(), folder.file("list"));
    let records = folder.file("records");
    let mut requests = writes(3_000);
    requests.extend([0; 5]);
    std::fs::write(&list, requests).unwrap();
    for threads in [&[][..], &["--threads"]] {
        let _ = std::fs::remove_file(&records);
        let run = [
            "--requests",
            &list,
            "--snapshot",
            &snapshot,
            "--records",
            &records,
        ];
        let said = refusal(&[&run[..], threads].concat());
        assert!(said.contains("request 3000 is cut off"), "{said}");
        assert_eq!(whole_lines(&records), 3);
    }
}

#[test]
fn a_killed_program_has_written_its_records() {
    let folder = Folder::new("killed");
    let (snapshot, records) = (folder.snapshot(), folder.file("records"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_drivelab-firmware"))
        .args([
            "--requests=-",
            "--snapshot",
            &snapshot,
            "--records",
            &records,
        ])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&writes(2_500)).unwrap();
    // More requests may come, so the program waits, but has written two records.
    let lines = || std::fs::read_to_string(&records).map_or(0, |text| text.lines().count());
    for _ in 0..300 {
        if lines() == 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(whole_lines(&records), 2);
}

#[test]
fn bad_words_get_one_line() {
    let said = refusal(&[]);
    assert!(
        said.contains("--requests is missing: add --requests FILE"),
        "{said}"
    );
    assert!(refusal(&["--requests", "x"]).contains("--snapshot is missing"));
    assert!(refusal(&["snapshot"]).contains("--out is missing"));
    assert!(refusal(&["x"]).contains("x is not an option"));
    assert!(refusal(&["--speed"]).contains("--speed is no option"));
    assert!(refusal(&["--seed"]).contains("--seed needs a value"));
    assert!(refusal(&["--threads=2"]).contains("--threads takes no value"));
    for workers in ["0", "17", "four", "-1"] {
        let said = refusal(&["--workers", workers]);
        assert!(said.contains("write a number from 1 to 16"), "{said}");
    }
    let said = refusal(&["snapshot", "--out", "x", "--geometry", "4x4"]);
    assert!(said.contains("as 4x4x2x5120x512"), "{said}");
    assert!(!Path::new("x").exists());
}

#[test]
fn a_bad_geometry_gets_one_line() {
    let said = |geometry: &str| refusal(&["snapshot", "--out", "x", "--geometry", geometry]);
    for geometry in [
        "4x4",
        "1x1x1x32x16xK",
        "1x1x1x32x16x",
        "1x1xKx1x32x16",
        "1x1x1x32x16x2",
    ] {
        let said = said(geometry);
        assert!(
            said.contains("as 4x4x2x5120x512"),
            "{geometry} gives {said}"
        );
    }
    for geometry in ["1x1x1x8x8", "1x1x1x24x8"] {
        let said = said(geometry);
        assert!(said.contains("at least 25 blocks"), "{said}");
        assert!(said.contains("as 1x1x1x25x8"), "{said}");
    }
    // Products that do not fit into 64 bits.
    let said_of_dies = said("4294967295x4294967295x4294967295x64x64");
    assert!(said_of_dies.contains("from 1 to 64"), "{said_of_dies}");
    let said_of_pages = said("4x4x4x4294967295x4294967295");
    assert!(
        said_of_pages.contains("fewer blocks a die"),
        "{said_of_pages}"
    );
    assert!(!Path::new("x").exists());
}

#[test]
fn bad_files_get_one_line() {
    let folder = Folder::new("bad");
    let snapshot = folder.snapshot();
    let list = folder.file("list");
    let with = |bytes: &[u8]| {
        std::fs::write(&list, bytes).unwrap();
        refusal(&["--requests", &list, "--snapshot", &snapshot])
    };
    let mut wrong = writes(3);
    wrong[16 * 2 + 12] = 7;
    assert!(with(&wrong).contains("request 2 has kind 7"));
    wrong.truncate(16 * 2 + 5);
    assert!(with(&wrong).contains("request 2 is cut off after 5 of 16 bytes"));
    let mut wrong = writes(3);
    wrong[16 + 8..16 + 12].fill(0);
    assert!(with(&wrong).contains("request 1 has no length"));
    let mut wrong = writes(1);
    wrong[..8].fill(0xFF);
    assert!(with(&wrong).contains("beyond the drive's end"));
    let folder_name = folder.0.to_str().unwrap();
    let said = refusal(&["--requests", folder_name, "--snapshot", &snapshot]);
    assert!(said.contains("it is a folder"), "{said}");
    let said = refusal(&["--requests", &list, "--snapshot", &list]);
    assert!(
        said.contains("too short") && said.contains("snapshot --out FILE"),
        "{said}"
    );
    let nowhere = folder.file("no/such/folder");
    let said = refusal(&["--requests", &list, "--snapshot", &nowhere]);
    assert!(said.contains("No such file"), "{said}");
    let said = refusal(&["snapshot", "--out", &nowhere, "--geometry", GEOMETRY]);
    assert!(said.contains("No such file"), "{said}");
}

#[test]
fn a_snapshot_that_cannot_take_its_place_is_refused_before_the_work() {
    let folder = Folder::new("place");
    let inside = folder.file("inside");
    std::fs::create_dir(&inside).unwrap();
    // One line: the message that the snapshot is being made does not appear.
    let said = refusal(&["snapshot", "--out", &inside, "--geometry", GEOMETRY]);
    assert!(said.contains("it is a folder: name a file in it"), "{said}");
    let socket = folder.file("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let said = refusal(&["snapshot", "--out", &socket, "--geometry", GEOMETRY]);
    assert!(
        said.contains("it is no regular file: choose another name"),
        "{said}"
    );
    let left: Vec<_> = std::fs::read_dir(&folder.0).unwrap().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_snapshot_damaged_inside_gets_one_line() {
    let folder = Folder::new("inside");
    let (snapshot, list) = (folder.snapshot(), folder.file("list"));
    std::fs::write(&list, writes(5_000)).unwrap();
    let mut bytes = std::fs::read(&snapshot).unwrap();
    // The map begins at 64 KiB.
    bytes[64 << 10..96 << 10].fill(0x77);
    std::fs::write(&snapshot, bytes).unwrap();
    let output = program(&["--requests", &list, "--snapshot", &snapshot]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("snapshot"), "{said}");
}

#[test]
fn a_snapshot_that_is_damaged_inside_is_one_line_without_words_of_the_inside() {
    let folder = Folder::new("remedy");
    let (snapshot, requests) = (folder.snapshot(), folder.file("requests"));
    std::fs::write(&requests, writes(3000)).unwrap();
    let whole = std::fs::read(&snapshot).unwrap();
    // Entries of the map, and the last table, which says how far blocks are programmed.
    for (begin, end) in [
        (1 << 16, (1 << 16) + 40_000),
        (whole.len() - 500, whole.len()),
    ] {
        let mut damaged = whole.clone();
        damaged[begin..end].fill(0x11);
        std::fs::write(&snapshot, damaged).unwrap();
        let run = program(&["--requests", &requests, "--snapshot", &snapshot, "--check"]);
        let said = String::from_utf8(run.stderr).unwrap();
        let last = said.lines().last().unwrap();
        assert_eq!(run.status.code(), Some(1), "{said}");
        let remedy =
            "if the snapshot is damaged inside, make another with drivelab-firmware snapshot";
        assert!(last.contains(remedy), "{said}");
    }
}

#[test]
fn records_that_nobody_reads_are_an_error_with_a_line() {
    let folder = Folder::new("pipe");
    let (snapshot, requests) = (folder.snapshot(), folder.file("requests"));
    std::fs::write(&requests, writes(3000)).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_drivelab-firmware"))
        .args([
            "--requests",
            &requests,
            "--snapshot",
            &snapshot,
            "--records",
            "-",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(run.stdout.take());
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.starts_with("drivelab-firmware: standard output: Broken pipe"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}
