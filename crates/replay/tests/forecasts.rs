//! Forecasts of a trace on a queueing model, by window.

use drivelab_queueing::{COSTS, Cost, Layout};
use drivelab_replay::{Fit, Forecast, forecast};

use crate::written::{RECORDED, Row, origin, replay, spc};

const MIB: u64 = 1 << 20;
fn taking(read_ns: f64) -> [f64; COSTS] {
    let mut costs = [0.0; COSTS];
    costs[Cost::Read as usize] = read_ns;
    costs[Cost::Program as usize] = read_ns;
    costs
}

fn forecasts(rows: &[Row], begin: &[u64], costs: &[f64]) -> Vec<Forecast> {
    let source = replay(&origin(spc(rows)), Fit::Keep, RECORDED);
    forecast(&source, 64 * MIB, &Layout::PLAIN, begin, costs, 1e6).unwrap()
}

#[test]
fn each_window_counts_what_completes_in_it() {
    // 1 ms windows and reads of 400 us: the third ends in the window after its own.
    let rows = [
        (0, 0, 0, 4096, false),
        (500, 0, 800, 4096, true),
        (700, 0, 1600, 8192, false),
        (5000, 0, 2400, 4096, false),
    ];
    let found = forecasts(&rows, &[0], &taking(400_000.0));
    let windows: Vec<_> = found.iter().map(|row| (row.window, row.requests)).collect();
    assert_eq!(windows, [(0, [1, 1]), (1, [1, 0]), (5, [1, 0])]);
    let due: Vec<_> = found.iter().map(|row| row.due).collect();
    assert_eq!(due, [3, 0, 1]);
    // The third is sent at 700 us: 300 us of it lie in the first window, 700 us in the second.
    let outstanding: Vec<_> = found.iter().map(|row| row.outstanding_ns).collect();
    assert_eq!(outstanding, [1_100_000.0, 700_000.0, 400_000.0]);
    assert_eq!(found[0].latency_ns, [400_000.0, 400_000.0]);
    // It waits 200 us for the write and reads two pages.
    assert_eq!(found[1].latency_ns, [1_000_000.0, 0.0]);
    assert_eq!(found[1].bytes, [8192, 0]);
    assert_eq!(found[1].latency_ns_max, [1_000_000.0, 0.0]);
    assert!(found.iter().all(|row| row.late == 0));
}

#[test]
fn costs_are_those_of_the_window_in_which_a_request_is_due() {
    let rows: Vec<Row> = (0..4)
        .map(|each| (1000 * each, 0, 800 * each, 4096, false))
        .collect();
    let costs = [taking(100.0), taking(200.0)].concat();
    let found = forecasts(&rows, &[0, 2], &costs);
    let latency: Vec<f64> = found.iter().map(|row| row.latency_ns[0]).collect();
    assert_eq!(latency, [100.0, 100.0, 200.0, 200.0]);
}

#[test]
fn a_drive_that_falls_behind_is_late_and_completes_what_it_can() {
    // 3000 simultaneous reads of 1 ms; 1024 may be outstanding.
    let rows: Vec<Row> = (0..3000)
        .map(|each| (0, 0, 8 * each % 4096, 4096, false))
        .collect();
    let found = forecasts(&rows, &[0], &taking(1e6));
    let completed: u64 = found.iter().map(|row| row.requests[0]).sum();
    let late: u64 = found.iter().map(|row| row.late).sum();
    assert_eq!(completed, 3000);
    assert!(found.iter().all(|row| row.requests[0] <= 1));
    assert_eq!((found[0].due, found[0].late, found[1].due), (3000, late, 0));
    // The largest number, until fewer are left.
    assert_eq!(found[100].outstanding_ns, 1024.0 * 1e6);
    // All after the first 1024. The first of them is sent after 1 ms, which is not late yet.
    assert_eq!(late, 3000 - 1024 - 1);
}

#[test]
fn windows_that_are_none_are_refused() {
    let source = replay(&origin(spc(&[(0, 0, 0, 4096, false)])), Fit::Keep, RECORDED);
    let costs = taking(1.0);
    for (begin, costs, window_ns) in [
        (&[][..], &costs[..], 1e6),
        (&[0, 1], &costs, 1e6),
        (&[0], &costs, 0.0),
        (&[0], &costs, f64::NAN),
    ] {
        assert!(forecast(&source, MIB, &Layout::PLAIN, begin, costs, window_ns).is_err());
    }
    let twice = [costs, costs].concat();
    assert!(forecast(&source, MIB, &Layout::PLAIN, &[1, 1], &twice, 1e6).is_err());
}
