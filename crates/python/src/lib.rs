//! The extension module `drivelab._core`: conversions and errors, no logic.

use pyo3::prelude::*;

mod errors;
mod histogram;
mod simulated;
mod tree;
mod workload;

/// Registers every class and function of the native core, one topic a file.
#[pymodule(name = "_core")]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    histogram::register(module)?;
    tree::register(module)?;
    simulated::register(module)?;
    workload::register(module)?;
    Ok(())
}
