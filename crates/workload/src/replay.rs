//! One stream in pieces: written for fio, read back, and held against each other.

use drivelab_request::{CompletionWindow, Direction, Request};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::iolog::{IologNameError, iolog};
use crate::latency_log::Completion;
use crate::{Characteristics, CharacteristicsError, Generator, WholePass};

/// Completions that are not those of the stream.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// Nothing of the stream was in flight that this could be.
    #[error(
        "completion {number} is a {name} of {size_bytes} bytes at {offset_bytes}, which the stream \
         does not hold there", name = .direction.name()
    )]
    Foreign {
        /// Its number, from 1.
        number: usize,
        /// Read or write.
        direction: Direction,
        /// First byte.
        offset_bytes: u64,
        /// Length.
        size_bytes: u32,
    },
    /// A request was sent, because later ones completed, and never completed.
    #[error("the {name} at {offset_bytes} was sent and never completed", name = .direction.name())]
    Lost {
        /// Read or write.
        direction: Direction,
        /// First byte.
        offset_bytes: u64,
    },
}

/// A request stream with a cursor: what lies before it has completed.
#[derive(Clone, Debug)]
pub struct RequestStream {
    generator: Generator,
    queue_depth: usize,
    position: u64,
}

impl RequestStream {
    /// The stream of [`Generator::new`], from its first request on.
    ///
    /// # Errors
    ///
    /// See [`Generator::new`].
    pub fn new(
        characteristics: &Characteristics,
        range_start_bytes: u64,
        range_bytes: u64,
        seed: u64,
        index: u64,
    ) -> Result<Self, CharacteristicsError> {
        Ok(Self {
            generator: Generator::new(
                characteristics,
                range_start_bytes,
                range_bytes,
                seed,
                index,
            )?,
            queue_depth: characteristics.queue_depth as usize,
            position: 0,
        })
    }

    /// The stream of [`Generator::of_pass`], one request at a time.
    ///
    /// # Errors
    ///
    /// See [`Generator::of_pass`].
    pub fn of_pass(pass: &WholePass, seed: u64, index: u64) -> Result<Self, CharacteristicsError> {
        Ok(Self {
            generator: Generator::of_pass(pass, seed, index)?,
            queue_depth: 1,
            position: 0,
        })
    }

    /// Requests before the cursor.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// The next `count` requests as an iolog; the cursor stays.
    ///
    /// # Errors
    ///
    /// [`IologNameError`] when fio would read another name than `file_name`.
    pub fn iolog(&self, file_name: &str, count: usize) -> Result<Vec<u8>, IologNameError> {
        iolog(file_name, self.generator.clone().take(count))
    }

    /// Moves the cursor past requests that have completed, in this order.
    ///
    /// Replays the closed loop: a completion must be among the requests in
    /// flight, and the next request is sent only while fewer than the queue
    /// depth are. At queue depth 1 that is the very order of the stream.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] when these are not the next requests of the stream, every
    /// one of them and no other; the cursor then stays.
    pub fn complete(&mut self, completions: &[Completion]) -> Result<(), ReplayError> {
        let mut generator = self.generator.clone();
        let requests = std::iter::from_fn(|| Some(generator.next_request()));
        check_closed(requests, self.queue_depth, completions)?;
        self.generator = generator;
        self.position += completions.len() as u64;
        Ok(())
    }
}

/// Holds completions, in their order, against the requests of a closed loop.
///
/// # Errors
///
/// [`ReplayError`] when these are not the first of `requests`, every one of them and no other, in
/// an order that so deep a queue allows.
pub(crate) fn check_closed(
    mut requests: impl Iterator<Item = Request>,
    queue_depth: usize,
    completions: &[Completion],
) -> Result<(), ReplayError> {
    let mut in_flight: FxHashMap<(Direction, u64, u32), usize> = FxHashMap::default();
    let mut depth = 0;
    for (index, done) in completions.iter().enumerate() {
        let key = (done.direction, done.offset_bytes, done.size_bytes);
        while depth < queue_depth && !in_flight.contains_key(&key) {
            let Some(request) = requests.next() else {
                break;
            };
            *in_flight.entry(key_of(request)).or_default() += 1;
            depth += 1;
        }
        match in_flight.get_mut(&key) {
            Some(1) => drop(in_flight.remove(&key)),
            Some(count) => *count -= 1,
            None => return Err(foreign(index, done)),
        }
        depth -= 1;
    }
    // The smallest, so that the message does not depend on the map's order.
    if let Some(&(direction, offset_bytes, _)) = in_flight.keys().min() {
        return Err(ReplayError::Lost {
            direction,
            offset_bytes,
        });
    }
    Ok(())
}

/// The completion at `index`, which the stream does not hold there.
pub(crate) const fn foreign(index: usize, done: &Completion) -> ReplayError {
    ReplayError::Foreign {
        number: index + 1,
        direction: done.direction,
        offset_bytes: done.offset_bytes,
        size_bytes: done.size_bytes,
    }
}

/// Where a job's queue was not full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueEnds {
    /// Completions while it filled: those of the requests that were sent at once.
    pub filling: usize,
    /// Completions after the last request was sent.
    pub draining: usize,
    /// When sending stopped, ns from the job's start, if that was a matter of time.
    pub stopped_ns: Option<u64>,
}

/// Tells `window` of a job's completions; the job started when the window's time was now.
///
/// Nothing counts while the queue fills or drains, and the window is left in that pause.
pub fn count(window: &mut CompletionWindow, completions: &[Completion], ends: QueueEnds) {
    let start = window.now().0;
    let (full, drained) = completions.split_at(completions.len().saturating_sub(ends.draining));
    let tell = |window: &mut CompletionWindow, done: &Completion| {
        let at = start + done.at_ns;
        window.complete(at, done.latency_ns, done.direction, done.size_bytes);
    };
    if ends.filling > 0 {
        window.pause();
    }
    for (index, done) in full.iter().enumerate() {
        if index == ends.filling {
            window.resume();
        }
        tell(window, done);
    }
    if let Some(stopped_ns) = ends.stopped_ns {
        window.advance(start + stopped_ns);
    }
    window.pause();
    for done in drained {
        tell(window, done);
    }
}

const fn key_of(request: Request) -> (Direction, u64, u32) {
    (request.direction, request.offset_bytes, request.size_bytes)
}
