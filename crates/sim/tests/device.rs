//! The loop of streams and device, on a device that is nothing but one server of a fixed time.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::VecDeque;
use std::sync::Arc;

use drivelab_request::{Command, CommandKind, Direction, Nanos, Request};
use drivelab_sim::host::{
    Completion, Device, Load, Outcome, PARTS, PartNames, Plan, Runner, SimError, Source, Stream,
    WriteMode,
};
use drivelab_workload::{Characteristics, Generator};

const SERVICE_NS: u64 = 100;
const CAPACITY_BYTES: u64 = 1 << 20;

/// Serves one command after the other, each in [`SERVICE_NS`].
#[derive(Default)]
struct OneServer {
    /// Tag, submission, completion.
    queue: VecDeque<(u32, u64, u64)>,
    free_at: u64,
    served: u64,
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
        *self = Self::default();
        1.0
    }

    fn submit(&mut self, tag: u32, _: &Command, now: u64) -> Result<(), SimError> {
        self.free_at = self.free_at.max(now) + SERVICE_NS;
        self.queue.push_back((tag, now, self.free_at));
        Ok(())
    }

    fn next_event(&self) -> Option<u64> {
        self.queue.front().map(|&(_, _, at)| at)
    }

    fn serve(&mut self, completions: &mut Vec<Completion>) -> Result<(), SimError> {
        let (tag, submitted, at) = self.queue.pop_front().unwrap();
        let mut parts = [0; PARTS];
        parts[0] = SERVICE_NS;
        parts[1] = at - submitted - SERVICE_NS;
        completions.push(Completion { tag, at, parts });
        self.served += 1;
        Ok(())
    }

    fn drain(&mut self, _: u64) -> bool {
        false
    }

    fn open_window(&mut self, _: u64) {
        self.served = 0;
    }

    fn close_window(&mut self, _: u64, outcome: &mut Outcome) {
        outcome.page_reads = self.served;
    }
}

fn runner() -> Runner<OneServer> {
    Runner::new(OneServer::default(), &Arc::default())
}

fn reads(queue_depth: u32) -> Source {
    let workload = Characteristics::default();
    let generator = Generator::new(&workload, 0, CAPACITY_BYTES, 1, 0).unwrap();
    Source::Closed {
        generator,
        queue_depth,
    }
}

/// Three outstanding at one server: each waits for two others, so a latency is three times
/// the service, of which two are waiting; 40 in the window take 40 times the service.
#[test]
fn a_closed_loop_keeps_its_depth_outstanding() {
    let load = Load {
        streams: vec![Stream::new("all", reads(3))],
    };
    let outcome = runner().run(load, Plan::counting(10, 40), 1, 0).unwrap();
    assert_eq!(outcome.window, Nanos(40 * SERVICE_NS));
    let latency = &outcome.read.latency;
    let told = (latency.count(), latency.mean_ns());
    assert_eq!(told, (40, Some(3.0 * SERVICE_NS as f64)));
    assert_eq!(outcome.split[0].sum_ns[..2], [40 * 100, 40 * 200]);
    assert_eq!(outcome.part_names, ["host", "queueing"]);
    assert_eq!((outcome.warmup_requests, outcome.drained_requests), (10, 2));
    // The device was told when the window opened and closed; what closes it is served.
    assert_eq!(outcome.page_reads, 40);
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
    let load = Load::timed([0, 100, 150].map(request));
    let outcome = runner().run(load, Plan::counting(0, 3), 1, 0).unwrap();
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
    let listed = Source::Timed {
        commands: vec![listed],
    };
    for stream in [trims, Stream::new("old", listed)] {
        let load = Load {
            streams: vec![stream],
        };
        let refused = runner().run(load, Plan::counting(0, 1), 1, 0).unwrap_err();
        let said = refused.to_string();
        assert!(said.starts_with("stream \"old\": it trims"), "{said}");
    }
}
