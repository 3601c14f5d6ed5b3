//! Scenarios: several streams of requests on one simulated drive.

use std::collections::BTreeMap;

use drivelab_sim::scenario::{self, Scenario};
use pyo3::prelude::*;

use crate::errors::usage_error;
use crate::stream::{PyStream, WindowTuple, tuple_of_window};

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyScenario>()?;
    module.add_function(wrap_pyfunction!(scenario_files, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_names, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_text, module)?)
}

/// A checked scenario.
#[pyclass(frozen, name = "Scenario", module = "drivelab._core")]
struct PyScenario {
    scenario: Scenario,
}

#[pymethods]
impl PyScenario {
    /// Reads a scenario. `files` has the texts of the files that it names.
    #[new]
    fn new(text: &str, files: BTreeMap<String, String>) -> PyResult<Self> {
        let scenario =
            Scenario::read(text, &|name| files.get(name).cloned()).map_err(usage_error)?;
        Ok(Self { scenario })
    }

    #[getter]
    fn summary(&self) -> Option<&str> {
        self.scenario.summary.as_deref()
    }

    #[getter]
    fn interval_ns(&self) -> Option<u64> {
        self.scenario.interval.map(|interval| interval.0)
    }

    /// When counting begins and ends, as far as the scenario says.
    #[getter]
    const fn window(&self) -> WindowTuple {
        tuple_of_window(&self.scenario.window())
    }

    /// Which pages hold data before the first request: their share, order, and whether they were
    /// overwritten until more changes nothing. `None` if the drive decides.
    #[getter]
    fn occupancy(&self) -> Option<(f64, &'static str, bool)> {
        let occupancy = self.scenario.occupancy?;
        Some((occupancy.filled, occupancy.order.word(), occupancy.steady))
    }

    /// The streams, in order.
    fn streams(&self) -> Vec<PyStream> {
        let streams = self.scenario.streams.iter().cloned();
        streams.map(PyStream::from).collect()
    }
}

/// The files of requests that a scenario names, in order.
#[pyfunction]
fn scenario_files(text: &str) -> Vec<String> {
    Scenario::files(text)
}

/// The names of the package's scenarios, in alphabetical order.
#[pyfunction]
fn scenario_names() -> Vec<&'static str> {
    scenario::names()
}

/// The text of one of the package's scenarios.
#[pyfunction]
fn scenario_text(name: &str) -> PyResult<&'static str> {
    scenario::text(name).ok_or_else(|| {
        let known = scenario::names().join(", ");
        usage_error(format!("no scenario {name:?}; the scenarios are {known}"))
    })
}
