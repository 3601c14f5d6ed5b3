//! The user's own firmware: the example in C, and broken variants of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use drivelab_request::{Direction, Nanos, Request};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{ExternalSsd, Media, Outcome, Plan, Prepared, SimError};
use drivelab_workload::{Characteristics, Stream};

use crate::small_drive::{closed, timed};

use crate::counted::flash;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The example with `replacements` applied, as a library named `name`.
fn library(name: &str, replacements: &[(&str, &str)]) -> PathBuf {
    library_of("page_map.c", name, replacements)
}

/// The same for another example.
fn library_of(example: &str, name: &str, replacements: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let example = root().join("examples/firmware").join(example);
    let mut text = std::fs::read_to_string(example).unwrap();
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

/// 8 planes of 24 blocks. Greedy collection of a whole victim at once, like the example's.
fn config(changes: &str) -> SsdConfig {
    let text = format!(
        "base = \"bench-64gib\"\nname = \"external\"\ngeometry.channels = 2\n\
         geometry.ways_per_channel = 1\ngeometry.blocks_per_plane = 24\n\
         geometry.pages_per_block = 64\n{changes}"
    );
    SsdConfig::from_text(&text).unwrap()
}

/// Random reads and writes of 6 KiB, which touch whole pages and parts of pages.
fn load() -> [Stream; 1] {
    let workload = Characteristics {
        write_ratio: 0.7,
        queue_depth: 16,
        read_size: 6144,
        write_size: 6144,
        ..Characteristics::default()
    };
    closed(workload)
}

const PLAN: Plan = Plan::counting(1_000, 20_000);

fn external(config: SsdConfig, library: &Path) -> Result<Outcome, SimError> {
    let mut drive = ExternalSsd::new(config, library, &Arc::default())?;
    drive.run(&load(), PLAN, 3, 0)
}

#[test]
fn the_example_gives_the_results_of_the_built_in_firmware() {
    let example = library("example", &[]);
    let buffered = "buffer.write_buffer_bytes = 65_536\nscheduling.dispatch = \"in_order\"\n";
    let metered = "energy.read_page_nj = 50_000\nenergy.program_page_nj = 200_000\n\
                   energy.erase_block_nj = 2_000_000\nenergy.transfer_byte_pj = 10\n\
                   energy.idle_power_mw = 100\nvariability.sigma = 0.1\n";
    for changes in ["", buffered, metered] {
        let mut drive = Prepared::new(config(changes)).unwrap().worker();
        let expected = drive.run(&load(), PLAN, 3, 0).unwrap();
        assert!(
            flash(&expected).collection_page_programs > 0
                && flash(&expected).erase_counts.is_some()
        );
        let found = external(config(changes), &example).unwrap();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
}

/// The firmware's counts are reported for the window only. So are counts that the built-in firmware
/// has under the same names.
#[test]
fn a_run_tells_what_the_firmware_counted() {
    let found = external(config(""), &library_of("hot_cold.c", "counting", &[])).unwrap();
    let counted = |name: &str| {
        let mut counts = found.own_counts.iter();
        counts.find(|(own, _)| own == name).unwrap().1
    };
    let flash = flash(&found);
    assert_eq!(counted("pages_moved"), flash.collection_moves);
    let writes = counted("hot_writes") + counted("cold_writes");
    // Writes of 6 KiB touch two or three pages of 4 KiB. Some wait in the buffer at the ends of the
    // window.
    let pages = found.write.latency.count() * 2;
    assert!((pages..pages * 8 / 5).contains(&writes), "{writes} {pages}");
    assert!(counted("map_lookups") > writes);
    assert_eq!(
        external(config(""), &library("silent", &[]))
            .unwrap()
            .own_counts,
        []
    );
    let hits = [("\"victims_looked_at\"", "\"map_hits\"")];
    let outcome = external(config(""), &library_of("hot_cold.c", "hits", &hits)).unwrap();
    assert_eq!(
        crate::counted::flash(&outcome).map_hits,
        counted("victims_looked_at")
    );
    let fewer = [("f->counts[VICTIMS_SEEN]++", "f->counts[VICTIMS_SEEN]--")];
    let error = external(config(""), &library_of("hot_cold.c", "fewer", &fewer)).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("count victims_looked_at became smaller"),
        "{said}"
    );
}

/// Also without a warm-up: filling the drive is not counted, and a decreasing count is detected.
#[test]
fn a_window_without_warm_up_counts_nothing_of_the_preparation() {
    let plan = Plan::counting(0, 500);
    let one_page = Characteristics {
        write_ratio: 1.0,
        queue_depth: 1,
        write_size: 4096,
        ..Characteristics::default()
    };
    let run = |library: &Path| {
        let mut drive = ExternalSsd::new(config(""), library, &Arc::default())?;
        drive.run(&closed(one_page), plan, 3, 0)
    };
    let found = run(&library_of("hot_cold.c", "cold", &[])).unwrap();
    let counts = found.own_counts.iter();
    let written = counts.filter(|(name, _)| name.ends_with("_writes"));
    assert_eq!(written.map(|(_, count)| count).sum::<u64>(), 500);
    let fewer = [("f->counts[VICTIMS_SEEN]++", "f->counts[VICTIMS_SEEN]--")];
    let said = run(&library_of("hot_cold.c", "fall", &fewer)).unwrap_err();
    assert!(said.to_string().contains("became smaller"), "{said}");
}

/// Blocks that should be free after the drive has been idle: more than a burst fills.
const IN_IDLE_TIME: &str = "geometry.over_provisioning_ratio = 0.7\n\
                            collection.background_blocks_per_plane = 7\n\
                            collection.background_idle_ns = 500_000\n";
const NOT_THEN: &str = "geometry.over_provisioning_ratio = 0.7\n";

/// 200 random writes of a page, twice a second, with a read in between that finds the drive busy.
fn bursts(capacity_bytes: u64) -> ([Stream; 1], Plan) {
    let page = |place: u64| place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let request = |burst: u64, place: u64, late: u64, direction| Request {
        arrival: Nanos(burst * 500_000_000 + late),
        offset_bytes: page(burst * 1_000 + place) % (capacity_bytes / 4096) * 4096,
        size_bytes: 4096,
        direction,
    };
    let requests: Vec<Request> = (0..40)
        .flat_map(|burst| {
            let writes = (0..200).map(move |place| request(burst, place, 0, Direction::Write));
            let late = 30_000_000 + burst * 7_919;
            writes.chain([request(burst, 200, late, Direction::Read)])
        })
        .collect();
    let plan = Plan::counting(0, requests.len() as u64);
    (timed(requests), plan)
}

fn idle(changes: &str, library: &Path) -> Result<Outcome, SimError> {
    let mut drive = ExternalSsd::new(config(changes), library, &Arc::default())?;
    let (load, plan) = bursts(drive.capacity_bytes());
    drive.run(&load, plan, 0, 0)
}

#[test]
fn the_example_uses_idle_time_as_the_built_in_firmware_does() {
    let example = library("idle", &[]);
    let mut drive = Prepared::new(config(IN_IDLE_TIME)).unwrap().worker();
    let (load, plan) = bursts(drive.capacity_bytes());
    let expected = drive.run(&load, plan, 0, 0).unwrap();
    let found = idle(IN_IDLE_TIME, &example).unwrap();
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    let without = idle(NOT_THEN, &example).unwrap();
    assert!(flash(&found).collections > flash(&without).collections);
    assert!(found.write.latency.mean_ns() < without.write.latency.mean_ns());
}

/// A library of version 1 need not have the functions of version 2, and they are not called in it.
#[test]
fn a_library_of_the_version_before_still_works() {
    let older = library(
        "older",
        &[("return DRIVELAB_FIRMWARE_VERSION;", "return 1;")],
    );
    let mut expected = idle(NOT_THEN, &library("newer", &[])).unwrap();
    let found = idle(IN_IDLE_TIME, &older).unwrap();
    if let Media::Flash(counters) = &mut expected.media {
        counters.erase_counts = None;
    }
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
}

#[test]
fn a_firmware_that_misuses_idle_time_is_caught() {
    let broken = |name: &str, from: &str, to: &str| {
        let result = idle(IN_IDLE_TIME, &library(name, &[(from, to)]));
        result
            .err()
            .map_or_else(String::new, |error| error.to_string())
    };
    let refused = |message: String, said: &str| assert!(message.contains(said), "{message}");
    refused(
        broken("greedy", "            budget--;\n", "            ;\n"),
        "it is one more than may be emitted in this idle time",
    );
    refused(
        broken(
            "busy",
            "offer->is_free(offer->planes, plane) && step(f, plane, out)",
            "step(f, plane, out) && (f->turn = plane, 1)",
        ),
        "in idle time it is emitted for a plane that is not free",
    );
    let step = "struct plane *p = &f->planes[plane];\n    struct drivelab_operation operation = \
                {.cause = DRIVELAB_FOR_COLLECTION, .plane = plane,\n        \
                .after = DRIVELAB_NOTHING};";
    let for_host = step.replace("FOR_COLLECTION", "FOR_HOST");
    refused(
        broken("selfless", step, &for_host),
        "in idle time nothing is done for the host",
    );
    refused(
        broken(
            "failing",
            "            budget--;\n",
            "            return 7;\n",
        ),
        "it answered 7; 0 is success, 1 no space",
    );
    // The page programmed is not the page that was read.
    refused(
        broken("confused", "p->held = page;", "p->held = page + 1;"),
        "a move does not wait for the read of its data",
    );
    // Data is programmed on the other plane of the die.
    let program = "return emit_move(f, operation, held, out, &last) == DRIVELAB_OK;";
    let elsewhere = format!("operation.plane ^= 4, {}", &program["return ".len()..]);
    refused(
        broken("astray", program, &format!("return {elsewhere}")),
        "a move to another plane does not wait for the read of its data",
    );
    // A block is erased without being counted.
    refused(
        broken(
            "modest",
            "    f->erases[p->victim]++;\n",
            "    f->erases[p->victim] = 1;\n",
        ),
        "the firmware tells 1 as erases of block 0, which were ",
    );
}

#[test]
fn a_broken_firmware_is_caught_at_the_moment_it_breaks() {
    let broken = |name: &str, from: &str, to: &str| {
        let result = external(config(""), &library(name, &[(from, to)]));
        result.unwrap_err().to_string()
    };
    // Moves do not change the map, so old data is served.
    let message = broken(
        "stale",
        "    occupy(f, operation.page, operation.logical);\n",
        "    uint32_t place = f->map[operation.logical];\n\
         occupy(f, operation.page, operation.logical);\n\
         f->map[operation.logical] = place;\n",
    );
    assert!(
        message.contains("kind: Read, cause: Host") && message.contains("the page does not hold"),
        "{message}"
    );
    // Some valid pages of a victim are left behind when it is erased.
    let message = broken(
        "eager",
        "        if (f->valid[p->from])\n",
        "        if (f->valid[p->from] && p->from % 7 != 3)\n",
    );
    assert!(message.contains("still holds the newest data"), "{message}");
    // One page is never programmed; the next page of its block reveals it.
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
    let message = refusal(&text, "");
    assert!(
        message.contains("cannot be loaded: it is no shared library"),
        "{message}"
    );
    let whole = std::fs::read(library("whole", &[])).unwrap();
    let cut = library("cut", &[]);
    for left in [10, 200, whole.len() / 2] {
        std::fs::write(&cut, &whole[..left]).unwrap();
        let message = refusal(&cut, "");
        assert!(
            message.contains("cut") && message.contains("cannot be loaded: it"),
            "{message}"
        );
    }
    for (name, version) in [("ancient", "0"), ("coming", "4")] {
        let returned = format!("return {version};");
        let version = [("return DRIVELAB_FIRMWARE_VERSION;", returned.as_str())];
        let message = refusal(&library(name, &version), "");
        assert!(message.contains("takes versions 1 to 3"), "{message}");
    }
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
    assert!(refusal(&unwilling, "").contains("refuses to work on this drive: "));
    let worn = "condition = \"worn\"\nwear.worn_erase_count = 1\n";
    assert!(refusal(&unwilling, worn).contains("cannot be worn"));
}
