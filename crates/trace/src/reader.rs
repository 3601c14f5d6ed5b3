//! A trace, read in batches in order of arrival.
//!
//! ```text
//!  file ─> decompress ─> lines or records ─┐
//!  file ─> decompress ─> lines or records ─┴─> merge by time ─> sort window ─> batches
//! ```
//!
//! Memory does not grow with the trace. It holds a buffer and a chunk for each file, and two chunks
//! in which requests are sorted. A request that comes behind more than `sort_window` later ones
//! cannot be sorted in, and is invalid.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

use crate::checks::{Checks, Place};
use crate::devices::Devices;
use crate::error::{Problem, TraceError};
use crate::formats::{Format, format_named, recognise};
use crate::input::{Given, Input};
use crate::options::Options;
use crate::record::{Record, UNKNOWN};
use crate::sink::{Sink, Source};

/// The most files that are merged.
pub const MOST_FILES: usize = 256;

/// The size of a chunk without a sort window.
const CHUNK: usize = 4096;

/// One of several files being merged.
struct Member {
    source: Box<dyn Source>,
    records: Vec<Record>,
    at: usize,
    latest_ns: u64,
    ended: bool,
}

/// A trace being read.
pub struct Trace {
    format: &'static Format,
    members: Vec<Member>,
    /// If there are several members: the time of each one's next request, and the member.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    sink: Sink,
    window: usize,
    /// Sorted requests not given out yet.
    held: Vec<Record>,
    ended: bool,
    /// The time of the first request given out, on the trace's clock.
    origin_ns: Option<u64>,
    /// The time of the last request given out, on the trace's clock.
    floor_ns: u64,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Trace");
        shown.field("format", &self.format.name);
        shown
            .field("files", &self.sink.names)
            .finish_non_exhaustive()
    }
}

impl Trace {
    /// Opens a trace of one file, or of several files, which are merged by time.
    ///
    /// # Errors
    ///
    /// [`TraceError`] if a file cannot be read, is empty or has an unusable format, or if an option
    /// is invalid.
    pub fn open(files: &[Given], options: &Options) -> Result<Self, TraceError> {
        options.check()?;
        if files.len() > MOST_FILES {
            return Err(TraceError::TooManyFiles {
                files: files.len(),
                most: MOST_FILES,
            });
        }
        let inputs = files
            .iter()
            .map(Input::open)
            .collect::<Result<Vec<_>, _>>()?;
        let format = match (&options.format, inputs.first()) {
            (_, None) => return Err(TraceError::NoFiles),
            (Some(name), _) => format_named(name)?,
            (None, Some(first)) => recognise(first)?,
        };
        let names = inputs.iter().map(|input| input.name.clone()).collect();
        let sources = (format.open)(inputs, options)?;
        let members = sources.into_iter().map(|source| Member {
            source,
            records: Vec::new(),
            at: 0,
            latest_ns: 0,
            ended: false,
        });
        Ok(Self {
            format,
            members: members.collect(),
            heads: BinaryHeap::new(),
            sink: Sink::new(options, names, format.place),
            window: options.sort_window,
            held: Vec::new(),
            ended: false,
            origin_ns: None,
            floor_ns: 0,
        })
    }

    /// The format of the trace.
    #[must_use]
    pub const fn format(&self) -> &'static Format {
        self.format
    }

    /// The names of the files.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.sink.names
    }

    /// The devices so far.
    #[must_use]
    pub const fn devices(&self) -> &Devices {
        &self.sink.devices
    }

    /// The findings so far. They cover the whole trace once a batch was empty.
    #[must_use]
    pub const fn checks(&self) -> &Checks {
        &self.sink.checks
    }

    /// When the first request arrived on the trace's own clock, ns; `None` before the first batch.
    #[must_use]
    pub const fn origin_ns(&self) -> Option<u64> {
        self.origin_ns
    }

    /// Replaces `batch` with the next requests, in order of arrival; empty at the end.
    ///
    /// # Errors
    ///
    /// [`TraceError`] if reading a file fails, or if bad lines are refused and there is one.
    pub fn next_batch(&mut self, batch: &mut Vec<Record>) -> Result<(), TraceError> {
        batch.clear();
        while batch.is_empty() {
            if self.ended {
                mem::swap(batch, &mut self.held);
                break;
            }
            let mut chunk = mem::take(batch);
            chunk.clear();
            let limit = if self.window == 0 { CHUNK } else { self.window };
            while !self.ended && chunk.len() < limit {
                self.ended = self.next_chunk(limit, &mut chunk)?;
                // Removed requests are no longer held back, so more are read.
                self.drop_late(&mut chunk)?;
            }
            self.order(&mut chunk, batch);
        }
        self.give(batch);
        Ok(())
    }

    /// Fills a chunk up to a limit with the next requests in the order of the files. Returns true
    /// at the end.
    fn next_chunk(&mut self, limit: usize, chunk: &mut Vec<Record>) -> Result<bool, TraceError> {
        if let [only] = self.members.as_mut_slice() {
            return only.fill(0, limit, chunk, &mut self.sink);
        }
        // With more files, chunks are smaller.
        let share = (65_536 / self.members.len().max(1)).clamp(256, CHUNK);
        if self.heads.is_empty() {
            for index in 0..self.members.len() {
                self.offer(index, share)?;
            }
        }
        while chunk.len() < limit {
            let Some(Reverse((_, index))) = self.heads.pop() else {
                return Ok(true);
            };
            if let Some(member) = self.members.get_mut(index) {
                chunk.extend(member.records.get(member.at));
                member.at += 1;
            }
            self.offer(index, share)?;
        }
        Ok(self.heads.is_empty())
    }

    /// Puts the next request of a member among the heads, if there is one.
    fn offer(&mut self, index: usize, share: usize) -> Result<(), TraceError> {
        let Some(member) = self.members.get_mut(index) else {
            return Ok(());
        };
        while member.at >= member.records.len() {
            if member.ended {
                return Ok(());
            }
            let mut records = mem::take(&mut member.records);
            records.clear();
            member.at = 0;
            // There are at most as many as files.
            member.ended = member.fill(index as u16, share, &mut records, &mut self.sink)?;
            member.records = records;
        }
        if let Some(record) = member.records.get(member.at) {
            self.heads.push(Reverse((record.arrival_ns, index)));
        }
        Ok(())
    }

    /// Sorts a chunk in, and gives out what nothing later can precede.
    fn order(&mut self, chunk: &mut Vec<Record>, batch: &mut Vec<Record>) {
        if self.window == 0 {
            mem::swap(chunk, batch);
        } else {
            if !chunk.is_sorted_by_key(|record| record.arrival_ns) {
                chunk.sort_by_key(|record| record.arrival_ns);
            }
            let follows = match (self.held.last(), chunk.first()) {
                (Some(held), Some(first)) => held.arrival_ns <= first.arrival_ns,
                _ => true,
            };
            mem::swap(&mut self.held, batch);
            mem::swap(&mut self.held, chunk);
            if !follows {
                let give = batch.len();
                batch.append(&mut self.held);
                batch.sort_by_key(|record| record.arrival_ns);
                self.held.extend(batch.drain(give..));
            }
        }
        if let Some(last) = batch.last() {
            self.floor_ns = last.arrival_ns;
        }
    }

    /// Removes requests earlier than one already given out.
    fn drop_late(&mut self, chunk: &mut Vec<Record>) -> Result<(), TraceError> {
        let mut floor_ns = self.floor_ns;
        let is_strict = self.window == 0;
        let mut is_in_order = |record: &Record| {
            let in_order = record.arrival_ns >= floor_ns;
            if is_strict && in_order {
                floor_ns = record.arrival_ns;
            }
            in_order
        };
        if chunk.iter().all(&mut is_in_order) {
            return Ok(());
        }
        let mut floor_ns = self.floor_ns;
        let mut kept = 0;
        for index in 0..chunk.len() {
            let Some(&record) = chunk.get(index) else {
                break;
            };
            if record.arrival_ns < floor_ns {
                let place = Place {
                    file: record.file,
                    position: record.position,
                };
                let problem = Problem::Late {
                    by_ns: floor_ns - record.arrival_ns,
                    window: self.window,
                };
                self.sink.bad(place, problem, &[])?;
                continue;
            }
            if is_strict {
                floor_ns = record.arrival_ns;
            }
            if let Some(place) = chunk.get_mut(kept) {
                *place = record;
            }
            kept += 1;
        }
        chunk.truncate(kept);
        Ok(())
    }

    /// Counts the requests given out, and makes their times relative to the first.
    fn give(&mut self, batch: &mut [Record]) {
        let Some(first) = batch.first() else {
            return;
        };
        let origin_ns = *self.origin_ns.get_or_insert(first.arrival_ns);
        let checks = &mut self.sink.checks;
        let mut before_ns = (checks.requests > 0).then_some(checks.span_ns);
        for record in &mut *batch {
            record.arrival_ns -= origin_ns;
            if let Some(before_ns) = before_ns {
                let step_ns = record.arrival_ns - before_ns;
                if step_ns == 0 {
                    checks.ties += 1;
                } else {
                    checks.smallest_step_ns = checks.smallest_step_ns.min(step_ns);
                }
            }
            before_ns = Some(record.arrival_ns);
            let place = record.operation.index();
            checks.by_operation[place] += 1;
            let bytes = &mut checks.bytes_by_operation[place];
            *bytes = bytes.saturating_add(record.size_bytes);
            // Neither overflows: this was checked when the request entered the sink.
            let end_bytes = record.offset_bytes + record.size_bytes;
            checks.most_end_bytes = checks.most_end_bytes.max(end_bytes);
            if record.operation.moves_data() {
                checks.most_size_bytes = checks.most_size_bytes.max(record.size_bytes);
            }
            if record.response_ns != UNKNOWN {
                checks.responses += 1;
                checks.least_response_ns = checks.least_response_ns.min(record.response_ns);
                checks.most_response_ns = checks.most_response_ns.max(record.response_ns);
            }
        }
        checks.requests += batch.len() as u64;
        checks.span_ns = before_ns.unwrap_or(0);
    }
}

impl Member {
    fn fill(
        &mut self,
        file: u16,
        limit: usize,
        records: &mut Vec<Record>,
        sink: &mut Sink,
    ) -> Result<bool, TraceError> {
        mem::swap(&mut sink.records, records);
        (sink.limit, sink.file, sink.latest_ns) = (limit, file, self.latest_ns);
        let ended = self.source.fill(sink);
        self.latest_ns = sink.latest_ns;
        mem::swap(&mut sink.records, records);
        ended
    }
}
