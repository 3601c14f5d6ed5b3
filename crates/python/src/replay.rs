//! Recorded traces as streams: a survey, and its result.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use drivelab_replay::{
    Facts, Fit, Origin, Pace, Replay, ReplayError, Survey, Surveyed, USUAL_DEPTH,
};
use drivelab_request::CommandKind;
use drivelab_trace::{Given, Operation, Record};
use drivelab_workload::{PacedSource, SharedSource, Source, Stream};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::usage_error;
use crate::fio::RecordedSegments;
use crate::stream::PyStream;
use crate::trace::{ReadingOptions, trace_error};

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("TRACE_FITS", Fit::NAMES.map(|(name, _)| name))?;
    module.add("USUAL_TRACE_DEPTH", USUAL_DEPTH)?;
    module.add_class::<TraceSurvey>()?;
    module.add_class::<SurveyedTrace>()
}

fn replay_error(error: ReplayError) -> PyErr {
    match error {
        ReplayError::Trace(error) => trace_error(error),
        error => usage_error(error),
    }
}

fn fit_named(name: &str) -> PyResult<Fit> {
    let found = Fit::NAMES.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, fit)| fit).ok_or_else(|| {
        let known = Fit::NAMES.map(|(name, _)| name).join(", ");
        usage_error(format!("there is no fit {name:?}; allowed: {known}"))
    })
}

/// A trace being surveyed for a replay.
#[pyclass(module = "drivelab._core")]
struct TraceSurvey {
    // One thread at a time; the lock is for the compiler.
    survey: Mutex<Option<Survey>>,
    origin: Origin,
    fit: Fit,
}

impl TraceSurvey {
    fn begin(py: Python<'_>, origin: Origin, fit: &str, needs_depth: bool) -> PyResult<Self> {
        let fit = fit_named(fit)?;
        let survey = py.detach(|| Survey::begin(&origin, fit, needs_depth));
        Ok(Self {
            survey: Mutex::new(Some(survey.map_err(replay_error)?)),
            origin,
            fit,
        })
    }

    fn survey(&mut self) -> &mut Option<Survey> {
        self.survey
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl TraceSurvey {
    /// Opens files; `options` are those of `TraceReader`.
    #[staticmethod]
    fn of_files(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        options: ReadingOptions,
        fit: &str,
        needs_depth: bool,
    ) -> PyResult<Self> {
        let origin = Origin::Files {
            files: paths.into_iter().map(Given::Path).collect(),
            options: Box::new(options.options()?),
        };
        Self::begin(py, origin, fit, needs_depth)
    }

    /// Takes a list: ns, operation, offset and bytes of each request, in order.
    #[staticmethod]
    fn of_requests(
        py: Python<'_>,
        requests: Vec<(u64, String, u64, u64)>,
        fit: &str,
    ) -> PyResult<Self> {
        let record = |(at_ns, name, offset, size): &(u64, String, u64, u64)| {
            let operation = Operation::named(name);
            let operation =
                operation.ok_or_else(|| usage_error(format!("there is no action {name:?}")))?;
            Ok(Record::new(*at_ns, 0, operation, *offset, *size))
        };
        let records = requests.iter().map(record).collect::<PyResult<Vec<_>>>()?;
        Self::begin(py, Origin::Listed(records.into()), fit, false)
    }

    /// Requests surveyed so far.
    #[getter]
    fn requests(&mut self) -> u64 {
        self.survey().as_ref().map_or(0, Survey::requests)
    }

    /// Surveys this many more; false at the end.
    fn go_on(&mut self, py: Python<'_>, requests: u64) -> PyResult<bool> {
        match self.survey() {
            Some(survey) => py.detach(|| survey.go_on(requests)).map_err(replay_error),
            None => Ok(false),
        }
    }

    /// The result. The survey is over.
    fn finish(&mut self, py: Python<'_>) -> PyResult<SurveyedTrace> {
        let survey = self.survey().take();
        let survey = survey.ok_or_else(|| usage_error("the survey is over; begin another"))?;
        let surveyed = py.detach(|| survey.finish()).map_err(replay_error)?;
        Ok(SurveyedTrace {
            origin: self.origin.clone(),
            surveyed: Arc::new(surveyed),
            fit: self.fit,
        })
    }
}

/// A surveyed trace.
#[pyclass(frozen, module = "drivelab._core")]
struct SurveyedTrace {
    origin: Origin,
    surveyed: Arc<Surveyed>,
    fit: Fit,
}

#[pymethods]
impl SurveyedTrace {
    /// The result: see `_core.pyi`.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = facts_dict(py, &self.surveyed.facts)?;
        let end = self.surveyed.layout.end_bytes();
        dict.set_item("end_bytes", end)?;
        Ok(dict)
    }

    /// Its requests at their times, `speed` times as fast. Without a speed, in a closed loop. With
    /// a depth, at most this many at once.
    #[pyo3(signature = (name, *, speed, depth))]
    fn stream(&self, name: &str, speed: Option<f64>, depth: Option<u32>) -> PyResult<PyStream> {
        let replay = self.replay(speed, depth)?;
        let source = Source::Paced(SharedSource(Arc::new(replay)));
        Ok(Stream::new(name, source).into())
    }

    /// The same in pieces for fio, with a single depth, in a part of the drive given by its start
    /// and its bytes.
    #[pyo3(signature = (range_start, range_bytes, *, speed, depth))]
    fn segments(
        &self,
        range_start: u64,
        range_bytes: u64,
        speed: Option<f64>,
        depth: u32,
    ) -> PyResult<RecordedSegments> {
        let replay = self.replay(speed, Some(depth))?;
        let is_timed = replay.pace.is_timed();
        let reader = replay.open((range_start, range_bytes));
        Ok(RecordedSegments::of(reader.map_err(usage_error)?, is_timed))
    }
}

impl SurveyedTrace {
    fn replay(&self, speed: Option<f64>, depth: Option<u32>) -> PyResult<Replay> {
        let pace = match speed {
            Some(speed) if speed.is_finite() && speed > 0.0 => Pace::Recorded {
                speed,
                depth: depth.unwrap_or(USUAL_DEPTH),
            },
            Some(speed) => {
                return Err(usage_error(format!(
                    "a speed of {speed}; allowed: more than 0"
                )));
            }
            None => Pace::Closed { depth },
        };
        if depth == Some(0) {
            return Err(usage_error("a depth of 0; allowed: 1 or more"));
        }
        if pace.needs_recorded_depth() && self.surveyed.facts.depth.is_none() {
            return Err(usage_error(
                "the recorded depth was not looked for; give a depth",
            ));
        }
        Ok(Replay {
            origin: self.origin.clone(),
            surveyed: Arc::clone(&self.surveyed),
            pace,
            wraps: self.fit == Fit::Wrap,
        })
    }
}

fn facts_dict<'py>(py: Python<'py>, facts: &Facts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("format", facts.format)?;
    dict.set_item("requests", facts.requests)?;
    let commands = PyDict::new(py);
    for kind in CommandKind::ALL {
        commands.set_item(kind.name(), facts.commands[kind.index()])?;
    }
    dict.set_item("commands", commands)?;
    dict.set_item("bytes", facts.bytes)?;
    dict.set_item("span_ns", facts.span_ns)?;
    let devices = facts.devices.iter().filter(|device| device.requests > 0);
    let devices = devices.map(|device| (&device.name, device.requests));
    dict.set_item("devices", PyList::new(py, devices.collect::<Vec<_>>())?)?;
    dict.set_item("rounded", facts.rounded)?;
    dict.set_item("cut", facts.cut)?;
    dict.set_item("left_out", facts.left_out)?;
    dict.set_item("skipped", facts.skipped)?;
    dict.set_item("largest_bytes", facts.largest_bytes)?;
    dict.set_item("alignment_bytes", facts.alignment_bytes)?;
    dict.set_item("depth_mean", facts.depth.map(|(mean, _)| mean))?;
    dict.set_item("depth_max", facts.depth.map(|(_, most)| most))?;
    dict.set_item("cautions", &facts.cautions)?;
    dict.set_item("content", format!("{:016x}", facts.fingerprint))?;
    Ok(dict)
}
