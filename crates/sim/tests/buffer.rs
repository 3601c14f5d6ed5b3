//! The write buffer that gathers pages, compared with times and counts computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, CommandKind, Nanos};
use drivelab_sim::ssd::Outcome;

use crate::counted::flash;
use crate::small_drive::{self, LINK, PAGE, drive, read, write};

/// A link, and eight pages of buffer.
const BUFFERED: &str = "host.interface = \"sata\"\nbuffer.write_buffer_bytes = 32_768\n";

/// Pages gather until four wait; then two of them stay.
const MARKS: &str = "buffer.flush_start_bytes = 16_384\nbuffer.flush_stop_bytes = 8_192\n";

fn run(buffer: &str, commands: Vec<Command>) -> Outcome {
    small_drive::run(&drive(&[LINK, BUFFERED, buffer]), commands)
}

#[test]
fn pages_gather_until_the_start_mark_and_the_oldest_go_until_the_stop_mark() {
    // Four writes to die 0 at 0, 100, 200 and 300 us. Without marks the first two are programmed
    // from 10 and 320 us on, and have left the buffer by 650. Reads of both at 1000 us go to the
    // flash. With marks nothing moves before the fourth arrives at 310. Then pages 0 and 2 go,
    // until 620 and 930, and 4 and 6 stay.
    let writes = |last| {
        let mut all: Vec<Command> = (0..last).map(|n| write(n * 100, n * 2)).collect();
        all.extend([read(700, 0), read(1000, 2), read(1000, 4)]);
        all
    };
    // Three writes never reach the mark: every read finds its page.
    let outcome = run(MARKS, writes(3));
    assert_eq!(
        (flash(&outcome).buffer_hit_pages, flash(&outcome).page_reads),
        (3, 0)
    );
    assert_eq!(flash(&outcome).host_page_programs, 0);
    // Four do: page 0 is in the flash by 620, page 2 by 930, but page 4 is not.
    let outcome = run(MARKS, writes(4));
    assert_eq!(
        (flash(&outcome).buffer_hit_pages, flash(&outcome).page_reads),
        (1, 2)
    );
    assert_eq!(flash(&outcome).host_page_programs, 2);
    // Waiting pages are written when the run is over, whatever the marks.
    assert_eq!(flash(&outcome).page_programs, 4);
}

#[test]
fn writing_a_gathered_page_again_saves_its_program() {
    // Page 0 three times, then three others: four programs instead of six. Two of them (0 and 2) go
    // at the mark.
    let commands = [0, 0, 0, 2, 4, 6].into_iter().zip(0..);
    let commands: Vec<Command> = commands.map(|(page, n)| write(n * 100, page)).collect();
    let outcome = run(MARKS, commands.clone());
    assert_eq!(flash(&outcome).coalesced_pages, 2);
    assert_eq!(flash(&outcome).page_programs, 4);
    let outcome = run("", commands);
    assert_eq!(
        (
            flash(&outcome).coalesced_pages,
            flash(&outcome).page_programs
        ),
        (0, 6)
    );
}

#[test]
fn two_parts_of_a_gathered_page_read_the_old_page_once() {
    // Two writes of 512 bytes into page 0. Separately, each reads the old page first.
    let part = |at, offset_bytes| Command {
        offset_bytes,
        size_bytes: 512,
        ..write(at, 0)
    };
    let count = |buffer: &str| {
        let commands = vec![part(0, 0), part(100, 512), Command::flush(Nanos(200_000))];
        let outcome = run(buffer, commands);
        (
            flash(&outcome).page_reads,
            flash(&outcome).host_page_programs,
        )
    };
    assert_eq!(count(""), (2, 2));
    assert_eq!(count(MARKS), (1, 1));
}

#[test]
fn a_flush_and_a_full_buffer_push_what_is_gathered() {
    // One page waits at 10 us. A flush at 100 sends it: 100 + 310.
    let outcome = run(MARKS, vec![write(0, 0), Command::flush(Nanos(100_000))]);
    let flush = &outcome.streams[0].commands[CommandKind::Flush.index()].counted;
    assert_eq!(flush.latency.max_ns(), Some(310_000));
    // A mark as high as the buffer: eight pages on die 0 fill it at 80 us and all go. The ninth, at
    // 100, finds space when the first is programmed, at 80 + 310, and takes 10 more.
    let high = "buffer.flush_start_bytes = 32_768\n";
    let nine = (0..9).map(|n| write(n / 8 * 100, n * 2)).collect();
    let outcome = run(high, nine);
    assert_eq!(outcome.window, Nanos(80_000 + 310_000 + 10_000));
}

#[test]
fn a_write_that_finds_no_space_pushes_what_waits_below_the_marks() {
    // Five pages of die 0 wait; the mark is eight. A write of four pages at 100 us gets the three
    // free ones and pushes nothing, because five should stay. When its three pages have arrived, at
    // 130, the mark is reached and the oldest three go, one after another on die 0. So there is
    // space at 440 and data at 450.
    let high = "buffer.flush_start_bytes = 32_768\nbuffer.flush_stop_bytes = 20_480\n";
    let mut commands: Vec<Command> = (0..5).map(|n| write(0, n * 2)).collect();
    commands.push(Command {
        size_bytes: 4 * PAGE,
        ..write(100, 100)
    });
    let outcome = run(high, commands.clone());
    assert_eq!(outcome.window, Nanos(450_000));
    assert_eq!(flash(&outcome).page_programs, 9);
    // If no pages should stay, the same write pushes all five when it comes: space at 100 + 310 and
    // data at 420.
    let none_left = high.replace("20_480", "0");
    let outcome = run(&none_left, commands);
    assert_eq!(outcome.window, Nanos(420_000));
}

#[test]
fn a_write_into_the_buffer_passes_the_controllers_memory_where_it_takes_them() {
    // Both cross the link by 10 and 20 us. Die 0 programs one, die 1 the other.
    let latencies = |memory: &str| {
        let outcome = run(memory, vec![write(0, 0), write(0, 1)]);
        let latency = outcome.write.latency;
        (latency.min_ns(), latency.max_ns())
    };
    assert_eq!(latencies(""), (Some(10_000), Some(20_000)));
    // Only reads pass the memory.
    let memory = "buffer.memory_ns = 3_000\nbuffer.memory_bytes_per_second = 204_800_000\n";
    assert_eq!(latencies(memory), (Some(10_000), Some(20_000)));
    // 20 us each, one after another, plus 3.
    let takes_writes = format!("{memory}buffer.memory_takes_writes = true\n");
    assert_eq!(latencies(&takes_writes), (Some(33_000), Some(53_000)));
    // A memory that takes no time takes writes at once.
    assert_eq!(
        latencies("buffer.memory_takes_writes = true\n"),
        (Some(10_000), Some(20_000))
    );
    // A read at 35 us finds its page in the buffer, behind the second write. The memory is busy
    // with that write until 50 and with the read until 70. 3 us later its data crosses the link in
    // 10.
    let commands = vec![write(0, 0), write(0, 1), read(35, 0)];
    let outcome = run(&takes_writes, commands);
    assert_eq!(flash(&outcome).buffer_hit_pages, 1);
    assert_eq!(outcome.read.latency.max_ns(), Some(83_000 - 35_000));
}

/// The buffer is the same whichever way the flash is mapped.
#[test]
fn hits_leave_memory_on_drives_of_every_mapping() {
    let memory = "buffer.memory_ns = 3_000\nbuffer.memory_bytes_per_second = 204_800_000\n\
                  buffer.memory_takes_writes = true\n";
    for mapping in [
        "mapping.scheme = \"demand_cached_page\"\nmapping.cached_entries = 16\n",
        "placement.handles = 4\n",
        "mapping.scheme = \"bast\"\n",
    ] {
        // As computed by hand above.
        let both = format!("{memory}{mapping}");
        let commands = vec![write(0, 0), write(0, 1), read(35, 0)];
        let outcome = run(&both, commands);
        let writes = outcome.write.latency;
        assert_eq!(
            (writes.min_ns(), writes.max_ns()),
            (Some(33_000), Some(53_000)),
            "{mapping}"
        );
        assert_eq!(outcome.read.latency.max_ns(), Some(48_000), "{mapping}");
        // Of two pages one is in the buffer. The other takes at least 60 us from the flash, longer
        // than the memory, as on a drive whose memory takes no time.
        let halves = vec![
            write(0, 0),
            small_drive::command(CommandKind::Read, 35, 0, 2),
        ];
        let of_reads = both.replace("buffer.memory_takes_writes = true\n", "");
        let slow = run(&of_reads, halves.clone());
        assert_eq!(flash(&slow).buffer_hit_pages, 1, "{mapping}");
        let free = run(mapping, halves);
        let of = |outcome: &Outcome| outcome.read.latency.max_ns();
        assert_eq!(of(&slow), of(&free), "{mapping}");
        assert!(of(&slow) >= Some(80_000), "{mapping}");
    }
}

#[test]
fn a_memory_that_takes_no_time_leaves_no_trace_of_who_passes_it() {
    let hash = |lines: &str| small_drive::config(&[LINK, BUFFERED, lines]).hash();
    let takes_writes = "buffer.memory_takes_writes = true\n";
    assert_eq!(hash(takes_writes), hash(""));
    for time in [
        "buffer.memory_ns = 500\n",
        "buffer.memory_bytes_per_second = 204_800_000\n",
    ] {
        assert_ne!(hash(&format!("{time}{takes_writes}")), hash(time));
    }
}
