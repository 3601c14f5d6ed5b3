//! Tables of typed columns as Parquet.

use drivelab_table::{Column, Values, write_parquet};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::usage_error;

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parquet_table, module)?)
}

#[pyfunction]
fn parquet_table<'py>(
    py: Python<'py>,
    columns: Vec<(String, String, Bound<'py, PyAny>)>,
    properties: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let columns = columns
        .into_iter()
        .map(|(name, kind, cells)| {
            let values = match kind.as_str() {
                "text" => Values::Texts(cells.extract()?),
                "integer" => Values::Integers(cells.extract()?),
                "real" => Values::Reals(cells.extract()?),
                "integers" => Values::IntegerLists(cells.extract()?),
                _ => {
                    return Err(usage_error(format!(
                        "there is no kind of column {kind:?}; allowed: text, integer, real, integers"
                    )));
                }
            };
            Ok(Column { name, values })
        })
        .collect::<PyResult<Vec<_>>>()?;
    let file = py
        .detach(|| write_parquet(&columns, &properties))
        .map_err(usage_error)?;
    Ok(PyBytes::new(py, &file))
}
