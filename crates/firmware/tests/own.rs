//! The user's own firmware in place of the map; here the page map behind the same contract.
#![allow(clippy::unwrap_used)]

use std::io::Cursor;

use drivelab_firmware::error::RunError;
use drivelab_firmware::geometry::Geometry;
use drivelab_firmware::own_run::{Making, layout, run_own};
use drivelab_firmware::records::{Counter, Record};
use drivelab_firmware::requests::{Request, Requests};
use drivelab_firmware::run::{Served, Settings};
use drivelab_ftl::{
    Checked, Exclusive, Firmware, FirmwareError, FlashLayout, OperationBuffer, Pace, PageMap,
    PageRun, Policies,
};

use crate::drive::{SMALL, mixed, random_writes};

/// Greedy, a whole block at once.
fn page_map(geometry: &Geometry) -> Checked<PageMap<Exclusive>> {
    let policies = Policies {
        pace: Pace::WholeBlock,
        ..Policies::USUAL
    };
    Checked::fresh(PageMap::erased(layout(geometry), policies).unwrap())
}

fn served(
    firmware: impl Firmware,
    geometry: Geometry,
    requests: &[Request],
    settings: &Settings,
) -> Result<(Served, Vec<Record>), RunError> {
    let bytes: Vec<u8> = requests.iter().flat_map(Request::to_bytes).collect();
    let making = Making {
        geometry,
        overwrites: 0.5,
        seed: 3,
    };
    let mut records = Vec::new();
    let list = Requests::new(Cursor::new(bytes), "a list", geometry.sectors());
    let served = run_own(firmware, &making, list, settings, |number, record, own| {
        assert_eq!(number, records.len());
        assert!(own.0.is_empty());
        records.push(*record);
        Ok(())
    })?;
    Ok((served, records))
}

#[test]
fn every_request_is_served_under_the_contract() {
    for (workers, has_threads) in [(1, false), (4, false), (4, true)] {
        let settings = Settings {
            workers,
            has_threads,
            ..Settings::default()
        };
        let requests = mixed(3_000, 7);
        let (served, records) = served(page_map(&SMALL), SMALL, &requests, &settings).unwrap();
        assert_eq!(served.counts.get(Counter::Requests), 3_000);
        assert_eq!(records.len(), 3);
        assert!(served.counts.get(Counter::PagesMoved) > 1_000);
        // By host and collection; pages left in the buffers at the end do not count.
        assert!(served.counts.get(Counter::FlashErases) > 10);
    }
}

#[test]
fn the_same_seed_gives_the_same() {
    let requests = mixed(2_000, 8);
    let counts = || {
        let settings = Settings::default();
        let (_, records) = served(page_map(&SMALL), SMALL, &requests, &settings).unwrap();
        records
            .iter()
            .map(|record| record.counts)
            .collect::<Vec<_>>()
    };
    assert_eq!(counts(), counts());
}

/// Emptying a block takes more operations than a die's queue holds: the rest waits, in order.
#[test]
fn what_does_not_fit_into_a_queue_waits() {
    let geometry = Geometry {
        channels: 1,
        ways: 1,
        dies: 1,
        blocks: 40,
        pages: 2_000,
    };
    let requests = random_writes(4_000, 9);
    let settings = Settings::default();
    let (served, _) = served(page_map(&geometry), geometry, &requests, &settings).unwrap();
    assert!(served.counts.get(Counter::PagesMoved) > 2_000);
    assert_eq!(served.counts.get(Counter::Requests), 4_000);
}

/// Serves a write twice, or not at all.
struct Broken {
    map: PageMap<Exclusive>,
    times: usize,
}

impl Firmware for Broken {
    fn layout(&self) -> &FlashLayout {
        self.map.layout()
    }

    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        for _ in 0..self.times {
            self.map.submit(batch, operations)?;
        }
        Ok(())
    }
}

#[test]
fn a_write_that_is_not_served_once_ends_the_run() {
    for times in [0, 2] {
        let map = PageMap::erased(layout(&SMALL), Policies::USUAL).unwrap();
        let broken = Broken { map, times };
        let failed = served(
            broken,
            SMALL,
            &random_writes(2_000, 1),
            &Settings::default(),
        );
        let said = failed.err().unwrap().to_string();
        let expected = format!(" was served {times} times instead of 1");
        assert!(said.ends_with(&expected), "{said}");
    }
}
