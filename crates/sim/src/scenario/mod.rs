//! Scenarios: several streams of requests on one drive, described in TOML.
//!
//! ```text
//! requests = 1_000_000
//!
//! [[stream]]                      # a closed loop
//! name = "database"
//! queue_depth = 16                # with a share it waits for others that have one
//! write_ratio = 0.3
//!
//! [[stream]]                      # an open loop
//! name = "log"
//! rate_iops = 20_000
//! arrivals = "poisson"
//! write_ratio = 1.0
//! write_random = 0.0
//!
//! [[stream]]                      # requests with their times
//! name = "backup"
//! requests_csv = "backup.csv"
//! ```
//!
//! The caller reads files; here are only texts. Unknown keys and impossible values are
//! errors that name the line, the key and what is allowed.

mod error;
mod read;
mod table;
mod timed;

use drivelab_request::{Command, Content, Nanos, WindowPlan};
use drivelab_workload::{Arrivals, Characteristics, Generator};

use crate::ssd::{Load, Source, Stream, WriteMode};

pub use error::{ScenarioError, Spot};

/// Several streams on one drive, and how long they run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// One line for people.
    pub summary: Option<String>,
    /// Counted requests that end the run. Where every stream is a list of requests and
    /// nothing else is said, all of them.
    pub requests: Option<u64>,
    /// Simulated time that ends it.
    pub duration: Option<Nanos>,
    /// Requests completed before counting begins.
    pub warmup_requests: u64,
    /// Simulated time before counting begins.
    pub warmup: Nanos,
    /// Length of the intervals of time series.
    pub interval: Option<Nanos>,
    /// At least one.
    pub streams: Vec<StreamPlan>,
}

/// One stream of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPlan {
    /// Its name, which no other stream has.
    pub name: String,
    /// Where its requests come from.
    pub source: SourcePlan,
    /// Offset and length of the bytes that it may go to; the whole drive if not given.
    pub range: Option<(u64, u64)>,
    /// As what generated writes are sent.
    pub writes: WriteMode,
    /// A flush follows every so many generated writes; 0 for none.
    pub writes_per_flush: u32,
    /// Its priority class; 0 goes first.
    pub priority: u8,
    /// The queue pair through which it submits.
    pub queue_pair: u16,
    /// What the data of its writes looks like.
    pub content: Content,
    /// Of a closed loop: its part of the requests of all streams that have one.
    pub share: Option<f64>,
}

/// Where the requests of a stream come from.
#[derive(Clone, Debug, PartialEq)]
pub enum SourcePlan {
    /// Each completion submits the next; the characteristics' queue depth is outstanding.
    Closed(Characteristics),
    /// Requests arrive whether others have completed or not.
    Open {
        /// What they are.
        characteristics: Characteristics,
        /// How many a second.
        rate_iops: f64,
        /// At random (a Poisson process), or in equal gaps.
        is_poisson: bool,
    },
    /// Requests with their times, by arrival.
    Timed(Vec<Command>),
}

impl Scenario {
    /// The files of requests that a scenario names, in order, each once; none where it is no
    /// scenario at all, which [`Scenario::read`] says better.
    #[must_use]
    pub fn files(text: &str) -> Vec<String> {
        read::files(text)
    }

    /// Reads a scenario. `file` gives the text of a file that it names.
    ///
    /// # Errors
    /// [`ScenarioError`] names the line, the key and what is allowed.
    pub fn read(text: &str, file: &dyn Fn(&str) -> Option<String>) -> Result<Self, ScenarioError> {
        read::read(text, file)
    }

    /// One closed loop over the whole drive.
    #[must_use]
    pub fn closed(name: impl Into<String>, characteristics: Characteristics) -> Self {
        Self {
            summary: None,
            requests: None,
            duration: None,
            warmup_requests: 0,
            warmup: Nanos::ZERO,
            interval: None,
            streams: vec![StreamPlan {
                name: name.into(),
                source: SourcePlan::Closed(characteristics),
                range: None,
                writes: WriteMode::Plain,
                writes_per_flush: 0,
                priority: 0,
                queue_pair: 0,
                content: Content::Random,
                share: None,
            }],
        }
    }

    /// When counting begins and ends.
    ///
    /// # Errors
    /// [`ScenarioError::Incomplete`] when nothing ends the run, or the listed requests are
    /// fewer than those to count.
    pub fn window(&self) -> Result<WindowPlan, ScenarioError> {
        let listed = |stream: &StreamPlan| match &stream.source {
            SourcePlan::Timed(commands) => Some(commands.len() as u64),
            SourcePlan::Closed(_) | SourcePlan::Open { .. } => None,
        };
        let listed: Option<u64> = self.streams.iter().map(listed).sum();
        let warmup_requests = self.warmup_requests;
        let left = listed.map(|listed| listed.saturating_sub(warmup_requests));
        let requests = match (self.requests, left) {
            (Some(requests), Some(left)) if requests > left => {
                return Err(ScenarioError::Incomplete(format!(
                    "{requests} requests are to be counted, and {left} are listed after \
                     {warmup_requests} of warm-up; allowed: at most as many as are listed"
                )));
            }
            (None, Some(0)) => {
                return Err(ScenarioError::Incomplete(format!(
                    "all listed requests are among the {warmup_requests} of the warm-up; \
                     allowed: fewer"
                )));
            }
            (None, Some(left)) => Some(left),
            (requests, _) => requests,
        };
        if requests.is_none() && self.duration.is_none() {
            return Err(ScenarioError::Incomplete(
                "nothing ends the run; give requests or duration_ns".to_owned(),
            ));
        }
        Ok(WindowPlan {
            warmup_requests,
            warmup: self.warmup,
            requests,
            duration: self.duration,
            half_width: None,
        })
    }

    /// The load for a drive of `capacity_bytes`. Random numbers are keyed by `seed` and the
    /// place of each stream.
    ///
    /// # Errors
    /// [`ScenarioError::Stream`] for a stream that does not fit the drive.
    pub fn load(&self, capacity_bytes: u64, seed: u64) -> Result<Load, ScenarioError> {
        let streams = (0..).zip(&self.streams);
        let streams = streams.map(|(index, plan)| plan.stream(capacity_bytes, seed, index));
        Ok(Load {
            streams: streams.collect::<Result<_, _>>()?,
        })
    }
}

impl StreamPlan {
    fn stream(&self, capacity_bytes: u64, seed: u64, index: u64) -> Result<Stream, ScenarioError> {
        let refused = |reason: String| ScenarioError::Stream {
            name: self.name.clone(),
            reason,
        };
        let (start, length) = self.range.unwrap_or((0, capacity_bytes));
        if start
            .checked_add(length)
            .is_none_or(|end| end > capacity_bytes)
        {
            return Err(refused(format!(
                "its range of {length} bytes at offset {start} does not lie on the drive of \
                 {capacity_bytes} bytes"
            )));
        }
        let generator = |characteristics| {
            Generator::new(characteristics, start, length, seed, index)
                .map_err(|error| refused(error.to_string()))
        };
        let source = match &self.source {
            SourcePlan::Closed(characteristics) => Source::Closed {
                generator: generator(characteristics)?,
                queue_depth: characteristics.queue_depth,
            },
            SourcePlan::Open {
                characteristics,
                rate_iops,
                is_poisson,
            } => {
                let arrivals = if *is_poisson {
                    Arrivals::poisson(*rate_iops, seed, index)
                } else {
                    Arrivals::fixed(*rate_iops)
                };
                let impossible = || refused(format!("{rate_iops} requests a second are no rate"));
                Source::Open {
                    generator: generator(characteristics)?,
                    arrivals: arrivals.ok_or_else(impossible)?,
                }
            }
            SourcePlan::Timed(commands) => Source::Timed {
                commands: commands.clone(),
            },
        };
        Ok(Stream {
            range: self.range,
            writes: self.writes,
            flush_interval: self.writes_per_flush,
            priority: self.priority,
            queue_pair: self.queue_pair,
            content: self.content,
            share: self.share,
            ..Stream::new(self.name.clone(), source)
        })
    }
}
