//! A server whose drive fails.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use drivelab_live::data::{MemoryStore, Store};
use drivelab_live::serve::{Door, Failure, Place, Serving};
use drivelab_request::Command;
use drivelab_sim::host::{Completion, Device, Outcome, PartNames, SimError};

use crate::server::{answer, client, path, settings};
use crate::spoken::{READ, request, simple};

const SIZE: u64 = 1 << 20;
const IO: u32 = 5;

/// Fails at the first request, and counts its requests.
struct Broken(Arc<AtomicU64>);

impl Device for Broken {
    fn capacity_bytes(&self) -> u64 {
        SIZE
    }

    fn part_names(&self) -> PartNames {
        &[]
    }

    fn takes_trims(&self) -> bool {
        true
    }

    fn begin(&mut self, _: u64, _: u64) -> f64 {
        1.0
    }

    fn submit(&mut self, _: &Command, _: u64) -> Result<u32, SimError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Err(SimError::Stopped)
    }

    fn next_event(&self) -> Option<u64> {
        None
    }

    fn serve_until(&mut self, _: u64, _: &mut Vec<Completion>) -> Result<Option<u64>, SimError> {
        Ok(None)
    }

    fn drain(&mut self, _: u64) -> bool {
        false
    }

    fn open_window(&mut self, _: u64) {}

    fn close_window(&mut self, _: u64, _: &mut Outcome) {}
}

#[test]
fn a_drive_that_failed_is_asked_nothing_more_and_everybody_hears_of_it() {
    let asked = Arc::<AtomicU64>::default();
    let path = path("broken");
    let door = Door::open(Place::Path(path.clone())).unwrap();
    let store = Store::Memory(MemoryStore::new(SIZE, SIZE));
    let device = Box::new(Broken(Arc::clone(&asked)));
    let mut serving = Serving::start(door, Some(device), store, settings(SIZE)).unwrap();
    let mut one = client(&path);
    let read = |cookie| request(0, READ, cookie, (0, 512));
    one.write_all(&(0..20).flat_map(read).collect::<Vec<u8>>())
        .unwrap();
    for cookie in 0..20 {
        assert_eq!(answer(&mut one, 16), simple(cookie, IO));
    }
    let mut other = client(&path);
    other.write_all(&read(7)).unwrap();
    assert_eq!(answer(&mut other, 16), simple(7, IO));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    // Whoever started it sees this at the next check.
    let is_over = |_| {
        sleep(Duration::from_millis(50));
        serving.is_over()
    };
    assert!((0..100).any(is_over));
    let counts = serving.stop();
    assert_eq!(counts.failure, Some(Failure::Drive(SimError::Stopped)));
    assert_eq!((counts.failed, counts.requests()), (21, 0));
}
