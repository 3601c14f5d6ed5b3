//! Simulated drives.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread::{self, available_parallelism};
use std::time::Duration;

use drivelab_ftl::{Cause, OperationKind};
use drivelab_request::{HalfWidth, Nanos, WindowPlan};
use drivelab_sim::drive::{self, Prepared};
use drivelab_sim::host::{Plan, SimError, mean_factor};
use drivelab_sim::preset::DriveConfig;
use drivelab_sim::scenario::StreamPlan;
use drivelab_sim::ssd::{self, RecordedOperation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyList};

use crate::closed_form::direction_named;
use crate::errors::{simulation_error, usage_error};
use crate::outcome::{outcome_dict, simulated_dict};
use crate::preset::{BaseTexts, configuration, of_flash};
use crate::scenario::{Overrides, PyScenario, content_named};
use crate::session::Session;
use crate::simulate::{self, States, Watched};
use crate::whole_pass::{PassTuple, of_tuple};
use crate::workload::{CharacteristicsTuple, from_tuple};

/// How often signals are looked for during long work.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Adds the topic to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(available_cores, module)?)?;
    module.add_class::<Measuring>()?;
    module.add_class::<SimulatedDrive>()
}

/// Cores that this process may use.
#[pyfunction]
fn available_cores() -> usize {
    available_parallelism().map_or(1, |count| count.get())
}

/// A simulated drive in its preset's condition.
#[pyclass(frozen, module = "drivelab._core")]
struct SimulatedDrive {
    config: DriveConfig,
    /// Whether runs vary: `none` where the preset says so, `on`, or `off` where the user does.
    variability: &'static str,
    prepared: OnceLock<Prepared>,
}

#[pymethods]
impl SimulatedDrive {
    #[new]
    #[pyo3(signature = (text, bases=None, *, varies=true))]
    fn new(text: &str, bases: Option<BaseTexts>, varies: bool) -> PyResult<Self> {
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
            prepared: OnceLock::new(),
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

    fn resolved_json(&self) -> String {
        self.config.resolved_json()
    }

    /// By how much each measurement of so long, in ns of the drive's own time, takes longer
    /// than the preset says.
    fn variability_factors(&self, indices: Vec<u64>, seed: u64, duration_ns: u64) -> Vec<f64> {
        let factor = |index: u64| mean_factor(self.config.variability(), seed, index, duration_ns);
        indices.into_iter().map(factor).collect()
    }

    /// Measures every workload from the prepared state; answers in their order.
    #[pyo3(signature = (
        indices, workloads, *, seed, warmup_requests, warmup_ns, requests, duration_ns,
        half_width_ratio, max_requests, workers, range_bytes, content = "random"
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn measure(
        &self,
        py: Python<'_>,
        indices: Vec<u64>,
        workloads: Vec<CharacteristicsTuple>,
        seed: u64,
        warmup_requests: u64,
        warmup_ns: u64,
        requests: Option<u64>,
        duration_ns: Option<u64>,
        half_width_ratio: Option<f64>,
        max_requests: u64,
        workers: usize,
        range_bytes: Option<u64>,
        content: &str,
    ) -> PyResult<Measuring> {
        if indices.len() != workloads.len() {
            return Err(PyValueError::new_err("one index a workload"));
        }
        let workloads = workloads.into_iter().map(from_tuple);
        let work: Vec<_> = indices.into_iter().zip(workloads).collect();
        let plan = Plan {
            window: WindowPlan {
                warmup_requests,
                warmup: Nanos(warmup_ns),
                requests,
                duration: duration_ns.map(Nanos),
                half_width: half_width_ratio.map(|ratio| HalfWidth {
                    ratio,
                    max_requests,
                }),
            },
            range_bytes,
            content: content_named(content)?,
            ..Plan::default()
        };
        let prepared = self.prepared(py)?;
        Ok(Measuring {
            measuring: drive::Measuring::start(&prepared, work, seed, plan, workers),
        })
    }

    /// Transfers a file once for every pass, from the prepared state; answers in their order.
    #[pyo3(signature = (indices, passes, *, seed, workers))]
    fn measure_passes(
        &self,
        py: Python<'_>,
        indices: Vec<u64>,
        passes: Vec<PassTuple>,
        seed: u64,
        workers: usize,
    ) -> PyResult<Measuring> {
        if indices.len() != passes.len() {
            return Err(PyValueError::new_err("one index a pass"));
        }
        let passes = passes.into_iter().map(|pass| of_tuple(&pass));
        let passes = passes.collect::<PyResult<Vec<_>>>()?;
        let work = indices.into_iter().zip(passes).collect();
        let prepared = self.prepared(py)?;
        Ok(Measuring {
            measuring: drive::Measuring::start_passes(&prepared, work, seed, workers),
        })
    }

    /// A drive of its own, in the preset's condition, whose steps go on from each other.
    #[pyo3(signature = (*, seed))]
    fn session(&self, py: Python<'_>, seed: u64) -> PyResult<Session> {
        Session::new(py, self.config.clone(), seed)
    }

    /// Runs a scenario and tells everything about it.
    #[pyo3(signature = (
        scenario, *, seed, warmup_requests, requests, duration_ns, interval_ns, log_requests,
        firmware=None, from_state=None, keeps_state=false, progress=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        scenario: &PyScenario,
        seed: u64,
        warmup_requests: Option<u64>,
        requests: Option<u64>,
        duration_ns: Option<u64>,
        interval_ns: Option<u64>,
        log_requests: Option<u64>,
        firmware: Option<PathBuf>,
        from_state: Option<(PathBuf, PyBackedBytes)>,
        keeps_state: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let scenario = scenario.with(&Overrides {
            warmup_requests,
            requests,
            duration_ns,
            interval_ns,
        });
        let watched = Watched::new(&scenario).map_err(usage_error)?;
        let look = |py: Python<'_>| match &progress {
            None => Ok(()),
            Some(progress) => {
                let (standing, share) = watched.standing();
                let told = (
                    share,
                    standing.completed,
                    standing.simulated_ns,
                    standing.outstanding,
                    standing.drains,
                );
                progress.call1(py, told).map(drop)
            }
        };
        let simulated = if let Some(firmware) = firmware {
            let config = of_flash(&self.config, "a firmware").map_err(usage_error)?;
            watched_by(py, look, |stop| {
                let watch = (&watched.watch, stop);
                simulate::run_external(config, &firmware, &scenario, seed, log_requests, watch)
            })?
        } else {
            let prepared = self.prepared(py)?;
            let (name, snapshot) = from_state.unzip();
            let states = States {
                first: snapshot.as_deref(),
                keeps_last: keeps_state,
            };
            watched_by(py, look, |stop| {
                let watch = (&watched.watch, stop);
                simulate::run(&prepared, states, &scenario, seed, log_requests, watch)
            })?
            .map_err(|refused| {
                let name = name.unwrap_or_default();
                usage_error(format!("{}: {refused}", name.display()))
            })?
        };
        simulated_dict(py, &simulated)
    }

    /// The flash operations under way in a span of a scenario's run, at most one more
    /// than `most`.
    #[pyo3(signature = (scenario, *, seed, from_ns, to_ns, most))]
    fn record_span<'py>(
        &self,
        py: Python<'py>,
        scenario: &PyScenario,
        seed: u64,
        from_ns: u64,
        to_ns: u64,
        most: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let scenario = scenario.with(&Overrides {
            warmup_requests: Some(0),
            requests: None,
            duration_ns: Some(to_ns),
            interval_ns: None,
        });
        let prepared = self.prepared_flash(py)?;
        let recorded = interruptible(py, |stop| {
            simulate::record(&prepared, &scenario, seed, from_ns..to_ns, stop)
        })?;
        let rows = recorded.iter().take(most.saturating_add(1));
        let rows = rows.map(|operation| recorded_dict(py, operation, &scenario.streams));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    /// The flash operations of one request on the idle drive.
    fn record_timeline<'py>(
        &self,
        py: Python<'py>,
        direction: &str,
        record_bytes: u32,
    ) -> PyResult<Bound<'py, PyList>> {
        let direction = direction_named(direction)?;
        let recorded = self
            .prepared_flash(py)?
            .record_one(direction, record_bytes)
            .map_err(simulation_error)?;
        let rows = recorded
            .iter()
            .map(|operation| recorded_dict(py, operation, &[]));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }
}

impl SimulatedDrive {
    /// The prepared state of a drive of flash.
    fn prepared_flash(&self, py: Python<'_>) -> PyResult<ssd::Prepared> {
        of_flash(&self.config, "a timeline of flash operations").map_err(usage_error)?;
        match self.prepared(py)? {
            Prepared::Ssd(prepared) => Ok(prepared),
            Prepared::Hdd(_) | Prepared::Raid0(_) => {
                Err(usage_error("only a single drive of flash has a timeline"))
            }
        }
    }

    /// The prepared state, made when it is first needed. A failure is not kept:
    /// it may have been an interruption.
    fn prepared(&self, py: Python<'_>) -> PyResult<Prepared> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared.clone());
        }
        let config = self.config.clone();
        let prepared = interruptible(py, |stop| Prepared::stoppable(config, stop))?;
        Ok(self.prepared.get_or_init(|| prepared).clone())
    }
}

/// Results on their way: an iterator over dictionaries, to be closed.
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

/// Runs `work` without the interpreter, and stops it when a signal's handler
/// raises (Ctrl-C). Python runs handlers in its main thread alone, so this
/// thread waits for them while another one works.
fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, SimError> + Send,
) -> PyResult<T> {
    watched_by(py, |_| Ok(()), work)
}

/// As [`interruptible`], and has `look` look at it as often as signals are looked for.
fn watched_by<T: Send>(
    py: Python<'_>,
    look: impl Fn(Python<'_>) -> PyResult<()> + Sync,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, SimError> + Send,
) -> PyResult<T> {
    let stop = &Arc::new(AtomicBool::new(false));
    watched_until(py, stop, look, || work(stop))
}

/// As [`interruptible`], of work that already looks at `stop`.
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
    py.detach(|| {
        thread::scope(|scope| {
            let (sender, done) = mpsc::channel::<()>();
            let worker = thread::Builder::new()
                .spawn_scoped(scope, move || {
                    let _sender_goes_when_done = sender;
                    work()
                })
                .map_err(|error| {
                    let reason = error.to_string();
                    simulation_error(SimError::NoThread { reason })
                })?;
            let mut interruption = None;
            while done.recv_timeout(SIGNAL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if interruption.is_none() {
                    let looked = |py: Python<'_>| py.check_signals().and_then(|()| look(py));
                    interruption = Python::attach(looked).err();
                    stop.store(interruption.is_some(), Ordering::Relaxed);
                }
            }
            let result = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match interruption {
                Some(error) => Err(error),
                None => result.map_err(simulation_error),
            }
        })
    })
}

fn recorded_dict<'py>(
    py: Python<'py>,
    recorded: &RecordedOperation,
    streams: &[StreamPlan],
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
