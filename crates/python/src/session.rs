//! Drives used in consecutive steps.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use drivelab_request::Nanos;
use drivelab_sim::drive;
use drivelab_sim::host::{MOST_STREAMS, Plan, SimError};
use drivelab_sim::preset::DriveConfig;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::usage_error;
use crate::outcome::outcome_dict;
use crate::simulated::stoppable;
use crate::stream::{Streams, WindowTuple, streams_of, window_of_tuple};

/// A drive whose steps each continue where the last one ended.
#[pyclass(frozen, module = "drivelab._core")]
pub struct Session {
    session: Mutex<drive::Session>,
    stop: Arc<AtomicBool>,
    seed: u64,
}

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MOST_STREAMS", MOST_STREAMS)?;
    module.add_class::<Session>()
}

impl Session {
    pub fn new(py: Python<'_>, config: DriveConfig, seed: u64) -> PyResult<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let session = stoppable(py, &stop, || drive::Session::new(config, &stop))?;
        Ok(Self {
            session: Mutex::new(session),
            stop,
            seed,
        })
    }

    /// Does `work` with the drive, with the interpreter released.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut drive::Session) -> Result<T, SimError> + Send,
    ) -> PyResult<T> {
        stoppable(py, &self.stop, || {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut session)
        })
    }
}

#[pymethods]
impl Session {
    fn purge(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, drive::Session::purge)
    }

    #[pyo3(signature = (streams, window, *, place, total_bytes))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        streams: Streams<'py>,
        window: WindowTuple,
        place: u64,
        total_bytes: Option<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let streams = streams_of(&streams);
        let plan = Plan::until(&streams, window_of_tuple(window), total_bytes);
        let outcome = self.with(py, |session| session.run(&streams, plan, self.seed, place))?;
        let dict = outcome_dict(py, &outcome)?;
        if let Some(energy) = &outcome.energy {
            dict.set_item("energy_joules", energy.joules())?;
        }
        Ok(dict)
    }

    fn idle(&self, py: Python<'_>, nanoseconds: u64, place: u64) -> PyResult<()> {
        self.with(py, |session| {
            session.idle(Nanos(nanoseconds), self.seed, place)
        })
    }

    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |session| session.save())?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn load(&self, py: Python<'_>, state: PyBackedBytes) -> PyResult<()> {
        self.with(py, |session| session.load(&state))?
            .map_err(usage_error)
    }
}
