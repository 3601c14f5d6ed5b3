//! The loop of streams and device, on a device that is a single server with a fixed time.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::VecDeque;
use std::sync::Arc;

use drivelab_request::{Command, CommandKind, Direction, Nanos, Request};
use drivelab_sim::host::{
    Completion, Device, FlashCounters, HostTime, Media, Outcome, PARTS, PartNames, Plan, Runner,
    SimError,
};
use drivelab_sim::preset::Variability;
use drivelab_workload::{Characteristics, Source, Stream, WriteMode};

use crate::small_drive::timed;

use crate::counted::flash;

const SERVICE_NS: u64 = 100;
const CAPACITY_BYTES: u64 = 1 << 20;

/// Serves one command after another, each in [`SERVICE_NS`].
#[derive(Default)]
struct OneServer {
    /// Tag, submission, completion.
    queue: VecDeque<(u32, u64, u64)>,
    tags: u32,
    vacant: Vec<u32>,
    free_at: u64,
    served: u64,
    variability: Variability,
}

impl Device for OneServer {
    fn capacity_bytes(&self) -> u64 {
        CAPACITY_BYTES
    }

    fn part_names(&self) -> PartNames {
        &["host", "queueing"]
    }

    fn takes_trims(&self) -> bool {
        false
    }

    fn begin(&mut self, _: u64, _: u64) -> f64 {
        *self = Self {
            variability: self.variability,
            ..Self::default()
        };
        1.0
    }

    fn host_time(&self, seed: u64, index: u64) -> Option<HostTime> {
        HostTime::new(&self.variability, seed, index)
    }

    fn submit(&mut self, _: &Command, now: u64) -> Result<u32, SimError> {
        let tag = self.vacant.pop().unwrap_or(self.tags);
        self.tags = self.tags.max(tag + 1);
        self.free_at = self.free_at.max(now) + SERVICE_NS;
        self.queue.push_back((tag, now, self.free_at));
        Ok(tag)
    }

    fn next_event(&self) -> Option<u64> {
        self.queue.front().map(|&(_, _, at)| at)
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        if self.next_event().is_some_and(|at| at <= limit) {
            let (tag, submitted, at) = self.queue.pop_front().unwrap();
            let mut parts = [0; PARTS];
            parts[0] = SERVICE_NS;
            parts[1] = at - submitted - SERVICE_NS;
            completions.push(Completion { tag, at, parts });
            self.vacant.push(tag);
            self.served += 1;
        }
        Ok(self.next_event())
    }

    fn drain(&mut self, _: u64) -> bool {
        false
    }

    fn open_window(&mut self, _: u64) {
        self.served = 0;
    }

    fn close_window(&mut self, _: u64, outcome: &mut Outcome) {
        outcome.media = Media::Flash(Box::new(FlashCounters {
            page_reads: self.served,
            ..FlashCounters::default()
        }));
    }
}

fn runner() -> Runner<OneServer> {
    Runner::new(OneServer::default(), &Arc::default())
}

fn reads(queue_depth: u32) -> Source {
    let workload = Characteristics {
        queue_depth,
        ..Characteristics::default()
    };
    Source::Closed(workload.into())
}

/// Three outstanding commands at one server: each waits for two others. So a latency is three
/// service times, two of them waiting, and 40 requests in the window take 40 service times.
#[test]
fn a_closed_loop_keeps_its_depth_outstanding() {
    let load = [Stream::new("all", reads(3))];
    let outcome = runner().run(&load, Plan::counting(10, 40), 1, 0).unwrap();
    assert_eq!(outcome.window, Nanos(40 * SERVICE_NS));
    let latency = &outcome.read.latency;
    let found = (latency.count(), latency.mean_ns());
    assert_eq!(found, (40, Some(3.0 * SERVICE_NS as f64)));
    assert_eq!(outcome.split[0].sum_ns[..2], [40 * 100, 40 * 200]);
    assert_eq!(outcome.part_names, ["host", "queueing"]);
    assert_eq!((outcome.warmup_requests, outcome.drained_requests), (10, 2));
    // The device was informed when the window opened and closed. What closes the window is served.
    assert_eq!(flash(&outcome).page_reads, 40);
}

/// Two loops at a server that serves in order, with shares of 3 and 1. They alternate in that
/// ratio, however many commands each may keep outstanding, and no part of a turn is lost.
#[test]
fn loops_with_shares_hold_them() {
    for depths in [(1, 1), (3, 9), (9, 1), (64, 64)] {
        let shared = |name, depth, share| Stream {
            share: Some(share),
            ..Stream::new(name, reads(depth))
        };
        let load = [shared("a", depths.0, 0.75), shared("b", depths.1, 0.25)];
        let outcome = runner().run(&load, Plan::counting(8, 40), 1, 0).unwrap();
        let counted = |stream: usize| outcome.streams[stream].commands[0].counted.latency.count();
        assert_eq!([counted(0), counted(1)], [30, 10], "{depths:?}");
        assert_eq!(outcome.window, Nanos(40 * SERVICE_NS));
    }
}

/// One loop submits four commands in each turn while the other waits: the same number as before, in
/// another order.
#[test]
fn a_burst_is_submitted_whole() {
    let shared = |name, burst| Stream {
        share: Some(0.5),
        burst,
        ..Stream::new(name, reads(9))
    };
    let load = [shared("a", 4), shared("b", 1)];
    for (warmup, expected) in [(0, [4, 0]), (4, [0, 4]), (8, [4, 0])] {
        let outcome = runner()
            .run(&load, Plan::counting(warmup, 4), 1, 0)
            .unwrap();
        let counted = |stream: usize| {
            let commands = &outcome.streams[stream].commands;
            commands
                .first()
                .map_or(0, |each| each.counted.latency.count())
        };
        assert_eq!([counted(0), counted(1)], expected, "after {warmup}");
    }
}

#[test]
fn a_share_that_is_none_is_refused() {
    let arriving = Stream::timed("held", [Command::flush(Nanos::ZERO)]).source;
    for (source, share) in [(reads(1), 0.0), (reads(1), f64::NAN), (arriving, 0.5)] {
        let stream = Stream {
            share: Some(share),
            ..Stream::new("held", source)
        };
        let load = [stream];
        let refused = runner().run(&load, Plan::counting(0, 1), 1, 0).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!(
                "stream \"held\": a share of {share} is not possible; allowed: 1e-9 to 1e9, of a \
                 stream that keeps a number of requests outstanding"
            )
        );
    }
}

/// A command that arrives when another completes finds the server free: 0, 100 and 250 ns.
#[test]
fn what_happens_in_the_device_comes_before_an_arrival_at_the_same_time() {
    let request = |arrival| Request {
        arrival: Nanos(arrival),
        offset_bytes: 0,
        size_bytes: 512,
        direction: Direction::Write,
    };
    let load = timed([0, 100, 150].map(request));
    let outcome = runner().run(&load, Plan::counting(0, 3), 1, 0).unwrap();
    assert_eq!(outcome.split[1].sum_ns[..2], [300, 50]);
    assert_eq!(outcome.window, Nanos(300));
}

#[test]
fn a_stream_that_trims_is_refused_by_a_device_without_trim() {
    let trims = Stream {
        writes: WriteMode::Trim,
        ..Stream::new("old", reads(1))
    };
    let listed = Command {
        kind: CommandKind::Trim,
        size_bytes: 512,
        ..Command::flush(Nanos::ZERO)
    };
    for stream in [trims, Stream::timed("old", [listed])] {
        let load = [stream];
        let refused = runner().run(&load, Plan::counting(0, 1), 1, 0).unwrap_err();
        let said = refused.to_string();
        assert!(said.starts_with("stream \"old\": it trims"), "{said}");
    }
}

/// The server drifts. The n-th command of a closed loop completes after 100 n ns of the server's
/// own time; arrivals use the host's time.
#[test]
fn a_device_that_drifts_is_told_in_the_hosts_time() {
    let variability = Variability {
        correlated_sigma: 0.5,
        correlation_time_ns: Some(16_000),
        ..Variability::default()
    };
    let server = OneServer {
        variability,
        ..OneServer::default()
    };
    let mut runner = Runner::new(server, &Arc::default());
    let mut time = HostTime::new(&variability, 1, 2).unwrap();
    let load = [Stream::new("all", reads(1))];
    // Long enough for old steps to be forgotten: 60,000 requests are 6000 steps.
    let plan = Plan {
        log_requests: Some(60_000),
        ..Plan::counting(1_000, 60_000)
    };
    let outcome = runner.run(&load, plan, 1, 2).unwrap();
    for (place, logged) in (1_000..).zip(&outcome.log.as_ref().unwrap().requests) {
        let [from, to] = [place, place + 1].map(|n| time.host_ns(n * SERVICE_NS));
        assert_eq!(
            (logged.submitted_ns, logged.latency_ns()),
            (from, to - from)
        );
    }
    let window = time.host_ns(6_100_000) - time.host_ns(100_000);
    assert_eq!(outcome.window, Nanos(window));
    assert!((outcome.variability_factor - window as f64 / 6e6).abs() < 1e-12);

    let arrival = |at| Request {
        arrival: Nanos(at),
        offset_bytes: 0,
        size_bytes: 512,
        direction: Direction::Read,
    };
    let plan = Plan {
        log_requests: Some(2),
        ..Plan::counting(0, 2)
    };
    let load = timed([0, 50_000].map(arrival));
    let outcome = runner.run(&load, plan, 1, 2).unwrap();
    let second = outcome.log.unwrap().requests[1];
    let from = time.drive_ns(50_000);
    assert_eq!(second.submitted_ns, time.host_ns(from));
    let latency = time.host_ns(from + SERVICE_NS) - time.host_ns(from);
    assert_eq!(second.latency_ns(), latency);
}
