//! What a host wants of a drive, as plain values: streams at the same time.
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
//! A simulated drive takes only streams, and a workload consists of streams. A stream contains no
//! random numbers; they get their key when it is run ([`Key`]).

use std::sync::Arc;

use drivelab_request::{Command, CommandKind, Content, Direction, PlacementId};

use crate::{
    Characteristics, CharacteristicsError, Generator, Loop, SharedSource, Stimulus, WholePass,
    Windows, Zoned,
};

/// Requests that belong together, such as those of one program on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Its name in results and messages.
    pub name: String,
    /// Where its requests come from, and when each is sent.
    pub source: Source,
    /// The byte range of the drive for its requests, as offset and length; `None` means the whole
    /// drive. Characteristics are drawn there.
    pub range: Option<(u64, u64)>,
    /// The namespace of the drive to which its addresses belong; the whole drive if not given.
    pub namespace: Option<String>,
    /// The commands as which generated writes are sent.
    pub writes: WriteMode,
    /// A flush follows after this many generated writes; 0 means none.
    pub writes_per_flush: u32,
    /// For generated writes that are sent as trims: how many of them form the ranges of one trim.
    pub ranges_per_trim: u32,
    /// Its priority class; 0 goes first.
    pub priority: u8,
    /// The queue pair through which it submits; 0 on an interface that has one.
    pub queue_pair: u16,
    /// What the data of its writes looks like.
    pub content: Content,
    /// Where that data should be placed, on drives with placement handles.
    pub placement: PlacementId,
    /// For a closed loop: its share of the commands of all streams that have one, in proportion. It
    /// waits while another of them is behind it. Without a share, a loop is as fast as it can be.
    pub share: Option<f64>,
    /// For a closed loop with a share: how many commands it submits in each turn, while the other
    /// streams with shares wait; at least 1.
    pub burst: u32,
}

/// The commands as which generated writes are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// As writes.
    #[default]
    Plain,
    /// As writes that complete only when they are in the flash.
    Forced,
    /// As trims of the same ranges.
    Trim,
    /// As zeroes that are not sent.
    Zeroes,
}

/// Where the requests of a stream come from, and when each is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The requests say how many are outstanding. Each completion sends the next.
    Closed(Requests),
    /// They arrive until the run ends, whether or not others have completed.
    Open {
        /// The requests.
        requests: Requests,
        /// Requests a second.
        rate_iops: f64,
        /// At random times (a Poisson process), or in equal gaps.
        is_poisson: bool,
    },
    /// Commands arrive at their own times, in order of arrival.
    Timed(Arc<[Command]>),
    /// Commands are read from elsewhere while they are sent: at their times, and with the
    /// outstanding limit that each of them gives.
    Paced(SharedSource),
    /// They arrive window by window, until the run ends.
    Windows(Arc<Windows>),
}

/// Generated requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Requests {
    /// By their characteristics, which include how many are outstanding.
    Characteristics(Characteristics),
    /// The same, but random requests visit each place once before any comes again.
    EachOnce(Characteristics),
    /// Passes over a file, one after another, for as long as the run lasts.
    Pass(WholePass),
    /// By an access pattern, which says how many requests of each thread are outstanding.
    Stimulus(Stimulus),
    /// Zone by zone; it says how many are outstanding. The places depend on the drive's zones.
    Zoned(Zoned),
}

/// The key of the random numbers of a measurement's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The seed of everything.
    pub seed: u64,
    /// The index of the measurement or step.
    pub index: u64,
    /// The index of the stream.
    pub place: u64,
    /// The number of threads in the stimuli before it.
    pub threads: u32,
}

impl Key {
    /// The key of the first stream of a measurement.
    #[must_use]
    pub const fn first(seed: u64, index: u64) -> Self {
        Self {
            seed,
            index,
            place: 0,
            threads: 0,
        }
    }

    /// The key of a stream. With one stream it is the index, and in measurement 0 the stream's
    /// place. Otherwise it is far from both.
    #[must_use]
    pub const fn of_stream(&self) -> u64 {
        match (self.index, self.place) {
            (0, place) => place,
            (index, place) => index ^ (place << 40),
        }
    }
}

impl Stream {
    /// Over the whole drive, class 0, queue pair 0.
    #[must_use]
    pub fn new(name: impl Into<String>, source: Source) -> Self {
        Self {
            name: name.into(),
            source,
            range: None,
            namespace: None,
            writes: WriteMode::Plain,
            writes_per_flush: 0,
            ranges_per_trim: 1,
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

    /// Whether it changes data at places that do not follow the zones of a drive. A list of commands
    /// is taken to follow them.
    #[must_use]
    pub fn writes_anywhere(&self) -> bool {
        let changes = |kind: CommandKind| !matches!(kind, CommandKind::Read | CommandKind::Flush);
        match &self.source {
            Source::Closed(requests) | Source::Open { requests, .. } => match requests {
                Requests::Characteristics(workload) | Requests::EachOnce(workload) => {
                    workload.write_ratio > 0.0
                }
                Requests::Pass(pass) => pass.direction == Direction::Write,
                Requests::Stimulus(stimulus) => stimulus.read_ratio < 1.0,
                Requests::Zoned(_) => false,
            },
            Source::Timed(_) => false,
            Source::Paced(source) => {
                let sent = source.0.commands();
                CommandKind::ALL
                    .into_iter()
                    .any(|kind| changes(kind) && sent[kind.index()] > 0)
            }
            Source::Windows(windows) => windows
                .kinds
                .iter()
                .any(|kind| kind.direction == Direction::Write),
        }
    }

    /// The number of commands, if it ends by itself.
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

    /// Mean bytes of a request.
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

    /// Checks that it lies on a drive of `capacity_bytes`, as far as it says where it goes. If it
    /// goes to a namespace, they are the bytes of that.
    ///
    /// # Errors
    /// Why not, and what is allowed.
    pub fn lies_within(&self, capacity_bytes: u64) -> Result<(), String> {
        let (place, owner) = match &self.namespace {
            None => ("on the drive".to_owned(), "the drive".to_owned()),
            Some(name) => (
                format!("in namespace {name:?}"),
                format!("namespace {name:?}"),
            ),
        };
        if let Some((offset, length)) = self.range {
            let end = offset.checked_add(length);
            if length == 0 || end.is_none_or(|end| end > capacity_bytes) {
                return Err(format!(
                    "its range of {length} bytes at offset {offset} does not lie {place} of \
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
                        "{what} ends at {end} bytes; allowed: at most {owner}'s {capacity_bytes}"
                    ))
                })
            }
            Source::Timed(_) | Source::Windows(_) => Ok(()),
            Source::Paced(source) => beyond(source.0.end_bytes()).map_or(Ok(()), |end| {
                Err(format!(
                    "its addresses reach to {end} bytes, and {owner} has {capacity_bytes}; have \
                     them fitted to the drive: wrap or scale"
                ))
            }),
        }
    }

    /// The number of threads in its stimuli. It takes this many keys of random numbers.
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
    /// The closed loops that send the requests: one, or one for each thread of a stimulus in order.
    /// Characteristics are drawn from the `length` bytes from `start` on.
    ///
    /// # Errors
    ///
    /// [`CharacteristicsError`] if such requests are impossible.
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

    /// One past the last byte that they may address, from the start of the drive. `None` for
    /// characteristics, which use the range of the stream.
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
