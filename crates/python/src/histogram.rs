//! The layout of the histogram, for results that Python computes from stored counts.

use std::collections::BTreeMap;

use drivelab_request::{BINS, Histogram, bin_of, bin_range, bin_value, percentile_of};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::usage_error;

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("HISTOGRAM_BINS", BINS)?;
    module.add_function(wrap_pyfunction!(histogram_bin, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_value, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_range, module)?)?;
    module.add_function(wrap_pyfunction!(histogram_percentile, module)?)
}

/// Statistics of one direction, under the names of `OperationResult`; `None` without requests.
pub fn operation_dict<'py>(
    py: Python<'py>,
    bytes: u64,
    latency: &Histogram,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(mean) = latency.mean_ns() else {
        return Ok(None);
    };
    let dict = PyDict::new(py);
    dict.set_item("requests", latency.count())?;
    dict.set_item("bytes", bytes)?;
    dict.set_item("latency_ns_mean", mean)?;
    dict.set_item("latency_ns_min", latency.min_ns())?;
    dict.set_item("latency_ns_max", latency.max_ns())?;
    let bins = PyDict::new(py);
    for (bin, count) in latency.nonzero() {
        bins.set_item(bin, count)?;
    }
    dict.set_item("histogram", bins)?;
    Ok(Some(dict))
}

#[pyfunction]
fn histogram_bin(latency_ns: u64) -> usize {
    bin_of(latency_ns)
}

#[pyfunction]
fn histogram_value(bin: usize) -> PyResult<u64> {
    checked(bin).map(bin_value)
}

#[pyfunction]
fn histogram_range(bin: usize) -> PyResult<(u64, u64)> {
    checked(bin).map(bin_range)
}

#[pyfunction]
fn histogram_percentile(histogram: BTreeMap<usize, u64>, percent: f64) -> PyResult<u64> {
    if !(0.0..=100.0).contains(&percent) {
        return Err(usage_error(format!(
            "percentile {percent} does not exist; allowed: 0 to 100"
        )));
    }
    if let Some(&last) = histogram.keys().next_back() {
        checked(last)?;
    }
    let count = histogram
        .values()
        .fold(0_u64, |sum, n| sum.saturating_add(*n));
    percentile_of(histogram, count, percent)
        .ok_or_else(|| usage_error("an empty histogram has no percentiles"))
}

fn checked(bin: usize) -> PyResult<usize> {
    if bin < BINS {
        Ok(bin)
    } else {
        let last = BINS - 1;
        Err(usage_error(format!(
            "histogram bin {bin} does not exist; allowed: 0 to {last}"
        )))
    }
}
