//! Simulated drives.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use std::time::Duration;

use drivelab_ftl::{Cause, OperationKind};
use drivelab_request::Nanos;
use drivelab_sim::drive::{self, Prepared, States as DriveStates, Work};
use drivelab_sim::host::plan::window_of;
use drivelab_sim::host::{LAST_NOW, Plan, Settling, SimError, Watch, Writing, mean_factor};
use drivelab_sim::preset::{DriveConfig, FillOrder, Occupancy};
use drivelab_sim::ssd::{self, RecordedOperation, RecordedWork};
use drivelab_workload::Stream;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyList};

use crate::closed_form::direction_named;
use crate::errors::{simulation_error, usage_error};
use crate::live::{LiveAsked, LiveServer};
use crate::outcome::{outcome_dict, simulated_dict};
use crate::preset::{BaseTexts, configuration, of_flash};
use crate::session::Session;
use crate::simulate::{self, Asked, States};
use crate::stream::{Streams, WindowTuple, streams_of, window_of_tuple};

/// How often signals are checked during long work.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MOST_SIMULATED_NS", LAST_NOW)?;
    module.add_function(wrap_pyfunction!(available_cores, module)?)?;
    module.add_class::<Measuring>()?;
    module.add_class::<SimulatedDrive>()
}

/// The number of cores that this process may use.
#[pyfunction]
pub fn available_cores() -> usize {
    available_parallelism().map_or(1, |count| count.get())
}

/// A simulated drive in its preset's condition.
#[pyclass(frozen, module = "drivelab._core")]
struct SimulatedDrive {
    config: DriveConfig,
    /// Whether runs vary: `on`, `none` if the preset has no variability, or `off` if the user
    /// turned it off.
    variability: &'static str,
    states: OnceLock<Arc<DriveStates>>,
    /// A drive whose prepared state this one shares if it is the same.
    like: Option<Arc<DriveStates>>,
}

#[pymethods]
impl SimulatedDrive {
    #[new]
    #[pyo3(signature = (text, bases=None, *, varies=true, like=None))]
    fn new(
        text: &str,
        bases: Option<BaseTexts>,
        varies: bool,
        like: Option<PyRef<'_, Self>>,
    ) -> PyResult<Self> {
        let mut config = configuration(text, &bases.unwrap_or_default())?;
        let variability = match (config.variability().is_off(), varies) {
            (true, _) => "none",
            (false, true) => "on",
            (false, false) => "off",
        };
        if !varies {
            config = config.without_variability();
        }
        Ok(Self {
            config,
            variability,
            states: OnceLock::new(),
            like: like.and_then(|other| other.states.get().cloned()),
        })
    }

    /// The same drive with other pages that hold data: a share of them, `in_order` or `random`,
    /// `steady` or not.
    fn filled(&self, share: f64, order: &str, steady: bool) -> PyResult<Self> {
        let order = FillOrder::from_word(order).ok_or_else(|| {
            let known = FillOrder::WORDS.join(", ");
            usage_error(format!("no order {order:?}; allowed: {known}"))
        })?;
        let occupancy = Occupancy {
            filled: share,
            order,
            steady,
        };
        let config = self.config.clone().with_occupancy(occupancy);
        Ok(Self {
            config: config.map_err(usage_error)?,
            variability: self.variability,
            states: OnceLock::new(),
            like: None,
        })
    }

    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.config.capacity_bytes()
    }

    #[getter]
    fn state_bytes(&self) -> u64 {
        Prepared::state_bytes(&self.config)
    }

    #[getter]
    const fn variability(&self) -> &'static str {
        self.variability
    }

    #[getter]
    fn config_hash(&self) -> String {
        self.config.hash()
    }

    /// Brings the drive into its condition, as the first run would.
    fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        self.prepared(py).map(drop)
    }

    /// Which pages hold data in its condition, in words, if the preset says so.
    fn filled_words(&self) -> Option<String> {
        self.config.filled_words()
    }

    fn resolved_json(&self) -> String {
        self.config.resolved_json()
    }

    /// The factor by which each measurement takes longer than the preset says. `duration_ns` is its
    /// length in the drive's own time.
    fn variability_factors(&self, indices: Vec<u64>, seed: u64, duration_ns: u64) -> Vec<f64> {
        let factor = |index: u64| mean_factor(self.config.variability(), seed, index, duration_ns);
        indices.into_iter().map(factor).collect()
    }

    /// Measures all work and returns the results in order. Each work is an index, streams, a window
    /// and the writing to which the drive has settled before: `None` for the prepared state, the
    /// bytes of each piece for random writing, or 0 for sequential writing. That writing was in the
    /// first `range_bytes`.
    #[pyo3(signature = (work, *, seed, workers, range_bytes=None))]
    fn measure(
        &self,
        py: Python<'_>,
        work: Vec<(u64, Streams<'_>, WindowTuple, Option<u32>)>,
        seed: u64,
        workers: usize,
        range_bytes: Option<u64>,
    ) -> PyResult<Measuring> {
        let work = work
            .into_iter()
            .map(|(index, streams, window, piece_bytes)| {
                let streams = streams_of(&streams);
                let window =
                    window_of(&streams, window_of_tuple(window)).map_err(simulation_error)?;
                Ok(Work {
                    index,
                    streams,
                    plan: Plan::of(window),
                    settling: piece_bytes.map(|bytes| Settling {
                        writing: match bytes {
                            0 => Writing::InOrder,
                            piece_bytes => Writing::AtRandom { piece_bytes },
                        },
                        range_bytes,
                    }),
                })
            });
        let work = work.collect::<PyResult<Vec<_>>>()?;
        let states = self.states(py)?;
        Ok(Measuring {
            measuring: drive::Measuring::start(&states, work, seed, workers),
        })
    }

    /// A separate drive, in the preset's condition, whose steps each continue where the last one
    /// ended.
    #[pyo3(signature = (*, seed))]
    fn session(&self, py: Python<'_>, seed: u64) -> PyResult<Session> {
        Session::new(py, self.config.clone(), seed)
    }

    /// Runs streams and returns everything about the run.
    #[pyo3(signature = (
        streams, window, *, seed, interval_ns, log_requests, firmware=None, from_state=None,
        keeps_state=false, progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        streams: Streams<'py>,
        window: WindowTuple,
        seed: u64,
        interval_ns: Option<u64>,
        log_requests: Option<u64>,
        firmware: Option<PathBuf>,
        from_state: Option<(PathBuf, PyBackedBytes)>,
        keeps_state: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut asked = asked(&streams, window, seed)?;
        asked.plan.series_interval = interval_ns.map(Nanos);
        asked.plan.log_requests = log_requests;
        let watch = Arc::<Watch>::default();
        let look = |py: Python<'_>| match &progress {
            None => Ok(()),
            Some(progress) => {
                let standing = watch.standing();
                let numbers = (
                    standing.share_of(&asked.plan.window),
                    standing.completed,
                    standing.simulated_ns,
                    standing.outstanding,
                    standing.drains,
                );
                progress.call1(py, numbers).map(drop)
            }
        };
        let simulated = if let Some(firmware) = firmware {
            let config = of_flash(&self.config, "a firmware").map_err(usage_error)?;
            watched_by(py, look, |stop| {
                simulate::run_external(config, &firmware, &asked, (&watch, stop))
            })?
        } else {
            let prepared = self.prepared(py)?;
            let (name, snapshot) = from_state.unzip();
            let states = States {
                first: snapshot.as_deref(),
                keeps_last: keeps_state,
            };
            watched_by(py, look, |stop| {
                simulate::run(&prepared, states, &asked, (&watch, stop))
            })?
            .map_err(|refused| {
                let name = name.unwrap_or_default();
                usage_error(format!("{}: {refused}", name.display()))
            })?
        };
        simulated_dict(py, &simulated)
    }

    /// Serves the drive to programs, in its condition or in a saved state.
    #[pyo3(signature = (asked, *, from_state=None))]
    fn serve(
        &self,
        py: Python<'_>,
        asked: &LiveAsked,
        from_state: Option<(PathBuf, PyBackedBytes)>,
    ) -> PyResult<LiveServer> {
        let opened = asked.open(self.config.capacity_bytes())?;
        asked.start(opened, &self.prepared(py)?, from_state)
    }

    /// The flash operations in progress during a span of a run, and the work of cores: at most one
    /// more than `most` of each.
    #[pyo3(signature = (streams, window, *, seed, from_ns, to_ns, most))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn record_span<'py>(
        &self,
        py: Python<'py>,
        streams: Streams<'py>,
        window: WindowTuple,
        seed: u64,
        from_ns: u64,
        to_ns: u64,
        most: usize,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let asked = asked(&streams, window, seed)?;
        let prepared = self.prepared_flash(py)?;
        let recorded = interruptible(py, |stop| {
            simulate::record(&prepared, &asked, from_ns..to_ns, stop)
        })?;
        let rows = recorded.operations.iter().take(most.saturating_add(1));
        let rows = rows.map(|operation| recorded_dict(py, operation, &asked.streams));
        let rows = PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?;
        let work = recorded.work.iter().take(most.saturating_add(1));
        Ok((rows, work_list(py, work)?))
    }

    /// The flash operations of one request on the idle drive, and the work of cores.
    fn record_timeline<'py>(
        &self,
        py: Python<'py>,
        direction: &str,
        record_bytes: u32,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let direction = direction_named(direction)?;
        let recorded = self
            .prepared_flash(py)?
            .record_one(direction, record_bytes)
            .map_err(simulation_error)?;
        let rows = recorded.operations.iter();
        let rows = rows.map(|operation| recorded_dict(py, operation, &[]));
        let rows = PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?;
        Ok((rows, work_list(py, recorded.work.iter())?))
    }
}

impl SimulatedDrive {
    /// The prepared state of an SSD.
    fn prepared_flash(&self, py: Python<'_>) -> PyResult<ssd::Prepared> {
        of_flash(&self.config, "a timeline of flash operations").map_err(usage_error)?;
        match self.prepared(py)? {
            Prepared::Ssd(prepared) => Ok(prepared),
            Prepared::Hdd(_) | Prepared::Raid(_) => {
                Err(usage_error("only a single drive of flash has a timeline"))
            }
        }
    }

    /// The prepared state, made when it is first needed. A failure is not kept, because it may have
    /// been an interruption.
    fn prepared(&self, py: Python<'_>) -> PyResult<Prepared> {
        Ok(self.states(py)?.prepared().clone())
    }

    fn states(&self, py: Python<'_>) -> PyResult<Arc<DriveStates>> {
        if let Some(states) = self.states.get() {
            return Ok(Arc::clone(states));
        }
        let shared = self.like.as_ref();
        let states = match shared.and_then(|like| like.timed(&self.config)) {
            Some(states) => states,
            None => {
                let config = self.config.clone();
                DriveStates::of(interruptible(py, |stop| Prepared::stoppable(config, stop))?)
            }
        };
        let states = Arc::new(states);
        Ok(Arc::clone(self.states.get_or_init(|| states)))
    }
}

/// Results of work in progress: an iterator over dictionaries, to be closed.
#[pyclass(module = "drivelab._core")]
struct Measuring {
    measuring: drive::Measuring,
}

#[pymethods]
impl Measuring {
    const fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        loop {
            let result = py.detach(|| self.measuring.wait(SIGNAL_INTERVAL));
            match result {
                Some(Ok(outcome)) => return outcome_dict(py, &outcome).map(Some),
                Some(Err(error)) => return Err(simulation_error(error)),
                None if self.measuring.is_done() => return Ok(None),
                None => py.check_signals()?,
            }
        }
    }

    fn close(&mut self, py: Python<'_>) {
        py.detach(|| self.measuring.stop());
    }
}

/// Runs `work` with the interpreter released, and stops it if a signal handler raises (Ctrl-C).
/// Python runs handlers only in its main thread, so this thread waits for them while another one
/// works.
fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, SimError> + Send,
) -> PyResult<T> {
    watched_by(py, |_| Ok(()), work)
}

/// As [`interruptible`]. `look` is called as often as signals are checked.
fn watched_by<T: Send>(
    py: Python<'_>,
    look: impl Fn(Python<'_>) -> PyResult<()> + Sync,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, SimError> + Send,
) -> PyResult<T> {
    let stop = &Arc::new(AtomicBool::new(false));
    watched_until(py, stop, look, || work(stop))
}

/// As [`interruptible`], for work that already checks `stop`.
pub fn stoppable<T: Send>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce() -> Result<T, SimError> + Send,
) -> PyResult<T> {
    watched_until(py, stop, |_| Ok(()), work)
}

fn watched_until<T: Send>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    look: impl Fn(Python<'_>) -> PyResult<()> + Sync,
    work: impl FnOnce() -> Result<T, SimError> + Send,
) -> PyResult<T> {
    let looked = || Python::attach(|py| py.check_signals().and_then(|()| look(py)));
    py.detach(|| drive::watched(stop, SIGNAL_INTERVAL, looked, work))?
        .map_err(simulation_error)
}

/// What to run: streams, and a window that they fill.
fn asked(streams: &Streams<'_>, window: WindowTuple, seed: u64) -> PyResult<Asked> {
    let streams = streams_of(streams);
    let window = window_of(&streams, window_of_tuple(window)).map_err(simulation_error)?;
    Ok(Asked {
        streams,
        plan: Plan::of(window),
        seed,
    })
}

/// For each piece of work its core, whether it is for the host, and its beginning and end.
fn work_list<'py, 'a>(
    py: Python<'py>,
    work: impl Iterator<Item = &'a RecordedWork>,
) -> PyResult<Bound<'py, PyList>> {
    let rows = work.map(|piece| (piece.core, piece.is_for_host, piece.span.0, piece.span.1));
    PyList::new(py, rows.collect::<Vec<_>>())
}

fn recorded_dict<'py>(
    py: Python<'py>,
    recorded: &RecordedOperation,
    streams: &[Stream],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let kind = match recorded.operation.kind {
        OperationKind::Read => "read",
        OperationKind::Program => "program",
        OperationKind::Erase => "erase",
    };
    let cause = match recorded.operation.cause {
        Cause::Host => "host",
        Cause::Collection => "collection",
        Cause::Wear => "wear",
        Cause::Map => "map",
        Cause::Fold => "fold",
        Cause::Refresh => "refresh",
    };
    dict.set_item("kind", kind)?;
    dict.set_item("cause", cause)?;
    let stream = recorded
        .stream
        .and_then(|place| streams.get(usize::from(place)));
    dict.set_item("stream", stream.map(|stream| &stream.name))?;
    dict.set_item("channel", recorded.channel)?;
    dict.set_item("way", recorded.way)?;
    dict.set_item("die", recorded.die)?;
    dict.set_item("plane", recorded.plane)?;
    dict.set_item("unit", recorded.unit)?;
    dict.set_item("page", recorded.operation.logical().map(|page| page.0))?;
    for (name, (start, end)) in [
        ("dispatch", recorded.dispatch),
        ("transfer", recorded.transfer),
        ("cell", recorded.cell),
    ] {
        dict.set_item(format!("{name}_start_ns"), start)?;
        dict.set_item(format!("{name}_end_ns"), end)?;
    }
    Ok(dict)
}
