//! Energy of a run against sums made by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Direction, Nanos, Request};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Load, Outcome, Plan, Prepared};

/// One die. A read takes 50 + 10 us, a write 10 + 300 us.
fn config(more: &str) -> SsdConfig {
    let text = format!(
        "name = \"small\"
kind = \"ssd\"
summary = \"for tests\"
condition = \"filled\"
geometry.channels = 1
geometry.ways_per_channel = 1
geometry.dies_per_way = 1
geometry.planes_per_die = 1
geometry.blocks_per_plane = 64
geometry.pages_per_block = 16
geometry.page_size_bytes = 4096
geometry.user_capacity_bytes = 2097152
geometry.plane_mode = false
timing.read_dispatch_ns = 0
timing.write_dispatch_ns = 0
timing.erase_dispatch_ns = 0
timing.read_register_ns = 10_000
timing.write_register_ns = 10_000
timing.read_cell_ns = 50_000
timing.program_cell_ns = 300_000
timing.erase_cell_ns = 1_000_000
scheduling.dispatch = \"per_die\"
collection.policy = \"greedy\"
collection.pace = \"paced\"
collection.reserve_blocks_per_plane = 2
host.interface = \"free\"
buffer.write_buffer_bytes = 0
variability.sigma = 0.0
{more}"
    );
    SsdConfig::from_text(&text).unwrap()
}

fn at(arrival_us: u64, direction: Direction, page: u64) -> Request {
    Request {
        arrival: Nanos(arrival_us * 1000),
        offset_bytes: page * 4096,
        size_bytes: 4096,
        direction,
    }
}

const ENERGY: &str = "energy.read_page_nj = 50_000\nenergy.program_page_nj = 200_000\n\
                      energy.erase_block_nj = 2_000_000\nenergy.transfer_byte_pj = 10\n\
                      energy.idle_power_mw = 100\n";

fn run(more: &str) -> Outcome {
    let requests = [
        at(0, Direction::Read, 0),
        at(0, Direction::Read, 1),
        at(0, Direction::Write, 2),
    ];
    let prepared = Prepared::new(config(more)).unwrap();
    let load = Load::timed(requests);
    prepared
        .worker()
        .run(load, Plan::counting(0, 3), 0, 0)
        .unwrap()
}

#[test]
fn energy_is_what_operations_and_time_take() {
    let energy = run(ENERGY).energy.unwrap();
    let assert_is = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    };
    // Two reads and a program; three pages of 4096 bytes; 60 + 60 + 310 us at 0.1 W.
    assert_is(energy.cell_joules, 300e-6);
    assert_is(energy.channel_joules, 122.88e-9);
    assert_is(energy.idle_joules, 43e-6);
    assert_is(energy.joules(), 343.122_88e-6);
    assert_is(energy.mean_watts, 343.122_88 / 430.0);
    assert_is(energy.iops_per_watt, 3.0 / 343.122_88e-6);
}

#[test]
fn without_energies_nothing_is_told_and_some_are_not_enough() {
    assert_eq!(run("").energy, None);
    let base = ENERGY.replace("energy.idle_power_mw = 100\n", "");
    let text = format!("base = \"bench-64gib\"\nname = \"mine\"\n{base}");
    let error = SsdConfig::from_text(&text).unwrap_err().to_string();
    assert!(error.contains("energy.idle_power_mw is missing"), "{error}");
}
