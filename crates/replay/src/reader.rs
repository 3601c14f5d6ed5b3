//! The second reading of a trace: its requests as commands, while they are sent.
//!
//! ```text
//!   thread:  records ─> sectors ─> placed ─> cut ─> paced ─┐ at most AHEAD batches
//!   run:                         next_batch <──────────────┘
//! ```
//!
//! Decompressing and reading take a good part of the time of a simulated request, so they have
//! their own thread. It does not affect what is sent or when.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};
use drivelab_trace::Record;
use drivelab_workload::{MAX_REQUEST_BYTES, Paced, PacedReader, PacedSource};

use crate::depth::RecordedDepth;
use crate::error::ReplayError;
use crate::fingerprint::Fingerprint;
use crate::fit::Placing;
use crate::origin::{Origin, Records};
use crate::pace::Pace;
use crate::survey::{Sent, Surveyed};

/// Batches read ahead: a few thousand requests each.
const AHEAD: usize = 4;
/// A batch ends after this many commands: large requests are cut into many.
const MOST_SENT: usize = 1 << 16;

/// A surveyed trace, ready to be sent.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Its source.
    pub origin: Origin,
    /// The result of the survey.
    pub surveyed: Arc<Surveyed>,
    /// When requests are sent.
    pub pace: Pace,
    /// Whether addresses wrap at the end of a drive, so that any drive will do.
    pub wraps: bool,
}

impl PacedSource for Replay {
    fn commands(&self) -> [u64; CommandKind::ALL.len()] {
        self.surveyed.facts.commands
    }

    fn bytes(&self) -> u64 {
        self.surveyed.facts.bytes
    }

    fn end_bytes(&self) -> Option<u64> {
        (!self.wraps).then(|| self.surveyed.layout.end_bytes())
    }

    fn is_timed(&self) -> bool {
        self.pace.is_timed()
    }

    fn open(&self, range: (u64, u64)) -> Result<Box<dyn PacedReader>, String> {
        let reading = Reading::open(self.clone()).map_err(|error| error.to_string())?;
        let largest = self.surveyed.facts.largest_bytes;
        // Check here that it fits, not in the thread.
        let fits = self.surveyed.layout.placed(range, largest);
        fits.map_err(|error| error.to_string())?;
        Ok(Box::new(Threaded::start(reading, range)))
    }
}

/// Converts requests to commands.
struct Reading {
    replay: Replay,
    records: Records,
    batch: Vec<Record>,
    /// Which of the batch comes next.
    next: usize,
    depth: Option<RecordedDepth>,
    fingerprint: Fingerprint,
    requests: u64,
}

impl Reading {
    fn open(replay: Replay) -> Result<Self, ReplayError> {
        Ok(Self {
            records: replay.origin.open()?,
            batch: Vec::new(),
            next: 0,
            depth: replay
                .pace
                .needs_recorded_depth()
                .then(RecordedDepth::default),
            fingerprint: Fingerprint::default(),
            requests: 0,
            replay,
        })
    }

    /// Replaces `sent` with the next commands; empty at the end.
    fn next_batch(
        &mut self,
        placing: &mut Placing<'_>,
        sent: &mut Vec<Paced>,
    ) -> Result<(), ReplayError> {
        sent.clear();
        while sent.is_empty() {
            let mut batch = std::mem::take(&mut self.batch);
            if self.next == batch.len() {
                self.records.next_batch(&mut batch)?;
                self.next = 0;
            }
            if batch.is_empty() {
                return self.check();
            }
            for record in batch.get(self.next..).unwrap_or_default() {
                if sent.len() >= MOST_SENT {
                    break;
                }
                self.send(record, placing, sent)?;
                self.next += 1;
            }
            self.batch = batch;
        }
        Ok(())
    }

    #[inline(always)]
    fn send(
        &mut self,
        record: &Record,
        placing: &mut Placing<'_>,
        sent: &mut Vec<Paced>,
    ) -> Result<(), ReplayError> {
        let Some(request) = Sent::of(record)? else {
            return Ok(());
        };
        self.requests += 1;
        self.fingerprint.take(record);
        let depth = match (&mut self.depth, self.replay.pace) {
            (Some(recorded), _) => recorded.arrives(record).unwrap_or(u32::MAX),
            (None, Pace::Recorded { depth, .. }) => depth,
            (None, Pace::Closed { depth }) => depth.unwrap_or(1),
        };
        let arrival = Nanos(self.replay.pace.due_ns(record.arrival_ns));
        if request.kind == CommandKind::Flush {
            let command = Command::flush(arrival);
            sent.push(Paced { command, depth });
            return Ok(());
        }
        let mut start = request.start;
        while start < request.end {
            let size = (request.end - start).min(MAX_REQUEST_BYTES.into());
            let place = placing.place(record.device, start, size);
            let offset_bytes = place.ok_or_else(|| self.changed("it addresses something else"))?;
            let command = Command {
                arrival,
                offset_bytes,
                size_bytes: size as u32,
                kind: request.kind,
                is_forced: false,
                content: Content::Random,
                zone: ZoneAction::None,
            };
            sent.push(Paced { command, depth });
            start += size;
        }
        Ok(())
    }

    /// After the end: checks that it was what the survey saw.
    fn check(&self) -> Result<(), ReplayError> {
        let facts = &self.replay.surveyed.facts;
        if self.requests != facts.requests {
            return Err(self.changed(&format!(
                "{} requests instead of {}",
                self.requests, facts.requests
            )));
        }
        if self.fingerprint.0 != facts.fingerprint {
            return Err(self.changed("other requests"));
        }
        Ok(())
    }

    #[cold]
    fn changed(&self, what: &str) -> ReplayError {
        ReplayError::Changed {
            name: self.replay.origin.name(),
            what: what.to_owned(),
        }
    }
}

type Batch = Result<Vec<Paced>, String>;

/// A reader with its own thread, which ends with it.
struct Threaded {
    /// `None` once everything was read.
    batches: Option<Receiver<Batch>>,
    /// Returns used batches, to reuse their memory.
    emptied: Option<SyncSender<Vec<Paced>>>,
    thread: Option<JoinHandle<()>>,
}

impl Threaded {
    fn start(reading: Reading, range: (u64, u64)) -> Self {
        let (full, batches) = sync_channel::<Batch>(AHEAD);
        let (emptied, empty) = sync_channel::<Vec<Paced>>(AHEAD + 2);
        let builder = thread::Builder::new().name("trace".to_owned());
        let thread = builder.spawn(move || read_on(reading, range, &full, &empty));
        match thread {
            Ok(thread) => Self {
                batches: Some(batches),
                emptied: Some(emptied),
                thread: Some(thread),
            },
            // The sender is gone; the first batch has the error.
            Err(_) => Self {
                batches: Some(batches),
                emptied: None,
                thread: None,
            },
        }
    }
}

/// Reads until the end, a failure, or until nobody takes the batches any more.
fn read_on(
    mut reading: Reading,
    range: (u64, u64),
    full: &SyncSender<Batch>,
    empty: &Receiver<Vec<Paced>>,
) {
    let surveyed = Arc::clone(&reading.replay.surveyed);
    let mut placing = match surveyed.layout.placed(range, surveyed.facts.largest_bytes) {
        Ok(placing) => placing,
        Err(error) => {
            let _ = full.send(Err(error.to_string()));
            return;
        }
    };
    loop {
        let mut batch = empty.try_recv().unwrap_or_default();
        let read = reading.next_batch(&mut placing, &mut batch);
        let is_last = read.is_err() || batch.is_empty();
        let batch = read.map(|()| batch).map_err(|error| error.to_string());
        if full.send(batch).is_err() || is_last {
            return;
        }
    }
}

impl PacedReader for Threaded {
    fn next_batch(&mut self, batch: &mut Vec<Paced>) -> Result<(), String> {
        let taken = std::mem::take(batch);
        if let Some(emptied) = &self.emptied {
            // Full only if there are more than needed.
            let _ = emptied.try_send(taken);
        }
        let Some(batches) = &self.batches else {
            return Ok(());
        };
        let read = batches.recv().unwrap_or_else(|_| {
            Err(
                "no thread could be started to read it; end other programs, or allow more \
                 (`ulimit -u`)"
                    .to_owned(),
            )
        });
        match read {
            Ok(read) if !read.is_empty() => *batch = read,
            Ok(_) => self.batches = None,
            Err(reason) => {
                self.batches = None;
                return Err(reason);
            }
        }
        Ok(())
    }
}

impl Drop for Threaded {
    fn drop(&mut self) {
        // The thread then waits for nobody.
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
