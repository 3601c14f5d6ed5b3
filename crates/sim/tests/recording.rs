//! The record of a span of a run equals that part of the record of the whole run.
#![allow(clippy::unwrap_used)]

use drivelab_ftl::{Cause, OperationKind};
use drivelab_request::Nanos;
use drivelab_sim::ssd::{Plan, Prepared, RecordedOperation};
use drivelab_workload::Stream;
use proptest::prelude::*;

use crate::drives::{fitted, small_drives, workloads};
use crate::small_drive::{LINK, ONE_DIE, closed, drive, read, timed, write};

fn begin(operation: &RecordedOperation) -> u64 {
    let stages = [operation.dispatch, operation.transfer, operation.cell];
    let lasting = stages.into_iter().filter(|(start, end)| start < end);
    lasting.map(|(start, _)| start).min().unwrap_or(u64::MAX)
}

/// Kind and page of the recorded operations of each of three streams, and of none.
fn by_stream(changes: &[&str]) -> [Vec<(OperationKind, u32)>; 4] {
    let streams = [
        ("reader", vec![read(0, 3), read(4_000, 3)]),
        ("writer", (0..8).map(|page| write(1_000, page)).collect()),
        // Half of a page: the rest is read first.
        ("changer", {
            let mut half = write(2_000, 20);
            half.size_bytes /= 2;
            vec![half]
        }),
    ];
    let load = streams.map(|(name, commands)| Stream::timed(name, commands));
    let mut worker = drive(changes).worker();
    let (_, recorded) = worker
        .run_recorded(&load, Plan::counting(0, 11), 0, 0..u64::MAX)
        .unwrap();
    let mut found: [Vec<_>; 4] = Default::default();
    for operation in recorded {
        let place = operation.stream.map_or(3, usize::from);
        assert!(place == 3 || operation.operation.cause == Cause::Host);
        found[place].push((operation.operation.kind, operation.operation.lpn));
    }
    found.each_mut().map(|operations| {
        operations.sort_by_key(|&(kind, page)| (kind as u8, page));
        std::mem::take(operations)
    })
}

/// This also holds through the write buffer and the read cache. Pages that gather in the buffer
/// belong to no stream.
#[test]
fn operations_are_told_of_the_stream_that_asked_for_them() {
    use OperationKind::{Program, Read};
    let reads = vec![(Read, 3), (Read, 3)];
    let writes: Vec<_> = (0..8).map(|page| (Program, page)).collect();
    let change = vec![(Read, 20), (Program, 20)];
    let plain = [reads, writes.clone(), change.clone(), Vec::new()];
    assert_eq!(by_stream(&[]), plain);
    let buffered = [LINK, "buffer.write_buffer_bytes = 65_536"];
    assert_eq!(by_stream(&buffered), plain);
    // The page was written between its two reads.
    assert_eq!(by_stream(&["buffer.read_cache_bytes = 65_536"]), plain);
    let gathered = by_stream(&[
        LINK,
        "buffer.write_buffer_bytes = 65_536",
        "buffer.flush_start_bytes = 32_768",
        "buffer.flush_stop_bytes = 0",
    ]);
    assert_eq!(gathered[1], []);
    assert_eq!(gathered[3].len(), writes.len() + change.len());
}

/// Without its pause it would have ended long ago, and hundreds of operations are emitted in the
/// meantime.
#[test]
fn an_operation_that_was_paused_before_the_span_is_in_its_record() {
    let drive = drive(&[
        ONE_DIE,
        "scheduling.order = \"reads_first\"\nscheduling.starvation_limit = 10_000",
        "scheduling.suspends_per_operation = 1\ntiming.suspend_ns = 7_000",
        "timing.resume_ns = 5_000\ntiming.suspend_progress_ns = 0",
    ]);
    // The program is in progress from 10 to 310 us. It is paused from 100 on, for 600 reads.
    let commands: Vec<_> = std::iter::once(write(0, 0))
        .chain((0..600).map(|each| read(100 + each, 1 + each % 400)))
        .collect();
    let record = |span| {
        let load = timed(commands.iter().copied());
        let plan = Plan::counting(0, commands.len() as u64);
        drive.worker().run_recorded(&load, plan, 0, span).unwrap().1
    };
    let program = |operations: Vec<RecordedOperation>| {
        let mut operations = operations.into_iter();
        operations.find(|o| o.operation.kind == OperationKind::Program)
    };
    let whole = program(record(0..u64::MAX));
    let end = 107_000 + 600 * 60_000 + 5_000 + 210_000;
    assert_eq!(whole.map(|o| o.cell), Some((10_000, end)));
    assert_eq!(program(record(320_000..u64::MAX)), whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_span_is_recorded_as_in_the_whole_run(
        config in small_drives(),
        workload in workloads(),
        seed: u64,
        from in 0_u64..20_000_000,
        length in 1_u64..5_000_000,
    ) {
        let workload = fitted(workload, &config);
        let Ok(prepared) = Prepared::new(config) else { return Ok(()) };
        let mut plan = Plan::default();
        plan.window.duration = Some(Nanos(from + length));
        let record = |span| {
            let mut drive = prepared.worker();
            drive.run_recorded(&closed(workload), plan, seed, span)
        };
        let Ok((_, whole)) = record(0..u64::MAX) else { return Ok(()) };
        let (_, part) = record(from..from + length).unwrap();
        let under_way = |o: &&RecordedOperation| o.end() > from && begin(o) < from + length;
        let expected: Vec<_> = whole.iter().filter(under_way).collect();
        // The record also has operations that were emitted in the span and began after it.
        let found: Vec<_> = part.iter().filter(under_way).collect();
        prop_assert_eq!(found, expected);
        prop_assert!(part.iter().all(|o| o.end() > from));
        prop_assert!(part.len() <= whole.len());
    }
}
