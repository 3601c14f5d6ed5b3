//! Time of a simulated RAID-0 beside its members', each alone with its share of the requests.
//!
//! ```text
//!   array     two x25m under one load of queue depth 32
//!   members   one x25m after the other, half of the requests each at queue depth 16
//!   ones      the same as arrays of one, which have the loop of all kinds of drives
//! ```
//!
//! Run with `make bench`, or `cargo bench -p drivelab-sim --bench array`; words after `--` choose
//! what runs (`array`, `members`, `ones`) and the operation (`reads`, `half`, `large`), and
//! `REQUESTS=200000 ROUNDS=1` in the environment makes it short.
#![allow(clippy::unwrap_used, missing_docs)]

mod stopwatch;

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_sim::drive::{Drive, Prepared};
use drivelab_sim::host::{Load, Plan, Runner};
use drivelab_sim::preset::{self, DriveConfig};
use drivelab_sim::raid::Array;
use drivelab_sim::ssd;
use drivelab_workload::{Characteristics, Generator};
use stopwatch::Stopwatch;

const MEMBERS: u32 = 2;
const QUEUE_DEPTH: u32 = 32;
const STRIPE_BYTES: u64 = 64 << 10;
const OPERATIONS: [(&str, &str, f64, u32); 3] = [
    ("reads", "4 KiB reads", 0.0, 4 << 10),
    ("half", "4 KiB, half writes", 0.5, 4 << 10),
    ("large", "64 KiB, half writes", 0.5, 64 << 10),
];
const WAYS: [&str; 3] = ["members", "ones", "array"];

fn load((write_ratio, size): (f64, u32), queue_depth: u32, capacity: u64) -> Load {
    let workload = Characteristics {
        write_ratio,
        queue_depth,
        read_size: size,
        write_size: size,
        ..Characteristics::default()
    };
    let generator = Generator::new(&workload, 0, capacity, 1, 0).unwrap();
    Load::closed(generator, queue_depth)
}

fn config(name: &str) -> DriveConfig {
    DriveConfig::from_text(preset::text(name).unwrap()).unwrap()
}

/// What the drives of a bench are made of.
struct Bench {
    array: Prepared,
    member: ssd::Prepared,
    /// Ratio of writes, bytes of a request.
    operation: (f64, u32),
    requests: u64,
}

impl Bench {
    fn array(&self) -> f64 {
        let mut array: Drive = self.array.worker(&Arc::default());
        let load = load(self.operation, QUEUE_DEPTH, array.capacity_bytes());
        let watch = Stopwatch::start();
        let plan = Plan::counting(0, self.requests);
        black_box(array.run(load, plan, 1, 0).unwrap());
        watch.seconds()
    }

    /// Every member with its share, one after the other.
    fn members(&self, are_arrays: bool) -> f64 {
        let capacity = self.member.worker().capacity_bytes();
        let seconds = (0..MEMBERS).map(|_| {
            let load = load(self.operation, QUEUE_DEPTH / MEMBERS, capacity);
            let plan = Plan::counting(0, self.requests / u64::from(MEMBERS));
            if are_arrays {
                let array = Array::new(vec![self.member.device()], STRIPE_BYTES);
                let mut runner = Runner::new(array, &Arc::default());
                let watch = Stopwatch::start();
                black_box(runner.run(load, plan, 1, 0).unwrap());
                watch.seconds()
            } else {
                let mut drive = self.member.worker();
                let watch = Stopwatch::start();
                black_box(drive.run(load, plan, 1, 0).unwrap());
                watch.seconds()
            }
        });
        seconds.sum()
    }

    fn seconds(&self, way: &str) -> f64 {
        match way {
            "array" => self.array(),
            way => self.members(way == "ones"),
        }
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
    println!("array-x25m, ns a random request, best of {rounds}");
    let DriveConfig::Ssd(member) = config("x25m") else {
        unreachable!("a preset of flash")
    };
    let mut bench = Bench {
        array: Prepared::stoppable(config("array-x25m"), &AtomicBool::new(false)).unwrap(),
        member: ssd::Prepared::new(*member).unwrap(),
        operation: (0.0, 0),
        requests,
    };
    let operations = OPERATIONS.map(|(name, ..)| name);
    for (name, title, write_ratio, size) in OPERATIONS {
        if !wants(&operations, name) {
            continue;
        }
        bench.operation = (write_ratio, size);
        let ways: Vec<&str> = WAYS.into_iter().filter(|way| wants(&WAYS, way)).collect();
        let mut best = vec![f64::MAX; ways.len()];
        for _ in 0..rounds {
            for (best, way) in best.iter_mut().zip(&ways) {
                *best = best.min(bench.seconds(way));
            }
        }
        let told = |(way, seconds): (&&str, &f64)| {
            let ratio = seconds / best[0];
            let nanos = seconds * 1e9 / requests as f64;
            format!("{way} {nanos:>5.0} ({ratio:.2})")
        };
        let line: Vec<String> = ways.iter().zip(&best).map(told).collect();
        println!("  {title:<20} {}", line.join("   "));
    }
}
