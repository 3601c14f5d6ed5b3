//! What a trace asks of a drive, as dictionaries and lists of plain numbers.

use drivelab_request::Histogram;
use drivelab_trace::{
    BLOCK_BYTES, Busy, COLUMNS, Characterized, Counted, HeatMap, Operation, ROWS, Service, Sizes,
    Tally, Times, Window,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// For these fractions of the blocks, the fraction of accesses is reported.
const HOT_SHARES: [f64; 3] = [0.01, 0.1, 0.2];

/// The number of devices reported individually, the busiest ones.
const MOST_DEVICES: usize = 64;
/// For this many of them, a map of where requests go over time, if they have one.
const MOST_MAPS: usize = 4;

/// The whole result: see `_core.pyi`.
pub fn characterized_dict<'py>(
    py: Python<'py>,
    found: &Characterized,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = tally_dict(py, &found.tally)?;
    dict.set_item("queue_depth", mean_depth(found.depth.whole()))?;
    dict.set_item("depth_is_beyond", found.depth.is_beyond())?;
    dict.set_item("busy_ns", found.depth.whole().map(|busy| busy.busy_ns))?;
    dict.set_item("outstanding", histogram_dict(py, found.depth.at_arrival())?)?;
    dict.set_item("span_ns", found.arrivals.last_ns())?;
    dict.set_item("arrivals", arrivals_dict(py, found)?)?;
    for (place, operation) in [Operation::Read, Operation::Write].into_iter().enumerate() {
        let own = PyDict::new(py);
        own.set_item("sizes", sizes_dict(py, &found.sizes[place])?)?;
        own.set_item("service", service_dict(py, &found.service[place])?)?;
        let runs = &found.runs[place];
        own.set_item("run_streams", runs.streams.to_vec())?;
        own.set_item("run_requests", runs.requests.to_vec())?;
        own.set_item("ranks", runs.ranks.to_vec())?;
        let (curve, accesses) = found.reuse.held(place);
        own.set_item("held", curve)?;
        own.set_item("block_accesses", accesses)?;
        dict.set_item(operation.name(), own)?;
    }
    dict.set_item("footprint", footprint_dict(py, found)?)?;
    dict.set_item("heat", heat_dict(py, &found.heat)?)?;
    let (busiest, others) = found.busiest(MOST_DEVICES);
    dict.set_item("devices", devices(py, found, &busiest)?)?;
    dict.set_item("other_devices", tally_dict(py, &others)?)?;
    dict.set_item("device_count", found.devices.len())?;
    dict.set_item("windows", windows_dict(py, &found.windows)?)?;
    Ok(dict)
}

fn mean_depth(busy: Option<Busy>) -> Option<f64> {
    busy.and_then(|busy| busy.mean_depth())
}

fn tally_dict<'py>(py: Python<'py>, tally: &Tally) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for operation in Operation::ALL {
        let (name, place) = (operation.name(), operation.index());
        dict.set_item(format!("{name}_requests"), tally.requests[place])?;
        dict.set_item(format!("{name}_bytes"), tally.bytes[place])?;
    }
    dict.set_item("write_ratio", tally.write_ratio())?;
    for (place, operation) in [Operation::Read, Operation::Write].into_iter().enumerate() {
        let (name, orders) = (operation.name(), &tally.orders[place]);
        let key = |what: &str| format!("{name}_{what}");
        dict.set_item(key("size_bytes"), tally.mean_size_bytes(operation))?;
        dict.set_item(key("random"), orders.random_ratio())?;
        dict.set_item(key("stride_bytes"), orders.mean_stride_bytes())?;
        dict.set_item(key("sequential_requests"), orders.sequential)?;
        dict.set_item(key("strided_requests"), orders.strided)?;
        dict.set_item(key("backward_requests"), orders.backward)?;
        dict.set_item(key("random_requests"), orders.random)?;
        dict.set_item(key("adjacent_requests"), orders.adjacent)?;
    }
    Ok(dict)
}

/// The counts and the non-empty bins; `None` without any.
fn histogram_dict<'py>(
    py: Python<'py>,
    histogram: &Histogram,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(mean) = histogram.mean_ns() else {
        return Ok(None);
    };
    let dict = PyDict::new(py);
    dict.set_item("count", histogram.count())?;
    dict.set_item("mean", mean)?;
    dict.set_item("min", histogram.min_ns())?;
    dict.set_item("max", histogram.max_ns())?;
    for (name, percent) in [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99_9", 99.9)] {
        dict.set_item(name, histogram.percentile_ns(percent))?;
    }
    dict.set_item("bins", histogram.nonzero().collect::<Vec<_>>())?;
    Ok(Some(dict))
}

fn service_dict<'py>(py: Python<'py>, service: &Service) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("response", histogram_dict(py, &service.response)?)?;
    dict.set_item("queue", histogram_dict(py, &service.queue)?)?;
    dict.set_item("device", histogram_dict(py, &service.device)?)?;
    Ok(dict)
}

fn sizes_dict<'py>(py: Python<'py>, sizes: &Sizes) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("exact", sizes.exact())?;
    dict.set_item("others", sizes.others())?;
    dict.set_item("histogram", histogram_dict(py, sizes.histogram())?)?;
    Ok(dict)
}

fn counted_dict<'py>(py: Python<'py>, counted: &Counted) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("width_ns", counted.width_ns)?;
    dict.set_item("intervals", counted.intervals())?;
    dict.set_item("mean", counted.mean())?;
    dict.set_item("most", counted.most)?;
    dict.set_item("most_at_ns", counted.most_at * counted.width_ns)?;
    dict.set_item("dispersion", counted.dispersion())?;
    Ok(dict)
}

fn arrivals_dict<'py>(py: Python<'py>, found: &Characterized) -> PyResult<Bound<'py, PyDict>> {
    let arrivals = &found.arrivals;
    let dict = PyDict::new(py);
    dict.set_item("gap_cv", arrivals.gaps.coefficient_of_variation())?;
    dict.set_item("gaps", histogram_dict(py, &arrivals.gap_histogram)?)?;
    let counted = arrivals.counted.iter().map(|each| counted_dict(py, each));
    dict.set_item("counted", counted.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}

fn footprint_dict<'py>(py: Python<'py>, found: &Characterized) -> PyResult<Bound<'py, PyDict>> {
    let bytes = |blocks: f64| blocks * BLOCK_BYTES as f64;
    let footprint = found.reuse.footprint();
    let dict = PyDict::new(py);
    dict.set_item("block_bytes", BLOCK_BYTES)?;
    dict.set_item("sampled_ratio", found.reuse.rate())?;
    dict.set_item("bytes", bytes(footprint.blocks))?;
    dict.set_item("read_bytes", bytes(footprint.read))?;
    dict.set_item("written_bytes", bytes(footprint.written))?;
    dict.set_item("read_and_written_bytes", bytes(footprint.both))?;
    dict.set_item("cut_requests", found.cut_for_reuse)?;
    let shares = found.reuse.hottest(&HOT_SHARES);
    let hottest = HOT_SHARES.into_iter().zip(shares).collect::<Vec<_>>();
    dict.set_item("hottest", hottest)?;
    Ok(dict)
}

fn heat_dict<'py>(py: Python<'py>, map: &HeatMap) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("column_ns", map.column_ns)?;
    dict.set_item("row_bytes", map.row_bytes)?;
    dict.set_item("columns", COLUMNS)?;
    dict.set_item("rows", ROWS)?;
    for (direction, name) in ["read", "write"].into_iter().enumerate() {
        let cells = map.cells(direction).iter();
        let bytes: Vec<u8> = cells.flat_map(|count| count.to_ne_bytes()).collect();
        dict.set_item(name, PyBytes::new(py, &bytes))?;
    }
    Ok(dict)
}

fn devices<'py>(
    py: Python<'py>,
    found: &Characterized,
    places: &[usize],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut dicts = Vec::new();
    for (rank, &place) in places.iter().enumerate() {
        let Some(device) = found.devices.get(place) else {
            continue;
        };
        let dict = tally_dict(py, &device.tally)?;
        dict.set_item("device", place)?;
        dict.set_item("queue_depth", mean_depth(found.depth.device(place)))?;
        dict.set_item("responses", device.responses)?;
        let mean = device.response_ns as f64 / device.responses as f64;
        dict.set_item("response_ns_mean", (device.responses > 0).then_some(mean))?;
        dict.set_item("end_bytes", device.end_bytes)?;
        dict.set_item("first_ns", device.first_ns)?;
        dict.set_item("last_ns", device.last_ns)?;
        let map = found.device_heat.get(place).filter(|_| rank < MOST_MAPS);
        dict.set_item("heat", map.map(|map| heat_dict(py, map)).transpose()?)?;
        dicts.push(dict);
    }
    Ok(dicts)
}

/// A column with a number of each window; unknown values are NaN.
type Column = (&'static str, fn(&Window) -> Option<f64>);

/// Numbers of windows in addition to counts and characteristics.
const COLUMNS_OF_WINDOWS: [Column; 20] = [
    ("queue_depth", |window| mean_depth(window.busy)),
    ("gap_cv", |window| window.gaps.coefficient_of_variation()),
    ("counted_most", |window| {
        window.counted.map(|counted| counted.most as f64)
    }),
    ("dispersion", |window| {
        window.counted.and_then(|counted| counted.dispersion())
    }),
    ("footprint_bytes", |window| {
        Some(window.blocks * BLOCK_BYTES as f64)
    }),
    ("footprint_so_far_bytes", |window| {
        Some(window.blocks_so_far * BLOCK_BYTES as f64)
    }),
    ("responses", |window| count(window.response)),
    ("response_ns_mean", |window| mean(window.response)),
    ("response_ns_p50", |window| {
        time(window.response, |it| it.p50_ns)
    }),
    ("response_ns_p99", |window| {
        time(window.response, |it| it.p99_ns)
    }),
    ("response_ns_max", |window| {
        time(window.response, |it| it.most_ns)
    }),
    ("queue_ns_mean", |window| mean(window.queue)),
    ("queue_ns_p50", |window| time(window.queue, |it| it.p50_ns)),
    ("queue_ns_p99", |window| time(window.queue, |it| it.p99_ns)),
    ("queue_ns_max", |window| time(window.queue, |it| it.most_ns)),
    ("device_ns_mean", |window| mean(window.device)),
    ("device_ns_p50", |window| {
        time(window.device, |it| it.p50_ns)
    }),
    ("device_ns_p99", |window| {
        time(window.device, |it| it.p99_ns)
    }),
    ("device_ns_max", |window| {
        time(window.device, |it| it.most_ns)
    }),
    ("write_ratio", |window| window.tally.write_ratio()),
];

fn count(times: Option<Times>) -> Option<f64> {
    Some(times.map_or(0.0, |times| times.count as f64))
}

fn mean(times: Option<Times>) -> Option<f64> {
    times.map(|times| times.mean_ns)
}

fn time(times: Option<Times>, of: fn(&Times) -> u64) -> Option<f64> {
    times.as_ref().map(|times| of(times) as f64)
}

/// Columns as bytes: `begin_ns` and `duration_ns` are whole numbers, all others are real.
fn windows_dict<'py>(py: Python<'py>, windows: &[Window]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let whole = |of: fn(&Window) -> u64| {
        let bytes = windows.iter().flat_map(|window| of(window).to_ne_bytes());
        PyBytes::new(py, &bytes.collect::<Vec<u8>>())
    };
    dict.set_item("begin_ns", whole(|window| window.begin_ns))?;
    dict.set_item("duration_ns", whole(|window| window.duration_ns))?;
    let real = |of: &dyn Fn(&Window) -> Option<f64>| {
        let numbers = windows.iter().map(|window| of(window).unwrap_or(f64::NAN));
        let bytes = numbers.flat_map(f64::to_ne_bytes);
        PyBytes::new(py, &bytes.collect::<Vec<u8>>())
    };
    for operation in Operation::ALL {
        let (name, place) = (operation.name(), operation.index());
        let requests = real(&|window| Some(window.tally.requests[place] as f64));
        dict.set_item(format!("{name}_requests"), requests)?;
        let bytes = real(&|window| Some(window.tally.bytes[place] as f64));
        dict.set_item(format!("{name}_bytes"), bytes)?;
    }
    for (place, operation) in [Operation::Read, Operation::Write].into_iter().enumerate() {
        let key = |what: &str| format!("{}_{what}", operation.name());
        let size = real(&|window| window.tally.mean_size_bytes(operation));
        dict.set_item(key("size_bytes"), size)?;
        let random = real(&|window| window.tally.orders[place].random_ratio());
        dict.set_item(key("random"), random)?;
        let stride = real(&|window| window.tally.orders[place].mean_stride_bytes());
        dict.set_item(key("stride_bytes"), stride)?;
    }
    for (name, of) in COLUMNS_OF_WINDOWS {
        dict.set_item(name, real(&of))?;
    }
    Ok(dict)
}
