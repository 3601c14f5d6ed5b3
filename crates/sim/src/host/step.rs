//! One step of a session: a stimulus for a time, or nothing for a time.

use drivelab_request::{Command, Content, Nanos, WindowPlan};
use drivelab_workload::Stimulus;

use super::error::SimError;
use super::load::{Load, Source, Stream, WriteMode};
use super::plan::Plan;

/// A stimulus and when it ends.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is sent.
    pub stimulus: Stimulus,
    /// What written data looks like.
    pub content: Content,
    /// Writes are complete only when they are in the flash.
    pub is_forced: bool,
    /// Ends it, of the host's time.
    pub duration: Option<Nanos>,
    /// Ends it when so many bytes, in both directions, were transferred: as many requests as
    /// that takes on average.
    pub total_bytes: Option<u64>,
}

impl Step {
    /// The load and its length, keyed by `seed` and `place`.
    ///
    /// # Errors
    /// [`SimError::Workload`] where there is no such stimulus.
    pub(crate) fn load(&self, seed: u64, place: u64) -> Result<(Load, Plan), SimError> {
        let loops = self.stimulus.loops(seed, place);
        let loops = loops.map_err(|error| SimError::Workload(error.to_string()))?;
        let writes = if self.is_forced {
            WriteMode::Forced
        } else {
            WriteMode::Plain
        };
        let streams = loops.into_iter().enumerate().map(|(thread, each)| {
            let source = Source::Closed {
                generator: each.generator,
                queue_depth: each.queue_depth,
            };
            let mut stream = Stream::new(format!("thread {thread}"), source);
            stream.writes = writes;
            stream.content = self.content;
            stream
        });
        let load = Load {
            streams: streams.collect(),
        };
        let per_request = self.stimulus.mean_bytes();
        let requests_for = |bytes: u64| ((bytes as f64 / per_request).ceil() as u64).max(1);
        let plan = Plan {
            window: WindowPlan {
                requests: self.total_bytes.map(requests_for),
                duration: self.duration,
                ..WindowPlan::default()
            },
            ..Plan::default()
        };
        Ok((load, plan))
    }
}

/// A load that wants nothing until so much time has passed, and how long it is.
pub(crate) fn idle(time: Nanos) -> (Load, Plan) {
    (Load::timed([Command::flush(time)]), Plan::counting(0, 1))
}
