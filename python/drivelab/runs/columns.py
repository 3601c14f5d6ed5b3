"""A run's measurements as columns: the same names, order and cells for every kind of run.

::

    drive, drive_kind, index   every row     numbers of a simulated drive are not measured ones
    labels                     by the kind   what a row is of: a workload, a step, a pass
    duration_ns, ...           every row     what the drive did

An empty cell says that there is no such thing: a characteristic without effect, a direction
without requests, a counter that this drive does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, Literal

from drivelab._core import counters, histogram_range
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult

Kind = Literal["text", "integer", "real", "integers"]
Direction = Literal["read", "write"]

#: How every export but one of labels alone begins.
HEAD: Final = ("drive", "drive_kind", "index")
PERCENTILES: Final = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9}


@dataclass(frozen=True)
class Column:
    """One value of each measurement.

    Attributes
    ----------
    name
        The unit last.
    kind
        Of its cells.
    cells
        One a measurement, `None` where it is empty.
    """

    name: str
    kind: Kind
    cells: list[Any]


@dataclass(frozen=True)
class Rows:
    """What a run exports, a row a measurement.

    Attributes
    ----------
    measurements
        In the order of the rows.
    labels
        What each row is about, in columns that a kind of run names.
    has_latencies
        Whether latencies of single requests are known: of passes their whole time is kept alone.
    is_labelled_alone
        Whether the labels are everything: the entries of the run are not measurements of a drive.
    """

    measurements: Sequence[Measurement]
    labels: Sequence[Column]
    has_latencies: bool = True
    is_labelled_alone: bool = False


def scalar_columns(rows: Rows, drive: Mapping[str, Any]) -> list[Column]:
    """Return everything about each measurement that is one value.

    Parameters
    ----------
    rows
        The measurements and their labels.
    drive
        Of the run's header: its ``name`` and ``kind`` begin each row.
    """
    if rows.is_labelled_alone:
        return list(rows.labels)
    name, kind, index = HEAD
    head: list[_Described] = [
        (name, "text", lambda _: drive["name"]),
        (kind, "text", lambda _: drive["kind"]),
        (index, "integer", lambda one: one.index),
    ]
    found = rows.measurements
    described = _described(found) if rows.has_latencies else _described_without_latencies(found)
    return [*_columns(head, found), *rows.labels, *_columns(described, found)]


def histogram_columns(rows: Rows) -> list[Column]:
    """Return the latencies of each direction, counted: lists of bins and of requests in them.

    A bin counts latencies from its first to its last nanosecond; bins without requests are
    left out. There are no such columns where latencies are not known.
    """
    columns: list[Column] = []
    if rows.is_labelled_alone:
        return columns
    for direction in ("read", "write") if rows.has_latencies else ():
        found = [getattr(one, direction) for one in rows.measurements]
        for name, of in _BINS.items():
            cells = [None if result is None else of(result) for result in found]
            columns.append(Column(f"{direction}_latency_bin_{name}", "integers", cells))
    return columns


_Described = tuple[str, Kind, Callable[[Measurement], Any]]
_COUNTS: Final[dict[str, Kind]] = {"requests": "integer", "bytes": "integer"}
_RESULTS: Final[dict[str, Kind]] = {
    **_COUNTS,
    "latency_ns_mean": "real",
    "latency_ns_min": "integer",
    "latency_ns_max": "integer",
}
_BINS: Final[dict[str, Callable[[OperationResult], list[int]]]] = {
    "first_ns": lambda result: [histogram_range(number)[0] for number in sorted(result.histogram)],
    "last_ns": lambda result: [histogram_range(number)[1] for number in sorted(result.histogram)],
    "requests": lambda result: [result.histogram[number] for number in sorted(result.histogram)],
}
_WINDOW: Final[list[_Described]] = [
    ("duration_ns", "integer", lambda one: one.duration_ns),
    ("requests", "integer", lambda one: one.requests),
    ("stopped_by", "text", lambda one: one.stopped_by),
]
_RATES: Final[list[_Described]] = [
    ("bandwidth_bytes_per_second", "real", lambda one: one.bandwidth_bytes_per_second),
    ("iops", "real", lambda one: one.iops),
]


#: Of `Measurement.extra`, in addition to counters: simulated drives' and fio's.
_OTHER_EXTRAS: Final = frozenset(
    {"variability_factor", "segments", "queue_depth", "began_unix_seconds", "energy_joules"}
)


def exported_results(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of an export that say what the drive did; empty if it is another table.

    Columns that the export does not write are somebody's own, and no results.

    Parameters
    ----------
    names
        Of all columns, in the order of the file.
    """
    window = tuple(name for name, _, _ in _WINDOW)
    rates = {name for name, _, _ in _RATES}
    if tuple(names[: len(HEAD)]) != HEAD or window[0] not in names:
        return ()
    first = names.index(window[0])
    behind = tuple(names[first:])
    if behind[: len(window)] != window or not rates <= set(behind):
        return ()
    return tuple(name for name in behind if name in _result_names())


@cache
def _result_names() -> frozenset[str]:
    """Return the name of every column of an export that says what the drive did."""
    counted = {row["measured"] for row in counters()}
    bins = {f"{direction}_latency_bin_{name}" for direction in ("read", "write") for name in _BINS}
    described = {name for name, _, _ in _described(())}
    return frozenset(described | bins | _OTHER_EXTRAS | {name for name in counted if name})


def _described(measurements: Sequence[Measurement]) -> list[_Described]:
    mean: list[_Described] = [
        ("latency_ns_mean", "real", _mean),
        ("latency_half_width_ratio", "real", _half_width),
    ]
    percentiles: list[_Described] = [
        (f"latency_ns_{name}", "integer", partial(_percentile, percent))
        for name, percent in PERCENTILES.items()
    ]
    rest = [*_directions(_RESULTS), *_extras(measurements)]
    return [*_WINDOW, *mean, *_RATES, *percentiles, *rest]


def _described_without_latencies(measurements: Sequence[Measurement]) -> list[_Described]:
    return [*_WINDOW, *_RATES, *_directions(_COUNTS), *_extras(measurements)]


def _directions(results: Mapping[str, Kind]) -> list[_Described]:
    return [
        (f"{direction}_{name}", kind, partial(_result, direction, name))
        for direction in ("read", "write")
        for name, kind in results.items()
    ]


def _extras(measurements: Sequence[Measurement]) -> list[_Described]:
    names = sorted({name for one in measurements for name in one.extra})
    return [(name, "real", partial(_extra, name)) for name in names]


def _columns(described: list[_Described], measurements: Sequence[Measurement]) -> list[Column]:
    return [Column(name, kind, [of(one) for one in measurements]) for name, kind, of in described]


def _mean(measurement: Measurement) -> float | None:
    # A step may end before its first request does.
    return measurement.latency_ns_mean if measurement.requests else None


def _half_width(measurement: Measurement) -> float | None:
    return measurement.half_width_ratio if measurement.requests else None


def _percentile(percent: float, measurement: Measurement) -> int | None:
    return measurement.percentile_ns(percent) if measurement.requests else None


def _result(direction: Direction, name: str, measurement: Measurement) -> Any:
    result = getattr(measurement, direction)
    return None if result is None else getattr(result, name)


def _extra(name: str, measurement: Measurement) -> float | None:
    return measurement.extra.get(name)
