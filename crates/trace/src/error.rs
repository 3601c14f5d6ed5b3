//! What is wrong with a trace, and what to do.

use thiserror::Error;

use crate::Operation;
use crate::devices::MOST_DEVICES;
use crate::input::MOST_LINE_BYTES;
use crate::words;

/// Why a trace cannot be read or written.
#[derive(Debug, Error)]
pub enum TraceError {
    /// No path was given.
    #[error("no trace was given: name one file or more")]
    NoFiles,
    /// More files than can be merged.
    #[error("{files} files; at most {most} are merged: join some of them first")]
    TooManyFiles {
        /// How many.
        files: usize,
        /// How many may be.
        most: usize,
    },
    /// A file cannot be opened.
    #[error("{file} cannot be opened: {error}")]
    Open {
        /// The file.
        file: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file cannot be read, or what was compressed cannot be taken apart.
    #[error("{file} cannot be read beyond byte {offset}: {error}; {remedy}")]
    Read {
        /// The file.
        file: String,
        /// How far it was read, bytes after decompression.
        offset: u64,
        /// What the system or the decompressor says.
        error: std::io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// A file without a byte.
    #[error("{file} is empty: a trace has at least one request")]
    Empty {
        /// The file.
        file: String,
    },
    /// A way to compress that is not read.
    #[error("{file} is compressed with {method}; only gzip and zstd are read: decompress it first")]
    Compression {
        /// The file.
        file: String,
        /// With what.
        method: &'static str,
    },
    /// A format that there is none of.
    #[error("there is no trace format {name:?}; there are {known}")]
    UnknownFormat {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No format looks like this.
    #[error(
        "{file} looks like none of the trace formats {known}; if it is one of them, name it with {}",
        words::FORMAT
    )]
    NotRecognised {
        /// The file.
        file: String,
        /// What there is.
        known: String,
    },
    /// More than one format looks like this.
    #[error("{file} could be {candidates}: name one with {}", words::FORMAT)]
    Ambiguous {
        /// The file.
        file: String,
        /// Which ones.
        candidates: String,
    },
    /// A format without what a workload needs.
    #[error("{file} is a trace of {format}, which cannot be used: {reason}")]
    Refused {
        /// The file.
        file: String,
        /// Its format.
        format: &'static str,
        /// What it lacks, and what to take instead.
        reason: &'static str,
    },
    /// A line or record that is refused.
    #[error(
        "{file}, {place}: {problem}{excerpt}; mend it, skip bad lines with {}, or name the right \
         {}",
        words::SKIP_BAD_LINES,
        words::FORMAT
    )]
    Bad {
        /// The file.
        file: String,
        /// `line 7`, or `byte 96`.
        place: String,
        /// What is wrong.
        problem: Problem,
        /// What stands there.
        excerpt: String,
    },
    /// A whole file that is not as its format demands.
    #[error("{file} is no sound {format} file: {reason}")]
    Format {
        /// The file.
        file: String,
        /// The format.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// An option that makes no sense.
    #[error("{name} is {value}; allowed: {allowed}")]
    Option {
        /// Which.
        name: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// More windows than are kept.
    #[error(
        "more than {most} windows of {} s hold requests: use a longer {}",
        *width_ns as f64 / 1e9,
        words::WINDOW
    )]
    TooManyWindows {
        /// How many are kept.
        most: usize,
        /// How long they are.
        width_ns: u64,
    },
    /// Trouble writing.
    #[error("the trace cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// Something that the format cannot hold.
    #[error(
        "request {number}: {format} cannot hold {what}; write another format, or leave such \
         requests out with {}",
        words::DROP
    )]
    CannotHold {
        /// Which request, from 1.
        number: u64,
        /// The format.
        format: &'static str,
        /// What it cannot hold.
        what: String,
    },
}

/// What is wrong with a line or record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// A field that is missing or of another kind.
    #[error("the {field} is not {expected}")]
    Field {
        /// Which.
        field: &'static str,
        /// What should stand there.
        expected: &'static str,
    },
    /// A number that is larger than what it stands for can be.
    #[error(
        "the {field} is larger than 64 bits hold in bytes or ns; check its unit ({}, {})",
        words::TIME_UNIT,
        words::ADDRESS_UNIT
    )]
    TooLarge {
        /// Which.
        field: &'static str,
    },
    /// More text where a line should end.
    #[error("there is more behind the last field")]
    MoreFields,
    /// A line longer than any trace has.
    #[error("the line is longer than {MOST_LINE_BYTES} bytes")]
    LongLine,
    /// A byte of value 0 in text.
    #[error("the line holds a byte of value 0; the file is damaged, or binary")]
    Nul,
    /// A binary record that is none.
    #[error("{0}")]
    Record(&'static str),
    /// The file ends inside a record.
    #[error("the file ends inside a record, after {bytes} bytes of it")]
    CutRecord {
        /// How many bytes there are.
        bytes: usize,
    },
    /// No data moved by what moves data.
    #[error("a {operation} of 0 bytes")]
    ZeroSize {
        /// Read or write.
        operation: Operation,
    },
    /// A request that the device has no room for.
    #[error("the request ends at byte {end_bytes}, and the device has {device_bytes} bytes")]
    BeyondDevice {
        /// Where it ends.
        end_bytes: u64,
        /// Where the device ends.
        device_bytes: u64,
    },
    /// Too early to be sorted in.
    #[error(
        "the request is {by_ns} ns earlier than one that was given out; at most {window} later \
         ones may precede it: widen {}, or sort the trace first",
        words::SORT_WINDOW
    )]
    Late {
        /// By how much.
        by_ns: u64,
        /// How many requests are held back for sorting.
        window: usize,
    },
    /// Devices without end.
    #[error(
        "more than {MOST_DEVICES} devices; this is another format, or its columns are mapped wrongly"
    )]
    TooManyDevices,
    /// Objects without end.
    #[error("more than {most} objects, each of which needs a place on the device")]
    TooManyObjects {
        /// How many may be.
        most: usize,
    },
}

impl Problem {
    /// Whether nothing that follows can be read.
    pub(crate) const fn is_fatal(&self) -> bool {
        matches!(self, Self::TooManyDevices | Self::TooManyObjects { .. })
    }
}
