//! Tables of requests in Parquet. The user may name the columns.
//!
//! ```text
//! arrival_ns offset_bytes size_bytes operation [device] [response_ns] [queue_ns] [device_ns]
//! [process]                                        unless other columns are named
//!
//! submitted_ns offset_bytes size_bytes operation latency_ns    the log of a simulated run
//! ```
//!
//! Times are ns, unless a column is a timestamp (which carries its unit) or another unit is given.
//! Offsets are bytes, unless a sector size is given. Operations are names, their first letters, or
//! 0 for a read and 1 for a write. Columns hold numbers or texts and are not nested. Pages are
//! plain or compressed with snappy, gzip or zstd.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;

use super::{Format, Holds};
use crate::cells::{Cell, CellReader, time_unit_ns};
use crate::error::{Problem, TraceError};
use crate::input::{Given, Input};
use crate::options::{Columns, Options};
use crate::record::{Operation, Record};
use crate::sink::{Sink, Source};

pub(super) const FORMAT: Format = Format {
    name: "parquet",
    title: "Parquet with mapped columns",
    layout: "columns of arrival (ns), offset (bytes), size (bytes), operation and, where they are, \
             device, response, queue and device time (ns), process",
    holds: Holds {
        devices: true,
        response: true,
        queue_events: true,
        process: true,
        other_operations: true,
    },
    place: "row",
    has_address_unit: true,
    recognise: |head| head.bytes.starts_with(MAGIC),
    open: |inputs, options| {
        inputs
            .into_iter()
            .map(|input| open(&input, options))
            .collect()
    },
};

const MAGIC: &[u8] = b"PAR1";
/// The number of rows read from each column at once.
const ROWS: usize = 4096;
/// More bytes than a group of rows has in any column. A file that claims more is damaged.
const MOST_CHUNK_BYTES: i64 = 1 << 32;

/// The meaning of a column, in the order of the fields of [`crate::Columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Arrival,
    Offset,
    Size,
    Operation,
    Device,
    Response,
    Queue,
    DeviceTime,
    Process,
}

/// A column to be read.
struct Mapped {
    meaning: Meaning,
    /// Its index in the file.
    place: usize,
    /// Its unit in ns or bytes.
    unit: u64,
    reader: Option<CellReader>,
    cells: Vec<Option<Cell>>,
}

struct Table {
    name: String,
    file: Box<dyn FileReader>,
    columns: Vec<Mapped>,
    /// The next group of rows.
    group: usize,
    /// Rows of the group that have not been read.
    left: usize,
    /// Number of rows in memory, and how many of them were given out.
    at_hand: usize,
    given: usize,
    /// Number of rows given out before those in memory.
    row: u64,
}

fn open(input: &Input, options: &Options) -> Result<Box<dyn Source>, TraceError> {
    let name = input.name.clone();
    let refuse = |error: &dyn ToString| TraceError::Format {
        file: name.clone(),
        format: "Parquet",
        reason: error.to_string(),
    };
    if input.is_compressed() {
        return Err(refuse(&"it is compressed as a whole; decompress it first"));
    }
    let file: Box<dyn FileReader> = match &input.given {
        Given::Path(path) => {
            let file = File::open(path).map_err(|error| TraceError::Open {
                file: name.clone(),
                error,
            })?;
            Box::new(caught(|| SerializedFileReader::new(file)).map_err(|error| refuse(&error))?)
        }
        Given::Memory(_, bytes) => {
            let opened = caught(|| SerializedFileReader::new(bytes.clone()));
            Box::new(opened.map_err(|error| refuse(&error))?)
        }
    };
    let schema = file.metadata().file_metadata().schema_descr();
    let columns = mapped(schema, options).map_err(|reason| refuse(&reason))?;
    Ok(Box::new(Table {
        name,
        file,
        columns,
        group: 0,
        left: 0,
        at_hand: 0,
        given: 0,
        row: 0,
    }))
}

/// The columns to be read.
fn mapped(schema: &SchemaDescriptor, options: &Options) -> Result<Vec<Mapped>, String> {
    let has = |name: &str| {
        schema
            .columns()
            .iter()
            .any(|one| one.path().string() == name)
    };
    let of_simulation = Columns::of_simulation();
    let is_log = !options.columns_given && has(&of_simulation.arrival);
    let names = if is_log && !has(&options.columns.arrival) {
        &of_simulation
    } else {
        &options.columns
    };
    let wanted = [
        (Meaning::Arrival, Some(&names.arrival), true),
        (Meaning::Offset, Some(&names.offset), true),
        (Meaning::Size, Some(&names.size), true),
        (Meaning::Operation, Some(&names.operation), true),
        (
            Meaning::Device,
            names.device.as_ref(),
            options.columns_given,
        ),
        (
            Meaning::Response,
            names.response.as_ref(),
            options.columns_given,
        ),
        (Meaning::Queue, names.queue.as_ref(), options.columns_given),
        (
            Meaning::DeviceTime,
            names.device_time.as_ref(),
            options.columns_given,
        ),
        (
            Meaning::Process,
            names.process.as_ref(),
            options.columns_given,
        ),
    ];
    let mut found = Vec::new();
    for (meaning, name, is_needed) in wanted {
        let Some(name) = name else {
            continue;
        };
        let mut columns = schema.columns().iter();
        let Some(place) = columns.position(|column| column.path().string() == *name) else {
            if is_needed {
                let known = schema.columns().iter().map(|column| column.path().string());
                let known: Vec<String> = known.collect();
                return Err(format!(
                    "it has no column {name:?}; it has {}: say which column holds what with {}",
                    known.join(", "),
                    crate::words::COLUMN
                ));
            }
            continue;
        };
        let column = schema.column(place);
        if column.max_rep_level() > 0 || column.max_def_level() > 1 {
            return Err(format!("the column {name:?} is nested; give plain columns"));
        }
        let time = || {
            options
                .time_unit_ns
                .or_else(|| time_unit_ns(&column))
                .unwrap_or(1)
        };
        let unit = match meaning {
            Meaning::Arrival | Meaning::Response | Meaning::Queue | Meaning::DeviceTime => time(),
            Meaning::Offset => options.sector_bytes.unwrap_or(1),
            _ => 1,
        };
        found.push(Mapped {
            meaning,
            place,
            unit,
            reader: None,
            cells: Vec::new(),
        });
    }
    Ok(found)
}

impl Mapped {
    /// Puts the cell of a row into a request.
    fn lay(&self, row: usize, record: &mut Record, sink: &mut Sink) -> Result<(), Problem> {
        let cell = self.cells.get(row).and_then(Option::as_ref);
        let number = |field| {
            let cell = cell.ok_or(Problem::Field {
                field,
                expected: "there",
            })?;
            cell.scaled(field, self.unit)
        };
        // An empty cell means unknown.
        let optional = |field, into: &mut u64| {
            if let Some(cell) = cell {
                *into = cell.scaled(field, self.unit)?;
            }
            Ok(())
        };
        match self.meaning {
            Meaning::Arrival => record.arrival_ns = number("arrival")?,
            Meaning::Offset => record.offset_bytes = number("offset")?,
            Meaning::Size => record.size_bytes = number("size")?,
            Meaning::Operation => {
                record.operation = cell.and_then(Cell::operation).ok_or(Problem::Field {
                    field: "operation",
                    expected: "read, write, trim, flush, other, R, W, 0 (read) or 1 (write)",
                })?;
            }
            Meaning::Device => {
                record.device = match cell {
                    Some(Cell::Text(text)) => sink.devices.named(text.data())?,
                    _ => sink.devices.numbered(number("device")?)?,
                };
            }
            Meaning::Response => optional("response time", &mut record.response_ns)?,
            Meaning::Queue => optional("queue time", &mut record.queue_ns)?,
            Meaning::DeviceTime => optional("device time", &mut record.device_ns)?,
            Meaning::Process => {
                if cell.is_some() {
                    let field = "process";
                    let process = u32::try_from(number(field)?);
                    record.process = process.map_err(|_| Problem::TooLarge { field })?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a chunk lies inside the file. The library does not check this.
fn is_sound(chunk: &ColumnChunkMetaData) -> bool {
    let begins = chunk
        .dictionary_page_offset()
        .unwrap_or_else(|| chunk.data_page_offset());
    let sizes = [chunk.compressed_size(), chunk.uncompressed_size()];
    begins >= 0
        && sizes
            .iter()
            .all(|size| (0..=MOST_CHUNK_BYTES).contains(size))
        && begins.checked_add(chunk.compressed_size()).is_some()
}

/// The result of a library call. A panic of the library on a damaged file becomes an error.
fn caught<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(ParquetError::General("it is damaged".to_owned())))
}

impl Table {
    fn trouble(&self, error: &ParquetError) -> TraceError {
        TraceError::Format {
            file: self.name.clone(),
            format: "Parquet",
            reason: error.to_string(),
        }
    }

    /// Reads the next rows. Returns false if there are none.
    fn more_rows(&mut self) -> Result<bool, ParquetError> {
        (self.row, self.at_hand, self.given) = (self.row + self.at_hand as u64, 0, 0);
        while self.left == 0 {
            if self.group >= self.file.num_row_groups() {
                return Ok(false);
            }
            let group = self.file.get_row_group(self.group)?;
            self.group += 1;
            let damaged = || ParquetError::General("a group of rows is damaged".to_owned());
            self.left = usize::try_from(group.metadata().num_rows()).map_err(|_| damaged())?;
            for column in &mut self.columns {
                if !is_sound(group.metadata().column(column.place)) {
                    return Err(damaged());
                }
                column.reader = Some(CellReader::new(group.get_column_reader(column.place)?));
            }
        }
        let count = self.left.min(ROWS);
        for column in &mut self.columns {
            if let Some(reader) = &mut column.reader {
                reader.read(count, &mut column.cells)?;
            }
            if column.cells.len() != count {
                return Err(ParquetError::General(format!(
                    "a column ends after {} of {count} rows",
                    column.cells.len()
                )));
            }
        }
        self.left -= count;
        self.at_hand = count;
        Ok(true)
    }

    fn one_row(&self, sink: &mut Sink) -> Result<(), Problem> {
        let mut record = Record::new(0, u32::MAX, Operation::Read, 0, 0);
        for column in &self.columns {
            column.lay(self.given, &mut record, sink)?;
        }
        if record.device == u32::MAX {
            record.device = sink.devices.numbered(0)?;
        }
        sink.push(record)
    }
}

impl Source for Table {
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError> {
        while !sink.is_full() {
            if self.given == self.at_hand {
                if !caught(|| self.more_rows()).map_err(|error| self.trouble(&error))? {
                    return Ok(true);
                }
                continue;
            }
            sink.position = self.row + self.given as u64 + 1;
            sink.checks.lines += 1;
            if let Err(problem) = self.one_row(sink) {
                sink.bad_here(problem, &[])?;
            }
            self.given += 1;
        }
        Ok(false)
    }
}
