//! Chips that take one operation at a time, and data that goes out first, compared with times
//! computed by hand. `oracle.rs` compares random drives of both kinds with the oracle.
#![allow(clippy::unwrap_used)]

use drivelab_request::{Command, CommandKind, Nanos};
use drivelab_sim::ssd::Outcome;

use crate::counted::flash;
use crate::small_drive::{command, drive, read, refused, run, write};

const CHIP: &str = "scheduling.unit = \"chip\"\n";
const DATA_FIRST: &str = "scheduling.channel = \"data_out_first\"\n";
const SAME_PAGE: &str = "scheduling.multi_plane = \"same_page\"\n";

/// One chip of two dies: even pages lie on the first.
const TWO_DIES: &str = "geometry.channels = 1\ngeometry.dies_per_way = 2\n";

/// One channel with four chips of one die: page i lies on chip i modulo 4.
const FOUR_CHIPS: &str = "geometry.channels = 1\ngeometry.ways_per_channel = 4\n";

/// One chip of two dies with two planes each: pages 0 and 2 lie on the first die.
const FOUR_PLANES: &str = "geometry.channels = 1\ngeometry.dies_per_way = 2\n\
                           geometry.planes_per_die = 2\n";

fn on(parts: &[&str], commands: &[Command]) -> Outcome {
    run(&drive(parts), commands.to_vec())
}

#[test]
fn the_dies_of_a_chip_wait_for_each_other() {
    let reads = [read(0, 0), read(0, 1)];
    // Both sense at once, and transfer one after another.
    assert_eq!(on(&[TWO_DIES], &reads).window, Nanos(70_000));
    let outcome = on(&[TWO_DIES, CHIP], &reads);
    assert_eq!(outcome.window, Nanos(120_000));
    assert_eq!(flash(&outcome).unit_utilisation_ratio, [1.0]);
    let writes = [write(0, 0), write(0, 1), read(1, 2)];
    assert_eq!(on(&[TWO_DIES], &writes).window, Nanos(370_000));
    assert_eq!(on(&[TWO_DIES, CHIP], &writes).window, Nanos(680_000));
}

#[test]
fn chips_of_one_die_are_dies() {
    let commands: Vec<_> = (0..40)
        .map(|n| {
            if n % 3 == 0 {
                write(n * 7, n * 5 % 32)
            } else {
                read(n * 7, n * 11 % 32)
            }
        })
        .collect();
    let as_dies = on(&[FOUR_CHIPS], &commands);
    let as_chips = on(&[FOUR_CHIPS, CHIP], &commands);
    assert_eq!(as_dies.window, as_chips.window);
    assert_eq!(as_dies.split[0].sum_ns, as_chips.split[0].sum_ns);
}

#[test]
fn a_chip_that_is_free_begins_when_no_data_waits_for_its_channel() {
    // Pages 0 and 1 are sensed until 50 and cross until 60 and 70. Chip 0 is free from 60 on.
    let reads = [read(0, 0), read(0, 1), read(1, 4)];
    assert_eq!(on(&[FOUR_CHIPS], &reads).window, Nanos(120_000));
    assert_eq!(on(&[FOUR_CHIPS, DATA_FIRST], &reads).window, Nanos(130_000));
}

#[test]
fn data_that_was_read_crosses_before_data_that_is_programmed() {
    // The channel has page 1's data until 55. Page 2's data requested it at 46, page 0's at 50.
    let mixed = [read(0, 0), write(45, 1), write(46, 2)];
    let outcome = on(&[FOUR_CHIPS], &mixed);
    assert_eq!(outcome.read.latency.max_ns(), Some(75_000));
    assert_eq!(outcome.window, Nanos(365_000));
    let outcome = on(&[FOUR_CHIPS, DATA_FIRST], &mixed);
    assert_eq!(outcome.read.latency.max_ns(), Some(65_000));
    assert_eq!(outcome.window, Nanos(375_000));
    // Waiting for the channel does not count as work of the chip.
    let busy: f64 = flash(&outcome).unit_utilisation_ratio.iter().sum();
    assert!(
        (busy - (65.0 + 310.0 + 310.0) / 375.0).abs() < 1e-9,
        "{busy}"
    );
}

#[test]
fn chips_send_data_in_turn() {
    // Two programs for each chip arrive at once, those of chip 3 first. Chips begin at 0, 10, 20
    // and 30, in the order in which they find the channel free, and again when they are free.
    let pages = [3, 7, 2, 6, 1, 5, 0, 4];
    let writes = pages.map(|page| write(0, page));
    let outcome = on(&[FOUR_CHIPS, DATA_FIRST], &writes);
    // The last of the second four begins at 340 and ends at 650.
    assert_eq!(outcome.window, Nanos(650_000));
    let busy = &flash(&outcome).unit_utilisation_ratio;
    assert_eq!(busy.as_slice(), [620.0 / 650.0; 4]);
}

#[test]
fn planes_of_one_die_of_a_chip_go_together() {
    let four = [command(CommandKind::Write, 0, 0, 4)];
    assert_eq!(on(&[FOUR_PLANES, CHIP], &four).window, Nanos(4 * 310_000));
    // Pages 0 and 2, then 1 and 3. Each pair is not adjacent in the queue.
    let together = on(&[FOUR_PLANES, CHIP, SAME_PAGE], &four);
    assert_eq!(together.window, Nanos(2 * 320_000));
    // Page 6 is the second of its block. Page 4, behind it on the other plane, goes with it.
    let reads = [write(0, 20), read(1, 0), read(1, 6), read(1, 2)];
    let outcome = on(&[FOUR_PLANES, CHIP, SAME_PAGE], &reads);
    // Page 6 was passed, so page 2 of its plane waits for it: 310, then three reads of 60.
    assert_eq!(outcome.window, Nanos(490_000));
    let reads = [write(0, 20), read(1, 0), read(1, 4), read(1, 2)];
    let outcome = on(&[FOUR_PLANES, CHIP, SAME_PAGE], &reads);
    // Pages 0 and 2 cross until 380, then page 4.
    assert_eq!(outcome.window, Nanos(440_000));
}

#[test]
fn what_has_no_chips_is_refused() {
    for (changes, said) in [
        ("scheduling.unit = \"die_of_four\"", "\"die\" or \"chip\""),
        (
            "geometry.plane_mode = true\nscheduling.unit = \"chip\"",
            "\"die\", as geometry.plane_mode",
        ),
        (
            "scheduling.dispatch = \"in_order\"\nscheduling.channel = \"data_out_first\"",
            "\"commands_first\", as scheduling.dispatch",
        ),
        (
            "scheduling.map_reads_first = true",
            "false, as scheduling.order = \"first_come\"",
        ),
    ] {
        let message = refused(changes);
        assert!(
            message.contains(said) && !message.contains('\n'),
            "{message}"
        );
    }
}
