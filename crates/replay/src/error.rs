//! Reasons why a trace cannot be replayed.

use drivelab_trace::TraceError;
use thiserror::Error;

/// The reason why a trace cannot be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It contains nothing that can be sent.
    #[error(
        "{name} holds no request that can be sent ({found}); name a trace with reads, writes, trims \
         or flushes"
    )]
    Nothing {
        /// The file, or the first of several.
        name: String,
        /// What it does contain.
        found: String,
    },
    /// A selected device does not exist in it.
    #[error("{name} has no device {missing:?}; it has {known}")]
    NoDevice {
        /// The file, or the first of several.
        name: String,
        /// The selected device.
        missing: String,
        /// The devices in it.
        known: String,
    },
    /// Addresses beyond any drive.
    #[error(
        "a request at {offset_bytes} of {size_bytes} bytes ends beyond what can be addressed; give \
         the size of the device, so that such requests count as bad"
    )]
    TooFar {
        /// Its first byte.
        offset_bytes: u64,
        /// Its length.
        size_bytes: u64,
    },
    /// More separate regions than are tracked.
    #[error(
        "the trace touches more than {most} separate stretches of 64 MiB, too many to lay out by \
         regions; use --fit wrap, or choose one device with --device"
    )]
    TooScattered {
        /// The largest number.
        most: usize,
    },
    /// Only some requests in the recording have response times.
    #[error(
        "the recorded depth is not known: {unknown} of {requests} requests have no response time; \
         give one with --depth"
    )]
    NoDepth {
        /// Requests without a response time.
        unknown: u64,
        /// All of them.
        requests: u64,
    },
    /// More outstanding requests than any host has.
    #[error(
        "the trace has more than {most} requests outstanding at once, so its response times are \
         wrong or in another unit; give a depth with --depth"
    )]
    TooDeep {
        /// The largest number.
        most: usize,
    },
    /// The second reading differs from the first.
    #[error(
        "{name} is not what it was when it was looked at ({what}); leave it alone during the replay"
    )]
    Changed {
        /// The file, or the first of several.
        name: String,
        /// The difference.
        what: String,
    },
    /// A drive that is too small.
    #[error("{0}")]
    DoesNotFit(String),
}
