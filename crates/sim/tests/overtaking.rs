//! What overtakes what at a die, and pauses, compared with times computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, Direction};
use drivelab_sim::ssd::{Outcome, Plan};
use drivelab_workload::{Characteristics, Stream};

use crate::counted::flash;
use crate::small_drive::{ONE_DIE, closed, drive, read, timed, write};

fn run(more: &str, streams: Vec<Stream>, requests: u64) -> Outcome {
    let drive = drive(&[ONE_DIE, more]);
    let plan = Plan::counting(0, requests);
    drive.worker().run(&streams, plan, 0, 0).unwrap()
}

fn one_stream(more: &str, requests: &[Command]) -> Outcome {
    let streams = timed(requests.iter().copied());
    run(more, streams.into(), requests.len() as u64)
}

const READS_FIRST: &str = "scheduling.order = \"reads_first\"\n";

#[test]
fn a_read_overtakes_the_programs_that_wait() {
    // Two writes at 0 end at 310 and 620; a read of another page comes at 1.
    let requests = [write(0, 0), write(0, 1), read(1, 2)];
    let outcome = one_stream("", &requests);
    assert_eq!(outcome.read.latency.max_ns(), Some(619_000 + 60_000));
    assert_eq!(outcome.write.latency.max_ns(), Some(620_000));
    // With reads first it begins at 310, and the second write ends 60 later.
    let outcome = one_stream(READS_FIRST, &requests);
    assert_eq!(outcome.read.latency.max_ns(), Some(309_000 + 60_000));
    assert_eq!(outcome.write.latency.max_ns(), Some(680_000));
}

#[test]
fn a_read_through_the_cache_overtakes_and_what_is_read_ahead_does_not() {
    let settings = format!("{READS_FIRST}buffer.read_cache_bytes = 65_536\n");
    let requests = [write(0, 0), write(0, 1), read(1, 2)];
    let outcome = one_stream(&settings, &requests);
    assert_eq!(outcome.read.latency.max_ns(), Some(309_000 + 60_000));
    assert_eq!(outcome.write.latency.max_ns(), Some(680_000));
    // Two pages are read ahead behind the second sequential read, after the waiting write.
    let settings = format!("{settings}buffer.read_ahead_bytes = 8192\n");
    let requests = [write(0, 0), write(0, 1), read(1, 2), read(2, 3)];
    let outcome = one_stream(&settings, &requests);
    assert_eq!(flash(&outcome).read_ahead_pages, 2);
    assert_eq!(outcome.read.latency.max_ns(), Some(308_000 + 120_000));
    assert_eq!(outcome.write.latency.max_ns(), Some(740_000));
}

#[test]
fn a_read_of_the_map_that_a_read_waits_for_overtakes_too() {
    // Earlier reads leave 64 entries in memory. They include those of the written pages, and none
    // that must be written when the next entry takes its place.
    let map = "mapping.scheme = \"demand_cached_page\"\nmapping.cached_entries = 64\n\
               mapping.cache_replacement = \"lru\"\n";
    let pages = (100..161).chain(508..511);
    let mut requests: Vec<Command> = (0..)
        .zip(pages)
        .map(|(n, page)| read(n * 5_000, page))
        .collect();
    let before = requests.len() as u64;
    let at = 1_000_000;
    requests.extend([
        write(at, 508),
        write(at, 509),
        write(at, 510),
        read(at + 1, 2),
    ]);
    let outcome = |order: &str| {
        let streams = timed(requests.iter().copied());
        let drive = drive(&[ONE_DIE, map, order]);
        let plan = Plan::counting(before, 4);
        let outcome = drive.worker().run(&streams, plan, 0, 0).unwrap();
        assert_eq!(flash(&outcome).map_page_reads, 1, "{order}");
        let latencies = [&outcome.read, &outcome.write].map(|each| each.latency.max_ns());
        latencies.map(Option::unwrap)
    };
    // Three writes end at 310, 620 and 930. Then come the read of the map and the read of the page.
    assert_eq!(outcome(""), [929_000 + 120_000, 930_000]);
    // The map is read at 310. The second write is in progress when that ends, and the third comes
    // after the page.
    for order in [READS_FIRST, "scheduling.order = \"priority\"\n"] {
        assert_eq!(outcome(order), [679_000 + 60_000, 1_050_000]);
    }
}

#[test]
fn a_read_of_the_map_that_writes_it_anew_keeps_its_place() {
    // The oldest of 64 entries in memory is that of page 100, which was written.
    let map = "mapping.scheme = \"demand_cached_page\"\nmapping.cached_entries = 64\n\
               mapping.cache_replacement = \"lru\"\n";
    let mut requests = vec![write(0, 100)];
    let pages = (101..161).chain(508..511);
    requests.extend((1..).zip(pages).map(|(n, page)| read(n * 5_000, page)));
    let before = requests.len() as u64;
    let at = 1_000_000;
    requests.extend([
        write(at, 508),
        write(at, 509),
        write(at, 510),
        read(at + 1, 2),
    ]);
    for order in ["", READS_FIRST, "scheduling.order = \"priority\"\n"] {
        let streams = timed(requests.iter().copied());
        let drive = drive(&[ONE_DIE, map, order]);
        let plan = Plan::counting(before, 4);
        let outcome = drive.worker().run(&streams, plan, 0, 0).unwrap();
        let flash = flash(&outcome);
        assert_eq!((flash.map_page_reads, flash.map_page_programs), (2, 1));
        // After three writes the old map page is read and the new one programmed. Only the new one
        // has the entry of page 2.
        let latencies = [&outcome.read, &outcome.write].map(|each| each.latency.max_ns());
        let expected = [929_000 + 60_000 + 310_000 + 2 * 60_000, 930_000];
        assert_eq!(latencies.map(Option::unwrap), expected, "{order}");
    }
}

#[test]
fn a_read_of_a_page_whose_program_waits_comes_after_it() {
    let requests = [write(0, 0), write(0, 1), read(1, 1)];
    let outcome = one_stream(READS_FIRST, &requests);
    assert_eq!(outcome.read.latency.max_ns(), Some(619_000 + 60_000));
}

#[test]
fn a_program_is_overtaken_no_more_often_than_allowed() {
    // A write is in progress until 310, another waits, and five reads come meanwhile.
    let mut requests = vec![write(0, 0), write(0, 1)];
    requests.extend((2..7).map(|page| read(1, page)));
    for (limit, reads_before) in [(1, 1), (3, 3), (100, 5)] {
        let settings = format!("{READS_FIRST}scheduling.starvation_limit = {limit}\n");
        let outcome = one_stream(&settings, &requests);
        let end = 310_000 + reads_before * 60_000 + 310_000;
        assert_eq!(outcome.write.latency.max_ns(), Some(end), "{limit}");
    }
}

#[test]
fn reads_of_a_better_class_go_first() {
    // While one read is in progress until 60, three of each class come.
    let stream = |name: &str, priority, pages: std::ops::Range<u64>| {
        let commands = pages.map(|page| read(0, page));
        Stream {
            priority,
            ..Stream::timed(name, commands)
        }
    };
    let streams = || {
        vec![
            stream("first", 1, 0..1),
            stream("later", 1, 1..4),
            stream("urgent", 0, 4..7),
        ]
    };
    let longest = |order: &str, stream: usize| {
        let settings = format!("scheduling.order = \"{order}\"\n");
        let outcome = run(&settings, streams(), 7);
        outcome.streams[stream].commands[0].counted.latency.max_ns()
    };
    assert_eq!(longest("reads_first", 1), Some(240_000));
    assert_eq!(longest("reads_first", 2), Some(420_000));
    assert_eq!(longest("priority", 1), Some(420_000));
    assert_eq!(longest("priority", 2), Some(240_000));
}

#[test]
fn a_program_pauses_for_a_read_and_pays_for_it() {
    let settings = |suspends: u32, progress_us: u32| {
        format!(
            "{READS_FIRST}scheduling.suspends_per_operation = {suspends}\n\
             timing.suspend_ns = 7_000\ntiming.resume_ns = 5_000\n\
             timing.suspend_progress_ns = {}\n",
            progress_us * 1000
        )
    };
    let requests = [write(0, 0), read(100, 1)];
    let latencies = |settings: &str, requests: &[Command]| {
        let outcome = one_stream(settings, requests);
        let of = |direction| outcome.of(direction).latency.max_ns().unwrap();
        (of(Direction::Read), of(Direction::Write))
    };
    // The cell array works from 10 to 310. Without pauses the read begins at 310.
    assert_eq!(latencies(READS_FIRST, &requests), (270_000, 310_000));
    // Paused at 100: the read takes 107 to 167, the rest of 210 us begins at 172.
    assert_eq!(latencies(&settings(1, 0), &requests), (67_000, 382_000));
    // Not before 150 us of progress, at 160: the read ends at 227, then 150 us remain from 232 on.
    assert_eq!(latencies(&settings(1, 150), &requests), (127_000, 382_000));
    // A pause for a read at 306 would begin after the end of the program.
    let late = [write(0, 0), read(306, 1)];
    assert_eq!(latencies(&settings(1, 0), &late), (64_000, 310_000));
    // A second read comes at 200, in the remaining program. It waits for its end at 382, or pauses
    // it too (200 + 7 + 60 + 5 + 182 = 454).
    let two = [requests[0], requests[1], read(200, 2)];
    assert_eq!(latencies(&settings(1, 0), &two), (242_000, 382_000));
    assert_eq!(latencies(&settings(2, 0), &two), (67_000, 454_000));
}

#[test]
fn suspends_cut_the_tail_of_reads_under_writes() {
    let settings = format!(
        "{READS_FIRST}scheduling.suspends_per_operation = 8\ntiming.suspend_ns = 5_000\n\
         timing.resume_ns = 5_000\ntiming.suspend_progress_ns = 20_000\n"
    );
    let tail = |more: &str| {
        let drive = drive(&[ONE_DIE, more]);
        let mut worker = drive.worker();
        let workload = Characteristics {
            write_ratio: 0.5,
            queue_depth: 4,
            read_size: 4096,
            write_size: 4096,
            read_random: 1.0,
            write_random: 1.0,
            read_stride: 0,
            write_stride: 0,
        };
        let plan = Plan::counting(2_000, 20_000);
        let outcome = worker.run(&closed(workload), plan, 1, 0).unwrap();
        outcome.read.latency.percentile_ns(99.0).unwrap()
    };
    let [first_come, reads_first, suspending] = ["", READS_FIRST, &settings].map(tail);
    // In turn: behind an erase and whole programs; behind at most one of them; behind at most
    // progress, suspend and three reads, or the operation's last pause.
    assert!(reads_first < first_come, "{reads_first} {first_come}");
    assert!(suspending <= 20_000 + 5_000 + 4 * 60_000, "{suspending}");
    assert!(3 * suspending < reads_first, "{suspending} {reads_first}");
}
