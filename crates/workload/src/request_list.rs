//! The commands of several streams as one list, for consumers that take requests without times.
//!
//! ```text
//!   closed, with shares   the one that is furthest behind is next, by whole bursts
//!   with times            the one whose next command arrives first is next
//!   one stream alone      its commands, in order
//! ```
//!
//! If the drive decides which of several streams comes next (closed loops without shares), such a
//! list does not exist and none is made. A list holds only commands with an offset; flushes are
//! left out and counted.

use std::sync::Arc;

use drivelab_request::{Command, CommandKind};

use crate::paced::{Paced, PacedReader};
use crate::{
    Arrivals, CharacteristicsError, Generator, Key, Requests, Source, Stream, WindowedRequests,
    WindowsError, WriteMode,
};

use thiserror::Error;

/// Reasons why streams cannot form a list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequestListError {
    /// No streams.
    #[error("there are no streams; give one at least")]
    None,
    /// A stream that cannot be drawn, or not on this drive.
    #[error("stream {name:?}: {reason}")]
    Stream {
        /// Its name.
        name: String,
        /// The reason, and what to do.
        reason: String,
    },
}

/// Commands of streams in the order in which they are sent.
pub struct RequestList {
    heads: Vec<Head>,
    order: Order,
    capacity_bytes: u64,
    left_out: u64,
}

/// The rule that decides which of several streams is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Shares,
    Times,
}

/// A stream in progress.
struct Head {
    name: String,
    feed: Feed,
    writes: WriteMode,
    /// The byte range in which its commands must lie: the first byte and one past the last.
    range: (u64, u64),
    share: f64,
    burst: u64,
    sent: u64,
    /// For a stream with times: the next command; `None` at its end.
    waiting: Option<Command>,
}

enum Feed {
    Drawn(Box<Generator>, Option<Arrivals>),
    Timed(Arc<[Command]>, usize),
    Paced(Box<dyn PacedReader>, Vec<Paced>, usize),
    Windowed(Box<WindowedRequests>),
}

impl RequestList {
    /// The commands of `streams` on a drive of `capacity_bytes`. `seed` is their key.
    ///
    /// # Errors
    /// [`RequestListError`] names the stream, the reason and what to do. Either its place in the
    /// order is unknown, or it does not lie on the drive.
    pub fn new(
        streams: &[Stream],
        capacity_bytes: u64,
        seed: u64,
    ) -> Result<Self, RequestListError> {
        let order = order_of(streams)?;
        let mut heads = Vec::new();
        let mut key = Key::first(seed, 0);
        for stream in streams {
            let refused = |reason: String| RequestListError::Stream {
                name: stream.name.clone(),
                reason,
            };
            is_known(stream).map_err(refused)?;
            stream.lies_within(capacity_bytes).map_err(refused)?;
            heads.extend(heads_of(stream, key, capacity_bytes).map_err(refused)?);
            key.place += 1;
            key.threads = key.threads.saturating_add(stream.threads());
        }
        let mut list = Self {
            heads,
            order,
            capacity_bytes,
            left_out: 0,
        };
        if order == Order::Times {
            for head in &mut list.heads {
                head.waiting = head.draw()?;
            }
        }
        Ok(list)
    }

    /// The number of flushes left out so far.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The next command with an offset; `None` when every stream is at its end.
    ///
    /// # Errors
    /// [`RequestListError`] if reading a stream fails, or a stream leaves its range.
    pub fn next_command(&mut self) -> Result<Option<Command>, RequestListError> {
        loop {
            let Some(command) = self.any_command()? else {
                return Ok(None);
            };
            if command.kind != CommandKind::Flush {
                return Ok(Some(command));
            }
            self.left_out += 1;
        }
    }

    fn any_command(&mut self) -> Result<Option<Command>, RequestListError> {
        let next = match self.order {
            Order::Shares => self.least_far(),
            Order::Times => self.first_to_arrive(),
        };
        let Some(head) = next.and_then(|place| self.heads.get_mut(place)) else {
            return Ok(None);
        };
        let command = match self.order {
            Order::Shares => head.draw()?,
            Order::Times => {
                let drawn = head.draw()?;
                std::mem::replace(&mut head.waiting, drawn)
            }
        };
        head.sent += 1;
        if let Some(command) = &command {
            head.check(command, self.capacity_bytes)?;
        }
        Ok(command)
    }

    /// The stream that is furthest behind; on a tie, the first.
    fn least_far(&self) -> Option<usize> {
        let mut least: Option<(usize, f64)> = None;
        for (place, head) in self.heads.iter().enumerate() {
            let reached = (head.sent / head.burst * head.burst) as f64 / head.share;
            if least.is_none_or(|(_, so_far)| reached < so_far) {
                least = Some((place, reached));
            }
        }
        least.map(|(place, _)| place)
    }

    fn first_to_arrive(&self) -> Option<usize> {
        let arrivals = self.heads.iter().enumerate();
        let waiting = arrivals.filter_map(|(place, head)| Some((head.waiting?.arrival, place)));
        waiting.min().map(|(_, place)| place)
    }
}

/// The rule that decides what comes next.
fn order_of(streams: &[Stream]) -> Result<Order, RequestListError> {
    let is_closed = |stream: &&Stream| matches!(stream.source, Source::Closed(_));
    let Some(first) = streams.iter().find(is_closed) else {
        return match streams {
            [] => Err(RequestListError::None),
            _ => Ok(Order::Times),
        };
    };
    let refuse = |stream: &Stream, reason: &str| {
        Err(RequestListError::Stream {
            name: stream.name.clone(),
            reason: reason.to_owned(),
        })
    };
    let has_one_stream = streams.len() == 1;
    if let Some(timed) = streams.iter().find(|stream| !is_closed(stream)) {
        let reason = format!(
            "its requests have times, and those of {:?} follow completions: which comes first is \
             known on a drive alone; let both have times, or neither",
            first.name
        );
        return refuse(timed, &reason);
    }
    match streams.iter().find(|stream| stream.share.is_none()) {
        Some(stream) if !has_one_stream => refuse(
            stream,
            "how many of its requests are sent among the others' is known on a drive alone; give \
             every stream a share",
        ),
        _ => Ok(Order::Shares),
    }
}

/// The loops of a stream that lies on the drive.
fn heads_of(stream: &Stream, key: Key, capacity_bytes: u64) -> Result<Vec<Head>, String> {
    let range = stream.range.unwrap_or((0, capacity_bytes));
    let drawn = |requests: &Requests| {
        let loops = requests.loops(range, key);
        loops.map_err(|error: CharacteristicsError| error.to_string())
    };
    let head = |feed, parts: usize| Head {
        name: stream.name.clone(),
        feed,
        writes: stream.writes,
        range: (range.0, range.0.saturating_add(range.1)),
        share: stream.share.unwrap_or(1.0) / parts as f64,
        burst: stream.burst.max(1).into(),
        sent: 0,
        waiting: None,
    };
    match &stream.source {
        Source::Closed(requests) => {
            let loops = drawn(requests)?;
            let parts = loops.len();
            let closed = |generator| head(Feed::Drawn(Box::new(generator), None), parts);
            Ok(loops
                .into_iter()
                .map(|each| closed(each.generator))
                .collect())
        }
        Source::Open {
            requests,
            rate_iops,
            is_poisson,
        } => {
            let loops = drawn(requests)?;
            let rate = rate_iops / loops.len() as f64;
            let open = |(place, generator): (usize, Generator)| {
                let arrivals = Arrivals::of_loop(rate, *is_poisson, key, place);
                let arrivals =
                    arrivals.ok_or_else(|| format!("{rate_iops} requests a second are no rate"))?;
                Ok(head(Feed::Drawn(Box::new(generator), Some(arrivals)), 1))
            };
            let generators = loops.into_iter().map(|each| each.generator);
            generators.enumerate().map(open).collect()
        }
        Source::Timed(commands) => Ok(vec![head(Feed::Timed(Arc::clone(commands), 0), 1)]),
        Source::Paced(source) => {
            let reader = source.0.open(range)?;
            Ok(vec![head(Feed::Paced(reader, Vec::new(), 0), 1)])
        }
        Source::Windows(windows) => {
            let drawn = WindowedRequests::new(windows, range, (key.seed, key.of_stream()));
            let drawn = drawn.map_err(|error: WindowsError| error.to_string())?;
            Ok(vec![head(Feed::Windowed(Box::new(drawn)), 1)])
        }
    }
}

impl Head {
    /// Its next command, in the form in which it is sent.
    fn draw(&mut self) -> Result<Option<Command>, RequestListError> {
        let mut command = match &mut self.feed {
            Feed::Drawn(generator, arrivals) => {
                let mut command = Command::from(generator.next_request());
                if let Some(arrivals) = arrivals {
                    command.arrival = arrivals.next_arrival();
                }
                command
            }
            Feed::Timed(commands, next) => {
                let listed = commands.get(*next).copied();
                *next += 1;
                return Ok(listed);
            }
            Feed::Paced(reader, batch, next) => {
                if *next == batch.len() {
                    let unread = reader.next_batch(batch);
                    unread.map_err(|reason| refused(&self.name, reason))?;
                    *next = 0;
                }
                let read = batch.get(*next).map(|paced| paced.command);
                *next += 1;
                return Ok(read);
            }
            Feed::Windowed(drawn) => drawn.next_command(),
        };
        if command.kind == CommandKind::Write {
            match self.writes {
                WriteMode::Plain => {}
                WriteMode::Forced => command.is_forced = true,
                WriteMode::Trim => command.kind = CommandKind::Trim,
                WriteMode::Zeroes => command.kind = CommandKind::WriteZeroes,
            }
        }
        Ok(Some(command))
    }

    /// Checks that a command lies in this stream's range and on the drive.
    fn check(&self, command: &Command, capacity_bytes: u64) -> Result<(), RequestListError> {
        if command.kind == CommandKind::WriteZeroes {
            let reason = "it writes zeroes without data, which this firmware does not know: let \
                          it write or trim";
            return Err(refused(&self.name, reason.to_owned()));
        }
        let (start, end) = (self.range.0, self.range.1.min(capacity_bytes));
        let last = command
            .offset_bytes
            .checked_add(u64::from(command.size_bytes));
        if command.kind == CommandKind::Flush
            || (command.offset_bytes >= start && last.is_some_and(|last| last <= end))
        {
            return Ok(());
        }
        let (bytes, offset) = (command.size_bytes, command.offset_bytes);
        Err(refused(
            &self.name,
            format!(
                "a request of {bytes} bytes at {offset} does not lie between bytes {start} and {end}"
            ),
        ))
    }
}

/// Refuses what a stream may ask of a simulated drive alone.
fn is_known(stream: &Stream) -> Result<(), String> {
    if let Some(name) = &stream.namespace {
        return Err(format!(
            "it is for namespace {name:?}, and the addresses here are those of a whole drive: \
             leave namespace out"
        ));
    }
    if stream.ranges_per_trim > 1 {
        let reason = "it sends trims of several ranges, and a request here has one: leave \
                      ranges_per_trim out";
        return Err(reason.to_owned());
    }
    Ok(())
}

fn refused(name: &str, reason: String) -> RequestListError {
    RequestListError::Stream {
        name: name.to_owned(),
        reason,
    }
}
