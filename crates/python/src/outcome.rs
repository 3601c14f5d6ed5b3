//! What a run of a simulated drive tells, as Python's dictionaries.

use drivelab_request::CommandKind;
use drivelab_sim::hdd::DiskWork;
use drivelab_sim::ssd::{
    Energy, LatencySplit, LoggedRequest, Outcome, PartNames, RequestLog, Series, StreamOutcome,
};
use drivelab_table::{Column, Values, write_parquet};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::batch_means::{batches_dict, stopped_by};
use crate::errors::run_error;
use crate::histogram::operation_dict;
use crate::simulate::Simulated;

/// What a measurement is made of.
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
    let extra = match &outcome.disk {
        Some(work) => disk_dict(py, work)?,
        None => flash_extra(py, outcome)?,
    };
    extra.set_item("variability_factor", outcome.variability_factor)?;
    dict.set_item("extra", extra)?;
    dict.set_item("batches", batches_dict(py, &outcome.batches)?)?;
    dict.set_item("stopped_by", outcome.closed_by.map(stopped_by))?;
    Ok(dict)
}

/// What only a drive of flash tells.
fn flash_extra<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let extra = PyDict::new(py);
    if let Some(ratio) = outcome.write_amplification() {
        extra.set_item("write_amplification_ratio", ratio)?;
    }
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    extra.set_item(
        "channel_utilisation_ratio",
        mean(&outcome.channel_utilisation),
    )?;
    extra.set_item("die_utilisation_ratio", mean(&outcome.unit_utilisation))?;
    extra.set_item("page_reads", outcome.page_reads as f64)?;
    extra.set_item("host_page_programs", outcome.host_programs as f64)?;
    extra.set_item(
        "collection_page_programs",
        outcome.collection_programs as f64,
    )?;
    extra.set_item("block_erases", outcome.erases as f64)?;
    extra.set_item("buffer_hit_pages", outcome.buffer_hits as f64)?;
    Ok(extra)
}

/// What Python makes its answer of.
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
    let streams = outcome.streams.iter();
    let streams = streams.map(|stream| stream_dict(py, names, stream));
    let streams = PyList::new(py, streams.collect::<PyResult<Vec<_>>>()?)?;
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
    match &outcome.disk {
        Some(work) => dict.set_item("disk", disk_dict(py, work)?)?,
        None => dict.update(flash_dict(py, outcome)?.as_mapping())?,
    }
    dict.set_item(
        "energy",
        outcome
            .energy
            .map(|taken| energy_dict(py, &taken))
            .transpose()?,
    )?;
    dict.set_item("variability_factor", outcome.variability_factor)?;
    let members = outcome.members.iter();
    let members = members.map(|member| member_dict(py, member));
    let members = PyList::new(py, members.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("members", members)?;
    Ok(dict)
}

/// What one member of an array did; what its kind of drive does not have is `None`.
fn member_dict<'py>(py: Python<'py>, member: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let is_flash = member.disk.is_none();
    let busy = match &member.disk {
        Some(work) => work.utilisation,
        None => mean(&member.unit_utilisation),
    };
    let dict = PyDict::new(py);
    dict.set_item("utilisation_ratio", busy)?;
    dict.set_item("page_reads", is_flash.then_some(member.page_reads))?;
    dict.set_item("page_programs", is_flash.then(|| member.programs()))?;
    dict.set_item("media_bytes", member.disk.map(|work| work.media_bytes))?;
    Ok(dict)
}

/// What the flash did, by name.
fn flash_dict<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("all_page_programs", outcome.all_programs)?;
    dict.set_item("page_reads", outcome.page_reads)?;
    dict.set_item("host_page_programs", outcome.host_programs)?;
    dict.set_item("collection_page_programs", outcome.collection_programs)?;
    dict.set_item("wear_page_programs", outcome.wear_programs)?;
    dict.set_item("fold_page_programs", outcome.fold_programs)?;
    dict.set_item("copyback_page_programs", outcome.copyback_programs)?;
    dict.set_item("read_retries", outcome.read_retries)?;
    dict.set_item("block_erases", outcome.erases)?;
    dict.set_item("collections", outcome.collections)?;
    dict.set_item("collection_moves", outcome.collection_moves)?;
    dict.set_item("wear_moves", outcome.wear_moves)?;
    dict.set_item("retired_blocks", outcome.retired_blocks)?;
    dict.set_item("bad_blocks", outcome.bad_blocks)?;
    dict.set_item("switch_merges", outcome.switch_merges)?;
    dict.set_item("partial_merges", outcome.partial_merges)?;
    dict.set_item("full_merges", outcome.full_merges)?;
    dict.set_item("map_hits", outcome.map_hits)?;
    dict.set_item("map_misses", outcome.map_misses)?;
    dict.set_item("packed_pages", outcome.packed_pages)?;
    dict.set_item("zero_pages", outcome.zero_pages)?;
    dict.set_item("map_page_reads", outcome.map_reads)?;
    dict.set_item("map_page_programs", outcome.map_programs)?;
    dict.set_item("erase_counts", erase_counts_dict(py, outcome)?)?;
    dict.set_item("buffer_hit_pages", outcome.buffer_hits)?;
    dict.set_item("coalesced_pages", outcome.coalesced_pages)?;
    dict.set_item("cache_hit_pages", outcome.cache_hits)?;
    dict.set_item("cache_miss_pages", outcome.cache_misses)?;
    dict.set_item("read_ahead_pages", outcome.read_ahead_pages)?;
    dict.set_item("write_amplification_ratio", outcome.write_amplification())?;
    dict.set_item("channel_utilisation_ratio", &outcome.channel_utilisation)?;
    dict.set_item("unit_utilisation_ratio", &outcome.unit_utilisation)?;
    Ok(dict)
}

/// What a disk did, by name.
fn disk_dict<'py>(py: Python<'py>, work: &DiskWork) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("media_reads", work.media_reads)?;
    dict.set_item("media_writes", work.media_writes)?;
    dict.set_item("media_bytes", work.media_bytes)?;
    dict.set_item("cache_hit_reads", work.cache_hits)?;
    dict.set_item("read_ahead_bytes", work.read_ahead_bytes)?;
    dict.set_item("replaced_bytes", work.replaced_bytes)?;
    dict.set_item("utilisation_ratio", work.utilisation)?;
    Ok(dict)
}

/// What the window took of the power supply, by name.
fn energy_dict<'py>(py: Python<'py>, energy: &Energy) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("cell_joules", energy.cell_joules)?;
    dict.set_item("channel_joules", energy.channel_joules)?;
    dict.set_item("idle_joules", energy.idle_joules)?;
    dict.set_item("joules", energy.joules())?;
    dict.set_item("mean_watts", energy.mean_watts)?;
    dict.set_item("iops_per_watt", energy.iops_per_watt)?;
    Ok(dict)
}

/// By operation what was counted; an operation without requests is left out.
fn stream_dict<'py>(
    py: Python<'py>,
    names: PartNames,
    stream: &StreamOutcome,
) -> PyResult<Bound<'py, PyDict>> {
    let operations = PyDict::new(py);
    for kind in CommandKind::ALL {
        let command = &stream.commands[kind.index()];
        let counted = &command.counted;
        if let Some(operation) = operation_dict(py, counted.bytes, &counted.latency)? {
            operation.set_item("parts", parts_dict(py, names, &command.split)?)?;
            operations.set_item(kind.name(), operation)?;
        }
    }
    let dict = PyDict::new(py);
    dict.set_item("name", &stream.name)?;
    dict.set_item("submitted_requests", stream.submitted)?;
    dict.set_item("operations", operations)?;
    Ok(dict)
}

/// How often blocks were erased, by name; `None` of a firmware that does not tell.
fn erase_counts_dict<'py>(
    py: Python<'py>,
    outcome: &Outcome,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(counts) = outcome.erase_counts else {
        return Ok(None);
    };
    let dict = PyDict::new(py);
    dict.set_item("least", counts.least)?;
    dict.set_item("mean", counts.mean)?;
    dict.set_item("most", counts.most)?;
    dict.set_item("standard_deviation", counts.standard_deviation)?;
    Ok(Some(dict))
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

/// The interval, and by stream and operation that has requests one tuple an interval:
/// requests, bytes, sum and maximum of their latencies.
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

/// How many requests are logged and how many not, and the table of the former.
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
    // Simulated time and a drive's size end far below 2^63.
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
