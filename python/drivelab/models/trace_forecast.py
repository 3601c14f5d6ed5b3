"""A forecast of a trace on a modelled drive that it never ran on, window by window.

A run's model knows only closed loops: a constant number of outstanding requests, the next one sent
when one completes. A trace's requests arrive at their own times. Both depend on how the drive is
built, so the drive's queueing model serves the recorded requests at their times::

    windows ─> their characteristics ─> which costs the drive has in each
    requests ─> queueing model (layout, costs) ─> latencies, what completes, how late ─┐
                                ^                                                      │
                                                                └── costs times the model's answer
                                                                for a closed loop ───┘
                                                                    like the window, over the
                                                                    queueing model's own answer

Closed loops keep a write buffer full, so they do not show its size: the run's probes do. Closed
loops of few writes show what a write takes that finds space in the buffer
(`drivelab.models.lone_writes`). The trace is served twice. The first run shows the queue depth of
each window, and the costs of the second run are corrected by it. With even arrivals this solves
depth = rate x latency; with clustered arrivals it follows every burst.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab import _core
from drivelab.drives.lateness import LATE_SHARE
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.models.features import workload_table
from drivelab.models.kriging_surface import KrigingSurface
from drivelab.models.lone_writes import KEY, read_lone_writes
from drivelab.models.probed import BUFFER_BYTES
from drivelab.models.rewrites import REWRITES, log_blocks, read_rewrites
from drivelab.workloads.characteristics import FIELDS, Characteristics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from drivelab.models.features import FloatArray
    from drivelab.models.model import PerformanceModel
    from drivelab.models.queueing import Layout, Queueing
    from drivelab.models.trained import BoolArray
    from drivelab.workloads.trace import Trace

#: A queueing model that leaves more of its own measurements unexplained (median) is not used.
MOST_UNEXPLAINED: Final = 0.10
# The largest buffer that the core takes.
_MOST_PAGES: Final = 65_536
# Fields of a row that the core returns.
_ROW: Final = 13
_LATENCY: Final = "latency_ns_mean"
# By the names of characteristics, those of windows.
_COLUMNS: Final = {
    name: f"{name}_bytes" if name.endswith(("_size", "_stride")) else name for name in FIELDS
}


@dataclass(frozen=True)
class TraceForecast:
    """Windows of a trace on a modelled drive: what is asked, and what is expected.

    Every array has a row a window in which requests arrive, are outstanding or complete.

    Attributes
    ----------
    window_ns
        Its length in the replay.
    begin_ns
        Where each begins, in the replay.
    asked_requests, asked_bytes
        What arrives in it; trims and flushes are left out.
    characteristics
        Of what arrives (Huang et al. 2011, equation 4), shape (n, 8); the depth is the one that is
        expected; not a number where nothing arrives.
    requests, bytes
        What completes in it, reads and writes, shape (n, 2).
    latency_ns_mean, latency_ns_max
        Of those, by operation, from being sent on, shape (n, 2); not a number where none completes.
    due_requests, late_requests, late_ns
        How many should be sent in it, how many of them are sent more than 1 ms later, and how late
        all of them are, summed.
    outside
        Whether a closed loop like it lies outside what was measured.
    """

    window_ns: float
    begin_ns: FloatArray
    asked_requests: FloatArray
    asked_bytes: FloatArray
    characteristics: FloatArray
    requests: FloatArray
    bytes: FloatArray
    latency_ns_mean: FloatArray
    latency_ns_max: FloatArray
    due_requests: FloatArray
    late_requests: FloatArray
    late_ns: FloatArray
    outside: BoolArray

    @property
    def latency_ns(self) -> FloatArray:
        """The mean latency of what completes in each window, reads and writes together."""
        return _ratio(np.nansum(self.requests * self.latency_ns_mean, axis=1), self.completed)

    @property
    def completed(self) -> FloatArray:
        """Requests that complete in each window."""
        total: FloatArray = self.requests.sum(axis=1)
        return total

    @property
    def iops(self) -> FloatArray:
        """Requests that complete a second."""
        return self.completed / (self.window_ns / 1e9)

    @property
    def bandwidth_bytes_per_second(self) -> FloatArray:
        """Bytes that complete a second."""
        total: FloatArray = self.bytes.sum(axis=1) / (self.window_ns / 1e9)
        return total

    @property
    def saturated(self) -> BoolArray:
        """Whether the drive falls behind: too much of what is due is sent late."""
        behind: BoolArray = self.late_requests > LATE_SHARE * self.due_requests
        return behind


def forecast_trace(
    model: PerformanceModel,
    trace: Trace,
    windows: Mapping[str, NDArray[Any]],
    window_ns: int,
    *,
    corrected: bool = True,
    word: Callable[[str], str] = str,
) -> TraceForecast:
    """Say what is expected of a trace on a modelled drive.

    Parameters
    ----------
    model
        Of a run, that is of synthetic workloads alone.
    trace
        Files, at recorded times or faster; as large as the model's drive at most.
    windows
        Columns by name, a row a window that holds requests: ``begin_ns`` as recorded, requests and
        bytes by operation, and the characteristics, as ``drivelab trace characterize`` tells them.
    window_ns
        Their length as recorded.
    corrected
        Whether costs follow the best model, or are the queueing model's own.
    word
        How an option is written where it was asked for.

    Raises
    ------
    CannotAnswerError
        When the model has no queueing model, or one that does not explain its drive.
    UsageError
        When the trace has no times, or does not fit.
    """
    speed = speed_of(trace)
    queueing = asked_queueing(model)
    asked = _Asked.of(windows, window_ns, speed)
    layout = _with_buffer(queueing.layout, model.provenance.get(BUFFER_BYTES))
    served = _Served(layout, trace, asked, _capacity(model, trace, word))
    lone = read_lone_writes(model.provenance.get(KEY))
    found = served.by(queueing.with_lone_writes(queueing.costs_of(asked.table), lone))
    # Deeper than was measured, a loop waits at the same place as the deepest that was.
    deepest = (model.ranges["queue_depth"] or (1.0, 1.0))[1]
    deep = asked.at_depth(np.minimum(_depths(found, asked), deepest))
    outside = model.outside(deep)
    if corrected:
        ratio = model.predict(deep, metric=_LATENCY) / queueing.latency_ns(deep)
        # Of what lies outside nobody knows how far the model is off.
        ratio[outside] = 1.0
        costs = queueing.costs_of(deep) * ratio[:, np.newaxis]
        found = served.by(queueing.with_lone_writes(costs, lone))
    return _joined(found, asked, outside)


def closed_loop_error(model: PerformanceModel) -> float:
    """Return the mean relative error of a model's latencies in closed loops."""
    return float(model.evaluation.cross_validated[model.best[_LATENCY]].mre)


def speed_of(trace: Trace) -> float:
    """Return how many times as fast as recorded the requests of a trace arrive.

    Raises
    ------
    UsageError
        When its times do not say how fast that is.
    """
    if trace.speed is None:
        raise UsageError(
            "a forecast needs times at which requests arrive; give the trace a speed such as 1.0"
        )
    count = sum(trace.commands.values())
    if trace.span_ns == 0 and count > 1:
        raise UsageError(
            f"all {count:,} requests of the trace have the same time, so nothing says how fast "
            "they arrive; replay it with `drivelab measure DRIVE --trace FILE --speed max` instead"
        )
    return trace.speed


def asked_queueing(model: PerformanceModel) -> Queueing:
    """Return the queueing model of a run's model.

    Raises
    ------
    CannotAnswerError
        When there is none that explains what was measured.
    """
    surfaces = (each.surface for each in model.predictors.values())
    found = [
        each.inputs.queueing
        for each in surfaces
        if isinstance(each, KrigingSurface) and each.inputs.queueing is not None
    ]
    if not found:
        raise CannotAnswerError(
            "the model contains no queueing model, so it cannot predict a trace; make one with "
            "`drivelab model`, or replay the trace with `drivelab measure --trace`"
        )
    table = model.trained.table
    observed = model.evaluation.observed[_LATENCY]
    left = float(np.median(np.abs(found[0].latency_ns(table) / observed - 1)))
    if left > MOST_UNEXPLAINED:
        raise CannotAnswerError(
            f"the queueing model explains this drive's measurements only within {100 * left:.0f} % "
            f"(median; allowed: {100 * MOST_UNEXPLAINED:.0f} %), as of disks, whose times depend "
            "on how far the arm moves: replay the trace with `drivelab measure --trace` instead"
        )
    return _with_log_blocks(found[0], model) if found[0].layout.log_blocks > 0 else found[0]


def _with_log_blocks(queueing: Queueing, model: PerformanceModel) -> Queueing:
    """Return the queueing model with as many log blocks as the probes show."""
    layout = queueing.layout
    latencies = read_rewrites(model.provenance.get(REWRITES))
    number = log_blocks(layout, _capacity_of(model), latencies)
    if number is None:
        instead = (
            ""
            if latencies
            else ", or measure the drive again with `drivelab model --writes burst`, which probes "
            "for that number if random writes are slow"
        )
        raise CannotAnswerError(
            "the queueing model explains this drive best as one that maps whole blocks. Which "
            "blocks a trace writes again decides how often they are merged, and the run's probes "
            "do not show how many can be written in turn: replay the trace with `drivelab measure "
            f"--trace`{instead}"
        )
    return dataclasses.replace(queueing, layout=dataclasses.replace(layout, log_blocks=number))


def _with_buffer(layout: Layout, buffer_bytes: object) -> Layout:
    """Return a layout whose buffer is as large as probes say, if it has one."""
    if not isinstance(buffer_bytes, int) or layout.buffer_pages == 0:
        return layout
    pages = buffer_bytes // (layout.page_bytes * layout.members)
    return dataclasses.replace(
        layout, buffer_pages=min(max(layout.buffer_pages, pages), _MOST_PAGES)
    )


def _capacity_of(model: PerformanceModel) -> int:
    drive = model.provenance.get("drive")
    capacity = drive.get("capacity_bytes") if isinstance(drive, dict) else None
    if not isinstance(capacity, int) or capacity <= 0:
        raise CannotAnswerError("the model does not say how large its drive is")
    return capacity


def _capacity(model: PerformanceModel, trace: Trace, word: Callable[[str], str]) -> int:
    capacity = _capacity_of(model)
    end = trace.footprint_bytes
    if end is not None and end > capacity:
        fit = word("fit")
        others = {"keep": f"{fit} wrap or {fit} scale", "scale": f"{fit} wrap"}[trace.fit]
        raise UsageError(
            f"the trace ends at {end} bytes; allowed: at most the drive's {capacity}; fit it to "
            f"the drive with {others}, or choose one device"
        )
    return capacity


@dataclass(frozen=True)
class _Asked:
    """What arrives, a row a window that holds requests."""

    number: NDArray[np.int64]
    window_ns: float
    requests: FloatArray
    bytes: FloatArray
    table: FloatArray

    @classmethod
    def of(cls, windows: Mapping[str, NDArray[Any]], window_ns: int, speed: float) -> _Asked:
        def sums(what: str) -> FloatArray:
            total: FloatArray = np.add(windows[f"read_{what}"], windows[f"write_{what}"])
            return total.astype(float)

        moves = sums("requests") > 0
        if not moves.any():
            raise UsageError("the trace has no reads and no writes, so there is nothing to predict")
        default = Characteristics()
        columns = []
        for name, column in _COLUMNS.items():
            usual = float(getattr(default, name))
            values = np.full(len(moves), np.nan) if name == "queue_depth" else windows[column]
            columns.append(np.nan_to_num(values[moves].astype(float), nan=usual))
        table = workload_table(np.column_stack(columns))
        number = np.asarray(windows["begin_ns"])[moves].astype(np.int64) // window_ns
        asked = [sums(what)[moves] for what in ("requests", "bytes")]
        return cls(number, window_ns / speed, asked[0], asked[1], table)

    def at_depth(self, depth: FloatArray) -> FloatArray:
        table = self.table.copy()
        table[:, FIELDS.index("queue_depth")] = depth
        return table


@dataclass(frozen=True)
class _Served:
    """The trace, ready to be served."""

    layout: Layout
    trace: Trace
    asked: _Asked
    capacity_bytes: int

    def by(self, costs: FloatArray) -> FloatArray:
        """Serve it with costs for each window; rows as the core tells them."""
        (stream,) = self.trace.streams()
        served = _core.forecast_trace(
            stream,
            self.capacity_bytes,
            dataclasses.asdict(self.layout),
            self.asked.number.tolist(),
            np.ascontiguousarray(costs),
            self.asked.window_ns,
        )
        return np.frombuffer(served).reshape(-1, _ROW)


def _depths(found: FloatArray, asked: _Asked) -> FloatArray:
    """Return the mean depth of the windows that hold requests, 1 at least."""
    depth = dict(zip(found[:, 0], found[:, 12] / asked.window_ns, strict=True))
    return np.array([max(1.0, depth.get(float(each), 1.0)) for each in asked.number])


def _joined(found: FloatArray, asked: _Asked, outside: BoolArray) -> TraceForecast:
    """Put what arrives and what completes into the same rows."""
    numbers = np.union1d(asked.number.astype(float), found[:, 0])

    def spread(rows: FloatArray, values: FloatArray, without: float = 0.0) -> FloatArray:
        result = np.full((len(numbers), *values.shape[1:]), without)
        result[np.searchsorted(numbers, rows)] = values
        return result

    arrived = asked.number.astype(float)
    counts = found[:, 1:3]
    deep = asked.at_depth(_depths(found, asked))
    return TraceForecast(
        window_ns=asked.window_ns,
        begin_ns=numbers * asked.window_ns,
        asked_requests=spread(arrived, asked.requests),
        asked_bytes=spread(arrived, asked.bytes),
        characteristics=spread(arrived, deep, np.nan),
        requests=spread(found[:, 0], counts),
        bytes=spread(found[:, 0], found[:, 3:5]),
        latency_ns_mean=spread(found[:, 0], _ratio(found[:, 7:9], counts), np.nan),
        latency_ns_max=spread(found[:, 0], np.where(counts > 0, found[:, 9:11], np.nan), np.nan),
        due_requests=spread(found[:, 0], found[:, 5]),
        late_requests=spread(found[:, 0], found[:, 6]),
        late_ns=spread(found[:, 0], found[:, 11]),
        outside=spread(arrived, outside.astype(float)) > 0,
    )


def _ratio(values: FloatArray, counts: FloatArray) -> FloatArray:
    known = counts > 0
    return np.where(known, values / np.where(known, counts, 1.0), np.nan)
