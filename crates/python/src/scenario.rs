//! Scenarios: several streams of requests on one simulated drive.

use std::collections::BTreeMap;

use drivelab_request::{CommandKind, Content, Nanos};
use drivelab_sim::scenario::{Scenario, SourcePlan, StreamPlan};
use drivelab_sim::ssd::WriteMode;
use drivelab_workload::Characteristics;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::usage_error;
use crate::workload::{CharacteristicsTuple, from_tuple};

/// Adds the topic to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyScenario>()?;
    module.add_function(wrap_pyfunction!(scenario_files, module)?)
}

/// A checked scenario.
#[pyclass(frozen, name = "Scenario", module = "drivelab._core")]
pub struct PyScenario {
    scenario: Scenario,
}

/// What the command line says instead of the scenario.
pub struct Overrides {
    pub warmup_requests: Option<u64>,
    pub requests: Option<u64>,
    pub duration_ns: Option<u64>,
    pub interval_ns: Option<u64>,
}

#[pymethods]
impl PyScenario {
    /// Reads a scenario; `files` gives the texts of the files that it names.
    #[new]
    fn new(text: &str, files: BTreeMap<String, String>) -> PyResult<Self> {
        let scenario =
            Scenario::read(text, &|name| files.get(name).cloned()).map_err(usage_error)?;
        Ok(Self { scenario })
    }

    /// One closed loop over the whole drive, whose writes have the content of that name.
    #[staticmethod]
    #[pyo3(signature = (name, workload, content = "random"))]
    fn closed(name: &str, workload: CharacteristicsTuple, content: &str) -> PyResult<Self> {
        let mut scenario = Scenario::closed(name, from_tuple(workload));
        for stream in &mut scenario.streams {
            stream.content = content_named(content)?;
        }
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

    /// Whether it says itself when the run ends.
    #[getter]
    fn ends(&self) -> bool {
        self.scenario.window().is_ok()
    }

    /// The streams, in order.
    fn streams<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let streams = self.scenario.streams.iter();
        let dicts = streams.map(|stream| stream_dict(py, stream));
        PyList::new(py, dicts.collect::<PyResult<Vec<_>>>()?)
    }
}

impl PyScenario {
    /// The scenario with what the command line says.
    pub fn with(&self, overrides: &Overrides) -> Scenario {
        let mut scenario = self.scenario.clone();
        if overrides.requests.is_some() || overrides.duration_ns.is_some() {
            scenario.requests = overrides.requests;
            scenario.duration = overrides.duration_ns.map(Nanos);
        }
        if let Some(requests) = overrides.warmup_requests {
            scenario.warmup_requests = requests;
        }
        scenario.interval = overrides.interval_ns.map(Nanos).or(scenario.interval);
        scenario
    }
}

/// The content of written data that has that name.
///
/// # Errors
/// `UsageError` with the names that there are.
pub fn content_named(name: &str) -> PyResult<Content> {
    let names = Content::NAMES.join(", ");
    Content::from_name(name)
        .ok_or_else(|| usage_error(format!("there is no content {name:?}; allowed: {names}")))
}

/// The files of requests that a scenario names, in order.
#[pyfunction]
fn scenario_files(text: &str) -> Vec<String> {
    Scenario::files(text)
}

fn stream_dict<'py>(py: Python<'py>, stream: &StreamPlan) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (source, characteristics, rate) = match &stream.source {
        SourcePlan::Closed(characteristics) => ("closed", Some(characteristics), None),
        SourcePlan::Open {
            characteristics,
            rate_iops,
            is_poisson,
        } => {
            let source = if *is_poisson { "poisson" } else { "fixed" };
            (source, Some(characteristics), Some(*rate_iops))
        }
        SourcePlan::Timed(commands) => {
            let listed = PyDict::new(py);
            for kind in CommandKind::ALL {
                let count = commands.iter().filter(|c| c.kind == kind).count();
                listed.set_item(kind.name(), count)?;
            }
            dict.set_item("listed", listed)?;
            ("listed", None, None)
        }
    };
    dict.set_item("name", &stream.name)?;
    dict.set_item("source", source)?;
    dict.set_item("rate_iops", rate)?;
    dict.set_item("workload", characteristics.map(to_tuple))?;
    dict.set_item("range", stream.range)?;
    let writes_as = match stream.writes {
        WriteMode::Plain => "write",
        WriteMode::Forced => "forced_write",
        WriteMode::Trim => "trim",
    };
    dict.set_item("writes_as", writes_as)?;
    dict.set_item("writes_per_flush", stream.writes_per_flush)?;
    dict.set_item("priority", stream.priority)?;
    dict.set_item("queue_pair", stream.queue_pair)?;
    dict.set_item("share", stream.share)?;
    dict.set_item("content", stream.content.name())?;
    Ok(dict)
}

const fn to_tuple(characteristics: &Characteristics) -> CharacteristicsTuple {
    (
        characteristics.write_ratio,
        characteristics.queue_depth,
        characteristics.read_size,
        characteristics.write_size,
        characteristics.read_random,
        characteristics.write_random,
        characteristics.read_stride,
        characteristics.write_stride,
    )
}
