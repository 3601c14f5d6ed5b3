//! A small drive and lists of requests for the tests.
#![allow(clippy::unwrap_used)]

use std::io::Cursor;

use drivelab_firmware::geometry::Geometry;
use drivelab_firmware::prepare::prepare;
use drivelab_firmware::random::Random;
use drivelab_firmware::requests::{Kind, Request, Requests};
use drivelab_firmware::state::State;

/// Four dies of 64 blocks of 64 pages: 204 MiB for the host.
pub const SMALL: Geometry = Geometry {
    channels: 2,
    ways: 2,
    dies: 1,
    blocks: 64,
    pages: 64,
};

pub fn prepared() -> State {
    prepare(SMALL, 5, 1.0, |_| {}).unwrap()
}

pub fn list(requests: &[Request]) -> Requests {
    let bytes: Vec<u8> = requests.iter().flat_map(Request::to_bytes).collect();
    Requests::new(Cursor::new(bytes), "a list", SMALL.sectors())
}

/// Reads, writes and trims of all lengths at all places, drawn from `seed`.
pub fn mixed(requests: u32, seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let sectors = SMALL.sectors() as u32;
    (0..requests)
        .map(|_| {
            let (kind, most) = match random.below(20) {
                0 => (Kind::Trim, 4000),
                1..10 => (Kind::Read, 1200),
                _ => (Kind::Write, 1200),
            };
            // Half of all are aligned single pages.
            let is_page = random.below(2) == 0;
            let length = if is_page { 32 } else { 1 + random.below(most) };
            let place = random.below(sectors - length);
            Request {
                sector: u64::from(if is_page { place / 32 * 32 } else { place }),
                sectors: length,
                kind,
            }
        })
        .collect()
}

/// Random writes of one page each.
pub fn random_writes(requests: u32, seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let pages = (SMALL.sectors() / 32) as u32;
    (0..requests)
        .map(|_| Request {
            sector: u64::from(random.below(pages)) * 32,
            sectors: 32,
            kind: Kind::Write,
        })
        .collect()
}
