//! Several streams: where commands are counted, and when they come.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, CommandKind, Nanos};
use drivelab_sim::ssd::{Outcome, Plan, Prepared, SimError};
use drivelab_workload::{Characteristics, Source, Stream};
use proptest::prelude::*;

use crate::small_drive::{self, read, write};

const PAGE: u64 = 4096;
const CAPACITY: u64 = 4_194_304;

/// A dispatch of 5 us: a read takes 5 + 50 + 10 = 65 us, a write 5 + 10 + 300 = 315 us.
const DISPATCHED: &str = "geometry.user_capacity_bytes = 4194304\n\
                          timing.read_dispatch_ns = 5_000\ntiming.write_dispatch_ns = 5_000\n\
                          timing.erase_dispatch_ns = 5_000\n";

fn drive() -> Prepared {
    small_drive::drive(&[DISPATCHED])
}

fn run(streams: Vec<Stream>, plan: Plan) -> Result<Outcome, SimError> {
    drive().worker().run(&streams, plan, 0, 0)
}

fn timed(name: &str, commands: Vec<Command>) -> Stream {
    Stream::timed(name, commands)
}

/// Random reads of whole pages.
fn reads(queue_depth: u32) -> Characteristics {
    Characteristics {
        write_ratio: 0.0,
        queue_depth,
        read_size: PAGE as u32,
        write_size: PAGE as u32,
        read_random: 1.0,
        write_random: 1.0,
        read_stride: 0,
        write_stride: 0,
    }
}

/// For one stream and kind: the sum and the largest of the latencies, in us, and their number.
fn latencies_us(outcome: &Outcome, stream: usize, kind: CommandKind) -> (u64, u64, u64) {
    let latency = &outcome.streams[stream].commands[kind.index()]
        .counted
        .latency;
    let sum = latency.sum_ns() as u64;
    let largest = latency.max_ns().unwrap_or_default();
    (latency.count(), sum / 1000, largest / 1000)
}

#[test]
fn every_stream_has_its_own_latencies_and_they_sum_to_the_whole() {
    // Both want die 0 at once, and the first stream goes first. The second stream's write to die 1
    // is dispatched third, at 10 us, and is undisturbed.
    let streams = vec![
        timed("first", vec![read(0, 0)]),
        timed("second", vec![read(0, 2), write(0, 1)]),
    ];
    let outcome = run(streams, Plan::counting(0, 3)).unwrap();
    assert_eq!(latencies_us(&outcome, 0, CommandKind::Read), (1, 65, 65));
    assert_eq!(latencies_us(&outcome, 1, CommandKind::Read), (1, 125, 125));
    assert_eq!(latencies_us(&outcome, 1, CommandKind::Write), (1, 325, 325));
    assert_eq!(outcome.streams[1].name, "second");
    let submitted = [0, 1].map(|stream: usize| outcome.streams[stream].submitted);
    assert_eq!(submitted, [1, 2]);
    // All streams together.
    assert_eq!(outcome.read.latency.count(), 2);
    assert_eq!(outcome.read.latency.sum_ns(), 190_000);
    assert_eq!((outcome.read.bytes, outcome.write.bytes), (2 * PAGE, PAGE));
    let parts: u64 = outcome.split[0].sum_ns.iter().sum();
    assert_eq!(parts, 190_000);
    let parts: u64 = outcome.streams[1].commands[0].split.sum_ns.iter().sum();
    assert_eq!(parts, 125_000);
}

#[test]
fn a_closed_and_a_timed_stream_share_the_drive() {
    // The closed loop reads only page 0, one read after another: 65 us each. The write to die 0 at
    // 100 us waits for the read that ends at 130 and then has the die: it was dispatched long
    // before, so 130 + 310 = 440. The third read is dispatched at 135, waits until 440 and ends at
    // 500.
    let closed = Stream {
        range: Some((0, PAGE)),
        ..Stream::closed("reader", reads(1))
    };
    let streams = vec![closed, timed("writer", vec![write(100, 2)])];
    let outcome = run(streams, Plan::counting(0, 4)).unwrap();
    assert_eq!(outcome.window, Nanos(500_000));
    assert_eq!(latencies_us(&outcome, 1, CommandKind::Write), (1, 340, 340));
    assert_eq!(
        latencies_us(&outcome, 0, CommandKind::Read),
        (3, 65 + 65 + 370, 370)
    );
}

#[test]
fn drawn_arrivals_come_at_their_rate_until_the_window_closes() {
    // 1000 a second: arrivals at 1, 2, ... ms, completions 65 us later.
    let open = |rate| Source::Open {
        requests: reads(1).into(),
        rate_iops: rate,
        is_poisson: false,
    };
    let mut plan = Plan::default();
    plan.window.duration = Some(Nanos(10_000_000));
    let outcome = run(vec![Stream::new("open", open(1000.0))], plan).unwrap();
    assert_eq!(
        latencies_us(&outcome, 0, CommandKind::Read),
        (9, 9 * 65, 65)
    );
    // The window closes before commands that arrive at its last moment.
    assert_eq!(outcome.streams[0].submitted, 9);
    assert_eq!(outcome.drained_requests, 0);
}

#[test]
fn the_series_of_a_stream_holds_what_completed_in_each_interval() {
    let streams = vec![
        timed("first", vec![read(0, 0), read(300, 0)]),
        timed("second", vec![write(0, 1)]),
    ];
    let mut plan = Plan::counting(0, 3);
    plan.series_interval = Some(Nanos(100_000));
    let outcome = run(streams, plan).unwrap();
    // Reads end at 65 and 365 us, the write, dispatched second, at 320.
    let series = outcome.series.unwrap();
    assert_eq!((series.interval, series.intervals()), (Nanos(100_000), 4));
    let requests = |stream, kind| [0, 1, 2, 3].map(|at| series.bin(at, stream, kind).requests);
    assert_eq!(requests(0, CommandKind::Read), [1, 0, 0, 1]);
    assert_eq!(requests(1, CommandKind::Write), [0, 0, 0, 1]);
    let bin = series.bin(3, 1, CommandKind::Write);
    assert_eq!((bin.bytes, bin.latency_max_ns), (PAGE, 320_000));
}

#[test]
fn a_command_outside_its_streams_range_is_refused() {
    let stream = Stream {
        range: Some((2 * PAGE, 2 * PAGE)),
        ..timed("narrow", vec![read(0, 2), read(0, 3), read(0, 4)])
    };
    let error = run(vec![stream], Plan::counting(0, 3)).unwrap_err();
    let text = "stream \"narrow\": a read of 4096 bytes at offset 16384 does not lie within bytes \
                8192 to 16384 of the drive";
    assert_eq!(error.to_string(), text);
}

#[test]
fn impossible_streams_are_refused_by_name() {
    let error = run(Vec::new(), Plan::counting(0, 1)).unwrap_err();
    assert_eq!(error.to_string(), "a load has 1 to 64 streams, not 0");
    let wide = Stream {
        range: Some((PAGE, CAPACITY)),
        ..timed("wide", vec![read(0, 1)])
    };
    let error = run(vec![wide], Plan::counting(0, 1)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("\"wide\"") && text.contains("4194304"),
        "{text}"
    );
    let idle = Stream::closed("idle", reads(0));
    let error = run(vec![idle], Plan::counting(0, 1)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("\"idle\": queue_depth is 0"), "{text}");
}

/// Loops with shares and depths, or without shares, at the same time.
fn loops(held: &[(Option<f64>, u32)]) -> Vec<Stream> {
    let stream = |&(share, queue_depth): &(Option<f64>, u32)| Stream {
        share,
        ..Stream::closed("loop", reads(queue_depth))
    };
    held.iter().map(stream).collect()
}

/// Sixteen outstanding against one would get nearly all of the drive, but they wait for the other
/// stream.
#[test]
fn a_share_is_held_against_a_deeper_queue() {
    let submitted = |shares: [Option<f64>; 2]| {
        let streams = loops(&[(shares[0], 16), (shares[1], 1)]);
        let outcome = run(streams, Plan::counting(0, 1_000)).unwrap();
        [0, 1].map(|stream: usize| outcome.streams[stream].submitted)
    };
    let [deep, shallow] = submitted([None, None]);
    assert!(deep > 10 * shallow, "{deep} {shallow}");
    let [deep, shallow] = submitted([Some(0.6), Some(0.4)]);
    // A few more were submitted before the 1000th completed.
    let total = (deep + shallow) as f64;
    assert!((deep as f64 - 0.6 * total).abs() <= 1.0, "{deep} {shallow}");
    assert!((1_000.0..=1_017.0).contains(&total), "{total}");
}

proptest! {
    /// At any moment that ends a run, each stream stays within the bounds of the rule. Streams
    /// without a share are not held up, and everything submitted is complete when the run is over.
    #[test]
    fn shares_are_held_and_nothing_waits_for_ever(
        held in prop::collection::vec((prop::option::weighted(0.8, 0.001..1.0_f64), 1..20_u32), 1..6),
        requests in 1..400_u64,
        duration in prop::option::of(1..10_000_000_u64),
    ) {
        let mut plan = Plan::counting(0, requests);
        plan.window.duration = duration.map(Nanos);
        let outcome = run(loops(&held), plan).unwrap();
        let submitted = |stream: usize| outcome.streams[stream].submitted;
        let of_all = (0..held.len()).map(submitted).sum::<u64>();
        prop_assert_eq!(of_all, outcome.measured_requests + outcome.drained_requests);
        prop_assert!(duration.is_some() || outcome.measured_requests == requests);
        let shared = || (0..held.len()).filter_map(|stream| Some((stream, held[stream].0?)));
        let (count, whole) = shared().fold((0.0, 0.0), |sum, (_, share)| (sum.0 + 1.0, sum.1 + share));
        let total = shared().map(|(stream, _)| submitted(stream)).sum::<u64>() as f64;
        for (stream, share) in shared() {
            let (sent, share) = (submitted(stream) as f64, share / whole);
            // Apart from rounding.
            prop_assert!(sent < share * total + 1.0 + 1e-6, "{sent} of {total}, share {share}");
            prop_assert!(sent >= share * (total - count) - 1e-6, "{sent} of {total}, share {share}");
        }
    }
}

/// 10 million reads a second, of which two dies serve 30,769 (65 us each).
#[test]
fn arrivals_that_the_drive_never_catches_up_with_are_refused() {
    let source = Source::Open {
        requests: reads(1).into(),
        rate_iops: 1e7,
        is_poisson: false,
    };
    let error = run(
        vec![Stream::new("flood", source)],
        Plan::counting(0, 1 << 20),
    )
    .unwrap_err();
    // 2^20 are outstanding after about 1.05e6 / 9.97e6 s.
    let message = error.to_string();
    assert!(
        message.contains("stream \"flood\": after 105 ms"),
        "{message}"
    );
    assert!(message.contains("more than 1048576"), "{message}");
}
