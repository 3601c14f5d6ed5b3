//! Time of one `Histogram::record`, compared with a loop that only makes the latencies.
//!
//! Run with `cargo bench -p drivelab-request`.

use std::hint::black_box;
use std::time::Instant;

use drivelab_request::Histogram;

const RECORDS: u64 = 50_000_000;

/// A latency between 64 us and 192 us, cheap to make and spread over bins.
fn latency(turn: u64) -> u64 {
    (1 << 16) + (turn.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 47)
}

fn nanoseconds_each(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / RECORDS as f64
}

fn main() {
    let bare = nanoseconds_each(|| {
        for turn in 0..RECORDS {
            black_box(latency(turn));
        }
    });
    let mut histogram = Histogram::new();
    let recorded = nanoseconds_each(|| {
        for turn in 0..RECORDS {
            histogram.record(black_box(latency(turn)));
        }
    });
    println!("latency alone      {bare:6.2} ns");
    println!("Histogram::record  {:6.2} ns above that", recorded - bare);
    println!("(median latency    {:?} ns)", histogram.percentile_ns(50.0));
}
