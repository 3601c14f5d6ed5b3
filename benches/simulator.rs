//! Simulated requests per second of `bench-64gib`, compared with a bare loop; with firmware that
//! takes time, compared with the same drive whose firmware is free.
//!
//! The bare loop does only what every simulator of this drive must do for an
//! operation: look up the table and update two timelines (die and channel),
//! here as next-free times. It has no events, queues, histograms or collection.
//! It is an upper limit for the speed; its latencies would be wrong under load.
//!
//! Run with `make bench`, or `cargo bench -p drivelab-sim --bench simulator`;
//! words after `--` choose cases (`plain`, `full`, `firmware`, `dies`, `depth`) and operations
//! (`reads`, `mixed`, `writes`, `large-reads`, `large-writes`), and `ROUNDS=1 REQUESTS=2000000` in
//! the environment makes them short.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod stopwatch;

use std::hint::black_box;

use drivelab_request::{Direction, Request};
use drivelab_sim::preset::{self, SsdConfig};
use drivelab_sim::ssd::{Outcome, Plan, Prepared, Ssd};
use drivelab_workload::{Characteristics, Generator, Stream};
use stopwatch::Stopwatch;

const SEED: u64 = 1;
const QUEUE_DEPTH: u32 = 64;
const PAGE_SHIFT: u32 = 12;

/// What is switched on in addition to the bare flash.
const FULL: &str = "host.interface = \"sata\"\nhost.link_bytes_per_second = 1_000_000_000_000\n\
                    host.commands = 65_536\nhost.read_command_ns = 0\nhost.write_command_ns = 0\n\
                    host.write_acknowledge_ns = 1_000\n\
                    buffer.write_buffer_bytes = 16_777_216\n";

/// Firmware that takes time: a read of a page costs 2.7 us of one of 16 cores, a write 4.4 us.
const FIRMWARE: &str = "firmware.time = \"counted\"\nfirmware.cores = 16\n\
                        firmware.clock_mhz = 2_000\n\
                        firmware.cost.command_cycles = 1_000\nfirmware.cost.command_memory_ns = 0\n\
                        firmware.cost.read_page_cycles = 1_300\nfirmware.cost.read_page_memory_ns = 140\n\
                        firmware.cost.written_page_cycles = 1_200\nfirmware.cost.written_page_memory_ns = 140\n\
                        firmware.cost.copied_kib_cycles = 260\nfirmware.cost.copied_kib_memory_ns = 75\n\
                        firmware.cost.flash_read_cycles = 500\nfirmware.cost.flash_read_memory_ns = 0\n\
                        firmware.cost.flash_program_cycles = 4_000\nfirmware.cost.flash_program_memory_ns = 0\n\
                        firmware.cost.page_moved_cycles = 3_000\nfirmware.cost.page_moved_memory_ns = 300\n\
                        firmware.cost.flash_erase_cycles = 9_000\nfirmware.cost.flash_erase_memory_ns = 0\n";

/// How much is measured.
struct Effort {
    rounds: u64,
    requests: u64,
    /// Cases and operations asked for; none for all.
    chosen: Vec<String>,
}

impl Effort {
    fn wants(&self, names: &[&str], name: &str) -> bool {
        let asked = |name: &str| self.chosen.iter().any(|word| word == name);
        asked(name) || !names.iter().any(|name| asked(name))
    }
}

const CASES: [&str; 5] = ["plain", "full", "firmware", "dies", "depth"];
/// Word, name, write ratio and pages of a request.
const OPERATIONS: [(&str, &str, f64, u32); 5] = [
    ("reads", "random reads", 0.0, 1),
    ("mixed", "70/30 mixed", 0.3, 1),
    ("writes", "steady random writes", 1.0, 1),
    ("large-reads", "reads of 128 KiB", 0.0, LARGE),
    ("large-writes", "writes of 128 KiB", 1.0, LARGE),
];
/// Pages of 128 KiB.
const LARGE: u32 = 32;

fn workload(write_ratio: f64, queue_depth: u32, pages: u32) -> Characteristics {
    Characteristics {
        write_ratio,
        queue_depth,
        read_size: pages << PAGE_SHIFT,
        write_size: pages << PAGE_SHIFT,
        read_random: 1.0,
        write_random: 1.0,
        read_stride: 0,
        write_stride: 0,
    }
}

/// Wall seconds and outcome of a run that continues from the drive's state.
fn simulate(drive: &mut Ssd, workload: Characteristics, requests: u64) -> (f64, Outcome) {
    let streams = [Stream::closed("all", workload)];
    let plan = Plan::counting(0, requests);
    let watch = Stopwatch::start();
    let outcome = drive.run(&streams, plan, SEED, requests).unwrap();
    (watch.seconds(), outcome)
}

/// [`simulate`] under a name of its own, for profilers that count from and to functions.
#[inline(never)]
fn measure(drive: &mut Ssd, workload: Characteristics, requests: u64) -> (f64, Outcome) {
    simulate(drive, workload, requests)
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
            cell_ns: [
                config.timing.read_cell_ns.of_page(0),
                config.timing.program_cell_ns.of_page(0),
            ],
            register_ns: config.timing.read_register_ns,
        }
    }

    fn run(&mut self, workload: Characteristics, requests: u64) -> f64 {
        let capacity_bytes = (self.map.len() as u64) << PAGE_SHIFT;
        let mut generator = Generator::new(&workload, 0, capacity_bytes, SEED, 0).unwrap();
        let mut ring: [Request; 64] = std::array::from_fn(|_| generator.next_request());
        let watch = Stopwatch::start();
        for step in 0..requests {
            let place = step as usize % ring.len();
            let request = ring[place];
            let drawn = generator.next_request();
            ring[place] = drawn;
            self.prefetch((drawn.offset_bytes >> PAGE_SHIFT) as usize);
            self.serve(request, step as u32);
        }
        black_box(&self.die_free_at);
        watch.seconds()
    }

    #[inline(always)]
    fn serve(&mut self, request: Request, step: u32) {
        let first = (request.offset_bytes >> PAGE_SHIFT) as usize;
        for page in first..first + (request.size_bytes >> PAGE_SHIFT) as usize {
            self.serve_page(page, request.direction, step);
        }
    }

    #[inline(always)]
    fn serve_page(&mut self, page: usize, direction: Direction, step: u32) {
        let mut place = self.map[page] as usize;
        if direction == Direction::Write {
            place = step as usize;
            self.map[page] = step;
        }
        let die = place % self.die_free_at.len();
        let channel = die % self.channel_free_at.len();
        let sensed = self.die_free_at[die] + self.cell_ns[direction.index()];
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

fn drive(changes: &str) -> SsdConfig {
    let more = std::env::var("MORE").unwrap_or_default();
    let text = format!("base = \"bench-64gib\"\nname = \"bench\"\n{changes}{more}\n");
    SsdConfig::from_text(&text).unwrap()
}

fn prepare(config: SsdConfig) -> Prepared {
    assert!(preset::text("bench-64gib").is_some());
    let pages = f64::from(config.logical_pages());
    let watch = Stopwatch::start();
    let prepared = Prepared::new(config).unwrap();
    println!(
        "  preconditioning       {:>6.2} M pages/s (128 KiB in order, twice the capacity)",
        2.0 * pages / watch.seconds() / 1e6
    );
    prepared
}

/// What a drive is compared with, round by round.
enum Reference {
    Bare(Bare),
    /// The same drive without what is switched on.
    Plain(Box<Ssd>),
}

impl Reference {
    fn name(&self) -> &'static str {
        match self {
            Self::Bare(_) => "bare loop",
            Self::Plain(_) => "free firmware",
        }
    }

    fn run(&mut self, workload: Characteristics, requests: u64) -> f64 {
        match self {
            Self::Bare(bare) => bare.run(workload, requests),
            Self::Plain(drive) => measure(drive, workload, requests).0,
        }
    }

    /// Bring the drive to where random writes have led the measured one.
    fn settle(&mut self, requests: u64) {
        if let Self::Plain(drive) = self {
            simulate(drive, workload(1.0, QUEUE_DEPTH, 1), requests);
        }
    }
}

/// Reads, mixed, steady writes: each compared with the bare loop.
fn cases(name: &str, changes: &str, effort: &Effort) {
    let config = drive(changes);
    let bare = Bare::new(&config);
    compare_cases(name, config, Reference::Bare(bare), effort);
}

/// The same compared with the drive whose firmware takes no time. Rounds alternate, so that a busy
/// machine slows both.
fn firmware_cases(effort: &Effort) {
    let plain = prepare(drive("")).worker();
    let name = "bench-64gib whose firmware takes time";
    compare_cases(
        name,
        drive(FIRMWARE),
        Reference::Plain(Box::new(plain)),
        effort,
    );
}

fn compare_cases(name: &str, config: SsdConfig, mut reference: Reference, effort: &Effort) {
    println!(
        "{name}, queue depth {QUEUE_DEPTH}, best of {}",
        effort.rounds
    );
    let prepared = prepare(config);
    let mut drive = prepared.worker();
    let pages = drive.capacity_bytes() >> PAGE_SHIFT;
    let names = OPERATIONS.map(|(name, ..)| name);
    let mut is_steady = false;
    for (name, what, write_ratio, pages_each) in OPERATIONS {
        if !effort.wants(&names, name) {
            continue;
        }
        let workload = workload(write_ratio, QUEUE_DEPTH, pages_each);
        let requests = effort.requests / u64::from(pages_each);
        if write_ratio > 0.0 && !is_steady {
            // Steady state: four drive capacities of random writes first.
            simulate(&mut drive, self::workload(1.0, QUEUE_DEPTH, 1), 4 * pages);
            reference.settle(4 * pages);
            is_steady = true;
        }
        let [mut best, mut best_helped, mut best_reference] = [f64::INFINITY; 3];
        let mut notes = String::new();
        for round in 0..effort.rounds {
            drive.set_second_core(true);
            // Another number has other random numbers: a second pass over the same pages in the same
            // order would leave whole blocks invalid.
            let others = requests + effort.rounds + round;
            best_helped = best_helped.min(measure(&mut drive, workload, others).0);
            drive.set_second_core(false);
            let (seconds, outcome) = measure(&mut drive, workload, requests + round);
            best = best.min(seconds);
            best_reference = best_reference.min(reference.run(workload, requests + round));
            let counters = outcome.media.flash().unwrap_or_default();
            if let Some(waf) = counters.write_amplification_ratio() {
                let programs = counters.host_page_programs + counters.collection_page_programs;
                let rate = programs as f64 / seconds / 1e6;
                notes = format!("WAF {waf:.2}, {rate:.1} M page programs/s");
            }
        }
        println!(
            "  {what:<21} {:>6.2} M/s {:>6.1} ns   with a second core {:>6.2} M/s   \
             {} {:>6.2} M/s   share {:>5.1} %   {notes}",
            requests as f64 / best / 1e6,
            best / requests as f64 * 1e9,
            requests as f64 / best_helped / 1e6,
            reference.name(),
            requests as f64 / best_reference / 1e6,
            best_reference / best * 100.0,
        );
    }
}

/// Cost of a read and of a write, the same capacity in more and more dies.
fn dies(effort: &Effort) {
    println!("more dies, same capacity (64 GiB), queue depth 256: ns a read, ns a write");
    let mut first = None;
    // Of few blocks in a die those held back for collection are a larger share, which
    // moves more pages: 64 are few enough.
    for (channels, ways, blocks) in [(8, 1, 8192), (8, 8, 1024), (32, 8, 256), (32, 32, 64)] {
        let config = drive(&format!(
            "geometry.channels = {channels}\ngeometry.ways_per_channel = {ways}\n\
             geometry.dies_per_way = 1\ngeometry.planes_per_die = 1\n\
             geometry.blocks_per_plane = {blocks}\n\
             geometry.over_provisioning_ratio = 1.0\n\
             collection.reserve_blocks_per_plane = 2\n"
        ));
        let what = format!("{} dies", config.dies());
        compare(&what, &config, 256, effort, &mut first);
    }
}

/// Cost of a read and of a write at growing queue depth.
fn depth(effort: &Effort) {
    println!("deeper queues, 64 dies (16 GiB): ns a read, ns a write");
    let config = drive("geometry.blocks_per_plane = 128\n");
    let mut first = None;
    for depth in [4, 16, 64, 256, 1024] {
        let what = format!("queue depth {depth}");
        compare(&what, &config, depth, effort, &mut first);
    }
}

fn compare(
    what: &str,
    config: &SsdConfig,
    depth: u32,
    effort: &Effort,
    first: &mut Option<[f64; 2]>,
) {
    let mut drive = Prepared::new(config.clone()).unwrap().worker();
    let mut waf = 1.0;
    let cost = [0.0, 1.0].map(|write_ratio| {
        let mut run = |round| {
            let requests = effort.requests / 2 + round;
            let (seconds, outcome) =
                simulate(&mut drive, workload(write_ratio, depth, 1), requests);
            let counters = outcome.media.flash().unwrap_or_default();
            waf = counters.write_amplification_ratio().unwrap_or(1.0);
            seconds
        };
        let best = (0..effort.rounds)
            .map(&mut run)
            .fold(f64::INFINITY, f64::min);
        best / (effort.requests / 2) as f64 * 1e9
    });
    let first = first.get_or_insert(cost);
    println!(
        "  {what:<21} {:>6.1} ({:.2} x)   {:>6.1} ({:.2} x)   WAF {waf:.2}",
        cost[0],
        cost[0] / first[0],
        cost[1],
        cost[1] / first[1]
    );
}

fn main() {
    let number = |name: &str, otherwise| {
        let text = std::env::var(name).ok();
        text.map_or(otherwise, |text| text.parse().unwrap())
    };
    let effort = Effort {
        rounds: number("ROUNDS", 3),
        requests: number("REQUESTS", 10_000_000),
        chosen: std::env::args().skip(1).collect(),
    };
    let wants = |case| effort.wants(&CASES, case);
    if wants("plain") {
        cases("bench-64gib as it is", "", &effort);
    }
    if wants("full") {
        cases("bench-64gib with everything on", FULL, &effort);
    }
    if wants("firmware") {
        firmware_cases(&effort);
    }
    if wants("dies") {
        dies(&effort);
    }
    if wants("depth") {
        depth(&effort);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(line) = status.lines().find(|line| line.starts_with("VmHWM")) {
        println!("memory at most         {}", line[6..].trim());
    }
}
