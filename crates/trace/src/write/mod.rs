//! Writes traces, one batch of requests after another.
//!
//! | format | what it cannot store |
//! |---|---|
//! | `spc` | trims, flushes and others; offsets that are not multiples of a sector; device names that are not numbers; response times, queue events, processes |
//! | `mqsim` | as `spc`, and sizes that are not multiples of a sector |
//! | `fio-iolog` (version 3) | other operations; fractions of a us; device names with blanks or of more than 255 bytes; response times, queue events, processes |
//! | `parquet` | offsets, sizes and times of 2^63 and more |
//!
//! A request that cannot be stored is an error, or is left out if that is allowed. [`Written`]
//! counts what was left out, rounded and dropped. If a format wants numbers, devices whose names
//! are not numbers get numbers from [`FIRST_NUMBER`] on.

mod fio_iolog;
mod mqsim;
mod packed;
mod parquet;
mod spc;

use std::io::Write;

pub use packed::Compression;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::TraceError;
use crate::record::{Operation, Record, UNKNOWN, UNKNOWN_PROCESS};

/// The first number for devices that get one.
pub const FIRST_NUMBER: u64 = 1_000_000;

/// The formats that are written, by name.
pub const WRITTEN_FORMATS: [&str; 4] = ["spc", "fio-iolog", "mqsim", "parquet"];

/// What happened to the requests that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Requests in the file.
    pub requests: u64,
    /// Requests that the format cannot store, by [`Operation::index`].
    pub left_out: [u64; Operation::ALL.len()],
    /// Requests whose time lost a fraction of a us.
    pub times_rounded: u64,
    /// Known response times for which the format has no place.
    pub responses_dropped: u64,
    /// Known times in the queue or in the device for which the format has no place.
    pub queue_events_dropped: u64,
    /// Known processes for which the format has no place.
    pub processes_dropped: u64,
    /// Devices that got a number.
    pub devices_numbered: u64,
}

/// What a format cannot store of a request.
type Cannot = String;

/// The encoder of one format.
trait Encoder: Send {
    /// Adds a request to a device. Adds nothing if it fails.
    fn add(&mut self, record: &Record, device: &str, written: &mut Written) -> Result<(), Cannot>;

    /// Writes what was added to the output.
    fn flush(&mut self) -> Result<(), TraceError>;

    /// Writes what belongs at the end.
    fn finish(self: Box<Self>) -> Result<(), TraceError>;

    /// Whether it stores what other formats drop.
    fn holds_everything(&self) -> bool {
        false
    }
}

/// A trace being written.
pub struct TraceWriter {
    format: &'static str,
    encoder: Box<dyn Encoder>,
    may_leave_out: bool,
    /// Number of requests given.
    given: u64,
    written: Written,
}

impl std::fmt::Debug for TraceWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("TraceWriter");
        shown.field("format", &self.format).finish_non_exhaustive()
    }
}

impl TraceWriter {
    /// Begins a trace. `may_leave_out` decides about requests that the format cannot store. Parquet
    /// files have internal compression and allow no other.
    ///
    /// # Errors
    ///
    /// [`TraceError`] if the format cannot be written, or the output fails.
    pub fn new(
        output: Box<dyn Write + Send>,
        format: &str,
        compression: Compression,
        may_leave_out: bool,
    ) -> Result<Self, TraceError> {
        let lines = |output| packed::Packed::new(output, compression);
        let (format, encoder): (_, Box<dyn Encoder>) = match format {
            "spc" => ("spc", Box::new(spc::Spc::new(lines(output)?))),
            "mqsim" => ("mqsim", Box::new(mqsim::Mqsim::new(lines(output)?))),
            "fio-iolog" => ("fio-iolog", Box::new(fio_iolog::Iolog::new(lines(output)?))),
            "parquet" if compression == Compression::None => {
                ("parquet", Box::new(parquet::Table::new(output)?))
            }
            "parquet" => {
                return Err(TraceError::Option {
                    name: "compression of parquet",
                    value: format!("{compression:?}").to_lowercase(),
                    allowed: "none, because its pages are compressed",
                });
            }
            other => {
                return Err(TraceError::UnknownFormat {
                    name: other.to_owned(),
                    known: format!("{}, which are written", WRITTEN_FORMATS.join(", ")),
                });
            }
        };
        Ok(Self {
            format,
            encoder,
            may_leave_out,
            given: 0,
            written: Written::default(),
        })
    }

    /// Writes requests. `devices` are the names of the devices that they refer to by number.
    ///
    /// # Errors
    ///
    /// [`TraceError::CannotHold`] unless such requests may be left out, or an error of the output.
    pub fn write<N: AsRef<str>>(
        &mut self,
        records: &[Record],
        devices: &[N],
    ) -> Result<(), TraceError> {
        for record in records {
            self.given += 1;
            let name = devices
                .get(record.device as usize)
                .map_or("", AsRef::as_ref);
            match self.encoder.add(record, name, &mut self.written) {
                Ok(()) => self.count(record),
                Err(_) if self.may_leave_out => {
                    self.written.left_out[record.operation.index()] += 1;
                }
                Err(what) => {
                    return Err(TraceError::CannotHold {
                        number: self.given,
                        format: self.format,
                        what,
                    });
                }
            }
        }
        self.encoder.flush()
    }

    fn count(&mut self, record: &Record) {
        self.written.requests += 1;
        if self.encoder.holds_everything() {
            return;
        }
        let known = |value| u64::from(value != UNKNOWN);
        self.written.responses_dropped += known(record.response_ns);
        self.written.queue_events_dropped += known(record.queue_ns).max(known(record.device_ns));
        self.written.processes_dropped += u64::from(record.process != UNKNOWN_PROCESS);
    }

    /// Ends the trace. Returns what happened to the requests.
    ///
    /// # Errors
    ///
    /// An error of the output.
    pub fn finish(self) -> Result<Written, TraceError> {
        self.encoder.finish()?;
        Ok(self.written)
    }
}

/// A number in decimal digits.
fn decimal(text: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    while let Some(place) = first.checked_sub(1) {
        first = place;
        if let Some(digit) = digits.get_mut(place) {
            *digit = b'0' + (value % 10) as u8;
        }
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend_from_slice(digits.get(first..).unwrap_or_default());
}

/// The numbers of devices in formats without names.
#[derive(Default)]
struct Numbers {
    /// The number of each device so far whose name is not a number.
    own: FxHashMap<Box<str>, u64>,
    /// All numbers in use.
    used: FxHashSet<u64>,
    /// The first number that may be free.
    next: u64,
    /// The last device, and its number.
    last: Option<(Box<str>, u64)>,
}

impl Numbers {
    fn of(&mut self, name: &str, written: &mut Written) -> Result<u64, Cannot> {
        if let Some((last, number)) = &self.last
            && **last == *name
        {
            return Ok(*number);
        }
        let number = self.look_up(name, written)?;
        self.last = Some((name.into(), number));
        Ok(number)
    }

    fn look_up(&mut self, name: &str, written: &mut Written) -> Result<u64, Cannot> {
        // Compared as written, so that 007 is a name.
        if let Some(number) = name
            .parse::<u64>()
            .ok()
            .filter(|number| number.to_string() == name)
        {
            if self.used.contains(&number) && self.own.values().any(|&own| own == number) {
                return Err(format!(
                    "the device {number}, whose number another one was given"
                ));
            }
            self.used.insert(number);
            return Ok(number);
        }
        if let Some(&number) = self.own.get(name) {
            return Ok(number);
        }
        let mut number = FIRST_NUMBER.max(self.next);
        while !self.used.insert(number) {
            number += 1;
        }
        self.next = number + 1;
        self.own.insert(name.into(), number);
        written.devices_numbered += 1;
        Ok(number)
    }
}

const SECTOR_BYTES: u64 = drivelab_request::SECTOR_BYTES as u64;

/// Converts bytes to sectors.
fn sectors(bytes: u64, what: &str) -> Result<u64, Cannot> {
    if bytes.is_multiple_of(SECTOR_BYTES) {
        Ok(bytes / SECTOR_BYTES)
    } else {
        Err(format!(
            "{what} of {bytes} bytes, which is no multiple of {SECTOR_BYTES}"
        ))
    }
}
