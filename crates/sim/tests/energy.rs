//! Energy of a run compared with sums by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::Outcome;

use crate::small_drive::{self, ONE_DIE, drive, read, write};

const ENERGY: &str = "energy.read_page_nj = 50_000\nenergy.program_page_nj = 200_000\n\
                      energy.erase_block_nj = 2_000_000\nenergy.transfer_byte_pj = 10\n\
                      energy.idle_power_mw = 100\n";

fn run(more: &str) -> Outcome {
    let commands = vec![read(0, 0), read(0, 1), write(0, 2)];
    small_drive::run(&drive(&[ONE_DIE, more]), commands)
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
    assert_is(energy.iops_per_watt(), 3.0 / 343.122_88e-6);
}

#[test]
fn without_energies_nothing_is_told_and_some_are_not_enough() {
    assert_eq!(run("").energy, None);
    let base = ENERGY.replace("energy.idle_power_mw = 100\n", "");
    let text = format!("base = \"bench-64gib\"\nname = \"mine\"\n{base}");
    let error = SsdConfig::from_text(&text).unwrap_err().to_string();
    assert!(error.contains("energy.idle_power_mw is missing"), "{error}");
}
