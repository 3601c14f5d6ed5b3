"""The rows behind the report's tables and its first figures.

Pure functions of `RunData`: nothing is drawn here and nothing is read from disk.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from drivelab.blackbox.evaluate import ModelKey
from drivelab.report.latency import supported
from drivelab.report.quantities import CHARACTERISTICS, METRICS, in_effect
from drivelab.report.table import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement, OperationResult
    from drivelab.report.inputs import RunData

_PERCENTILES = (50.0, 99.0, 99.9)


def workloads(run: RunData) -> Table:
    """Return one row a measurement: the characteristics in effect and what came out.

    Characteristics without effect are empty cells, as are the results of a direction
    that the workload does not use, and percentiles that too few requests were slower than.
    """
    extra = sorted({key for measurement in run.measurements for key in measurement.extra})
    columns = ["index", *(column_of(name) for name in CHARACTERISTICS)]
    columns += ["requests", "duration_ns", *METRICS]
    for direction in ("read", "write"):
        columns += [f"{direction}_latency_ns_mean"]
        columns += [f"{direction}_latency_ns_p{percentile:g}" for percentile in _PERCENTILES]
    rows = []
    for measurement in run.measurements:
        values = in_effect(measurement.characteristics)
        row: list[Cell] = [measurement.index]
        row += [values.get(name) for name in CHARACTERISTICS]
        row += [measurement.requests, measurement.duration_ns]
        row += [float(getattr(measurement, metric)) for metric in METRICS]
        row += _operation_cells(measurement.read) + _operation_cells(measurement.write)
        row += [measurement.extra.get(key) for key in extra]
        rows.append(tuple(row))
    return Table("workloads", (*columns, *extra), tuple(rows))


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
    """Return one row a model: R2, MAE, mean and MRE (Huang et al. 2011, tables II and III)."""
    columns = ("metric", "features", "estimator", "r2", "mae", "mean", "mre", "workloads")
    rows = tuple(
        (
            *key,
            None if math.isnan(score.r2) else score.r2,
            score.mae,
            score.mean,
            score.mre,
            len(run.measurements),
        )
        for key, score in run.accuracy.items()
    )
    return Table("accuracy", columns, rows)


def predictions(run: RunData) -> Table:
    """Return one row a measurement and metric: observed, and predicted by every model.

    Each prediction is by a model that was fitted without that workload.
    """
    models = list(dict.fromkeys((key.features, key.estimator) for key in run.accuracy))
    columns = ("index", "metric", "observed", *(f"predicted_{f}_{e}" for f, e in models))
    rows: list[tuple[Cell, ...]] = []
    for metric in run.metrics():
        predicted = [run.evaluation.out_of_fold[ModelKey(metric, f, e)] for f, e in models]
        for place, measurement in enumerate(run.measurements):
            observed = float(getattr(measurement, metric))
            cells = (float(values[place]) for values in predicted)
            rows.append((measurement.index, metric, observed, *cells))
    return Table("predictions", columns, tuple(rows))


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
