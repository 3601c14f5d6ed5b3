//! Errors in traces, and what to do about them.

use thiserror::Error;

use crate::Operation;
use crate::devices::MOST_DEVICES;
use crate::input::MOST_LINE_BYTES;
use crate::words;

/// The reason why a trace cannot be read or written.
#[derive(Debug, Error)]
pub enum TraceError {
    /// No path was given.
    #[error("no trace was given: name one file or more")]
    NoFiles,
    /// More files than can be merged.
    #[error("{files} files; at most {most} are merged: join some of them first")]
    TooManyFiles {
        /// Their number.
        files: usize,
        /// The largest number.
        most: usize,
    },
    /// A file cannot be opened.
    #[error("{file} cannot be opened: {error}")]
    Open {
        /// The file.
        file: String,
        /// The message of the system.
        error: std::io::Error,
    },
    /// A file cannot be read, or its content cannot be decompressed.
    #[error("{file} cannot be read beyond byte {offset}: {error}; {remedy}")]
    Read {
        /// The file.
        file: String,
        /// How far it was read, in bytes after decompression.
        offset: u64,
        /// The message of the system or the decompressor.
        error: std::io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// A file of 0 bytes.
    #[error("{file} is empty: a trace has at least one request")]
    Empty {
        /// The file.
        file: String,
    },
    /// A compression that is not supported.
    #[error("{file} is compressed with {method}; only gzip and zstd are read: decompress it first")]
    Compression {
        /// The file.
        file: String,
        /// Its name.
        method: &'static str,
    },
    /// An unknown format.
    #[error("there is no trace format {name:?}; there are {known}")]
    UnknownFormat {
        /// The requested name.
        name: String,
        /// The known formats.
        known: String,
    },
    /// The file fits no format.
    #[error(
        "{file} looks like none of the trace formats {known}; if it is one of them, name it with {}",
        words::FORMAT
    )]
    NotRecognised {
        /// The file.
        file: String,
        /// The known formats.
        known: String,
    },
    /// The file fits several formats.
    #[error("{file} could be {candidates}: name one with {}", words::FORMAT)]
    Ambiguous {
        /// The file.
        file: String,
        /// Which ones.
        candidates: String,
    },
    /// A format that lacks what a workload needs.
    #[error("{file} is a trace of {format}, which cannot be used: {reason}")]
    Refused {
        /// The file.
        file: String,
        /// Its format.
        format: &'static str,
        /// What it lacks, and what to use instead.
        reason: &'static str,
    },
    /// A refused line or record.
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
        /// Its text.
        excerpt: String,
    },
    /// A file that violates its format as a whole.
    #[error("{file} cannot be read as {format}: {reason}")]
    Format {
        /// The file.
        file: String,
        /// The format.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// An invalid option.
    #[error("{name} is {value}; allowed: {allowed}")]
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// More windows than are kept.
    #[error(
        "more than {most} windows of {} s hold requests: use a longer {}",
        *width_ns as f64 / 1e9,
        words::WINDOW
    )]
    TooManyWindows {
        /// The number that is kept.
        most: usize,
        /// Their length.
        width_ns: u64,
    },
    /// Writing failed.
    #[error("the trace cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// Something that the format cannot store.
    #[error(
        "request {number}: {format} cannot hold {what}; write another format, or leave such \
         requests out with {}",
        words::DROP
    )]
    CannotHold {
        /// Number of the request, from 1.
        number: u64,
        /// The format.
        format: &'static str,
        /// What it cannot store.
        what: String,
    },
}

/// Of 365.25 days.
const NS_PER_YEAR: f64 = 31_557_600e9;

/// An error in a line or record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// A field that is missing or of the wrong kind.
    #[error("the {field} is not {expected}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// A number too large for its quantity.
    #[error(
        "the {field} is larger than 64 bits hold in bytes or ns; check its unit ({}, {})",
        words::TIME_UNIT,
        words::ADDRESS_UNIT
    )]
    TooLarge {
        /// Its name.
        field: &'static str,
    },
    /// A request larger than any that a device takes.
    #[error(
        "a {operation} of {size_bytes} bytes, and a device takes at most {most_bytes} at once; \
         check the unit of sizes ({})",
        words::ADDRESS_UNIT
    )]
    Huge {
        /// Read, write or trim.
        operation: Operation,
        /// Its size.
        size_bytes: u64,
        /// The largest size.
        most_bytes: u64,
    },
    /// A request too long before or after another one.
    #[error(
        "the request is {:.0} years away from one before it; check the unit of times ({})",
        *by_ns as f64 / NS_PER_YEAR,
        words::TIME_UNIT
    )]
    FarApart {
        /// By how much.
        by_ns: u64,
    },
    /// More text where the line should end.
    #[error("there is more behind the last field")]
    MoreFields,
    /// A line longer than in any trace.
    #[error("the line is longer than {MOST_LINE_BYTES} bytes")]
    LongLine,
    /// A byte of value 0 in text.
    #[error("the line holds a byte of value 0; the file is damaged, or binary")]
    Nul,
    /// An invalid binary record.
    #[error("{0}")]
    Record(&'static str),
    /// The file ends inside a record.
    #[error("the file ends inside a record, after {bytes} bytes of it")]
    CutRecord {
        /// The number of bytes left.
        bytes: usize,
    },
    /// A read or write without data.
    #[error("a {operation} of 0 bytes")]
    ZeroSize {
        /// Read or write.
        operation: Operation,
    },
    /// A request beyond the end of the device.
    #[error("the request ends at byte {end_bytes}, and the device has {device_bytes} bytes")]
    BeyondDevice {
        /// Where it ends.
        end_bytes: u64,
        /// Where the device ends.
        device_bytes: u64,
    },
    /// A request too late to be sorted in.
    #[error(
        "the request is {by_ns} ns earlier than one that was given out; at most {window} later \
         ones may precede it: widen {}, or sort the trace first",
        words::SORT_WINDOW
    )]
    Late {
        /// By how much.
        by_ns: u64,
        /// The number of requests held back for sorting.
        window: usize,
    },
    /// Too many devices.
    #[error(
        "more than {MOST_DEVICES} devices; this is another format, or its columns are mapped wrongly"
    )]
    TooManyDevices,
    /// Too many objects.
    #[error("more than {most} objects, each of which needs a place on the device")]
    TooManyObjects {
        /// The largest number.
        most: usize,
    },
}

impl Problem {
    /// Whether nothing after it can be read.
    pub(crate) const fn is_fatal(&self) -> bool {
        matches!(self, Self::TooManyDevices | Self::TooManyObjects { .. })
    }
}
