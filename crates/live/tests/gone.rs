//! Clients that connect and disconnect, and what they leave behind.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use drivelab_live::clock::Dilation;
use drivelab_live::data::{MemoryStore, Store};
use drivelab_live::serve::{
    Door, MOST_ORPHANS, MOST_REQUESTS, PATIENCE_NS, Place, Serving, Settings,
};

use crate::server::{answer, client, path, settings};
use crate::small_drive::prepared;
use crate::spoken::{DISCONNECT, READ, request, simple};

/// A server of a drive that takes seconds for anything.
fn lingering(name: &str) -> (Serving, PathBuf) {
    dilated(name, 100_000.0, PATIENCE_NS)
}

fn dilated(name: &str, dilation: f64, patience_ns: u64) -> (Serving, PathBuf) {
    let device = prepared("").device(None).unwrap();
    let size = device.capacity_bytes();
    let path = path(name);
    let door = Door::open(Place::Path(path.clone())).unwrap();
    let settings = Settings {
        dilation: Dilation::new(dilation).unwrap(),
        patience_ns,
        ..settings(size)
    };
    let store = Store::Memory(MemoryStore::new(size, 1 << 20));
    let serving = Serving::start(door, Some(device), store, settings).unwrap();
    (serving, path)
}

/// Waits until the server knows that `clients` clients are gone.
fn wait_until_gone(serving: &Serving, clients: u64) {
    let is_seen = |_| {
        sleep(Duration::from_millis(50));
        let counts = serving.told();
        (counts.clients, counts.connected) == (clients, 0)
    };
    assert!((0..400).any(is_seen), "the server does not see it");
}

fn resident_bytes() -> u64 {
    let all = fs::read_to_string("/proc/self/statm").unwrap();
    all.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn who_is_gone_leaves_no_replies_in_memory() {
    let (mut serving, path) = lingering("leaving");
    let before = resident_bytes();
    let rounds = 16;
    for round in 1..=rounds {
        let mut leaving = client(&path);
        let read = |cookie| request(0, READ, cookie, (0, 1 << 20));
        let all: Vec<u8> = (0..64).flat_map(read).collect();
        leaving.write_all(&all).unwrap();
        drop(leaving);
        wait_until_gone(&serving, round);
    }
    // Each had requested 64 MiB. Other tests in this program use some memory too.
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < rounds * (40 << 20), "{} MiB", grown >> 20);
    serving.stop();
}

#[test]
fn nobody_is_admitted_while_too_many_requests_have_no_client() {
    let (mut serving, path) = lingering("orphans");
    let leaving = MOST_ORPHANS / MOST_REQUESTS + 1;
    let mut clients: Vec<_> = (0..leaving).map(|_| client(&path)).collect();
    let read = |cookie| request(0, READ, cookie as u64, (0, 512));
    let all: Vec<u8> = (0..MOST_REQUESTS).flat_map(read).collect();
    for one in &mut clients {
        one.write_all(&all).unwrap();
    }
    drop(clients);
    wait_until_gone(&serving, leaving as u64);
    let mut late = UnixStream::connect(&path).unwrap();
    let patience = Duration::from_millis(300);
    late.set_read_timeout(Some(patience)).unwrap();
    assert!(late.read(&mut [0]).is_err(), "it is admitted");
    serving.stop();
}

#[test]
fn who_ends_gets_the_replies_it_asked_for_however_long_it_was_there() {
    let (mut serving, path) = dilated("ending", 20_000.0, 500_000_000);
    let mut ending = client(&path);
    let mut silent = UnixStream::connect(&path).unwrap();
    silent.read_exact(&mut [0; 18]).unwrap();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "it haggles for ever");
    ending.write_all(&request(0, READ, 1, (0, 512))).unwrap();
    ending
        .write_all(&request(0, DISCONNECT, 0, (0, 0)))
        .unwrap();
    assert_eq!(answer(&mut ending, 528)[..16], simple(1, 0));
    assert_eq!(ending.read(&mut [0]).unwrap(), 0);
    let counts = serving.stop();
    // More time than its patience has passed.
    assert!(counts.wall_ns > 1_200_000_000, "{} ns", counts.wall_ns);
}
