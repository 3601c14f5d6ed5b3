//! What a run of the simulator tells.

use super::counters::{ArrayCounters, Energy, Media, PlacementCounters, ZoneCounters};
use super::request_log::RequestLog;
use super::series::Series;
use super::split::{LatencySplit, PartNames};
use drivelab_request::{BatchMeans, ClosedBy, CommandKind, Counted, Direction, Histogram, Nanos};

/// The result of a run. A latency runs from submission by the host to completion.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Reads that completed inside the window, of all streams.
    pub read: Counted,
    /// Writes that did.
    pub write: Counted,
    /// Where the latencies went, by [`Direction::index`].
    pub split: [LatencySplit; 2],
    /// What the parts of a latency are called, in their order.
    pub part_names: PartNames,
    /// Every stream, in the order of the run's.
    pub streams: Vec<StreamOutcome>,
    /// What completed when, if [`Plan::series_interval`](super::Plan) asked for it.
    pub series: Option<Series>,
    /// Its requests by themselves, if [`Plan::log_requests`](super::Plan) asked for them.
    pub log: Option<RequestLog>,
    /// All commands of all streams, in batches.
    pub batches: BatchMeans,
    /// What closed the window.
    pub closed_by: Option<ClosedBy>,
    /// Length of the measurement window.
    pub window: Nanos,
    /// Requests completed before the window, in it, and after it while the
    /// drive drained.
    pub warmup_requests: u64,
    /// See `warmup_requests`.
    pub measured_requests: u64,
    /// See `warmup_requests`.
    pub drained_requests: u64,
    /// What the drive's media did in the window.
    pub media: Media,
    /// What a drive with placement handles counted of them in the window; none of others.
    pub placement: Option<PlacementCounters>,
    /// What an array with copies or parity did by itself in the window; none of other drives.
    pub array: Option<ArrayCounters>,
    /// What a drive with zones counted of them in the window; none of others.
    pub zones: Option<ZoneCounters>,
    /// What a firmware of the user's own counted in the window, by its names; none of others.
    pub own_counts: Vec<(String, u64)>,
    /// What the window took of the power supply, where the preset knows.
    pub energy: Option<Energy>,
    /// How much longer than the preset says everything took, the mean of the window where
    /// that changes in the course of a run; 1 if the preset has no variability.
    pub variability_factor: f64,
}

/// Commands of one stream and kind that completed inside the window.
#[derive(Clone, Debug, Default)]
pub struct CommandOutcome {
    /// How many, their bytes and their latencies.
    pub counted: Counted,
    /// Where the latencies went.
    pub split: LatencySplit,
}

/// What became of one stream.
#[derive(Clone, Debug, Default)]
pub struct StreamOutcome {
    /// Its name.
    pub name: String,
    /// By [`CommandKind::index`].
    pub commands: [CommandOutcome; CommandKind::ALL.len()],
    /// Commands it submitted, before, in and after the window; all completed.
    pub submitted: u64,
    /// Of commands with times of their own how long after those they were submitted, ns; none of
    /// other streams, and of listed ones, which are submitted in time.
    pub lateness: Option<Histogram>,
}

impl StreamOutcome {
    /// Takes what another of its loops did.
    pub(crate) fn add(&mut self, commands: &[CommandOutcome; CommandKind::ALL.len()]) {
        for (own, other) in self.commands.iter_mut().zip(commands) {
            own.counted.merge(&other.counted);
            own.split.merge(&other.split);
        }
    }
}

impl Outcome {
    /// Takes the counts of every stream, and their sums.
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
