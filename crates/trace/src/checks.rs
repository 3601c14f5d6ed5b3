//! Findings while a trace was read: counts, with the first few places of each.

use crate::error::Problem;
use crate::record::{Operation, UNKNOWN};

/// The number of places kept for each finding.
pub const EXAMPLES: usize = 5;

/// What a trace is checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Check {
    /// Lines or records that do not belong to the format, or are cut off or damaged.
    Malformed = 0,
    /// Lines longer than in any trace.
    LongLine = 1,
    /// Numbers beyond 64 bits, or beyond what a device takes.
    TooLarge = 2,
    /// Reads and writes of no bytes.
    ZeroSize = 3,
    /// Requests that end beyond the device.
    BeyondDevice = 4,
    /// Requests that were too late to be sorted in.
    Late = 5,
    /// Requests earlier than the one before them in their file. They were sorted in, or are late.
    StepBack = 6,
    /// Dispatches without an arrival, taken as requests that arrive then.
    LoneDispatch = 7,
    /// Completions without an earlier request; they are left out.
    LoneCompletion = 8,
    /// The last line has no line feed: the file may have been cut there.
    NoLineEnd = 9,
}

impl Check {
    /// Every check, in order.
    pub const ALL: [Self; 10] = [
        Self::Malformed,
        Self::LongLine,
        Self::TooLarge,
        Self::ZeroSize,
        Self::BeyondDevice,
        Self::Late,
        Self::StepBack,
        Self::LoneDispatch,
        Self::LoneCompletion,
        Self::NoLineEnd,
    ];

    /// Its key in a summary.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::LongLine => "long_line",
            Self::TooLarge => "too_large",
            Self::ZeroSize => "zero_size",
            Self::BeyondDevice => "beyond_device",
            Self::Late => "late",
            Self::StepBack => "step_back",
            Self::LoneDispatch => "lone_dispatch",
            Self::LoneCompletion => "lone_completion",
            Self::NoLineEnd => "no_line_end",
        }
    }

    /// Whether the finding is refused or skipped, not only counted.
    #[must_use]
    pub const fn is_bad(self) -> bool {
        (self as u8) <= Self::Late as u8
    }

    pub(crate) const fn of(problem: &Problem) -> Self {
        match problem {
            Problem::LongLine => Self::LongLine,
            Problem::TooLarge { .. } | Problem::Huge { .. } | Problem::FarApart { .. } => {
                Self::TooLarge
            }
            Problem::ZeroSize { .. } => Self::ZeroSize,
            Problem::BeyondDevice { .. } => Self::BeyondDevice,
            Problem::Late { .. } => Self::Late,
            _ => Self::Malformed,
        }
    }
}

/// Where something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the file in the trace, from 0.
    pub file: u16,
    /// A line from 1, or the byte offset at which a binary record begins.
    pub position: u64,
}

/// How often something was found, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// How often.
    pub count: u64,
    /// The first places, at most [`EXAMPLES`].
    pub places: Vec<Place>,
}

/// What is known about the part of a trace that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    findings: [Finding; Check::ALL.len()],
    /// Lines or binary records read, including comments and headers.
    pub lines: u64,
    /// Requests given out.
    pub requests: u64,
    /// Requests to devices that were not selected.
    pub filtered: u64,
    /// Requests given out, by [`Operation::index`].
    pub by_operation: [u64; Operation::ALL.len()],
    /// Their bytes, by [`Operation::index`].
    pub bytes_by_operation: [u64; Operation::ALL.len()],
    /// Requests that arrive at the same time as the one before them.
    pub ties: u64,
    /// The smallest step between different arrivals, ns; [`UNKNOWN`] until there is one.
    pub smallest_step_ns: u64,
    /// The last arrival, ns after the first.
    pub span_ns: u64,
    /// Requests whose response time is known.
    pub responses: u64,
    /// The shortest response time, ns; [`UNKNOWN`] until there is one.
    pub least_response_ns: u64,
    /// The longest response time, ns.
    pub most_response_ns: u64,
    /// The end of the request that reaches furthest, in bytes.
    pub most_end_bytes: u64,
    /// The largest read or write, bytes.
    pub most_size_bytes: u64,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            findings: Default::default(),
            lines: 0,
            requests: 0,
            filtered: 0,
            by_operation: Default::default(),
            bytes_by_operation: Default::default(),
            ties: 0,
            smallest_step_ns: UNKNOWN,
            span_ns: 0,
            responses: 0,
            least_response_ns: UNKNOWN,
            most_response_ns: 0,
            most_end_bytes: 0,
            most_size_bytes: 0,
        }
    }
}

impl Checks {
    /// How often something was found.
    #[must_use]
    pub const fn finding(&self, check: Check) -> &Finding {
        // There are as many findings as checks.
        &self.findings[check as usize]
    }

    /// Lines and records that were skipped.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        let bad = Check::ALL.into_iter().filter(|check| check.is_bad());
        bad.map(|check| self.finding(check).count).sum()
    }

    #[cold]
    pub(crate) fn add(&mut self, check: Check, place: Place) {
        let finding = &mut self.findings[check as usize];
        finding.count += 1;
        if finding.places.len() < EXAMPLES {
            finding.places.push(place);
        }
    }
}
