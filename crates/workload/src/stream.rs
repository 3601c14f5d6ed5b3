//! What a host wants of a drive, as plain values: streams side by side.
//!
//! ```text
//!   Stream ─┬─ source ─┬─ Closed: drawn requests, each completion sends the next
//!           │          ├─ Open:   drawn requests, sent at drawn times
//!           │          ├─ Timed:  commands with the times at which they are sent
//!           │          ├─ Paced:  commands read from elsewhere, each with when it may be sent
//!           │          └─ Windows: drawn window by window, at drawn times
//!           └─ where, what the data looks like, how writes are sent, who goes first
//! ```
//!
//! A simulated drive takes streams and nothing else: a workload is the streams that it consists
//! of. A stream holds no random numbers; they are keyed when it is run ([`Key`]).

use std::sync::Arc;

use drivelab_request::{Command, Content, PlacementId};

use crate::{
    Characteristics, CharacteristicsError, Generator, Loop, SharedSource, Stimulus, WholePass,
    Windows, Zoned,
};

/// Requests that belong together: one program of the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Its name in results and messages.
    pub name: String,
    /// Where its requests come from, and when each is sent.
    pub source: Source,
    /// The bytes of the drive in which they must lie: offset and length; the whole drive if not
    /// given. Characteristics are drawn there.
    pub range: Option<(u64, u64)>,
    /// As what generated writes are sent.
    pub writes: WriteMode,
    /// A flush follows every so many generated writes; 0 for none.
    pub writes_per_flush: u32,
    /// Its priority class; 0 goes first.
    pub priority: u8,
    /// The queue pair through which it submits; 0 on an interface that has one.
    pub queue_pair: u16,
    /// What the data of its writes looks like.
    pub content: Content,
    /// Where it is to go, of a drive that can be told.
    pub placement: PlacementId,
    /// Of a closed loop: its part of the commands of all streams that have one, in proportion. It
    /// waits while another of them has submitted less for its part. Without one a loop is as
    /// fast as it can be.
    pub share: Option<f64>,
    /// Of a closed loop with a share: how many commands it submits at each of its turns, while
    /// the others with a share wait; at least 1.
    pub burst: u32,
}

/// As what the writes of a generator are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// As writes.
    #[default]
    Plain,
    /// As writes that are complete only when they are in the flash.
    Forced,
    /// As trims of the same ranges.
    Trim,
}

/// Where the requests of a stream come from, and when each is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// As many are outstanding as the requests say: each completion sends the next.
    Closed(Requests),
    /// They arrive whether others have completed or not, until the run ends.
    Open {
        /// What arrives.
        requests: Requests,
        /// How many a second.
        rate_iops: f64,
        /// At random (a Poisson process), or in equal gaps.
        is_poisson: bool,
    },
    /// Commands arrive at their own times, in order of arrival.
    Timed(Arc<[Command]>),
    /// Commands are read from elsewhere while they are sent: at their times, and no more at once
    /// than each of them says.
    Paced(SharedSource),
    /// They arrive window by window, until the run ends.
    Windows(Arc<Windows>),
}

/// Requests that are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Requests {
    /// By their characteristics, as many outstanding as these say.
    Characteristics(Characteristics),
    /// The same, but of random requests each place comes once before any comes again.
    EachOnce(Characteristics),
    /// Those of a file, one after the other, as often as the run lasts.
    Pass(WholePass),
    /// Of an access pattern, as many outstanding of each thread as it says.
    Stimulus(Stimulus),
    /// Zone by zone, as many outstanding as they say. Where they go depends on the drive's zones.
    Zoned(Zoned),
}

/// What random numbers of the streams of a measurement are keyed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Of everything.
    pub seed: u64,
    /// Of the measurement, or of the step.
    pub index: u64,
    /// The stream's place among the others.
    pub place: u64,
    /// Threads of the stimuli before it.
    pub threads: u32,
}

impl Key {
    /// Of the first stream of a measurement.
    #[must_use]
    pub const fn first(seed: u64, index: u64) -> Self {
        Self {
            seed,
            index,
            place: 0,
            threads: 0,
        }
    }

    /// That of a stream: the index where there is one stream, and the place in measurement 0.
    /// Elsewhere it is far from those.
    #[must_use]
    pub const fn of_stream(&self) -> u64 {
        match (self.index, self.place) {
            (0, place) => place,
            (index, place) => index ^ (place << 40),
        }
    }
}

impl Stream {
    /// Over the whole drive, of class 0, through queue pair 0.
    #[must_use]
    pub fn new(name: impl Into<String>, source: Source) -> Self {
        Self {
            name: name.into(),
            source,
            range: None,
            writes: WriteMode::Plain,
            writes_per_flush: 0,
            priority: 0,
            queue_pair: 0,
            content: Content::Random,
            placement: PlacementId::default(),
            share: None,
            burst: 1,
        }
    }

    /// A closed loop.
    #[must_use]
    pub fn closed(name: impl Into<String>, requests: impl Into<Requests>) -> Self {
        Self::new(name, Source::Closed(requests.into()))
    }

    /// Commands (or requests) that arrive at their own times.
    #[must_use]
    pub fn timed<C: Into<Command>>(
        name: impl Into<String>,
        commands: impl IntoIterator<Item = C>,
    ) -> Self {
        let commands = commands.into_iter().map(Into::into);
        Self::new(name, Source::Timed(commands.collect()))
    }

    /// How many commands it has, where it ends by itself.
    #[must_use]
    pub fn commands(&self) -> Option<u64> {
        match &self.source {
            Source::Closed(Requests::Pass(pass)) if self.writes_per_flush == 0 => {
                Some(pass.sent_requests())
            }
            Source::Timed(commands) => Some(commands.len() as u64),
            Source::Paced(source) => Some(source.0.commands().iter().sum()),
            Source::Closed(_) | Source::Open { .. } | Source::Windows(_) => None,
        }
    }

    /// Bytes of a request, on average.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        match &self.source {
            Source::Closed(requests) | Source::Open { requests, .. } => requests.mean_bytes(),
            Source::Timed(commands) => {
                let all: u64 = commands.iter().map(|c| u64::from(c.size_bytes)).sum();
                all as f64 / commands.len().max(1) as f64
            }
            Source::Paced(source) => {
                let commands: u64 = source.0.commands().iter().sum();
                source.0.bytes() as f64 / commands.max(1) as f64
            }
            Source::Windows(windows) => windows.mean_bytes(),
        }
    }

    /// Whether it lies on a drive of so many bytes, as far as it says where it goes.
    ///
    /// # Errors
    /// Why not, and what is allowed.
    pub fn lies_within(&self, capacity_bytes: u64) -> Result<(), String> {
        if let Some((offset, length)) = self.range {
            let end = offset.checked_add(length);
            if length == 0 || end.is_none_or(|end| end > capacity_bytes) {
                return Err(format!(
                    "its range of {length} bytes at offset {offset} does not lie on the drive of \
                     {capacity_bytes} bytes"
                ));
            }
        }
        let beyond = |end: Option<u64>| end.filter(|&end| end > capacity_bytes);
        match &self.source {
            Source::Closed(requests) | Source::Open { requests, .. } => {
                let what = match requests {
                    Requests::Pass(_) => "the file",
                    _ => "it",
                };
                beyond(requests.end_bytes()).map_or(Ok(()), |end| {
                    Err(format!(
                        "{what} ends at {end} bytes; allowed: at most the drive's {capacity_bytes}"
                    ))
                })
            }
            Source::Timed(_) | Source::Windows(_) => Ok(()),
            Source::Paced(source) => beyond(source.0.end_bytes()).map_or(Ok(()), |end| {
                Err(format!(
                    "its addresses reach to {end} bytes, and the drive has {capacity_bytes}; have \
                     them fitted to the drive: wrap or scale"
                ))
            }),
        }
    }

    /// Threads of stimuli in it: so many keys of random numbers it takes.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        match &self.source {
            Source::Closed(Requests::Stimulus(stimulus))
            | Source::Open {
                requests: Requests::Stimulus(stimulus),
                ..
            } => stimulus.threads,
            _ => 0,
        }
    }
}

impl Requests {
    /// The closed loops that send them: one, or one for each thread of a stimulus in order.
    /// Characteristics are drawn from the `length` bytes from `start` on.
    ///
    /// # Errors
    ///
    /// [`CharacteristicsError`] where there are no such requests.
    pub fn loops(
        &self,
        (start, length): (u64, u64),
        key: Key,
    ) -> Result<Vec<Loop>, CharacteristicsError> {
        let one = |generator, queue_depth| {
            vec![Loop {
                generator,
                queue_depth,
            }]
        };
        let index = key.of_stream();
        match self {
            Self::Characteristics(workload) => {
                let generator = Generator::new(workload, start, length, key.seed, index)?;
                Ok(one(generator, workload.queue_depth))
            }
            Self::EachOnce(workload) => {
                let generator = Generator::each_once(workload, start, length, key.seed, index)?;
                Ok(one(generator, workload.queue_depth))
            }
            Self::Pass(pass) => Ok(one(Generator::of_pass(pass, key.seed, index)?, 1)),
            Self::Stimulus(stimulus) => stimulus.loops(key.seed, key.index, key.threads),
            Self::Zoned(_) => Err(CharacteristicsError::Zoned),
        }
    }

    /// The last byte that they may address, from the drive's first on; none of characteristics,
    /// which go where the stream does.
    #[must_use]
    pub fn end_bytes(&self) -> Option<u64> {
        match self {
            Self::Characteristics(_) | Self::EachOnce(_) | Self::Zoned(_) => None,
            Self::Pass(pass) => pass.start_bytes.checked_add(pass.file_bytes),
            Self::Stimulus(stimulus) => stimulus.range_start.checked_add(stimulus.range_bytes),
        }
    }

    fn mean_bytes(&self) -> f64 {
        match self {
            Self::Characteristics(workload) | Self::EachOnce(workload) => {
                let (read, write) = (
                    f64::from(workload.read_size),
                    f64::from(workload.write_size),
                );
                read + (write - read) * workload.write_ratio
            }
            Self::Pass(pass) => pass.request_bytes.into(),
            Self::Stimulus(stimulus) => stimulus.mean_bytes(),
            Self::Zoned(zoned) => zoned.mean_bytes(),
        }
    }
}

impl From<Characteristics> for Requests {
    fn from(workload: Characteristics) -> Self {
        Self::Characteristics(workload)
    }
}

impl From<WholePass> for Requests {
    fn from(pass: WholePass) -> Self {
        Self::Pass(pass)
    }
}

impl From<Zoned> for Requests {
    fn from(zoned: Zoned) -> Self {
        Self::Zoned(zoned)
    }
}

impl From<Stimulus> for Requests {
    fn from(stimulus: Stimulus) -> Self {
        Self::Stimulus(stimulus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_of_each_measurement_has_a_key_of_its_own() {
        let key = |index, place| {
            Key {
                place,
                ..Key::first(1, index)
            }
            .of_stream()
        };
        assert_eq!([key(0, 0), key(0, 3), key(7, 0)], [0, 3, 7]);
        let mut keys: Vec<u64> = (1..50)
            .flat_map(|i| (0..64).map(move |p| key(i, p)))
            .collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn what_ends_by_itself_says_how_many_commands_it_has() {
        let stream = Stream::closed("reads", Characteristics::default());
        assert_eq!((stream.commands(), stream.mean_bytes()), (None, 4096.0));
        let listed = [Command::flush(drivelab_request::Nanos(5)); 3];
        assert_eq!(Stream::timed("listed", listed).commands(), Some(3));
    }
}
