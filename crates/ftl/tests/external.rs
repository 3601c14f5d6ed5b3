//! Firmware behind the C header: the same in C and in Rust, and its counts.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;

use drivelab_ftl::{
    Action, Checked, External, ExternalError, Firmware, FlashLayout, Lpn, OperationBuffer, PageRun,
};

const LAYOUT: FlashLayout = FlashLayout {
    planes: 4,
    blocks_per_plane: 24,
    pages_per_block: 32,
    logical_pages: 4 * 24 * 32 * 4 / 5,
    reserve_blocks: 2,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn ran(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// hot_cold.c with `replacements` applied, as a library named `name`.
fn in_c(name: &str, replacements: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut text = std::fs::read_to_string(root().join("examples/firmware/hot_cold.c")).unwrap();
    for (from, to) in replacements {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    let (source, library) = (
        folder.join(format!("{name}.c")),
        folder.join(format!("{name}.so")),
    );
    std::fs::write(&source, text).unwrap();
    ran(Command::new("cc")
        .args([
            "-O1", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I",
        ])
        .arg(root().join("crates/ftl/include"))
        .arg(&source)
        .arg("-o")
        .arg(&library));
    library
}

fn in_rust() -> PathBuf {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hot-cold-rust.so");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    ran(Command::new(rustc)
        .args([
            "--edition",
            "2024",
            "-O",
            "-D",
            "warnings",
            "--crate-type",
            "cdylib",
        ])
        .arg(root().join("examples/firmware/hot_cold.rs"))
        .arg("-o")
        .arg(&library));
    library
}

fn loaded(library: &Path) -> Checked<External> {
    Checked::fresh(External::load(library, LAYOUT, None).unwrap())
}

/// Batches that fill the drive, then write, read and trim parts and runs of pages, mostly a few of
/// them repeatedly.
fn batches() -> impl Iterator<Item = Vec<PageRun>> {
    let fill = (0..LAYOUT.logical_pages).map(|page| PageRun::whole(Action::Write, Lpn(page), 1));
    let mut state = 1_u64;
    let mut draw = move |below: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below)) as u32
    };
    let mut run = move || {
        let action = match draw(10) {
            0 => Action::Trim,
            1..4 => Action::Read,
            _ => Action::Write,
        };
        let among = if draw(4) == 0 {
            LAYOUT.logical_pages
        } else {
            200
        };
        let first = draw(among);
        let pages = (1 + draw(4)).min(LAYOUT.logical_pages - first);
        PageRun {
            first_partial: draw(3) == 0,
            last_partial: draw(3) == 0,
            ..PageRun::whole(action, Lpn(first), pages)
        }
    };
    let later = (0..6_000).map(move |batch| (0..1 + batch % 3).map(|_| run()).collect());
    fill.map(|run| vec![run]).chain(later)
}

#[test]
fn the_example_in_rust_does_what_the_one_in_c_does() {
    let mut both = [loaded(&in_c("hot-cold", &[])), loaded(&in_rust())];
    let mut operations = [OperationBuffer::default(), OperationBuffer::default()];
    let mut emitted = 0;
    for (number, batch) in batches().enumerate() {
        for (firmware, operations) in both.iter_mut().zip(&mut operations) {
            operations.clear();
            firmware.submit(&batch, operations).unwrap();
        }
        let [c, rust] = &operations;
        assert_eq!(
            c.operations(),
            rust.operations(),
            "batch {number}: {batch:?}"
        );
        emitted += c.operations().len();
    }
    let [c, rust] = both.map(|firmware| {
        let erases = firmware.erase_counts().unwrap().unwrap();
        (firmware.own_counts().unwrap(), format!("{erases:?}"))
    });
    assert_eq!(c, rust);
    // Collection ran, and both kinds of pages were written.
    assert!(emitted > 40_000, "{emitted}");
    let counted = |name: &str| c.0.0.iter().find(|(own, _)| own == name).unwrap().1;
    assert_eq!(counted("pages_moved"), operations[0].counts.moves);
    assert_eq!(counted("map_lookups"), operations[0].counts.lookups);
    assert!(counted("pages_moved") > 5_000 && counted("cold_writes") > 2_000);
    assert!(counted("hot_writes") > counted("cold_writes"));
}

/// The message of the first error while the example with `replacements` works.
fn broken(name: &str, replacements: &[(&str, &str)]) -> String {
    let mut firmware = loaded(&in_c(name, replacements));
    let mut operations = OperationBuffer::default();
    let failed = batches().find_map(|batch| {
        operations.clear();
        Firmware::submit(&mut firmware, &batch, &mut operations).err()
    });
    let failed = failed.or_else(|| firmware.own_counts().err());
    failed.unwrap().to_string()
}

#[test]
fn counts_that_cannot_be_are_caught() {
    let said = broken("forgetful", &[("        f->counts[MOVES]++;\n", "")]);
    assert!(
        said.starts_with("the firmware tells 0 as pages_moved, and has emitted "),
        "{said}"
    );
    let backwards = [(
        "    f->counts[LOOKUPS]++;\n    uint32_t page = f->map[logical];\n",
        "    f->counts[LOOKUPS]--;\n    uint32_t page = f->map[logical];\n",
    )];
    let said = broken("backwards", &backwards);
    assert!(
        said.starts_with("the firmware's count map_lookups became smaller: "),
        "{said}"
    );
}

#[test]
fn counts_without_proper_names_are_refused() {
    let refused = |name: &str, replacements: &[(&str, &str)]| {
        let loaded = External::load(&in_c(name, replacements), LAYOUT, None);
        let Err(error) = loaded else {
            panic!("{name} was taken");
        };
        error.to_string()
    };
    let said = refused("loud", &[("\"hot_writes\"", "\"Hot writes\"")]);
    assert!(
        said.contains("calls its count 2 \"Hot writes\": use up to 40 lower-case letters"),
        "{said}"
    );
    let said = refused("twice", &[("\"hot_writes\"", "\"cold_writes\"")]);
    assert!(
        said.ends_with("\"cold_writes\": the name stands twice"),
        "{said}"
    );
    let endless = [(
        "COUNT_NAMES[index] : NULL",
        "COUNT_NAMES[index] : \"again\"",
    )];
    assert!(refused("endless", &endless).contains("the name stands twice"));
    let alone = [(
        "uint64_t drivelab_firmware_count(",
        "uint64_t another_name(",
    )];
    let said = refused("alone", &alone);
    assert!(
        said.contains("has no function drivelab_firmware_count:"),
        "{said}"
    );
}

/// A library of version 2 has no counts, whatever functions it has.
#[test]
fn a_library_of_the_version_before_has_no_counts() {
    let version = [("return DRIVELAB_FIRMWARE_VERSION;", "return 2;")];
    let firmware = loaded(&in_c("before", &version));
    assert!(firmware.own_counts().unwrap().0.is_empty());
    assert!(firmware.erase_counts().unwrap().is_some());
    let later = [("return DRIVELAB_FIRMWARE_VERSION;", "return 4;")];
    let refused = External::load(&in_c("later", &later), LAYOUT, None);
    assert!(matches!(
        refused.err(),
        Some(ExternalError::Version { found: 4, .. })
    ));
}
