//! Why a run of a simulated drive fails.

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
    /// A library cannot be the firmware.
    #[error(transparent)]
    External(#[from] ExternalError),
    /// A firmware of the user's own starts from a condition that it could not bring about.
    #[error(
        "a drive with a firmware of its own cannot be worn: choose the condition fresh, filled or \
         preconditioned"
    )]
    WornExternal,
    /// A drive whose blocks fail with a firmware from outside.
    #[error(
        "a drive with a firmware of its own cannot have bad blocks: leave out \
         ageing.factory_bad_ratio, ageing.program_failure_probability and \
         ageing.erase_failure_probability"
    )]
    BadBlocksExternal,
    /// A firmware of the user's own on flash of which the built-in one uses a part otherwise.
    #[error("a drive with a firmware of its own knows no SLC blocks: remove [slc] from the preset")]
    SlcExternal,
    /// A firmware of the user's own, which is not told what data looks like.
    #[error(
        "a drive with a firmware of its own is not told what data looks like: remove \
         [compression] from the preset"
    )]
    CompressionExternal,
    /// A firmware of the user's own, which is told no placement handles.
    #[error(
        "a drive with a firmware of its own is told no placement handles: remove [placement] from \
         the preset"
    )]
    PlacementExternal,
    /// A firmware of the user's own, which knows no zones.
    #[error("a drive with a firmware of its own knows no zones: remove [zones] from the preset")]
    ZonesExternal,
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
    /// A request that is empty or does not lie on the drive, or in its stream's range.
    #[error(
        "stream {stream:?}: a {} of {} bytes at offset {} does not lie within bytes {start} to \
         {end} of the drive",
        command.kind, command.size_bytes, command.offset_bytes
    )]
    Range {
        /// The name of the stream that it is of.
        stream: String,
        /// The request.
        command: Command,
        /// Where the range begins.
        start: u64,
        /// Where it ends: for a stream without a range the drive's size in bytes.
        end: u64,
    },
    /// Too many streams, or none.
    #[error("a load has 1 to {MOST_STREAMS} streams, not {count}")]
    Streams {
        /// How many it has.
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
    /// A window that the streams do not fill, or that nothing ends.
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
    /// All measured requests completed in one instant: no rate can be told.
    #[error(
        "the measured requests took no simulated time: measure more of them, on a drive whose \
         times are not all 0, and not of trimmed data, zeroes or what zones refuse alone"
    )]
    NoTime,
    /// More requests come than the drive serves, for so long that their number knows no bound.
    #[error(
        "stream {stream:?}: after {} ms of simulated time more than {most} of its requests are \
         outstanding: the drive does not keep up; let fewer arrive, or end the run earlier",
        nanos / 1_000_000
    )]
    Overloaded {
        /// The stream's name.
        stream: String,
        /// How many may be outstanding.
        most: u64,
        /// When it was noticed.
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
    /// Requests were left over: a fault of the simulator.
    #[error(
        "the simulation stalled: {submitted} requests of stream {stream:?} were submitted, \
         {completed} completed; this is a fault of the simulator, please report it with the \
         preset and the seed"
    )]
    Stalled {
        /// Of which stream.
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
        /// What the system says.
        reason: String,
    },
    /// Whoever asked for it no longer wants the result.
    #[error("the simulation was stopped")]
    Stopped,
    /// The run lasts too long.
    #[error("simulated time reached {nanos} ns, 6.5 days: measure fewer requests")]
    EndOfTime {
        /// Simulated time, ns.
        nanos: u64,
    },
}
