//! Commands of a stream that are read from elsewhere while they are sent.

use drivelab_request::{Command, CommandKind, Histogram};
use drivelab_workload::{Paced, PacedReader, PacedSource};

use super::load::{AHEAD, HALF, Tables};

/// One batch of commands, and the reader of the batches after it.
pub(super) struct PacedFeed {
    /// `None` at the end, and after a failure.
    reader: Option<Box<dyn PacedReader>>,
    batch: Vec<Paced>,
    /// The index of the next command in the batch. There is one unless all are taken.
    next: usize,
    /// Where the range ends in which the commands should lie.
    end: u64,
    /// How late commands were sent, if they have times.
    pub lateness: Option<Histogram>,
    /// The reason why the reader failed, if it did.
    pub failure: Option<String>,
}

impl PacedFeed {
    /// The commands of `source`, fitted to a range of the drive given as its start and its bytes.
    ///
    /// # Errors
    /// The reason why they cannot be read.
    pub fn open(source: &dyn PacedSource, range: (u64, u64)) -> Result<Self, String> {
        let mut feed = Self {
            reader: Some(source.open(range)?),
            batch: Vec::new(),
            next: 0,
            end: range.0.saturating_add(range.1),
            lateness: source.is_timed().then(Histogram::new),
            failure: None,
        };
        feed.read_on();
        match feed.failure {
            Some(reason) => Err(reason),
            None => Ok(feed),
        }
    }

    /// The next command. `tables` hears of commands that come soon.
    #[inline(always)]
    pub fn take<T: Tables>(&mut self, tables: &T, page_shift: u32) -> Option<Command> {
        let Paced { command, .. } = *self.batch.get(self.next)?;
        // Tables have no entry for commands outside the range; those are refused when their turn
        // comes.
        let end = self.end;
        let soon = |distance| {
            let paced: Option<&Paced> = self.batch.get(self.next + distance);
            paced.filter(|each| each.command.offset_bytes < end)
        };
        if let Some(ahead) = soon(AHEAD) {
            tables.hint((ahead.command.offset_bytes >> page_shift) as u32);
        }
        if let Some(nearer) = soon(HALF)
            && nearer.command.kind == CommandKind::Write
        {
            tables.hint_overwrite((nearer.command.offset_bytes >> page_shift) as u32);
        }
        self.next += 1;
        if self.next == self.batch.len() {
            self.read_on();
        }
        Some(command)
    }

    #[inline(never)]
    fn read_on(&mut self) {
        self.next = 0;
        let Some(reader) = &mut self.reader else {
            self.batch.clear();
            return;
        };
        if let Err(reason) = reader.next_batch(&mut self.batch) {
            self.batch.clear();
            self.failure = Some(reason);
        }
        if self.batch.is_empty() {
            self.reader = None;
        }
    }

    /// The earliest time at which the next command may be sent.
    #[inline(always)]
    pub fn next_arrival(&self) -> Option<u64> {
        self.batch.get(self.next).map(|next| next.command.arrival.0)
    }

    /// Whether the next command must wait while this many are outstanding.
    #[inline(always)]
    pub fn holds_back(&self, outstanding: u64) -> bool {
        let next = self.batch.get(self.next);
        next.is_some_and(|next| outstanding >= u64::from(next.depth))
    }
}
