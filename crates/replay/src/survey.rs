//! The first reading of a trace: its content, its places and its amount.

use drivelab_request::{CommandKind, SECTOR_BYTES};
use drivelab_trace::{Record, UNKNOWN, cautions};
use drivelab_workload::MAX_REQUEST_BYTES;

use crate::depth::{MOST_DEPTH, RecordedDepth};
use crate::error::ReplayError;
use crate::fingerprint::Fingerprint;
use crate::fit::{Fit, Layout, Touched};
use crate::origin::{Origin, Records};

/// A device of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Its name in the trace.
    pub name: String,
    /// Requests to it that can be sent.
    pub requests: u64,
    /// The end of the request that reaches furthest, in whole sectors.
    pub end_bytes: u64,
}

/// What a trace contains for a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The format of files.
    pub format: Option<&'static str>,
    /// Requests that can be sent.
    pub requests: u64,
    /// The commands that are sent for them, by [`CommandKind::index`]. A request larger than the
    /// largest command needs several.
    pub commands: [u64; CommandKind::ALL.len()],
    /// The bytes of these commands.
    pub bytes: u64,
    /// The last arrival, ns after the first.
    pub span_ns: u64,
    /// Devices in order of appearance, including unused ones.
    pub devices: Vec<DeviceFacts>,
    /// Requests that were not whole sectors. They are sent as the sectors that contain them.
    pub rounded: u64,
    /// Requests sent as several commands.
    pub cut: u64,
    /// Requests that correspond to no command, or trim nothing.
    pub left_out: u64,
    /// Invalid lines that were skipped.
    pub skipped: u64,
    /// The largest command, bytes.
    pub largest_bytes: u64,
    /// The largest power of two that divides all their offsets and sizes.
    pub alignment_bytes: u64,
    /// Requests whose response time is unknown.
    pub without_response: u64,
    /// If requested: the number of outstanding requests in the recording when one arrived,
    /// including it. Mean and maximum.
    pub depth: Option<(f64, u32)>,
    /// Reasons to doubt the trace's units, and limits on what it can show.
    pub cautions: Vec<String>,
    /// The fingerprint of the requests.
    pub fingerprint: u64,
}

/// A surveyed trace, and its placement on a drive.
#[derive(Clone, Debug)]
pub struct Surveyed {
    /// Its content.
    pub facts: Facts,
    /// The places of its requests.
    pub layout: Layout,
}

/// A survey in progress.
pub struct Survey {
    name: String,
    records: Records,
    batch: Vec<Record>,
    fit: Fit,
    touched: Touched,
    depth: Option<RecordedDepth>,
    depth_sum: u64,
    depth_most: u32,
    fingerprint: Fingerprint,
    /// Bits set in any beginning or end.
    places: u64,
    facts: Facts,
}

impl Survey {
    /// Begins to survey a trace, for a replay with this fit that may need the recorded depth.
    ///
    /// # Errors
    /// [`ReplayError::Trace`] if it cannot be opened.
    pub fn begin(origin: &Origin, fit: Fit, needs_depth: bool) -> Result<Self, ReplayError> {
        let records = origin.open()?;
        Ok(Self {
            name: origin.name(),
            facts: Facts {
                format: records.format(),
                ..Facts::default()
            },
            records,
            batch: Vec::new(),
            fit,
            touched: Touched::default(),
            depth: needs_depth.then(RecordedDepth::default),
            depth_sum: 0,
            depth_most: 0,
            fingerprint: Fingerprint::default(),
            places: 0,
        })
    }

    /// Requests surveyed so far.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.facts.requests
    }

    /// Surveys this many more requests, or a few more; false at the end.
    ///
    /// # Errors
    /// [`ReplayError`] if reading the trace fails, or it cannot be replayed.
    pub fn go_on(&mut self, requests: u64) -> Result<bool, ReplayError> {
        let until = self.facts.requests.saturating_add(requests.max(1));
        while self.facts.requests < until {
            let mut batch = std::mem::take(&mut self.batch);
            self.records.next_batch(&mut batch)?;
            if batch.is_empty() {
                return Ok(false);
            }
            for record in &batch {
                self.take(record)?;
            }
            self.batch = batch;
        }
        Ok(true)
    }

    #[inline(always)]
    fn take(&mut self, record: &Record) -> Result<(), ReplayError> {
        let Some(sent) = Sent::of(record)? else {
            self.facts.left_out += 1;
            return Ok(());
        };
        self.fingerprint.take(record);
        let facts = &mut self.facts;
        facts.requests += 1;
        facts.span_ns = record.arrival_ns;
        facts.rounded += u64::from(sent.is_rounded);
        facts.cut += u64::from(sent.commands() > 1);
        facts.commands[sent.kind.index()] += sent.commands();
        facts.bytes = facts.bytes.saturating_add(sent.end - sent.start);
        let largest = (sent.end - sent.start).min(MAX_REQUEST_BYTES.into());
        facts.largest_bytes = facts.largest_bytes.max(largest);
        self.places |= sent.start | sent.end;
        facts.without_response += u64::from(record.response_ns == UNKNOWN);
        let device = record.device as usize;
        if device >= facts.devices.len() {
            facts.devices.resize_with(device + 1, DeviceFacts::default);
        }
        if let Some(device) = facts.devices.get_mut(device) {
            device.requests += 1;
            device.end_bytes = device.end_bytes.max(sent.end);
        }
        if self.fit == Fit::Scale && sent.end > sent.start {
            self.touched.take(record.device, sent.start, sent.end)?;
        }
        if let Some(depth) = &mut self.depth {
            let most = MOST_DEPTH;
            let depth = depth.arrives(record).ok_or(ReplayError::TooDeep { most })?;
            self.depth_sum += u64::from(depth);
            self.depth_most = self.depth_most.max(depth);
        }
        Ok(())
    }

    /// Ends a complete survey.
    ///
    /// # Errors
    /// [`ReplayError`] if nothing can be sent, or a selected device does not exist.
    pub fn finish(self) -> Result<Surveyed, ReplayError> {
        let mut facts = self.facts;
        let (names, missing) = self.records.devices();
        if let Some(missing) = missing.into_iter().next() {
            const SHOWN: usize = 20;
            let mut known = names
                .iter()
                .take(SHOWN)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
            if names.len() > SHOWN {
                known += &format!(" and {} more", names.len() - SHOWN);
            }
            return Err(ReplayError::NoDevice {
                name: self.name,
                missing,
                known,
            });
        }
        if let Some(checks) = self.records.checks() {
            facts.skipped = checks.skipped();
            let found = cautions(checks).into_iter();
            facts.cautions = found.map(|caution| caution.text).collect();
        }
        if facts.requests == 0 {
            return Err(ReplayError::Nothing {
                name: self.name,
                found: format!(
                    "{} other requests, {} bad lines",
                    facts.left_out, facts.skipped
                ),
            });
        }
        if self.depth.is_some() {
            if facts.without_response > 0 {
                return Err(ReplayError::NoDepth {
                    unknown: facts.without_response,
                    requests: facts.requests,
                });
            }
            let mean = self.depth_sum as f64 / facts.requests as f64;
            facts.depth = Some((mean, self.depth_most));
        }
        for (device, name) in facts.devices.iter_mut().zip(names) {
            device.name = name;
        }
        facts.fingerprint = self.fingerprint.0;
        facts.alignment_bytes = self.places & self.places.wrapping_neg();
        let layout = match self.fit {
            Fit::Scale => Layout::in_regions(self.touched),
            fit => Layout::in_rows(fit, &facts.devices)?,
        };
        Ok(Surveyed { facts, layout })
    }
}

/// A request as sectors; a flush has none.
pub(crate) struct Sent {
    pub kind: CommandKind,
    pub start: u64,
    pub end: u64,
    pub is_rounded: bool,
}

impl Sent {
    /// The sectors that contain a request; `None` for a request that is never sent to a drive.
    #[inline(always)]
    pub fn of(record: &Record) -> Result<Option<Self>, ReplayError> {
        let Some(kind) = record.operation.command() else {
            return Ok(None);
        };
        if kind == CommandKind::Flush {
            return Ok(Some(Self {
                kind,
                start: 0,
                end: 0,
                is_rounded: false,
            }));
        }
        if record.size_bytes == 0 {
            return Ok(None);
        }
        let sector = u64::from(SECTOR_BYTES);
        let start = record.offset_bytes / sector * sector;
        let ends = record.offset_bytes.checked_add(record.size_bytes);
        let rounded = ends.and_then(|ends| ends.checked_next_multiple_of(sector));
        let (Some(ends), Some(end)) = (ends, rounded) else {
            return Err(ReplayError::TooFar {
                offset_bytes: record.offset_bytes,
                size_bytes: record.size_bytes,
            });
        };
        Ok(Some(Self {
            kind,
            start,
            end,
            is_rounded: start != record.offset_bytes || end != ends,
        }))
    }

    /// The number of commands it needs.
    #[inline(always)]
    pub fn commands(&self) -> u64 {
        (self.end - self.start)
            .div_ceil(MAX_REQUEST_BYTES.into())
            .max(1)
    }
}
