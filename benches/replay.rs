//! How many requests a second a simulated drive replays from SPC text, including reading.
//!
//! `bench-64gib` replays a trace of random requests of 4 KiB, which is in memory as text. It does so
//! as fast as possible with 64 outstanding, and at recorded times of a million a second. The output
//! also has the parts: the survey, which reads the text once; the run, during which another thread
//! reads it again; and the same drive with requests that are drawn instead of read.
//!
//! Run with `cargo bench -p drivelab-replay`; you can set `REQUESTS` (4,000,000) and `ROUNDS` (3).
//! The first column is the time of the simulating thread on its core. This is the wall time if the
//! reading thread has its own core. The second column is wall time, including other programs' turns.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use drivelab_replay::{Fit, Origin, Pace, Replay, Survey, Surveyed};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Plan, Prepared, Ssd};
use drivelab_trace::{Given, Options, Trace};
use drivelab_workload::{Characteristics, SharedSource, Source, Stream, keyed_rng, uniform_below};
use stopwatch::Stopwatch;

#[path = "stopwatch.rs"]
mod stopwatch;

const DEPTH: u32 = 64;

fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn text(requests: u64, write_ratio: f64, pages: u64) -> Bytes {
    let mut rng = keyed_rng(1, 0, 0);
    let mut text = String::new();
    for index in 0..requests {
        let sector = uniform_below(&mut rng, pages) * 8;
        let is_write = (uniform_below(&mut rng, 1000) as f64) < write_ratio * 1000.0;
        let operation = if is_write { 'W' } else { 'R' };
        let (seconds, micros) = (index / 1_000_000, index % 1_000_000);
        let _ = writeln!(text, "0,{sector},4096,{operation},{seconds}.{micros:06}");
    }
    Bytes::from(text)
}

/// Seconds on the core, and by the clock.
type Seconds = [f64; 2];

fn seconds<T>(work: impl FnOnce() -> T) -> (Seconds, T) {
    let (began, watch) = (Instant::now(), Stopwatch::start());
    let done = work();
    ([watch.seconds(), began.elapsed().as_secs_f64()], done)
}

fn together(one: Seconds, other: Seconds) -> Seconds {
    [one[0] + other[0], one[1] + other[1]]
}

fn origin(text: &Bytes) -> Origin {
    Origin::Files {
        files: vec![Given::Memory("bench".to_owned(), text.clone())],
        options: Box::default(),
    }
}

fn surveyed(text: &Bytes) -> Surveyed {
    let mut survey = Survey::begin(&origin(text), Fit::Keep, false).unwrap();
    while survey.go_on(1 << 20).unwrap() {}
    survey.finish().unwrap()
}

fn read(text: &Bytes) {
    let files = [Given::Memory("bench".to_owned(), text.clone())];
    let mut trace = Trace::open(&files, &Options::default()).unwrap();
    let mut batch = Vec::new();
    loop {
        trace.next_batch(&mut batch).unwrap();
        if black_box(&batch).is_empty() {
            break;
        }
    }
}

fn replay(drive: &mut Ssd, text: &Bytes, surveyed: Surveyed, pace: Pace, requests: u64) {
    let replay = Replay {
        origin: origin(text),
        surveyed: Arc::new(surveyed),
        pace,
        wraps: false,
    };
    let source = Source::Paced(SharedSource(Arc::new(replay)));
    let streams = [Stream::new("trace", source)];
    let outcome = drive
        .run(&streams, Plan::counting(0, requests), 1, 1)
        .unwrap();
    assert_eq!(outcome.measured_requests, requests);
}

fn drawn(drive: &mut Ssd, write_ratio: f64, requests: u64) {
    let workload = Characteristics {
        write_ratio,
        queue_depth: DEPTH,
        read_random: 1.0,
        write_random: 1.0,
        ..Characteristics::default()
    };
    let streams = [Stream::closed("drawn", workload)];
    drive
        .run(&streams, Plan::counting(0, requests), 1, 1)
        .unwrap();
}

fn main() {
    let (requests, rounds) = (number("REQUESTS", 4_000_000), number("ROUNDS", 3));
    let config = SsdConfig::from_text("base = \"bench-64gib\"\nname = \"bench\"\n").unwrap();
    let mut drive = Prepared::new(config).unwrap().worker();
    let pages = drive.capacity_bytes() >> 12;
    println!("M requests/s, best of {rounds} rounds of {requests} requests");
    for (name, write_ratio) in [("reads", 0.0), ("30 % writes", 0.3), ("writes", 1.0)] {
        let text = text(requests, write_ratio, pages);
        let closed = Pace::Closed { depth: Some(DEPTH) };
        let recorded = Pace::Recorded {
            speed: 1.0,
            depth: 1024,
        };
        // The drive is steady before the first round is timed.
        drawn(&mut drive, write_ratio, requests);
        let mut best = [[f64::INFINITY; 2]; 7];
        for _ in 0..rounds {
            let (reading, ()) = seconds(|| read(&text));
            let (survey, found) = seconds(|| surveyed(&text));
            let (run, ()) = seconds(|| replay(&mut drive, &text, found.clone(), closed, requests));
            let (timed, ()) = seconds(|| replay(&mut drive, &text, found, recorded, requests));
            let (drawing, ()) = seconds(|| drawn(&mut drive, write_ratio, requests));
            let round = [
                reading,
                survey,
                run,
                together(survey, run),
                timed,
                together(survey, timed),
                drawing,
            ];
            for (best, now) in best.iter_mut().zip(round) {
                *best = [best[0].min(now[0]), best[1].min(now[1])];
            }
        }
        println!("{name}");
        let names = [
            "reading alone",
            "the survey",
            "replay, 64 outstanding, after the survey",
            "replay, 64 outstanding, survey included",
            "replay at recorded times, after the survey",
            "replay at recorded times, survey included",
            "the same, drawn instead of read",
        ];
        for (name, best) in names.iter().zip(best) {
            let [core, wall] = best.map(|seconds| requests as f64 / seconds / 1e6);
            println!("  {name:<44} {core:>6.2} {wall:>6.2}");
        }
    }
}
