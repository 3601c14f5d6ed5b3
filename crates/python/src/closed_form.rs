//! The closed form of an SSD (Yoo et al. 2014).

use drivelab_request::Direction;
use drivelab_sim::analytic::{ClosedForm as Equations, ClosedFormError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{cannot_answer_error, usage_error};
use crate::preset::{BaseTexts, configuration, of_flash};

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ClosedForm>()
}

/// Equations 1 to 7 for one drive.
#[pyclass(frozen, module = "drivelab._core")]
struct ClosedForm {
    equations: Equations,
}

#[pymethods]
impl ClosedForm {
    #[new]
    fn new(toml_text: &str, base_texts: BaseTexts) -> PyResult<Self> {
        let config = configuration(toml_text, &base_texts)?;
        let config = of_flash(&config, "the closed form").map_err(cannot_answer_error)?;
        let equations = Equations::new(config).map_err(cannot_answer_error)?;
        Ok(Self { equations })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.equations.config().name
    }

    #[getter]
    fn page_size_bytes(&self) -> u32 {
        self.equations.config().geometry.page_size_bytes
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.equations.config().geometry.user_capacity_bytes
    }

    #[getter]
    fn rho(&self) -> u64 {
        self.equations.rho()
    }

    fn record<'py>(
        &self,
        py: Python<'py>,
        direction: &str,
        record_bytes: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let direction = direction_named(direction)?;
        let timing =
            self.equations
                .record(direction, record_bytes)
                .map_err(|error| match error {
                    ClosedFormError::Refused(refusal) => cannot_answer_error(refusal),
                    other => usage_error(other),
                })?;
        let values = PyDict::new(py);
        values.set_item("pages", timing.pages)?;
        values.set_item("rho", timing.rho)?;
        values.set_item("cycles", timing.cycles)?;
        values.set_item("last_cycle_pages", timing.last_cycle_pages)?;
        values.set_item("page_ns", timing.page_ns)?;
        values.set_item("wait_ns", timing.wait_ns)?;
        values.set_item("cycle_ns", timing.cycle_ns)?;
        values.set_item("last_cycle_ns", timing.last_cycle_ns)?;
        values.set_item("record_ns", timing.record_ns)?;
        Ok(values)
    }
}

/// The direction named `read` or `write`.
pub fn direction_named(name: &str) -> PyResult<Direction> {
    Direction::ALL
        .into_iter()
        .find(|direction| direction.name() == name)
        .ok_or_else(|| usage_error(format!("no operation {name:?}; allowed: read, write")))
}
