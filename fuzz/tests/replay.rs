//! Past failures stay fixed, and a fixed number of changed seeds breaks no promise.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use drivelab_fuzz::mutation::Mutator;
use drivelab_fuzz::{READERS, Reader};

/// The same inputs every time, so a failure does not depend on luck.
const SEED: u64 = 1;
const INPUTS: usize = 4_000;
/// For each format of traces. There are many, and what is read is written and read again.
const INPUTS_OF_FORMATS: usize = 500;

fn inputs(reader: &Reader) -> usize {
    match reader.name.starts_with("trace-") {
        true => INPUTS_OF_FORMATS,
        false => INPUTS,
    }
}

/// Keeps an input that breaks a promise, and says what to do with it.
fn tried(reader: &Reader, data: &[u8]) {
    let check = reader.check;
    if catch_unwind(|| check(data)).is_ok() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    let path = folder.join(reader.name);
    fs::create_dir_all(folder).expect("a folder");
    fs::write(&path, data).expect("a file");
    panic!(
        "the reader {} fails on {}: mend it, and keep the file in fuzz/regressions/{}/",
        reader.name,
        path.display(),
        reader.name
    );
}

#[test]
fn seeds_and_what_once_failed() {
    let regressions = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for reader in READERS {
        let seeds = (reader.seeds)();
        assert!(!seeds.is_empty(), "{} has no seeds", reader.name);
        seeds.iter().for_each(|data| tried(reader, data));
        let Ok(files) = fs::read_dir(regressions.join(reader.name)) else {
            continue;
        };
        for file in files {
            let data = fs::read(file.expect("an entry").path()).expect("a file");
            tried(reader, &data);
        }
    }
}

#[test]
fn changed_seeds() {
    for reader in READERS {
        let seeds = (reader.seeds)();
        let mut mutator = Mutator::new(SEED);
        for _ in 0..inputs(reader) {
            tried(reader, &mutator.input(&seeds));
        }
    }
}

#[test]
fn sources_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for source in READERS.iter().flat_map(|reader| reader.sources) {
        assert!(root.join(source).exists(), "there is no {source}");
    }
}
