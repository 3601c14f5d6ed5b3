//! Streams as one list of packed requests, and statistics of such a list.

use std::sync::{Mutex, PoisonError};

use drivelab_workload::{PACKED_BYTES, PACKED_KINDS, RequestListError, pack};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::usage_error;
use crate::stream::{Streams, streams_of};

/// The most requests given out at once.
const MOST_AT_ONCE: usize = 1 << 24;

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RequestList>()?;
    module.add_class::<RequestCount>()
}

/// The requests of streams in the order in which they are sent.
#[pyclass(module = "drivelab._core")]
struct RequestList {
    // One thread at a time; the lock is for the compiler.
    list: Mutex<drivelab_workload::RequestList>,
}

impl RequestList {
    fn list(&mut self) -> &mut drivelab_workload::RequestList {
        self.list.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl RequestList {
    #[new]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "argument of a Python function"
    )]
    fn new(streams: Streams<'_>, capacity_bytes: u64, seed: u64) -> PyResult<Self> {
        let list = drivelab_workload::RequestList::new(&streams_of(&streams), capacity_bytes, seed);
        let list = Mutex::new(list.map_err(usage_error)?);
        Ok(Self { list })
    }

    /// The next requests, packed: `count` of them, or fewer at the end.
    fn next<'py>(&mut self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        let list = self.list();
        let packed = py.detach(|| {
            let count = count.min(MOST_AT_ONCE);
            let mut packed = Vec::with_capacity(count * PACKED_BYTES);
            for _ in 0..count {
                let Some(command) = list.next_command()? else {
                    break;
                };
                pack(&command, &mut packed);
            }
            Ok(packed)
        });
        let packed = packed.map_err(|error: RequestListError| usage_error(error))?;
        Ok(PyBytes::new(py, &packed))
    }

    /// Flushes left out so far.
    #[getter]
    fn left_out(&mut self) -> u64 {
        self.list().left_out()
    }
}

/// Statistics of a list of packed requests.
#[pyclass(module = "drivelab._core")]
struct RequestCount {
    count: drivelab_workload::RequestCount,
}

#[pymethods]
impl RequestCount {
    #[new]
    fn new(capacity_bytes: u64) -> Self {
        let count = drivelab_workload::RequestCount::new(capacity_bytes);
        Self { count }
    }

    /// Counts more of them.
    fn add(&mut self, py: Python<'_>, packed: &[u8]) -> PyResult<()> {
        py.detach(|| self.count.add(packed)).map_err(usage_error)
    }

    /// By kind: requests, bytes, distinct bytes, and where the last of them ends.
    fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (kind, counted) in PACKED_KINDS.iter().zip(self.count.kinds()) {
            let touched = &counted.touched;
            let places = (touched.bytes(), touched.end_bytes());
            let row = (counted.requests, counted.bytes, places.0, places.1);
            dict.set_item(kind.name(), row)?;
        }
        Ok(dict)
    }
}
