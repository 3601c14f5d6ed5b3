"""What each workload characteristic does, as the models and the data see it.

*Effect* is partial dependence, *importance* is by permutation; both are computed and stored
with the models (`drivelab.blackbox.effects`). Here they stand beside what was observed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

from drivelab.report.quantities import in_effect
from drivelab.report.table import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.report.inputs import RunData

#: Up to so many distinct values stand side by side on the axis; more are a scale.
MAX_LISTED_VALUES: Final = 12

Scale = Literal["listed", "linear", "log"]


def scale_of(values: Sequence[float], kind: str) -> Scale:
    """Say how the values of a characteristic are laid out on an axis.

    Parameters
    ----------
    values
        Of the measured workloads.
    kind
        ``share``, ``count``, ``bytes`` or ``gap``; a gap may be zero, so it has no logarithm.
    """
    if len(set(values)) <= MAX_LISTED_VALUES:
        return "listed"
    return "linear" if kind in ("share", "gap") else "log"


def effects(run: RunData) -> Table:
    """Return what the best extended models predict for each value of each characteristic.

    ``predicted`` is the partial dependence, ``observed`` the geometric mean of what came out
    of the ``workloads`` that have that value (empty where none has it exactly), both in
    the metric's base unit.
    """
    rows: list[tuple[Cell, ...]] = []
    for metric in run.metrics():
        for effect in run.evaluation.effects[metric]:
            seen: dict[float, list[float]] = {}
            for measurement in run.training:
                value = in_effect(measurement.characteristics).get(effect.characteristic)
                if value is not None:
                    seen.setdefault(value, []).append(float(getattr(measurement, metric)))
            for value, predicted in zip(effect.values, effect.performance, strict=True):
                observed = seen.get(value, [])
                mean = geometric_mean(observed) if observed else None
                rows.append((metric, effect.characteristic, value, predicted, mean, len(observed)))
    columns = ("metric", "characteristic", "value", "predicted", "observed", "workloads")
    return Table("effects", columns, tuple(rows))


def importance(run: RunData) -> Table:
    """Return how much worse the best extended models get when a characteristic is shuffled.

    ``mre_intact`` is the model's cross-validated mean relative error, ``mre_shuffled`` the
    same with the characteristic's values shuffled among the workloads, the mean over some
    shuffles, and ``mre_shuffled_deviation`` their standard deviation.
    """
    rows: list[tuple[Cell, ...]] = []
    for metric in run.metrics():
        intact = run.accuracy[run.evaluation.best_extended[metric]].mre
        rows += [
            (
                metric,
                one.characteristic,
                intact,
                intact + one.mre_increase,
                one.mre_increase_deviation,
            )
            for one in run.evaluation.importance[metric]
        ]
    columns = (
        "metric",
        "characteristic",
        "mre_intact",
        "mre_shuffled",
        "mre_shuffled_deviation",
    )
    return Table("importance", columns, tuple(rows))


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive values."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))
