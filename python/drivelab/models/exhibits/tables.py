"""The rows behind what is shown of models: predictions and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.campaign.exhibits.workloads import PAGE_DIGITS
from drivelab.exhibits import Cell, Table
from drivelab.models.evaluate import ModelKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.models.exhibits.run_data import Check, RunData
    from drivelab.models.features import FloatArray


def predictions(run: RunData) -> Table:
    """Return one row a measurement and metric: observed, and predicted by every model.

    Each prediction is by a model that was fitted without that workload.
    """
    return _predictions("predictions", run.fitted, run.evaluation.out_of_fold)


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

    An interval reaches from the prediction over a factor to the prediction times it: ``factor`` is
    the median, of eight in ten workloads it lies between ``factor_narrow`` and ``factor_wide``.
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
            *factor,
            run.intervals.workloads,
            held.get(metric, {}).get(level),
            checked,
        )
        for metric, factors in run.intervals.factors.items()
        for level, factor in factors.items()
    )
    columns = ("metric", "features", "estimator", "level_ratio")
    factors = ("factor", "factor_narrow", "factor_wide")
    held_by = ("workloads_reserved", "share_held_ratio", "workloads_checked")
    return Table("intervals", (*columns, *factors, *held_by), rows)
