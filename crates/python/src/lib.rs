//! The extension module `drivelab._core`: conversions and errors, no logic.

use pyo3::prelude::*;

/// Registers every class and function of the native core.
#[pymodule(name = "_core")]
fn core(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
