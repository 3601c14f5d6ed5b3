//! Closed loops of requests over buffers of float64.

use drivelab_queueing::{Layout, Length, replay};
use drivelab_replay::forecast;
use drivelab_workload::Source;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::usage_error;
use crate::stream::PyStream;

/// A layout by the names of its fields, as given by Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct GivenLayout {
    units: usize,
    page_bytes: usize,
    members: usize,
    buffer_pages: usize,
    channels: usize,
    writes_in_turn: bool,
    reads_first: bool,
    merges: bool,
    caches_reads: bool,
    reads_ahead: bool,
    duplex: bool,
    log_blocks: usize,
    block_pages: usize,
}

impl From<GivenLayout> for Layout {
    fn from(given: GivenLayout) -> Self {
        Self {
            units: given.units,
            page_bytes: given.page_bytes,
            members: given.members,
            buffer_pages: given.buffer_pages,
            channels: given.channels,
            writes_in_turn: given.writes_in_turn,
            reads_first: given.reads_first,
            merges: given.merges,
            caches_reads: given.caches_reads,
            reads_ahead: given.reads_ahead,
            duplex: given.duplex,
            log_blocks: given.log_blocks,
            block_pages: given.block_pages,
        }
    }
}

/// The time of a request and the counts of its costs, row by row, as bytes of float64.
#[pyfunction]
fn replay_loops<'py>(
    py: Python<'py>,
    table: PyBuffer<f64>,
    layout: GivenLayout,
    costs: Vec<f64>,
    requests: usize,
    doublings: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let table = table.to_vec(py)?;
    let layout = layout.into();
    let length = Length {
        requests,
        doublings,
    };
    let found = py.detach(|| replay(&table, &layout, &costs, length));
    let found = found.map_err(usage_error)?;
    let values = found
        .iter()
        .flat_map(|row| std::iter::once(row.ns).chain(row.counts));
    let bytes: Vec<u8> = values.flat_map(f64::to_ne_bytes).collect();
    Ok(PyBytes::new(py, &bytes))
}

/// The forecast of a trace in each window, row by row, as bytes of float64.
#[pyfunction]
fn forecast_trace<'py>(
    py: Python<'py>,
    stream: &PyStream,
    range_bytes: u64,
    layout: GivenLayout,
    begin: Vec<u64>,
    costs: PyBuffer<f64>,
    window_ns: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let Source::Paced(source) = &stream.stream().source else {
        return Err(usage_error("the stream is no trace of files"));
    };
    let costs = costs.to_vec(py)?;
    let layout = layout.into();
    let found = py.detach(|| forecast(&*source.0, range_bytes, &layout, &begin, &costs, window_ns));
    let mut bytes = Vec::new();
    for row in found.map_err(usage_error)? {
        let counts = [
            row.window,
            row.requests[0],
            row.requests[1],
            row.bytes[0],
            row.bytes[1],
            row.due,
            row.late,
        ];
        let [of_reads, of_writes] = row.latency_ns;
        let [read_max, write_max] = row.latency_ns_max;
        let values = counts.into_iter().map(|count| count as f64);
        let times = [
            of_reads,
            of_writes,
            read_max,
            write_max,
            row.late_ns,
            row.outstanding_ns,
        ];
        bytes.extend(values.chain(times).flat_map(f64::to_ne_bytes));
    }
    Ok(PyBytes::new(py, &bytes))
}

/// Adds this module's functions to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(replay_loops, module)?)?;
    module.add_function(wrap_pyfunction!(forecast_trace, module)?)
}
