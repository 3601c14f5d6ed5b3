//! Tables of numbers as CSV, between bytes and buffers of float64.

use drivelab_csv::{Column, read, write};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The row and column of a cell, and its text.
type OddCell = (usize, usize, String);
/// Values as bytes of float64, odd cells, and the first bad row with its error.
type Cells<'py> = (Bound<'py, PyBytes>, Vec<OddCell>, Option<(usize, String)>);

/// Reads whole lines. If a line is not a row, there are no values.
#[pyfunction]
fn read_cells<'py>(
    py: Python<'py>,
    text: &[u8],
    width: usize,
    wanted: Vec<usize>,
) -> PyResult<Cells<'py>> {
    let block = match py.detach(|| read(text, width, &wanted)) {
        Ok(block) => block,
        Err(error) => {
            let problem = Some((error.row, error.to_string()));
            return Ok((PyBytes::new(py, &[]), Vec::new(), problem));
        }
    };
    let values = PyBytes::new_with(py, block.values.len() * size_of::<f64>(), |bytes| {
        for (into, value) in bytes.chunks_exact_mut(size_of::<f64>()).zip(&block.values) {
            into.copy_from_slice(&value.to_ne_bytes());
        }
        Ok(())
    })?;
    let odd = block.odd.into_iter();
    let odd = odd.map(|cell| (cell.row, cell.column, cell.text)).collect();
    Ok((values, odd, None))
}

/// Writes columns as lines. Each is a kind (`exact`, `rounded`, `flag`) and its numbers.
#[pyfunction]
fn write_cells<'py>(
    py: Python<'py>,
    columns: Vec<(String, PyBuffer<f64>)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let numbers = columns
        .iter()
        .map(|(_, buffer)| buffer.to_vec(py))
        .collect::<PyResult<Vec<_>>>()?;
    let kinds = columns.iter().map(|(kind, _)| kind.as_str());
    let columns = kinds
        .zip(&numbers)
        .map(|(kind, numbers)| match kind {
            "exact" => Ok(Column::Exact(numbers)),
            "rounded" => Ok(Column::Rounded(numbers)),
            "flag" => Ok(Column::Flag(numbers)),
            _ => Err(PyValueError::new_err(format!(
                "{kind} is no kind of column"
            ))),
        })
        .collect::<PyResult<Vec<_>>>()?;
    let text = py.detach(|| write(&columns));
    Ok(PyBytes::new(py, &text))
}

/// Adds this module's functions to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_cells, module)?)?;
    module.add_function(wrap_pyfunction!(write_cells, module)?)
}
