//! Collects the requests of readers. Each is checked; invalid ones are refused or counted.

use crate::checks::{Check, Checks, Place};
use crate::devices::Devices;
use crate::error::{Problem, TraceError};
use crate::options::{BadLines, Options};
use crate::record::Record;

/// Length of the excerpt of a bad line.
const EXCERPT_BYTES: usize = 60;
/// The largest read or write, far above what a device takes at once. Longer ones would be cut into
/// any number of pieces.
const MOST_MOVED_BYTES: u64 = 4 << 30;
/// The largest trim: a whole device.
const MOST_TRIMMED_BYTES: u64 = 128 << 40;
/// The longest time between two requests: 146 years.
const MOST_SPAN_NS: u64 = 1 << 62;

/// Requests of one file, and data shared by all files.
pub(crate) struct Sink {
    pub records: Vec<Record>,
    /// A reader stops at this many records.
    pub limit: usize,
    pub file: u16,
    /// A line from 1, or the byte of a binary record.
    pub position: u64,
    /// The latest time of the file so far.
    pub latest_ns: u64,
    /// The earliest and the latest time in all files, of wanted devices.
    times_ns: Option<(u64, u64)>,
    pub names: Vec<String>,
    pub devices: Devices,
    pub checks: Checks,
    pub place: &'static str,
    bad_lines: BadLines,
    device_bytes: u64,
}

impl Sink {
    pub fn new(options: &Options, names: Vec<String>, place: &'static str) -> Self {
        Self {
            records: Vec::new(),
            limit: 0,
            file: 0,
            position: 0,
            latest_ns: 0,
            times_ns: None,
            names,
            devices: Devices::new(options.devices.clone()),
            checks: Checks::default(),
            place,
            bad_lines: options.bad_lines,
            device_bytes: options.device_bytes.unwrap_or(u64::MAX),
        }
    }

    #[inline]
    pub const fn is_full(&self) -> bool {
        self.records.len() >= self.limit
    }

    /// Takes a request whose `arrival_ns` is on the trace's own clock.
    #[inline]
    pub fn push(&mut self, record: Record) -> Result<(), Problem> {
        self.check(&record)?;
        self.lay(Record {
            position: self.position,
            file: self.file,
            ..record
        });
        Ok(())
    }

    /// Checks a single request.
    #[inline]
    pub fn check(&mut self, record: &Record) -> Result<(), Problem> {
        if record.size_bytes == 0 && record.operation.moves_data() {
            let operation = record.operation;
            return Err(Problem::ZeroSize { operation });
        }
        let most_bytes = if record.operation.moves_data() {
            MOST_MOVED_BYTES
        } else {
            MOST_TRIMMED_BYTES
        };
        if record.size_bytes > most_bytes {
            return Err(Problem::Huge {
                operation: record.operation,
                size_bytes: record.size_bytes,
                most_bytes,
            });
        }
        let Some(end_bytes) = record.offset_bytes.checked_add(record.size_bytes) else {
            return Err(Problem::TooLarge { field: "end" });
        };
        if end_bytes > self.device_bytes {
            return Err(Problem::BeyondDevice {
                end_bytes,
                device_bytes: self.device_bytes,
            });
        }
        self.check_time(record)
    }

    /// Checks the time against those of all requests that were checked, laid already or not.
    #[inline]
    fn check_time(&mut self, record: &Record) -> Result<(), Problem> {
        if !self.devices.is_wanted(record.device) {
            return Ok(());
        }
        let time_ns = record.arrival_ns;
        let (earliest_ns, latest_ns) = self.times_ns.unwrap_or((time_ns, time_ns));
        let (earliest_ns, latest_ns) = (earliest_ns.min(time_ns), latest_ns.max(time_ns));
        let by_ns = latest_ns - earliest_ns;
        if by_ns > MOST_SPAN_NS {
            return Err(Problem::FarApart { by_ns });
        }
        self.times_ns = Some((earliest_ns, latest_ns));
        Ok(())
    }

    /// Takes a request that was checked and carries its position.
    #[inline]
    pub fn lay(&mut self, record: Record) {
        if !self.devices.count(record.device) {
            self.checks.filtered += 1;
            return;
        }
        if record.arrival_ns < self.latest_ns {
            self.note(Check::StepBack, record.position);
        } else {
            self.latest_ns = record.arrival_ns;
        }
        self.records.push(record);
    }

    /// Counts a finding that is neither refused nor skipped.
    #[cold]
    pub fn note(&mut self, check: Check, position: u64) {
        let file = self.file;
        self.checks.add(check, Place { file, position });
    }

    /// Refuses an error at a position of a file, or counts it.
    #[cold]
    pub fn bad(&mut self, place: Place, problem: Problem, bytes: &[u8]) -> Result<(), TraceError> {
        if self.bad_lines == BadLines::Skip && !problem.is_fatal() {
            self.checks.add(Check::of(&problem), place);
            return Ok(());
        }
        let kind = self.place;
        let shown = bytes.get(..EXCERPT_BYTES).unwrap_or(bytes);
        let excerpt = match bytes {
            [] => String::new(),
            _ => format!(": {:?}", String::from_utf8_lossy(shown)),
        };
        Err(TraceError::Bad {
            file: self
                .names
                .get(usize::from(place.file))
                .cloned()
                .unwrap_or_default(),
            place: format!("{kind} {}", place.position),
            problem,
            excerpt,
        })
    }

    /// As [`Sink::bad`], at the reader's position.
    #[cold]
    pub fn bad_here(&mut self, problem: Problem, bytes: &[u8]) -> Result<(), TraceError> {
        let place = Place {
            file: self.file,
            position: self.position,
        };
        self.bad(place, problem, bytes)
    }
}

/// One file of a format, which reads until the sink is full.
pub(crate) trait Source: Send {
    /// Fills the sink. Returns true when nothing is left.
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError>;
}
