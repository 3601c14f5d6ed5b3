"""What each workload characteristic does, as the models and the data see it.

*Effect* is partial dependence, *importance* is by permutation; both are computed and stored
with the models (`drivelab.models.effects`). Here they stand beside what was observed.
"""

from __future__ import annotations

import math
from bisect import bisect
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

from drivelab.report.quantities import CHARACTERISTICS, in_effect
from drivelab.report.table import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.report.inputs import RunData

#: Up to so many distinct values stand side by side on the axis; more are a scale.
MAX_LISTED_VALUES: Final = 12

#: On a scale, fewer workloads than this near a value say little about it.
FEWEST_NEAR: Final = 3

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
    of the ``workloads`` that have that value, both in the metric's base unit. On a scale a
    workload counts for the value nearest to its own. ``observed`` is empty where no workload
    has the value, on a scale where fewer than `FEWEST_NEAR` are nearest to it.
    """
    rows: list[tuple[Cell, ...]] = []
    columns = {name: _column(run, name) for name in CHARACTERISTICS}
    for metric in run.metrics():
        for effect in run.evaluation.effects[metric]:
            found = columns[effect.characteristic]
            observed = [float(getattr(one, metric)) for one, _ in found]
            kind = CHARACTERISTICS[effect.characteristic].kind
            scale = scale_of([value for _, value in found], kind)
            fewest = 1 if scale == "listed" else FEWEST_NEAR
            near = _nearest(effect.values, [value for _, value in found], scale)
            for value, predicted, places in zip(
                effect.values, effect.performance, near, strict=True
            ):
                there = [observed[place] for place in places]
                mean = geometric_mean(there) if len(there) >= fewest else None
                rows.append((metric, effect.characteristic, value, predicted, mean, len(there)))
    head = ("metric", "characteristic", "value", "predicted", "observed", "workloads")
    return Table("effects", head, tuple(rows))


def _column(run: RunData, name: str) -> list[tuple[Measurement, float]]:
    """Return the workloads in which a characteristic has an effect, and its value there."""
    values = ((one, in_effect(one.characteristics).get(name)) for one in run.training)
    return [(one, value) for one, value in values if value is not None]


def _nearest(values: Sequence[float], measured: Sequence[float], scale: Scale) -> list[list[int]]:
    """Return, for each of some rising values, the places of the measured ones nearest to it."""
    near: list[list[int]] = [[] for _ in values]
    if scale == "listed":
        at = {value: place for place, value in enumerate(values)}
        for place, value in enumerate(measured):
            if value in at:
                near[at[value]].append(place)
        return near
    borders = [
        math.sqrt(low * high) if scale == "log" else (low + high) / 2
        for low, high in pairwise(values)
    ]
    for place, value in enumerate(measured):
        near[bisect(borders, value)].append(place)
    return near


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
