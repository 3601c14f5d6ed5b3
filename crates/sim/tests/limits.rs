//! Streams, plans and drives at and beyond the simulator's limits. Each is refused with a message;
//! none panics, runs for ever or leaves traces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drivelab_request::{Direction, Nanos, Request};
use drivelab_sim::drive::{self, Measuring, State};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Plan, Prepared, SimError};
use drivelab_workload::{Characteristics, Stream};

use crate::small_drive::{self, closed, measured, timed};

/// A drive with 2 dies. `replacements` change lines of its preset.
fn config(replacements: &[(&str, &str)]) -> SsdConfig {
    let mut text = "
name = \"small\"
kind = \"ssd\"
summary = \"for tests\"
condition = \"filled\"
geometry.channels = 2
geometry.ways_per_channel = 1
geometry.dies_per_way = 1
geometry.planes_per_die = 1
geometry.blocks_per_plane = 2048
geometry.pages_per_block = 64
geometry.page_size_bytes = 512
geometry.user_capacity_bytes = 67108864
geometry.plane_mode = false
timing.read_dispatch_ns = 1_000
timing.write_dispatch_ns = 1_000
timing.erase_dispatch_ns = 1_000
timing.read_register_ns = 10_000
timing.write_register_ns = 10_000
timing.read_cell_ns = 50_000
timing.program_cell_ns = 300_000
timing.erase_cell_ns = 1_000_000
scheduling.dispatch = \"per_die\"
collection.policy = \"greedy\"
collection.pace = \"paced\"
collection.reserve_blocks_per_plane = 2
host.interface = \"free\"
buffer.write_buffer_bytes = 0
variability.sigma = 0.0
"
    .to_owned();
    for (from, to) in replacements {
        assert!(text.contains(from), "{from} is not in the preset");
        text = text.replace(from, to);
    }
    SsdConfig::from_text(&text).unwrap()
}

fn drive(replacements: &[(&str, &str)]) -> Prepared {
    Prepared::new(config(replacements)).unwrap()
}

fn read_at(arrival: u64, offset_bytes: u64) -> Request {
    Request {
        arrival: Nanos(arrival),
        offset_bytes,
        size_bytes: 512,
        direction: Direction::Read,
    }
}

fn run_open(prepared: &Prepared, requests: Vec<Request>) -> Result<(), SimError> {
    let plan = Plan::counting(0, requests.len() as u64);
    let mut drive = prepared.worker();
    drive.run(&timed(requests), plan, 0, 0).map(drop)
}

fn measure(prepared: &Prepared, workload: Characteristics, plan: Plan) -> Result<(), SimError> {
    let mut drive = small_drive::worker(prepared);
    drive
        .run(&closed(workload), plan, (0, 0), State::Returned)
        .map(drop)
}

const TEN: Plan = Plan::counting(0, 10);

#[test]
fn an_arrival_after_the_end_of_time_is_refused() {
    for arrival in [1 << 50, 1 << 51, u64::MAX] {
        let error = run_open(&drive(&[]), vec![read_at(0, 0), read_at(arrival, 0)]).unwrap_err();
        assert!(matches!(error, SimError::EndOfTime { .. }), "{error}");
    }
}

#[test]
fn arrivals_out_of_order_are_refused() {
    let error = run_open(&drive(&[]), vec![read_at(5, 0), read_at(4, 0)]).unwrap_err();
    assert_eq!(error, SimError::Unordered);
}

#[test]
fn an_offset_at_the_end_of_all_numbers_is_refused() {
    let error = run_open(&drive(&[]), vec![read_at(0, u64::MAX - 511)]).unwrap_err();
    assert!(matches!(error, SimError::Range { .. }), "{error}");
}

#[test]
fn more_requests_than_can_be_counted_are_refused() {
    let plan = Plan::counting(u64::MAX, 10);
    let error = measure(&drive(&[]), Characteristics::default(), plan).unwrap_err();
    assert!(matches!(error, SimError::TooMany { .. }), "{error}");
}

#[test]
fn a_window_that_nothing_closes_is_refused() {
    let endless = Plan::default();
    let error = measure(&drive(&[]), Characteristics::default(), endless).unwrap_err();
    assert_eq!(error, SimError::Empty);
}

fn for_a_time(warmup_ns: u64, duration_ns: u64) -> Plan {
    let mut plan = Plan::default();
    plan.window.warmup = Nanos(warmup_ns);
    plan.window.duration = Some(Nanos(duration_ns));
    plan
}

#[test]
fn a_window_without_a_completion_is_no_measurement() {
    let prepared = drive(&[]);
    let mut worker = small_drive::worker(&prepared);
    let read = Characteristics::default();
    let one = worker
        .run(&closed(read), Plan::counting(0, 1), (0, 0), State::Returned)
        .unwrap();
    let latency = one.window.0;
    // A completion at the very end of the window is outside, one at its start is inside.
    let error = measure(&prepared, read, for_a_time(0, latency)).unwrap_err();
    assert_eq!(
        error,
        SimError::NoRequests {
            window: Nanos(latency)
        }
    );
    measure(&prepared, read, for_a_time(0, latency + 1)).unwrap();
    measure(&prepared, read, for_a_time(latency, 1)).unwrap();
}

#[test]
fn time_that_stands_still_is_noticed() {
    let names = ["read", "write", "erase"].map(|name| format!("{name}_dispatch_ns"));
    let free = config(&[]).resolved_toml();
    let mut text = String::new();
    for line in free.lines() {
        let key = line.split(" = ").next().unwrap();
        let is_time = key.ends_with("_register_ns") || key.ends_with("_cell_ns");
        if is_time || names.iter().any(|name| name == key) {
            text += &format!("{key} = 0\n");
        } else {
            text += &format!("{line}\n");
        }
    }
    let prepared = Prepared::new(SsdConfig::from_text(&text).unwrap()).unwrap();
    for plan in [for_a_time(0, 1000), for_a_time(1000, 1)] {
        let error = measure(&prepared, Characteristics::default(), plan).unwrap_err();
        assert_eq!(error, SimError::NoTime);
    }
}

#[test]
fn a_workload_that_fails_leaves_the_others_alone() {
    let prepared = drive(&[("\"filled\"", "\"fresh\"")]);
    let write = Characteristics {
        write_ratio: 1.0,
        ..Characteristics::default()
    };
    let work = [
        (0, write),
        (1, write),
        (2, Characteristics::default()),
        (3, write),
    ];
    for workers in [1, 3] {
        let states = small_drive::states(&prepared);
        let work = small_drive::work(&work, TEN);
        let found: Vec<_> = Measuring::start(&states, work, 0, workers).collect();
        assert_eq!(
            found.iter().map(Result::is_ok).collect::<Vec<_>>(),
            [true, true, false, true]
        );
        assert!(matches!(found[2], Err(SimError::Unmapped { .. })));
    }
}

#[test]
fn a_range_beyond_the_drive_is_refused() {
    let prepared = drive(&[]);
    let ranged = |bytes| {
        let stream = Stream {
            range: Some((0, bytes)),
            ..Stream::closed("all", Characteristics::default())
        };
        prepared.worker().run(&[stream], TEN, 0, 0)
    };
    let capacity = 67_108_864;
    ranged(capacity).unwrap();
    let error = ranged(capacity + 512).unwrap_err();
    assert!(error.to_string().contains("67108864"), "{error}");
}

#[test]
fn the_deepest_queue_of_the_largest_requests_is_refused_before_memory_is_full() {
    let deepest = Characteristics {
        queue_depth: 65_536,
        read_size: 64 << 20,
        ..Characteristics::default()
    };
    let error = measure(&drive(&[]), deepest, TEN).unwrap_err();
    assert!(matches!(error, SimError::InFlight { .. }), "{error}");
    // With 32 commands, at most 32 requests are in the drive at once.
    let deep_and_small = Characteristics {
        read_size: 4096,
        ..deepest
    };
    measure(&drive(&[]), deep_and_small, TEN).unwrap();
}

#[test]
fn operations_queued_beyond_the_end_of_time_are_refused() {
    // 2 x 131072 operations of 1 s each pass dispatch before the last one starts: 3 days. With 16
    // requests it takes 24 days, more than the 13 days of simulated time.
    let slow = drive(&[(
        "read_dispatch_ns = 1_000",
        "read_dispatch_ns = 1_000_000_000",
    )]);
    let large = Characteristics {
        queue_depth: 16,
        read_size: 64 << 20,
        ..Characteristics::default()
    };
    let error = measure(&slow, large, TEN).unwrap_err();
    assert!(matches!(error, SimError::EndOfTime { .. }), "{error}");
}

#[test]
fn a_drive_that_takes_no_time_gives_no_rate() {
    let zero = drive(&[
        ("read_dispatch_ns = 1_000", "read_dispatch_ns = 0"),
        ("read_register_ns = 10_000", "read_register_ns = 0"),
        ("read_cell_ns = 50_000", "read_cell_ns = 0"),
    ]);
    let error = measure(&zero, Characteristics::default(), TEN).unwrap_err();
    assert_eq!(error, SimError::NoTime);
}

#[test]
fn too_many_units_are_refused_before_anything_is_prepared() {
    let many = config(&[
        ("channels = 2", "channels = 256"),
        ("dies_per_way = 1", "dies_per_way = 64"),
        ("blocks_per_plane = 2048", "blocks_per_plane = 16"),
    ]);
    let error = Prepared::new(many).map(drop).unwrap_err();
    assert!(matches!(error, SimError::TooManyUnits { .. }), "{error}");
}

#[test]
fn preparation_and_runs_stop_when_asked_to() {
    let unprepared = Prepared::stoppable(config(&[]), &AtomicBool::new(true)).map(drop);
    assert_eq!(unprepared.unwrap_err(), SimError::Stopped);

    let prepared = drive(&[]);
    let endless = Plan::counting(0, u64::MAX);
    let work = [(0, Characteristics::default()); 3];
    let mut measuring = Measuring::start(
        &small_drive::states(&prepared),
        small_drive::work(&work, endless),
        0,
        2,
    );
    assert!(measuring.wait(Duration::from_millis(50)).is_none());
    measuring.stop();
    for _ in 0..2 {
        let stopped = measuring.next().unwrap().map(drop);
        assert_eq!(stopped.unwrap_err(), SimError::Stopped);
    }
    // The third workload was never begun.
    assert!(!measuring.is_done());
    assert!(measuring.next().is_none());
    measured(&prepared, &work, 0, TEN, 2).unwrap();
}

/// All is submitted at once and served three by three: 1,000 writes of 131,072 pages each.
#[test]
fn a_run_stops_when_asked_to_long_after_its_last_submission() {
    let stop = Arc::new(AtomicBool::new(false));
    let prepared = drive(&[("\"free\"", SATA)]);
    let mut worker = prepared.worker_stopped_by(&stop);
    let write = |_| Request {
        size_bytes: 64 << 20,
        direction: Direction::Write,
        ..read_at(0, 0)
    };
    let requests: Vec<Request> = (0..1000).map(write).collect();
    let asking = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        stop.store(true, Ordering::Relaxed);
    });
    let stopped = worker.run(&timed(requests), TEN, 0, 0).map(drop);
    asking.join().unwrap();
    assert_eq!(stopped.unwrap_err(), SimError::Stopped);
}

#[test]
fn a_failed_run_leaves_nothing_behind() {
    let prepared = drive(&[("\"filled\"", "\"fresh\""), ("\"free\"", SATA)]);
    let writes = Characteristics {
        write_ratio: 1.0,
        queue_depth: 7,
        ..Characteristics::default()
    };
    let plan = Plan::counting(3, 200);
    let run = |drive: &mut drive::Drive, workload| {
        drive.run(&closed(workload), plan, (1, 2), State::Returned)
    };
    let clean = run(&mut small_drive::worker(&prepared), writes);
    let mut used = small_drive::worker(&prepared);
    let mixed = Characteristics {
        write_ratio: 0.99,
        ..writes
    };
    let error = run(&mut used, mixed).unwrap_err();
    assert!(matches!(error, SimError::Unmapped { .. }), "{error}");
    let again = run(&mut used, writes);
    assert_eq!(
        format!("{:?}", clean.unwrap()),
        format!("{:?}", again.unwrap())
    );
}

const SATA: &str = "\"sata\"
host.link_bytes_per_second = 100_000_000
host.commands = 3
host.read_command_ns = 2_000
host.write_command_ns = 3_000
host.write_acknowledge_ns = 7_000";
