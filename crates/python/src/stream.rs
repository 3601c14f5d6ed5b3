//! Streams: the form in which Python passes workloads to the core.

use drivelab_request::{
    Command, CommandKind, Content, HalfWidth, Nanos, SECTOR_BYTES, WindowPlan, ZoneAction,
};
use drivelab_workload::{
    Key, MAX_REQUEST_BYTES, Requests, Source, Stimulus, Stream, WholePass, WriteMode,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::closed_form::direction_named;
use crate::errors::usage_error;
use crate::workload::{CharacteristicsTuple, Columns, columns, from_tuple, to_tuple};

/// `WholePass` on the Python side: direction, whether its order is random, bytes of a request,
/// where the file begins, its bytes, and after how many requests it stops.
pub type PassTuple = (String, bool, u32, u64, u64, Option<u64>);

/// `Stimulus` on the Python side: fraction of reads, whether random, sizes, zones, threads, queue
/// depth, where the range begins, its length, and where accesses in order begin.
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

/// When counting begins and ends: requests and ns before it, requests and ns in it, the half-width
/// that ends it, and the number of requests that ends it at the latest.
pub type WindowTuple = (u64, u64, Option<u64>, Option<u64>, Option<f64>, u64);

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyStream>()
}

/// Requests that belong together, such as those of one program on the host.
#[pyclass(frozen, name = "Stream", module = "drivelab._core")]
pub struct PyStream {
    stream: Stream,
}

impl PyStream {
    /// The stream in the form of the core.
    pub const fn stream(&self) -> &Stream {
        &self.stream
    }
}

/// The streams that Python passes.
pub type Streams<'py> = Vec<PyRef<'py, PyStream>>;

/// The streams in the form of the core.
pub fn streams_of(streams: &Streams<'_>) -> Vec<Stream> {
    streams.iter().map(|each| each.stream.clone()).collect()
}

#[pymethods]
impl PyStream {
    /// A closed loop with these characteristics, or an open loop if a rate is given.
    #[staticmethod]
    #[pyo3(signature = (workload, *, name = "workload", rate_iops = None, is_poisson = true))]
    fn of_characteristics(
        workload: CharacteristicsTuple,
        name: &str,
        rate_iops: Option<f64>,
        is_poisson: bool,
    ) -> Self {
        let requests = Requests::from(from_tuple(workload));
        let source = match rate_iops {
            None => Source::Closed(requests),
            Some(rate_iops) => Source::Open {
                requests,
                rate_iops,
                is_poisson,
            },
        };
        let stream = Stream::new(name, source);
        Self { stream }
    }

    /// A pass over a file.
    #[staticmethod]
    fn of_pass(pass: PassTuple) -> PyResult<Self> {
        let stream = Stream::closed("pass", pass_of(&pass)?);
        Ok(Self { stream })
    }

    /// A stimulus, with forced writes or not, and with its share of the requests if it has one.
    #[staticmethod]
    fn of_stimulus(
        stimulus: StimulusTuple,
        name: &str,
        is_forced: bool,
        share: Option<f64>,
    ) -> Self {
        let writes = if is_forced {
            WriteMode::Forced
        } else {
            WriteMode::Plain
        };
        let stream = Stream {
            writes,
            share,
            ..Stream::closed(name, stimulus_of(stimulus))
        };
        Self { stream }
    }

    /// Requests at their times: ns, operation, offset and bytes.
    #[staticmethod]
    fn of_requests(requests: Vec<(u64, String, u64, u32)>, name: &str) -> PyResult<Self> {
        let commands = requests.iter().map(command_of);
        let commands = commands.collect::<PyResult<Vec<_>>>()?;
        let stream = Stream::timed(name, commands);
        Ok(Self { stream })
    }

    /// The same stream within a range of the drive: `range_bytes` from the start or from
    /// `start_bytes` on.
    #[pyo3(signature = (range_bytes, start_bytes = 0))]
    fn within(&self, range_bytes: u64, start_bytes: u64) -> Self {
        let stream = Stream {
            range: Some((start_bytes, range_bytes)),
            ..self.stream.clone()
        };
        Self { stream }
    }

    /// The same stream with this content of written data.
    fn of_content(&self, content: &str) -> PyResult<Self> {
        let stream = Stream {
            content: content_named(content)?,
            ..self.stream.clone()
        };
        Ok(Self { stream })
    }

    /// The number of requests, if it ends by itself.
    #[getter]
    fn requests(&self) -> Option<u64> {
        self.stream.commands()
    }

    /// Whether it changes data at places that do not follow the zones of a drive.
    #[getter]
    fn writes_anywhere(&self) -> bool {
        self.stream.writes_anywhere()
    }

    /// One past the last byte of the drive that it may address; `None` if it may go anywhere.
    #[getter]
    fn end_bytes(&self) -> Option<u64> {
        let stream = &self.stream;
        let of_range = stream
            .range
            .map(|(start, length)| start.saturating_add(length));
        match &stream.source {
            Source::Closed(requests) | Source::Open { requests, .. } => {
                requests.end_bytes().or(of_range)
            }
            Source::Timed(commands) => {
                let ends = commands
                    .iter()
                    .map(|c| c.offset_bytes + u64::from(c.size_bytes));
                ends.max()
            }
            Source::Paced(source) => source.0.end_bytes().or(of_range),
            // Offsets beyond a range wrap around to its start.
            Source::Windows(_) => of_range,
        }
    }

    /// The first `count` requests of each of its loops, in its range: directions, offsets, sizes.
    fn generate<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        index: u64,
        count: usize,
    ) -> PyResult<Vec<Columns<'py>>> {
        let (Source::Closed(requests) | Source::Open { requests, .. }) = &self.stream.source else {
            return Err(usage_error("listed requests are not generated"));
        };
        let range = self.stream.range.unwrap_or_default();
        let loops = requests.loops(range, Key::first(seed, index));
        let columns = |each: drivelab_workload::Loop| {
            let requests = each.generator.take(count);
            columns(
                py,
                requests
                    .map(|request| (request.direction, request.offset_bytes, request.size_bytes)),
            )
        };
        Ok(loops
            .map_err(usage_error)?
            .into_iter()
            .map(columns)
            .collect())
    }

    /// A description of its requests, by name.
    fn described<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stream = &self.stream;
        let dict = PyDict::new(py);
        let (requests, rate) = match &stream.source {
            Source::Closed(requests) => (Some(requests), None),
            Source::Open {
                requests,
                rate_iops,
                ..
            } => (Some(requests), Some(*rate_iops)),
            Source::Timed(commands) => {
                let listed = PyDict::new(py);
                for kind in CommandKind::ALL {
                    let count = commands.iter().filter(|c| c.kind == kind).count();
                    listed.set_item(kind.name(), count)?;
                }
                dict.set_item("listed", listed)?;
                (None, None)
            }
            Source::Paced(source) => {
                let listed = PyDict::new(py);
                for kind in CommandKind::ALL {
                    listed.set_item(kind.name(), source.0.commands()[kind.index()])?;
                }
                dict.set_item("listed", listed)?;
                (None, None)
            }
            Source::Windows(_) => (None, None),
        };
        let source = match &stream.source {
            Source::Closed(_) => "closed",
            Source::Open {
                is_poisson: true, ..
            } => "poisson",
            Source::Open { .. } => "fixed",
            Source::Timed(_) => "listed",
            Source::Paced(_) => "recorded",
            Source::Windows(_) => "windows",
        };
        let characteristics = match requests {
            Some(Requests::Characteristics(workload) | Requests::EachOnce(workload)) => {
                Some(to_tuple(workload))
            }
            Some(Requests::Zoned(zoned)) => Some(to_tuple(&zoned.requests)),
            _ => None,
        };
        dict.set_item("name", &stream.name)?;
        dict.set_item("source", source)?;
        dict.set_item("rate_iops", rate)?;
        dict.set_item("workload", characteristics)?;
        dict.set_item("mixture", mixture_of(py, requests)?)?;
        dict.set_item("range", stream.range)?;
        dict.set_item("namespace", stream.namespace.as_deref())?;
        let zoned = match requests {
            Some(Requests::Zoned(zoned)) => Some(zoned),
            _ => None,
        };
        let writes_as = match stream.writes {
            _ if zoned.is_some_and(|zoned| zoned.appends) => "append",
            WriteMode::Plain => "write",
            WriteMode::Forced => "forced_write",
            WriteMode::Trim => "trim",
            WriteMode::Zeroes => "write_zeroes",
        };
        dict.set_item("writes_as", writes_as)?;
        dict.set_item("writes_per_flush", stream.writes_per_flush)?;
        let ranges = stream.ranges_per_trim;
        dict.set_item("ranges_per_trim", (ranges > 1).then_some(ranges))?;
        dict.set_item("zones", zoned.map(|zoned| zoned.zones_at_once))?;
        dict.set_item("zone_bytes", zoned.and_then(|zoned| zoned.zone_bytes))?;
        dict.set_item("priority", stream.priority)?;
        dict.set_item("queue_pair", stream.queue_pair)?;
        dict.set_item("share", stream.share)?;
        dict.set_item("burst_requests", stream.burst)?;
        let is_once = matches!(requests, Some(Requests::EachOnce(_)));
        dict.set_item("each_place_once", is_once)?;
        dict.set_item("placement", stream.placement.handle)?;
        dict.set_item("reclaim_group", stream.placement.group)?;
        dict.set_item("content", stream.content.name())?;
        Ok(dict)
    }
}

/// For an access pattern: the fraction of reads, whether places are random, sizes and zones with
/// their shares, and the number of outstanding requests.
fn mixture_of<'py>(
    py: Python<'py>,
    requests: Option<&Requests>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(Requests::Stimulus(stimulus)) = requests else {
        return Ok(None);
    };
    let dict = PyDict::new(py);
    dict.set_item("read_ratio", stimulus.read_ratio)?;
    dict.set_item("is_random", stimulus.is_random)?;
    dict.set_item("sizes", stimulus.sizes.clone())?;
    dict.set_item("zones", stimulus.zones.clone())?;
    dict.set_item("queue_depth", stimulus.queue_depth)?;
    Ok(Some(dict))
}

impl From<Stream> for PyStream {
    fn from(stream: Stream) -> Self {
        Self { stream }
    }
}

/// The window of a tuple.
pub fn window_of_tuple(tuple: WindowTuple) -> WindowPlan {
    let (warmup_requests, warmup_ns, requests, duration_ns, half_width_ratio, max_requests) = tuple;
    WindowPlan {
        warmup_requests,
        warmup: Nanos(warmup_ns),
        requests,
        duration: duration_ns.map(Nanos),
        half_width: half_width_ratio.map(|ratio| HalfWidth {
            ratio,
            max_requests,
        }),
    }
}

/// The tuple of a window without a half-width.
pub const fn tuple_of_window(window: &WindowPlan) -> WindowTuple {
    let duration = match window.duration {
        Some(Nanos(nanos)) => Some(nanos),
        None => None,
    };
    (
        window.warmup_requests,
        window.warmup.0,
        window.requests,
        duration,
        None,
        0,
    )
}

/// The pass of a tuple, if it is valid.
pub fn pass_of(tuple: &PassTuple) -> PyResult<WholePass> {
    let pass = WholePass {
        direction: direction_named(&tuple.0)?,
        is_random: tuple.1,
        request_bytes: tuple.2,
        start_bytes: tuple.3,
        file_bytes: tuple.4,
        first_requests: tuple.5,
    };
    pass.validate().map_err(usage_error)?;
    Ok(pass)
}

fn stimulus_of(tuple: StimulusTuple) -> Stimulus {
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

fn command_of(request: &(u64, String, u64, u32)) -> PyResult<Command> {
    let (at_ns, action, offset_bytes, size_bytes) = request;
    let kind = CommandKind::ALL
        .into_iter()
        .find(|kind| kind.name() == action);
    let names = CommandKind::ALL.map(CommandKind::name).join(", ");
    let kind = kind
        .ok_or_else(|| usage_error(format!("there is no action {action:?}; allowed: {names}")))?;
    if kind == CommandKind::Flush {
        return Ok(Command::flush(Nanos(*at_ns)));
    }
    let is_sectors =
        offset_bytes.is_multiple_of(SECTOR_BYTES.into()) && size_bytes.is_multiple_of(SECTOR_BYTES);
    if !is_sectors || *size_bytes == 0 || *size_bytes > MAX_REQUEST_BYTES {
        return Err(usage_error(format!(
            "a request of {size_bytes} bytes at {offset_bytes}; allowed: multiples of \
             {SECTOR_BYTES}, sizes up to {MAX_REQUEST_BYTES}"
        )));
    }
    Ok(Command {
        arrival: Nanos(*at_ns),
        offset_bytes: *offset_bytes,
        size_bytes: *size_bytes,
        kind,
        is_forced: false,
        content: Content::Random,
        zone: ZoneAction::None,
    })
}

/// The content of written data with this name.
///
/// # Errors
/// `UsageError` with the valid names.
fn content_named(name: &str) -> PyResult<Content> {
    let names = Content::NAMES.join(", ");
    Content::from_name(name)
        .ok_or_else(|| usage_error(format!("there is no content {name:?}; allowed: {names}")))
}
