//! Reasons why the program stops: one line each, which says what to do.

use std::io;
use std::path::PathBuf;

use drivelab_ftl::FirmwareError;
use thiserror::Error;

use crate::flash::NandError;

/// The error.
#[derive(Debug, Error)]
pub enum RunError {
    /// The drive cannot have this shape.
    #[error("geometry {given}: {why}")]
    Geometry {
        /// The given text.
        given: String,
        /// What is wrong, and what works.
        why: String,
    },
    /// An invalid word on the command line.
    #[error("{0}; see drivelab-firmware --help")]
    Usage(String),
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A file is not a snapshot, or not one of this program.
    #[error("{}: {why}; make one with drivelab-firmware snapshot --out FILE", path.display())]
    Snapshot {
        /// Its path.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A request of the list is invalid.
    #[error("{list}: request {number} {why}")]
    Request {
        /// The name of the list.
        list: String,
        /// Its number, from 0.
        number: u64,
        /// The error in it.
        why: String,
    },
    /// The map refuses.
    #[error("the firmware stopped: {0}")]
    Map(#[from] FirmwareError),
    /// The user's own firmware cannot be used.
    #[error("{0}")]
    Own(String),
    /// The flash refuses.
    #[error("the flash refused an operation: {0}")]
    Nand(#[from] NandError),
    /// No progress is possible.
    #[error(
        "the firmware is stuck: {outstanding} commands are outstanding and no worker can go on"
    )]
    Stuck {
        /// Commands that the host waits for.
        outstanding: usize,
    },
    /// The host received an unexpected completion.
    #[error("request {number} ended with NVMe status {status:#06x}")]
    Status {
        /// The number of the request.
        number: u64,
        /// The status field.
        status: u16,
    },
    /// The state contradicts itself.
    #[error("{0}")]
    Inconsistent(String),
}

impl RunError {
    /// Whether the firmware and its flash contradict each other.
    #[must_use]
    pub fn is_contradiction(&self) -> bool {
        matches!(self, Self::Nand(_) | Self::Inconsistent(_))
    }

    /// Whether the caller can do something about it.
    #[must_use]
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            Self::Geometry { .. }
                | Self::Usage(_)
                | Self::File { .. }
                | Self::Snapshot { .. }
                | Self::Request { .. }
        )
    }
}
