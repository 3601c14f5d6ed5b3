//! What the host wants of a drive, and in what order: a load of one stream or several.
//!
//! ```text
//!   Load ─┬─ Stream: generator, queue depth     each completion submits the next
//!         ├─ Stream: generator, depth, share    while no other with a share is behind it
//!         ├─ Stream: generator, arrivals        at drawn times, for ever
//!         └─ Stream: commands with their times  at those
//! ```

use drivelab_ftl::{Firmware, Lpn};
use drivelab_request::{Command, CommandKind, Content, Direction, Nanos, Request};
use drivelab_workload::{Arrivals, Generator};

use super::shares::{SHARES, Share};
use super::{Device, SimError};

/// Requests drawn at once.
const BATCH: usize = 64;

/// Places of those that are drawn: two batches.
const DRAWN: usize = 2 * BATCH;

/// How many requests ahead a map entry is cached.
const AHEAD: usize = BATCH;

/// How far ahead the map entry of an overwrite is cached before what it points
/// to is: half the distance leaves the first prefetch the time it needs.
const HALF: usize = AHEAD / 2;

/// The most streams of a load.
pub const MOST_STREAMS: usize = 64;

/// A load on a drive: one stream, or several at once.
#[derive(Clone, Debug)]
pub struct Load {
    /// At most [`MOST_STREAMS`]. What happens to several at the same time happens in
    /// their order.
    pub streams: Vec<Stream>,
}

/// Commands that belong together: one program of the host.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Its name in results and messages.
    pub name: String,
    /// Where its commands come from.
    pub source: Source,
    /// The bytes of the drive in which they must lie: offset and length; the whole
    /// drive if not given. A generator was given its own range.
    pub range: Option<(u64, u64)>,
    /// As what generated writes are sent.
    pub writes: WriteMode,
    /// A flush follows every so many generated writes; 0 for none.
    pub flush_interval: u32,
    /// Its priority class; 0 goes first.
    pub priority: u8,
    /// The queue pair through which it submits; 0 on an interface that has one.
    pub queue_pair: u16,
    /// What the data of its writes looks like.
    pub content: Content,
    /// Of a closed loop: its part of the commands of all streams that have one, in proportion. It
    /// waits while another of them has submitted less for its part. Without one a loop is as
    /// fast as it can be.
    pub share: Option<f64>,
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

/// Where the commands of a stream come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A fixed number of requests is outstanding: each completion submits the next.
    Closed {
        /// Draws the requests.
        generator: Generator,
        /// Requests outstanding.
        queue_depth: u32,
    },
    /// Drawn requests arrive at drawn times, until the window closes.
    Open {
        /// Draws the requests.
        generator: Generator,
        /// Draws when they arrive.
        arrivals: Arrivals,
    },
    /// Commands arrive at their own times, in order of arrival.
    Timed {
        /// The commands, by arrival.
        commands: Vec<Command>,
    },
}

impl Stream {
    /// A stream over the whole drive, of class 0, through queue pair 0.
    #[must_use]
    pub fn new(name: impl Into<String>, source: Source) -> Self {
        Self {
            name: name.into(),
            source,
            range: None,
            writes: WriteMode::Plain,
            flush_interval: 0,
            priority: 0,
            queue_pair: 0,
            content: Content::Random,
            share: None,
        }
    }

    /// Why its share is none, if so.
    fn wrong_share(&self) -> Option<String> {
        let share = self.share?;
        let is_closed = matches!(self.source, Source::Closed { .. });
        (!is_closed || !SHARES.contains(&share)).then(|| {
            format!(
                "a share of {share} is not possible; allowed: {:e} to {:e}, of a stream that keeps \
                 a number of requests outstanding",
                SHARES.start(),
                SHARES.end()
            )
        })
    }
}

impl Load {
    /// One stream in a closed loop.
    #[must_use]
    pub fn closed(generator: Generator, queue_depth: u32) -> Self {
        let source = Source::Closed {
            generator,
            queue_depth,
        };
        Self {
            streams: vec![Stream::new("all", source)],
        }
    }

    /// One stream of commands (or requests) that arrive at their own times.
    #[must_use]
    pub fn timed<C: Into<Command>>(commands: impl IntoIterator<Item = C>) -> Self {
        let commands = commands.into_iter().map(Into::into).collect();
        Self {
            streams: vec![Stream::new("all", Source::Timed { commands })],
        }
    }

    /// How many commands it has, if that is known.
    #[must_use]
    pub fn commands(&self) -> Option<u64> {
        let of_stream = |stream: &Stream| match &stream.source {
            Source::Timed { commands } => Some(commands.len() as u64),
            Source::Closed { .. } | Source::Open { .. } => None,
        };
        self.streams.iter().map(of_stream).sum()
    }

    /// Whether such a load can be run at all.
    pub(crate) fn check(&self, capacity_bytes: u64, pairs: usize) -> Result<(), SimError> {
        let count = self.streams.len();
        if count == 0 || count > MOST_STREAMS {
            return Err(SimError::Streams { count });
        }
        for stream in &self.streams {
            let refused = |reason: String| SimError::Stream {
                name: stream.name.clone(),
                reason,
            };
            if stream.queue_pair as usize >= pairs {
                let allowed = format!(
                    "queue pair {} is not there; allowed: 0 to {}, as host.queue_pair_weights has \
                     {pairs}",
                    stream.queue_pair,
                    pairs - 1
                );
                return Err(refused(allowed));
            }
            if let Some((offset, length)) = stream.range {
                let end = offset.checked_add(length);
                if length == 0 || end.is_none_or(|end| end > capacity_bytes) {
                    let allowed = format!(
                        "{length} bytes from {offset} on are no range of it; allowed: at least 1 \
                         byte, inside the drive's {capacity_bytes}"
                    );
                    return Err(refused(allowed));
                }
            }
            if let Some(reason) = stream.wrong_share() {
                return Err(refused(reason));
            }
            match &stream.source {
                Source::Closed { queue_depth: 0, .. } => return Err(SimError::Empty),
                Source::Timed { commands } if !commands.is_sorted_by_key(|c| c.arrival) => {
                    return Err(SimError::Unordered);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Load {
    /// Whether a drive that knows no TRIM can run it.
    pub(crate) fn check_without_trims(&self) -> Result<(), SimError> {
        let has_trim = |stream: &&Stream| match &stream.source {
            Source::Timed { commands } => commands.iter().any(|c| c.kind == CommandKind::Trim),
            Source::Closed { .. } | Source::Open { .. } => stream.writes == WriteMode::Trim,
        };
        match self.streams.iter().find(has_trim) {
            Some(stream) => Err(SimError::Stream {
                name: stream.name.clone(),
                reason: "it trims, and this drive knows no TRIM: let it write, or leave its trims \
                         out"
                .to_owned(),
            }),
            None => Ok(()),
        }
    }
}

/// What a drive will look up for requests that were drawn ahead, by logical page.
pub(crate) trait Tables {
    /// It will be asked for `page`.
    fn hint(&self, page: u32);
    /// It will soon write `page`, which may hold data.
    fn hint_overwrite(&self, page: u32);
}

impl<F: Firmware> Tables for F {
    #[inline(always)]
    fn hint(&self, page: u32) {
        self.prefetch_map(Lpn(page));
    }

    #[inline(always)]
    fn hint_overwrite(&self, page: u32) {
        self.prefetch_overwrite(Lpn(page));
    }
}

/// Those of a device, which is told sectors instead of pages.
pub(crate) struct TablesOf<'a, D>(pub &'a D);

/// Bits of an offset inside a sector.
pub(crate) const SECTOR_SHIFT: u32 = 9;

impl<D: Device> Tables for TablesOf<'_, D> {
    #[inline(always)]
    fn hint(&self, sector: u32) {
        self.0.hint(u64::from(sector) << SECTOR_SHIFT);
    }

    #[inline(always)]
    fn hint_overwrite(&self, sector: u32) {
        self.0.hint_overwrite(u64::from(sector) << SECTOR_SHIFT);
    }
}

/// The commands of a stream, in order, with the drive's tables prefetched.
enum Feed {
    /// Generated; with arrivals, the next of them.
    Drawn(Box<Drawn>, Option<(Arrivals, Nanos)>),
    Timed(std::vec::IntoIter<Command>),
}

/// Requests drawn ahead, a batch at a time.
struct Drawn {
    generator: Generator,
    ring: [Request; DRAWN],
    next: usize,
}

impl Drawn {
    fn new(mut generator: Generator) -> Box<Self> {
        Box::new(Self {
            ring: std::array::from_fn(|_| generator.next_request()),
            generator,
            next: 0,
        })
    }

    #[inline(always)]
    fn take<T: Tables>(&mut self, tables: &T, page_shift: u32) -> Request {
        let at = self.next % DRAWN;
        let request = self.ring[at];
        self.next = at + 1;
        let drawn = &self.ring[(at + AHEAD) % DRAWN];
        tables.hint((drawn.offset_bytes >> page_shift) as u32);
        let nearer = &self.ring[(at + 1 + HALF) % DRAWN];
        if nearer.direction == Direction::Write {
            tables.hint_overwrite((nearer.offset_bytes >> page_shift) as u32);
        }
        if self.next.is_multiple_of(BATCH) {
            let passed = self.next - BATCH..self.next;
            self.generator.fill(&mut self.ring[passed]);
        }
        request
    }
}

/// A stream on its way.
pub(crate) struct Running {
    pub name: String,
    feed: Feed,
    /// Each completion submits the next, whatever others do.
    pub resubmits: bool,
    /// Bytes of the drive in which its commands must lie.
    start: u64,
    end: u64,
    pub queue_pair: u16,
    writes: WriteMode,
    content: Content,
    /// Generated requests are sent as they are, and nothing between them; they lie where
    /// this stream may go.
    is_plain: bool,
    /// Writes until the next flush, and then again; 0 for none.
    until_flush: u32,
    flush_interval: u32,
    pub priority: u8,
    pub submitted: u64,
    pub completed: u64,
    /// Of one that waits for others.
    pub share: Option<Share>,
}

impl Running {
    pub fn new(stream: Stream, capacity_bytes: u64) -> Self {
        let (start, length) = stream.range.unwrap_or((0, capacity_bytes));
        let resubmits = matches!(stream.source, Source::Closed { .. }) && stream.share.is_none();
        let share = match (&stream.source, stream.share) {
            (&Source::Closed { queue_depth, .. }, Some(share)) => {
                Some(Share { share, queue_depth })
            }
            _ => None,
        };
        let is_inside = match &stream.source {
            Source::Closed { generator, .. } | Source::Open { generator, .. } => {
                let (first, end) = generator.range();
                first >= start && end <= start + length
            }
            Source::Timed { .. } => false,
        };
        let feed = match stream.source {
            Source::Closed { generator, .. } => Feed::Drawn(Drawn::new(generator), None),
            Source::Open {
                generator,
                mut arrivals,
            } => {
                let first = arrivals.next_arrival();
                Feed::Drawn(Drawn::new(generator), Some((arrivals, first)))
            }
            Source::Timed { commands } => Feed::Timed(commands.into_iter()),
        };
        Self {
            name: stream.name,
            feed,
            resubmits,
            start,
            end: start + length,
            queue_pair: stream.queue_pair,
            writes: stream.writes,
            content: stream.content,
            is_plain: is_inside
                && stream.writes == WriteMode::Plain
                && stream.flush_interval == 0
                && stream.content == Content::Random,
            until_flush: stream.flush_interval,
            flush_interval: stream.flush_interval,
            priority: stream.priority,
            submitted: 0,
            completed: 0,
            share,
        }
    }

    /// The next request of a closed loop that is a request and nothing else, and
    /// [lies inside](Running::holds): the short way for what most streams are. `None` leaves
    /// everything to [`Running::take`].
    #[inline(always)]
    pub fn take_request<T: Tables>(&mut self, tables: &T, page_shift: u32) -> Option<Request> {
        match &mut self.feed {
            Feed::Drawn(drawn, None) if self.is_plain => Some(drawn.take(tables, page_shift)),
            _ => None,
        }
    }

    /// The next command.
    pub fn take<T: Tables>(&mut self, tables: &T, page_shift: u32) -> Option<Command> {
        let (drawn, arrivals) = match &mut self.feed {
            Feed::Drawn(drawn, arrivals) => (drawn, arrivals),
            Feed::Timed(commands) => {
                let mut command = commands.next()?;
                if self.content != Content::Random {
                    command.content = self.content;
                }
                return Some(command);
            }
        };
        let mut command = if self.flush_interval > 0 && self.until_flush == 0 {
            self.until_flush = self.flush_interval;
            Command::flush(Nanos::ZERO)
        } else {
            Command::from(drawn.take(tables, page_shift))
        };
        if command.kind == CommandKind::Write {
            command.content = self.content;
            self.until_flush = self.until_flush.saturating_sub(1);
            match self.writes {
                WriteMode::Plain => {}
                WriteMode::Forced => command.is_forced = true,
                WriteMode::Trim => command.kind = CommandKind::Trim,
            }
        }
        if let Some((arrivals, next)) = arrivals {
            command.arrival = *next;
            *next = arrivals.next_arrival();
        }
        Some(command)
    }

    /// When the next command of an open loop arrives.
    pub fn next_arrival(&self) -> Option<u64> {
        match &self.feed {
            Feed::Drawn(_, arrivals) => arrivals.as_ref().map(|(_, next)| next.0),
            Feed::Timed(commands) => commands.as_slice().first().map(|c| c.arrival.0),
        }
    }

    /// Whether `command` lies where this stream may go.
    #[inline(always)]
    pub fn holds(&self, command: &Command) -> bool {
        let size = u64::from(command.size_bytes);
        let end = command.offset_bytes.checked_add(size);
        let is_inside =
            command.offset_bytes >= self.start && end.is_some_and(|end| end <= self.end);
        (is_inside && size > 0) || command.kind == CommandKind::Flush
    }

    /// The bytes in which its commands must lie.
    pub fn range(&self) -> (u64, u64) {
        (self.start, self.end)
    }
}
