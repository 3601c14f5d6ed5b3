//! Passes over a file.

use drivelab_workload::{Generator, WholePass};
use pyo3::prelude::*;

use crate::closed_form::direction_named;
use crate::errors::usage_error;
use crate::workload::{Columns, columns};

/// `WholePass.as_tuple()` of the Python side: direction, whether its order is random, bytes of a
/// request, where the file begins, its bytes, and after how many requests it stops.
pub type PassTuple = (String, bool, u32, u64, u64, Option<u64>);

/// Adds the topic to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(generate_pass, module)?)
}

/// The pass that a tuple stands for, if there is such a pass.
pub fn of_tuple(tuple: &PassTuple) -> PyResult<WholePass> {
    let pass = WholePass {
        direction: direction_named(&tuple.0)?,
        is_random: tuple.1,
        request_bytes: tuple.2,
        start_bytes: tuple.3,
        file_bytes: tuple.4,
        first_requests: tuple.5,
    };
    pass.validate().map_err(usage_error)?;
    Ok(pass)
}

#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "argument of a Python function"
)]
fn generate_pass(py: Python<'_>, pass: PassTuple, seed: u64, index: u64) -> PyResult<Columns<'_>> {
    let pass = of_tuple(&pass)?;
    let generator = Generator::of_pass(&pass, seed, index).map_err(usage_error)?;
    let requests = generator.take(pass.sent_requests() as usize);
    Ok(columns(
        py,
        requests.map(|request| (request.direction, request.offset_bytes, request.size_bytes)),
    ))
}
