"""Measurements of a drive from a CSV file, for a fit.

A row is a workload, as in a file of workloads, with what was measured of it. A mean latency may be
missing if the rate is known: in a closed loop as many requests are always outstanding, so that one
takes ``queue_depth / iops`` on average (Little 1961). A run's ``measurements.csv`` is such a file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.drives.plan import MeasurementPlan
from drivelab.errors import UsageError
from drivelab.near_names import meant
from drivelab.preset_fit.candidate import Behaviour
from drivelab.preset_fit.observed import FEWEST_HELD_OUT, Observed, Run, divided
from drivelab.units import format_duration_ns
from drivelab.workloads.csv_design import csv_rows
from drivelab.workloads.given import shown
from drivelab.workloads.parts import FITTED, PART_NAMES, PartName

if TYPE_CHECKING:
    from drivelab.preset_fit.observed import Accepts
    from drivelab.workloads.csv_design import Row

# The column with each row's part of a run; rows without it are all used.
_PART: Final = "part"
# The column with the drive's name.
_DRIVE: Final = "drive"
_MEAN: Final = "latency_ns_mean"
_IOPS: Final = "iops"
_BANDWIDTH: Final = "bandwidth_bytes_per_second"
_P99: Final = "latency_ns_p99"
_READ: Final = "read_latency_ns_mean"
_WRITE: Final = "write_latency_ns_mean"
# Columns of results.
_RESULTS: Final = (_MEAN, _IOPS, _BANDWIDTH, _P99, _READ, _WRITE)
# No request is faster or slower.
_LEAST_NS, _MOST_NS = 1.0, 1e12
# Two results that should be the same contradict each other from this ratio on. Less may be noise,
# or time between requests.
_CONTRADICTION: Final = 4.0


@dataclass(frozen=True)
class _Measured:
    """What a row says; latencies in ns, NaN if unknown."""

    mean: float
    p99: float
    read: float
    write: float


def read_table(path: Path, *, writes: str, seed: int = 0, accepts: Accepts | None = None) -> Run:
    """Read a file of measurements, and divide its workloads.

    Parameters
    ----------
    path
        The file.
    writes
        ``burst`` or ``sustained``: the state in which writes found the drive.
    seed
        Seed of the simulations' random numbers.
    accepts
        As in `drivelab.preset_fit.observed.read_run`.

    Raises
    ------
    UsageError
        Names the file and line of what is wrong, and says what to write.
    """
    rows = csv_rows(str(path), (_DRIVE, _PART, *_RESULTS))
    drive = _drive(path, rows)
    parts = [_part(row) for row in rows]
    measured = [_measured(row) for row in rows]
    _refuse_contradictions(rows, parts, measured)
    marked = parts.count("check")
    if accepts is None and 0 < marked < FEWEST_HELD_OUT:
        raise UsageError(
            f"{path} has {marked} rows whose {_PART} is check, and the result is judged by "
            f"{FEWEST_HELD_OUT} or more: mark more rows, or none, so that every fourth is held out"
        )
    behaviour = Behaviour(
        np.log([one.mean for one in measured]),
        np.log([one.p99 for one in measured]),
        np.log([one.read for one in measured]),
        np.log([one.write for one in measured]),
    )
    workloads = [row.workload for row in rows]
    observed = Observed(workloads, behaviour, np.array([1 - one.write_ratio for one in workloads]))
    fitted, held_out = divided(path, observed, parts, accepts)
    plan = MeasurementPlan.of_kind("simulated", seed=seed, writes=writes)
    return Run(drive, path, plan, fitted, held_out)


def _drive(path: Path, rows: list[Row]) -> str:
    """Return the name of the measured drive; that of the file if it says none."""
    names = {row.cells[_DRIVE]: row for row in rows if row.cells.get(_DRIVE)}
    if len(names) > 1:
        first, second = list(names)[:2]
        raise UsageError(
            f"{names[second].where}: measurements of {shown(second)} after those of "
            f"{shown(first)}; keep the rows of one drive"
        )
    return next(iter(names), path.name)


def _part(row: Row) -> PartName:
    text = row.cells.get(_PART, "")
    for name in PART_NAMES:
        if text in (name, ""):
            return name
    raise UsageError(
        f"{row.where}: {shown(text)} is no part of a run; {meant(text, PART_NAMES)}allowed: "
        f"{', '.join(PART_NAMES)}, or leave out the column {_PART}"
    )


def _measured(row: Row) -> _Measured:
    found = {name: _number(row, name) for name in _RESULTS}
    ratio = row.workload.write_ratio
    read, write = found[_READ], found[_WRITE]
    by_rate = _by_rate(row, found)
    means = {_MEAN: found[_MEAN], "the rate": by_rate}
    if ratio in {0, 1}:
        means[_WRITE if ratio else _READ] = write if ratio else read
    else:
        means[f"{_READ} and {_WRITE}"] = (1 - ratio) * read + ratio * write
    known = {name: mean for name, mean in means.items() if not math.isnan(mean)}
    if not known:
        raise UsageError(
            f"{row.where}: no result; write {_MEAN}, {_IOPS} or {_BANDWIDTH}, in a column of that "
            "name"
        )
    (first, mean), *others = known.items()
    for name, other in others:
        if _contradict(mean, other):
            raise UsageError(
                f"{row.where}: {first} means {format_duration_ns(mean)} per request, and {name} "
                f"{format_duration_ns(other)}; correct one of them, or leave its cell empty"
            )
    if ratio in {0, 1}:
        return _Measured(mean, found[_P99], *((math.nan, mean) if ratio else (mean, math.nan)))
    if math.isnan(read) or math.isnan(write):
        # One of them alone would be compared without the other.
        read = write = math.nan
    return _Measured(mean, found[_P99], read, write)


def _by_rate(row: Row, found: dict[str, float]) -> float:
    """Return the mean latency by the rate, in ns; NaN if that is unknown."""
    workload, ratio = row.workload, row.workload.write_ratio
    mean_bytes = (1 - ratio) * workload.read_size + ratio * workload.write_size
    column = _BANDWIDTH if math.isnan(found[_IOPS]) else _IOPS
    iops = found[_IOPS] if column == _IOPS else found[_BANDWIDTH] / mean_bytes
    if math.isnan(iops):
        return iops
    mean = workload.queue_depth * 1e9 / iops if iops else math.inf
    if not _LEAST_NS <= mean <= _MOST_NS:
        raise UsageError(
            f"{row.where}: {column} is {shown(row.cells[column])}, with queue_depth "
            f"{workload.queue_depth} that is {mean:.3g} ns per request; allowed: 1 ns to 1000 s"
        )
    return mean


def _number(row: Row, name: str) -> float:
    """Return the number of a column; NaN if it is empty."""
    text = row.cells.get(name, "")
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    is_rate = name in {_IOPS, _BANDWIDTH}
    least, most = (0.0, math.inf) if is_rate else (_LEAST_NS, _MOST_NS)
    if not (least <= value <= most and 0 < value < math.inf):
        allowed = "a number above 0" if is_rate else "a number from 1 to 1e12"
        raise UsageError(f"{row.where}: {name} is {shown(text)}; allowed: {allowed}")
    return value


def _contradict(one: float, other: float) -> bool:
    """Return whether two values are too far apart; not if one is unknown."""
    return max(one, other) > _CONTRADICTION * min(one, other)


def _refuse_contradictions(
    rows: list[Row], parts: list[PartName], measured: list[_Measured]
) -> None:
    first: dict[object, int] = {}
    for place, row in enumerate(rows):
        # Fills of a run write the same until a buffer is full, and are not fitted to.
        if parts[place] not in {*FITTED, "check"}:
            continue
        before = first.setdefault(row.workload.key(), place)
        if _contradict(measured[place].mean, measured[before].mean):
            raise UsageError(
                f"{row.where}: the same workload as in {rows[before].where} takes "
                f"{format_duration_ns(measured[place].mean)} here and "
                f"{format_duration_ns(measured[before].mean)} there; keep the right row"
            )
