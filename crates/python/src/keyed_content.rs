//! The content that shows that Drivelab wrote a file.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::usage_error;

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<KeyedContent>()
}

/// The content that belongs to one key.
#[pyclass(module = "drivelab._core")]
struct KeyedContent {
    content: drivelab_workload::KeyedContent,
}

#[pymethods]
impl KeyedContent {
    #[new]
    fn new(key: &[u8]) -> PyResult<Self> {
        drivelab_workload::KeyedContent::new(key)
            .map(|content| Self { content })
            .map_err(usage_error)
    }

    #[getter]
    fn tag<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.content.tag())
    }

    #[getter]
    const fn randseed(&self) -> u64 {
        self.content.randseed()
    }

    fn fill<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        bytes: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, bytes, |content| {
            py.detach(|| self.content.fill(start, content))
                .map_err(usage_error)
        })
    }

    fn learn(&mut self, py: Python<'_>, buffers: &[u8]) -> PyResult<()> {
        py.detach(|| self.content.learn(buffers))
            .map_err(usage_error)
    }

    /// The numbers of keyed, zero and foreign sectors.
    fn tally(&self, py: Python<'_>, content: &[u8]) -> PyResult<(u64, u64, u64)> {
        py.detach(|| self.content.tally(content))
            .map(|tally| (tally.keyed, tally.zero, tally.foreign))
            .map_err(usage_error)
    }
}
