//! One request of a trace.

use std::fmt;

use drivelab_request::CommandKind;

/// A time or number that the trace does not contain.
pub const UNKNOWN: u64 = u64::MAX;

/// A process that the trace does not contain.
pub const UNKNOWN_PROCESS: u32 = u32::MAX;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Operation {
    /// Data from the drive to the host.
    Read = 0,
    /// Data from the host to the drive.
    Write = 1,
    /// The range is not needed any more (TRIM, UNMAP, discard, secure erase).
    Trim = 2,
    /// Everything completed before must survive a power loss.
    Flush = 3,
    /// Anything else, such as an inquiry.
    Other = 4,
}

impl Operation {
    /// Every operation, in the order of [`Operation::index`].
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Write,
        Self::Trim,
        Self::Flush,
        Self::Other,
    ];

    /// The index in arrays with one entry for each operation.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// `read`, `write`, `trim`, `flush` or `other`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.command() {
            Some(command) => command.name(),
            None => "other",
        }
    }

    /// The operation with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.name() == name)
    }

    /// Whether it moves data, so that a size of 0 is invalid.
    #[inline]
    #[must_use]
    pub const fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// The command to send to a drive for it; `None` for [`Operation::Other`].
    #[must_use]
    pub const fn command(self) -> Option<CommandKind> {
        match self {
            Self::Read => Some(CommandKind::Read),
            Self::Write => Some(CommandKind::Write),
            Self::Trim => Some(CommandKind::Trim),
            Self::Flush => Some(CommandKind::Flush),
            Self::Other => None,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One request of a trace. [`crate::Format`] says which fields a format fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it arrived, ns after the trace's first request.
    pub arrival_ns: u64,
    /// Offset of its first byte on the device.
    pub offset_bytes: u64,
    /// Number of bytes; 0 for an operation without bytes.
    pub size_bytes: u64,
    /// From arrival to completion, ns; or [`UNKNOWN`].
    pub response_ns: u64,
    /// From arrival to dispatch (Q2D of blktrace), ns; or [`UNKNOWN`].
    pub queue_ns: u64,
    /// From dispatch to completion (D2C of blktrace), ns; or [`UNKNOWN`].
    pub device_ns: u64,
    /// Where it was read: a line from 1, or the byte offset at which a binary record begins.
    pub position: u64,
    /// Index of its device, in order of appearance.
    pub device: u32,
    /// The process that sent it, or [`UNKNOWN_PROCESS`].
    pub process: u32,
    /// Index of its file in the trace, from 0.
    pub file: u16,
    /// Its operation.
    pub operation: Operation,
}

impl Record {
    /// A request with only the fields that every trace has.
    #[inline]
    #[must_use]
    pub const fn new(
        arrival_ns: u64,
        device: u32,
        operation: Operation,
        offset_bytes: u64,
        size_bytes: u64,
    ) -> Self {
        Self {
            arrival_ns,
            offset_bytes,
            size_bytes,
            response_ns: UNKNOWN,
            queue_ns: UNKNOWN,
            device_ns: UNKNOWN,
            position: 0,
            device,
            process: UNKNOWN_PROCESS,
            file: 0,
            operation,
        }
    }
}
