//! The result of a simulated run.

use super::counters::{
    ArrayCounters, Energy, Media, NamespaceCounters, PlacementCounters, ZoneCounters,
};
use super::request_log::RequestLog;
use super::series::Series;
use super::split::{LatencySplit, PartNames};
use drivelab_request::{BatchMeans, ClosedBy, CommandKind, Counted, Direction, Histogram, Nanos};

/// The result of a run. A latency lasts from submission by the host to completion.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Reads of all streams that completed inside the window.
    pub read: Counted,
    /// Writes of all streams that completed inside the window.
    pub write: Counted,
    /// The parts of the latencies, by [`Direction::index`].
    pub split: [LatencySplit; 2],
    /// The names of the parts of a latency, in their order.
    pub part_names: PartNames,
    /// Every stream, in the order of the run.
    pub streams: Vec<StreamOutcome>,
    /// What completed when, if [`Plan::series_interval`](super::Plan) asked for it.
    pub series: Option<Series>,
    /// Individual requests, if [`Plan::log_requests`](super::Plan) asked for them.
    pub log: Option<RequestLog>,
    /// All commands of all streams, in batches.
    pub batches: BatchMeans,
    /// What closed the window.
    pub closed_by: Option<ClosedBy>,
    /// Length of the measurement window.
    pub window: Nanos,
    /// Requests completed before the window, in it, and after it while the drive drained.
    pub warmup_requests: u64,
    /// See `warmup_requests`.
    pub measured_requests: u64,
    /// See `warmup_requests`.
    pub drained_requests: u64,
    /// What the drive's media did in the window.
    pub media: Media,
    /// What a drive with placement handles counted in the window; `None` for other drives.
    pub placement: Option<PlacementCounters>,
    /// What a drive with namespaces did for each in the window; none of others.
    pub namespaces: Option<NamespaceCounters>,
    /// What an array with copies or parity did itself in the window; `None` for other drives.
    pub array: Option<ArrayCounters>,
    /// What a drive with zones counted in the window; `None` for other drives.
    pub zones: Option<ZoneCounters>,
    /// What the user's own firmware counted in the window, by its own names; empty otherwise.
    pub own_counts: Vec<(String, u64)>,
    /// The energy used in the window, if the preset gives energies.
    pub energy: Option<Energy>,
    /// The factor by which everything took longer than the preset says. If it changes during a run,
    /// the mean over the window. 1 if the preset has no variability.
    pub variability_factor: f64,
}

/// Commands of one stream and kind that completed inside the window.
#[derive(Clone, Debug, Default)]
pub struct CommandOutcome {
    /// Their number, bytes and latencies.
    pub counted: Counted,
    /// The parts of the latencies.
    pub split: LatencySplit,
}

/// The outcome of one stream.
#[derive(Clone, Debug, Default)]
pub struct StreamOutcome {
    /// Its name.
    pub name: String,
    /// By [`CommandKind::index`].
    pub commands: [CommandOutcome; CommandKind::ALL.len()],
    /// Commands it submitted before, in and after the window. All completed.
    pub submitted: u64,
    /// For commands with times of their own: how long after those times they were submitted, ns.
    /// `None` for other streams, and for listed commands, which are always submitted in time.
    pub lateness: Option<Histogram>,
}

impl StreamOutcome {
    /// Adds the counts of another loop of this stream.
    pub(crate) fn add(&mut self, commands: &[CommandOutcome; CommandKind::ALL.len()]) {
        for (own, other) in self.commands.iter_mut().zip(commands) {
            own.counted.merge(&other.counted);
            own.split.merge(&other.split);
        }
    }
}

impl Outcome {
    /// Takes over the counts of every stream, and their sums.
    pub(crate) fn set_streams(&mut self, streams: Vec<StreamOutcome>) {
        for direction in Direction::ALL {
            let mut counted = Counted::default();
            let split = &mut self.split[direction.index()];
            for stream in &streams {
                let of_stream = &stream.commands[direction.index()];
                counted.merge(&of_stream.counted);
                split.merge(&of_stream.split);
            }
            match direction {
                Direction::Read => self.read = counted,
                Direction::Write => self.write = counted,
            }
        }
        self.streams = streams;
    }

    /// Requests of one direction.
    #[must_use]
    pub fn of(&self, direction: Direction) -> &Counted {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }
}
