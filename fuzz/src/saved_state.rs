//! Saved states of simulated drives: from an accepted state the drive can continue.
//!
//! The first byte chooses the drive. Its lowest bit says whether the checksum at the end is
//! corrected; otherwise hardly any changed state would pass it.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use drivelab_sim::drive::{Drive, Prepared, State};
use drivelab_sim::host::Plan;
use drivelab_sim::preset::{self, DriveConfig};
use drivelab_workload::{Characteristics, Stream};

use crate::{Reader, check_message};

pub(crate) const READER: Reader = Reader {
    name: "saved_state",
    sources: &[
        "crates/sim/src/snapshot.rs",
        "crates/ftl/src/snapshot.rs",
        "crates/ftl/src/block_map/state.rs",
        "crates/ftl/src/cached_map/state.rs",
    ],
    check,
    seeds,
};

const SEED: u64 = 3;
const SUM_BYTES: usize = 8;
/// Mapping by pages, by blocks, and with a map on the flash.
const CHANGES: [&str; 3] = [
    "ageing.rated_erases = 30\nageing.erase_failure_probability = 0.005\n\
     geometry.over_provisioning_ratio = 0.7\n",
    "mapping.scheme = \"fast\"\nmapping.log_blocks_per_plane = 4\n",
    "mapping.scheme = \"demand_cached_page\"\nmapping.cached_entries = 30\n\
     collection.reserve_blocks_per_plane = 3\n",
];

fn drives() -> &'static [Prepared] {
    static DRIVES: OnceLock<Vec<Prepared>> = OnceLock::new();
    DRIVES.get_or_init(|| {
        CHANGES
            .iter()
            .map(|changes| {
                let text = format!(
                    "base = \"bench-64gib\"\nname = \"fuzzed\"\ngeometry.channels = 1\n\
                     geometry.ways_per_channel = 1\ngeometry.blocks_per_plane = 24\n\
                     geometry.pages_per_block = 8\n{changes}"
                );
                let base = |name: &str| preset::text(name).map(str::to_owned);
                let config = DriveConfig::from_toml(&text, base).expect("a preset");
                Prepared::stoppable(config, &AtomicBool::new(false)).expect("a drive")
            })
            .collect()
    })
}

fn worker(drive: &Prepared) -> Drive {
    drive.worker(&Arc::new(AtomicBool::new(false)))
}

/// Random requests, half of them writes.
fn run(drive: &mut Drive, requests: u64) {
    let workload = Characteristics {
        write_ratio: 0.5,
        queue_depth: 4,
        ..Characteristics::default()
    };
    let streams = [Stream::closed("all", workload)];
    let plan = Plan::counting(0, requests);
    let outcome = drive.run(&streams, plan, (SEED, 0), State::Kept);
    if let Err(error) = outcome {
        check_message(&error);
    }
}

fn checksum(bytes: &[u8]) -> [u8; SUM_BYTES] {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    sum.to_le_bytes()
}

fn check(data: &[u8]) {
    let Some((&choice, state)) = data.split_first() else {
        return;
    };
    let mut state = state.to_vec();
    if choice & 1 == 1 && state.len() >= SUM_BYTES {
        let end = state.len() - SUM_BYTES;
        let sum = checksum(&state[..end]);
        state[end..].copy_from_slice(&sum);
    }
    let prepared = &drives()[usize::from(choice >> 1) % CHANGES.len()];
    let mut drive = worker(prepared);
    let before = drive.save();
    if let Err(error) = drive.load(&state) {
        check_message(&error);
        // A refused state left nothing behind.
        assert_eq!(drive.save(), before, "a refused state was taken up in part");
        return;
    }
    let saved = drive.save();
    let mut other = worker(prepared);
    if let Err(error) = other.load(&saved) {
        panic!("what was saved is refused: {error}");
    }
    assert_eq!(other.save(), saved, "a saved state reads as another");
    run(&mut drive, 200);
}

fn seeds() -> Vec<Vec<u8>> {
    let states = drives().iter().zip(0_u8..).flat_map(|(prepared, place)| {
        [0, 20, 300].map(|requests| {
            let mut drive = worker(prepared);
            run(&mut drive, requests);
            [vec![place << 1 | 1], drive.save()].concat()
        })
    });
    states.collect()
}
