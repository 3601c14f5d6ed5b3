//! One step of a session: stimuli for a time, or nothing for a time.
//!
//! ```text
//!   Step ─┬─ StepStream: stimulus ─┬─ closed loop   one of random accesses,
//!         │                        └─ closed loop   one a thread of those in order
//!         └─ StepStream: stimulus ─── closed loop   all of them at the same time
//! ```

use drivelab_request::{Command, Content, Counted, Direction, Nanos, WindowPlan};
use drivelab_workload::Stimulus;

use super::error::SimError;
use super::load::{Load, Source, Stream, WriteMode};
use super::outcome::{Outcome, StreamOutcome};
use super::plan::Plan;

/// Stimuli that are sent at the same time, and when that ends.
#[derive(Clone, Debug)]
pub struct Step {
    /// At least one.
    pub streams: Vec<StepStream>,
    /// Ends it, of the host's time.
    pub duration: Option<Nanos>,
    /// Ends it when so many bytes, in both directions and of all streams, were transferred: as
    /// many requests as that takes where each stream sends as many as every other.
    pub total_bytes: Option<u64>,
}

/// One stimulus of a step.
#[derive(Clone, Debug)]
pub struct StepStream {
    /// What is sent.
    pub stimulus: Stimulus,
    /// What written data looks like.
    pub content: Content,
    /// Writes are complete only when they are in the flash.
    pub is_forced: bool,
    /// Its part of the requests of all streams that have one, in proportion: see
    /// [`Stream::share`]. Its loops hold equal parts of it.
    pub share: Option<f64>,
}

/// What a drive did in a step.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    /// Of all streams; its own streams are closed loops.
    pub whole: Outcome,
    /// Of each stream of the step, in their order: what completed, by [`Direction::index`].
    pub streams: Vec<[Counted; 2]>,
}

impl Step {
    /// The load, its length, and of how many closed loops each stream consists; keyed by `seed`
    /// and `place`.
    ///
    /// # Errors
    /// [`SimError::Workload`] where there is no such stimulus.
    pub(crate) fn load(&self, seed: u64, place: u64) -> Result<(Load, Plan, Vec<usize>), SimError> {
        let mut streams = Vec::new();
        let mut loops = Vec::new();
        let mut threads = 0;
        for (number, stream) in self.streams.iter().enumerate() {
            let added = stream.loops(seed, place, number, threads)?;
            threads += stream.stimulus.threads;
            loops.push(added.len());
            streams.extend(added);
        }
        let means = self.streams.iter().map(|s| s.stimulus.mean_bytes());
        let per_request = means.sum::<f64>() / self.streams.len().max(1) as f64;
        let requests_for = |bytes: u64| ((bytes as f64 / per_request).ceil() as u64).max(1);
        let plan = Plan {
            window: WindowPlan {
                requests: self.total_bytes.map(requests_for),
                duration: self.duration,
                ..WindowPlan::default()
            },
            ..Plan::default()
        };
        Ok((Load { streams }, plan, loops))
    }
}

impl StepStream {
    /// Its closed loops as streams of a load, behind so many `threads` of the streams before it.
    fn loops(
        &self,
        seed: u64,
        place: u64,
        number: usize,
        threads: u32,
    ) -> Result<Vec<Stream>, SimError> {
        let loops = self.stimulus.loops(seed, place, threads);
        let loops = loops.map_err(|error| SimError::Workload(error.to_string()))?;
        let writes = if self.is_forced {
            WriteMode::Forced
        } else {
            WriteMode::Plain
        };
        let share = self.share.map(|share| share / loops.len() as f64);
        let stream = |(thread, each): (usize, drivelab_workload::Loop)| {
            let source = Source::Closed {
                generator: each.generator,
                queue_depth: each.queue_depth,
            };
            let mut stream = Stream::new(format!("stream {number}, thread {thread}"), source);
            stream.writes = writes;
            stream.content = self.content;
            stream.share = share;
            stream
        };
        Ok(loops.into_iter().enumerate().map(stream).collect())
    }
}

/// Adds up what the closed loops of each stream did.
pub(crate) fn by_stream(whole: Outcome, loops: &[usize]) -> StepOutcome {
    let mut left = whole.streams.as_slice();
    let sum = |of: &[StreamOutcome]| {
        Direction::ALL.map(|direction| {
            let mut counted = Counted::default();
            for each in of {
                counted.merge(&each.commands[direction.index()].counted);
            }
            counted
        })
    };
    let mut streams = Vec::with_capacity(loops.len());
    for &count in loops {
        let (own, others) = left.split_at(count);
        streams.push(sum(own));
        left = others;
    }
    StepOutcome { whole, streams }
}

/// A load that wants nothing until so much time has passed, and how long it is.
pub(crate) fn idle(time: Nanos) -> (Load, Plan) {
    (Load::timed([Command::flush(time)]), Plan::counting(0, 1))
}
