//! Block traces: read as streams, checked, and written.
//!
//! ```text
//!   files ─> Trace::open ─> next_batch ─> Vec<Record>, in the order of arrival
//!                       ├─> Characterizer ─> Characterized
//!                       └─> checks, devices, cautions: what is known of the trace so far
//! ```
//!
//! A format is one file in `formats/` and one line in [`FORMATS`]. It is recognised by the content
//! of a trace, which may be plain, gzip or zstd. The records of every format become [`Record`]s,
//! with times in ns and places in bytes. Units and order are checked, not trusted: [`Checks`]
//! counts the findings, with the first places of each.
//!
//! [`Characterizer`] says what a trace asks of a drive, as a whole and by window. Left out: sending
//! its requests to a drive.

mod block_events;
mod blocks;
mod cautions;
mod cells;
mod characterize;
mod checks;
mod devices;
mod error;
mod fields;
mod formats;
mod gzip;
mod head;
mod input;
mod lines;
mod options;
mod reader;
mod record;
mod sink;
mod words;
mod write;

pub use cautions::{Caution, cautions};
pub use characterize::{
    Arrivals, BLOCK_BYTES, Busy, COLUMNS, COUNTED_NS, Characterized, Characterizer, Counted,
    DISTANCES, Depth, DeviceTotals, Footprint, Gaps, HeatMap, MOST_BLOCKS, MOST_COUNTED_BYTES,
    MOST_HEAT_MAPS, MOST_OUTSTANDING, MOST_SIZES, MOST_STREAMS, MOST_STRIDE_BYTES, MOST_WINDOWS,
    Orders, ROWS, RUN_BINS, Reuse, Runs, SCALES_NS, Service, Sizes, TABLES, Tally, Times, Window,
};
pub use checks::{Check, Checks, EXAMPLES, Finding, Place};
pub use devices::{Device, Devices, MOST_DEVICES};
pub use error::{Problem, TraceError};
pub use formats::{FORMATS, Format, Holds, format_named};
pub use input::{Given, MOST_LINE_BYTES};
pub use options::{BadLines, Columns, MOST_SORT_WINDOW, Options, SORT_WINDOW};
pub use reader::{MOST_FILES, Trace};
pub use record::{Operation, Record, UNKNOWN, UNKNOWN_PROCESS};
pub use write::{Compression, FIRST_NUMBER, TraceWriter, WRITTEN_FORMATS, Written};
