"""The table of all workloads: texts for people, and numbers to sort by."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from drivelab.campaign.exhibits.latency import supported
from drivelab.exhibits import Cell, Table
from drivelab.exhibits.quantities import (
    CHARACTERISTICS,
    METRICS,
    NOTHING,
    PROVENANCE,
    in_effect,
    latency_text,
    share_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.campaign.exhibits.data import CampaignData
    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult

#: Digits in the tables with one row per workload, which make up most of a page's size. The run's
#: own ``measurements.csv`` has all digits.
PAGE_DIGITS: Final = 6
_PERCENTILES: Final = (50.0, 99.0, 99.9)
COLUMNS: Final = (
    "No.",
    "For",
    *(item.label for item in CHARACTERISTICS.values()),
    *(item.label for item in METRICS.values()),
    "Known within",
    "Reads, 99 %",
    "Writes, 99 %",
)
#: Words for the purpose of a measurement, by the part of the run that it belongs to.
PARTS: Final = {
    "training": "model",
    "calibration": "model, interval",
    "check": "check",
    "sweeps": "curve",
    "chosen": "model, chosen",
    "probes": "probe",
    "fills": "filling",
}


def all_workloads(run: CampaignData) -> Table:
    """Return all workloads with their results, as a table that the reader can sort."""
    adjective = PROVENANCE[run.kind].adjective
    return Table(
        "workload-table",
        COLUMNS,
        tuple(tuple(texts(run, one)) for one in run.measurements),
        keys=tuple(tuple(numbers(run, one)) for one in run.measurements),
        note=f"Every workload and its {adjective} values. A dash means that a characteristic has "
        "no effect, or that too few requests were slower to give a percentile. Known within: the "
        "half-width (95 %) of the mean latency; a star marks workloads that did not become as "
        "certain as requested. For: what a workload is used for, which is the model, the width of "
        "its intervals, its check, or the curves above.",
        saved=(workloads(run),),
    )


def texts(run: CampaignData, measurement: Measurement) -> list[str]:
    """Return the cells of a row."""
    canonical = measurement.characteristics.canonical()
    row = [str(measurement.index), PARTS[run.parts.part_of(measurement.index)]]
    for name, item in CHARACTERISTICS.items():
        value = canonical[name]
        row.append(NOTHING if value is None else item.text(value))
    row += [item.text(float(getattr(measurement, name))) for name, item in METRICS.items()]
    row.append(_known_within(run, measurement))
    for tail in _tails(measurement):
        row.append(NOTHING if tail is None else latency_text(tail))
    return row


def _known_within(run: CampaignData, measurement: Measurement) -> str:
    ratio = measurement.half_width_ratio
    if ratio is None:
        return NOTHING
    asked = run.header["plan"].get("half_width_ratio")
    # Marked: the result is kept, but it is less certain than required.
    missed = asked is not None and measurement.stopped_by != "half_width"
    text = share_text(ratio)
    sign = "" if text.startswith("<") else "\N{PLUS-MINUS SIGN}"
    return f"{sign}{text}{' *' if missed else ''}"


def numbers(run: CampaignData, measurement: Measurement) -> list[float | None]:
    """Return the sort keys of a row, in column order; None for an empty cell."""
    canonical = measurement.characteristics.canonical()
    values: list[float | None] = [measurement.index]
    values.append(list(PARTS).index(run.parts.part_of(measurement.index)))
    values += [canonical[name] for name in CHARACTERISTICS]
    values += [float(getattr(measurement, name)) for name in METRICS]
    values += [measurement.half_width_ratio, *_tails(measurement)]
    return [None if value is None else float(f"{value:.6g}") for value in values]


def _tails(measurement: Measurement) -> list[float | None]:
    return [
        float(result.percentile_ns(99)) if result and supported(result, 99) else None
        for result in (measurement.read, measurement.write)
    ]


def workloads(run: CampaignData) -> Table:
    """Return one row per measurement: the characteristics that matter, and the results.

    Cells are empty for characteristics without effect, for a direction that the workload does not
    use, and for percentiles with too few slower requests.
    """
    extra = sorted({key for measurement in run.measurements for key in measurement.extra})
    columns = ["index", "part", *(column_of(name) for name in CHARACTERISTICS)]
    columns += ["requests", "duration_ns", *METRICS, "half_width_ratio", "stopped_by"]
    for direction in ("read", "write"):
        columns += [f"{direction}_latency_ns_mean"]
        columns += [f"{direction}_latency_ns_p{percentile:g}" for percentile in _PERCENTILES]
    rows = []
    for measurement in run.measurements:
        values = in_effect(measurement.characteristics)
        row: list[Cell] = [measurement.index, run.parts.part_of(measurement.index)]
        row += [values.get(name) for name in CHARACTERISTICS]
        row += [measurement.requests, measurement.duration_ns]
        row += [float(getattr(measurement, metric)) for metric in METRICS]
        row += [measurement.half_width_ratio, measurement.stopped_by]
        row += _operation_cells(measurement.read) + _operation_cells(measurement.write)
        row += [measurement.extra.get(key) for key in extra]
        rows.append(tuple(row))
    return Table("workloads", (*columns, *extra), tuple(rows), PAGE_DIGITS)


def column_of(name: str) -> str:
    """Return the column of a characteristic in `workloads`."""
    return f"{name}_bytes" if CHARACTERISTICS[name].kind in ("bytes", "gap") else name


def _operation_cells(result: OperationResult | None) -> list[Cell]:
    if result is None:
        return [None] * (1 + len(_PERCENTILES))
    percentiles: list[Cell] = [
        float(result.percentile_ns(p)) if supported(result, p) else None for p in _PERCENTILES
    ]
    return [float(result.latency_ns_mean), *percentiles]


class Repeatability(NamedTuple):
    """How far equal workloads differ: the best that a model of the workload alone can reach."""

    groups: int
    measurements: int
    mean_relative_difference: float


def repeatability(measurements: Sequence[Measurement], metric: str) -> Repeatability | None:
    """Return the relative deviation of equal workloads from their mean.

    Parameters
    ----------
    measurements
        All measurements of a run.
    metric
        Name of a measurement's property, such as ``latency_ns_mean``.

    Returns
    -------
    Repeatability or None
        None if no workload was measured twice.
    """
    groups: defaultdict[object, list[float]] = defaultdict(list)
    for measurement in measurements:
        key = measurement.characteristics.key()
        groups[key].append(float(getattr(measurement, metric)))
    repeated = [values for values in groups.values() if len(values) > 1]
    if not repeated:
        return None
    differences = []
    for values in repeated:
        mean = math.fsum(values) / len(values)
        differences += [abs(value - mean) / value for value in values]
    return Repeatability(len(repeated), len(differences), math.fsum(differences) / len(differences))
