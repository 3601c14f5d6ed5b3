//! One stream in pieces for fio: written, read back and compared.

use drivelab_request::{CompletionWindow, Direction, Request};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::iolog::{IologNameError, iolog};
use crate::latency_log::Completion;
use crate::{Characteristics, CharacteristicsError, Generator, WholePass};

/// Completions that differ from the stream.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// The completion matches no request in flight.
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
    /// A request was sent, because later ones completed, but never completed itself.
    #[error("the {name} at {offset_bytes} was sent and never completed", name = .direction.name())]
    Lost {
        /// Read or write.
        direction: Direction,
        /// First byte.
        offset_bytes: u64,
    },
}

/// A request stream with a cursor. Everything before the cursor has completed.
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

    /// The next `count` requests as an iolog. The cursor does not move.
    ///
    /// # Errors
    ///
    /// [`IologNameError`] if fio would read a different name than `file_name`.
    pub fn iolog(&self, file_name: &str, count: usize) -> Result<Vec<u8>, IologNameError> {
        iolog(file_name, self.generator.clone().take(count))
    }

    /// Moves the cursor past requests that have completed, in this order.
    ///
    /// Replays the closed loop: a completion must be among the requests in flight, and the next
    /// request is sent only while fewer than the queue depth are in flight. At queue depth 1 this
    /// is exactly the order of the stream.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] unless these are exactly the next requests of the stream; the cursor then
    /// does not move.
    pub fn complete(&mut self, completions: &[Completion]) -> Result<(), ReplayError> {
        let mut generator = self.generator.clone();
        let requests = std::iter::from_fn(|| Some(generator.next_request()));
        check_closed(requests, self.queue_depth, completions)?;
        self.generator = generator;
        self.position += completions.len() as u64;
        Ok(())
    }
}

/// Compares completions, in their order, with the requests of a closed loop.
///
/// # Errors
///
/// [`ReplayError`] unless these are exactly the first of `requests`, in an order that this queue
/// depth allows.
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
    // The smallest, so that the message does not depend on the order of the map.
    if let Some(&(direction, offset_bytes, _)) = in_flight.keys().min() {
        return Err(ReplayError::Lost {
            direction,
            offset_bytes,
        });
    }
    Ok(())
}

/// The error for the completion at `index`, which the stream does not have there.
pub(crate) const fn foreign(index: usize, done: &Completion) -> ReplayError {
    ReplayError::Foreign {
        number: index + 1,
        direction: done.direction,
        offset_bytes: done.offset_bytes,
        size_bytes: done.size_bytes,
    }
}

/// The parts of a job in which its queue was not full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueEnds {
    /// Completions while the queue filled: those of the requests sent at once.
    pub filling: usize,
    /// Completions after the last request was sent.
    pub draining: usize,
    /// If a time limit ended sending: when, in ns from the job's start.
    pub stopped_ns: Option<u64>,
}

/// Reports a job's completions to `window`. The job started at the window's current time.
///
/// Nothing counts while the queue fills or drains, and the window is left paused.
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
