//! Simulated requests per second of `spinpoint-m7`, compared with a bare loop.
//!
//! The bare loop draws the same requests and adds up seek and rotation, first come, first
//! served: no commands, link, cache, queue or histogram. It is an upper limit for the speed.
//!
//! Run with `make bench`, or `cargo bench -p drivelab-sim --bench disk`; words after `--` choose
//! orders (`fcfs`, `sptf`), and `REQUESTS=1000000` in the environment makes it short.
#![allow(clippy::unwrap_used, missing_docs)]

mod stopwatch;

use std::hint::black_box;
use std::sync::Arc;

use drivelab_sim::hdd::{Disk, Rotation, SeekCurve};
use drivelab_sim::host::Plan;
use drivelab_sim::preset::{self, DriveConfig, HddConfig};
use drivelab_workload::{Characteristics, Generator, Stream};
use stopwatch::Stopwatch;

const ROUNDS: usize = 3;

fn config(order: &str) -> HddConfig {
    assert!(preset::text("spinpoint-m7").is_some());
    let text = format!("base = \"spinpoint-m7\"\nname = \"bench\"\nscheduling.order = \"{order}\"");
    match DriveConfig::from_text(&text).unwrap() {
        DriveConfig::Hdd(config) => *config,
        other => unreachable!("{other:?}"),
    }
}

fn workload(queue_depth: u32) -> Characteristics {
    Characteristics {
        queue_depth,
        ..Characteristics::default()
    }
}

fn simulated(config: &HddConfig, queue_depth: u32, requests: u64) -> f64 {
    let mut disk = Disk::new(config, &Arc::default());
    let streams = [Stream::closed("all", workload(queue_depth))];
    let watch = Stopwatch::start();
    let outcome = disk
        .run(&streams, Plan::counting(0, requests), 1, 0)
        .unwrap();
    black_box(outcome);
    watch.seconds()
}

fn bare(config: &HddConfig, requests: u64) -> f64 {
    let cylinders: u32 = config.geometry.zone_cylinders.iter().sum();
    let rotation = Rotation::of_rpm(config.mechanics.rotation_rpm);
    let curve = SeekCurve::new(config.seek_times(), cylinders, rotation, 1.0);
    let bytes = config.geometry.user_capacity_bytes;
    let mut requests_of = Generator::new(&workload(1), 0, bytes, 1, 0).unwrap();
    let (mut now, mut at) = (0_u64, 0_u32);
    let watch = Stopwatch::start();
    for _ in 0..requests {
        let offset = requests_of.next_request().offset_bytes;
        let to = (u128::from(offset) * u128::from(cylinders) / u128::from(bytes)) as u32;
        now += u64::from(curve.over(at.abs_diff(to)).time);
        let target = (offset % u64::from(rotation.revolution())) as u32;
        now += u64::from(rotation.wait(rotation.angle(now), target));
        at = to;
    }
    black_box(now);
    watch.seconds()
}

fn main() {
    let chosen: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let requests = std::env::var("REQUESTS").map_or(3_000_000, |text| text.parse().unwrap());
    println!("spinpoint-m7, 4 KiB random reads, best of {ROUNDS}");
    for (order, queue_depth) in [("fcfs", 1), ("sptf", 32)] {
        if !chosen.is_empty() && !chosen.iter().any(|word| word == order) {
            continue;
        }
        let config = config(order);
        let best = |run: &dyn Fn() -> f64| (0..ROUNDS).map(|_| run()).fold(f64::MAX, f64::min);
        let rate = |seconds: f64| requests as f64 / seconds / 1e6;
        let [simulated, bare] = [
            best(&|| simulated(&config, queue_depth, requests)),
            best(&|| bare(&config, requests)),
        ]
        .map(rate);
        println!(
            "  {order} at queue depth {queue_depth:<3} {simulated:>6.2} M/s  {:>6.1} ns   bare loop \
             {bare:>6.1} M/s",
            1e3 / simulated
        );
    }
}
