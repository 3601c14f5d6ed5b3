//! The streams of a run in progress, each as the loops that send its requests.
//!
//! ```text
//!   Stream ─┬─> loop: generator, depth       each completion submits the next
//!           └─> loop: generator, depth       one for each thread of a stimulus in order
//!   Stream ───> loop: generator, arrivals    at drawn times, for ever
//!   Stream ───> loop: commands               at their own times
//!   Stream ───> loop: commands read          at their own times, so many at once ([`super::paced`])
//!   Stream ───> loop: windows                at drawn times, window by window
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use drivelab_ftl::{Firmware, Lpn};
use drivelab_request::{
    Command, CommandKind, Content, Direction, Histogram, Nanos, PlacementId, Request,
};
use drivelab_workload::{
    Arrivals, Generator, Key, Loop, Requests, Source, Stream, WindowedRequests, WriteMode, Zoned,
    ZonedRequests,
};

use super::asked::{check, check_depth, check_end, seen_by};
use super::paced::PacedFeed;
use super::shares::Share;

pub(crate) use super::asked::Host;
use super::{Device, SimError};

/// Requests drawn at once.
const BATCH: usize = 64;

/// Room for drawn requests: two batches.
const DRAWN: usize = 2 * BATCH;

/// How many requests ahead a map entry is prefetched.
pub(super) const AHEAD: usize = BATCH;

/// How many requests ahead the map entry of an overwrite is prefetched, before the data it points
/// to is. Half the distance gives the first prefetch the time it needs.
pub(super) const HALF: usize = AHEAD / 2;

/// The most loops of a run. A stream is one loop; a stimulus in order has one for each thread.
pub const MOST_STREAMS: usize = 64;

/// The loops of `streams` on a drive. `seed` and the `index` of the measurement are the key of the
/// random numbers. Loops act in this order when several act at the same time.
///
/// # Errors
/// [`SimError`] if the drive cannot serve one of the streams, or this many.
pub(crate) fn loops_of(
    streams: &[Stream],
    host: &Host,
    seed: u64,
    index: u64,
) -> Result<Vec<Running>, SimError> {
    let mut loops = Vec::new();
    let mut key = Key::first(seed, index);
    for stream in streams {
        let refused = |reason: String| SimError::Stream {
            name: stream.name.clone(),
            reason,
        };
        let (host, base) = &seen_by(stream, host).map_err(refused)?;
        check_end(stream, host.capacity_bytes).map_err(refused)?;
        check(stream, host).map_err(refused)?;
        if matches!(&stream.source, Source::Timed(commands) if !commands.is_sorted_by_key(|c| c.arrival))
        {
            return Err(SimError::Unordered);
        }
        let running = running(stream, key, host).map_err(refused)?;
        loops.extend(running.into_iter().map(|each| each.behind(*base)));
        key.place += 1;
        key.threads = key.threads.saturating_add(stream.threads());
    }
    let count = loops.len();
    if count == 0 || count > MOST_STREAMS {
        return Err(SimError::Streams { count });
    }
    Ok(loops)
}

/// The loops of one stream that passed [`check`].
fn running(stream: &Stream, key: Key, host: &Host) -> Result<Vec<Running>, String> {
    let capacity_bytes = host.capacity_bytes;
    let owner = key.place as u16;
    let drawn = |requests: &Requests| {
        let range = stream.range.unwrap_or((0, capacity_bytes));
        requests
            .loops(range, key)
            .map_err(|error| error.to_string())
    };
    let one = |feed, place| Running::new(stream, (owner, place), feed, capacity_bytes);
    let range = stream.range.unwrap_or((0, capacity_bytes));
    let zoned = |pattern: &Zoned| {
        let key = (key.seed, key.of_stream());
        ZonedRequests::new(pattern, range, host.zones.as_ref(), key).map(Box::new)
    };
    match &stream.source {
        Source::Closed(Requests::Zoned(pattern)) => {
            let depth = pattern.requests.queue_depth;
            check_depth(pattern)?;
            Ok(vec![Running {
                resubmits: stream.share.is_none(),
                depth: Some(depth),
                share: stream.share.map(|share| Share {
                    share,
                    burst: stream.burst.max(1).into(),
                    queue_depth: depth,
                }),
                ..one(Feed::Zoned(zoned(pattern)?, None), 0)
            }])
        }
        Source::Open {
            requests: Requests::Zoned(pattern),
            rate_iops,
            is_poisson,
        } => {
            let arrivals = Arrivals::of_loop(*rate_iops, *is_poisson, key, 0);
            let mut arrivals =
                arrivals.ok_or_else(|| format!("{rate_iops} requests a second are no rate"))?;
            let first = arrivals.next_arrival();
            Ok(vec![one(
                Feed::Zoned(zoned(pattern)?, Some((arrivals, first))),
                0,
            )])
        }
        Source::Closed(requests) => {
            let loops = drawn(requests)?;
            let share = stream.share.map(|share| share / loops.len() as f64);
            let closed = |(place, each): (usize, Loop)| {
                let depth = each.queue_depth;
                Running {
                    resubmits: share.is_none(),
                    depth: Some(depth),
                    share: share.map(|share| Share {
                        share,
                        burst: stream.burst.max(1).into(),
                        queue_depth: depth,
                    }),
                    ..one(Feed::Drawn(Drawn::new(each.generator), None), place)
                }
            };
            Ok(loops.into_iter().enumerate().map(closed).collect())
        }
        Source::Open {
            requests,
            rate_iops,
            is_poisson,
        } => {
            let loops = drawn(requests)?;
            let rate = rate_iops / loops.len() as f64;
            let open = |(place, each): (usize, Loop)| {
                let arrivals = Arrivals::of_loop(rate, *is_poisson, key, place);
                let mut arrivals =
                    arrivals.ok_or_else(|| format!("{rate_iops} requests a second are no rate"))?;
                let first = arrivals.next_arrival();
                let drawn = Drawn::new(each.generator);
                Ok(one(Feed::Drawn(drawn, Some((arrivals, first))), place))
            };
            loops.into_iter().enumerate().map(open).collect()
        }
        Source::Timed(commands) => Ok(vec![one(Feed::Timed(Arc::clone(commands), 0), 0)]),
        Source::Paced(source) => {
            let range = stream.range.unwrap_or((0, capacity_bytes));
            let feed = PacedFeed::open(&*source.0, range)?;
            Ok(vec![one(Feed::Paced(Box::new(feed)), 0)])
        }
        Source::Windows(windows) => {
            let range = stream.range.unwrap_or((0, capacity_bytes));
            let drawn = WindowedRequests::new(windows, range, (key.seed, key.of_stream()));
            let mut drawn = drawn.map_err(|error| error.to_string())?;
            let first = drawn.next_command();
            Ok(vec![one(Feed::Windowed(Box::new((drawn, first))), 0)])
        }
    }
}

/// Tables of a drive to prefetch for requests that were drawn ahead, by logical page.
pub(crate) trait Tables {
    /// `page` will be requested.
    fn hint(&self, page: u32);
    /// `page`, which may hold data, will be written soon.
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

/// The tables of a device, which takes sectors instead of pages.
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

/// The commands of a stream, in order. The drive's tables are prefetched for them.
enum Feed {
    /// Generated requests; with arrivals, also the next arrival.
    Drawn(Box<Drawn>, Option<(Arrivals, Nanos)>),
    /// A list, and the index of the next command.
    Timed(Arc<[Command]>, usize),
    /// Commands read from elsewhere.
    Paced(Box<PacedFeed>),
    /// Drawn window by window, and the next command.
    Windowed(Box<(WindowedRequests, Command)>),
    /// Zone by zone; with arrivals, also the next arrival.
    Zoned(Box<ZonedRequests>, Option<(Arrivals, Nanos)>),
}

/// Requests drawn ahead, a batch at a time.
pub(crate) struct Drawn {
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

    /// The next request.
    #[inline(always)]
    pub fn take<T: Tables>(&mut self, tables: &T, page_shift: u32) -> Request {
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

/// A loop in progress.
pub(crate) struct Running {
    /// The name of its stream.
    pub stream: String,
    /// The index of its stream in the run.
    pub owner: u16,
    /// Its thread within the stream, if the stream has threads.
    thread: Option<usize>,
    feed: Feed,
    /// Each completion submits the next command, independent of other loops.
    pub resubmits: bool,
    /// For a closed loop: the number of commands that may be outstanding.
    depth: Option<u32>,
    /// The byte range of the drive in which its commands must lie.
    start: u64,
    end: u64,
    /// Bytes of the drive before its namespace, which its requests do not count.
    base: u64,
    pub queue_pair: u16,
    writes: WriteMode,
    content: Content,
    /// Generated requests are sent unchanged with nothing between them, and all lie inside the
    /// stream's range.
    is_plain: bool,
    /// Writes left until the next flush, and the writes from one flush to the next; 0 means no
    /// flushes.
    until_flush: u32,
    writes_per_flush: u32,
    /// Ranges of each trim, the first with it ...
    pub ranges_per_trim: u32,
    /// ... and the others of those that the drive has not carried out, in order.
    ranges: VecDeque<Box<[(u64, u32)]>>,
    pub priority: u8,
    /// Where its data should be placed.
    pub placement: PlacementId,
    pub submitted: u64,
    pub completed: u64,
    /// For a loop that waits for others: its share.
    pub share: Option<Share>,
    /// For commands read from elsewhere: the loop is held because as many commands are outstanding
    /// as the next one allows.
    is_held: bool,
    /// It was held until just now.
    is_released: bool,
}

impl Running {
    /// A loop of a stream: the index of the stream in the run, and of the loop in it.
    fn new(stream: &Stream, (owner, place): (u16, usize), feed: Feed, capacity_bytes: u64) -> Self {
        let (start, length) = stream.range.unwrap_or((0, capacity_bytes));
        let is_inside = match &feed {
            Feed::Drawn(drawn, _) => {
                let (first, end) = drawn.generator.range();
                first >= start && end <= start + length
            }
            _ => false,
        };
        Self {
            stream: stream.name.clone(),
            owner,
            thread: (stream.threads() > 0).then_some(place),
            feed,
            resubmits: false,
            depth: None,
            start,
            end: start + length,
            base: 0,
            queue_pair: stream.queue_pair,
            writes: stream.writes,
            content: stream.content,
            is_plain: is_inside
                && stream.writes == WriteMode::Plain
                && stream.writes_per_flush == 0
                && stream.content == Content::Random,
            until_flush: stream.writes_per_flush,
            writes_per_flush: stream.writes_per_flush,
            ranges_per_trim: stream.ranges_per_trim.max(1),
            ranges: VecDeque::new(),
            priority: stream.priority,
            placement: stream.placement,
            submitted: 0,
            completed: 0,
            share: None,
            is_held: false,
            is_released: false,
        }
    }

    /// The same in a namespace that begins so far behind the drive's first byte.
    fn behind(mut self, base: u64) -> Self {
        self.start += base;
        self.end += base;
        self.base = base;
        self.is_plain &= base == 0;
        self
    }

    /// A loop without commands of its own, for commands that somebody else submits.
    pub fn outside(owner: u16, priority: u8) -> Self {
        let none = Stream {
            priority,
            ..Stream::timed::<Command>("owner", [])
        };
        let feed = Feed::Timed(Arc::from([]), 0);
        Self::new(&none, (owner, 0), feed, u64::MAX)
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match self.thread {
            None => self.stream.clone(),
            Some(thread) => format!("{}, thread {thread}", self.stream),
        }
    }

    /// How many commands it submits at the beginning. [`super::shares`] submits those of loops with
    /// a share.
    pub fn at_once(&self) -> u32 {
        self.depth.filter(|_| self.resubmits).unwrap_or(0)
    }

    /// Whether it is a closed loop that sends nothing but reads of whole pages, one each.
    pub fn only_reads(&self, page_bytes: u32) -> bool {
        match &self.feed {
            Feed::Drawn(drawn, None) if self.is_plain && self.resubmits => {
                drawn.generator.only_reads(page_bytes)
            }
            _ => false,
        }
    }

    /// Whether it is a closed loop that sends nothing but requests, unchanged and inside the range.
    pub fn only_sends_requests(&self) -> bool {
        matches!(self.feed, Feed::Drawn(_, None)) && self.is_plain && self.resubmits
    }

    /// Gives the requests of [such a loop](Running::only_sends_requests) to somebody else, until they
    /// are [taken back](Running::take_back).
    pub fn lend(&mut self) -> Option<Box<Drawn>> {
        match std::mem::replace(&mut self.feed, Feed::Timed(Arc::from([]), 0)) {
            Feed::Drawn(drawn, None) => Some(drawn),
            feed => {
                self.feed = feed;
                None
            }
        }
    }

    /// See [`Running::lend`].
    pub fn take_back(&mut self, drawn: Box<Drawn>) {
        self.feed = Feed::Drawn(drawn, None);
    }

    /// The next request of a closed loop, if it is only a request and [lies inside](Running::holds)
    /// the range: a short path for most streams. `None` leaves everything to [`Running::take`].
    #[inline(always)]
    pub fn take_request<T: Tables>(&mut self, tables: &T, page_shift: u32) -> Option<Request> {
        match &mut self.feed {
            Feed::Drawn(drawn, None) if self.is_plain => Some(drawn.take(tables, page_shift)),
            _ => None,
        }
    }

    /// The next command.
    pub fn take<T: Tables>(&mut self, tables: &T, page_shift: u32) -> Option<Command> {
        let mut command = self.take_own(tables, page_shift)?;
        if command.kind != CommandKind::Flush {
            command.offset_bytes += self.base;
        }
        Some(command)
    }

    /// The same, as it counts addresses itself.
    fn take_own<T: Tables>(&mut self, tables: &T, page_shift: u32) -> Option<Command> {
        let must_flush = self.writes_per_flush > 0 && self.until_flush == 0;
        let (mut command, arrivals) = match &mut self.feed {
            Feed::Drawn(_, arrivals) | Feed::Zoned(_, arrivals) if must_flush => {
                self.until_flush = self.writes_per_flush;
                (Command::flush(Nanos::ZERO), arrivals)
            }
            Feed::Drawn(drawn, arrivals) => {
                (Command::from(drawn.take(tables, page_shift)), arrivals)
            }
            Feed::Zoned(zoned, arrivals) => (zoned.next_command(), arrivals),
            Feed::Timed(commands, next) => {
                let mut command = *commands.get(*next)?;
                *next += 1;
                if self.content != Content::Random {
                    command.content = self.content;
                }
                return Some(command);
            }
            Feed::Paced(feed) => {
                let mut command = feed.take(tables, page_shift)?;
                command.content = self.content;
                let outstanding = self.submitted + 1 - self.completed;
                self.is_held = feed.holds_back(outstanding);
                return Some(command);
            }
            Feed::Windowed(feed) => {
                let mut command = feed.1;
                feed.1 = feed.0.next_command();
                command.content = self.content;
                return Some(command);
            }
        };
        if command.kind == CommandKind::Write {
            command.content = self.content;
            self.until_flush = self.until_flush.saturating_sub(1);
            match self.writes {
                WriteMode::Plain => {}
                WriteMode::Forced => command.is_forced = true,
                WriteMode::Trim => command.kind = CommandKind::Trim,
                WriteMode::Zeroes => command.kind = CommandKind::WriteZeroes,
            }
        }
        if let Some((arrivals, next)) = arrivals {
            command.arrival = *next;
            *next = arrivals.next_arrival();
        }
        if self.ranges_per_trim > 1 && command.kind == CommandKind::Trim {
            self.draw_ranges(tables, page_shift);
        }
        Some(command)
    }

    /// The ranges of a trim after its first.
    #[cold]
    fn draw_ranges<T: Tables>(&mut self, tables: &T, page_shift: u32) {
        let Feed::Drawn(drawn, _) = &mut self.feed else {
            return;
        };
        let base = self.base;
        let ranges = (1..self.ranges_per_trim).map(|_| {
            let request = drawn.take(tables, page_shift);
            (base + request.offset_bytes, request.size_bytes)
        });
        self.ranges.push_back(ranges.collect());
    }

    /// Takes the other ranges of the trim that is carried out: those of a stream come in order.
    pub fn next_ranges(&mut self) -> Option<Box<[(u64, u32)]>> {
        self.ranges.pop_front()
    }

    /// When the next command of an open loop arrives; `None` while the loop is held.
    pub fn next_arrival(&self) -> Option<u64> {
        match &self.feed {
            Feed::Drawn(_, arrivals) | Feed::Zoned(_, arrivals) => {
                arrivals.as_ref().map(|(_, next)| next.0)
            }
            Feed::Timed(commands, next) => commands.get(*next).map(|c| c.arrival.0),
            Feed::Paced(_) if self.is_held => None,
            Feed::Paced(feed) => feed.next_arrival(),
            Feed::Windowed(feed) => Some(feed.1.arrival.0),
        }
    }

    /// Whether it may be held, so that a completion releases it.
    pub const fn may_be_held(&self) -> bool {
        matches!(self.feed, Feed::Paced(_))
    }

    /// Whether the next command was held until a command completed just now.
    pub fn is_let_go(&mut self) -> bool {
        if let Feed::Paced(feed) = &self.feed
            && self.is_held
            && !feed.holds_back(self.submitted - self.completed)
        {
            (self.is_held, self.is_released) = (false, true);
            return true;
        }
        false
    }

    /// Whether its next command was held and should have been sent by `now`, in the host's time.
    pub fn is_overdue(&self, now: u64) -> bool {
        self.is_released && self.next_arrival().is_some_and(|at| at <= now)
    }

    /// Everything overdue has been sent.
    pub const fn has_caught_up(&mut self) {
        self.is_released = false;
    }

    /// If its commands have times and may be late: how late they were sent.
    #[inline(always)]
    pub fn lateness(&mut self) -> Option<&mut Histogram> {
        match &mut self.feed {
            Feed::Paced(feed) => feed.lateness.as_mut(),
            _ => None,
        }
    }

    /// The reason why reading its commands failed, if it did.
    pub fn failure(&self) -> Option<&str> {
        match &self.feed {
            Feed::Paced(feed) => feed.failure.as_deref(),
            _ => None,
        }
    }

    /// Whether `command` lies inside the stream's range.
    #[inline(always)]
    pub fn holds(&self, command: &Command) -> bool {
        let size = u64::from(command.size_bytes);
        let end = command.offset_bytes.checked_add(size);
        let is_inside =
            command.offset_bytes >= self.start && end.is_some_and(|end| end <= self.end);
        (is_inside && size > 0) || command.kind == CommandKind::Flush
    }

    /// The byte range in which its commands must lie.
    pub fn range(&self) -> (u64, u64) {
        (self.start, self.end)
    }
}
