//! The read cache and reading ahead, compared with times and counts computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, CommandKind};
use drivelab_sim::ssd::{Outcome, Part};

use crate::counted::flash;
use crate::small_drive::{self, LINK, PAGE, drive, read, write};

fn run(buffer: &str, commands: Vec<Command>) -> Outcome {
    small_drive::run(
        &drive(&[LINK, "host.interface = \"sata\"", buffer]),
        commands,
    )
}

const FOUR: &str = "buffer.read_cache_bytes = 16_384\n";

fn sum_us(outcome: &Outcome) -> u64 {
    let parts: u64 = outcome.split[0].sum_ns.iter().sum();
    assert_eq!(u128::from(parts), outcome.read.latency.sum_ns());
    parts / 1000
}

fn counts(outcome: &Outcome) -> [u64; 3] {
    [
        flash(outcome).cache_hit_pages,
        flash(outcome).cache_miss_pages,
        flash(outcome).page_reads,
    ]
}

#[test]
fn a_page_read_again_comes_from_memory() {
    // From the flash 60 us, plus 10 on the link; from memory 10.
    let commands = || vec![read(0, 0), read(1000, 0)];
    let outcome = run(FOUR, commands());
    assert_eq!((sum_us(&outcome), counts(&outcome)), (70 + 10, [1, 1, 1]));
    let off = run("", commands());
    assert_eq!((sum_us(&off), counts(&off)), (70 + 70, [0, 0, 2]));
    // Memory of 409.6 MB/s that answers after 5 us: 10 + 5 more, counted as buffer time.
    let slow = "buffer.memory_ns = 5_000\nbuffer.memory_bytes_per_second = 409_600_000\n";
    let outcome = run(&format!("{FOUR}{slow}"), commands());
    assert_eq!(sum_us(&outcome), 70 + 25);
    assert_eq!(outcome.split[0].sum_ns[Part::Buffer as usize], 15_000);
    // The same holds for data in the write buffer: data at 10, read at 20, memory until 35.
    let buffered = format!("buffer.write_buffer_bytes = 32_768\n{slow}");
    let outcome = run(&buffered, vec![write(0, 0), read(20, 0)]);
    assert_eq!(
        (sum_us(&outcome), flash(&outcome).buffer_hit_pages),
        (25, 1)
    );
}

#[test]
fn hits_leave_memory_one_after_the_other() {
    // Both pages are held. Two reads at 1000: memory until 1010 and 1020, plus 10 each on the link,
    // which is free when the second comes.
    let memory = "buffer.memory_bytes_per_second = 409_600_000\n";
    let commands = vec![read(0, 0), read(500, 1), read(1000, 0), read(1000, 1)];
    let outcome = run(&format!("{FOUR}{memory}"), commands);
    assert_eq!(sum_us(&outcome), 70 + 70 + 20 + 30);
}

/// Half a page takes half the time there, and half on the link.
#[test]
fn memory_moves_what_is_asked_for() {
    let memory = "buffer.memory_bytes_per_second = 409_600_000\n";
    let half = Command {
        size_bytes: PAGE / 2,
        ..read(500, 0)
    };
    let outcome = run(&format!("{FOUR}{memory}"), vec![read(0, 0), half]);
    assert_eq!(sum_us(&outcome), 70 + 10);
}

#[test]
fn the_page_unused_longest_goes() {
    // Two pages are held: 4 takes the place of 2, not of 0.
    let two = "buffer.read_cache_bytes = 8_192\n";
    let pages = [0, 2, 0, 4, 0, 2].into_iter().zip(0..);
    let outcome = run(two, pages.map(|(page, n)| read(n * 100, page)).collect());
    assert_eq!(counts(&outcome), [2, 4, 4]);
}

#[test]
fn what_is_written_or_trimmed_is_not_held_any_more() {
    let outcome = run(FOUR, vec![read(0, 0), write(100, 0), read(1000, 0)]);
    assert_eq!(counts(&outcome), [0, 2, 2]);
    let trim = Command {
        kind: CommandKind::Trim,
        ..write(100, 0)
    };
    let outcome = run(FOUR, vec![read(0, 0), trim, read(1000, 0)]);
    assert_eq!(counts(&outcome), [0, 2, 1]);
    // A page in flight when the write came is not used either. The read of 30 us waits for the new
    // page, which is programmed after the old one is read.
    let outcome = run(
        FOUR,
        vec![read(0, 0), write(5, 0), read(30, 0), read(2000, 0)],
    );
    assert_eq!(counts(&outcome)[2], 3);
}

#[test]
fn two_reads_of_one_page_are_one_read_of_the_flash() {
    // Both wait for 60, then the link until 70 and 80. Separately, the second is read until 120.
    let commands = || vec![read(0, 0), read(0, 0)];
    let outcome = run(FOUR, commands());
    assert_eq!((sum_us(&outcome), counts(&outcome)), (70 + 80, [1, 1, 1]));
    let off = run("", commands());
    assert_eq!(sum_us(&off), 70 + 130);
}

#[test]
fn the_pages_behind_the_second_read_in_a_row_are_read_ahead() {
    // Page 1 follows page 0, so 2 and 3 are read ahead at 100 us: until 160 and, behind page 1 on
    // its die, 220. Page 2 at 300 comes from memory, and 4 is read ahead.
    let ahead = format!("{FOUR}buffer.read_ahead_bytes = 8_192\n");
    let row = |third| vec![read(0, 0), read(100, 1), read(third, 2)];
    let outcome = run(&ahead, row(300));
    assert_eq!(sum_us(&outcome), 70 + 70 + 10);
    assert_eq!(
        (counts(&outcome), flash(&outcome).read_ahead_pages),
        ([1, 2, 4], 3)
    );
    // At 120 it is being fetched: until 160. Then, behind page 1's data (until 170), the link until
    // 180.
    let outcome = run(&ahead, row(120));
    assert_eq!(sum_us(&outcome), 70 + 70 + 60);
    // Without reading ahead, every page is read when it is requested.
    let outcome = run(FOUR, row(300));
    assert_eq!(sum_us(&outcome), 3 * 70);
    assert_eq!(flash(&outcome).read_ahead_pages, 0);
    // Nothing is read ahead for pages that are not consecutive.
    let outcome = run(&ahead, vec![read(0, 0), read(100, 3), read(200, 5)]);
    assert_eq!(flash(&outcome).read_ahead_pages, 0);
}
