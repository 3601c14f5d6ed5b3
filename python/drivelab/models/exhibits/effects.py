"""What each workload characteristic does, as the models and the data see it.

*Effect* is partial dependence, *importance* is by permutation; both are computed and stored with
the models (`drivelab.models.effects`). Here they are shown with the observed values.
"""

from __future__ import annotations

import math
from bisect import bisect
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

from drivelab.campaign.exhibits.workloads import column_of, workloads
from drivelab.exhibits import (
    Axis,
    BarFigure,
    Cell,
    Line,
    LineFigure,
    Multiples,
    Table,
    number,
    numbers,
)
from drivelab.exhibits.metric_axes import (
    characteristic_axis,
    geometric_mean,
    metric_axis,
    on_axis,
)
from drivelab.exhibits.quantities import CHARACTERISTICS, METRICS, PROVENANCE, in_effect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.models.exhibits.run_data import RunData

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
    values = ((one, in_effect(one.characteristics).get(name)) for one in run.fitted)
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


def effect_figures(run: RunData) -> list[Multiples]:
    """Show, for each metric, a small figure a characteristic: dots, their means and the model."""
    table, every = effects(run), workloads(run)
    points = [row for row in every.records() if row["part"] == "training"]
    return [_effects_of(run, metric, table, points) for metric in run.metrics()]


def _effects_of(
    run: RunData, metric: str, table: Table, points: Sequence[dict[str, Cell]]
) -> Multiples:
    rows = table.records(metric=metric)
    values = numbers(row[metric] for row in points) + numbers(row["predicted"] for row in rows)
    y = metric_axis(metric, values, logarithmic=True)
    adjective = PROVENANCE[run.kind].adjective
    figures = []
    for name in dict.fromkeys(str(row["characteristic"]) for row in rows):
        own = [row for row in rows if row["characteristic"] == name]
        seen = [
            (number(row[column_of(name)]), on_axis(metric, number(row[metric])))
            for row in points
            if row[column_of(name)] is not None
        ]
        x, lines = _effect_lines(metric, name, own, seen, adjective)
        label = CHARACTERISTICS[name].label
        figures.append(LineFigure(f"effect-{metric}-{name}", label, x, y, lines))
    return Multiples(
        f"effects-{metric}",
        METRICS[metric].label,
        tuple(figures),
        columns=4,
        note="Dots are workloads. Diamonds are geometric means of the workloads at or near a "
        "value. The line is what the best extended model predicts, on average, if only this "
        "characteristic changes. Where diamonds are far from the line, the workloads at that "
        "value differ in other characteristics too, or the model is wrong there.",
        saved=(table,),
    )


def _effect_lines(
    metric: str,
    name: str,
    rows: Sequence[dict[str, Cell]],
    seen: Sequence[tuple[float, float]],
    adjective: str,
) -> tuple[Axis, tuple[Line, ...]]:
    item = CHARACTERISTICS[name]
    listed = scale_of([value for value, _ in seen], item.kind) == "listed"
    values = [number(row["value"]) for row in rows]
    every = values if listed else sorted({*values, *(value for value, _ in seen)})
    x, place = characteristic_axis(item, every, listed=listed)

    def line(label: str, column: str, role: Literal["mean", "trace"]) -> Line:
        there = [row for row in rows if row[column] is not None]
        return Line(
            label,
            tuple(place[number(row["value"])] for row in there),
            tuple(on_axis(metric, number(row[column])) for row in there),
            role,
        )

    shown = [(place[value], up) for value, up in seen]
    cloud = Line(
        f"{adjective} workload", tuple(x for x, _ in shown), tuple(y for _, y in shown), "cloud"
    )
    mean = line("their geometric mean", "observed", "mean")
    return x, (cloud, mean, line("model", "predicted", "trace"))


def importance_bars(run: RunData) -> BarFigure:
    """Show how much worse predictions get without each characteristic."""
    table = importance(run)
    metrics = run.metrics()
    by_metric = {
        metric: {str(row["characteristic"]): row for row in table.records(metric=metric)}
        for metric in metrics
    }
    names = dict.fromkeys(name for rows in by_metric.values() for name in rows)
    bars = []
    for name in names:
        shuffled = tuple(
            number(by_metric[metric][name]["mre_shuffled"]) if name in by_metric[metric] else None
            for metric in metrics
        )
        bars.append((CHARACTERISTICS[name].label, shuffled, (None,) * len(metrics)))
    return BarFigure(
        "importance-bars",
        "",
        Axis("error if shuffled", quantity="share"),
        tuple(METRICS[metric].label for metric in metrics),
        tuple(bars),
        "How large the mean relative error of the best extended model becomes if the values of one "
        "characteristic are shuffled among the workloads. The dashed line is the error with the "
        "right values. A characteristic whose bar barely passes it does not matter.",
        guides=tuple(run.accuracy[run.evaluation.best_extended[metric]].mre for metric in metrics),
        columns=3,
        saved=(table,),
    )
