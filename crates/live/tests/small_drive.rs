//! A small simulated drive.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::AtomicBool;

use drivelab_sim::drive::Prepared;
use drivelab_sim::preset::DriveConfig;

/// Four planes of 16 blocks of 16 pages, half of them user data. `changes` are lines of a preset.
pub fn prepared(changes: &str) -> Prepared {
    let text = format!(
        "base = \"bench-64gib\"\nname = \"small\"\n{changes}\n\
         geometry.channels = 2\ngeometry.ways_per_channel = 2\ngeometry.dies_per_way = 1\n\
         geometry.planes_per_die = 1\ngeometry.blocks_per_plane = 32\n\
         geometry.pages_per_block = 16\ngeometry.over_provisioning_ratio = 1.0\n\
         collection.reserve_blocks_per_plane = 2\n"
    );
    let config = DriveConfig::from_files(&text, &Default::default()).unwrap();
    Prepared::stoppable(config, &AtomicBool::new(false)).unwrap()
}
