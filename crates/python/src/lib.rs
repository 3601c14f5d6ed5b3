//! The extension module `drivelab._core`: conversions and errors, no logic.

use pyo3::prelude::*;

mod batch_means;
mod characterized;
mod closed_form;
mod csv;
mod errors;
mod fio;
mod histogram;
mod keyed_content;
mod live;
mod outcome;
mod panics;
mod preset;
mod queueing;
mod replay;
mod request_list;
mod scenario;
mod session;
mod simulate;
mod simulated;
mod stream;
mod table;
mod trace;
mod tree;
mod watched;
mod workload;

/// Registers every class and function of the native core, one file for each topic.
#[pymodule(name = "_core")]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    batch_means::register(module)?;
    closed_form::register(module)?;
    csv::register(module)?;
    fio::register(module)?;
    histogram::register(module)?;
    keyed_content::register(module)?;
    live::register(module)?;
    outcome::register(module)?;
    panics::register(module)?;
    preset::register(module)?;
    queueing::register(module)?;
    replay::register(module)?;
    request_list::register(module)?;
    scenario::register(module)?;
    session::register(module)?;
    simulated::register(module)?;
    stream::register(module)?;
    table::register(module)?;
    trace::register(module)?;
    tree::register(module)?;
    workload::register(module)?;
    Ok(())
}
