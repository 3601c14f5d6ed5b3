//! Closed loops of requests over buffers of float64.

use drivelab_queueing::{Layout, replay};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::usage_error;

/// The time of a request and the counts of its costs, row after row, as bytes of float64.
#[pyfunction]
#[pyo3(signature = (
    table, costs, requests, *, units, page_bytes, members, buffer_pages, channels, writes_in_turn,
    reads_first, merges, caches_reads, reads_ahead, duplex,
))]
#[expect(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "keywords"
)]
fn replay_loops<'py>(
    py: Python<'py>,
    table: PyBuffer<f64>,
    costs: Vec<f64>,
    requests: usize,
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
) -> PyResult<Bound<'py, PyBytes>> {
    let table = table.to_vec(py)?;
    let layout = Layout {
        units,
        page_bytes,
        members,
        buffer_pages,
        channels,
        writes_in_turn,
        reads_first,
        merges,
        caches_reads,
        reads_ahead,
        duplex,
    };
    let found = py.detach(|| replay(&table, &layout, &costs, requests));
    let found = found.map_err(usage_error)?;
    let values = found
        .iter()
        .flat_map(|row| std::iter::once(row.ns).chain(row.counts));
    let bytes: Vec<u8> = values.flat_map(f64::to_ne_bytes).collect();
    Ok(PyBytes::new(py, &bytes))
}

/// Adds the function to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(replay_loops, module)?)
}
