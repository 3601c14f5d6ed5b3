//! Request streams in pieces for fio, and fio's reports on every request.

use std::sync::{Mutex, PoisonError};

use drivelab_request::{Counted, HalfWidth, Nanos, WindowPlan};
use drivelab_workload::{PacedReader, QueueEnds, RecordedSegment, SegmentEnd, completions, count};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::batch_means::{batches_dict, stopped_by};
use crate::errors::{run_error, usage_error};
use crate::histogram::operation_dict;
use crate::outcome::lateness_dict;
use crate::stream::{PassTuple, pass_of};
use crate::workload::{CharacteristicsTuple, Columns, columns, from_tuple};

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RequestStream>()?;
    module.add_class::<Completions>()?;
    module.add_class::<RecordedSegments>()?;
    module.add_class::<CompletionWindow>()
}

/// A request stream with a cursor. Everything before the cursor has completed.
#[pyclass(module = "drivelab._core")]
struct RequestStream {
    stream: drivelab_workload::RequestStream,
}

#[pymethods]
impl RequestStream {
    #[new]
    fn new(
        characteristics: CharacteristicsTuple,
        range_start: u64,
        range_bytes: u64,
        seed: u64,
        index: u64,
    ) -> PyResult<Self> {
        let characteristics = from_tuple(characteristics);
        drivelab_workload::RequestStream::new(
            &characteristics,
            range_start,
            range_bytes,
            seed,
            index,
        )
        .map(|stream| Self { stream })
        .map_err(usage_error)
    }

    /// The stream of a pass over a file, one request at a time.
    #[staticmethod]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "argument of a Python function"
    )]
    fn of_pass(pass: PassTuple, seed: u64, index: u64) -> PyResult<Self> {
        drivelab_workload::RequestStream::of_pass(&pass_of(&pass)?, seed, index)
            .map(|stream| Self { stream })
            .map_err(usage_error)
    }

    #[getter]
    const fn position(&self) -> u64 {
        self.stream.position()
    }

    fn iolog_segment<'py>(
        &self,
        py: Python<'py>,
        file_name: &str,
        count: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let text = py
            .detach(|| self.stream.iolog(file_name, count))
            .map_err(usage_error)?;
        Ok(PyBytes::new(py, &text))
    }

    fn complete(&mut self, py: Python<'_>, completions: &Completions) -> PyResult<()> {
        py.detach(|| self.stream.complete(&completions.all))
            .map_err(run_error)
    }
}

/// The requests of one of fio's latency logs, in the order of completion.
#[pyclass(frozen, module = "drivelab._core")]
struct Completions {
    all: Vec<drivelab_workload::Completion>,
}

#[pymethods]
impl Completions {
    /// The requests of several logs from one run of fio, in the order of their times.
    #[staticmethod]
    fn merged(py: Python<'_>, logs: Vec<PyRef<'_, Self>>) -> Self {
        let mut all: Vec<_> = logs
            .iter()
            .flat_map(|log| log.all.iter().copied())
            .collect();
        py.detach(|| all.sort_by_key(|completion| completion.at_ns));
        Self { all }
    }

    #[new]
    fn new(py: Python<'_>, log: &[u8]) -> PyResult<Self> {
        py.detach(|| completions(log))
            .map(|all| Self { all })
            .map_err(run_error)
    }

    fn __len__(&self) -> usize {
        self.all.len()
    }

    /// When the last request completed, ns from the job's start; 0 without requests.
    #[getter]
    fn end_ns(&self) -> u64 {
        self.all.last().map_or(0, |completion| completion.at_ns)
    }

    fn accesses<'py>(&self, py: Python<'py>) -> Columns<'py> {
        columns(
            py,
            self.all.iter().map(|completion| {
                (
                    completion.direction,
                    completion.offset_bytes,
                    completion.size_bytes,
                )
            }),
        )
    }

    fn operation<'py>(
        &self,
        py: Python<'py>,
        direction: &str,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let direction = crate::closed_form::direction_named(direction)?;
        let mut counted = Counted::default();
        for completion in &self.all {
            if completion.direction == direction {
                counted.record(completion.latency_ns, completion.size_bytes);
            }
        }
        operation_dict(py, counted.bytes, &counted.latency)
    }
}

/// The window in which completions are counted.
#[pyclass(module = "drivelab._core")]
struct CompletionWindow {
    window: drivelab_request::CompletionWindow,
}

#[pymethods]
impl CompletionWindow {
    #[new]
    #[pyo3(signature = (
        *, warmup_requests, warmup_ns, requests, duration_ns, half_width_ratio=None, max_requests=0
    ))]
    fn new(
        warmup_requests: u64,
        warmup_ns: u64,
        requests: Option<u64>,
        duration_ns: Option<u64>,
        half_width_ratio: Option<f64>,
        max_requests: u64,
    ) -> Self {
        Self {
            window: drivelab_request::CompletionWindow::new(WindowPlan {
                warmup_requests,
                warmup: Nanos(warmup_ns),
                requests,
                duration: duration_ns.map(Nanos),
                half_width: half_width_ratio.map(|ratio| HalfWidth {
                    ratio,
                    max_requests,
                }),
            }),
        }
    }

    /// Adds completions of a job that started at the window's time `now_ns`.
    #[pyo3(signature = (completions, *, filling, draining, stopped_ns))]
    fn add(
        &mut self,
        py: Python<'_>,
        completions: &Completions,
        filling: usize,
        draining: usize,
        stopped_ns: Option<u64>,
    ) {
        let ends = QueueEnds {
            filling,
            draining,
            stopped_ns,
        };
        py.detach(|| count(&mut self.window, &completions.all, ends));
    }

    #[getter]
    const fn now_ns(&self) -> u64 {
        self.window.now().0
    }

    #[getter]
    fn opened_ns(&self) -> Option<u64> {
        self.window.opened_at().map(|at| at.0)
    }

    #[getter]
    fn duration_ns(&self) -> u64 {
        self.window.duration().0
    }

    #[getter]
    const fn completed(&self) -> u64 {
        self.window.completed()
    }

    #[getter]
    fn requests(&self) -> u64 {
        self.window.requests()
    }

    /// The value of `drivelab.drives.plan.StoppedBy`, or `None` so far.
    #[getter]
    fn closed_by(&self) -> Option<&'static str> {
        self.window.closed_by().map(stopped_by)
    }

    fn batches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        batches_dict(py, self.window.batches())
    }

    fn operation<'py>(
        &self,
        py: Python<'py>,
        direction: &str,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let counted = self
            .window
            .counted(crate::closed_form::direction_named(direction)?);
        operation_dict(py, counted.bytes, &counted.latency)
    }
}

/// A recorded trace in pieces for fio, with a cursor. Everything before the cursor has completed.
#[pyclass(module = "drivelab._core")]
pub struct RecordedSegments {
    // One thread at a time; the lock is for the compiler.
    segments: Mutex<drivelab_workload::RecordedSegments>,
    /// The segment given out last.
    current: Option<RecordedSegment>,
}

impl RecordedSegments {
    /// The segments of a reader, at their times or in a closed loop.
    pub fn of(reader: Box<dyn PacedReader>, is_timed: bool) -> Self {
        Self {
            segments: Mutex::new(drivelab_workload::RecordedSegments::new(reader, is_timed)),
            current: None,
        }
    }

    fn segments(&mut self) -> &mut drivelab_workload::RecordedSegments {
        self.segments
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> PyResult<&RecordedSegment> {
        let none = || usage_error("there is no segment to send");
        self.current.as_ref().ok_or_else(none)
    }
}

#[pymethods]
impl RecordedSegments {
    /// Moves to the next segment. Returns its commands, the flushes among them, and the ns until
    /// the last is due; `None` at the end.
    fn next(
        &mut self,
        py: Python<'_>,
        commands: usize,
        span_ns: u64,
    ) -> PyResult<Option<(usize, u64, u64)>> {
        let end = SegmentEnd { commands, span_ns };
        let segments = self.segments();
        let next = py.detach(|| segments.next(end)).map_err(run_error)?;
        self.current = next;
        let facts =
            |segment: &RecordedSegment| (segment.len(), segment.flushes(), segment.span_ns());
        Ok(self.current.as_ref().map(facts))
    }

    /// The iologs of `jobs` jobs that send the segment at its times.
    fn timed_iologs<'py>(
        &self,
        py: Python<'py>,
        file_name: &str,
        jobs: usize,
        lead_ms: u64,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let segment = self.current()?;
        let texts = py
            .detach(|| segment.timed_iologs(file_name, jobs, lead_ms))
            .map_err(usage_error)?;
        Ok(texts.iter().map(|text| PyBytes::new(py, text)).collect())
    }

    /// The iolog of a job that sends it in a closed loop.
    fn closed_iolog<'py>(&self, py: Python<'py>, file_name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let segment = self.current()?;
        let text = py
            .detach(|| segment.closed_iolog(file_name))
            .map_err(usage_error)?;
        Ok(PyBytes::new(py, &text))
    }

    /// Takes the log of each job of `timed_iologs`.
    fn complete(
        &mut self,
        py: Python<'_>,
        logs: Vec<PyRef<'_, Completions>>,
        lead_ms: u64,
    ) -> PyResult<()> {
        let jobs: Vec<_> = logs.iter().map(|log| log.all.as_slice()).collect();
        let segment = self.current()?.clone();
        let segments = self.segments();
        py.detach(|| segments.complete(&segment, lead_ms, &jobs))
            .map_err(run_error)
    }

    /// Takes the log of the job of `closed_iolog`.
    fn complete_closed(
        &mut self,
        py: Python<'_>,
        log: &Completions,
        queue_depth: usize,
    ) -> PyResult<()> {
        let segment = self.current()?.clone();
        let segments = self.segments();
        py.detach(|| segments.complete_closed(&segment, queue_depth, &log.all))
            .map_err(run_error)
    }

    #[getter]
    fn clock_ns(&mut self) -> u64 {
        self.segments().clock_ns()
    }

    fn operation<'py>(
        &mut self,
        py: Python<'py>,
        direction: &str,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let direction = crate::closed_form::direction_named(direction)?;
        let counted = self.segments().counted(direction);
        operation_dict(py, counted.bytes, &counted.latency)
    }

    /// How late reads and writes were, if there were any.
    fn lateness<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let lateness = self.segments().lateness();
        let known = lateness.count() > 0;
        known.then(|| lateness_dict(py, lateness)).transpose()
    }
}
