//! A snapshot is the state it was made from, and damage is reported.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use drivelab_firmware::error::RunError;
use drivelab_firmware::run::{Settings, run};
use drivelab_firmware::snapshot::{Unfinished, load, save};

use crate::drive::{list, prepared, random_writes};

/// A file that is removed with its owner.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let name = format!("drivelab-firmware-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_run_from_a_file_is_one_from_the_state() {
    let file = Temporary::new("same");
    let requests = random_writes(5_000, 1);
    let settings = Settings::default();
    save(&prepared(), &file.0).unwrap();
    let before = std::fs::read(&file.0).unwrap();
    let direct = run(prepared(), list(&requests), &settings).unwrap();
    let mapped = run(load(&file.0).unwrap(), list(&requests), &settings).unwrap();
    assert_eq!(direct.counts, mapped.counts);
    assert_eq!(direct.state.programmed, mapped.state.programmed);
    mapped.state.check().unwrap();
    // Changes by a run are private.
    assert_eq!(std::fs::read(&file.0).unwrap(), before);
    // Its final state can be stored too.
    save(&mapped.state, &file.0).unwrap();
    load(&file.0).unwrap().check().unwrap();
}

#[test]
fn another_process_writes_its_own_unfinished_file() {
    let file = Temporary::new("two");
    let ours = Unfinished::begin(&file.0).unwrap();
    let name = file.0.file_name().unwrap().to_str().unwrap();
    let unfinished: Vec<String> = std::fs::read_dir(file.0.parent().unwrap())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|other| other.starts_with(name))
        .collect();
    let expected = format!("{name}.unfinished-{}", std::process::id());
    assert_eq!(unfinished, [expected]);
    ours.finish(&prepared()).unwrap();
    load(&file.0).unwrap().check().unwrap();
}

#[test]
fn damage_is_told() {
    let file = Temporary::new("damaged");
    save(&prepared(), &file.0).unwrap();
    let whole = std::fs::read(&file.0).unwrap();
    let refusal = |bytes: &[u8]| {
        std::fs::write(&file.0, bytes).unwrap();
        match load(&file.0) {
            Err(RunError::Snapshot { why, .. }) => why,
            Err(other) => other.to_string(),
            Ok(_) => "nothing".to_owned(),
        }
    };
    assert_eq!(refusal(&[]), "it is too short for a snapshot");
    let mut other = whole.clone();
    other[0] = b'X';
    assert_eq!(refusal(&other), "it is no snapshot of this program");
    let mut other = whole.clone();
    other[8] = 99;
    assert_eq!(refusal(&other), "another version of this program made it");
    let mut other = whole.clone();
    other[45] ^= 1;
    assert_eq!(refusal(&other), "its head is damaged");
    let mut other = whole.clone();
    other[16..20].fill(0xFF);
    assert!(refusal(&other).contains("channels x ways x dies must be from 1 to 64"));
    let short = &whole[..whole.len() - 1];
    assert!(refusal(short).contains("bytes instead of"));
    assert_eq!(refusal(&whole), "nothing");
}
