//! Block traces: requests as columns of bytes, check results as dictionaries.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use drivelab_trace::{
    BadLines, Characterizer, Check, Columns, Compression, FORMATS, Given, Operation, Options,
    Record, Trace, TraceError, UNKNOWN, UNKNOWN_PROCESS, WRITTEN_FORMATS, Written, cautions,
};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::characterized::characterized_dict;
use crate::errors::{run_error, usage_error};

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("UNKNOWN_NS", UNKNOWN)?;
    module.add("UNKNOWN_PROCESS", UNKNOWN_PROCESS)?;
    module.add("TRACE_OPERATIONS", Operation::ALL.map(Operation::name))?;
    module.add_function(wrap_pyfunction!(trace_formats, module)?)?;
    module.add_class::<TraceReader>()?;
    module.add_class::<TraceCharacterizer>()?;
    module.add_class::<TraceWriter>()
}

/// The reason why a trace cannot be read, as `drivelab.errors.UsageError`; or as `RunError` if the
/// system could not read or write a file.
pub fn trace_error(error: TraceError) -> PyErr {
    match &error {
        TraceError::Write(_) => run_error(error),
        // An error of the system. Errors of a decompressor are the fault of the file.
        TraceError::Read { error: cause, .. } if cause.raw_os_error().is_some() => run_error(error),
        _ => usage_error(error),
    }
}

/// Every format: see `_core.pyi`.
#[pyfunction]
fn trace_formats(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let dicts = FORMATS.iter().map(|format| {
        let dict = PyDict::new(py);
        dict.set_item("name", format.name)?;
        dict.set_item("title", format.title)?;
        dict.set_item("layout", format.layout)?;
        dict.set_item("place", format.place)?;
        dict.set_item("devices", format.holds.devices)?;
        dict.set_item("response", format.holds.response)?;
        dict.set_item("queue_events", format.holds.queue_events)?;
        dict.set_item("process", format.holds.process)?;
        dict.set_item("other_operations", format.holds.other_operations)?;
        dict.set_item("has_address_unit", format.has_address_unit)?;
        dict.set_item("is_written", WRITTEN_FORMATS.contains(&format.name))?;
        Ok(dict)
    });
    dicts.collect()
}

/// How to read a trace: the keywords of `TraceReader`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReadingOptions {
    format: Option<String>,
    #[pyo3(default)]
    skip_bad_lines: bool,
    #[pyo3(default)]
    devices: Option<Vec<String>>,
    #[pyo3(default)]
    device_bytes: Option<u64>,
    #[pyo3(default)]
    time_unit_ns: Option<u64>,
    #[pyo3(default)]
    sector_bytes: Option<u64>,
    #[pyo3(default = drivelab_trace::SORT_WINDOW)]
    sort_window: usize,
    #[pyo3(default)]
    columns: Option<Vec<(String, String)>>,
}

impl ReadingOptions {
    /// The options in the form of the core.
    ///
    /// # Errors
    /// `UsageError` for an unknown column.
    pub fn options(self) -> PyResult<Options> {
        Ok(Options {
            format: self.format,
            bad_lines: if self.skip_bad_lines {
                BadLines::Skip
            } else {
                BadLines::Refuse
            },
            devices: self.devices,
            device_bytes: self.device_bytes,
            time_unit_ns: self.time_unit_ns,
            sector_bytes: self.sector_bytes,
            sort_window: self.sort_window,
            columns_given: self.columns.is_some(),
            columns: match self.columns {
                Some(pairs) => Columns::mapped(pairs).map_err(trace_error)?,
                None => Columns::default(),
            },
        })
    }
}

/// A trace being read.
#[pyclass(module = "drivelab._core")]
struct TraceReader {
    // One thread at a time reads files. Python ensures that; the lock is for the compiler.
    trace: Mutex<Trace>,
}

#[pymethods]
impl TraceReader {
    #[new]
    #[pyo3(signature = (
        paths, *, format=None, skip_bad_lines=false, devices=None, device_bytes=None,
        time_unit_ns=None, sector_bytes=None, sort_window=drivelab_trace::SORT_WINDOW, columns=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "arguments of a Python function")]
    fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        format: Option<String>,
        skip_bad_lines: bool,
        devices: Option<Vec<String>>,
        device_bytes: Option<u64>,
        time_unit_ns: Option<u64>,
        sector_bytes: Option<u64>,
        sort_window: usize,
        columns: Option<Vec<(String, String)>>,
    ) -> PyResult<Self> {
        let options = ReadingOptions {
            format,
            skip_bad_lines,
            devices,
            device_bytes,
            time_unit_ns,
            sector_bytes,
            sort_window,
            columns,
        };
        let options = options.options()?;
        let files: Vec<Given> = paths.into_iter().map(Given::Path).collect();
        let trace = py
            .detach(|| Trace::open(&files, &options))
            .map_err(trace_error)?;
        let trace = Mutex::new(trace);
        Ok(Self { trace })
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.trace().format().name
    }

    #[getter]
    fn devices(&self) -> Vec<(String, u64)> {
        let trace = self.trace();
        let devices = trace.devices().all().iter();
        devices
            .map(|device| (device.name.clone(), device.requests))
            .collect()
    }

    /// The next requests, `least` or a few more unless the trace ends; `None` at its end.
    #[pyo3(signature = (least=65_536))]
    fn next_batch<'py>(
        &mut self,
        py: Python<'py>,
        least: usize,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let columns = py.detach(|| {
            let records = gathered(owned(&mut self.trace), least)?;
            Ok((!records.is_empty()).then(|| bytes_of(&records)))
        });
        let Some(columns) = columns.map_err(trace_error)? else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        for (name, bytes) in columns {
            dict.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok(Some(dict))
    }

    /// The findings so far: see `_core.pyi`.
    fn checks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        checks_dict(py, &self.trace())
    }
}

impl TraceReader {
    fn trace(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn owned<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

fn gathered(trace: &mut Trace, least: usize) -> Result<Vec<Record>, TraceError> {
    let (mut records, mut batch) = (Vec::new(), Vec::new());
    loop {
        trace.next_batch(&mut batch)?;
        if batch.is_empty() {
            return Ok(records);
        }
        records.extend_from_slice(&batch);
        if records.len() >= least {
            return Ok(records);
        }
    }
}

/// The fields of requests as columns of numbers in this machine's byte order.
fn bytes_of(records: &[Record]) -> Vec<(&'static str, Vec<u8>)> {
    let wide = |of: fn(&Record) -> u64| column(records, |record| of(record).to_ne_bytes());
    let narrow = |of: fn(&Record) -> u32| column(records, |record| of(record).to_ne_bytes());
    let operations = column(records, |record| [record.operation as u8]);
    vec![
        ("arrival_ns", wide(|record| record.arrival_ns)),
        ("device", narrow(|record| record.device)),
        ("operation", operations),
        ("offset_bytes", wide(|record| record.offset_bytes)),
        ("size_bytes", wide(|record| record.size_bytes)),
        ("response_ns", wide(|record| record.response_ns)),
        ("queue_ns", wide(|record| record.queue_ns)),
        ("device_ns", wide(|record| record.device_ns)),
        ("process", narrow(|record| record.process)),
        ("file", narrow(|record| u32::from(record.file))),
        ("position", wide(|record| record.position)),
    ]
}

fn column<const BYTES: usize>(
    records: &[Record],
    bytes_of: impl Fn(&Record) -> [u8; BYTES],
) -> Vec<u8> {
    let mut bytes = vec![0; BYTES * records.len()];
    let (cells, _) = bytes.as_chunks_mut();
    for (cell, record) in cells.iter_mut().zip(records) {
        *cell = bytes_of(record);
    }
    bytes
}

fn checks_dict<'py>(py: Python<'py>, trace: &Trace) -> PyResult<Bound<'py, PyDict>> {
    let checks = trace.checks();
    let known = |value: u64| (value != UNKNOWN).then_some(value);
    let dict = PyDict::new(py);
    dict.set_item("format", trace.format().name)?;
    dict.set_item("place", trace.format().place)?;
    dict.set_item("files", trace.files().to_vec())?;
    dict.set_item("origin_ns", trace.origin_ns())?;
    dict.set_item("lines", checks.lines)?;
    dict.set_item("requests", checks.requests)?;
    dict.set_item("skipped", checks.skipped())?;
    dict.set_item("filtered", checks.filtered)?;
    dict.set_item("missing_devices", trace.devices().missing())?;
    let operations = PyDict::new(py);
    for operation in Operation::ALL {
        let place = operation.index();
        let counted = (checks.by_operation[place], checks.bytes_by_operation[place]);
        operations.set_item(operation.name(), counted)?;
    }
    dict.set_item("operations", operations)?;
    dict.set_item("span_ns", checks.span_ns)?;
    dict.set_item("ties", checks.ties)?;
    dict.set_item("smallest_step_ns", known(checks.smallest_step_ns))?;
    dict.set_item("responses", checks.responses)?;
    dict.set_item("least_response_ns", known(checks.least_response_ns))?;
    let most_response_ns = (checks.responses > 0).then_some(checks.most_response_ns);
    dict.set_item("most_response_ns", most_response_ns)?;
    dict.set_item("most_end_bytes", checks.most_end_bytes)?;
    dict.set_item("most_size_bytes", checks.most_size_bytes)?;
    let findings = PyDict::new(py);
    for check in Check::ALL {
        let found = checks.finding(check);
        if found.count > 0 {
            let finding = PyDict::new(py);
            finding.set_item("count", found.count)?;
            finding.set_item("is_bad", check.is_bad())?;
            let places = found
                .places
                .iter()
                .map(|place| (place.file, place.position));
            finding.set_item("places", places.collect::<Vec<_>>())?;
            findings.set_item(check.name(), finding)?;
        }
    }
    dict.set_item("findings", findings)?;
    let cautions = cautions(checks)
        .into_iter()
        .map(|caution| (caution.name, caution.text));
    dict.set_item("cautions", cautions.collect::<Vec<_>>())?;
    Ok(dict)
}

/// A trace being characterized.
#[pyclass(module = "drivelab._core")]
struct TraceCharacterizer {
    characterizer: Mutex<Option<Characterizer>>,
}

#[pymethods]
impl TraceCharacterizer {
    #[new]
    #[pyo3(signature = (*, window_ns=None))]
    fn new(window_ns: Option<u64>) -> PyResult<Self> {
        let characterizer = Characterizer::new(window_ns).map_err(trace_error)?;
        let characterizer = Mutex::new(Some(characterizer));
        Ok(Self { characterizer })
    }

    /// Counts the next requests of a trace. Returns how many there were.
    #[pyo3(signature = (reader, least=65_536))]
    fn add(&mut self, py: Python<'_>, reader: &mut TraceReader, least: usize) -> PyResult<u64> {
        let characterizer = owned(&mut self.characterizer).as_mut();
        let characterizer = characterizer.ok_or_else(ended)?;
        py.detach(|| {
            let trace = owned(&mut reader.trace);
            let (mut batch, mut added) = (Vec::new(), 0);
            while added < least as u64 {
                trace.next_batch(&mut batch)?;
                if batch.is_empty() {
                    break;
                }
                characterizer.add(&batch)?;
                added += batch.len() as u64;
            }
            Ok(added)
        })
        .map_err(trace_error)
    }

    /// Ends the trace. Returns what it asks of a drive: see `_core.pyi`.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let characterizer = owned(&mut self.characterizer).take();
        let characterizer = characterizer.ok_or_else(ended)?;
        let found = py.detach(|| characterizer.finish()).map_err(trace_error)?;
        characterized_dict(py, &found)
    }
}

fn ended() -> PyErr {
    usage_error("the trace has ended; begin another one")
}

/// A trace being written.
#[pyclass(module = "drivelab._core")]
struct TraceWriter {
    writer: Mutex<Option<drivelab_trace::TraceWriter>>,
}

/// The columns of requests to be written.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Batch {
    arrival_ns: PyBuffer<u64>,
    device: PyBuffer<u32>,
    operation: PyBuffer<u8>,
    offset_bytes: PyBuffer<u64>,
    size_bytes: PyBuffer<u64>,
    #[pyo3(default)]
    response_ns: Option<PyBuffer<u64>>,
    #[pyo3(default)]
    queue_ns: Option<PyBuffer<u64>>,
    #[pyo3(default)]
    device_ns: Option<PyBuffer<u64>>,
    #[pyo3(default)]
    process: Option<PyBuffer<u32>>,
}

impl Batch {
    fn records(&self, py: Python<'_>) -> PyResult<Vec<Record>> {
        let arrivals = self.arrival_ns.to_vec(py)?;
        let count = arrivals.len();
        let devices = self.device.to_vec(py)?;
        let operations = self.operation.to_vec(py)?;
        let offsets = self.offset_bytes.to_vec(py)?;
        let sizes = self.size_bytes.to_vec(py)?;
        let optional = |buffer: &Option<PyBuffer<u64>>| match buffer {
            Some(buffer) => buffer.to_vec(py),
            None => Ok(vec![UNKNOWN; count]),
        };
        let times = [&self.response_ns, &self.queue_ns, &self.device_ns].map(optional);
        let [responses, queues, in_device] = times;
        let (responses, queues, in_device) = (responses?, queues?, in_device?);
        let processes = match &self.process {
            Some(buffer) => buffer.to_vec(py)?,
            None => vec![UNKNOWN_PROCESS; count],
        };
        let lengths = [devices.len(), operations.len(), offsets.len(), sizes.len()];
        let others = [
            responses.len(),
            queues.len(),
            in_device.len(),
            processes.len(),
        ];
        if lengths.iter().chain(&others).any(|&length| length != count) {
            return Err(usage_error("the columns have different lengths"));
        }
        let record = |place: usize| {
            let operation = Operation::ALL.get(usize::from(operations[place]));
            let operation = operation.ok_or_else(|| {
                usage_error(format!("operation {}; allowed: 0 to 4", operations[place]))
            })?;
            let mut record = Record::new(
                arrivals[place],
                devices[place],
                *operation,
                offsets[place],
                sizes[place],
            );
            record.response_ns = responses[place];
            record.queue_ns = queues[place];
            record.device_ns = in_device[place];
            record.process = processes[place];
            Ok(record)
        };
        (0..count).map(record).collect()
    }
}

#[pymethods]
impl TraceWriter {
    #[new]
    #[pyo3(signature = (path, *, format, compression="none", leave_out=false))]
    fn new(path: PathBuf, format: &str, compression: &str, leave_out: bool) -> PyResult<Self> {
        let compression = match compression {
            "none" => Compression::None,
            "gzip" => Compression::Gzip,
            "zstd" => Compression::Zstd,
            other => {
                return Err(usage_error(format!(
                    "there is no compression {other:?}; there are none, gzip and zstd"
                )));
            }
        };
        let file = File::create(&path)
            .map_err(|error| run_error(format!("{} cannot be written: {error}", path.display())))?;
        let writer =
            drivelab_trace::TraceWriter::new(Box::new(file), format, compression, leave_out);
        let writer = Mutex::new(Some(writer.map_err(trace_error)?));
        Ok(Self { writer })
    }

    /// Writes requests. `devices` are the names of the devices, by their numbers.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments of a Python function"
    )]
    fn write(&mut self, py: Python<'_>, batch: Batch, devices: Vec<String>) -> PyResult<()> {
        let records = batch.records(py)?;
        let writer = self.open()?;
        py.detach(|| writer.write(&records, &devices))
            .map_err(trace_error)
    }

    /// Writes the next requests of a trace. Returns how many there were.
    #[pyo3(signature = (reader, least=65_536))]
    fn copy(&mut self, py: Python<'_>, reader: &mut TraceReader, least: usize) -> PyResult<usize> {
        let writer = self.open()?;
        py.detach(|| {
            let trace = owned(&mut reader.trace);
            let records = gathered(trace, least)?;
            let devices = trace.devices().all().iter();
            let devices: Vec<&str> = devices.map(|device| device.name.as_str()).collect();
            writer.write(&records, &devices)?;
            Ok(records.len())
        })
        .map_err(trace_error)
    }

    /// Ends the file. Returns what happened to the requests: see `_core.pyi`.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.open()?;
        let writer = owned(&mut self.writer).take();
        let written = py.detach(|| writer.map(drivelab_trace::TraceWriter::finish).transpose());
        written_dict(py, &written.map_err(trace_error)?.unwrap_or_default())
    }
}

impl TraceWriter {
    fn open(&mut self) -> PyResult<&mut drivelab_trace::TraceWriter> {
        owned(&mut self.writer).as_mut().ok_or_else(ended)
    }
}

fn written_dict<'py>(py: Python<'py>, written: &Written) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("requests", written.requests)?;
    let left_out = PyDict::new(py);
    for operation in Operation::ALL {
        left_out.set_item(operation.name(), written.left_out[operation.index()])?;
    }
    dict.set_item("left_out", left_out)?;
    dict.set_item("times_rounded", written.times_rounded)?;
    dict.set_item("responses_dropped", written.responses_dropped)?;
    dict.set_item("queue_events_dropped", written.queue_events_dropped)?;
    dict.set_item("processes_dropped", written.processes_dropped)?;
    dict.set_item("devices_numbered", written.devices_numbered)?;
    Ok(dict)
}
