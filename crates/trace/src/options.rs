//! How a trace is to be read.

use crate::error::TraceError;
use crate::words;

/// How invalid lines and records are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadLines {
    /// The first one is an error.
    #[default]
    Refuse,
    /// They are counted and left out.
    Skip,
}

/// Which columns of a table hold what. Only Parquet files need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Arrival of a request, in the time unit.
    pub arrival: String,
    /// Offset of its first byte, in sectors.
    pub offset: String,
    /// Number of bytes.
    pub size: String,
    /// `read`, `write`, ..., their first letters, or 0 for a read and 1 for a write.
    pub operation: String,
    /// The device. Without this column there is one device.
    pub device: Option<String>,
    /// From arrival to completion, in the time unit.
    pub response: Option<String>,
    /// From arrival to dispatch, in the time unit.
    pub queue: Option<String>,
    /// From dispatch to completion, in the time unit.
    pub device_time: Option<String>,
    /// The process.
    pub process: Option<String>,
}

impl Default for Columns {
    /// The names that [`crate::TraceWriter`] uses.
    fn default() -> Self {
        Self {
            arrival: "arrival_ns".to_owned(),
            offset: "offset_bytes".to_owned(),
            size: "size_bytes".to_owned(),
            operation: "operation".to_owned(),
            device: Some("device".to_owned()),
            response: Some("response_ns".to_owned()),
            queue: Some("queue_ns".to_owned()),
            device_time: Some("device_ns".to_owned()),
            process: Some("process".to_owned()),
        }
    }
}

impl Columns {
    /// The names in the log of a simulated run (`drivelab simulate --log`), whose requests form a
    /// trace too.
    #[must_use]
    pub fn of_simulation() -> Self {
        Self {
            arrival: "submitted_ns".to_owned(),
            response: Some("latency_ns".to_owned()),
            device: None,
            queue: None,
            device_time: None,
            process: None,
            ..Self::default()
        }
    }

    /// Columns by their content: `arrival`, `offset`, `size` and `operation`, and the optional
    /// `device`, `response`, `queue`, `device_time` and `process`. The first four have default
    /// names.
    ///
    /// # Errors
    ///
    /// [`TraceError::Option`] for any other content.
    pub fn mapped(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, TraceError> {
        let mut columns = Self {
            device: None,
            response: None,
            queue: None,
            device_time: None,
            process: None,
            ..Self::default()
        };
        for (meaning, name) in pairs {
            match meaning.as_str() {
                "arrival" => columns.arrival = name,
                "offset" => columns.offset = name,
                "size" => columns.size = name,
                "operation" => columns.operation = name,
                "device" => columns.device = Some(name),
                "response" => columns.response = Some(name),
                "queue" => columns.queue = Some(name),
                "device_time" => columns.device_time = Some(name),
                "process" => columns.process = Some(name),
                _ => {
                    return Err(TraceError::Option {
                        name: "what a column holds",
                        value: format!("{meaning:?}"),
                        allowed: "arrival, offset, size, operation, device, response, queue, \
                                  device_time, process",
                    });
                }
            }
        }
        Ok(columns)
    }
}

/// Requests held back for sorting by default.
pub const SORT_WINDOW: usize = 4096;

/// The most requests held back for sorting: 144 MB.
pub const MOST_SORT_WINDOW: usize = 1 << 20;

/// How a trace is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the format. `None` recognises it from the content.
    pub format: Option<String>,
    /// How invalid lines are handled.
    pub bad_lines: BadLines,
    /// Only requests to these devices, by name.
    pub devices: Option<Vec<String>>,
    /// Requests that end beyond this many bytes are invalid.
    pub device_bytes: Option<u64>,
    /// The trace's unit of time in ns, if it is not the format's.
    pub time_unit_ns: Option<u64>,
    /// The trace's unit of addresses in bytes, if it is not the format's.
    pub sector_bytes: Option<u64>,
    /// A request may come behind this many later ones; 0 for none.
    pub sort_window: usize,
    /// Which columns of a Parquet file hold what.
    pub columns: Columns,
    /// Whether `columns` were given, so that all of them must exist.
    pub columns_given: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            bad_lines: BadLines::default(),
            devices: None,
            device_bytes: None,
            time_unit_ns: None,
            sector_bytes: None,
            sort_window: SORT_WINDOW,
            columns: Columns::default(),
            columns_given: false,
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), TraceError> {
        let refuse = |name, value: &dyn ToString, allowed| {
            let value = value.to_string();
            Err(TraceError::Option {
                name,
                value,
                allowed,
            })
        };
        if self.sort_window > MOST_SORT_WINDOW {
            return refuse(
                words::SORT_WINDOW,
                &self.sort_window,
                "0 to 1,048,576 requests",
            );
        }
        if self
            .time_unit_ns
            .is_some_and(|unit| !(1..=NANOS_PER_HOUR).contains(&unit))
        {
            let unit = self.time_unit_ns.unwrap_or(0);
            return refuse(words::TIME_UNIT, &unit, "1 to 3,600,000,000,000 ns");
        }
        if self
            .sector_bytes
            .is_some_and(|unit| !(1..=1 << 30).contains(&unit))
        {
            let unit = self.sector_bytes.unwrap_or(0);
            return refuse(words::ADDRESS_UNIT, &unit, "1 to 1,073,741,824 bytes");
        }
        if self.device_bytes == Some(0) {
            return refuse(words::DEVICE_SIZE, &0, "1 byte or more");
        }
        Ok(())
    }
}

const NANOS_PER_HOUR: u64 = 3_600_000_000_000;
