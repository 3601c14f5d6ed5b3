//! Outcomes pinned to the bit: the same on every machine, and unchanged by work
//! on the speed of the simulator. Whoever changes what a drive does on purpose
//! replaces the numbers, and says so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Plan, Prepared};
use drivelab_workload::Characteristics;

/// FNV-1a over everything that an outcome says.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// `bench-64gib` with eight planes of few blocks, and `changes` to it.
fn outcome(changes: &str, workload: Characteristics) -> u64 {
    let text = format!(
        "base = \"bench-64gib\"\nname = \"golden\"\ngeometry.channels = 2\n\
         geometry.ways_per_channel = 1\ngeometry.blocks_per_plane = 24\n{changes}"
    );
    let prepared = Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap();
    let plan = Plan::counting(1_000, 20_000);
    let outcomes = prepared.measure(&[(3, workload), (4, workload)], 5, plan, 1);
    let outcomes = outcomes.unwrap();
    let mut text = format!("{outcomes:?}");
    // Added after the numbers below were pinned, and checked against the oracle.
    for outcome in &outcomes {
        text = text.replace(&format!("split: {:?}, ", outcome.split), "");
        text = text.replace(&format!("streams: {:?}, ", outcome.streams), "");
        text = text.replace(&format!("series: {:?}, ", outcome.series), "");
        text = text.replace(&format!("all_programs: {}, ", outcome.all_programs), "");
        text = text.replace("log: None, ", "");
        text = text.replace(&format!("part_names: {:?}, ", outcome.part_names), "");
        text = text.replace("wear_programs: 0, ", "");
        for name in [
            "coalesced_pages",
            "cache_hits",
            "cache_misses",
            "read_ahead_pages",
            "copyback_programs",
            "copyback_reads",
            "switch_merges",
            "partial_merges",
            "full_merges",
            "map_hits",
            "map_misses",
            "map_reads",
            "map_programs",
            "fold_programs",
            "packed_pages",
            "zero_pages",
        ] {
            text = text.replace(&format!("{name}: 0, "), "");
        }
        let told = (
            outcome.collections,
            outcome.collection_moves,
            outcome.wear_moves,
        );
        let told = format!(
            "collections: {}, collection_moves: {}, wear_moves: {}, ",
            told.0, told.1, told.2
        );
        text = text.replace(&told, "");
        for name in ["disk", "read_retries", "retired_blocks", "bad_blocks"] {
            text = text.replace(&format!("{name}: None, "), "");
        }
        text = text.replace("energy: None, ", "");
        text = text.replace("members: [], ", "");
        text = text.replace(&format!("erase_counts: {:?}, ", outcome.erase_counts), "");
    }
    // Bins of more than 17 s, which nothing here takes.
    let text = text.replace(&format!("{}]", ", 0".repeat(512)), "]");
    fingerprint(&text)
}

fn random(write_ratio: f64, queue_depth: u32) -> Characteristics {
    Characteristics {
        write_ratio,
        queue_depth,
        ..Characteristics::default()
    }
}

#[test]
fn reads_at_the_dies() {
    assert_eq!(outcome("", random(0.0, 64)), 0x6270_9b44_6647_ebf5);
}

#[test]
fn writes_at_the_dies_with_collection() {
    assert_eq!(outcome("", random(1.0, 64)), 0xd258_d5e3_3b39_8062);
}

#[test]
fn mixed_sizes_behind_a_link_and_a_buffer() {
    let changes = "host.interface = \"sata\"\nhost.link_bytes_per_second = 256_000_000\n\
                   host.commands = 32\nhost.read_command_ns = 12_570\n\
                   host.write_command_ns = 20_000\nhost.write_acknowledge_ns = 79_000\n\
                   buffer.write_buffer_bytes = 262_144\nvariability.sigma = 0.1\n\
                   collection.pace = \"whole_block\"\n";
    let workload = Characteristics {
        read_size: 20_480,
        write_size: 3_072,
        read_random: 0.5,
        write_random: 0.7,
        write_stride: 512,
        ..random(0.4, 48)
    };
    assert_eq!(outcome(changes, workload), 0x184d_5971_ab78_c2e0);
}

#[test]
fn in_order_dispatch_in_plane_mode() {
    let changes = "scheduling.dispatch = \"in_order\"\ngeometry.plane_mode = true\n\
                   timing.read_dispatch_ns = 16_000\ntiming.write_dispatch_ns = 33_000\n";
    let workload = Characteristics {
        read_size: 16_384,
        ..random(0.5, 8)
    };
    assert_eq!(outcome(changes, workload), 0xdcb4_5140_36e5_d2eb);
}
