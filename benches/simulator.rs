//! Simulated requests per second of `bench-64gib`, beside a bare loop.
//!
//! The bare loop of an operation is what no simulator of this drive can leave
//! out: the table look-up and the updates of two timelines (die and channel),
//! here as next-free times, without events, queues, histograms or collection.
//! It bounds the speed from above; its latencies would be wrong under load.
//!
//! Run with `make bench`, or `cargo bench -p drivelab-sim --bench simulator`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use drivelab_request::{Direction, Request};
use drivelab_sim::preset::{self, SsdConfig};
use drivelab_sim::ssd::{Load, Outcome, Plan, Prepared, Ssd};
use drivelab_workload::{Characteristics, Generator};

const SEED: u64 = 1;
const QUEUE_DEPTH: u32 = 64;
const ROUNDS: u64 = 3;
const PAGE_SHIFT: u32 = 12;

fn requests_of(write_ratio: f64, capacity_bytes: u64, index: u64) -> Generator {
    let workload = Characteristics {
        write_ratio,
        queue_depth: QUEUE_DEPTH,
        read_size: 4096,
        write_size: 4096,
        read_random: 1.0,
        write_random: 1.0,
        read_stride: 0,
        write_stride: 0,
    };
    Generator::new(&workload, 0, capacity_bytes, SEED, index).unwrap()
}

/// Wall seconds and outcome of a run that continues from the drive's state.
fn simulate(drive: &mut Ssd, write_ratio: f64, index: u64, requests: u64) -> (f64, Outcome) {
    let generator = requests_of(write_ratio, drive.capacity_bytes(), index);
    let load = Load::Closed {
        generator,
        queue_depth: QUEUE_DEPTH,
    };
    let plan = Plan::counting(0, requests);
    let start = Instant::now();
    let outcome = drive.run(load, plan, SEED, index).unwrap();
    (start.elapsed().as_secs_f64(), outcome)
}

/// The bare loop: look up, then two timelines; requests prefetched 64 ahead.
struct Bare {
    map: Vec<u32>,
    die_free_at: Vec<u64>,
    channel_free_at: Vec<u64>,
    cell_ns: [u64; 2],
    register_ns: u64,
}

impl Bare {
    fn new(config: &SsdConfig) -> Self {
        let pages = config.logical_pages();
        Self {
            // Scattered, as after random writes.
            map: (0..pages)
                .map(|page| page.wrapping_mul(0x9E37_79B1) % pages)
                .collect(),
            die_free_at: vec![0; config.dies() as usize],
            channel_free_at: vec![0; config.geometry.channels as usize],
            cell_ns: [config.timing.read_cell_ns, config.timing.program_cell_ns],
            register_ns: config.timing.read_register_ns,
        }
    }

    fn run(&mut self, write_ratio: f64, index: u64, requests: u64) -> f64 {
        let capacity_bytes = (self.map.len() as u64) << PAGE_SHIFT;
        let mut generator = requests_of(write_ratio, capacity_bytes, index);
        let mut ring: [Request; 64] = std::array::from_fn(|_| generator.next_request());
        let start = Instant::now();
        for step in 0..requests {
            let place = step as usize % ring.len();
            let request = ring[place];
            let drawn = generator.next_request();
            ring[place] = drawn;
            self.prefetch((drawn.offset_bytes >> PAGE_SHIFT) as usize);
            self.serve(request, step as u32);
        }
        black_box(&self.die_free_at);
        start.elapsed().as_secs_f64()
    }

    #[inline(always)]
    fn serve(&mut self, request: Request, step: u32) {
        let page = (request.offset_bytes >> PAGE_SHIFT) as usize;
        let mut place = self.map[page] as usize;
        if request.direction == Direction::Write {
            place = step as usize;
            self.map[page] = step;
        }
        let die = place % self.die_free_at.len();
        let channel = die % self.channel_free_at.len();
        let sensed = self.die_free_at[die] + self.cell_ns[request.direction.index()];
        let moved = self.channel_free_at[channel].max(sensed) + self.register_ns;
        self.die_free_at[die] = moved;
        self.channel_free_at[channel] = moved;
    }

    #[inline(always)]
    fn prefetch(&self, page: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch reads nothing; the page lies inside the map.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.map.as_ptr().add(page).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = page;
    }
}

fn report(what: &str, requests: u64, seconds: f64, bare_seconds: f64, notes: &str) {
    println!(
        "{what:<21} {:>6.2} M/s {:>6.1} ns   bare loop {:>6.1} M/s   share {:>5.1} %   {notes}",
        requests as f64 / seconds / 1e6,
        seconds / requests as f64 * 1e9,
        requests as f64 / bare_seconds / 1e6,
        bare_seconds / seconds * 100.0,
    );
}

fn main() {
    let config = SsdConfig::from_text(preset::text("bench-64gib").unwrap()).unwrap();
    let mut bare = Bare::new(&config);
    let pages = u64::from(config.logical_pages());

    let start = Instant::now();
    let prepared = Prepared::new(config).unwrap();
    let prepare_seconds = start.elapsed().as_secs_f64();
    println!("bench-64gib, one core, queue depth {QUEUE_DEPTH}, histograms on, best of {ROUNDS}");
    println!(
        "{:<21} {:>6.2} M pages/s (sequential, twice the capacity)",
        "preconditioning",
        2.0 * pages as f64 / prepare_seconds / 1e6
    );
    let mut drive = prepared.worker();

    let requests = 10_000_000;
    let best = |seconds: Vec<f64>| seconds.into_iter().fold(f64::INFINITY, f64::min);
    let seconds = best(
        (0..ROUNDS)
            .map(|i| simulate(&mut drive, 0.0, i, requests).0)
            .collect(),
    );
    let bare_seconds = best((0..ROUNDS).map(|i| bare.run(0.0, i, requests)).collect());
    report("random reads", requests, seconds, bare_seconds, "");

    // Steady state: four drive capacities of random writes first.
    simulate(&mut drive, 1.0, 100, 4 * pages);
    let mut notes = String::new();
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let (seconds, outcome) = simulate(&mut drive, 1.0, 200 + round, requests);
        let programs = outcome.host_programs + outcome.collection_programs;
        notes = format!(
            "WAF {:.2}, {:.2} M page programs/s",
            outcome.write_amplification().unwrap(),
            programs as f64 / seconds / 1e6
        );
        rounds.push(seconds);
    }
    let bare_seconds = best((0..ROUNDS).map(|i| bare.run(1.0, i, requests)).collect());
    report(
        "steady random writes",
        requests,
        best(rounds),
        bare_seconds,
        &notes,
    );
}
