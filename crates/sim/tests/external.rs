//! Firmware of the user's own: the example in C, and broken variants of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{ExternalSsd, Load, Outcome, Plan, Prepared, SimError};
use drivelab_workload::{Characteristics, Generator};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The example with `replacements` made, as a library named `name`.
fn library(name: &str, replacements: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut text = std::fs::read_to_string(root().join("examples/firmware/page_map.c")).unwrap();
    for (from, to) in replacements {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    let source = folder.join(format!("{name}.c"));
    let target = folder.join(format!("{name}.so"));
    std::fs::write(&source, text).unwrap();
    let status = Command::new("cc")
        .args(["-O1", "-std=c99", "-Wall", "-shared", "-fPIC", "-I"])
        .arg(root().join("crates/ftl/include"))
        .arg(&source)
        .arg("-o")
        .arg(&target)
        .status();
    assert!(status.unwrap().success());
    target
}

/// 8 planes of 24 blocks; greedy, a whole victim at once: what the example does.
fn config(changes: &str) -> SsdConfig {
    let text = format!(
        "base = \"bench-64gib\"\nname = \"external\"\ngeometry.channels = 2\n\
         geometry.ways_per_channel = 1\ngeometry.blocks_per_plane = 24\n\
         geometry.pages_per_block = 64\n{changes}"
    );
    SsdConfig::from_text(&text).unwrap()
}

/// Reads and writes of 6 KiB at random: whole pages and parts of pages.
fn load(capacity_bytes: u64) -> Load {
    let workload = Characteristics {
        write_ratio: 0.7,
        queue_depth: 16,
        read_size: 6144,
        write_size: 6144,
        ..Characteristics::default()
    };
    let generator = Generator::new(&workload, 0, capacity_bytes, 3, 0).unwrap();
    Load::closed(generator, 16)
}

const PLAN: Plan = Plan::counting(1_000, 20_000);

fn external(config: SsdConfig, library: &Path) -> Result<Outcome, SimError> {
    let mut drive = ExternalSsd::new(config, library, &Arc::default())?;
    let load = load(drive.capacity_bytes());
    drive.run(load, PLAN, 0, 0)
}

#[test]
fn the_example_gives_the_results_of_the_built_in_firmware() {
    let example = library("example", &[]);
    let buffered = "buffer.write_buffer_bytes = 65_536\nscheduling.dispatch = \"in_order\"\n";
    for changes in ["", buffered] {
        let mut drive = Prepared::new(config(changes)).unwrap().worker();
        let load = load(drive.capacity_bytes());
        let mut expected = drive.run(load, PLAN, 0, 0).unwrap();
        assert!(expected.collection_programs > 0);
        // The interface does not ask how often blocks were erased.
        expected.erase_counts = None;
        let found = external(config(changes), &example).unwrap();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
}

#[test]
fn a_broken_firmware_is_caught_at_the_moment_it_breaks() {
    let broken = |name: &str, from: &str, to: &str| {
        let result = external(config(""), &library(name, &[(from, to)]));
        result.unwrap_err().to_string()
    };
    // Moves do not change the map: old data is served.
    let message = broken(
        "stale",
        "        occupy(f, operation.page, operation.logical);\n",
        "        uint32_t place = f->map[operation.logical];\n\
         occupy(f, operation.page, operation.logical);\n\
         f->map[operation.logical] = place;\n",
    );
    assert!(
        message.contains("kind: Read, cause: Host") && message.contains("the page does not hold"),
        "{message}"
    );
    // Some of a victim's valid pages are left behind when it is erased.
    let message = broken(
        "eager",
        "        if (!f->valid[old])\n",
        "        if (!f->valid[old] || old % 7 == 3)\n",
    );
    assert!(message.contains("still holds the newest data"), "{message}");
    // One page is never programmed: the next of its block shows it.
    let message = broken(
        "lazy",
        "    occupy(f, operation.page, logical);\n    out->emit(out->sink, &operation);\n",
        "    occupy(f, operation.page, logical);\n\
         if (logical != 77) out->emit(out->sink, &operation);\n",
    );
    assert!(
        message.contains("the block's next page to program is another one"),
        "{message}"
    );
    let message = broken(
        "wild",
        "    operation.kind = DRIVELAB_BLOCK_ERASE;\n",
        "    operation.kind = 9;\n",
    );
    assert!(
        message.contains("operation of kind 9; there are 0 to 2"),
        "{message}"
    );
}

#[test]
fn libraries_that_cannot_be_the_firmware_are_refused() {
    let refusal = |path: &Path, changes: &str| {
        let result = ExternalSsd::new(config(changes), path, &Arc::default());
        result.err().unwrap().to_string()
    };
    let message = refusal(Path::new("no/such/firmware.so"), "");
    assert!(
        message.contains("no/such/firmware.so cannot be loaded: No such file"),
        "{message}"
    );
    let text = root().join("examples/firmware/page_map.c");
    assert!(refusal(&text, "").contains("cannot be loaded"));
    let version = [("return DRIVELAB_FIRMWARE_VERSION;", "return 2;")];
    assert!(refusal(&library("other", &version), "").contains("built with version 2"));
    let renamed = [("int drivelab_firmware_submit(", "int submit_it(")];
    let message = refusal(&library("nameless", &renamed), "");
    assert!(
        message.contains("no function drivelab_firmware_submit"),
        "{message}"
    );
    let nothing = [(
        "    f->layout = *layout;\n",
        "    free(f);\n    return NULL;\n",
    )];
    let unwilling = library("unwilling", &nothing);
    assert!(refusal(&unwilling, "").contains("refuses to work"));
    let worn = "condition = \"worn\"\nwear.worn_erase_count = 1\n";
    assert!(refusal(&unwilling, worn).contains("cannot be worn"));
}
