//! Recorded commands in pieces for fio: written, read back and compared.
//!
//! ```text
//!   at their times   commands 0 1 2 3 4 5 6 ...      job j of n sends j, j + n, j + 2n, ..., one
//!                    job 0    0     3     6          after the other, each behind a wait until its
//!                    job 1      1     4              millisecond: at most n are outstanding
//!   as they are      one iolog without waits, sent by one job with a queue
//!   answered
//! ```
//!
//! fio's log gives the millisecond in which a request completed, and its latency to the ns. A job
//! never sends before the time in its iolog. So log and iolog together bound the start of the job's
//! clock, and every lateness from below. Nothing is reported late that was not. A lateness is
//! reported at most one millisecond too short, or two if the job sent hardly anything.

use std::ops::Range;

use drivelab_request::{CommandKind, Counted, Direction, Histogram, Nanos, Request};

use crate::iolog::{Iolog, IologNameError};
use crate::latency_log::Completion;
use crate::paced::{Paced, PacedReader};
use crate::replay::{ReplayError, check_closed, foreign};

const MILLISECOND: u64 = 1_000_000;

/// Recorded commands with a cursor, and what fio did with those before it.
pub struct RecordedSegments {
    reader: Box<dyn PacedReader>,
    is_timed: bool,
    batch: Vec<Paced>,
    /// Commands that were read but not yet given out.
    ahead: Vec<Paced>,
    all_read: bool,
    /// The recording's time, at the speed of the replay, when the last segment had completed.
    clock_ns: u64,
    counted: [Counted; 2],
    lateness: Histogram,
}

/// The next commands, to be sent by one run of fio.
#[derive(Clone, Debug)]
pub struct RecordedSegment {
    commands: Vec<Paced>,
    start_ns: u64,
}

/// Limits on the length of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentEnd {
    /// The most commands.
    pub commands: usize,
    /// The longest time since its first command.
    pub span_ns: u64,
}

impl RecordedSegments {
    /// The commands of `reader`, at their times or in a closed loop.
    #[must_use]
    pub fn new(reader: Box<dyn PacedReader>, is_timed: bool) -> Self {
        Self {
            reader,
            is_timed,
            batch: Vec::new(),
            ahead: Vec::new(),
            all_read: false,
            clock_ns: 0,
            counted: [Counted::default(), Counted::default()],
            lateness: Histogram::new(),
        }
    }

    /// The next commands; `None` at the end. If more commands are left than a segment takes, it
    /// ends before the longest pause in the last quarter of what it may take.
    ///
    /// # Errors
    ///
    /// Why reading failed.
    pub fn next(&mut self, end: SegmentEnd) -> Result<Option<RecordedSegment>, String> {
        let most = end.commands.max(1);
        while !self.all_read && !self.is_beyond(most, end.span_ns) {
            self.reader.next_batch(&mut self.batch)?;
            self.all_read = self.batch.is_empty();
            self.ahead.append(&mut self.batch);
        }
        if self.ahead.is_empty() {
            return Ok(None);
        }
        let cut = self.cut(most, end.span_ns);
        Ok(Some(RecordedSegment {
            commands: self.ahead.drain(..cut).collect(),
            start_ns: self.clock_ns,
        }))
    }

    fn is_beyond(&self, most: usize, span_ns: u64) -> bool {
        self.ahead.len() > most || self.fitting(span_ns) < self.ahead.len()
    }

    /// How many commands arrive within `span_ns` after the first.
    fn fitting(&self, span_ns: u64) -> usize {
        let first = self.ahead.first().map_or(0, due_ns);
        let until = first.saturating_add(span_ns);
        self.ahead.partition_point(|each| due_ns(each) <= until)
    }

    fn cut(&self, most: usize, span_ns: u64) -> usize {
        let fits = self.fitting(span_ns).min(most);
        if fits == self.ahead.len() || !self.is_timed {
            return fits;
        }
        let first = (fits - fits / 4).max(1);
        let pause = |&at: &usize| {
            let around = self.ahead.get(at - 1).zip(self.ahead.get(at));
            around.map_or(0, |(before, after)| {
                due_ns(after).saturating_sub(due_ns(before))
            })
        };
        (first..=fits).max_by_key(pause).unwrap_or(fits)
    }

    /// Takes the reports of fio's jobs on a segment: for each job its completions, in order.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] unless these are exactly the segment's requests; nothing is taken then.
    pub fn complete(
        &mut self,
        segment: &RecordedSegment,
        lead_ms: u64,
        jobs: &[&[Completion]],
    ) -> Result<(), ReplayError> {
        let mut lateness = Histogram::new();
        let mut end_ns = 0;
        for (job, done) in jobs.iter().enumerate() {
            let sent = segment.of_job(job, jobs.len());
            end_ns = end_ns.max(segment.check_job(sent, lead_ms, done, &mut lateness)?);
        }
        self.lateness.merge(&lateness);
        // The last command may be a flush, which no log shows.
        let last = segment.commands.last().map_or(0, due_ns);
        self.clock_ns = last.max(self.clock_ns.saturating_add(end_ns));
        self.count(jobs);
        Ok(())
    }

    /// Takes fio's report on a segment that it sent in a closed loop. What it did not send comes
    /// again in the next segment.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] unless these are the segment's first requests; nothing is taken then.
    pub fn complete_closed(
        &mut self,
        segment: &RecordedSegment,
        queue_depth: usize,
        done: &[Completion],
    ) -> Result<(), ReplayError> {
        let requests = segment.commands.iter().filter_map(request_of);
        check_closed(requests, queue_depth, done)?;
        let reads_and_writes = segment.commands.iter().enumerate();
        let mut behind = reads_and_writes.filter(|(_, each)| request_of(each).is_some());
        // What the time limit cut off comes next.
        if let Some((first, _)) = behind.nth(done.len()) {
            let rest = segment.commands.get(first..).unwrap_or_default();
            self.ahead.splice(..0, rest.iter().copied());
        }
        self.clock_ns += done.last().map_or(0, |last| last.at_ns);
        self.count(&[done]);
        Ok(())
    }

    fn count(&mut self, jobs: &[&[Completion]]) {
        let [read, write] = &mut self.counted;
        for done in jobs.iter().copied().flatten() {
            let counted = match done.direction {
                Direction::Read => &mut *read,
                Direction::Write => &mut *write,
            };
            counted.record(done.latency_ns, done.size_bytes);
        }
    }

    /// Total time of what was sent, without the pauses between segments, ns.
    #[must_use]
    pub const fn clock_ns(&self) -> u64 {
        self.clock_ns
    }

    /// Statistics of the requests in a direction.
    #[must_use]
    pub const fn counted(&self, direction: Direction) -> &Counted {
        let [read, write] = &self.counted;
        match direction {
            Direction::Read => read,
            Direction::Write => write,
        }
    }

    /// How late reads and writes were sent, at least.
    #[must_use]
    pub const fn lateness(&self) -> &Histogram {
        &self.lateness
    }
}

impl RecordedSegment {
    /// The number of commands.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.commands.len()
    }

    /// Whether it is empty, which is never the case.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// The number of flushes.
    #[must_use]
    pub fn flushes(&self) -> u64 {
        let is_flush = |each: &&Paced| each.command.kind == CommandKind::Flush;
        self.commands.iter().filter(is_flush).count() as u64
    }

    /// How long after the beginning the last command is due, ns.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        self.commands
            .last()
            .map_or(0, |last| self.since_start(last))
    }

    /// The iologs of `jobs` jobs that send commands at their times. The first time is `lead_ms`
    /// after fio starts its jobs.
    ///
    /// # Errors
    ///
    /// [`IologNameError`] if fio would read a different name than `file_name`.
    pub fn timed_iologs(
        &self,
        file_name: &str,
        jobs: usize,
        lead_ms: u64,
    ) -> Result<Vec<Vec<u8>>, IologNameError> {
        (0..jobs)
            .map(|job| {
                let mut iolog = Iolog::new(file_name)?;
                for each in self.of_job(job, jobs) {
                    iolog.wait(self.wait_ms(each, lead_ms));
                    add(&mut iolog, each);
                }
                Ok(iolog.into_bytes())
            })
            .collect()
    }

    /// The iolog of a job in a closed loop.
    ///
    /// # Errors
    ///
    /// [`IologNameError`] if fio would read a different name than `file_name`.
    pub fn closed_iolog(&self, file_name: &str) -> Result<Vec<u8>, IologNameError> {
        let mut iolog = Iolog::new(file_name)?;
        for each in &self.commands {
            add(&mut iolog, each);
        }
        Ok(iolog.into_bytes())
    }

    fn of_job(&self, job: usize, jobs: usize) -> impl Iterator<Item = &Paced> {
        self.commands.iter().skip(job).step_by(jobs.max(1))
    }

    fn since_start(&self, each: &Paced) -> u64 {
        due_ns(each).saturating_sub(self.start_ns)
    }

    /// The earliest time at which its job sends it, ms since fio started its jobs.
    fn wait_ms(&self, each: &Paced, lead_ms: u64) -> u64 {
        lead_ms + self.since_start(each) / MILLISECOND
    }

    /// Compares a job's completions with its commands. Records how late they were, and returns when
    /// the last one completed, in ns after the beginning of the segment.
    fn check_job<'a>(
        &self,
        sent: impl Iterator<Item = &'a Paced>,
        lead_ms: u64,
        done: &[Completion],
        lateness: &mut Histogram,
    ) -> Result<u64, ReplayError> {
        let sent = sent.filter_map(|each| Some((each, request_of(each)?)));
        let sent: Vec<(&Paced, Request)> = sent.collect();
        for (index, done) in done.iter().enumerate() {
            if sent.get(index).map(|(_, request)| *request) != Some(request_done(done)) {
                return Err(foreign(index, done));
            }
        }
        if let Some((_, lost)) = sent.get(done.len()) {
            return Err(lost_request(*lost));
        }
        // The earliest start of the job's clock: every request was sent after its wait, and before
        // the end of its millisecond less its latency.
        let began = |((each, _), done): (&(&Paced, Request), &Completion)| {
            let waited = signed(self.wait_ms(each, lead_ms) * MILLISECOND);
            waited - signed(millisecond(done).end) + signed(done.latency_ns)
        };
        let began_ns = sent.iter().zip(done).map(began).max().unwrap_or(0);
        let since_start = |at_ns: i128| at_ns + began_ns - signed(lead_ms * MILLISECOND);
        let mut end_ns = 0;
        for ((each, _), done) in sent.iter().zip(done) {
            let completed = since_start(signed(millisecond(done).start));
            let late =
                completed - signed(done.latency_ns) + signed(self.start_ns) - signed(due_ns(each));
            lateness.record(unsigned(late));
            end_ns = end_ns.max(unsigned(completed));
        }
        Ok(end_ns)
    }
}

fn add(iolog: &mut Iolog, each: &Paced) {
    match request_of(each) {
        Some(request) => iolog.request(request),
        // fio 3.33 reads no trims; the caller refuses them.
        None => iolog.flush(),
    }
}

const fn due_ns(each: &Paced) -> u64 {
    each.command.arrival.0
}

fn request_of(each: &Paced) -> Option<Request> {
    Some(Request {
        arrival: Nanos::ZERO,
        direction: each.command.kind.direction()?,
        offset_bytes: each.command.offset_bytes,
        size_bytes: each.command.size_bytes,
    })
}

const fn request_done(done: &Completion) -> Request {
    Request {
        arrival: Nanos::ZERO,
        direction: done.direction,
        offset_bytes: done.offset_bytes,
        size_bytes: done.size_bytes,
    }
}

const fn lost_request(request: Request) -> ReplayError {
    ReplayError::Lost {
        direction: request.direction,
        offset_bytes: request.offset_bytes,
    }
}

/// The millisecond in which a request completed.
const fn millisecond(done: &Completion) -> Range<u64> {
    let start = done.at_ns / MILLISECOND * MILLISECOND;
    start..start + MILLISECOND
}

const fn signed(ns: u64) -> i128 {
    ns as i128
}

fn unsigned(ns: i128) -> u64 {
    u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::latency_log::completions;
    use drivelab_request::{Command, Content, ZoneAction};

    struct Listed(Vec<Paced>);

    impl PacedReader for Listed {
        fn next_batch(&mut self, batch: &mut Vec<Paced>) -> Result<(), String> {
            batch.clear();
            let count = self.0.len().min(3);
            batch.extend(self.0.drain(..count));
            Ok(())
        }
    }

    /// A read of 512 bytes at `at_us` us, of sector `place`.
    fn read(at_us: u64, place: u64) -> Paced {
        let command = Command {
            arrival: Nanos(at_us * 1000),
            offset_bytes: place * 512,
            size_bytes: 512,
            kind: CommandKind::Read,
            is_forced: false,
            content: Content::Random,
            zone: ZoneAction::None,
        };
        Paced { command, depth: 8 }
    }

    fn segments(at_us: &[u64]) -> RecordedSegments {
        let places = 0..;
        let listed = at_us.iter().zip(places).map(|(&at, place)| read(at, place));
        RecordedSegments::new(Box::new(Listed(listed.collect())), true)
    }

    const ALL: SegmentEnd = SegmentEnd {
        commands: 100,
        span_ns: u64::MAX,
    };

    #[test]
    fn a_job_waits_before_each_of_its_requests() {
        let mut segments = segments(&[0, 1999, 2000]);
        let segment = segments.next(ALL).unwrap().unwrap();
        assert_eq!(segments.next(ALL).unwrap().map(|next| next.len()), None);
        let iologs = segment.timed_iologs("/f", 2, 10).unwrap();
        let texts: Vec<_> = iologs
            .into_iter()
            .map(|text| String::from_utf8(text).unwrap())
            .collect();
        let head = "fio version 2 iolog\n/f add\n/f open\n";
        assert_eq!(
            texts,
            [
                format!("{head}/f wait 10 0\n/f read 0 512\n/f wait 12 0\n/f read 1024 512\n"),
                format!("{head}/f wait 11 0\n/f read 512 512\n"),
            ]
        );
    }

    #[test]
    fn a_segment_ends_before_the_longest_pause_of_its_last_quarter() {
        let mut times: Vec<u64> = (0..8).map(|k| k * 10).collect();
        // The longer pause comes too early.
        times.extend([1000, 1010, 1500, 1510, 1511, 1512]);
        let lengths = |commands, span_ns| {
            let mut segments = segments(&times);
            let end = SegmentEnd { commands, span_ns };
            let mut lengths = Vec::new();
            while let Some(segment) = segments.next(end).unwrap() {
                lengths.push(segment.len());
            }
            lengths
        };
        assert_eq!(lengths(12, u64::MAX), [10, 4]);
        assert_eq!(lengths(14, u64::MAX), [14]);
        assert_eq!(lengths(100, 1_010_000), [8, 6]);
    }

    /// Both sides of a ms: what is sent in its ms is never late; 2 ms later it is late by 1 ms.
    #[test]
    fn lateness_is_what_the_log_proves() {
        let late = |log: &str| {
            let mut segments = segments(&[0, 5000, 9000]);
            let segment = segments.next(ALL).unwrap().unwrap();
            let log = completions(log.as_bytes()).unwrap();
            segments.complete(&segment, 100, &[&log]).unwrap();
            (segments.lateness().max_ns().unwrap(), segments.clock_ns())
        };
        // The job's clock began 90 ms after fio's.
        let on_time = "10, 1000, 0, 512, 0, 0\n15, 1000, 0, 512, 512, 0\n";
        let (none, end) = late(&format!("{on_time}19, 1000, 0, 512, 1024, 0\n"));
        assert_eq!((none, end), (0, 9_000_000));
        let (one, _) = late(&format!("{on_time}20, 1000, 0, 512, 1024, 0\n"));
        assert_eq!(one, 0);
        let (two, end) = late(&format!("{on_time}21, 1000, 0, 512, 1024, 0\n"));
        assert_eq!((two, end), (1_000_000, 10_001_000));
        // A long latency does not count as lateness.
        let (slow, _) = late(&format!("{on_time}59, 40000000, 0, 512, 1024, 0\n"));
        assert_eq!(slow, 0);
    }

    #[test]
    fn what_a_segment_was_late_the_next_one_is_too() {
        let mut segments = segments(&[0, 1000, 2000, 3000]);
        let end = SegmentEnd {
            commands: 2,
            span_ns: u64::MAX,
        };
        let first = segments.next(end).unwrap().unwrap();
        let log = completions(b"0, 1000, 0, 512, 0, 0\n51, 50000000, 0, 512, 512, 0\n").unwrap();
        segments.complete(&first, 0, &[&log]).unwrap();
        assert_eq!(segments.clock_ns(), 50_001_000);
        let second = segments.next(end).unwrap().unwrap();
        let iolog = second.timed_iologs("/f", 1, 7).unwrap().remove(0);
        let text = String::from_utf8(iolog).unwrap();
        assert!(text.ends_with("wait 7 0\n/f read 1024 512\n/f wait 7 0\n/f read 1536 512\n"));
        let log = completions(b"7, 1000, 0, 512, 1024, 0\n7, 1000, 0, 512, 1536, 0\n").unwrap();
        segments.complete(&second, 7, &[&log]).unwrap();
        assert_eq!(segments.lateness().count(), 4);
        assert_eq!(segments.lateness().max_ns(), Some(47_001_000));
    }

    #[test]
    fn other_requests_than_those_of_the_segment_are_refused() {
        let mut segments = segments(&[0, 1]);
        let segment = segments.next(ALL).unwrap().unwrap();
        let mut check = |log: &[u8]| {
            let log = completions(log).unwrap();
            segments.complete(&segment, 0, &[&log]).unwrap_err()
        };
        let foreign = check(b"0, 1, 1, 512, 0, 0\n0, 1, 0, 512, 512, 0\n");
        assert!(matches!(foreign, ReplayError::Foreign { number: 1, .. }));
        let lost = check(b"0, 1, 0, 512, 0, 0\n");
        assert!(matches!(
            lost,
            ReplayError::Lost {
                offset_bytes: 512,
                ..
            }
        ));
        assert_eq!(segments.counted(Direction::Read).latency.count(), 0);
    }

    #[test]
    fn what_time_cut_off_comes_again() {
        let mut segments = segments(&[0; 5]);
        let segment = segments.next(ALL).unwrap().unwrap();
        let other = completions(b"0, 1, 0, 512, 1024, 0\n").unwrap();
        let foreign = segments.complete_closed(&segment, 2, &other).unwrap_err();
        assert!(matches!(foreign, ReplayError::Foreign { number: 1, .. }));
        let log = completions(b"0, 1, 0, 512, 512, 0\n1, 2, 0, 512, 0, 0\n").unwrap();
        segments.complete_closed(&segment, 2, &log).unwrap();
        assert_eq!(segments.clock_ns(), 1_500_000);
        let rest = segments.next(ALL).unwrap().unwrap();
        let text = String::from_utf8(rest.closed_iolog("/f").unwrap()).unwrap();
        assert!(text.ends_with("open\n/f read 1024 512\n/f read 1536 512\n/f read 2048 512\n"));
    }
}
