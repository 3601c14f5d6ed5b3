//! The outcome of a simulated run as Python dictionaries.

use drivelab_ftl::EraseCounts;
use drivelab_request::{CommandKind, Histogram};
use drivelab_sim::host::counters::{Counter, Place, Value, described};
use drivelab_sim::host::{
    ArrayCounters, DiskCounters, Energy, FlashCounters, LatencySplit, LoggedRequest, Media,
    NamespaceCounters, Outcome, PartNames, PlacementCounters, RequestLog, Series, StreamOutcome,
    ZoneCounters,
};
use drivelab_table::{Column, Values, write_parquet};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::batch_means::{batches_dict, stopped_by};
use crate::errors::run_error;
use crate::histogram::operation_dict;
use crate::simulate::Simulated;

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(counters, module)?)
}

/// Every counter that a run reports: see `_core.pyi`.
#[pyfunction]
fn counters(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let described = described().into_iter().map(|counter| {
        let dict = PyDict::new(py);
        dict.set_item("key", counter.key)?;
        dict.set_item("unit", counter.unit)?;
        dict.set_item("meaning", counter.meaning)?;
        dict.set_item("of_array", counter.of_array)?;
        dict.set_item("measured", counter.measured)?;
        Ok(dict)
    });
    described.collect()
}

/// The values that make up a measurement.
pub fn outcome_dict<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("duration_ns", outcome.window.0)?;
    dict.set_item(
        "read",
        operation_dict(py, outcome.read.bytes, &outcome.read.latency)?,
    )?;
    dict.set_item(
        "write",
        operation_dict(py, outcome.write.bytes, &outcome.write.latency)?,
    )?;
    let extra = PyDict::new(py);
    if let Some(flash) = outcome.media.flash() {
        measured_flash(&extra, &flash)?;
    }
    if let Some(disk) = outcome.media.disk() {
        for row in DiskCounters::ROWS {
            if let Some(name) = row.measured {
                extra.set_item(name, counted(py, (row.read)(&disk))?)?;
            }
        }
    }
    if let Some(array) = &outcome.array {
        for row in ArrayCounters::ROWS {
            if let (Some(name), Some(number)) = (row.measured, (row.read)(array).number()) {
                extra.set_item(name, number)?;
            }
        }
    }
    extra.set_item("variability_factor", outcome.variability_factor)?;
    dict.set_item("extra", extra)?;
    dict.set_item("batches", batches_dict(py, &outcome.batches)?)?;
    dict.set_item("stopped_by", outcome.closed_by.map(stopped_by))?;
    dict.set_item("streams", streams_list(py, outcome, stream_dict)?)?;
    Ok(dict)
}

/// The flash values of each measurement: ratios before counts, all as `float`.
fn measured_flash(extra: &Bound<'_, PyDict>, flash: &FlashCounters) -> PyResult<()> {
    let measured = FlashCounters::ROWS
        .iter()
        .filter_map(|row| row.measured.map(|name| (name, (row.read)(flash))));
    let (counts, ratios): (Vec<_>, Vec<_>) =
        measured.partition(|(_, value)| matches!(value, Value::Count(_)));
    for (name, value) in ratios.into_iter().chain(counts) {
        if let Some(number) = value.number() {
            extra.set_item(name, number)?;
        }
    }
    Ok(())
}

/// Adds those of `counters` that a run reports at a place.
fn add_counters<W>(
    dict: &Bound<'_, PyDict>,
    (rows, counters): (&[Counter<W>], &W),
    place: Place,
) -> PyResult<()> {
    for row in rows.iter().filter(|row| row.place == place) {
        dict.set_item(row.name, counted(dict.py(), (row.read)(counters))?)?;
    }
    Ok(())
}

/// The object of a kind of counters; `None` for drives without them.
fn counters_dict<'py, W>(
    py: Python<'py>,
    rows: &[Counter<W>],
    counters: Option<&W>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(counters) = counters else {
        return Ok(None);
    };
    let dict = PyDict::new(py);
    add_counters(&dict, (rows, counters), Place::Object)?;
    Ok(Some(dict))
}

fn counted<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Count(count) => count.into_pyobject(py)?,
        Value::Real(value) => value.into_pyobject(py)?,
        Value::Reals(values) => PyList::new(py, values)?.into_any(),
        Value::Counts(values) => PyList::new(py, values)?.into_any(),
        Value::Erases(counts) => {
            let dict = counts.map(|counts| erase_counts_dict(py, counts));
            dict.transpose()?.into_pyobject(py)?.into_any()
        }
    })
}

/// What media did in an interval: the object of each kind of counters, fractions of time by channel
/// and by unit, and each member of an array.
pub fn add_media(dict: &Bound<'_, PyDict>, media: &Media) -> PyResult<()> {
    let py = dict.py();
    let (flash, disk) = (media.flash(), media.disk());
    let flash = flash.as_deref();
    let shares = flash.map(|flash| &flash.channel_utilisation_ratio);
    dict.set_item("channel_utilisation_ratio", shares)?;
    let shares = flash.map(|flash| &flash.unit_utilisation_ratio);
    dict.set_item("unit_utilisation_ratio", shares)?;
    add_objects(dict, flash, disk.as_ref())?;
    let members = media.members().iter().map(|member| member_dict(py, member));
    let members = PyList::new(py, members.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("members", members)
}

/// The object of each kind of counters; `None` for drives without them.
pub fn add_objects(
    dict: &Bound<'_, PyDict>,
    flash: Option<&FlashCounters>,
    disk: Option<&DiskCounters>,
) -> PyResult<()> {
    let py = dict.py();
    let object = counters_dict(py, FlashCounters::ROWS, flash)?;
    dict.set_item(FlashCounters::OBJECT, object)?;
    let object = counters_dict(py, DiskCounters::ROWS, disk)?;
    dict.set_item(DiskCounters::OBJECT, object)
}

/// The values from which Python makes its result.
pub fn simulated_dict<'py>(
    py: Python<'py>,
    Simulated {
        outcome,
        loop_time,
        state,
    }: &Simulated,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    if let Some(state) = state {
        dict.set_item("state", PyBytes::new(py, state))?;
    }
    dict.set_item("loop_wall_seconds", loop_time.as_secs_f64())?;
    dict.set_item("duration_ns", outcome.window.0)?;
    dict.set_item("stopped_by", outcome.closed_by.map(stopped_by))?;
    dict.set_item("warmup_requests", outcome.warmup_requests)?;
    dict.set_item("counted_requests", outcome.measured_requests)?;
    dict.set_item("drained_requests", outcome.drained_requests)?;
    let names = outcome.part_names;
    let streams = streams_list(py, outcome, |py, stream| {
        whole_stream_dict(py, names, stream)
    })?;
    dict.set_item("streams", streams)?;
    if let Some(series) = &outcome.series {
        dict.set_item("series", series_dict(py, series, &outcome.streams)?)?;
    }
    if let Some(log) = &outcome.log {
        dict.set_item(
            "log",
            log_dict(py, log, (outcome.part_names, &outcome.streams))?,
        )?;
    }
    let (flash, disk) = (outcome.media.flash(), outcome.media.disk());
    if let Some(flash) = flash.as_deref() {
        add_counters(&dict, (FlashCounters::ROWS, flash), Place::Run)?;
    }
    add_objects(&dict, flash.as_deref(), disk.as_ref())?;
    let placement = counters_dict(py, PlacementCounters::ROWS, outcome.placement.as_ref())?;
    dict.set_item(PlacementCounters::OBJECT, placement)?;
    let array = counters_dict(py, ArrayCounters::ROWS, outcome.array.as_ref())?;
    dict.set_item(ArrayCounters::OBJECT, array)?;
    let zones = counters_dict(py, ZoneCounters::ROWS, outcome.zones.as_ref())?;
    dict.set_item(ZoneCounters::OBJECT, zones)?;
    let namespaces = counters_dict(py, NamespaceCounters::ROWS, outcome.namespaces.as_ref())?;
    dict.set_item(NamespaceCounters::OBJECT, namespaces)?;
    let own = PyDict::new(py);
    for (name, count) in &outcome.own_counts {
        own.set_item(name, count)?;
    }
    dict.set_item("firmware_counts", own)?;
    let energy = counters_dict(py, Energy::ROWS, outcome.energy.as_ref())?;
    dict.set_item(Energy::OBJECT, energy)?;
    dict.set_item("variability_factor", outcome.variability_factor)?;
    let members = outcome.media.members().iter();
    let members = members.map(|member| member_dict(py, member));
    let members = PyList::new(py, members.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("members", members)?;
    Ok(dict)
}

/// What one member of an array did. Values that its kind of drive does not have are `None`.
fn member_dict<'py>(py: Python<'py>, member: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let (flash, disk) = (member.media.flash(), member.media.disk());
    let flash = flash.as_deref();
    let units = flash.map(|flash| Value::Reals(&flash.unit_utilisation_ratio));
    let of_disk = disk.map(|disk| disk.utilisation_ratio);
    let dict = PyDict::new(py);
    dict.set_item(
        "utilisation_ratio",
        of_disk.or(units.and_then(Value::number)),
    )?;
    dict.set_item("page_reads", flash.map(|flash| flash.page_reads))?;
    dict.set_item("page_programs", flash.map(FlashCounters::programs))?;
    dict.set_item("media_bytes", disk.map(|disk| disk.media_bytes))?;
    Ok(dict)
}

/// Every stream, converted by `convert`.
fn streams_list<'py>(
    py: Python<'py>,
    outcome: &Outcome,
    convert: impl Fn(Python<'py>, &StreamOutcome) -> PyResult<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let streams = outcome.streams.iter().map(|stream| convert(py, stream));
    PyList::new(py, streams.collect::<PyResult<Vec<_>>>()?)
}

/// A stream: its name, and by operation what was counted; `None` without requests.
fn stream_dict<'py>(py: Python<'py>, stream: &StreamOutcome) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &stream.name)?;
    for kind in CommandKind::ALL {
        let counted = &stream.commands[kind.index()].counted;
        let operation = operation_dict(py, counted.bytes, &counted.latency)?;
        dict.set_item(kind.name(), operation)?;
    }
    let lateness = stream.lateness.as_ref();
    let lateness = lateness.map(|lateness| lateness_dict(py, lateness));
    dict.set_item("lateness", lateness.transpose()?)?;
    Ok(dict)
}

/// How late requests were sent, under the names of `Lateness`.
pub fn lateness_dict<'py>(py: Python<'py>, lateness: &Histogram) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("requests", lateness.count())?;
    dict.set_item("late_ns_mean", lateness.mean_ns().unwrap_or(0.0))?;
    dict.set_item("late_ns_max", lateness.max_ns().unwrap_or(0))?;
    let bins = PyDict::new(py);
    for (bin, count) in lateness.nonzero() {
        bins.set_item(bin, count)?;
    }
    dict.set_item("histogram", bins)?;
    Ok(dict)
}

/// The same with everything it submitted, and for each operation with requests the parts of the
/// latencies.
fn whole_stream_dict<'py>(
    py: Python<'py>,
    names: PartNames,
    stream: &StreamOutcome,
) -> PyResult<Bound<'py, PyDict>> {
    let parts = PyDict::new(py);
    for kind in CommandKind::ALL {
        let command = &stream.commands[kind.index()];
        if command.counted.latency.count() > 0 {
            parts.set_item(kind.name(), parts_dict(py, names, &command.split)?)?;
        }
    }
    let dict = PyDict::new(py);
    dict.set_item("result", stream_dict(py, stream)?)?;
    dict.set_item("submitted_requests", stream.submitted)?;
    dict.set_item("parts", parts)?;
    Ok(dict)
}

/// Statistics of erases per block, by name.
fn erase_counts_dict(py: Python<'_>, counts: EraseCounts) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("least", counts.least)?;
    dict.set_item("mean", counts.mean)?;
    dict.set_item("most", counts.most)?;
    dict.set_item("standard_deviation", counts.standard_deviation)?;
    Ok(dict)
}

/// Sum and maximum of every part, by its name.
fn parts_dict<'py>(
    py: Python<'py>,
    names: PartNames,
    split: &LatencySplit,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (part, name) in names.iter().enumerate() {
        dict.set_item(name, (split.sum_ns[part], split.max_ns[part]))?;
    }
    Ok(dict)
}

/// The interval. For each stream and operation with requests, one tuple an interval: requests,
/// bytes, sum and maximum of the latencies.
fn series_dict<'py>(
    py: Python<'py>,
    series: &Series,
    streams: &[StreamOutcome],
) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyList::empty(py);
    for (place, stream) in streams.iter().enumerate() {
        for kind in CommandKind::ALL {
            if stream.commands[kind.index()].counted.latency.count() == 0 {
                continue;
            }
            let bins: Vec<_> = (0..series.intervals())
                .map(|interval| {
                    let bin = series.bin(interval, place, kind);
                    (
                        bin.requests,
                        bin.bytes,
                        bin.latency_sum_ns,
                        bin.latency_max_ns,
                    )
                })
                .collect();
            rows.append((&stream.name, kind.name(), bins))?;
        }
    }
    let dict = PyDict::new(py);
    dict.set_item("interval_ns", series.interval.0)?;
    dict.set_item("rows", rows)?;
    Ok(dict)
}

/// The number of logged requests, the number of others, and the table of the logged ones.
fn log_dict<'py>(
    py: Python<'py>,
    log: &RequestLog,
    (names, streams): (PartNames, &[StreamOutcome]),
) -> PyResult<Bound<'py, PyDict>> {
    let file = py
        .detach(|| write_parquet(&log_columns(&log.requests, names, streams), &[]))
        .map_err(run_error)?;
    let dict = PyDict::new(py);
    dict.set_item("requests", log.requests.len())?;
    dict.set_item("dropped", log.dropped)?;
    dict.set_item("parquet", PyBytes::new(py, &file))?;
    Ok(dict)
}

fn log_columns(
    requests: &[LoggedRequest],
    names: PartNames,
    streams: &[StreamOutcome],
) -> Vec<Column> {
    let column = |name: &str, values| Column {
        name: name.to_owned(),
        values,
    };
    let texts = |of: &dyn Fn(&LoggedRequest) -> Option<String>| {
        Values::Texts(requests.iter().map(of).collect())
    };
    // Simulated time and the size of a drive end far below 2^63.
    let integers = |of: &dyn Fn(&LoggedRequest) -> Option<u64>| {
        let cell = |request| of(request).map(|value| value as i64);
        Values::Integers(requests.iter().map(cell).collect())
    };
    let name_of = |request: &LoggedRequest| {
        let stream = streams.get(usize::from(request.stream));
        stream.map(|stream| stream.name.clone())
    };
    let kind_of = |request: &LoggedRequest| Some(request.command.kind.name().to_owned());
    let placed = |request: &&LoggedRequest| request.command.kind != CommandKind::Flush;
    let offset_of =
        |request: &LoggedRequest| Some(request).filter(placed).map(|r| r.command.offset_bytes);
    let size_of = |request: &LoggedRequest| {
        let placed = Some(request).filter(placed);
        placed.map(|r| u64::from(r.command.size_bytes))
    };
    let mut columns = vec![
        column(
            "submitted_ns",
            integers(&|request| Some(request.submitted_ns)),
        ),
        column("stream", texts(&name_of)),
        column("operation", texts(&kind_of)),
        column("offset_bytes", integers(&offset_of)),
        column("size_bytes", integers(&size_of)),
        column(
            "latency_ns",
            integers(&|request| Some(request.latency_ns())),
        ),
    ];
    for (part, name) in names.iter().enumerate() {
        let of_part = |request: &LoggedRequest| Some(request.parts[part]);
        columns.push(column(&format!("{name}_ns"), integers(&of_part)));
    }
    columns
}
