//! What a smaller drive keeps of the whole one.

use drivelab_sim::preset::SsdConfig;
use drivelab_what_if::WhatIf;
use serde_json::{Value, json};

fn scaled(drive: Value) -> (Value, SsdConfig) {
    let question = json!({ "ask": "drive", "drive": drive }).to_string();
    let answer: Value = serde_json::from_str(&WhatIf::default().answer(&question)).unwrap();
    let config = SsdConfig::from_text(answer["toml"].as_str().unwrap()).unwrap();
    (answer, config)
}

#[test]
fn times_and_parallel_parts_stay_and_planes_shrink() {
    let (answer, small) = scaled(json!({ "preset": "x25m", "most_pages": 1 << 19 }));
    let whole = SsdConfig::from_text(drivelab_sim::preset::text("x25m").unwrap()).unwrap();
    assert_eq!(small.timing, whole.timing);
    assert_eq!(small.host, whole.host);
    assert_eq!(small.buffer, whole.buffer);
    // 2^19 pages over 40 planes of blocks of 256.
    assert_eq!(small.geometry.blocks_per_plane, 51);
    assert_eq!(small.geometry.channels, whole.geometry.channels);
    assert_eq!(answer["whole_blocks_per_plane"], 2048);
    // 70 of 2048 kept back would be 1.7 of 51, but a drive needs two.
    assert_eq!(small.collection.reserve_blocks_per_plane, 2);
    // What the host sees of the blocks that are neither kept back nor, half full, being filled. Two
    // are being filled.
    let share = |config: &SsdConfig| {
        let of_plane = config.geometry.user_capacity_bytes as f64 / 4096.0 / 40.0 / 256.0;
        let kept = config.collection.reserve_blocks_per_plane + 1;
        of_plane / f64::from(config.geometry.blocks_per_plane - kept)
    };
    assert!((share(&small) / share(&whole) - 1.0).abs() < 1e-5);
}

#[test]
fn a_drive_that_is_small_enough_is_simulated_whole() {
    let (answer, config) = scaled(json!({ "preset": "x25m", "most_pages": 1 << 25 }));
    assert_eq!(answer["blocks_per_plane"], answer["whole_blocks_per_plane"]);
    assert_eq!(config.geometry.user_capacity_bytes, 80_026_361_856);
}

#[test]
fn changes_are_made_and_types_of_pages_keep_their_proportions() {
    let (_, plain) = scaled(json!({ "preset": "consumer-qlc", "most_pages": 1 << 19 }));
    let (answer, config) = scaled(json!({
        "preset": "consumer-qlc", "most_pages": 1 << 19, "channels": 8, "ways_per_channel": 1,
        "program_cell_ns": 1_000_000, "over_provisioning_ratio": 0.25
    }));
    assert_eq!(config.geometry.channels, 8);
    assert_eq!(config.geometry.ways_per_channel, 1);
    let whole_ratio = answer["whole_over_provisioning_ratio"].as_f64().unwrap();
    assert!((whole_ratio - 0.25).abs() < 1e-6, "{whole_ratio}");
    let times = |config: &SsdConfig| -> Vec<f64> {
        let cell = config.timing.program_cell_ns;
        (0..cell.types() as u32)
            .map(|page| cell.of_page(page) as f64)
            .collect()
    };
    let (before, after) = (times(&plain), times(&config));
    let mean = after.iter().sum::<f64>() / after.len() as f64;
    assert!((mean - 1e6).abs() < 1.0, "{mean}");
    for (one, other) in before.iter().zip(&after) {
        // Whole nanoseconds.
        assert!((one / before[0] - other / after[0]).abs() < 1e-5);
    }
    assert_eq!(config.timing.read_cell_ns, plain.timing.read_cell_ns);
}
