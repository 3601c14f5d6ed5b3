//! Nanoseconds that the firmware program takes for a request of one page, compared with the map
//! and a copy of a page alone. The difference is the cost of commands, buffers and hand-offs.
//!
//! Run with `make bench`, or `cargo bench -p drivelab-firmware --bench firmware_program`.
#![allow(clippy::unwrap_used, missing_docs)]

mod stopwatch;

use std::hint::black_box;
use std::io::Cursor;

use drivelab_firmware::geometry::{Geometry, PAGE_BYTES};
use drivelab_firmware::prepare::prepare;
use drivelab_firmware::random::Random;
use drivelab_firmware::records::Counter;
use drivelab_firmware::requests::{Kind, Request, Requests};
use drivelab_firmware::run::{Settings, run};
use drivelab_firmware::snapshot::{load, save};
use drivelab_ftl::{Firmware, Lpn};
use stopwatch::Stopwatch;

/// 12.8 GiB for the host.
const GEOMETRY: Geometry = Geometry {
    channels: 4,
    ways: 2,
    dies: 1,
    blocks: 256,
    pages: 512,
};
const REQUESTS: u32 = 200_000;
const ROUNDS: u32 = 3;
/// Look-ups for each request: fewer would end before the clock moves.
const LOOK_UPS: u32 = 50;

fn list(kind: Kind, is_random: bool) -> Vec<u8> {
    let pages = GEOMETRY.layout().logical_pages;
    let mut random = Random::new(7);
    (0..REQUESTS)
        .flat_map(|number| {
            let page = if is_random {
                random.below(pages)
            } else {
                number % pages
            };
            let request = Request {
                sector: u64::from(page) * 32,
                sectors: 32,
                kind,
            };
            request.to_bytes()
        })
        .collect()
}

/// The least of some rounds, per request.
fn best(mut round: impl FnMut() -> f64) -> f64 {
    let seconds = (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min);
    seconds * 1e9 / f64::from(REQUESTS)
}

fn main() {
    let file = std::env::temp_dir().join(format!("drivelab-firmware-{}", std::process::id()));
    save(&prepare(GEOMETRY, 1, 1.0, |_| {}).unwrap(), &file).unwrap();
    println!("{GEOMETRY}, 4 workers in turns, best of {ROUNDS}, ns a request of 16 KiB");
    let mut map = load(&file).unwrap().map;
    let bare = best(|| {
        let mut random = Random::new(7);
        let watch = Stopwatch::start();
        for _ in 0..LOOK_UPS * REQUESTS {
            black_box(map.read_one(Lpn(random.below(GEOMETRY.layout().logical_pages))));
        }
        watch.seconds() / f64::from(LOOK_UPS)
    });
    println!("{:<24}{bare:>8.1}", "look-ups alone");
    let (from, mut into) = (vec![1_u8; 64 * PAGE_BYTES], vec![0_u8; 64 * PAGE_BYTES]);
    let copies = best(|| {
        let watch = Stopwatch::start();
        for number in 0..REQUESTS as usize {
            let slot = number % 64 * PAGE_BYTES;
            into[slot..][..PAGE_BYTES].copy_from_slice(&from[slot..][..PAGE_BYTES]);
            black_box(&mut into);
        }
        watch.seconds()
    });
    println!("{:<24}{copies:>8.1}", "copies alone");
    for (name, kind, is_random) in [
        ("sequential read", Kind::Read, false),
        ("random read", Kind::Read, true),
        ("sequential write", Kind::Write, false),
        ("random write", Kind::Write, true),
    ] {
        let bytes = list(kind, is_random);
        let mut moved = 0.0;
        let each = best(|| {
            let requests = Requests::new(Cursor::new(bytes.clone()), name, GEOMETRY.sectors());
            let state = load(&file).unwrap();
            let watch = Stopwatch::start();
            let outcome = run(state, requests, &Settings::default()).unwrap();
            moved = outcome.counts.get(Counter::PagesMoved) as f64 / f64::from(REQUESTS);
            watch.seconds()
        });
        println!(
            "{name:<24}{each:>8.1}   {:>5.1} x copies alone; {moved:.2} pages moved",
            each / copies
        );
    }
    std::fs::remove_file(&file).unwrap();
}
