"""The rows behind the report's tables and its first figures.

Pure functions of `RunData`: nothing is drawn here and nothing is read from disk.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from drivelab.models.evaluate import ModelKey
from drivelab.report.accuracy_tables import scores
from drivelab.report.latency import supported
from drivelab.report.quantities import CHARACTERISTICS, METRICS, in_effect
from drivelab.report.table import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult
    from drivelab.models.features import FloatArray
    from drivelab.report.inputs import Check, RunData

_PERCENTILES = (50.0, 99.0, 99.9)
#: Of the tables with a row a workload, which are most of a page's size; the run's own
#: ``measurements.csv`` has all digits.
PAGE_DIGITS: Final = 6


def workloads(run: RunData) -> Table:
    """Return one row a measurement: the characteristics in effect and what came out.

    Characteristics without effect are empty cells, as are the results of a direction
    that the workload does not use, and percentiles that too few requests were slower than.
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
    """Name the column of a characteristic in `workloads`."""
    return f"{name}_bytes" if CHARACTERISTICS[name].kind in ("bytes", "gap") else name


def _operation_cells(result: OperationResult | None) -> list[Cell]:
    if result is None:
        return [None] * (1 + len(_PERCENTILES))
    percentiles: list[Cell] = [
        float(result.percentile_ns(p)) if supported(result, p) else None for p in _PERCENTILES
    ]
    return [float(result.latency_ns_mean), *percentiles]


def accuracy(run: RunData) -> Table:
    """Return one row a model and what it was judged on (Huang et al. 2011, tables II and III).

    ``judged_on`` is ``in_sample``, ``cross_validated`` or ``off_grid``.
    """
    columns = ("metric", "features", "estimator", "judged_on", "r2", "mae", "mean", "mre")
    rows = tuple(
        (
            *key,
            judged,
            None if math.isnan(score.r2) else score.r2,
            score.mae,
            score.mean,
            score.mre,
            score.rows,
        )
        for judged, scored in scores(run).items()
        for key, score in scored.items()
    )
    return Table("accuracy", (*columns, "workloads"), rows)


def predictions(run: RunData) -> Table:
    """Return one row a measurement and metric: observed, and predicted by every model.

    Each prediction is by a model that was fitted without that workload.
    """
    return _predictions("predictions", run.training, run.evaluation.out_of_fold)


def check_predictions(check: Check) -> Table:
    """Return what `predictions` does, of workloads between those of the design."""
    return _predictions("off_grid_predictions", check.measurements, check.predicted)


def _predictions(
    name: str, measurements: Sequence[Measurement], predicted: Mapping[ModelKey, FloatArray]
) -> Table:
    models = list(dict.fromkeys((key.features, key.estimator) for key in predicted))
    columns = ("index", "metric", "observed", *(f"predicted_{f}_{e}" for f, e in models))
    rows: list[tuple[Cell, ...]] = []
    for metric in dict.fromkeys(key.metric for key in predicted):
        answers = [predicted[ModelKey(metric, f, e)].tolist() for f, e in models]
        for place, measurement in enumerate(measurements):
            observed = float(getattr(measurement, metric))
            cells = (float(values[place]) for values in answers)
            rows.append((measurement.index, metric, observed, *cells))
    return Table(name, columns, tuple(rows), PAGE_DIGITS)


def intervals(run: RunData) -> Table:
    """Return one row a metric and level: how wide the best model's interval is, what it held.

    An interval reaches from the prediction over ``factor`` to the prediction times it.
    ``workloads_reserved`` set its width; ``share_held`` is of ``workloads_checked``.
    """
    held = run.evaluation.check_coverage or {}
    checked = 0 if run.check is None else len(run.check.measurements)
    rows = tuple(
        (
            metric,
            run.best(metric).features,
            run.best(metric).estimator,
            level,
            factor,
            run.intervals.workloads,
            held.get(metric, {}).get(level),
            checked,
        )
        for metric, factors in run.intervals.factors.items()
        for level, factor in factors.items()
    )
    columns = ("metric", "features", "estimator", "level_ratio", "factor", "workloads_reserved")
    return Table("intervals", (*columns, "share_held_ratio", "workloads_checked"), rows)


class Repeatability(NamedTuple):
    """How far equal workloads differ: no model that sees only the workload can do better."""

    groups: int
    measurements: int
    mean_relative_difference: float


def repeatability(measurements: Sequence[Measurement], metric: str) -> Repeatability | None:
    """Return how far equal workloads differ from their mean, relative to themselves.

    Parameters
    ----------
    measurements
        All of a run.
    metric
        A property of a measurement, such as ``latency_ns_mean``.

    Returns
    -------
    Repeatability or None
        None when no workload was measured twice.
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
