//! The formats, one file each. A new one is a file and a line in [`FORMATS`].

mod alibaba;
mod blkparse;
mod blktrace;
mod disksim;
mod fio_iolog;
mod fiu;
mod five_columns;
mod flashnet;
mod kv_cache;
mod mqsim;
mod msr;
mod oracle_general;
mod parquet;
mod scsi;
mod spc;
mod systor;
mod tencent;
mod vscsi;
mod vscsi_text;

use crate::error::TraceError;
use crate::head::Head;
use crate::input::Input;
use crate::lines::{LineFormat, Lines};
use crate::options::Options;
use crate::sink::Source;

/// What a format's records can contain beyond time, operation, place and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holds {
    /// Several devices.
    pub devices: bool,
    /// From arrival to completion.
    pub response: bool,
    /// From arrival to dispatch, and from there to completion.
    pub queue_events: bool,
    /// Process numbers.
    pub process: bool,
    /// Operations other than reads and writes.
    pub other_operations: bool,
}

impl Holds {
    const NOTHING_MORE: Self = Self {
        devices: false,
        response: false,
        queue_events: false,
        process: false,
        other_operations: false,
    };
    const DEVICES: Self = Self {
        devices: true,
        ..Self::NOTHING_MORE
    };
}

type Open = fn(Vec<Input>, &Options) -> Result<Vec<Box<dyn Source>>, TraceError>;

/// A trace format.
#[derive(Clone, Copy)]
pub struct Format {
    /// The name by which it is selected.
    pub name: &'static str,
    /// Its title, for people.
    pub title: &'static str,
    /// Its fields and their units.
    pub layout: &'static str,
    /// What its records contain.
    pub holds: Holds,
    /// What its positions count: `line` (from 1), `row` (from 1) or `byte`.
    pub place: &'static str,
    /// Whether the unit of its addresses is not given, or may be given wrongly, in a trace. Then it
    /// can be set.
    pub has_address_unit: bool,
    pub(crate) recognise: fn(&Head<'_>) -> bool,
    pub(crate) open: Open,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

/// Every format.
pub const FORMATS: &[Format] = &[
    spc::FORMAT,
    msr::FORMAT,
    alibaba::FORMAT,
    tencent::FORMAT,
    systor::FORMAT,
    fiu::FORMAT,
    blkparse::FORMAT,
    blktrace::FORMAT,
    fio_iolog::FORMAT,
    disksim::FORMAT,
    mqsim::FORMAT,
    vscsi::FORMAT,
    vscsi_text::FORMAT,
    flashnet::FORMAT,
    kv_cache::FORMAT,
    parquet::FORMAT,
    oracle_general::FORMAT,
];

/// Their names, for messages.
pub(crate) fn known() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    names.join(", ")
}

/// The format with this name.
///
/// # Errors
///
/// [`TraceError::UnknownFormat`] with the known ones.
pub fn format_named(name: &str) -> Result<&'static Format, TraceError> {
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| TraceError::UnknownFormat {
        name: name.to_owned(),
        known: known(),
    })
}

/// The format that the beginning of a file matches.
pub(crate) fn recognise(input: &Input) -> Result<&'static Format, TraceError> {
    let head = Head::of(input);
    let fitting = FORMATS.iter().filter(|format| (format.recognise)(&head));
    let file = input.name.clone();
    match fitting.collect::<Vec<_>>().as_slice() {
        [format] => Ok(format),
        [] => Err(TraceError::NotRecognised {
            file,
            known: known(),
        }),
        several => {
            let names: Vec<&str> = several.iter().map(|format| format.name).collect();
            let candidates = names.join(" or ");
            Err(TraceError::Ambiguous { file, candidates })
        }
    }
}

/// A source of lines for each file.
fn lines_of<F: LineFormat + 'static>(
    inputs: Vec<Input>,
    format: impl Fn() -> F,
) -> Vec<Box<dyn Source>> {
    let sources = inputs.into_iter().map(|input| Lines::new(input, format()));
    sources
        .map(|lines| Box::new(lines) as Box<dyn Source>)
        .collect()
}

/// The unit of addresses in most formats.
const SECTOR_BYTES: u64 = drivelab_request::SECTOR_BYTES as u64;
const SECOND_NS: u64 = 1_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;
const MICROSECOND_NS: u64 = 1_000;
