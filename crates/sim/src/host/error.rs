//! Reasons why a run of a simulated drive fails.

use drivelab_ftl::{ExternalError, FirmwareError, LayoutError};
use drivelab_request::{Command, Nanos};
use thiserror::Error;

use super::load::MOST_STREAMS;

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimError {
    /// The preset's geometry leaves the firmware no space.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A library cannot serve as the firmware.
    #[error(transparent)]
    External(#[from] ExternalError),
    /// The user's own firmware should start from a condition that it cannot reach.
    #[error(
        "a drive with a firmware of its own cannot be worn: choose the condition fresh, filled or \
         preconditioned"
    )]
    WornExternal,
    /// The blocks of the drive fail, but its firmware is the user's own.
    #[error(
        "a drive with a firmware of its own cannot have bad blocks: leave out \
         ageing.factory_bad_ratio, ageing.program_failure_probability and \
         ageing.erase_failure_probability"
    )]
    BadBlocksExternal,
    /// The user's own firmware on flash of which the built-in firmware uses a part as SLC.
    #[error("a drive with a firmware of its own knows no SLC blocks: remove [slc] from the preset")]
    SlcExternal,
    /// The user's own firmware, which is not informed about the content of data.
    #[error(
        "a drive with a firmware of its own is not told what data looks like: remove \
         [compression] from the preset"
    )]
    CompressionExternal,
    /// The user's own firmware, which receives no placement handles.
    #[error(
        "a drive with a firmware of its own is told no placement handles: remove [placement] from \
         the preset"
    )]
    PlacementExternal,
    /// The user's own firmware, which does not know zones.
    #[error("a drive with a firmware of its own knows no zones: remove [zones] from the preset")]
    ZonesExternal,
    /// The user's own firmware, which refreshes nothing.
    #[error(
        "a drive with a firmware of its own refreshes nothing: remove [refresh] from the preset"
    )]
    RefreshExternal,
    /// The firmware refused a request.
    #[error(transparent)]
    Firmware(#[from] FirmwareError),
    /// More dies than the event queue has leaves.
    #[error("{units} units (dies, or planes in plane mode) are too many: at most {most}")]
    TooManyUnits {
        /// Dies, or planes in plane mode.
        units: u32,
        /// The most that fit.
        most: usize,
    },
    /// A request that is empty, outside the drive, or outside its stream's range.
    #[error(
        "stream {stream:?}: a {} of {} bytes at offset {} does not lie within bytes {start} to \
         {end} of the drive",
        command.kind, command.size_bytes, command.offset_bytes
    )]
    Range {
        /// The name of its stream.
        stream: String,
        /// The request.
        command: Command,
        /// Where the range begins.
        start: u64,
        /// Where the range ends. Without a range, the drive's size in bytes.
        end: u64,
    },
    /// Too many streams, or none.
    #[error("a load has 1 to {MOST_STREAMS} streams, not {count}")]
    Streams {
        /// The number of streams.
        count: usize,
    },
    /// A stream that the drive cannot serve.
    #[error("stream {name:?}: {reason}")]
    Stream {
        /// Its name.
        name: String,
        /// Why, and what is allowed.
        reason: String,
    },
    /// A read of data that was never written.
    #[error(
        "a read at offset {offset_bytes} finds pages that were never written: a fresh drive holds \
         no data to read; read what was written (a scenario's range_bytes), or choose a preset \
         whose condition is filled or preconditioned"
    )]
    Unmapped {
        /// Offset of the request.
        offset_bytes: u64,
    },
    /// A step before this one failed or was stopped.
    #[error(
        "the drive's state was lost when a step failed: purge it, or load a state that was saved"
    )]
    StateLost,
    /// A window that the streams do not fill, or that has no end.
    #[error("{0}")]
    Window(String),
    /// More page operations than a controller could queue.
    #[error(
        "more than {most} page operations are in flight at once: use a smaller queue depth or \
         smaller requests"
    )]
    InFlight {
        /// The most that are kept.
        most: u32,
    },
    /// Requests of an open loop out of order.
    #[error("the requests of an open loop must be in order of arrival")]
    Unordered,
    /// More requests than can be counted.
    #[error("{warmup_requests} requests before {requests} measured ones are too many to count")]
    TooMany {
        /// Before the window.
        warmup_requests: u64,
        /// In the window.
        requests: u64,
    },
    /// All measured requests completed in one instant, so there is no rate.
    #[error(
        "the measured requests took no simulated time: measure more of them, on a drive whose \
         times are not all 0, and not of trimmed data, zeroes, trims of less than a row of an \
         array with parity, or what zones refuse alone"
    )]
    NoTime,
    /// A stream sends more requests than the drive serves, so their number grows without bound.
    #[error(
        "stream {stream:?}: after {} ms of simulated time more than {most} of its requests are \
         outstanding: the drive does not keep up; let fewer arrive, or end the run earlier",
        nanos / 1_000_000
    )]
    Overloaded {
        /// The stream's name.
        stream: String,
        /// The largest allowed number of outstanding requests.
        most: u64,
        /// When this was noticed.
        nanos: u64,
    },
    /// Nothing completed between the opening and the closing of the window.
    #[error("no request completed in the {} ns measured: measure longer", window.0)]
    NoRequests {
        /// Length of the window.
        window: Nanos,
    },
    /// Nothing to measure.
    #[error(
        "a run needs at least one measured request and a queue depth of at least 1; in an open \
         loop, as many requests as are measured"
    )]
    Empty,
    /// Requests remained unfinished: a fault of the simulator.
    #[error(
        "the simulation stalled: {submitted} requests of stream {stream:?} were submitted, \
         {completed} completed; this is a fault of the simulator, please report it with the \
         preset and the seed"
    )]
    Stalled {
        /// The stream they belong to.
        stream: String,
        /// Requests submitted.
        submitted: u64,
        /// Requests completed.
        completed: u64,
    },
    /// The system refuses memory.
    #[error(
        "{} MiB of memory are needed and refused: allow more (`ulimit -v`), take fewer workers, or \
         a drive with fewer pages",
        bytes.div_ceil(1 << 20)
    )]
    NoMemory {
        /// How much was asked for.
        bytes: u64,
    },
    /// The system refuses a thread.
    #[error(
        "no thread could be started: {reason}; end other programs, or allow more (`ulimit -u`)"
    )]
    NoThread {
        /// The reason that the system gives.
        reason: String,
    },
    /// The caller no longer wants the result.
    #[error("the simulation was stopped")]
    Stopped,
    /// The run takes too long.
    #[error("simulated time reached {nanos} ns, 6.5 days: measure fewer requests")]
    EndOfTime {
        /// Simulated time, ns.
        nanos: u64,
    },
}
