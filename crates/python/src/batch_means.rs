//! Batch means of latencies that were measured elsewhere.

use drivelab_request::ClosedBy;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::usage_error;

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BatchMeans>()
}

/// Consecutive completions as at most 64 batches.
#[pyclass(module = "drivelab._core")]
#[derive(Default)]
struct BatchMeans {
    batches: drivelab_request::BatchMeans,
}

#[pymethods]
impl BatchMeans {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, latencies_ns: Vec<u64>, ends_ns: Vec<u64>) -> PyResult<()> {
        if latencies_ns.len() != ends_ns.len() {
            return Err(usage_error(format!(
                "{} latencies have {} times",
                latencies_ns.len(),
                ends_ns.len()
            )));
        }
        for (latency, end) in latencies_ns.into_iter().zip(ends_ns) {
            self.batches.push(latency, end);
        }
        Ok(())
    }

    #[getter]
    fn requests(&self) -> u64 {
        self.batches.requests()
    }

    #[getter]
    fn mean_ns(&self) -> Option<f64> {
        self.batches.mean_ns()
    }

    fn latency_batches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        batches_dict(py, &self.batches)
    }
}

/// The arguments of `drivelab.drives.batches.LatencyBatches`.
pub fn batches_dict<'py>(
    py: Python<'py>,
    batches: &drivelab_request::BatchMeans,
) -> PyResult<Bound<'py, PyDict>> {
    let found = batches.latency_batches();
    let dict = PyDict::new(py);
    dict.set_item("requests_per_batch", found.requests_per_batch)?;
    dict.set_item("means_ns", found.means_ns)?;
    dict.set_item("ends_ns", found.ends_ns)?;
    dict.set_item("correlation", found.correlation)?;
    dict.set_item("half_width_ns", found.half_width_ns)?;
    Ok(dict)
}

/// The value of `drivelab.drives.plan.StoppedBy`.
pub const fn stopped_by(by: ClosedBy) -> &'static str {
    match by {
        ClosedBy::Requests => "requests",
        ClosedBy::Duration => "seconds",
        ClosedBy::HalfWidth => "half_width",
        ClosedBy::MaxRequests => "max_requests",
    }
}
