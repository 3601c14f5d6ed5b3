//! Time of a simulated RAID-0, compared with each member alone under its share of the requests.
//!
//! ```text
//!   array     two drives under one load of queue depth 32
//!   members   one of them after the other, half of the requests each at queue depth 16
//! ```
//!
//! Run with `make bench`, or `cargo bench -p drivelab-sim --bench array`; words after `--` choose
//! presets of arrays, what runs (`array`, `members`) and the operation (`reads`, `half`, `large`),
//! and `REQUESTS=200000 ROUNDS=1` in the environment makes it short. If the system reports
//! processor time in steps of some milliseconds, a difference of a percent needs more requests
//! than the default.
#![allow(clippy::unwrap_used, missing_docs)]

mod stopwatch;

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_sim::drive::{Drive, Prepared, State};
use drivelab_sim::host::Plan;
use drivelab_sim::preset::{self, DriveConfig};
use drivelab_workload::{Characteristics, Stream};
use stopwatch::Stopwatch;

const MEMBERS: u32 = 2;
const QUEUE_DEPTH: u32 = 32;
/// Arrays, and what they are made of.
const ARRAYS: [(&str, &str); 2] = [
    ("array-x25m", "x25m"),
    ("taurus-st3300657ss", "st3300657ss"),
];
const OPERATIONS: [(&str, &str, f64, u32); 3] = [
    ("reads", "4 KiB reads", 0.0, 4 << 10),
    ("half", "4 KiB, half writes", 0.5, 4 << 10),
    ("large", "64 KiB, half writes", 0.5, 64 << 10),
];
const WAYS: [&str; 2] = ["members", "array"];

fn streams((write_ratio, size): (f64, u32), queue_depth: u32) -> [Stream; 1] {
    let workload = Characteristics {
        write_ratio,
        queue_depth,
        read_size: size,
        write_size: size,
        ..Characteristics::default()
    };
    [Stream::closed("all", workload)]
}

/// Arrays have variability, the presets of their members do not.
fn prepared(name: &str) -> Prepared {
    let config = DriveConfig::from_text(preset::text(name).unwrap()).unwrap();
    Prepared::stoppable(config.without_variability(), &AtomicBool::new(false)).unwrap()
}

/// What the drives of a bench are made of.
struct Bench {
    array: Prepared,
    member: Prepared,
    /// Ratio of writes, bytes of a request.
    operation: (f64, u32),
    requests: u64,
}

impl Bench {
    fn run(&self, drive: &Prepared, share: u32) -> f64 {
        let mut drive: Drive = drive.worker(&Arc::default());
        let streams = streams(self.operation, QUEUE_DEPTH / share);
        let plan = Plan::counting(0, self.requests / u64::from(share));
        let watch = Stopwatch::start();
        black_box(drive.run(&streams, plan, (1, 0), State::Kept).unwrap());
        watch.seconds()
    }

    fn seconds(&self, way: &str) -> f64 {
        match way {
            "array" => self.run(&self.array, 1),
            _ => (0..MEMBERS).map(|_| self.run(&self.member, MEMBERS)).sum(),
        }
    }

    /// The least time of each way in turn, and its ratio to that of the first.
    fn line(&self, ways: &[&str], rounds: u64) -> String {
        let mut best = vec![f64::MAX; ways.len()];
        for _ in 0..rounds {
            for (best, way) in best.iter_mut().zip(ways) {
                *best = best.min(self.seconds(way));
            }
        }
        let column = |(way, seconds): (&&str, &f64)| {
            let ratio = seconds / best[0];
            let nanos = seconds * 1e9 / self.requests as f64;
            format!("{way} {nanos:>5.0} ({ratio:.2})")
        };
        let ways: Vec<String> = ways.iter().zip(&best).map(column).collect();
        ways.join("   ")
    }
}

fn main() {
    let chosen: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wants = |names: &[&str], name: &str| {
        let asked = |name: &str| chosen.iter().any(|word| word == name);
        asked(name) || !names.iter().any(|name| asked(name))
    };
    let number = |name, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (requests, rounds) = (number("REQUESTS", 1_500_000), number("ROUNDS", 5));
    let ways: Vec<&str> = WAYS.into_iter().filter(|way| wants(&WAYS, way)).collect();
    println!("ns a random request, best of {rounds}");
    let operations = OPERATIONS.map(|(name, ..)| name);
    let arrays = ARRAYS.map(|(name, _)| name);
    for (array, member) in ARRAYS {
        if !wants(&arrays, array) {
            continue;
        }
        println!("{array}");
        let mut bench = Bench {
            array: prepared(array),
            member: prepared(member),
            operation: (0.0, 0),
            requests,
        };
        for (name, title, write_ratio, size) in OPERATIONS {
            if !wants(&operations, name) {
                continue;
            }
            bench.operation = (write_ratio, size);
            println!("  {title:<20} {}", bench.line(&ways, rounds));
        }
    }
}
