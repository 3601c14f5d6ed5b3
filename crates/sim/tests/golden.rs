//! Outcomes fixed to the bit: the same on every machine, and unchanged by work on the speed of the
//! simulator. If you change what a drive does on purpose, replace the numbers and say so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};
use drivelab_workload::Characteristics;

use crate::counted::flash;
use crate::small_drive::measured;

/// FNV-1a over the whole text of an outcome.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn pinned(outcome: &Outcome) -> String {
    let counters = flash(outcome);
    let requests = format!(
        "read: {:?}, write: {:?}, batches: {:?}, closed_by: {:?}, window: {:?}, \
         warmup_requests: {}, measured_requests: {}, drained_requests: {}",
        outcome.read,
        outcome.write,
        outcome.batches,
        outcome.closed_by,
        outcome.window,
        outcome.warmup_requests,
        outcome.measured_requests,
        outcome.drained_requests,
    );
    let counts = format!(
        "host_programs: {}, collection_programs: {}, page_reads: {}, erases: {}, buffer_hits: {}",
        counters.host_page_programs,
        counters.collection_page_programs,
        counters.page_reads,
        counters.block_erases,
        counters.buffer_hit_pages,
    );
    format!(
        "Outcome {{ {requests}, {counts}, channel_utilisation: {:?}, unit_utilisation: {:?}, \
         variability_factor: {:?} }}",
        counters.channel_utilisation_ratio,
        counters.unit_utilisation_ratio,
        outcome.variability_factor,
    )
}

/// `bench-64gib` with eight planes of few blocks, changed by `changes`.
fn outcome(changes: &str, workload: Characteristics) -> u64 {
    let text = format!(
        "base = \"bench-64gib\"\nname = \"golden\"\ngeometry.channels = 2\n\
         geometry.ways_per_channel = 1\ngeometry.blocks_per_plane = 24\n{changes}"
    );
    let prepared = Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap();
    let plan = Plan::counting(1_000, 20_000);
    let outcomes = measured(&prepared, &[(3, workload), (4, workload)], 5, plan, 1);
    let outcomes = outcomes.unwrap();
    // Only the fields that existed when the numbers below were fixed. Newer fields are checked
    // against the oracle.
    let texts: Vec<_> = outcomes.iter().map(pinned).collect();
    let text = format!("[{}]", texts.join(", "));
    // Bins of more than 17 s. Nothing here takes that long.
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
