//! The simulator compared with queueing theory and with counting.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::Direction;
use drivelab_sim::ssd::{Plan, Prepared};
use drivelab_workload::{Characteristics, Source, Stream};

use crate::counted::flash;
use crate::small_drive::{self, PAGE, closed};

/// `channels` channels with `dies` dies each. `times` are dispatch, register and cell in us.
fn drive(dispatch: &str, channels: u32, dies: u32, times: [u64; 3]) -> Prepared {
    let [stage, register, cell] = times.map(|us| us * 1000);
    let changes = format!(
        "geometry.channels = {channels}
geometry.ways_per_channel = {dies}
geometry.blocks_per_plane = 128
geometry.pages_per_block = 256
geometry.user_capacity_bytes = {}
timing.read_dispatch_ns = {stage}
timing.write_dispatch_ns = {stage}
timing.erase_dispatch_ns = {stage}
timing.read_register_ns = {register}
timing.write_register_ns = {register}
timing.read_cell_ns = {cell}
timing.program_cell_ns = {cell}
scheduling.dispatch = \"{dispatch}\"",
        // Half of the flash.
        channels * dies * 128 * 256 / 2 * PAGE,
    );
    small_drive::drive(&[&changes])
}

/// Requests of one page, random or in order.
fn pages(direction: Direction, random: f64, queue_depth: u32) -> Characteristics {
    Characteristics {
        write_ratio: if direction == Direction::Write {
            1.0
        } else {
            0.0
        },
        queue_depth,
        read_size: PAGE,
        write_size: PAGE,
        read_random: random,
        write_random: random,
        read_stride: 0,
        write_stride: 0,
    }
}

#[test]
fn one_die_under_poisson_arrivals_is_an_m_d_1_queue() {
    // A read takes D = 60 us. At load rho it waits rho D / (2 (1 - rho)) on average (Pollaczek and
    // Khinchine). From 10 million arrivals the mean wait is known to about 0.2 % at load 0.8, where
    // waits are correlated longest. The tolerance of 1 % is five times that.
    let prepared = drive("per_die", 1, 1, [0, 10, 50]);
    let service_ns = 60_000.0;
    for load in [0.3, 0.5, 0.8] {
        let mut worker = prepared.worker();
        let source = Source::Open {
            requests: pages(Direction::Read, 1.0, 1).into(),
            rate_iops: load * 1e9 / service_ns,
            is_poisson: true,
        };
        let streams = [Stream::new("poisson", source)];
        let plan = Plan::counting(100_000, 10_000_000);
        let outcome = worker.run(&streams, plan, 7, 0).unwrap();
        let wait = outcome.read.latency.mean_ns().unwrap() - service_ns;
        let expected = load * service_ns / (2.0 * (1.0 - load));
        assert!(
            (wait / expected - 1.0).abs() < 0.01,
            "{load}: {wait} {expected}"
        );
    }
}

/// Pages a second, in order over all dies, with many outstanding and without collection.
fn rate(prepared: &Prepared, direction: Direction) -> f64 {
    let mut worker = prepared.worker();
    let plan = Plan::counting(1_000, 120_000);
    let outcome = worker
        .run(&closed(pages(direction, 0.0, 64)), plan, 5, 0)
        .unwrap();
    assert_eq!(flash(&outcome).collection_page_programs, 0);
    outcome.measured_requests as f64 / outcome.window.0 as f64 * 1e9
}

#[test]
fn saturated_stages_reach_their_bounds() {
    // The window is exact except at its ends. There, 64 outstanding of 120,000 requests matter less
    // than 0.1 %.
    for (dispatch, channels, dies, times, bound) in [
        // Eight dies of 60 us, each on its own channel.
        ("per_die", 8, 1, [0, 10, 50], 8.0 / 60e-6),
        // With in-order dispatch they also wait for the dispatch of their pages.
        ("in_order", 8, 1, [5, 10, 50], 8.0 / 65e-6),
        // Eight dies on one channel, where a page takes 20 us.
        ("per_die", 1, 8, [0, 20, 50], 1.0 / 20e-6),
        ("in_order", 1, 8, [0, 20, 50], 1.0 / 20e-6),
        // A dispatch stage of 10 us before 32 dies.
        ("per_die", 8, 4, [10, 1, 50], 1.0 / 10e-6),
        ("in_order", 8, 4, [10, 1, 50], 1.0 / 10e-6),
    ] {
        let prepared = drive(dispatch, channels, dies, times);
        for direction in Direction::ALL {
            let rate = rate(&prepared, direction);
            let case = format!("{dispatch}, {channels} x {dies}, {times:?}, {direction}");
            assert!(
                (rate / bound - 1.0).abs() < 0.001,
                "{case}: {rate} of {bound}"
            );
        }
    }
}
