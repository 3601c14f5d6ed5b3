//! Drives used step after step.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use drivelab_request::Nanos;
use drivelab_sim::drive;
use drivelab_sim::host::step::{Step, StepStream};
use drivelab_sim::host::{MOST_STREAMS, SimError};
use drivelab_sim::preset::DriveConfig;
use drivelab_workload::Stimulus;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::usage_error;
use crate::histogram::operation_dict;
use crate::outcome::outcome_dict;
use crate::scenario::content_named;
use crate::simulated::stoppable;

/// A drive whose steps go on from each other.
#[pyclass(frozen, module = "drivelab._core")]
pub struct Session {
    session: Mutex<drive::Session>,
    stop: Arc<AtomicBool>,
    seed: u64,
}

/// `Stimulus` of the Python side: share of reads, whether random, sizes, zones, threads, queue
/// depth, where the range begins and how long it is, and where accesses in order begin.
type StimulusTuple = (
    f64,
    bool,
    Vec<(u32, f64)>,
    Vec<(f64, f64)>,
    u32,
    u32,
    u64,
    u64,
    u64,
);

fn of_tuple(tuple: StimulusTuple) -> Stimulus {
    let (
        read_ratio,
        is_random,
        sizes,
        zones,
        threads,
        queue_depth,
        range_start,
        range_bytes,
        begin_bytes,
    ) = tuple;
    Stimulus {
        read_ratio,
        is_random,
        sizes,
        zones,
        threads,
        queue_depth,
        range_start,
        range_bytes,
        begin_bytes,
    }
}

/// Adds the topic to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MOST_STREAMS", MOST_STREAMS)?;
    module.add_function(wrap_pyfunction!(generate_stimulus, module)?)?;
    module.add_class::<Session>()
}

/// The first `count` requests of each closed loop of a stimulus: directions, offsets, sizes.
#[pyfunction]
fn generate_stimulus(
    py: Python<'_>,
    stimulus: StimulusTuple,
    seed: u64,
    step: u64,
    count: usize,
) -> PyResult<Vec<crate::workload::Columns<'_>>> {
    let loops = of_tuple(stimulus)
        .loops(seed, step, 0)
        .map_err(usage_error)?;
    let columns = |each: drivelab_workload::Loop| {
        let requests = each.generator.take(count);
        crate::workload::columns(
            py,
            requests.map(|request| (request.direction, request.offset_bytes, request.size_bytes)),
        )
    };
    Ok(loops.into_iter().map(columns).collect())
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

    /// Does `work` with the drive, without the interpreter.
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

    #[pyo3(signature = (streams, *, place, duration_ns, total_bytes))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        streams: Vec<(StimulusTuple, String, bool, Option<f64>)>,
        place: u64,
        duration_ns: Option<u64>,
        total_bytes: Option<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let stream = |(stimulus, content, is_forced, share): (_, String, _, _)| {
            Ok(StepStream {
                stimulus: of_tuple(stimulus),
                content: content_named(&content)?,
                is_forced,
                share,
            })
        };
        let step = Step {
            streams: streams.into_iter().map(stream).collect::<PyResult<_>>()?,
            duration: duration_ns.map(Nanos),
            total_bytes,
        };
        let outcome = self.with(py, |session| session.run(&step, self.seed, place))?;
        let told = outcome_dict(py, &outcome.whole)?;
        if let Some(energy) = &outcome.whole.energy {
            told.set_item("energy_joules", energy.joules())?;
        }
        let of_streams = PyList::empty(py);
        for [read, write] in &outcome.streams {
            let of_stream = PyDict::new(py);
            for (name, part) in [("read", read), ("write", write)] {
                of_stream.set_item(name, operation_dict(py, part.bytes, &part.latency)?)?;
            }
            of_streams.append(of_stream)?;
        }
        told.set_item("streams", of_streams)?;
        Ok(told)
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
