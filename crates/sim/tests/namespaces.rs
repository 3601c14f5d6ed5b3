//! Namespaces over one drive: addresses, refusals, and whose the programs are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, CommandKind, Nanos};
use drivelab_sim::host::NamespaceCounters;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};
use drivelab_workload::{Characteristics, Stream, WriteMode};

use crate::counted::flash;
use crate::small_drive::{LINK, PAGE, command, drive, refused, run, write};

/// 1,536 pages: 1,024 and 512.
const TWO: &str =
    "namespaces.names = [\"large\", \"small\"]\nnamespaces.sizes_bytes = [4_194_304, 2_097_152]";

fn in_namespace(name: &str, stream: Stream) -> Stream {
    Stream {
        namespace: Some(name.to_owned()),
        ..stream
    }
}

fn counted(outcome: &Outcome) -> &NamespaceCounters {
    outcome.namespaces.as_ref().unwrap()
}

fn ran(prepared: &Prepared, streams: &[Stream], plan: Plan) -> Outcome {
    prepared.worker().run(streams, plan, 5, 0).unwrap()
}

fn writes(queue_depth: u32) -> Characteristics {
    Characteristics {
        write_ratio: 1.0,
        queue_depth,
        read_size: PAGE,
        write_size: PAGE,
        read_random: 1.0,
        write_random: 1.0,
        read_stride: 0,
        write_stride: 0,
    }
}

#[test]
fn addresses_of_a_namespace_begin_where_it_does() {
    // Page 3 of the second is page 1,027 of the drive, on die 1; page 3 of the first too. What
    // the first trims is still there in the second.
    let prepared = drive(&[TWO]);
    let trim = in_namespace(
        "large",
        Stream::timed("trim", [command(CommandKind::Trim, 0, 3, 1)]),
    );
    let read = |name, namespace| {
        let read = command(CommandKind::Read, 10, 3, 1);
        in_namespace(namespace, Stream::timed(name, [read]))
    };
    let streams = [trim, read("a", "large"), read("b", "small")];
    let outcome = ran(&prepared, &streams, Plan::counting(0, 3));
    assert_eq!(flash(&outcome).page_reads, 1);
    let latency = |place: usize| {
        let reads = &outcome.streams[place].commands[CommandKind::Read.index()].counted;
        reads.latency.max_ns().unwrap()
    };
    assert_eq!((latency(1), latency(2)), (0, 60_000));
}

#[test]
fn the_last_page_of_each_namespace_may_be_written_and_no_further() {
    let prepared = drive(&[TWO]);
    let last = |page| {
        let write = command(CommandKind::Write, 0, page, 1);
        in_namespace("small", Stream::timed("writes", [write]))
    };
    let outcome = ran(&prepared, &[last(511)], Plan::counting(0, 1));
    assert_eq!(counted(&outcome).host_pages, [0, 1]);
    let error = prepared
        .worker()
        .run(&[last(512)], Plan::counting(0, 1), 5, 0);
    let said = error.unwrap_err().to_string();
    assert!(said.contains("\"small\" of 2097152 bytes"), "{said}");
    assert!(
        said.contains("4096 bytes at 2097152 reaches beyond the end of namespace"),
        "{said}"
    );
    // The same of a range.
    let beyond = Stream {
        range: Some((0, 2_097_152 + 4096)),
        ..in_namespace("small", Stream::closed("all", writes(1)))
    };
    let error = prepared.worker().run(&[beyond], Plan::counting(0, 1), 5, 0);
    let said = error.unwrap_err().to_string();
    assert!(said.contains("\"small\" of 2097152 bytes"), "{said}");
    // And of one that is not there.
    let other = in_namespace("other", Stream::closed("all", writes(1)));
    let error = prepared
        .worker()
        .run(std::slice::from_ref(&other), Plan::counting(0, 1), 5, 0);
    let said = error.unwrap_err().to_string();
    assert!(said.contains("allowed: \"large\", \"small\""), "{said}");
    let error = drive(&[])
        .worker()
        .run(&[other], Plan::counting(0, 1), 5, 0);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("has no [namespaces]")
    );
}

#[test]
fn generated_requests_stay_in_their_namespace() {
    // Every page of the second is trimmed, in order, by trims of four ranges: reads of the first
    // find all of theirs, reads of the second nothing.
    let prepared = drive(&[
        TWO,
        LINK,
        "host.interface = \"sata\"",
        "host.trim_command_ns = 1_000",
    ]);
    let mut worker = prepared.worker();
    let trims = Stream {
        writes: WriteMode::Trim,
        ranges_per_trim: 4,
        ..Stream::closed(
            "trims",
            Characteristics {
                write_random: 0.0,
                ..writes(2)
            },
        )
    };
    let trims = [in_namespace("small", trims)];
    worker.run(&trims, Plan::counting(0, 128), 5, 0).unwrap();
    let mut reads = |namespace: &str| {
        let reads = Characteristics {
            write_ratio: 0.0,
            read_random: 0.0,
            ..writes(1)
        };
        let reads = [in_namespace(namespace, Stream::closed("reads", reads))];
        let outcome = worker.run(&reads, Plan::counting(0, 400), 5, 0).unwrap();
        flash(&outcome).page_reads
    };
    assert_eq!(reads("large"), 400);
    let listed: Vec<Command> = (0..512)
        .map(|page| command(CommandKind::Read, page, page, 1))
        .collect();
    let reads = [in_namespace("small", Stream::timed("reads", listed))];
    let outcome = worker.run(&reads, Plan::counting(0, 512), 5, 0).unwrap();
    assert_eq!(flash(&outcome).page_reads, 0);
}

#[test]
fn programs_are_told_of_their_namespaces_and_add_up() {
    let steady = format!("{TWO}\ncondition = \"preconditioned\"");
    let prepared = drive(&[&steady]);
    // One overwrites a part of the small namespace, the other all of the large one.
    let hot = Stream {
        range: Some((0, 64 * u64::from(PAGE))),
        ..in_namespace("small", Stream::closed("hot", writes(2)))
    };
    let cold = in_namespace("large", Stream::closed("cold", writes(1)));
    let outcome = ran(&prepared, &[hot, cold], Plan::counting(1_000, 4_000));
    let (own, all) = (counted(&outcome), flash(&outcome));
    assert_eq!(own.host_pages.iter().sum::<u64>(), all.host_page_programs);
    let moved = all.collection_page_programs + all.wear_page_programs;
    assert_eq!(
        own.media_pages.iter().sum::<u64>(),
        all.host_page_programs + moved
    );
    let ratio = |place: usize| own.media_pages[place] as f64 / own.host_pages[place] as f64;
    // What is overwritten soon is hardly moved; the rest of the small one is, though nobody
    // writes it.
    assert!(ratio(1) < ratio(0), "{own:?}");
}

#[test]
fn a_drive_with_namespaces_takes_as_long_as_one_without() {
    // Every operation is looked at, by the way that other drives take too.
    let load = [Stream::closed("all", writes(8))];
    let steady = "condition = \"preconditioned\"";
    let plain = ran(&drive(&[steady]), &load, Plan::counting(500, 3_000));
    let with = ran(&drive(&[TWO, steady]), &load, Plan::counting(500, 3_000));
    assert_eq!(plain.window, with.window);
    assert_eq!(plain.write.latency.sum_ns(), with.write.latency.sum_ns());
    assert_eq!(flash(&plain), flash(&with));
}

#[test]
fn shares_are_whole_pages_of_the_drive() {
    let shares = "namespaces.names = [\"a\", \"b\", \"c\"]\nnamespaces.shares = [1, 1, 1]";
    let prepared = drive(&[shares]);
    let last = |name: &str, page| in_namespace(name, Stream::timed(name, [write(0, page)]));
    let streams = [last("a", 511), last("b", 511), last("c", 511)];
    let outcome = ran(&prepared, &streams, Plan::counting(0, 3));
    assert_eq!(counted(&outcome).host_pages, [1, 1, 1]);
}

#[test]
fn a_stream_without_a_namespace_has_the_whole_drive() {
    let commands = vec![write(0, 0), write(0, 1_024), Command::flush(Nanos(0))];
    let outcome = run(&drive(&[TWO]), commands);
    assert_eq!(counted(&outcome).host_pages, [1, 1]);
}

#[test]
fn namespaces_that_cannot_be_are_refused() {
    let names = "namespaces.names = [\"a\", \"b\"]\n";
    for (changes, allowed) in [
        (
            "namespaces.sizes_bytes = [4096]".to_owned(),
            "namespaces.names",
        ),
        (names.to_owned(), "or namespaces.shares"),
        (
            format!("{names}namespaces.sizes_bytes = [4096]"),
            "an entry for each of the 2 names",
        ),
        (
            format!("{names}namespaces.sizes_bytes = [4096, 2048]"),
            "whole pages of 4096 bytes",
        ),
        (
            format!("{names}namespaces.sizes_bytes = [4096, 6_291_456]"),
            "at most 6291456 bytes together",
        ),
        (
            format!("{names}namespaces.sizes_bytes = [4096, 4096]\nnamespaces.shares = [1, 1]"),
            "none, as namespaces.sizes_bytes",
        ),
        (
            "namespaces.names = [\"a\", \"a\"]\nnamespaces.shares = [1, 1]".to_owned(),
            "each name once",
        ),
    ] {
        let said = refused(&changes);
        assert!(said.contains(allowed), "{said}");
    }
}
