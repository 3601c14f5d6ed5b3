//! Cache and multi-plane operations compared with times computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, CommandKind, Direction, Nanos};
use drivelab_sim::ssd::{Outcome, PARTS, Part};

use crate::counted::flash;
use crate::small_drive::{ONE_DIE, command, drive, read, run, write};

const CACHE: &str = "scheduling.cache_operations = true\n";

/// One die of two planes: even pages lie on the first, odd pages on the second.
const TWO_PLANES: &str = "
geometry.channels = 1
geometry.planes_per_die = 2
geometry.user_capacity_bytes = 6291456
";

fn one_die(more: &str, commands: &[Command]) -> Outcome {
    run(&drive(&[ONE_DIE, more]), commands.to_vec())
}

fn two_planes(more: &str, commands: &[Command]) -> Outcome {
    run(&drive(&[TWO_PLANES, more]), commands.to_vec())
}

fn parts_us(outcome: &Outcome, direction: Direction) -> [u64; PARTS] {
    outcome.split[direction.index()].sum_ns.map(|ns| ns / 1000)
}

/// Queueing, channel and cell.
fn parts(queueing: u64, channel: u64, cell: u64) -> [u64; PARTS] {
    let mut parts = [0; PARTS];
    parts[Part::Queueing as usize] = queueing;
    parts[Part::Channel as usize] = channel;
    parts[Part::Cell as usize] = cell;
    parts
}

#[test]
fn the_next_program_is_transferred_while_one_is_in_the_array() {
    let writes = [0, 1, 2, 3].map(|page| write(0, page));
    assert_eq!(one_die("", &writes).window, Nanos(4 * 310_000));
    // The first transfer, then the cell array without gaps: 10 + 4 x 300.
    let outcome = one_die(CACHE, &writes);
    assert_eq!(outcome.window, Nanos(1_210_000));
    assert_eq!(flash(&outcome).unit_utilisation_ratio, [1.0]);
    assert_eq!(flash(&outcome).channel_utilisation_ratio, [40.0 / 1210.0]);
    // They end at 310, 610, 910 and 1210. The rest of the time they waited for the die.
    let latencies = 310 + 610 + 910 + 1210;
    let expected = parts(latencies - 4 * 310, 40, 1200);
    assert_eq!(parts_us(&outcome, Direction::Write), expected);
    // A transfer of 400 us is the longer of the two: 4 x 400 + 300.
    let slow = "timing.write_register_ns = 400_000\n";
    let outcome = one_die(&format!("{CACHE}{slow}"), &writes);
    assert_eq!(outcome.window, Nanos(1_900_000));
    assert_eq!(one_die(slow, &writes).window, Nanos(4 * 700_000));
}

#[test]
fn the_next_read_is_sensed_while_one_is_transferred() {
    let reads = [0, 1, 2, 3].map(|page| read(0, page));
    assert_eq!(one_die("", &reads).window, Nanos(4 * 60_000));
    let outcome = one_die(CACHE, &reads);
    assert_eq!(outcome.window, Nanos(4 * 50_000 + 10_000));
    let latencies = 60 + 110 + 160 + 210;
    let expected = parts(latencies - 4 * 60, 40, 200);
    assert_eq!(parts_us(&outcome, Direction::Read), expected);
    let slow = "timing.read_register_ns = 80_000\n";
    let outcome = one_die(&format!("{CACHE}{slow}"), &reads);
    assert_eq!(outcome.window, Nanos(50_000 + 4 * 80_000));
}

#[test]
fn another_kind_of_operation_waits_until_the_die_is_empty() {
    // The second program, transferred by 20, ends at 610. The read takes 610 to 670, and the
    // program behind it 670 to 980.
    let mixed = [write(0, 0), write(0, 1), read(0, 2), write(0, 3)];
    let outcome = one_die(CACHE, &mixed);
    assert_eq!(outcome.read.latency.max_ns(), Some(670_000));
    assert_eq!(outcome.write.latency.max_ns(), Some(980_000));
    // With reads first, the read also waits for the program whose data is already in the cache
    // register, but not for the third.
    let mixed = [write(0, 0), write(0, 1), write(0, 3), read(305, 2)];
    let reads_first = "scheduling.order = \"reads_first\"\n";
    let outcome = one_die(&format!("{CACHE}{reads_first}"), &mixed);
    assert_eq!(outcome.read.latency.max_ns(), Some(670_000 - 305_000));
    assert_eq!(outcome.write.latency.max_ns(), Some(980_000));
}

const SAME_PAGE: &str = "scheduling.multi_plane = \"same_page\"\n";
const ANY_PAGE: &str = "scheduling.multi_plane = \"any_page\"\n";

/// Energies chosen so that reads, programs and transferred bytes can be told apart in the sum.
const ENERGY: &str = "energy.read_page_nj = 1_000\nenergy.program_page_nj = 1_000_000\n\
                      energy.erase_block_nj = 0\nenergy.transfer_byte_pj = 0\n\
                      energy.idle_power_mw = 0\n";

#[test]
fn two_planes_program_together_after_two_transfers() {
    let both = [command(CommandKind::Write, 0, 0, 2)];
    assert_eq!(two_planes("", &both).window, Nanos(2 * 310_000));
    let outcome = two_planes(&format!("{SAME_PAGE}{ENERGY}"), &both);
    assert_eq!(outcome.window, Nanos(320_000));
    assert_eq!(flash(&outcome).unit_utilisation_ratio, [1.0]);
    assert_eq!(flash(&outcome).channel_utilisation_ratio, [20.0 / 320.0]);
    assert_eq!(parts_us(&outcome, Direction::Write), parts(0, 20, 300));
    // Each page takes its energy.
    assert!((outcome.energy.unwrap().cell_joules / 2e-3 - 1.0).abs() < 1e-12);
    // Two more pages follow, or with cache operations are transferred meanwhile.
    let four = [both[0], command(CommandKind::Write, 0, 2, 2)];
    assert_eq!(two_planes(SAME_PAGE, &four).window, Nanos(2 * 320_000));
    let cached = format!("{SAME_PAGE}{CACHE}");
    assert_eq!(two_planes(&cached, &four).window, Nanos(620_000));
}

#[test]
fn two_planes_read_together_and_transfer_in_turn() {
    // A program ends at 310. Both reads are sensed by 360 and complete at 370 and 380.
    let reads = |second: u64| [write(0, 40), read(1, 0), read(1, second)];
    let sum_us = |more: &str, second: u64| {
        let outcome = two_planes(more, &reads(second));
        outcome.split[0].sum_ns.iter().sum::<u64>() / 1000
    };
    assert_eq!(sum_us("", 1), (370 + 430) - 2);
    assert_eq!(sum_us(SAME_PAGE, 1), (370 + 380) - 2);
    let outcome = two_planes(SAME_PAGE, &reads(1));
    let waited = 2 * (310 - 1);
    assert_eq!(
        parts_us(&outcome, Direction::Read),
        parts(waited, 10 + 20, 100)
    );
    // Page 3 is the second of its block, on the other plane; page 2 lies on the same plane.
    assert_eq!(sum_us(SAME_PAGE, 3), (370 + 430) - 2);
    assert_eq!(sum_us(ANY_PAGE, 3), (370 + 380) - 2);
    assert_eq!(sum_us(ANY_PAGE, 2), (370 + 430) - 2);
}

#[test]
fn pages_of_different_types_program_together_for_the_longer_time() {
    // Page 40 of plane 0 comes first, so that the next pages of the planes are of types 1
    // and 0: 10 + 200, then 10 + 10 + 500.
    let types = "timing.program_cell_ns = [200_000, 500_000]\n";
    let writes = [write(0, 40), command(CommandKind::Write, 0, 0, 2)];
    let outcome = two_planes(&format!("{ANY_PAGE}{types}"), &writes);
    assert_eq!(outcome.window, Nanos(210_000 + 520_000));
    let outcome = two_planes(&format!("{SAME_PAGE}{types}"), &writes);
    assert_eq!(outcome.window, Nanos(210_000 + 510_000 + 210_000));
}

#[test]
fn moves_by_copyback_are_alone_in_their_die() {
    // Pages are overwritten out of order with collection at work. Every move counts once, and no
    // program is lost.
    let all = "scheduling.copyback = true\ncollection.pace = \"whole_block\"\n";
    let page = |place: u64| (place * place / 3 + place) % 1536;
    let writes: Vec<Command> = (0..3000).map(|place| write(0, page(place))).collect();
    let outcome = two_planes(&format!("{all}{CACHE}{ANY_PAGE}"), &writes);
    assert_eq!(outcome.write.latency.count(), 3000);
    assert_eq!(flash(&outcome).host_page_programs, 3000);
    assert_eq!(
        flash(&outcome).copyback_page_programs,
        flash(&outcome).collection_page_programs
    );
    assert!(flash(&outcome).copyback_page_programs > 100);
    // Host programs and erases come in pairs at best.
    let alone = flash(&outcome).copyback_page_programs * 350;
    let least_us = alone + flash(&outcome).block_erases / 2 * 1000 + 3000 / 2 * 300;
    assert!(outcome.window.0 / 1000 >= least_us, "{outcome:?}");
}
